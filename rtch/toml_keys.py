"""Keys of TOML by a scanner: tables, dotted keys, arrays of tables and inline tables, but no values."""

from __future__ import annotations

import re
from typing import NamedTuple

from rtch.data_keys import KeyCollector, KeyScan, join
from rtch.json_keys import unquote
from rtch.models.features import FeatureLimits
from rtch.models.vocab import CautionFlag, KeyKind

_BASIC = r'"(?:[^"\\\n]|\\[^\n])*+"'
_LITERAL = r"'[^'\n]*+'"
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*+'{3,5}"
    rf"|{_BASIC}|{_LITERAL}",
    re.DOTALL,
)
_PART = re.compile(rf"[ \t]*+(?:([^\s.=\[\]{{}}#,\"']++)|({_BASIC}|{_LITERAL}))[ \t]*+(\.?)")
_BLANK = re.compile(r"(?:[ \t\r]|#[^\n]*+)*+")
_BLANK_LINES = re.compile(r"(?:\s|#[^\n]*+)*+")
_SCALAR = re.compile(r"[^\s,\[\]{}#\"'=][^,\[\]{}#\n\"'=]*+")
_HEADER_END = re.compile(r"\](\]?)[ \t\r]*+(?:#[^\n]*+)?(?=\n|\Z)")
_LINE_END = re.compile(r"[ \t\r]*+(?:#[^\n]*+)?(?=\n|\Z)")

_PLAIN_LINE = re.compile(r"([\w-]++)[ \t]*+=[ \t]*+(?:\"[^\"\\\n]*+\"|[\w.:+-]++)[ \t\r]*+(?=\n)", re.ASCII)
"""Most lines of most files: a bare key and a simple value."""

_MAX_OPEN = 1000
"""Brackets of one value that may be open; the standard library gives up at about the same depth."""


class _Place(NamedTuple):
    """Where keys go: the path as shown, the same with each item's own number, and how many levels down."""

    path: str = ""
    identity: str = ""
    depth: int = 0


class _BrokenLine(Exception):  # noqa: N818  a jump to the next line
    """The statement at hand is no TOML; ``args`` say why."""


class _Open(NamedTuple):
    """An array or inline table of a value that is still open."""

    closer: str
    place: _Place


