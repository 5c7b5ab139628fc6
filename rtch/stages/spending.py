"""How a budget of lines is spent on the files that were taken: which spans are read, best first.

Each surface gets its best window in any case; the rest of the budget goes to windows by their worth,
wherever they lie. No line is read twice.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from rtch.limits import HydrateLimits
from rtch.models.vocab import Origin
from rtch.stages.blocks import BlockWindows, named_blocks
from rtch.stages.selecting import Taken
from rtch.stages.windows import FileWindows, Row, Window, joined, narrowed, snapped

SHARE_OF_RANK = 2.0
"""A window's value is multiplied by its file's share of the best score to this power (docs/ranking.md)."""
_OWN_PULL = frozenset({Origin.EXPLICIT_SEED, Origin.DURABLE_HANDLE, Origin.FILE_PATH})
"""Origins whose hits pull beside the words that they consist of: they were named."""
HEAD = 0.7
"""What a file's first line is worth, in shares of its strongest word: there it says what it is and what it imports."""
_HEAD_TERM = "\0head"
"""No word of any request."""
FLOOR = 0.02
"""A window of less than this share of the best one's worth is left unread: a budget is a ceiling and no aim."""
REST_WINDOWS = 3
"""A short file is read to its end when no more than this many windows are left of it."""
TARGET_VALUE = 1e9
"""The whole of the known target stands before every window, and is no measure of one."""


@dataclass(frozen=True, slots=True)
class Spend:
    """A span of one taken file."""

    worth: float
    place: int
    start: int
    end: int


@dataclass(slots=True)
class _Open:
    """One file under way: its windows, and the spans it got."""

    one: Taken
    rows: Sequence[Row]
    windows: FileWindows | BlockWindows
    in_blocks: bool = False
    """Whether it is read in blocks of the time or id that was asked for, and no line between them."""
    spans: list[Spend] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.one.file.lines)

    @property
    def rest(self) -> int:
        """Lines that were not read."""
        return self.total - sum(span.end - span.start + 1 for span in self.spans)


class Spending:
    """Spends a budget once; ``left`` is what remains of it."""

    def __init__(self, taken: Sequence[Taken], limits: HydrateLimits, budget: int) -> None:
        """Take files by rank, the limits of a chunk, and the most lines in all."""
        self.left = budget
        self._limits = limits
        self._files = [self._opened(one) for one in taken]

    def spans(self, whole: str | None) -> list[Spend]:
        """Return the spans, best first.

        Args:
            whole: the path that is read from end to end, if any.
        """
        for place, file in enumerate(self._files):
            first = Window(TARGET_VALUE, 1, file.total) if file.one.file.path == whole else self._first(place, file)
            if first is not None:
                self._take(place, first)
        heap: list[tuple[float, int, Window]] = []
        for place in range(len(self._files)):
            self._offer(heap, place)
        others = (span.worth for file in self._files if file.one.file.path != whole for span in file.spans)
        floor = FLOOR * max(others, default=0.0)
        while heap and self.left > 0:
            worth, place, window = heapq.heappop(heap)
            if -worth < floor:
                break
            file = self._files[place]
            # A row is a line: of these there may be more.
            if file.in_blocks or len(file.spans) < self._limits.chunks_per_file:
                self._take(place, window)
                self._offer(heap, place)
        spans = [span for file in self._files for span in file.spans]
        return sorted(spans, key=lambda span: (-span.worth, span.place, span.start))

    def _opened(self, one: Taken) -> _Open:
        rows = _rows(one)
        blocks = named_blocks(one)
        if blocks:
            return _Open(one, rows, BlockWindows(rows, blocks, self._limits.window_lines), in_blocks=True)
        return _Open(
            one, rows, FileWindows(rows, len(one.file.lines), self._limits.window_lines, first=one.file.first_line)
        )

    def _first(self, place: int, file: _Open) -> Window | None:
        """Return the window that a surface gets in any case: whole for the best, a glimpse for the others."""
        if place < self._limits.full_windows or file.in_blocks:
            return file.windows.best()
        size = min(self._limits.glimpse_lines, self._limits.window_lines)
        return FileWindows(file.rows, file.total, size, first=file.one.file.first_line).best()

    def _offer(self, heap: list[tuple[float, int, Window]], place: int) -> None:
        window = self._files[place].windows.best()
        if window is not None:
            heapq.heappush(heap, (-self._worth(place, window), place, window))

    def _worth(self, place: int, window: Window) -> float:
        return float(window.value * self._files[place].one.share ** SHARE_OF_RANK)

    def _take(self, place: int, window: Window) -> None:
        if self.left <= 0:
            return
        file = self._files[place]
        if self._completes(place, file):
            self._complete(place, file)
            return
        start, end = self._edges(file, window)
        self._add(file, Spend(self._worth(place, window), place, start, end))

    def _add(self, file: _Open, span: Spend) -> None:
        file.windows.take(span.start, span.end)
        file.spans.append(span)
        self.left -= span.end - span.start + 1

    def _completes(self, place: int, file: _Open) -> bool:
        """Tell whether the rest of a short file is read with its second window: it costs little and leaves no gap."""
        return bool(
            file.spans
            and file.one.file.first_line == 1
            and not file.in_blocks
            and place < self._limits.full_windows
            and file.total <= self._limits.whole_file_lines
            and file.rest <= min(self.left, REST_WINDOWS * self._limits.window_lines)
        )

    def _complete(self, place: int, file: _Open) -> None:
        self.left -= file.rest
        file.windows.take(1, file.total)
        file.spans[:] = [Spend(max(span.worth for span in file.spans), place, 1, file.total)]

    def _edges(self, file: _Open, window: Window) -> tuple[int, int]:
        """Return a window's edges moved to structure, over what little is left beside it, and into the budget."""
        one, limits = file.one, self._limits
        hits = [found.hit for found in one.found if window.start <= found.hit.line <= window.end]
        met = [mark.line for mark in one.marks if mark.term and window.start <= mark.line <= window.end]
        lines = [hit.line for hit in hits] or met or [window.start]
        start, end = window.start, window.end
        short = end - start + 1 <= limits.window_lines and (start, end) != (1, file.total)
        if short and isinstance(file.windows, FileWindows):
            low, high = file.windows.free_around(window.start, window.end)
            bounds = (low, high, limits.stretch_lines)
            anchors = (min(lines), max(lines))
            start, end = joined(snapped(window, anchors, *one.file.edges, bounds), anchors, limits.window_lines, bounds)
        if end - start + 1 > self.left:
            named = [hit.line for hit in hits if hit.structural]
            start, end = narrowed((start, end), min(named or lines), self.left)
        return start, end


def _rows(one: Taken) -> list[Row]:
    """Return a file's hits and its words as rows; a word of the goal that a probe found counts once, as a word."""
    hits = (
        Row(
            hit.line,
            term.term,
            max(term.pull, 1e-3) if hit.structural or term.origin in _OWN_PULL else 1e-3,
            hit.structural,
        )
        for hit, term, _, _ in one.found
    )
    read = (Row(mark.line, mark.token, mark.pull, anchor=mark.term is not None, probed=False) for mark in one.marks)
    rows = [*hits, *read]
    head = HEAD * max((row.pull for row in rows), default=0.0)
    return [*rows, Row(1, _HEAD_TERM, head, anchor=False, probed=False)]
