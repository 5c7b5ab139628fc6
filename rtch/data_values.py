"""Scalar values of structured files, by their dotted keys; nothing of a file is constructed but plain text.

The keys are written as ``data_keys`` writes them. What lies in an array has no key of its own and is left out, and so
is what is given twice, an alias, and a text that spans lines: none of them is one value.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from typing import Any, NamedTuple

from rtch.data_keys import join
from rtch.json_keys import json_keys
from rtch.models.features import FeatureLimits
from rtch.structure import Notation, notation_of
from rtch.toml_keys import toml_keys

MAX_DEPTH = 24
MAX_VALUES = 5_000
"""Of one file; a hand-written one has some hundreds."""
_OTHER_BREAKS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*+"?)|//[^\n]*+|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+"?)|,(?=\s*[}\]])', re.DOTALL)
_NUMBER = re.compile(r"([-+]?)(\d[\d_]*)(?:\.(\d*))?", re.ASCII)
_NUMBER_CHARS = 40
_MOST_PARTS = 64
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
_NOTHING = frozenset({"", "null", "none", "~"})


class Value(NamedTuple):
    """A scalar as it is written, and the line of its key."""

    text: str
    line: int


class Unreadable(Exception):  # noqa: N818  a file that says nothing, no failure of the run
    """A file whose values cannot be told, and why."""


def plain(text: str) -> str:
    """Return what a value means, so that two ways to write one are the same; empty where it says nothing.

    Quotes, case, blanks, a sign of a version, noughts that end a fraction and the words of a switch do not count.
    """
    value = " ".join(text.split()).strip("\"'`").casefold()
    if value in _NOTHING:
        return ""
    if value in _TRUE | _FALSE:
        return "true" if value in _TRUE else "false"
    number = _NUMBER.fullmatch(value) if len(value) <= _NUMBER_CHARS else None
    if number is not None:
        whole, fraction = number[2].replace("_", "").lstrip("0") or "0", (number[3] or "").rstrip("0")
        return number[1].strip("+") + whole + (f".{fraction}" if fraction else "")
    return re.sub(r"^v(?=\d)", "", value)


def scalars(path: str, text: str) -> dict[str, Value]:
    """Return the scalars of a JSON, YAML or TOML text, by dotted key.

    Args:
        path: its name tells the notation; of another one there are none.
        text: without byte order mark.

    Raises:
        Unreadable: it is not what its name says, holds several documents, or too much.
    Bounds: ``MAX_DEPTH`` and ``MAX_VALUES``; time grows with the length of the text.
    """
    match notation_of(path):
        case Notation.JSON:
            return _placed(_json(text), _lines(text, Notation.JSON))
        case Notation.TOML:
            return _placed(_toml(text), _lines(text, Notation.TOML))
        case Notation.YAML:
            return yaml_scalars(text)
        case _:
            return {}


def _json(text: str) -> object:
    plain_text = _LAST_COMMA.sub(lambda found: found[1] or "", _COMMENT.sub(lambda found: found[1] or " ", text))
    try:
        return json.loads(plain_text, object_pairs_hook=_once, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {_first_line(error)}") from None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a mapping in which a key that was given twice has no value."""
    counts = Counter(key for key, _ in pairs)
    return {key: value if counts[key] == 1 else None for key, value in pairs}


def _toml(text: str) -> object:
    # The time of the library's reader grows with the square of a key's parts.
    if any(piece.count(".") > _MOST_PARTS for line in text.split("\n") for piece in line.split("=")):
        raise Unreadable(f"a key of it may have more than {_MOST_PARTS} parts")
    try:
        return tomllib.loads(text.replace("\r\n", "\n"), parse_float=str)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not TOML: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error).split("\n")[0][:120]


def _lines(text: str, notation: Notation) -> dict[str, int]:
    limits = FeatureLimits(max_keys=MAX_VALUES, max_depth=MAX_DEPTH)
    scan = json_keys(text.encode(), limits) if notation is Notation.JSON else toml_keys(text, limits)
    return {key.path: key.line for key in scan.keys}


