"""Laws of ledgers, over bytes nobody would write: nothing crashes, and corrected text stays out of sight."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from driving import corpus
from hypothesis import given, settings
from hypothesis import strategies as st

from rtch.errors import RtchError
from rtch.ledgers import overtaken
from rtch.own_words import load_rules
from rtch.reading import SkippedFile
from rtch.reentry import PathRef
from rtch.search import find_matches
from rtch.spans import read_span
from rtch.text import LineIndex
from rtch.workspace import open_workspace

CORRECTIONS = corpus("zone_corrections")
QUEUE, LEDGER = "audit-logs/q.jsonl", CORRECTIONS.LEDGER
OLD = "0ld-w0rding"
BASE = json.dumps({"id": "cpr_a", "status": "extracted", "lesson": OLD}).encode()
ROWS = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([
        b"", b"\r", b"\xef\xbb\xbf", b"\xff\xfe", b"{}", b"[]", b"null", b"{", BASE, BASE + b"\r", BASE[:-2],
        b" " + BASE,
        BASE.replace(b"cpr_a", b"cpr\\u005fa"), b'{"id": "cpr_a", "status": "promoted"}', b'{"id": "cpr_b"}',
        b'{"id": "cpr_b", "id": "cpr_a", "lesson": "' + OLD.encode() + b'"}', b'{"x": NaN}', b"1" * 5000, b"[" * 3000,
    ]),
)  # fmt: skip
FILES = st.lists(ROWS, max_size=6).map(b"\n".join)
ODD: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["lifecycle_state", "patch", "supersedes", "target_surface", "target_record_id", "receipt_path",
                     "correction_id", "effective_tic", "authority", "type", "action"]),
    st.one_of(st.none(), st.integers(), st.text(max_size=5), st.lists(st.text(max_size=3), max_size=2), st.just({})),
    max_size=2,
)  # fmt: skip


def _zone(root: Path, files: dict[str, bytes]) -> Path:
    CORRECTIONS.receipt(root)
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def _all_that_is_shown(root: Path) -> bytes:
    """Return the queue by every reader, and what a search matches in it."""
    ws = open_workspace(root)
    parts = []
    try:
        parts.append(ws.read(QUEUE, max_bytes=1 << 20).data)
    except SkippedFile as skipped:
        parts.append(str(skipped).encode())
    outcome = find_matches(ws, [QUEUE], [OLD], max_lines_per_file=9, timeout_s=30, max_rows=99)
    parts += [match.text for match in outcome.matches]
    try:
        parts.append(read_span(root, PathRef(QUEUE, 1, None)).text.encode("utf-8", "surrogatepass"))
    except RtchError as error:
        parts.append(str(error).encode("utf-8", "surrogatepass"))
    return b"\n".join(parts)


@settings(max_examples=60, deadline=None)
@given(FILES, FILES, FILES)
def test_corrected_text_is_never_shown(before: bytes, after: bytes, beside: bytes) -> None:
    row = CORRECTIONS.correction("cpr_a", QUEUE, {"lesson": "new wording"})
    with tempfile.TemporaryDirectory() as folder:
        corrections = json.dumps(row).encode() + b"\n" + beside
        root = _zone(Path(folder), {QUEUE: before + b"\n" + BASE + b"\n" + after, LEDGER: corrections})
        assert OLD.encode() not in _all_that_is_shown(root)


@settings(max_examples=60, deadline=None)
@given(FILES, st.lists(ODD, min_size=1, max_size=4))
def test_no_correction_breaks_a_zone_and_lines_keep_their_numbers(data: bytes, changes: list[dict[str, Any]]) -> None:
    rows = [CORRECTIONS.correction("cpr_a", QUEUE, {"lesson": "new"}) | more for more in changes]
    with tempfile.TemporaryDirectory() as folder:
        root = _zone(Path(folder), {QUEUE: data, LEDGER: b"".join(json.dumps(row).encode() + b"\n" for row in rows)})
        ws = open_workspace(root)
        assert ws.view.dumped()
        try:
            shown = ws.read(QUEUE, max_bytes=1 << 20).data
        except SkippedFile:
            return
        assert shown.count(b"\n") == data.count(b"\n")


@given(FILES, st.lists(st.integers(-1, 12), max_size=5))
def test_rows_that_overtake_others_are_rows_of_the_same_id(data: bytes, lines: list[int]) -> None:
    for one in overtaken(data, LineIndex(data), lines, load_rules()):
        assert one.row.record_id == one.by.record_id
        assert one.row.line != one.by.line
        assert one.row.line in lines
