"""Jupyter notebooks: the sources of their cells, and never the outputs.

A notebook is JSON in which a source is a list of strings, one a line; each is told with the line
of the file it stands in, so that what is found can be read there.
"""

from __future__ import annotations

from typing import NamedTuple

from rtch.json_keys import Event, Seen, Walk, unquote
from rtch.models.features import Problem
from rtch.models.vocab import CautionFlag

_MOST_CELLS = 100_000
_DEPTH = 8


class Cell(NamedTuple):
    """One cell: whether its source is markdown, and each source line with its line in the file."""

    is_markdown: bool
    lines: tuple[str, ...]
    numbers: tuple[int, ...]


class Notebook(NamedTuple):
    """The cells, in order."""

    cells: tuple[Cell, ...]
    problems: tuple[Problem, ...]


class _Cells:
    """Puts cells together from the strings of ``cells[]``."""

    def __init__(self) -> None:
        self.done: list[Cell] = []
        self._kind = ""
        self._lines: list[str] = []
        self._numbers: list[int] = []

    def take(self, event: Event, token: bytes, line: int) -> None:
        """Take one string of a notebook."""
        if event.path == "cells[].cell_type":
            self._kind = unquote(token)
        elif event.path in {"cells[].source[]", "cells[].source"}:
            rows = unquote(token).split("\n")
            if rows[-1] == "" and len(rows) > 1:
                rows.pop()
            self._lines += rows
            self._numbers += [line] * len(rows)

    def finish(self) -> None:
        """End a cell."""
        if self._lines:
            self.done.append(Cell(self._kind == "markdown", tuple(self._lines), tuple(self._numbers)))
        self._kind, self._lines, self._numbers = "", [], []


def read_notebook(data: bytes, *, complete: bool = True) -> Notebook:
    """Collect the cells' sources from a notebook's bytes, without byte order mark."""
    cells = _Cells()
    problems: list[Problem] = []
    line, counted = 1, 0
    for event in Walk(data, max_depth=_DEPTH, max_items=_MOST_CELLS, strings=True, entries="cells[]").events():
        if event.seen not in {Seen.STRING, Seen.ENTRY, Seen.BROKEN}:
            continue
        line += data.count(b"\n", counted, event.start)
        counted = event.start
        if event.seen is Seen.STRING:
            cells.take(event, data[event.start : event.end], line)
        elif event.seen is Seen.ENTRY:
            cells.finish()
        elif complete or event.end < len(data):
            problems.append(Problem(CautionFlag.MALFORMED, line, f"not a notebook: {event.note}"))
    cells.finish()
    return Notebook(tuple(cells.done), tuple(problems))
