"""The end of a ledger that is too large to be read whole, at its true lines and bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from driving import plant
from hypothesis import given
from hypothesis import strategies as st

from rtch import tails
from rtch.models.vocab import SkipReason
from rtch.reading import SkippedFile
from rtch.search import find_matches
from rtch.store import MemoryStore
from rtch.tails import is_long, read_tail
from rtch.text import LineIndex
from rtch.wide import WideText
from rtch.workspace import Workspace, open_workspace

ROW = '{{"id": "cpr_{0:04}", "note": "wick"}}\n'
ROWS = [ROW.format(number) for number in range(1, 101)]
PATH = "audit-logs/cprs/queue.jsonl"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tails, "TAIL_BYTES", 1000)


def zone(root: Path, text: str = "".join(ROWS)) -> Workspace:
    return open_workspace(plant(root, {".ticzone": "{}", PATH: text}))


def test_the_end_is_whole_rows_at_their_places(tmp_path: Path) -> None:
    ws = zone(tmp_path)
    whole = (tmp_path / PATH).read_bytes()
    tail = read_tail(ws, PATH)
    assert is_long(ws, PATH)
    assert len(tail.data) <= 1000
    assert len(tail.data) + len(ROWS[0]) > 1000
    assert tail.data == whole[tail.byte_start :]
    assert tail.data.startswith(f'{{"id": "cpr_{tail.first_line:04}"'.encode())
    assert tail.sha256 == hashlib.sha256(whole).hexdigest()
    assert tail.blob_id == hashlib.sha1(b"blob %d\0" % len(whole) + whole, usedforsecurity=False).hexdigest()
    assert f"from L{tail.first_line} on" in tail.unread


def test_no_more_rows_than_one_probe_may_look_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tails, "TAIL_LINES", 7)
    tail = read_tail(zone(tmp_path), PATH)
    assert (tail.first_line, tail.data.count(b"\n")) == (94, 7)


@pytest.mark.parametrize("text", ["".join(ROWS) + '{"torn": ', "x\n" + "y" * 990 + "\n" + ROWS[0]])
def test_a_torn_last_row_and_a_long_one_before_are_no_trouble(tmp_path: Path, text: str) -> None:
    tail = read_tail(zone(tmp_path, text), PATH)
    assert text.encode().endswith(tail.data)
    assert text.encode()[tail.byte_start - 1] == 0x0A
    assert text.encode().count(b"\n", 0, tail.byte_start) == tail.first_line - 1


def test_a_row_larger_than_the_end_is_oversized(tmp_path: Path) -> None:
    with pytest.raises(SkippedFile) as refused:
        read_tail(zone(tmp_path, ROWS[0] + "x" * 2000), PATH)
    assert refused.value.reason is SkipReason.OVERSIZED


def test_what_is_counted_is_noted_and_counted_anew_where_the_file_grew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Workspace, "raw_token", lambda ws, path: f"stat:{ws.size(path)}")
    store = MemoryStore()
    ws = zone(tmp_path)
    ws.notes = store
    first = read_tail(ws, PATH)
    with monkeypatch.context() as patched:
        patched.setattr(tails, "_place", lambda *_: pytest.fail("it was counted before"))
        assert read_tail(ws, PATH) == first
    grown = zone(tmp_path, "".join(ROWS) + ROW.format(101))
    grown.notes = store
    assert read_tail(grown, PATH).first_line == first.first_line + 1


def test_other_files_and_small_ledgers_are_not_long(tmp_path: Path) -> None:
    files = {"a.txt": "x\n" * 2000, "b.jsonl": ROWS[0], "c.jsonl": "\0" * 2000, "d.jsonl": "\ufeff" + "x\n" * 2000}
    plant(tmp_path, files)
    (tmp_path / "e.jsonl").write_bytes(("x\n" * 2000).encode("utf-16"))
    ws = open_workspace(tmp_path)
    assert [is_long(ws, path) for path in (*files, "e.jsonl", "gone.jsonl")] == [
        False,
        False,
        False,
        True,
        False,
        False,
    ]


def test_a_search_finds_the_end_at_its_lines_and_says_what_it_left_out(tmp_path: Path) -> None:
    ws = zone(tmp_path)
    tail = read_tail(ws, PATH)
    found = find_matches(ws, [PATH], ["cpr_00"], max_lines_per_file=400, timeout_s=9, max_rows=999)
    whole = (tmp_path / PATH).read_bytes()
    assert [match.line for match in found.matches] == list(range(tail.first_line, 100))
    assert all(whole[match.byte_offset :].startswith(match.text) for match in found.matches)
    (left_out,) = found.skipped
    assert (left_out.path, left_out.reason) == (PATH, SkipReason.OVERSIZED)
    assert f"L1-L{tail.first_line - 1}" in left_out.detail


def test_rows_that_are_no_utf8_keep_their_places() -> None:
    data = b'"\xff\xfe"\n"wick"\n'
    text = WideText([("a.jsonl", data, 10, 500)])
    assert text.place(text.utf8.index(b"wick")) == ("a.jsonl", 11, 500 + data.index(b"wick"))


@given(st.lists(st.sampled_from([b"a\n", b"\n", b"bb\n"]), min_size=1), st.integers(1, 50))
def test_lines_of_a_part_are_those_of_the_whole_moved(pieces: list[bytes], first: int) -> None:
    data = b"".join(pieces)
    plain, moved = LineIndex(data), LineIndex(data, first_line=first)
    assert len(moved) == len(plain) + first - 1
    for line in range(1, len(plain) + 1):
        assert moved.span(line + first - 1, line + first - 1) == plain.span(line, line)
    assert all(moved.line_of(at) == plain.line_of(at) + first - 1 for at in range(len(data)))
    with pytest.raises(IndexError):
        moved.span(first - 1, first)
