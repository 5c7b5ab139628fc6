"""Which lines of a file are of the time or the id that a request names: rows of a ledger, sections of a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rtch.effective import has_rows
from rtch.models.vocab import Origin
from rtch.moments import moment_of
from rtch.stages.selecting import Taken
from rtch.stages.windows import Row, Window, value_of


def named_blocks(one: Taken) -> list[tuple[int, int]]:
    """Return the spans of lines of a file that are of what is named; none where the file is not written in blocks.

    In a file of rows each row with a hit of a time is one; so is, where ids and nothing else are found in it, each row
    with an id. In a document it is the section below the heading that names the time, or else the innermost one.
    Neighbours are one span.
    """
    hits = {found.hit.line for found in one.found if not found.hit.structural and moment_of(found.term.term)}
    if has_rows(one.file.path):
        return merged((line, line) for line in hits or _rows_of_ids(one))
    return merged(span for line in hits for span in _section(one, line)) if one.file.sections else []


def _rows_of_ids(one: Taken) -> set[int]:
    handle = Origin.DURABLE_HANDLE
    # Where an id stands in a row was seen before, or was not: it is its row either way.
    found = [one for one in one.found if not one.hit.structural or one.term.origin is handle]
    origins = {one.term.origin for one in found}
    named = handle in origins and Origin.EXPLICIT_SEED not in origins
    return {one.hit.line for one in found if named and one.term.origin is handle}


def _section(one: Taken, line: int) -> Iterable[tuple[int, int]]:
    holding = [part for part in one.file.sections if part.start_line <= line <= part.end_line]
    terms = {found.term.term for found in one.found if found.hit.line == line}
    moments = [moment for moment in map(moment_of, terms) if moment is not None]
    headed = [part for part in holding if any(moment.holds(part.path[-1]) for moment in moments)]
    for part in (headed or holding[-1:])[:1]:
        yield part.start_line, part.end_line


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that touch or overlap as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


class BlockWindows:
    """The blocks of one file as windows, taken best first; none of them grows beyond its block."""

    def __init__(self, rows: Sequence[Row], blocks: Iterable[tuple[int, int]], size: int) -> None:
        pieces = [(at, min(end, at + size - 1)) for start, end in blocks for at in range(start, end + 1, size)]
        windows = [
            Window(value_of([row for row in rows if start <= row.line <= end]), start, end)
            for start, end in pieces
            if any(row.anchor and start <= row.line <= end for row in rows)
        ]
        self._left = sorted(windows, key=lambda one: (-one.value, one.start))

    def best(self) -> Window | None:
        """Return the best block that was not taken."""
        return self._left[0] if self._left else None

    def take(self, start: int, end: int) -> None:
        """Give away what overlaps a span."""
        self._left = [one for one in self._left if one.end < start or one.start > end]
