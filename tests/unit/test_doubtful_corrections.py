"""What a zone's ledgers show where their corrections cannot be read, or are not what they say."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from driving import corpus, plant

from rtch.effective import Held, has_rows
from rtch.reading import SkippedFile
from rtch.reentry import PathRef
from rtch.spans import read_span
from rtch.store import MemoryStore
from rtch.workspace import Workspace, open_workspace

CORRECTIONS = corpus("zone_corrections")
QUEUE = "audit-logs/cprs/queue.jsonl"
OTHER = "audit-logs/other.jsonl"
OLD, NEW = "the oldest wording", "the newer wording"
ROW = {"id": "cpr_a", "status": "extracted", "lesson": OLD}


def _correction(**more: Any) -> dict[str, Any]:
    row: dict[str, Any] = CORRECTIONS.correction("cpr_a", QUEUE, {"lesson": NEW})
    return row | more


def _line(row: object) -> bytes:
    return json.dumps(row).encode() + b"\n"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))


@pytest.fixture
def zone(tmp_path: Path) -> Path:
    root = plant(tmp_path / "zone", {".ticzone": "{}", QUEUE: _line(ROW), OTHER: _line({"id": "x", "status": "y"})})
    CORRECTIONS.receipt(root)
    CORRECTIONS.append(root, CORRECTIONS.LEDGER, _correction())
    return root


def _holds(ws: Workspace, path: str) -> list[Held]:
    return [one for one in ws.view.held if one.surface == path]


def _text(ws: Workspace, path: str = QUEUE) -> str:
    return ws.read(path, max_bytes=1 << 20).data.decode()


@pytest.mark.parametrize("ending", [b"\n", b""], ids=["malformed", "torn"])
@pytest.mark.parametrize("broken", [b'{"type": "record_correction", "pa', b'{"type": "record_c\\u006frrection", "pa'])
def test_a_broken_row_that_may_be_a_correction_leaves_no_ledger_its_claims(
    zone: Path, broken: bytes, ending: bytes
) -> None:
    CORRECTIONS.append(zone, CORRECTIONS.LEDGER, broken + ending)
    notes = MemoryStore()
    for _ in range(2):
        ws = open_workspace(zone)
        ws.notes = notes
        (held,) = _holds(ws, OTHER)
        assert (held.reason, held.source, held.line, held.withheld) == ("malformed_row", CORRECTIONS.LEDGER, 2, False)
        assert NEW in _text(ws)
        assert _text(ws, OTHER)


def test_a_torn_correction_that_was_completed_is_doubted_no_more(zone: Path) -> None:
    row = _line(_correction(correction_id="rc_other", target_record_id="x", target_surface=OTHER))
    CORRECTIONS.append(zone, CORRECTIONS.LEDGER, row[:60])
    notes = MemoryStore()
    before, after = open_workspace(zone), open_workspace(zone)
    before.notes = after.notes = notes
    assert _holds(before, OTHER)
    CORRECTIONS.append(zone, CORRECTIONS.LEDGER, row[60:])
    after = open_workspace(zone)
    after.notes = notes
    assert not after.view.held
    assert [one.record_id for one in after.view.corrected] == ["cpr_a", "x"]


@pytest.mark.parametrize("named", [QUEUE, OTHER, CORRECTIONS.LEDGER])
def test_a_ledger_is_no_receipt(zone: Path, named: str) -> None:
    CORRECTIONS.append(zone, OTHER, {"id": "z", "status": "seen", "lesson": "rc_kiln_reading_tic230"})
    (zone / CORRECTIONS.LEDGER).write_bytes(_line(_correction(receipt_path=named)))
    (held,) = _holds(open_workspace(zone), QUEUE)
    assert (held.reason, held.withheld) == ("unauthorised", True)


def test_a_receipt_of_another_correction_is_none(zone: Path) -> None:
    notes = MemoryStore()
    ws = open_workspace(zone)
    ws.notes = notes
    assert ws.view.corrected
    CORRECTIONS.receipt(zone, corrections=["rc_of_another"])
    ws = open_workspace(zone)
    ws.notes = notes
    assert [one.reason for one in _holds(ws, QUEUE)] == ["unauthorised"]
    assert not ws.view.corrected


def _ignored(zone: Path) -> None:
    (zone / ".ticignore").write_text("corrections/\n")


def _linked_out(zone: Path) -> None:
    shutil.move(zone / "audit-logs/corrections", zone.parent / "elsewhere")
    (zone / "audit-logs/corrections").symlink_to(zone.parent / "elsewhere")


def _fifo(zone: Path) -> None:
    (zone / CORRECTIONS.LEDGER).unlink()
    os.mkfifo(zone / CORRECTIONS.LEDGER)


def _dangling(zone: Path) -> None:
    (zone / CORRECTIONS.LEDGER).unlink()
    (zone / CORRECTIONS.LEDGER).symlink_to("nowhere.jsonl")


@pytest.mark.parametrize("hide", [_ignored, _linked_out, _fifo, _dangling])
def test_corrections_that_are_there_and_cannot_be_read_withhold_the_zones_ledgers(zone: Path, hide: Any) -> None:
    hide(zone)
    ws = open_workspace(zone)
    for path in (QUEUE, OTHER):
        (held,) = _holds(ws, path)
        assert (held.reason, held.source, held.withheld) == ("unreadable", CORRECTIONS.LEDGER, True)
        with pytest.raises(SkippedFile):
            ws.read(path, max_bytes=1 << 20)
        with pytest.raises(SkippedFile):
            read_span(zone, PathRef(path, 1, 1))


def test_an_audit_folder_without_corrections_holds_nothing(zone: Path) -> None:
    shutil.rmtree(zone / "audit-logs/corrections")
    ws = open_workspace(zone)
    assert not ws.view.held
    assert OLD in _text(ws)


@pytest.mark.parametrize("name", ["queue.JSONL", "Queue.NdJson"])
def test_an_ending_in_capitals_is_that_of_rows(zone: Path, name: str) -> None:
    path = f"audit-logs/cprs/{name}"
    (zone / QUEUE).rename(zone / path)
    (zone / CORRECTIONS.LEDGER).write_bytes(_line(_correction(target_surface=path)))
    assert OLD not in _text(open_workspace(zone), path)
    assert NEW in read_span(zone, PathRef(path, 1, 1)).text
    assert NEW in read_span(zone / "audit-logs", PathRef(path.removeprefix("audit-logs/"), 1, 1)).text


@pytest.mark.parametrize(
    ("path", "rows"), [("a.jsonl", True), (b"\xff.NDJSON", True), ("\ud800.jsonl", True), ("jsonl", False)]
)
def test_rows_are_known_by_the_ending(path: str | bytes, *, rows: bool) -> None:
    assert has_rows(path) is rows


def test_a_zone_above_that_corrects_a_nested_ones_ledger_holds_it_wherever_it_is_opened(zone: Path) -> None:
    nested = plant(zone / "inner", {".ticzone": "{}", QUEUE: _line(ROW)})
    CORRECTIONS.append(zone, CORRECTIONS.LEDGER, _correction(correction_id="rc_other", target_surface=f"inner/{QUEUE}"))
    for root, path in ((zone, f"inner/{QUEUE}"), (nested, QUEUE), (nested / "audit-logs", "cprs/queue.jsonl")):
        (held,) = _holds(open_workspace(root), path)
        assert held.withheld
        with pytest.raises(SkippedFile):
            read_span(root, PathRef(path, 1, 1))