def _placed(value: object, lines: dict[str, int]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    pending: list[tuple[str, object, int]] = [("", value, 0)]
    while pending:
        prefix, one, depth = pending.pop()
        if not isinstance(one, dict) or depth >= MAX_DEPTH:
            continue
        for name, inner in one.items():
            path = join(prefix, str(name))
            if isinstance(inner, dict):
                pending.append((path, inner, depth + 1))
            elif inner is not None and not isinstance(inner, list) and path in lines:
                found[path] = Value(_written(inner), lines[path])
        _check(len(found))
    return _of_one_line(found)


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 64 else ""
    return str(value)


def _check(count: int) -> None:
    if count > MAX_VALUES:
        raise Unreadable(f"it has more than {MAX_VALUES:,} values")


def _of_one_line(found: dict[str, Value]) -> dict[str, Value]:
    return {key: value for key, value in found.items() if value.text and "\n" not in value.text}


class _Level(NamedTuple):
    """An open mapping by its path, or a sequence or what lies in one, which has none."""

    path: str | None
    is_mapping: bool


def yaml_scalars(text: str, *, first_line: int = 1) -> dict[str, Value]:
    """Return the scalars of a YAML text of one document, from parser events alone.

    Raises:
        Unreadable: it is no YAML, or holds several documents, or too much.
    """
    import yaml  # noqa: PLC0415  costs 30 ms, which a tree without YAML does not pay

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        walk = _YamlWalk(first_line)
        for event in yaml.parse(_OTHER_BREAKS.sub(" ", text), Loader=loader):
            walk.take(event)
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        raise Unreadable(f"not YAML: {problem}") from None
    return _of_one_line({key: value for key, value in walk.found.items() if value is not None})


class _YamlWalk:
    """Follows events; keys and values come in turns."""

    def __init__(self, first_line: int) -> None:
        from yaml import events  # noqa: PLC0415  as in ``yaml_scalars``

        self._kinds: Any = events
        self._offset = first_line
        self._stack: list[_Level] = []
        self._key: str | None = None
        self._line = 0
        self._documents = 0
        self._key_next: list[bool] = []
        self.found: dict[str, Value | None] = {}

    def take(self, event: Any) -> None:
        """Take the next event."""
        kinds = self._kinds
        if isinstance(event, kinds.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise Unreadable("it holds several documents")
        elif isinstance(event, kinds.CollectionEndEvent):
            self._stack.pop()
            self._key_next.pop()
        elif isinstance(event, kinds.CollectionStartEvent):
            path = self._place(None, event)
            self._stack.append(_Level(path, isinstance(event, kinds.MappingStartEvent)))
            self._key_next.append(isinstance(event, kinds.MappingStartEvent))
        elif isinstance(event, kinds.ScalarEvent | kinds.AliasEvent):
            path = self._place(event, event)
            if path and isinstance(event, kinds.ScalarEvent):
                self._state(path, event)

    def _place(self, key: Any, event: Any) -> str | None:
        """Return the path of a value that begins; None for a key, and where a path leads through a sequence."""
        if not self._stack:
            return ""
        level = self._stack[-1]
        if not level.is_mapping:
            return None
        if self._key_next[-1]:
            self._key_next[-1] = False
            named = key is not None and isinstance(key, self._kinds.ScalarEvent) and level.path is not None
            deep = len(self._stack) > MAX_DEPTH
            self._key = join(level.path or "", key.value) if named and not deep else None
            self._line = event.start_mark.line + self._offset
            return None
        self._key_next[-1] = True
        return self._key

    def _state(self, path: str, event: Any) -> None:
        known = path in self.found
        self.found[path] = None if known or event.style in {"|", ">"} else Value(event.value, self._line)
        _check(len(self.found))
