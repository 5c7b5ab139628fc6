"""Values that a markdown document states of named settings: in a table of them, in a line of its own, in a code span.

A statement is narrow: a value of one word, and a line that neither tells the reader to do something nor gives an
example. Fenced code is an example, and never one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

LINE_CHARS = 400
"""Characters of a line that are looked at; a table's row or a setting's line is shorter."""
VALUE_CHARS = 40

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_VALUE = r"(`[^`\n]{1,40}`|\"[^\"\n]{1,40}\"|[\w.:/+~-]{1,40})"
_LINE = re.compile(
    rf"[ \t>]*(?:[-*+][ \t]+)?\*\*([A-Za-z][\w .()/-]{{2,58}}):?\*\*:?[ \t]+{_VALUE}[ \t]*(?:\.|<br/?>)?[ \t]*"
)
_SPAN = re.compile(r"`([A-Za-z_][\w.-]{2,79})[ \t]*(?:=|:[ \t])[ \t]*([^`\n]{1,40})`")
_KEY = re.compile(r"`([A-Za-z_][\w.-]{2,79})`")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)+\|?[ \t]*")
_KEY_HEAD = frozenset({"key", "name", "setting", "option", "parameter", "field", "config", "variable", "limit"})
_VALUE_HEAD = frozenset({"value", "default", "current", "current value", "setting", "default value", "limit"})
_ASKS = re.compile(
    r"\b(?:set|sets|setting|use|try|e\.g|eg|example|examples|for instance|such as|if|when|unless|instead|or|either|to|"
    r"pass|add|override|overrides|can|could|may|might|disable|enable|must|should|not|no longer|was|were|until|before|"
    r"old|previously|suppose|say|like|change)\b|n't\b",
    re.IGNORECASE,
)
_A_KIND = re.compile(
    r"int|integer|str|string|bool|boolean|number|float|object|array|list|dict|map|any|none|null|path|url|uri|date|"
    r"datetime|tuple|bytes|uuid|optional|required|yes/no|true/false",
    re.IGNORECASE,
)
"""A word for what values there may be, which is none."""


class How(Enum):
    """In which form a value is stated."""

    TABLE = auto()
    LINE = auto()
    SPAN = auto()


class Statement(NamedTuple):
    """A key, as it is written, its value and where."""

    key: str
    text: str
    line: int
    how: How
    heading: str


def stated(texts: Sequence[str], *, first_line: int = 1) -> tuple[Statement, ...]:
    """Return what a markdown document states, by line.

    Args:
        texts: its lines, without the front matter.
        first_line: the number of the first of them.
    """
    found: list[Statement] = []
    fence = heading = ""
    columns: tuple[int, int] | None = None
    for place, whole in enumerate(texts):
        line = whole[:LINE_CHARS]
        opened = _FENCE.match(line)
        if opened is not None and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
            continue
        if fence:
            continue
        if line.startswith("#"):
            heading = line.strip("# \t\r").casefold()
        columns = _columns(texts[place - 1], line) if place and _RULE.fullmatch(line.rstrip("\r")) else columns
        if "|" not in line:
            columns = None
        rows = _of_row(line, columns) if columns is not None else _of_line(line)
        found += (Statement(key, value, place + first_line, how, heading) for key, value, how in rows if _tells(value))
    return tuple(found)


def _tells(value: str) -> bool:
    return (
        0 < len(value) <= VALUE_CHARS
        and _A_KIND.fullmatch(value) is None
        and not re.search(r"[<>${}|*…]|\.\.\.|\s", value)
    )


def _columns(head: str, rule: str) -> tuple[int, int] | None:
    """Return which columns of a table hold the keys and their values; None for a table of something else."""
    names = [cell.strip(" *`_\r").casefold() for cell in _cells(head[:LINE_CHARS])]
    if len(names) != len(_cells(rule)):
        return None
    keys = [place for place, name in enumerate(names) if name in _KEY_HEAD]
    values = [place for place, name in enumerate(names) if name in _VALUE_HEAD and place not in keys[:1]]
    return (keys[0], values[0]) if keys and len(values) == 1 else None


def _cells(row: str) -> list[str]:
    return row.strip(" \t\r").removeprefix("|").removesuffix("|").split("|")


def _of_row(line: str, columns: tuple[int, int]) -> Iterator[tuple[str, str, How]]:
    cells = _cells(line)
    if len(cells) > max(columns):
        key = _KEY.fullmatch(cells[columns[0]].strip())
        if key is not None:
            yield key[1], _bare(cells[columns[1]]), How.TABLE


def _of_line(line: str) -> Iterator[tuple[str, str, How]]:
    own = _LINE.fullmatch(line.rstrip("\r"))
    if own is not None:
        yield " ".join(own[1].split()).casefold(), _bare(own[2]), How.LINE
    elif "`" in line and not _ASKS.search(re.sub(r"`[^`\n]*`", "", line)):
        yield from ((span[1], _bare(span[2]), How.SPAN) for span in _SPAN.finditer(line))


def _bare(value: str) -> str:
    return value.strip().strip("`\"'").rstrip(".,;")
