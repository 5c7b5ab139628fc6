"""Rows of append-only files: which row of an id counts, and which rows it overtook.

A ledger is known by its shape: JSON rows that are objects with an id and a status. The words for both, and
for the states that stick, lie in ``config/ledgers.yaml``.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from rtch.effective import ROW_ENDINGS
from rtch.models.ledgers import LedgerRules

VIEW_TYPE = "effective_record_view"
"""The type of the row that stands for a corrected one."""
_BOM = b"\xef\xbb\xbf"


class Standing(NamedTuple):
    """One row as far as its standing goes."""

    line: int
    record_id: str
    status: str


class Overtaken(NamedTuple):
    """A row that no longer counts, and the row that does; ``partial`` when not all of the file was looked at."""

    row: Standing
    by: Standing
    partial: bool


def has_rows(path: str) -> bool:
    """Tell by a path whether a file holds a JSON value a line."""
    return path.endswith(ROW_ENDINGS)


@lru_cache(maxsize=1)
def load_rules() -> LedgerRules:
    """Return the packaged rules.

    Raises:
        pydantic.ValidationError: the packaged file does not have the declared shape.
    """
    from rtch.limits import config_yaml  # noqa: PLC0415  a zone without ledgers needs no reader of YAML

    return LedgerRules.parse(json.dumps(config_yaml("ledgers.yaml")))


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


def overtaken(data: bytes, lines: Iterable[int], rules: LedgerRules) -> Iterator[Overtaken]:
    """Yield the rows at some lines that another row of their id overtook, by line.

    Args:
        data: the file, in UTF-8.
        lines: from 1.
        rules: the words.
    Bounds: rows are compared with those in the last ``rules.tail_bytes``, and with those they stand among.
    """
    starts = _starts(data)
    wanted: dict[str, list[Standing]] = {}
    for line in sorted({line for line in lines if 1 <= line <= len(starts)}):
        row = standing_of(_raw(data, starts, line), line, rules)
        if row is not None:
            wanted.setdefault(row.record_id, []).append(row)
    low = max(0, len(data) - rules.tail_bytes)
    for record_id, rows in wanted.items():
        current = counting(_rows_of(data, starts, record_id, rows, low, rules), rules)
        for row in rows:
            if current is not None and current.line != row.line:
                yield Overtaken(row, current, low > 0)


def _rows_of(  # noqa: PLR0913, PLR0917  one search, with its bounds
    data: bytes, starts: list[int], record_id: str, known: list[Standing], low: int, rules: LedgerRules
) -> list[Standing]:
    """Return the rows of an id in the tail, and the known ones; found from the end by the id's own bytes."""
    found = {row.line: row for row in known}
    # An id in other escapes is not seen; a ledger is written by one program, which escapes alike.
    escaped = json.dumps(record_id), json.dumps(record_id, ensure_ascii=False)
    for spelling in {text[1:-1].encode("utf-8", "replace") for text in escaped}:
        at = len(data)
        while (at := data.rfind(spelling, low, at)) >= 0:
            line = bisect_right(starts, at)
            row = standing_of(_raw(data, starts, line), line, rules)
            if row is not None and row.record_id == record_id:
                found[line] = row
            at = starts[line - 1]
    return [found[line] for line in sorted(found)]


def _starts(data: bytes) -> list[int]:
    starts = [0]
    at = data.find(b"\n")
    while at >= 0:
        starts.append(at + 1)
        at = data.find(b"\n", at + 1)
    return starts[:-1] if starts[-1] == len(data) else starts


def _raw(data: bytes, starts: list[int], line: int) -> bytes:
    return data[starts[line - 1] : starts[line] if line < len(starts) else len(data)]
