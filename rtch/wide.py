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

    def __init__(self, files: Sequence[tuple[str, bytes, int, int]]) -> None:
        """Decode files that begin with a UTF-16 or UTF-32 byte order mark; any other is UTF-8, or read as Latin-1.

        Args:
            files: path, bytes, and where these begin in the file: the line, from 1, and the byte.
        """
        # rg would leave out a byte order mark at the very beginning.
        pieces: list[bytes] = [b"\n"]
        self._files: list[tuple[str, str, LineIndex, int]] = []
        for path, data, first_line, byte_start in files:
            codec = wide_encoding(data) or ("utf-8" if _is_utf8(data) else "latin-1")
            # The BOM is decoded with the rest, and a damaged unit becomes one as wide as itself.
            text = data.decode(codec, "replace")
            pieces.append((text if text.endswith("\n") else text + "\n").encode())
            self._files.append((path, codec, LineIndex(data, codec, first_line=first_line), byte_start))
        self.utf8 = b"".join(pieces)
        self._starts = list(accumulate(map(len, pieces)))
        self._at = (-1, 0, 0)

    def place(self, offset: int) -> tuple[str, int, int]:
        """Return the path, line and byte offset of an offset in ``utf8``."""
        i = bisect_right(self._starts, offset) - 1
        path, codec, lines, byte_start = self._files[i]
        file, seen, bytes_before = self._at
        if file != i or seen > offset:
            seen, bytes_before = self._starts[i], 0
        bytes_before += len(self.utf8[seen:offset].decode().encode(codec))
        self._at = (i, offset, bytes_before)
        return path, lines.line_of(bytes_before), byte_start + bytes_before


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
