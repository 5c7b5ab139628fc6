"""Keys of JSON, JSON with comments, and JSON lines, by a scanner that never converts a value.

It walks strings and brackets only. So an integer of a million digits, a depth of 100,000, a
comment or a trailing comma cost nothing and break nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from rtch.data_keys import KeyCollector, KeyScan, join
from rtch.models.features import FeatureLimits
from rtch.models.vocab import CautionFlag, KeyKind

# Each branch starts with a literal, so the search skips over numbers and blanks in C.
_STRING = rb'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
_COMMENT = rb"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_TOKEN = re.compile(_STRING + rb"?|\{|\}|\[|\]|" + _COMMENT, re.DOTALL)
_COLON = re.compile(rb"(?:[ \t\r\n]|" + _COMMENT + rb")*+:", re.DOTALL)
_TO_BRACKET = re.compile(rb'(?:[^"{}\[\]/]++|' + _STRING + rb"|" + _COMMENT + rb'|["/])*+([{}\[\]])', re.DOTALL)

_QUOTE, _OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY, _SLASH = b'"{}[]/'
_OPENING = (_OPEN_OBJECT, _OPEN_ARRAY)


class Seen(Enum):
    """What the scanner met."""

    KEY = auto()
    DUPLICATE = auto()
    STRING = auto()
    ENTRY = auto()
    LEFT_OUT = auto()
    BROKEN = auto()


class Event(NamedTuple):
    """One key or string with its dotted path; ``start`` and ``end`` are byte offsets of the token.

    ``note`` is a key's name, the offset of a duplicate's first sight, or what is broken.
    """

    seen: Seen
    path: str
    start: int
    end: int
    note: str | int = ""


class _Frame:
    """One open object or array; ``child`` is the path of the value that comes next, None when too deep."""

    __slots__ = ("child", "items", "opener", "path", "seen")

    def __init__(self, path: str | None, opener: int) -> None:
        self.path = path
        self.opener = opener
        self.items = 0
        self.seen: dict[bytes, int] = {}
        self.child = path if path is None or opener == _OPEN_OBJECT else f"{path}[]"


# Levels that are too deep hold nothing of their own: a million of them are a list of pointers.
_DEEP = {opener: _Frame(None, opener) for opener in _OPENING}


class Walk:
    """One pass over a JSON text.

    Args:
        data: the text, without a byte order mark.
        max_depth: levels of which anything is told.
        max_items: objects and arrays of one array that are entered; later ones are skipped.
        strings: tell string values too.
        entries: the path of objects whose beginning is told, such as ``cells[]``.
    """

    def __init__(
        self, data: bytes, *, max_depth: int, max_items: int, strings: bool = False, entries: str | None = None
    ) -> None:
        self._data = data
        self._max_depth = max_depth
        self._max_items = max_items
        self._strings = strings
        self._entries = entries
        self._root = _Frame("", _OPEN_OBJECT)
        self._stack = [self._root]
        self._paths: dict[tuple[str, bytes], str] = {}

    def events(self) -> Iterator[Event]:
        """Tell each path once, and every duplicate, in order; ends at the first thing that is broken."""
        data, stack, position = self._data, self._stack, 0
        while (token := _TOKEN.search(data, position)) is not None:
            start, position = token.span()
            first = data[start]
            event = None
            if first == _QUOTE:
                event = self._string(start, position)
            elif first in _OPENING:
                skipped = self._open(first, position)
                if skipped is not None:
                    position = skipped
                    event = Event(Seen.LEFT_OUT, "", start, position)
                elif first == _OPEN_OBJECT and self._entries is not None and stack[-1].path == self._entries:
                    event = Event(Seen.ENTRY, stack[-1].path or "", start, position)
            elif first != _SLASH:
                event = self._close(first, start)
            if event is not None:
                yield event
                if event.seen is Seen.BROKEN:
                    return
        if len(stack) > 1:
            yield Event(Seen.BROKEN, "", len(data), len(data), f"{len(stack) - 1} brackets are not closed")

    def _open(self, first: int, position: int) -> int | None:
        """Enter an object or array, or return where one that is left out ends."""
        parent = self._stack[-1]
        if parent.child is None or len(self._stack) > self._max_depth:
            self._stack.append(_DEEP[first])
            return None
        parent.items += 1
        if parent.opener == _OPEN_ARRAY and parent.items > self._max_items:
            return self._skip(first, position)
        self._stack.append(_Frame(parent.child, first))
        return None

    def _skip(self, first: int, position: int) -> int:
        depth = 1
        for token in _TO_BRACKET.finditer(self._data, position):
            depth += 1 if token[1] in b"{[" else -1
            if not depth:
                return token.end()
        self._stack.append(_DEEP[first])
        return len(self._data)

    def _close(self, first: int, start: int) -> Event | None:
        opened = self._stack.pop() if len(self._stack) > 1 else self._root
        if opened is self._root or (opened.opener == _OPEN_OBJECT) != (first == _CLOSE_OBJECT):
            return Event(Seen.BROKEN, "", start, start + 1, f"unexpected {chr(first)}")
        return None

    def _string(self, start: int, end: int) -> Event | None:
        data, frame = self._data, self._stack[-1]
        if end - start < 2 or data[end - 1] != _QUOTE:
            return Event(Seen.BROKEN, "", start, end, "a string is not closed")
        is_key = frame.opener == _OPEN_OBJECT and (data[end : end + 1] == b":" or _COLON.match(data, end) is not None)
        if is_key:
            return Event(Seen.LEFT_OUT, "", start, end) if frame.path is None else self._key(frame, start, end)
        if self._strings and frame.child is not None:
            return Event(Seen.STRING, frame.child, start, end)
        return None

    def _key(self, frame: _Frame, start: int, end: int) -> Event | None:
        raw = self._data[start + 1 : end - 1]
        if b"\\" in raw:
            raw = unquote(self._data[start:end]).encode()
        prefix = frame.path or ""
        path = self._paths.get((prefix, raw))
        if path is not None:
            frame.child = path
            known = frame.seen.setdefault(raw, start)
            return None if known == start else Event(Seen.DUPLICATE, path, start, end, known)
        name = raw.decode("utf-8", "replace")
        frame.child = self._paths[prefix, raw] = join(prefix, name)
        frame.seen[raw] = start
        return Event(Seen.KEY, frame.child, start, end, name)


def unquote(token: bytes) -> str:
    """Return the text of a quoted JSON string; one that is not quite JSON is taken as it is written.

    Half a surrogate pair, which no file can hold, becomes a question mark.
    """
    text = token.decode("utf-8", "replace")
    if "\\" not in text:
        return text[1:-1]
    try:
        value = json.loads(text, strict=False)
    except ValueError:
        return text[1:-1]
    return str(value).encode("utf-8", "replace").decode()


def json_keys(data: bytes, limits: FeatureLimits, *, first_line: int = 1, complete: bool = True) -> KeyScan:
    """Collect the keys of one JSON text.

    Args:
        data: without a byte order mark.
        limits: keys and depth to keep.
        first_line: the line at which ``data`` starts.
        complete: False when ``data`` was cut, so that its end says nothing about the file.
    """
    collector = KeyCollector(KeyKind.JSON, limits, first_line=first_line)
    _collect(data, collector, line=1, complete=complete)
    return collector.scan()


def _collect(data: bytes, collector: KeyCollector, *, line: int, complete: bool = True) -> None:
    limits = collector.limits
    walk = Walk(data, max_depth=limits.max_depth, max_items=limits.max_rows)
    counted = 0
    for event in walk.events():
        if collector.full:
            return
        if event.seen is Seen.LEFT_OUT:
            collector.truncated = True
            continue
        line += data.count(b"\n", counted, event.start)
        counted = event.start
        if event.seen is Seen.KEY:
            collector.add(event.path, str(event.note), line)
        elif event.seen is Seen.DUPLICATE:
            first_line = line - data.count(b"\n", int(event.note), event.start)
            collector.duplicate(event.path, line=line, first_line=first_line)
        elif complete or event.end < len(data):
            collector.problem(CautionFlag.MALFORMED, line, f"not JSON: {event.note}")


def json_line_keys(data: bytes, limits: FeatureLimits, *, complete: bool = True) -> KeyScan:
    """Collect the keys of the first rows of JSON lines; every row is checked for being one object or array.

    A row that is broken is a problem of its own line and leaves the others alone.
    """
    collector = KeyCollector(KeyKind.JSON, limits)
    rows = data.split(b"\n")
    if not complete and rows:
        rows.pop()
    seen = 0
    for line, row in enumerate(rows, 1):
        text = row.strip()
        if not text:
            continue
        seen += 1
        if seen <= limits.max_rows:
            _collect(row, collector, line=line)
        elif (text[:1], text[-1:]) not in {(b"{", b"}"), (b"[", b"]")}:
            collector.problem(CautionFlag.MALFORMED, line, "not a JSON row: it does not begin and end with a bracket")
    collector.truncated |= seen > limits.max_rows
    return collector.scan()
