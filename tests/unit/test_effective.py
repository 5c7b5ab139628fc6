"""What a zone's ledgers show in place of their bytes, by every way in which text leaves the tree."""

from __future__ import annotations

import json
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from driving import corpus, plant

from rtch.effective import EMPTY, loaded
from rtch.errors import ZoneError
from rtch.models.vocab import SkipReason
from rtch.reading import OpenFile, SkippedFile
from rtch.reentry import PathRef
from rtch.search import find_matches
from rtch.spans import read_span
from rtch.store import MemoryStore
from rtch.verification import read_now
from rtch.workspace import Workspace, open_workspace

CORRECTIONS = corpus("zone_corrections")
QUEUE = "audit-logs/cprs/queue.jsonl"
OLD, NEW = "the oldest wording", "the newer wording"
ROWS = [
    {"id": "cpr_b", "status": "extracted", "lesson": "another row"},
    {"id": "cpr_a", "status": "extracted", "lesson": OLD},
    {"id": "cpr_c", "status": "extracted", "lesson": "a third row"},
]


def _correction(**more: Any) -> dict[str, Any]:
    row: dict[str, Any] = CORRECTIONS.correction("cpr_a", QUEUE, {"lesson": NEW})
    return row | more


def _bytes(*rows: object) -> bytes:
    return b"".join(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))


@pytest.fixture
def zone(tmp_path: Path) -> Path:
    root = plant(tmp_path / "zone", {".ticzone": "{}", QUEUE: _bytes(*ROWS)})
    CORRECTIONS.receipt(root)
    CORRECTIONS.append(root, CORRECTIONS.LEDGER, _correction())
    return root


def _found(ws: Workspace, text: str) -> list[tuple[str, int]]:
    outcome = find_matches(ws, ws.listing.paths, [text], max_lines_per_file=9, timeout_s=30, max_rows=99)
    return [(one.path, one.line) for one in outcome.matches]


def _reason(ws: Workspace, path: str = QUEUE) -> SkipReason:
    with pytest.raises(SkippedFile) as refused:
        ws.read(path, max_bytes=1 << 20)
    return refused.value.reason


