"""Bytes as text: the encoding, the newline style, and where the lines are.

A line ends with LF and with nothing else: form feeds, U+2028 and lone CRs do not end one, so the
numbers are those of ``rg -n``. In UTF-16 and UTF-32, LF is the aligned code unit U+000A, which is
what rg counts after transcoding. Offsets are always those of the file's bytes, its BOM included.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import NamedTuple

from rtch.models.vocab import NewlineStyle

HEAD_BYTES = 8192
"""How much of a file decides whether it is binary."""

_BOMS = (
    # UTF-32 first: its little-endian BOM begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
UTF32_BYTES = 4
"""Of a character in UTF-32, and of its BOM."""
_LINE_FEED = {name: "\n".encode(name) for _, name in _BOMS}


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A file's text, without its BOM.

    Attributes:
        text: holds no lone surrogate, so it is always valid in JSON.
        encoding: a codec's name: utf-8, utf-16-le, utf-16-be, utf-32-le, utf-32-be, or latin-1
            where nothing else fits (lossless, but a guess).
        bom: whether the bytes begin with a byte order mark.
        newline: how the lines end.
        exact: whether encoding the text again gives the bytes; false for damaged UTF-16 or UTF-32.
    """

    text: str
    encoding: str
    bom: bool
    newline: NewlineStyle
    exact: bool = True


class Span(NamedTuple):
    """A half-open range of bytes."""

    start: int
    end: int


def encoding_of(data: bytes) -> tuple[str, int]:
    """Return the encoding of a whole file's bytes and the length of its BOM."""
    wide = wide_encoding(data)
    if wide is not None:
        return wide, 4 if wide.startswith("utf-32") else 2
    try:
        data.decode()
    except UnicodeDecodeError:
        return "latin-1", 0
    return "utf-8", 3 if data.startswith(codecs.BOM_UTF8) else 0


def wide_encoding(head: bytes) -> str | None:
    """Return the encoding of a file that begins with a UTF-16 or UTF-32 BOM, else None."""
    for bom, name in _BOMS:
        if head.startswith(bom):
            return None if name == "utf-8" else name
    return None


def is_utf32(head: bytes) -> bool:
    """Tell whether a file begins with a UTF-32 BOM."""
    return head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE))


class HeadKind(Enum):
    """What a file's first bytes say about the rest."""

    PLAIN = "plain"
    BOM = "bom"
    WIDE = "wide"
    BINARY = "binary"


def head_kind(head: bytes) -> HeadKind:
    """Judge a file by its first 8 KiB."""
    if wide_encoding(head) is not None:
        return HeadKind.WIDE
    if b"\0" in head:
        return HeadKind.BINARY
    return HeadKind.BOM if head.startswith(codecs.BOM_UTF8) else HeadKind.PLAIN


def is_binary(head: bytes) -> bool:
    """Tell whether the first 8 KiB of a file hold a NUL that no BOM explains."""
    return head_kind(head[:HEAD_BYTES]) is HeadKind.BINARY


def decode(data: bytes) -> DecodedText:
    """Decode a whole file; the locale plays no part."""
    encoding, bom_bytes = encoding_of(data)
    text, exact = _decoded(data[bom_bytes:] if bom_bytes else data, encoding)
    return DecodedText(text, encoding, bom_bytes > 0, newline_style(text), exact)


def decode_span(data: bytes, encoding: str, *, byte_start: int) -> str:
    """Decode some lines of a file by the encoding of the whole; the BOM at byte 0 is left out."""
    text, _ = _decoded(data, encoding)
    return text.removeprefix("\ufeff") if byte_start == 0 and encoding != "latin-1" else text


def _decoded(data: bytes, encoding: str) -> tuple[str, bool]:
    try:
        return data.decode(encoding), True
    except UnicodeDecodeError:
        return data.decode(encoding, "replace"), False


def newline_style(text: str) -> NewlineStyle:
    """Return the one way in which lines end, or mixed, or none where there is no line end."""
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    cr = text.count("\r") - crlf
    found = [style for style, n in ((NewlineStyle.CRLF, crlf), (NewlineStyle.LF, lf), (NewlineStyle.CR, cr)) if n]
    if not found:
        return NewlineStyle.NONE
    return found[0] if len(found) == 1 else NewlineStyle.MIXED


class LineIndex:
    """Where each line of some bytes begins; lines count from 1 and both ends are included."""

    __slots__ = ("_before", "_size", "_starts")

    def __init__(self, data: bytes, encoding: str = "utf-8", *, first_line: int = 1) -> None:
        """Index bytes in an encoding; only its code unit matters.

        Those of a part of a file may begin with another line than its first; offsets are those in the part.
        """
        self._before = first_line - 1
        self._size = len(data)
        feed = _LINE_FEED.get(encoding, b"\n")
        if len(feed) == 1:
            starts = [0, *accumulate(len(piece) + 1 for piece in data.split(b"\n"))]
            starts.pop()  # the last piece has no LF
        else:
            ends = (match.end() for match in re.finditer(re.escape(feed), data))
            starts = [0, *(end for end in ends if end % len(feed) == 0)]
        if starts[-1] == self._size:
            starts.pop()
        self._starts = starts

    def __len__(self) -> int:
        """Return the last line's number; a last line without LF counts, an empty one does not."""
        return self._before + len(self._starts)

    def line_of(self, offset: int) -> int:
        """Return the line that holds a byte.

        Raises:
            IndexError: the offset lies outside the bytes.
        """
        if not 0 <= offset < self._size:
            raise IndexError(f"byte {offset} of {self._size}")
        return self._before + bisect_right(self._starts, offset)

    def span(self, start: int, end: int) -> Span:
        """Return the bytes from the beginning of a line through the LF of another.

        Raises:
            IndexError: a line does not exist or the range is empty.
        """
        if not self._before < start <= end <= len(self):
            raise IndexError(f"lines {start} to {end} of {len(self)}")
        start, end = start - self._before, end - self._before
        last = self._starts[end] if end < len(self._starts) else self._size
        return Span(self._starts[start - 1], last)
