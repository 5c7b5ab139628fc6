"""Finding a chunk's text again in a file as it is now: by its bytes, and by a line map from the captured file.

Lines count from 1 and both ends are included. What was captured is told by ``text_sha256``, so a chunk whose text
was masked or clipped is found like any other. Text that was edited is the business of ``quotes``.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from rtch.text import LineIndex, decode, wide_encoding

if TYPE_CHECKING:
    from rtch.models.chunk import Chunk

MAX_FILE_BYTES = 16 * 1024 * 1024
"""Larger files are never hydrated, so one that is larger now has grown since."""
MAX_PLACES = 20
"""Places of the same text that are counted; from the second on there is nothing to choose by."""
MAX_TOLD = 3
"""Places that are named in words; the others are counted."""
MAX_HASHED_BYTES = 256 * 1024 * 1024
"""Bytes hashed in looking for one text that cannot be compared; a quarter of a second."""
MAX_TEXT_BYTES = 8 * 1024 * 1024
"""Bytes of a file whose lines are compared as text; those of 8 MB take up to 100 MB."""


class Unsure(Exception):  # noqa: N818  a verdict, not a failure of the run
    """A comparison that could not be carried out, and why."""


class Lines(NamedTuple):
    """A range of lines."""

    start: int
    end: int

    def overlaps(self, other: Lines) -> bool:
        """Tell whether the two have a line in common."""
        return self.start <= other.end and other.start <= self.end


def told(places: Sequence[Lines]) -> str:
    """Return the first of some ranges in words, and how many more there are."""
    shown = ", ".join(f"L{one.start}-L{one.end}" for one in places[:MAX_TOLD])
    rest = len(places) - MAX_TOLD
    return shown + (f" and {rest} more" if rest > 0 else "")


@dataclass(frozen=True)
class FileNow:
    """A file as it was read.

    Attributes:
        path: relative to the zone root, percent-encoded where ``encoded``.
        encoded: whether it is.
        data: all of its bytes.
    """

    path: str
    encoded: bool
    data: bytes

    @cached_property
    def sha256(self) -> str:
        """The digest of the bytes."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def encoding(self) -> str:
        """The encoding that decides where lines end."""
        return wide_encoding(self.data) or "utf-8"

    @cached_property
    def index(self) -> LineIndex:
        """Where the lines begin."""
        return LineIndex(self.data, self.encoding)

    @cached_property
    def texts(self) -> Sequence[str]:
        """The lines as text, without their ends.

        Raises:
            Unsure: the file is too large, or damaged, so that the lines of the text are not those of the bytes.
        """
        if len(self.data) > MAX_TEXT_BYTES:
            raise Unsure(f"it has {len(self.data)} bytes, too many to be compared line by line")
        texts = texts_of(self.data)
        if len(texts) != len(self.index):
            raise Unsure(f"it is damaged {self.encoding.upper()}")
        return texts

    def bytes_of(self, lines: Lines) -> bytes:
        """Return the bytes of some lines.

        Raises:
            IndexError: there are no such lines.
        """
        span = self.index.span(*lines)
        return self.data[span.start : span.end]


def texts_of(data: bytes) -> list[str]:
    """Return the lines of a whole file as text, without their ends, whether these are LF or CRLF."""
    lines = decode(data).text.split("\n")
    if not lines[-1] and (len(lines) > 1 or not data):
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


# The captured bytes.


def stands(file: FileNow, chunk: Chunk) -> bool:
    """Tell whether the chunk's lines still have the captured bytes."""
    if _stands_at_its_bytes(file, chunk):
        return True
    lines = Lines(chunk.start_line, chunk.end_line)
    return lines.end <= len(file.index) and _digest(file.bytes_of(lines)) == chunk.text_sha256


def _stands_at_its_bytes(file: FileNow, chunk: Chunk) -> bool:
    """Say so without an index of all lines, where nothing before the chunk has changed its length."""
    data, start, end = file.data, chunk.byte_start, chunk.byte_end
    if end > len(data) or start >= end or file.encoding != "utf-8":
        return False
    whole = (start == 0 or data[start - 1] == 0x0A) and (end == len(data) or data[end - 1] == 0x0A)
    if not whole or data.count(b"\n", 0, start) != chunk.start_line - 1:
        return False
    feeds = data.count(b"\n", start, end - 1)  # but for one at the very end
    return feeds == chunk.end_line - chunk.start_line and _digest(data[start:end]) == chunk.text_sha256


def same_text(file: FileNow, chunk: Chunk) -> tuple[Lines, ...]:
    """Return where whole lines have the captured bytes, from the top; at most ``MAX_PLACES``.

    Raises:
        Unsure: too many places would have to be hashed.
    """
    count = chunk.end_line - chunk.start_line + 1
    if count > len(file.index) or chunk.byte_end - chunk.byte_start > len(file.data):
        return ()
    text = _captured_bytes(chunk)
    starts = _by_length(file, chunk, count) if text is None else _by_bytes(file, text, count)
    found: list[Lines] = []
    for start in starts:
        found.append(Lines(start, start + count - 1))
        if len(found) == MAX_PLACES:
            break
    return tuple(found)


