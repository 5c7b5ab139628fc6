"""Cron expressions of five fields: what is wrong with one, told before anything is started by it.

Prefect reads them too, but only with a server at hand, and it takes one whose day never comes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MACROS = ("@hourly", "@daily", "@weekly", "@monthly", "@yearly")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PART = re.compile(r"(?:\*|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:/([0-9]{1,4}))?")


class _Field(NamedTuple):
    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 7, _DAYS),
)


def complaint(text: str) -> str:
    """Return what is wrong with a cron expression, or nothing.

    Five fields, each ``*``, a number or name, a range or a list, with ``/`` and a step; or one of ``MACROS``.
    """
    if text in MACROS:
        return ""
    parts = text.split()
    if text.startswith("@"):
        return f"{text} is no shorthand; known are {', '.join(MACROS)}"
    if len(parts) != len(_FIELDS):
        return f"it has {len(parts)} fields, and cron has five: {', '.join(field.name for field in _FIELDS)}"
    values = [_values(part.lower(), field) for part, field in zip(parts, _FIELDS, strict=True)]
    for part, field, found in zip(parts, _FIELDS, values, strict=True):
        if not found:
            return f"{part} is no {field.name} from {field.least} to {field.most}"
    days, months = values[2], values[3]
    if parts[4] == "*" and all(min(days) > _LONGEST[month - 1] for month in months):
        return "its day never comes: no such month is that long"
    return ""


def _values(text: str, field: _Field) -> frozenset[int]:
    """Return the numbers that a field stands for; none where it is wrong."""
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            return frozenset()
        first, last, step = match.groups()
        low = field.least if first is None else _number(first, field)
        high = field.most if first is None or (last is None and step) else low if last is None else _number(last, field)
        if not field.least <= low <= high <= field.most or step in {"0", "00", "000", "0000"}:
            return frozenset()
        found.update(range(low, high + 1, int(step or 1)))
    return frozenset(found)


def _number(text: str, field: _Field) -> int:
    if text in field.names:
        return field.names.index(text) + field.least
    return int(text) if text.isdecimal() and len(text) < 4 else -1