def test_the_corrected_row_alone_is_shown_otherwise_and_keeps_its_line(zone: Path) -> None:
    ws = open_workspace(zone)
    before, after = (zone / QUEUE).read_bytes().split(b"\n"), ws.read(QUEUE, max_bytes=1 << 20).data.split(b"\n")
    assert [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [1]
    assert json.loads(after[1]) == {
        "type": "effective_record_view",
        "target_record_id": "cpr_a",
        "target_surface": QUEUE,
        "effective_record": ROWS[1] | {"lesson": NEW},
        "applied_correction_ids": ["rc_kiln_reading_tic230"],
    }


def test_the_old_text_is_found_nowhere_and_the_new_one_at_its_line(zone: Path) -> None:
    ws = open_workspace(zone)
    assert _found(ws, OLD) == []
    assert (QUEUE, 2) in _found(ws, NEW)
    assert _found(ws, "third row") == [(QUEUE, 3)]


def test_lines_that_are_read_by_themselves_are_as_corrected(zone: Path) -> None:
    span = read_span(zone, PathRef(QUEUE, 1, 3))
    assert OLD not in span.text
    assert NEW in span.text
    assert (span.start_line, span.end_line, span.total_lines) == (1, 3, 3)
    assert OLD.encode() not in read_now(zone, QUEUE, encoded=False).data


@pytest.mark.parametrize("inner", ["audit-logs", "audit-logs/cprs"])
def test_a_root_within_the_ledgers_shows_no_more(zone: Path, inner: str) -> None:
    root = zone / inner
    path = QUEUE.removeprefix(f"{inner}/")
    assert OLD not in read_span(root, PathRef(path, 1, 3)).text
    ws = open_workspace(root)
    assert OLD.encode() not in ws.read(path, max_bytes=1 << 20).data
    assert _found(ws, OLD) == []


def test_a_root_around_the_zone_shows_no_more(zone: Path) -> None:
    ws = open_workspace(zone.parent)
    path = f"{zone.name}/{QUEUE}"
    assert OLD.encode() not in ws.read(path, max_bytes=1 << 20).data
    assert NEW in read_span(zone.parent, PathRef(path, 1, 3)).text


def test_the_audit_folder_that_the_marker_names_is_the_one(zone: Path) -> None:
    (zone / "audit-logs").rename(zone / "gov")
    (zone / ".ticzone").write_text(json.dumps({"audit_logs_path": "gov"}))
    moved = _correction(
        target_surface="gov/cprs/queue.jsonl", receipt_path=CORRECTIONS.RECEIPT.replace("audit-logs", "gov")
    )
    (zone / "gov/corrections/corrections.jsonl").write_bytes(_bytes(moved))
    assert OLD.encode() not in open_workspace(zone).read("gov/cprs/queue.jsonl", max_bytes=1 << 20).data


def test_earlier_rows_of_the_record_that_bear_what_was_corrected_are_withheld(zone: Path) -> None:
    CORRECTIONS.append(zone, QUEUE, {"id": "cpr_a", "status": "promoted"})
    ws = open_workspace(zone)
    lines = ws.read(QUEUE, max_bytes=1 << 20).data.split(b"\n")
    assert _found(ws, OLD) == []
    assert json.loads(lines[1])["corrected_at"] == 4
    assert json.loads(lines[3])["effective_record"] == {"id": "cpr_a", "status": "promoted", "lesson": NEW}
    assert ws.view.corrected[0].withheld == (2,)


def test_a_torn_row_is_withheld_from_a_ledger_with_corrections_and_told_of_in_another(zone: Path) -> None:
    torn = json.dumps(ROWS[1]).encode()[:-3]
    CORRECTIONS.append(zone, QUEUE, torn)
    CORRECTIONS.append(zone, "audit-logs/other.jsonl", {"id": "x", "status": "y"}, b'{"id": "to')
    ws = open_workspace(zone)
    assert _found(ws, OLD) == []
    assert json.loads(ws.read(QUEUE, max_bytes=1 << 20).data.split(b"\n")[3])["withheld"] == "torn_tail"
    assert b'{"id": "to' in ws.read("audit-logs/other.jsonl", max_bytes=1 << 20).data
    assert ("audit-logs/other.jsonl", "torn_tail", False) in {(h.surface, h.reason, h.withheld) for h in ws.view.held}


@pytest.mark.parametrize("broken", [b"{not json\n", b"[1]\n", b"\xff\n", b"7\n"])
def test_a_malformed_row_holds_its_own_surface_and_nothing_else(zone: Path, broken: bytes) -> None:
    CORRECTIONS.append(zone, "audit-logs/other.jsonl", {"id": "x", "status": "y"}, broken)
    ws = open_workspace(zone)
    assert [(h.surface, h.reason, h.line, h.withheld) for h in ws.view.held] == [
        ("audit-logs/other.jsonl", "malformed_row", 2, False)
    ]
    assert NEW.encode() in ws.read(QUEUE, max_bytes=1 << 20).data


def test_a_malformed_row_among_corrected_ones_leaves_nothing_of_its_surface_in_sight(zone: Path) -> None:
    CORRECTIONS.append(zone, QUEUE, b'{"id": "cpr_a", "lesson": "' + OLD.encode() + b"\n", {"id": "z", "status": "y"})
    ws = open_workspace(zone)
    assert _reason(ws) is SkipReason.HELD
    assert _found(ws, OLD) == _found(ws, "third row") == []
    with pytest.raises(SkippedFile):
        read_span(zone, PathRef(QUEUE, 1, 1))


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"authority": {}}, "unauthorised"),
        ({"receipt_path": "nowhere.json"}, "unauthorised"),
        ({"receipt_path": "../../etc/passwd"}, "unauthorised"),
        ({"target_record_id": "cpr_none"}, "orphan"),
        ({"supersedes": ["rc_none"]}, "missing_superseded"),
        ({"supersedes": ["rc_kiln_reading_tic230"]}, "cycle"),
    ],
)
def test_what_cannot_be_resolved_holds_its_surface_and_no_other(zone: Path, more: dict[str, Any], reason: str) -> None:
    (zone / CORRECTIONS.LEDGER).write_bytes(_bytes(_correction(**more)))
    CORRECTIONS.append(zone, "audit-logs/other.jsonl", {"id": "cpr_a", "status": "y"})
    ws = open_workspace(zone)
    assert [(one.surface, one.reason, one.withheld) for one in ws.view.held] == [(QUEUE, reason, True)]
    assert _reason(ws) is SkipReason.HELD
    assert ws.read("audit-logs/other.jsonl", max_bytes=1 << 20).data


def test_a_correction_of_what_is_no_ledger_holds_nothing_but_its_own_standing(zone: Path) -> None:
    (zone / "CLAUDE.md").write_text(OLD)
    (zone / CORRECTIONS.LEDGER).write_bytes(_bytes(_correction(target_surface="CLAUDE.md")))
    ws = open_workspace(zone)
    assert [(one.surface, one.withheld) for one in ws.view.held] == [(CORRECTIONS.LEDGER, False)]
    assert ws.read("CLAUDE.md", max_bytes=1 << 20).data == OLD.encode()


