"""Rows of append-only files: which row of an id counts, and which rows it overtook.

A ledger is known by its shape: JSON rows that are objects with an id and a status. The words for both, and
for the states that stick, lie in ``config/ledgers.yaml``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rtch.models.ledgers import LedgerRules
from rtch.text import LineIndex

MAX_ROWS = 1000
"""Rows of one id that are looked at, from the end."""
VIEW_TYPE = "effective_record_view"
"""The type of the row that stands for a corrected one."""
_BOM = b"\xef\xbb\xbf"


class Standing(NamedTuple):
    """One row as far as its standing goes."""

    line: int
    record_id: str
    status: str
    end: int = 0
    """Its last line, where it is an entry of more than one."""


class Overtaken(NamedTuple):
    """A row that no longer counts, and the row that does; ``partial`` when not all of the file was looked at."""

    row: Standing
    by: Standing
    partial: bool


def parsed_row(raw: bytes) -> dict[str, Any] | None:
    """Return the object of one row; None where it is none, or cannot be read."""
    try:
        value = json.loads(raw.removeprefix(_BOM).decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def field_of(row: dict[str, Any], names: Iterable[str]) -> str:
    """Return the first of some fields that is text and not empty, else empty text."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def ids_of(row: dict[str, Any], rules: LedgerRules) -> set[str]:
    """Return every id that a row bears."""
    found = (row.get(name) for name in rules.id_fields)
    return {value for value in found if isinstance(value, str) and value}


def standing_of(raw: bytes, line: int, rules: LedgerRules) -> Standing | None:
    """Return the standing of one row; None where it has none."""
    row = parsed_row(raw)
    if row is not None and row.get("type") == VIEW_TYPE and isinstance(row.get("effective_record"), dict):
        row = row["effective_record"]
    if row is None:
        return None
    record_id, status = field_of(row, rules.id_fields), field_of(row, rules.status_fields)
    return Standing(line, record_id, status) if record_id and status else None


def counting(rows: Iterable[Standing], rules: LedgerRules) -> Standing | None:
    """Return which of one id's rows counts, given in the order in which they were appended.

    The last does, but for one thing: what is terminal is not revived by a pending row.
    """
    found: Standing | None = None
    for row in rows:
        if found is None or row.status not in rules.pending or found.status not in rules.terminal:
            found = row
    return found


def overtaken(data: bytes, index: LineIndex, lines: Iterable[int], rules: LedgerRules) -> Iterator[Overtaken]:
    """Yield the rows at some lines that another row of their id overtook, by id, then line.

    Args:
        data: the file, in UTF-8.
        index: its lines.
        lines: from 1.
        rules: the words.
    Bounds: rows are compared with ``MAX_ROWS`` of their id in the last ``rules.tail_bytes``, and with one another.
    """
    ledger = _Ledger(data, index, rules)
    wanted: dict[str, list[Standing]] = {}
    for line in sorted({line for line in lines if 1 <= line <= len(index)}):
        row = ledger.row(line)
        if row is not None:
            wanted.setdefault(row.record_id, []).append(row)
    for record_id, rows in wanted.items():
        current = counting(ledger.rows_of(record_id, rows), rules)
        for row in rows:
            if current is not None and current.line != row.line:
                yield Overtaken(row, current, ledger.low > 0)


class _Ledger:
    """A ledger's rows by line and by id."""

    def __init__(self, data: bytes, index: LineIndex, rules: LedgerRules) -> None:
        self._data = data
        self._index = index
        self._rules = rules
        self.low = max(0, len(data) - rules.tail_bytes)
        """Where the tail begins."""

    def row(self, line: int) -> Standing | None:
        """Return the row at a line; None where it has no standing."""
        span = self._index.span(line, line)
        return standing_of(self._data[span.start : span.end], line, self._rules)

    def rows_of(self, record_id: str, known: Iterable[Standing]) -> list[Standing]:
        """Return the rows of an id in the tail, and the known ones; found from the end by the id's own bytes."""
        found = {row.line: row for row in known}
        # An id in other escapes is not seen; a ledger is written by one program, which escapes alike.
        escaped = json.dumps(record_id), json.dumps(record_id, ensure_ascii=False)
        for spelling in {text.encode("utf-8", "replace") for text in escaped}:
            at, left = len(self._data), MAX_ROWS
            while left > 0 and (at := self._data.rfind(spelling, self.low, at)) >= 0:
                left -= 1
                line = self._index.line_of(at)
                row = self.row(line)
                if row is not None and row.record_id == record_id:
                    found[line] = row
                at = self._index.span(line, line).start
        return [found[line] for line in sorted(found)]
