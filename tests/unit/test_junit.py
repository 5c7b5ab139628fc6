"""A drift report as JUnit's XML: the counts add up, names stay, and nothing looked at is no pass."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import drift_samples as sample
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.models.drift import (
    BaselineState,
    DriftCounts,
    DriftReport,
    DriftStatus,
    Finding,
    Investigation,
    Level,
    NotJudged,
)
from rtch.render.junit import junit

ANY = st.text(st.characters(exclude_categories=())) | st.sampled_from(["\ufffe", "\x00", "\ud800", "]]>", "&#0;"])
FINDINGS = st.builds(
    sample.edited,
    baseline_state=st.sampled_from(BaselineState),
    level=st.sampled_from(Level),
    set_aside=st.sampled_from(["", "a reason"]),
)
INVESTIGATIONS = st.builds(
    sample.investigation,
    status=st.sampled_from(DriftStatus),
    fail_on=st.sampled_from(Level),
    counts=st.sampled_from([DriftCounts(), DriftCounts(chunks=1)]),
    findings=st.lists(FINDINGS, max_size=4).map(tuple),
    not_judged=st.lists(st.builds(NotJudged, what=ANY, why=ANY), max_size=2).map(tuple),
)


def document(*investigations: Investigation) -> ET.Element:
    report = DriftReport(rtch_version="1.0", investigations=investigations, exit_code=0)
    return ET.fromstring(junit(report).encode())


def passing(suite: ET.Element) -> list[str]:
    return [case.get("name", "") for case in suite if not {row.tag for row in case} - {"system-out"}]


def names(suite: ET.Element) -> list[str]:
    return [case.get("name", "") for case in suite]


@given(st.lists(INVESTIGATIONS, max_size=3))
def test_counts_add_up_and_agree_with_the_report(investigations: list[Investigation]) -> None:
    whole = document(*investigations)
    for suite, one in zip(whole, investigations, strict=True):
        assert int(suite.get("tests", "")) == len(suite) == 1 + len(one.findings) + len(one.not_judged)
        for total, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(total, "")) == len(suite.findall(f"testcase/{tag}"))
        assert int(suite.get("failures", "")) == sum(one.fails(found) for found in one.findings)
        assert int(suite.get("errors", "")) == (one.status is DriftStatus.FAILED)
    for total in ("tests", "failures", "errors", "skipped"):
        assert int(whole.get(total, "")) == sum(int(suite.get(total, "")) for suite in whole)


@given(INVESTIGATIONS)
def test_what_was_not_compared_has_no_passing_case(one: Investigation) -> None:
    (suite,) = document(one)
    answered = one.status not in {DriftStatus.FAILED, DriftStatus.BASELINE_TAKEN}
    if not answered or not one.counts.chunks:
        assert passing(suite) == []
    assert ("investigation" in passing(suite)) == (
        bool(one.counts.chunks) and one.status in {DriftStatus.CLEAN, DriftStatus.DRIFT}
    )
    rows = suite.findall("testcase")[1 + len(one.findings) :]
    assert [case[0].tag for case in rows] == ["skipped"] * len(one.not_judged)


@pytest.mark.parametrize(
    "after",
    [
        {"counts": DriftCounts(chunks=99), "wall_ms": 3.0},
        {"status": DriftStatus.CLEAN},
        {"status": DriftStatus.FAILED, "fail_on": Level.ERROR},
    ],
    ids=["counts", "status", "failed"],
)
def test_names_are_the_same_in_every_run(after: dict[str, object]) -> None:
    (before,), (suite,) = document(sample.investigation()), document(sample.investigation(**after))
    assert names(suite) == names(before)
    assert (suite.get("name"), names(suite)[0]) == ("payments @ shop", "investigation")


def test_a_name_holds_no_line_that_may_be_another_tomorrow() -> None:
    def name(found: Finding) -> str:
        (suite,) = document(sample.investigation(findings=(found,), not_judged=()))
        return names(suite)[1]

    found = sample.dangling()
    further_down = found.model_copy(update={"at": found.at.model_copy(update={"start_line": 70, "end_line": 70})})
    accepted = found.model_copy(update={"baseline_state": BaselineState.UNCHANGED, "set_aside": "it is so"})
    assert name(found) == name(further_down) == name(accepted)


def test_a_failure_tells_what_there_was_and_is() -> None:
    (suite,) = document(sample.investigation())
    (failure,) = suite[2]
    assert failure.get("message") == "src/pay.py:L10-L12 was edited"
    assert failure.text == (
        "was: def pay(amount):\n"
        "is: def pay(amount, currency):\n"
        "now at: src/pay.py:L11-L14\n"
        "since: cccccccccccc 2030-01-02T03:04:05+00:00 Ada: Pay in any currency\n"
        "owners: @payments, ada@example.org\n"
        "next: rtch read 'src/pay.py:L11-L14'\n"
        "certainty: likely"
    )


@given(ANY)
def test_any_text_is_xml(text: str) -> None:
    found = sample.edited(message=text, captured=text, found=text, owners=(text,), finding_id=text, set_aside="")
    one = sample.investigation(
        saved=text, zone_name=text, findings=(found,), failure=text, started_at=text, status=DriftStatus.FAILED
    )
    (suite,) = document(one)
    assert suite.get("tests") == str(len(suite))