def _captured_bytes(chunk: Chunk) -> bytes | None:
    """Return the bytes that a chunk's text was decoded from; None where it does not show them."""
    if chunk.masked or chunk.clipped:
        return None
    data = chunk.text.encode(chunk.encoding, "replace")
    for bom in (b"", "\ufeff".encode(chunk.encoding, "replace")):
        if _digest(bom + data) == chunk.text_sha256:
            return bom + data
    return None


def _by_bytes(file: FileNow, text: bytes, count: int) -> Iterator[int]:
    feed = "\n".encode(file.encoding)
    if not text.endswith(feed):  # only the last line can lack its end
        places: Iterator[int] = iter((len(file.index) - count + 1,))
    else:
        places = _after_feeds(file, feed, text)
    for start in places:
        if start + count - 1 <= len(file.index) and file.bytes_of(Lines(start, start + count - 1)) == text:
            yield start


def _after_feeds(file: FileNow, feed: bytes, text: bytes) -> Iterator[int]:
    """Yield the lines at which some bytes may begin."""
    if file.data.startswith(text):
        yield 1
    at = file.data.find(feed + text)
    while at >= 0:
        begin = at + len(feed)
        line = file.index.line_of(begin)
        if file.index.span(line, line).start == begin:
            yield line
        at = file.data.find(feed + text, at + 1)


def _by_length(file: FileNow, chunk: Chunk, count: int) -> Iterator[int]:
    """Yield the lines at which a text begins of which only length and digest are known."""
    length = chunk.byte_end - chunk.byte_start
    hashed = 0
    for start in range(1, len(file.index) - count + 2):
        span = file.index.span(start, start + count - 1)
        if span.end - span.start != length:
            continue
        hashed += length
        if hashed > MAX_HASHED_BYTES:
            raise Unsure("its text was masked or clipped, and too many lines of the file are as long as it is")
        if _digest(file.data[span.start : span.end]) == chunk.text_sha256:
            yield start


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# The line map.


class Mapped(NamedTuple):
    """Where a range of the captured file has gone.

    Attributes:
        lines: its lines now; None where they are gone, or where a change reaches over an edge of the range, so that
            nothing tells where it begins or ends.
        kept: the share of its lines with a letter or digit that are still there.
    """

    lines: Lines | None
    kept: float


def mapped(old: Sequence[str], new: Sequence[str], lines: Lines) -> Mapped:
    """Follow a range from one state of a file to another.

    An edge of the range is known where its own line, or the line beyond it, is in both.
    """
    to = line_map(old, new)
    first, last = lines.start - 1, lines.end - 1
    telling = [place for place in range(first, last + 1) if re.search(r"\w", old[place])]
    kept = sum(place in to for place in telling) / len(telling) if telling else 0.0
    start = to.get(first, 0 if first == 0 else _beside(to, first - 1, 1))
    end = to.get(last, len(new) - 1 if last == len(old) - 1 else _beside(to, last + 1, -1))
    if start is None or end is None or start > end:
        return Mapped(None, kept)
    return Mapped(Lines(start + 1, end + 1), kept)


def _beside(to: dict[int, int], place: int, step: int) -> int | None:
    return to[place] + step if place in to else None


class _Gap(NamedTuple):
    """Parts of the two files, half open, that are not matched yet."""

    old: int
    old_end: int
    new: int
    new_end: int


def line_map(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Return which lines of one state of a file are which of another, counted from 0, both growing.

    Lines that are unique on both sides are matched in the longest order they share, what adjoins a match is matched
    as far as it is equal, and what lies between is done likewise (patience). Time grows with the number of lines.
    """
    to: dict[int, int] = {}
    pending = [_Gap(0, len(old), 0, len(new))]
    while pending:
        gap = _without_equal_edges(old, new, pending.pop(), to)
        anchors = _unique_in_order(old, new, gap)
        if anchors:
            to.update(anchors)
            marks = [(gap.old - 1, gap.new - 1), *anchors, (gap.old_end, gap.new_end)]
            pending += [_Gap(a + 1, c, b + 1, d) for (a, b), (c, d) in pairwise(marks) if c > a + 1 and d > b + 1]
    return to


def _without_equal_edges(old: Sequence[str], new: Sequence[str], gap: _Gap, to: dict[int, int]) -> _Gap:
    a, b, c, d = gap
    while a < b and c < d and old[a] == new[c]:
        to[a] = c
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
        to[b] = d
    return _Gap(a, b, c, d)


def _unique_in_order(old: Sequence[str], new: Sequence[str], gap: _Gap) -> list[tuple[int, int]]:
    """Return the longest run of pairs, growing on both sides, of lines that are unique in both parts."""
    here, there = Counter(old[gap.old : gap.old_end]), Counter(new[gap.new : gap.new_end])
    places = {new[place]: place for place in range(gap.new, gap.new_end) if there[new[place]] == 1}
    pairs = [
        (place, places[old[place]])
        for place in range(gap.old, gap.old_end)
        if here[old[place]] == 1 and old[place] in places
    ]
    return _longest_growing(pairs)


def _longest_growing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a longest part of some pairs, ordered by the first, whose second grows as well."""
    ends: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for i, (_, place) in enumerate(pairs):
        pile = bisect_left(ends, place)
        ends[pile : pile + 1] = [place]
        tops[pile : pile + 1] = [i]
        before.append(tops[pile - 1] if pile else -1)
    run: list[tuple[int, int]] = []
    i = tops[-1] if tops else -1
    while i >= 0:
        run.append(pairs[i])
        i = before[i]
    return run[::-1]
