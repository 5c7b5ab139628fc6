"""A drift report for people: how it reads, and what hostile text cannot do there."""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import date
from typing import Any

import drift_samples as drift
import pytest
import samples as sample
from goldens import same_as_golden
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rtch.drift.judging import counted, judged
from rtch.models.baseline import Accepted, Baseline, Suppression
from rtch.models.drift import (
    Anchor,
    BaselineRef,
    Commit,
    DriftCounts,
    DriftKind,
    DriftReport,
    DriftStatus,
    Finding,
    Investigation,
    Level,
    NotJudged,
)
from rtch.reentry import reentry_command
from rtch.render.drift import MOST_ON_A_PAGE, as_json, human, markdown, standing, where
from rtch.render.junit import junit
from rtch.render.sarif import sarif

WRITERS = {"drift.txt": human, "drift.md": markdown, "drift.sarif": sarif, "drift.xml": junit}
HOSTILE = (
    "|", "\\|", "`", "``", "```", "\n", "\r\n", "\n\n", "<b>", "<!--", "<script>", "![i](http://x/y.png)",
    "[a](http://x)", "http://x.example", "<http://x>", "&lt;", "\n# x\n", "\n---\n", "\n> x", "\n- x", "[x]: http://x",
    "\u202e", "\u2066", "\u200b", "\ud800", "\udcff", "\x1b[2J", "\x9b", "\x85", "\u2028", "\ufeff", "\x00", " ", "a",
    "src/pay.py:L10-L12",
)  # fmt: skip
TEXT = st.lists(st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=())), max_size=8).map("".join)


def report(*investigations: Investigation) -> DriftReport:
    return DriftReport(rtch_version="1.0", investigations=investigations, exit_code=0)


def everywhere(text: str, status: DriftStatus) -> DriftReport:
    """A report with a text in every field that can hold one, of a failing finding, one set aside, and a note."""
    place = Anchor(path=text, start_line=10, end_line=12)
    found = drift.edited(
        message=text, captured=text, found=text, owners=(text, text), next_command=text, chunk_id=text, at=place,
        now=Anchor(path=f"{text}x"), related=(place,), finding_id=text,
        since=Commit(id=text, date=text, author=text, summary=text),
    )  # fmt: skip
    aside = found.model_copy(update={"set_aside": text or "r", "set_aside_until": text})
    note = found.model_copy(update={"level": Level.NOTE})
    one = drift.investigation(
        saved=text, goal=text, zone_name=text, zone_root=text, status=status, packet_id=text, commit=text,
        findings=(found, found, note, aside), not_judged=(NotJudged(what=text, why=text),), failure=text,
        baseline=BaselineRef(packet_id=text, taken_at=text, taken_by=text, reason=text, place=text),
        started_at=text, flow_run_id=text, flow_run_url=text,
    )  # fmt: skip
    return report(one, one)


# How it reads.


@pytest.mark.parametrize("name", WRITERS)
def test_report_is_written_as_before(name: str) -> None:
    same_as_golden(f"render/{name}", WRITERS[name](drift.report()))


def test_a_clean_one_is_two_lines_that_say_what_was_checked() -> None:
    clean = drift.report().investigations[1]
    assert human(report(clean)) == (
        "orders @ shop: clean\n"
        "  checked 4 chunks, 2 surfaces, 0 references in 0 documents, 0 keys of 0 truth files: 0 drifted; compared "
        "with rtch_packet_aaaaaaaaaaaa, taken 2030-01-02T03:04:05+00:00 by ada: as released\n"
    )


@pytest.mark.parametrize("write", [human, markdown])
@pytest.mark.parametrize("status", [DriftStatus.FAILED, DriftStatus.BASELINE_TAKEN])
def test_what_has_no_answer_shows_what_there_is_and_no_word_of_drift(status: DriftStatus, write: Any) -> None:
    rest = {"failure": "the store is full", "not_judged": (NotJudged(what="c2", why="unreadable"),)}
    one = drift.investigation(status=status, findings=(drift.contradiction(),), **rest)
    one = one.model_copy(update={"counts": DriftCounts(chunks=12, accepted=1, not_judged=1)})
    text = write(report(one))
    for told in ("checked 12 chunks", "1 accepted, 1 not judged", "limits.window", "unreadable"):
        assert told in text
    for kept_back in ("drifted", "compared with", "clean"):
        assert kept_back not in text
    assert ("the store is full" if status is DriftStatus.FAILED else "nothing was compared") in text
    bare = one.model_copy(update={"findings": (), "not_judged": (), "counts": DriftCounts()})
    assert "checked" not in write(report(bare))


@pytest.mark.parametrize(
    ("message", "path", "shown"),
    [
        ("src/pay.py:L10-L12 was edited", "src/pay.py", False),
        ("it is at src/pay.py:L10-L12", "src/pay.py", False),
        ("old/src/pay.py:L10-L12 was edited", "src/pay.py", True),
        ("src/pay.py:L10-L120 was edited", "src/pay.py", True),
        ("src/pay.py was edited", "src/pay.py", True),
    ],
)
def test_a_place_is_told_once(message: str, path: str, *, shown: bool) -> None:
    found = drift.edited(message=message, at=Anchor(path=path, start_line=10, end_line=12))
    assert (f"\n    at {path}:L10-L12\n" in human(report(drift.investigation(findings=(found,))))) == shown