def test_two_corrected_records_in_one_row_hold_the_surface(zone: Path) -> None:
    (zone / QUEUE).write_bytes(_bytes(ROWS[1] | {"record_id": "cpr_z"}))
    other = _correction(target_record_id="cpr_z", correction_id="rc_other")
    CORRECTIONS.append(zone, CORRECTIONS.LEDGER, other)
    assert _reason(open_workspace(zone)) is SkipReason.HELD


def test_a_row_that_moved_after_the_view_was_made_is_withheld(zone: Path) -> None:
    ws = open_workspace(zone)
    assert ws.view.corrected
    (zone / QUEUE).write_bytes(_bytes({"id": "new", "status": "x"}, *ROWS))
    assert _reason(ws) is SkipReason.CHANGED_DURING_RUN


def test_a_ledger_that_cannot_be_read_is_held(zone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Workspace.open

    def refuse(self: Workspace, path: str) -> AbstractContextManager[OpenFile]:
        if path == QUEUE:
            raise SkippedFile(SkipReason.UNREADABLE, path)
        return real(self, path)

    monkeypatch.setattr(Workspace, "open", refuse)
    ws = open_workspace(zone)
    assert [(one.surface, one.reason, one.withheld) for one in ws.view.held] == [(QUEUE, "unreadable", True)]
    monkeypatch.undo()
    assert _reason(ws) is SkipReason.HELD


def test_a_new_correction_changes_the_state_of_the_surface_and_of_no_other(zone: Path) -> None:
    other = "audit-logs/other.jsonl"
    CORRECTIONS.append(zone, other, {"id": "x", "status": "y"})
    corrections = (zone / CORRECTIONS.LEDGER).read_bytes()
    (zone / CORRECTIONS.LEDGER).write_bytes(b"")
    before = open_workspace(zone)
    assert not before.view.corrected
    (zone / CORRECTIONS.LEDGER).write_bytes(corrections)
    after = open_workspace(zone)
    assert before.token(QUEUE) != after.token(QUEUE)
    assert before.marks([QUEUE]) != after.marks([QUEUE])
    assert before.token(other) == after.token(other)
    assert before.state([QUEUE]) != after.state([QUEUE])
    assert before.state() != after.state()


def test_ledgers_are_read_once_for_as_long_as_they_stay_as_they_are(
    zone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = MemoryStore()

    def viewed() -> list[str]:
        opened: list[str] = []
        ws = open_workspace(zone)
        ws.notes = notes
        real = Workspace.open

        def noted(self: Workspace, path: str) -> Any:
            opened.append(path)
            return real(self, path)

        monkeypatch.setattr(Workspace, "open", noted)
        assert ws.view.corrected
        monkeypatch.undo()
        monkeypatch.setenv("RTCH_HOME", str(zone.parent / "home"))
        return [path for path in opened if path.endswith(".jsonl")]

    assert set(viewed()) == {QUEUE, CORRECTIONS.LEDGER}
    _age(zone)
    viewed()
    assert viewed() == []
    (zone / CORRECTIONS.RECEIPT).unlink()
    ws = open_workspace(zone)
    ws.notes = notes
    assert [one.reason for one in ws.view.held] == ["unauthorised"]


def _age(zone: Path) -> None:
    """Let files be older than what could still be changed unseen."""
    time.sleep(2.1)
    assert zone.exists()


def test_what_was_appended_is_read_and_the_rest_is_known_by_its_digest(zone: Path) -> None:
    notes = MemoryStore()
    for number in range(3):
        more = {"correction_id": f"rc_{number}", "effective_tic": 300 + number}
        CORRECTIONS.append(zone, CORRECTIONS.LEDGER, _correction(patch={"lesson": f"wording {number}"}, **more))
        ws = open_workspace(zone)
        ws.notes = notes
        fresh = open_workspace(zone)
        assert ws.view.dumped() == fresh.view.dumped()
        assert f"wording {number}".encode() in ws.read(QUEUE, max_bytes=1 << 20).data


def test_a_view_survives_its_note(zone: Path) -> None:
    view = open_workspace(zone).view
    again = loaded(view.dumped())
    assert again is not None
    assert again.dumped() == view.dumped()
    assert again.mark(QUEUE) == view.mark(QUEUE) != ""
    assert loaded(b"[]") is loaded(b"") is loaded(b"{}") is None


def test_nothing_is_read_where_there_is_no_audit_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = plant(tmp_path / "plain", {"data/rows.jsonl": _bytes(_correction(), *ROWS), "a.py": "x = 1\n"})
    ws = open_workspace(root)
    monkeypatch.setattr(Workspace, "open", lambda *_: pytest.fail("a file was opened"))
    assert ws.view is not None
    assert not ws.view.paths
    assert EMPTY.mark("data/rows.jsonl") == ws.view.mark("data/rows.jsonl") == ""


def test_a_path_out_of_the_zone_stays_refused(zone: Path) -> None:
    with pytest.raises(ZoneError):
        read_span(zone, PathRef("../audit-logs/x.jsonl", 1, 1))


def test_a_folder_above_is_no_zone_for_its_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = plant(tmp_path / "audit-logs" / "project", {"rows.jsonl": _bytes(*ROWS)})
    ws = open_workspace(root)
    monkeypatch.setattr("rtch.view_making.view_at", lambda _: pytest.fail("a folder above was listed"))
    assert not ws.view.paths
    assert OLD in read_span(root, PathRef("rows.jsonl", 1, 3)).text


@pytest.mark.parametrize("path", ["data/rows.jsonl", "audit-logs/hidden/rows.jsonl"])
def test_rows_elsewhere_or_ignored_that_a_correction_names_are_held(zone: Path, path: str) -> None:
    (zone / ".ticignore").write_text("hidden/\n")
    plant(zone, {path: _bytes(*ROWS)})
    (zone / CORRECTIONS.LEDGER).write_bytes(_bytes(_correction(target_surface=path)))
    ws = open_workspace(zone)
    assert _reason(ws, path) is SkipReason.HELD
    assert _found(ws, OLD) == [(QUEUE, 2)]
    with pytest.raises(SkippedFile):
        read_span(zone, PathRef(path, 1, 3))
    with pytest.raises(SkippedFile):
        read_span(zone / path.partition("/")[0], PathRef(path.partition("/")[2], 1, 3))


@pytest.mark.parametrize("named", ["gov", "{root}/gov", "audit-logs", "", "./x/../gov/"])
def test_ledgers_behind_a_link_or_an_absolute_path_are_the_same_ledgers(zone: Path, named: str) -> None:
    (zone / "audit-logs").rename(zone / "gov")
    (zone / "audit-logs").symlink_to("gov")
    (zone / ".ticzone").write_text(json.dumps({"audit_logs_path": named.format(root=zone)} if named else {}))
    ws = open_workspace(zone)
    path = QUEUE.replace("audit-logs", "gov")
    assert OLD.encode() not in ws.read(path, max_bytes=1 << 20).data
    assert _found(ws, OLD) == []
    assert NEW in read_span(zone, PathRef(path, 1, 3)).text


@pytest.mark.parametrize("named", ["cprs/queue.jsonl", QUEUE.upper(), f"{QUEUE}#cpr_a", "cprs\\queue.jsonl"])
def test_a_correction_that_names_no_ledger_holds_those_with_rows_of_its_record(zone: Path, named: str) -> None:
    other = "audit-logs/reviews/one.jsonl"
    plant(zone, {other: _bytes({"id": "cpr_z", "status": "extracted", "lesson": "of another record"})})
    (zone / CORRECTIONS.LEDGER).write_bytes(_bytes(_correction(target_surface=named)))
    ws = open_workspace(zone)
    assert _reason(ws) is SkipReason.HELD
    assert _found(ws, OLD) == []
    held = ws.view.withheld(QUEUE)
    assert held is not None
    assert (held.reason, held.detail) == ("orphan", "it names no ledger of the zone")
    assert ws.view.withheld(other) is None


def test_a_correction_of_nothing_that_is_there_holds_its_own_standing(zone: Path) -> None:
    row = _correction(target_surface="cprs/queue.jsonl", target_record_id="cpr_nowhere")
    (zone / CORRECTIONS.LEDGER).write_bytes(_bytes(row))
    assert [(one.surface, one.withheld) for one in open_workspace(zone).view.held] == [(CORRECTIONS.LEDGER, False)]


@pytest.mark.parametrize("named", [".", "./", "here"])
def test_a_zone_can_be_its_own_audit_folder(zone: Path, named: str) -> None:
    (zone / "here").symlink_to(".")
    (zone / ".ticzone").write_text(json.dumps({"audit_logs_path": named}))
    ws = open_workspace(zone)
    assert _found(ws, OLD) == []
    assert OLD not in read_span(zone, PathRef(QUEUE, 1, 3)).text


@pytest.mark.parametrize("linked", [CORRECTIONS.LEDGER, QUEUE])
def test_a_ledger_that_lies_behind_a_link_of_its_own_is_read_where_it_lies(zone: Path, linked: str) -> None:
    (zone / linked).rename(zone / "elsewhere.jsonl")
    (zone / linked).symlink_to(zone / "elsewhere.jsonl")
    ws = open_workspace(zone)
    assert _found(ws, OLD) == []
    path = QUEUE if linked != QUEUE else "elsewhere.jsonl"
    assert OLD not in read_span(zone, PathRef(path, 1, 3)).text
