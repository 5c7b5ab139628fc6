"""The end of a ledger that is too large to be read whole: its last whole rows, at their true places in the file.

To a ledger is appended, so that what counts stands at its end. Of what stands before, the line ends are counted and the
digests taken, block by block, once for as long as the file stays as it is; none of it is held or searched.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from rtch.effective import has_rows
from rtch.keys import logic_digest, zone_id
from rtch.models.vocab import SkipReason
from rtch.reading import BLOCK_BYTES, OpenFile, SkippedFile
from rtch.text import HeadKind

if TYPE_CHECKING:
    from rtch.workspace import Workspace

TAIL_BYTES = 16 << 20
"""Of a ledger that are searched and read, from its end; a smaller one is read whole, as any file."""
TAIL_LINES = 40_000
"""Rows at most: one probe may look at no more than 50,000 lines."""


class Tail(NamedTuple):
    """The last rows of a ledger.

    Attributes:
        data: of whole rows, as the view shows them.
        first_line: the line of the first of them, from 1.
        byte_start: where it begins in the file.
        sha256: of the whole file.
        blob_id: git's name for the whole file.
    """

    data: bytes
    first_line: int
    byte_start: int
    sha256: str
    blob_id: str

    @property
    def unread(self) -> str:
        """What was not read, in words."""
        return tail_words(self.first_line, self.byte_start)


def tail_words(first_line: int, byte_start: int) -> str:
    """Say what of a ledger was searched and what was not."""
    return f"searched and read from L{first_line} on; L1-L{first_line - 1}, its first {byte_start} bytes, were not"


class _Place(NamedTuple):
    first_line: int
    byte_start: int
    sha256: str
    blob_id: str


def is_long(ws: Workspace, path: str) -> bool:
    """Tell whether a file is a ledger of which only the end is read."""
    if not has_rows(path) or ws.size(path) <= TAIL_BYTES:
        return False
    try:
        return ws.head_kind(path) in {HeadKind.PLAIN, HeadKind.BOM}
    except SkippedFile:
        return False


def read_tail(ws: Workspace, path: str) -> Tail:
    """Return the last rows of a ledger.

    Raises:
        SkippedFile: HELD, OVERSIZED where the last row alone is too large, CHANGED_DURING_RUN, or what ``open`` raises.
    """
    ws.view.check(path)
    place = _noted(ws, path)
    with ws.open(path) as file:
        if place is None:
            place = _place(file, ws.object_format)
            _note(ws, path, place)
        data = file.pread(place.byte_start, file.row.size - place.byte_start)
        file.check_unchanged()
    data = ws.view.project(path, data, first_line=place.first_line)
    return Tail(data, place.first_line, place.byte_start, place.sha256, place.blob_id)


def feeds_before(file: OpenFile, end: int) -> int:
    """Count the line ends before a byte of a file; no more than a block of it is held."""
    return sum(file.pread(at, min(BLOCK_BYTES, end - at)).count(b"\n") for at in range(0, end, BLOCK_BYTES))


def _place(file: OpenFile, object_format: str) -> _Place:
    size = file.row.size
    low = max(0, size - TAIL_BYTES)
    begin = low + _cut(file.pread(low, size - low), at_start=low == 0)
    if begin >= size:
        raise SkippedFile(
            SkipReason.OVERSIZED, file.path, f"{size} bytes, and its last row is larger than {TAIL_BYTES}"
        )
    sha256, blob, lines = hashlib.sha256(), hashlib.new(object_format, b"blob %d\0" % size), 1
    for at in range(0, size, BLOCK_BYTES):
        block = file.pread(at, min(BLOCK_BYTES, size - at))
        sha256.update(block)
        blob.update(block)
        lines += block.count(b"\n", 0, max(0, begin - at))
    return _Place(lines, begin, sha256.hexdigest(), blob.hexdigest())


def _cut(data: bytes, *, at_start: bool) -> int:
    """Return where in the last bytes of a file its last whole rows begin."""
    first = 0 if at_start else data.find(b"\n") + 1 or len(data)
    at = len(data) - data.endswith(b"\n")
    for _ in range(TAIL_LINES):
        at = data.rfind(b"\n", first, at)
        if at < 0:
            return first
    return at + 1


def _name(ws: Workspace, path: str) -> str:
    text = f"{logic_digest()} {path}".encode("utf-8", "surrogatepass")
    return f"tail/{zone_id(ws.root)}/{hashlib.sha256(text).hexdigest()[:32]}"


def _noted(ws: Workspace, path: str) -> _Place | None:
    """Return what an earlier run found of a file that is as it was."""
    if ws.notes is None:
        return None
    name = _name(ws, path)
    try:
        token, line, byte, sha256, blob = json.loads(ws.notes.get_blobs([name]).get(name, b"null"))
        known = _Place(int(line), int(byte), str(sha256), str(blob))
    except (ValueError, TypeError):
        return None
    return known if token == ws.raw_token(path) else None


def _note(ws: Workspace, path: str, place: _Place) -> None:
    token = ws.raw_token(path)
    if ws.notes is not None and token.startswith("stat:"):
        ws.notes.set_blobs({_name(ws, path): json.dumps([token, *place]).encode()})
