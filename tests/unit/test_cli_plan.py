"""``rtch hydrate --plan-only``: each flag is heeded or refused, and a plan reads in each of its formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import samples as sample
import yaml
from making import basket_of, plan_of, seed
from markdown_it import MarkdownIt

from rtch import render
from rtch.cli.main import main
from rtch.errors import IntakeError
from rtch.models.plan import Candidate, ProbePlan, ScorePart, Unreached
from rtch.models.vocab import SkipReason

REQUEST = ("--preset", "locate-code", "--goal", "Where is harpoon defined", "--enough", "at least 1 surface")
PLAN = ("hydrate", *REQUEST, "--root", "zone", "--plan-only")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zone").mkdir()
    (tmp_path / "zone" / "a.py").write_text("def harpoon():\n    return 1\n")
    (tmp_path / "zone" / "b.md").write_text("# nothing of it\n")
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--persist",), "--persist"),
        (("--handoff-to-consolidate",), "--handoff-to-consolidate"),
        (("--max-chars", "5000"), "--max-chars"),
        (("--format", "surfaces"), "--format surfaces"),
    ],
)
def test_what_only_a_packet_has_is_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str], home: Path, more: tuple[str, ...], named: str
) -> None:
    assert main([*PLAN, *more]) == 2
    told = f"rtch: {named} asks for a packet, and --plan-only makes none; leave one of them out\n"
    assert capsys.readouterr() == ("", told)
    assert not (home / "packets").exists()


def test_plan_is_printed_in_the_format_that_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--format", "json"]) == 0
    as_json = json.loads(capsys.readouterr().out)
    assert main([*PLAN, "--format", "yaml"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == as_json
    assert main([*PLAN, "--format", "markdown"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"# Probe plan `{as_json['plan_id']}`\n")
    assert f"## Declared probes ({len(as_json['probes'])})" in text


def test_explanation_is_of_the_candidates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--explain"]) == 0
    err = capsys.readouterr().err.split("\n")
    assert err[0].startswith("1. a.py  score ")
    assert err[0].endswith("  before any probe")
    assert err[-2] == "0 more candidates stand below; nothing has been searched for them or read"


def test_why_not_is_answered_from_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAN, "--why-not", "a.py"]) == 0
    assert "a.py: before any probe it stood at place 1 of 1" in capsys.readouterr().err
    assert main([*PLAN, "--why-not", "b.md"]) == 0
    told = "b.md: no term of the basket led to it and no probe had it in its target set\n"
    assert capsys.readouterr().err == told


def hostile() -> ProbePlan:
    bad = "a|b `c`\n## forged\x1b<b>"
    return plan_of(
        probes=(sample.probe(1, targets=(bad,) * 20, purpose=bad, input_terms=(bad,), targets_cut=3),),
        next_legal_probes=(sample.probe(2, targets=(bad,)),),
        basket=basket_of(seed(bad)),
        candidates=(Candidate(path=bad, score=1.0, parts=(ScorePart(name="text", value=1.0),)),),
        unreached=(Unreached(path=bad, reason=SkipReason.TARGET_CUT, detail=bad, count=4),),
    )


def test_hostile_text_makes_no_structure_of_its_own() -> None:
    text = render.rendered_plan(hostile(), "markdown")
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h1"] + ["h2"] * 2 + ["h3"] + [
        "h2", "h2", "h2", "h3"
    ]  # fmt: skip
    inner = {child.type for token in tokens for child in token.children or ()}
    assert inner <= {"text", "code_inline", "softbreak"}
    assert "\x1b" not in text
    assert " and 8 more" in text
    assert "- 3 further files hold a term and lie outside this target set" in text
    assert "## Not reached by any probe (4)" in text


def test_other_formats_of_a_plan_are_refused() -> None:
    with pytest.raises(IntakeError) as caught:
        render.rendered_plan(hostile(), "surfaces")
    assert str(caught.value) == "'surfaces' is no format of a plan; known are yaml, json, markdown"


def test_why_not_tells_what_no_probe_reaches_and_what_a_later_one_would() -> None:
    plan = plan_of(
        probes=(sample.probe(1, targets=("a.py",)),),
        next_legal_probes=(sample.probe(2, targets=("late.py",)),),
        basket=basket_of(seed("settle")),
        unreached=(Unreached(path="big.py", reason=SkipReason.OVERSIZED, detail="9 MB"),),
    )
    assert render.why_not_planned(plan, "./a.py") == "a.py: to be searched by rtch_probe_1"
    assert render.why_not_planned(plan, "late.py") == "late.py: a next legal probe would search it: rtch_probe_2"
    assert render.why_not_planned(plan, "big.py") == "big.py: skipped: oversized (9 MB)"
    assert "did you mean big.py?" in render.why_not_planned(plan, "bigg.py")
