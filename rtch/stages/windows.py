"""Which lines of a file are worth reading: windows around hits, best first, none twice."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

SATURATION = 1.0
"""The second hit of a term in a window adds half of what the first did."""
STRUCTURAL = 0.6
"""What a definition, heading or key of the name adds, in shares of the term's pull."""
LEAD = (3, 12, 24)
"""Lines before a hit at which a window may begin: just above it, a little, and past its middle."""

STEPS = 4
"""Windows tried in the length of one, where only reading found something."""


class Row(NamedTuple):
    """One hit, or one word of the request met by reading, as windows see it."""

    line: int
    term: str
    pull: float
    structural: bool = False
    anchor: bool = True
    """Whether it can stand for a chunk: a window without one of these is no evidence."""
    probed: bool = True
    """Whether a probe found it: windows are tried around these, and every few lines around the others."""


class Window(NamedTuple):
    """A span of lines with its value."""

    value: float
    start: int
    end: int


class _Offer(NamedTuple):
    """A window in the order in which windows are taken: by value, where it begins best, and first."""

    worth: float
    off: int
    wanted: int
    window: Window


class FileWindows:
    """The windows of one file, taken best first; lines that were taken are not offered again."""

    def __init__(self, rows: Sequence[Row], lines: int, size: int, *, first: int = 1) -> None:
        self._rows = sorted(rows)
        self._places = [row.line for row in self._rows]
        self._first, self._lines = first, lines
        self._size = size
        self._leads = {lead if lead < size else (size - 1) // 2 for lead in LEAD}
        self._taken: list[tuple[int, int]] = []
        """By their first line, or a start moved past one span could land in another."""
        # A window is only ever worth less as lines are taken, so one that is still worth what it was is the best.
        self._offers = list(self._first_offers())
        heapq.heapify(self._offers)

    def best(self) -> Window | None:
        """Return the best window that overlaps nothing taken; None when no hit is left."""
        while self._offers:
            offer = self._offers[0]
            now = self._offer(offer.wanted)
            if now == offer:
                return offer.window
            if now is None:
                heapq.heappop(self._offers)
            else:
                heapq.heapreplace(self._offers, now)
        return None

    def take(self, start: int, end: int) -> None:
        """Give a span away: its hits are spent and its lines are not offered again."""
        insort(self._taken, (start, end))
        self._rows = [row for row in self._rows if not start <= row.line <= end]
        self._places = [row.line for row in self._rows]

    def free_around(self, start: int, end: int) -> tuple[int, int]:
        """Return how far a span may grow on both sides before it meets a taken one."""
        low = max((b + 1 for a, b in self._taken if b < start), default=self._first)
        high = min((a - 1 for a, b in self._taken if a > end), default=self._lines)
        return low, high

    def _starts(self) -> list[int]:
        step = max(1, self._size // STEPS)
        starts = {max(self._first, row.line - lead) for row in self._rows if row.probed for lead in self._leads}
        for line in {row.line for row in self._rows if row.anchor and not row.probed}:
            first = max(0, line - self._size) // step * step
            starts.update(range(max(self._first, first), line + 1, step))
        return sorted(starts)

    def _first_offers(self) -> Iterator[_Offer]:
        """Yield what ``_offer`` says of each start while nothing is taken: each row enters once, and leaves once."""
        rows, worth, low, high = self._rows, _Worth(), 0, 0
        for start in self._starts():
            last = min(self._lines, start + self._size - 1)
            while high < len(rows) and rows[high].line <= last:
                worth.enter(rows[high])
                high += 1
            while low < high and rows[low].line < start:
                worth.leave(rows[low])
                low += 1
            if start <= last and low < high:
                offer = _offered(worth, rows[low], start, Window(0.0, start, last))
                if offer is not None:
                    yield offer

    def _offer(self, start: int) -> _Offer | None:
        free = self._free(start)
        if free is None:
            return None
        first, last = free
        held = self._rows[bisect_left(self._places, first) : bisect_right(self._places, last)]
        return _offered(_worth_of(held), held[0], start, Window(0.0, first, last)) if held else None

    def _free(self, start: int) -> tuple[int, int] | None:
        end = min(self._lines, start + self._size - 1)
        for a, b in self._taken:
            if a <= start <= b:
                start = b + 1
            elif start < a <= end:
                end = a - 1
        return (start, end) if start <= end else None


class _Worth:
    """What some rows are worth together, as further ones enter and the first of them leave."""

    def __init__(self) -> None:
        self.anchors = 0
        self._held: dict[str, deque[Row]] = {}
        """By term."""
        self._named: dict[str, deque[Row]] = {}
        """Of the held ones those that are structural."""

    @property
    def structural(self) -> bool:
        """Whether some row is."""
        return bool(self._named)

    def enter(self, row: Row) -> None:
        """Take a row that stands behind all others."""
        self.anchors += row.anchor
        for rows in (self._held, self._named) if row.structural else (self._held,):
            rows.setdefault(row.term, deque()).append(row)

    def leave(self, row: Row) -> None:
        """Give up the row that stands before all others."""
        self.anchors -= row.anchor
        for rows in (self._held, self._named) if row.structural else (self._held,):
            left = rows[row.term]
            left.popleft()
            if not left:
                del rows[row.term]

    def value(self) -> float:
        """Return their value; exact sums do not depend on the order in which terms were met."""
        counted = ((rows[-1].pull, len(rows)) for rows in self._held.values())
        hits = math.fsum(pull * n * (SATURATION + 1) / (n + SATURATION) for pull, n in counted)
        return hits + math.fsum(STRUCTURAL * rows[-1].pull for rows in self._named.values())


def _worth_of(rows: Iterable[Row]) -> _Worth:
    worth = _Worth()
    for row in rows:
        worth.enter(row)
    return worth


def value_of(rows: Iterable[Row]) -> float:
    """Return what some rows are worth together."""
    return _worth_of(rows).value()


def _offered(worth: _Worth, first: Row, wanted: int, span: Window) -> _Offer | None:
    """Return the offer of a span of lines, given what its rows are worth and the first of them."""
    if not worth.anchors:
        return None
    value = worth.value()
    # Right above a definition, a little before a mention.
    off = abs(first.line - span.start - (LEAD[0] if worth.structural else LEAD[1]))
    return _Offer(-round(value, 9), off, wanted, span._replace(value=value))


def snapped(
    window: Window, anchors: tuple[int, int], starts: Sequence[int], ends: Sequence[int], bounds: tuple[int, int, int]
) -> tuple[int, int]:
    """Move a window's edges to structure that is near.

    Args:
        window: the span as chosen.
        anchors: the first and last line that must stay inside.
        starts: lines at which a definition or section begins, sorted.
        ends: lines at which one ends, sorted.
        bounds: (lowest line, highest line, how far an edge may move).
    """
    low, high, stretch = bounds
    size = window.end - window.start + 1
    first, last = anchors
    start = _nearest(starts, window.start, max(low, window.start - stretch), first)
    end = min(high, start + size - 1)
    end = _nearest(ends, end, max(last, end - stretch), min(high, start + size - 1))
    return (start, end) if start <= first and last <= end else (window.start, window.end)


def joined(span: tuple[int, int], anchors: tuple[int, int], size: int, bounds: tuple[int, int, int]) -> tuple[int, int]:
    """Move a span of at most ``size`` lines up to what was read before it, or down to what follows, where that is near.

    Otherwise the few lines between two spans are left out, and they are as likely as any to be wanted.

    Args:
        span: the first and last line.
        anchors: the first and last line that must stay inside.
        size: the most lines.
        bounds: (lowest line, highest line, how far an edge may move).
    """
    start, end = span
    low, high, reach = bounds
    if 0 <= start - low <= reach and anchors[1] < low + size:
        return low, min(high, low + size - 1)
    if 0 <= high - end <= reach and anchors[0] > high - size:
        return max(low, high - size + 1), high
    return span


def narrowed(span: tuple[int, int], line: int, size: int) -> tuple[int, int]:
    """Return ``size`` lines of a longer span that hold a line, and a little of what stands above it."""
    start, end = span
    begin = min(max(start, line - min(LEAD[0], size - 1)), end - size + 1)
    return begin, begin + size - 1


def _nearest(lines: Sequence[int], wanted: int, low: int, high: int) -> int:
    inside = lines[bisect_left(lines, low) : bisect_right(lines, high)]
    return min(inside, key=lambda line: (abs(line - wanted), line)) if inside else wanted