class _Scanner:
    """One pass over a TOML text."""

    def __init__(self, text: str, collector: KeyCollector) -> None:
        self._text = text
        self._collector = collector
        self._position = 0
        self._counted = (0, 1)
        self._table = _Place()
        self._arrays: dict[str, int] = {}
        self._defined: dict[str, int] = {}

    def run(self, *, complete: bool) -> None:
        """Scan statement by statement; one that is broken is reported, and the next line goes on."""
        text = self._text
        while True:
            self._position = self._after(_BLANK_LINES)
            if self._position >= len(text) or self._collector.full:
                return
            start = self._position
            try:
                self._statement()
            except _BrokenLine as broken:
                end = text.find("\n", start)
                if complete or end >= 0:
                    self._collector.problem(CautionFlag.MALFORMED, self._line(start), f"not TOML: {broken}")
                if end < 0:
                    return
                self._position = end

    def _statement(self) -> None:
        start = self._position
        if (plain := _PLAIN_LINE.match(self._text, start)) is not None:
            line = self._line(start)
            self._define(self._name(self._table, plain[1], line), line)
            self._position = plain.end()
        elif self._text.startswith("[[", start):
            self._header(start, 2)
        elif self._text[start] == "[":
            self._header(start, 1)
        else:
            self._value(self._assignment(self._table))
            if (end := _LINE_END.match(self._text, self._position)) is None:
                raise _BrokenLine("something follows the value")
            self._position = end.end()

    def _header(self, start: int, brackets: int) -> None:
        self._position = start + brackets
        parts = self._parts()
        end = _HEADER_END.match(self._text, self._position)
        if end is None or len(end[1]) + 1 != brackets:
            raise _BrokenLine("a table header is not closed")
        self._position = end.end()
        place, line = _Place(), self._line(start)
        for part in parts[:-1]:
            place = self._inside(self._name(place, part, line))
        place = self._name(place, parts[-1], line)
        if brackets == 2:
            self._arrays[place.identity] = self._arrays.get(place.identity, -1) + 1
        else:
            self._define(place, line)
        self._table = self._inside(place)

    def _inside(self, place: _Place) -> _Place:
        """Return a table's place; for an array of tables that of its last item."""
        number = self._arrays.get(place.identity)
        return place if number is None else self._item(place, str(number))

    def _item(self, place: _Place, number: str) -> _Place:
        if place.depth >= self._collector.limits.max_depth:
            return place
        return _Place(f"{place.path}[]", f"{place.identity}[{number}]", place.depth + 1)

    def _assignment(self, table: _Place) -> _Place:
        """Read ``a.b =`` and return the place of its value."""
        start = self._position
        parts = self._parts()
        if not self._text.startswith("=", self._position):
            raise _BrokenLine("a key has no value")
        self._position += 1
        line = self._line(start)
        for part in parts:
            table = self._name(table, part, line)
        self._define(table, line)
        return table

    def _parts(self) -> list[str]:
        parts = []
        while (part := _PART.match(self._text, self._position)) is not None:
            bare, quoted, dot = part.groups()
            parts.append(bare or _unquoted(quoted))
            self._position = part.end()
            if not dot:
                return parts
        raise _BrokenLine("a key is expected")

    def _name(self, table: _Place, name: str, line: int) -> _Place:
        if table.depth >= self._collector.limits.max_depth:
            self._collector.truncated = True
            return table._replace(depth=table.depth + 1)
        place = _Place(join(table.path, name), join(table.identity, name), table.depth + 1)
        self._collector.add(place.path, name, line)
        return place

    def _define(self, place: _Place, line: int) -> None:
        if place.depth > self._collector.limits.max_depth:
            return
        first_line = self._defined.get(place.identity)
        if first_line is None:
            self._defined[place.identity] = line
        else:
            self._collector.duplicate(place.path, line=line, first_line=first_line)

    def _value(self, place: _Place) -> None:
        """Skip one value, noting the keys of inline tables; nesting is kept in a list and not in calls."""
        opened: list[_Open] = []
        while True:
            self._position = self._after(_BLANK_LINES if opened else _BLANK)
            if opened and self._text.startswith(opened[-1].closer, self._position):
                opened.pop()
                self._position += 1
            else:
                if opened and opened[-1].closer == "}":
                    place = self._assignment(opened[-1].place)
                    self._position = self._after(_BLANK)
                opening = self._text[self._position : self._position + 1]
                if opening in {"[", "{"}:
                    self._position += 1
                    item = self._item(place, "") if opening == "[" else place
                    opened.append(_Open("]" if opening == "[" else "}", item))
                    if len(opened) > _MAX_OPEN:
                        raise _BrokenLine(f"a value is nested more than {_MAX_OPEN} deep")
                    place = item
                    continue
                self._scalar()
            if not opened:
                return
            self._position = self._after(_BLANK_LINES)
            if self._text.startswith(",", self._position):
                self._position += 1
            elif not self._text.startswith(opened[-1].closer, self._position):
                raise _BrokenLine("an array or inline table is not closed")
            place = opened[-1].place
            if opened[-1].closer == "]" and place.identity:
                place = place._replace(identity=f"{place.identity}{self._position}")

    def _scalar(self) -> None:
        found = _STRING.match(self._text, self._position) or _SCALAR.match(self._text, self._position)
        if found is None:
            raise _BrokenLine("a value is expected")
        self._position = found.end()

    def _after(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._position)
        return self._position if found is None else found.end()

    def _line(self, position: int) -> int:
        """Return the line of an offset; offsets come in rising order, so each byte is counted once."""
        counted, line = self._counted
        if position < counted:
            return line - self._text.count("\n", position, counted)
        line += self._text.count("\n", counted, position)
        self._counted = (position, line)
        return line


def _unquoted(token: str) -> str:
    return token[1:-1] if token[0] == "'" else unquote(token.encode("utf-8", "replace"))


def scan_toml(text: str, collector: KeyCollector, *, complete: bool = True) -> None:
    """Hand the keys of a TOML text to a collector."""
    _Scanner(text, collector).run(complete=complete)


def toml_keys(text: str, limits: FeatureLimits, *, complete: bool = True) -> KeyScan:
    """Collect the keys of a TOML text.

    Args:
        text: without a byte order mark.
        limits: keys and depth to keep.
        complete: False when ``text`` was cut, so that its last line is no problem of the file's.
    """
    collector = KeyCollector(KeyKind.TOML, limits)
    scan_toml(text, collector, complete=complete)
    return collector.scan()