@pytest.mark.parametrize(
    ("start", "end", "expected"), [(None, None, "a"), (3, None, "a:L3"), (3, 3, "a:L3"), (3, 4, "a:L3-L4")]
)
def test_a_place_is_written_as_commands_write_it(start: int | None, end: int | None, expected: str) -> None:
    assert where(Anchor(path="a", start_line=start, end_line=end)) == expected
    if start is not None:
        assert expected in reentry_command("a", start, None if end == start else end)


def test_only_details_that_there_are_have_lines() -> None:
    bare = {"captured": "", "found": "", "now": None, "since": None, "owners": (), "next_command": ""}
    found = drift.edited(**bare)
    lines = human(report(drift.investigation(findings=(found,), not_judged=()))).split("\n")
    assert lines[2:4] == ["  warning  src/pay.py:L10-L12 was edited", f"    edited, likely, {found.finding_id}"]
    there = found.model_copy(update={"now": found.at, "since": Commit(id="c" * 40, date="2030-01-02")})
    lines = human(report(drift.investigation(findings=(there,), not_judged=()))).split("\n")
    assert lines[3] == "    since cccccccccccc 2030-01-02"


def test_several_end_with_totals_worst_first() -> None:
    for write in (human, markdown):
        assert write(drift.report()).endswith("\n\n3 investigations: 1 failed, 1 drift, 1 clean\n")
        assert write(report()) == "nothing was investigated\n"


def test_what_passes_by_the_asked_level_says_so() -> None:
    one = drift.investigation(fail_on=Level.ERROR, findings=(drift.deleted(), drift.edited()), not_judged=())
    tails = [line for line in human(report(one)).split("\n") if ", drift_" in line]
    assert [line.endswith(", below what fails") for line in tails] == [False, True]


@given(
    st.lists(
        st.builds(
            drift.edited,
            finding_id=st.sampled_from([f"drift_{n}" for n in range(6)]),
            level=st.sampled_from(Level),
            kind=st.sampled_from(DriftKind),
            state=st.sampled_from(["a" * 64, "b" * 64]),
        )
    ),
    st.sampled_from(Level),
)
def test_what_is_called_drifted_is_what_is_counted(found: list[Finding], fail_on: Level) -> None:
    rest: dict[str, Any] = {"reason": "r", "by": "", "at": ""}
    baseline = Baseline(
        saved="q", zone_root="/z", taken_at="", taken_by="", reason="", packet=sample.packet(),
        accepted=tuple(
            Accepted(finding_id=f"drift_{n}", state="a" * 64, kind=DriftKind.EDITED, path="a", message="m", **rest)
            for n in range(3)
        ),
        suppressions=(Suppression(kind=DriftKind.MOVED, until="2030-02-01", **rest),),
    )  # fmt: skip
    rows = judged(found, baseline, today=date(2030, 1, 1), complete=True)
    counts = counted(rows, DriftCounts(), not_judged=0, fail_on=fail_on)
    one = drift.investigation(findings=rows, fail_on=fail_on, counts=counts)
    stands = [standing(one, row) for row in rows]
    assert (counts.drifted, counts.notes, counts.accepted, counts.suppressed) == tuple(
        map(stands.count, ("drifted", "note", "accepted", "suppressed"))
    )
    assert junit(report(one)).count("<failure ") == counts.drifted


def test_json_is_the_record() -> None:
    assert DriftReport.parse(as_json(drift.report())) == drift.report()


# Hostile text.


@given(TEXT, st.sampled_from(DriftStatus))
def test_a_terminal_gets_no_control_character_but_line_ends(text: str, status: DriftStatus) -> None:
    told = human(everywhere(text or "a", status))
    assert {char for char in told if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}} == {"\n"}
    assert not re.search("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]", told)
    assert told.count("\n") == human(everywhere("a", status)).count("\n")


@given(TEXT, st.sampled_from(DriftStatus))
def test_no_text_is_markup(text: str, status: DriftStatus) -> None:
    assert shape(text or "a", status) == shape("a", status)


def shape(text: str, status: DriftStatus) -> list[str]:
    """Return the tokens of a report, in order, as GitHub's tables and autolinks make them."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown(everywhere(text, status)))
    flat = [row for token in tokens for row in (token, *(token.children or ()))]
    assert not {row.type for row in flat} & {"image", "link_open", "html_inline", "html_block", "fence", "hr"}
    plain = "".join(row.content for row in flat if row.type == "text")
    assert not re.search(r"https?:|@\w|<|\[|!|[\ud800-\udfff]", plain)
    return [row.type for row in flat]


@pytest.mark.parametrize("name", WRITERS)
@given(text=TEXT)
def test_every_face_is_utf_8(name: str, text: str) -> None:
    assert WRITERS[name](everywhere(text, DriftStatus.DRIFT)).encode()
    json.loads(sarif(everywhere(text, DriftStatus.FAILED)))


def test_a_page_with_very_many_findings_says_how_many_it_leaves_out() -> None:
    many = tuple(drift.edited(finding_id=f"drift_{n:016x}") for n in range(MOST_ON_A_PAGE + 3))
    one = drift.investigation(findings=many)
    page = markdown(DriftReport(rtch_version="1.0", investigations=(one,), exit_code=1))
    assert "and 3 findings more" in page
    assert page.count("\n### ") == MOST_ON_A_PAGE + 1
