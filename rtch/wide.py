"""Files that rg cannot read from the disk, such as UTF-16, as one UTF-8 text, with the way back to their offsets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rtch.text import LineIndex, wide_encoding


class WideText:
    """Some files' text, one after the other, each ending with a line end.

    Going back is asked for in ascending order and counts on from the place before, so all of it
    costs one pass.
    """

    def __init__(self, files: Sequence[tuple[str, bytes]]) -> None:
        """Decode files that begin with a UTF-16 or UTF-32 byte order mark; any other is valid UTF-8."""
        # rg would leave out a byte order mark at the very beginning.
        pieces: list[bytes] = [b"\n"]
        self._files: list[tuple[str, str, LineIndex]] = []
        for path, data in files:
            codec = wide_encoding(data) or "utf-8"
            # The BOM is decoded with the rest, and a damaged unit becomes one as wide as itself.
            text = data.decode(codec, "replace")
            pieces.append((text if text.endswith("\n") else text + "\n").encode())
            self._files.append((path, codec, LineIndex(data, codec)))
        self.utf8 = b"".join(pieces)
        self._starts = list(accumulate(map(len, pieces)))
        self._at = (-1, 0, 0)

    def place(self, offset: int) -> tuple[str, int, int]:
        """Return the path, line and byte offset of an offset in ``utf8``."""
        i = bisect_right(self._starts, offset) - 1
        path, codec, lines = self._files[i]
        file, seen, bytes_before = self._at
        if file != i or seen > offset:
            seen, bytes_before = self._starts[i], 0
        bytes_before += len(self.utf8[seen:offset].decode().encode(codec))
        self._at = (i, offset, bytes_before)
        return path, lines.line_of(bytes_before), bytes_before
