"""Bytes of a YAML or JSON document become plain values: text, whole numbers, true, false, nothing, lists, mappings.

Stricter than either notation, since a document that a person wrote must mean what it says. A value that YAML
would silently turn into something else (a date, a fraction, ``yes``), a tag, an alias, a key given twice: each
is reported with its path instead of being read. Fields and their types are the business of ``intake_io``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from rtch.errors import IntakeError

Path = tuple[str | int, ...]
"""Where a value lies: keys and positions from the top."""

MAX_BYTES = 1024 * 1024
"""Of one document; an intake is a page of text, and a megabyte is a wrong file."""
MAX_VALUES = 20_000
MAX_DEPTH = 24
"""Levels of nesting; an intake has three."""
_MAX_DIGITS = 18
"""Of a whole number; any that fit 64 bits, and far from Python's limit of 4300."""

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_YAML_KINDS = {
    "int": ("a number", "write plain digits, or put it in quotes"),
    "float": ("a number", "put it in quotes"),
    "timestamp": ("a date", "put it in quotes"),
    "bool": ("a boolean", "write true or false, or put it in quotes"),
    "merge": ("a merge mark", "put it in quotes"),
}
_YAML_TAG = "tag:yaml.org,2002:"


class Problem(NamedTuple):
    """One thing that is wrong, where it is, and what to do about it."""

    path: Path
    says: str
    remedy: str = ""


class Reading(NamedTuple):
    """A document as plain values; a value that has a problem is None in ``fields``."""

    fields: dict[str, object]
    problems: tuple[Problem, ...]


class _Odd(NamedTuple):
    """Stands for a value that is not read, until its path is known."""

    says: str
    remedy: str


class _Pairs(list[tuple[object, object, int]]):
    """A mapping as it is written: key, value, line (0 where the notation does not tell)."""


def read_plain(source: bytes, *, name: str) -> Reading:
    """Read one document whose top is a mapping; JSON is tried first when it starts with a brace.

    Args:
        source: the bytes; a BOM is tolerated, UTF-16 needs one.
        name: what the document is called in messages.

    Raises:
        IntakeError: it is too large, no text, neither YAML nor JSON, or its top is no mapping.
    Bounds: ``MAX_BYTES``, ``MAX_VALUES`` and ``MAX_DEPTH``; past one of them it is refused.
    """
    if len(source) > MAX_BYTES:
        raise IntakeError(f"{name} is larger than {MAX_BYTES} bytes", hint="an intake is a page of text")
    text = _decode(source, name)
    written = _written(text, name)
    if written is None or written == "":
        raise IntakeError(f"{name} is empty", hint="rtch intake new writes one")
    problems: list[Problem] = []
    counter = _Counter(name)
    value = counter.settle(written, (), problems)
    if not isinstance(value, dict):
        raise IntakeError(f"{name} must be a mapping of fields, found {shown(value)}")
    return Reading(value, tuple(problems))


def shown(value: object) -> str:
    """Return a value as a message shows it: its kind in words, cut to a line, with nothing a terminal obeys."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value}"
    if value is None:
        return "nothing"
    kind = "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list | tuple) else "no plain value"
    return kind if value else kind.replace("a ", "an empty ")


def _quoted(text: str, limit: int = 60) -> str:
    cut = text if len(text) <= limit else text[: limit - 3] + "..."
    safe = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in cut.replace("\\", "\\\\"))
    return f"'{safe}'"


def _decode(source: bytes, name: str) -> str:
    try:
        return source.decode("utf-16" if source.startswith(_UTF16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise IntakeError(f"{name} is not UTF-8 text at byte {error.start}", hint="save it as UTF-8") from error


def _written(text: str, name: str) -> object:
    if not text.lstrip().startswith("{"):
        return _from_yaml(text, name)
    try:
        return _from_json(text, name)
    except json.JSONDecodeError as error:
        try:
            return _from_yaml(text, name)  # {goal: ...} is a mapping in YAML, too
        except IntakeError:
            raise IntakeError(f"{name} line {error.lineno}: {error.msg}, which is no JSON") from error


def _from_json(text: str, name: str) -> object:
    def pairs(items: list[tuple[str, object]]) -> _Pairs:
        return _Pairs((key, value, 0) for key, value in items)

    def odd(literal: str) -> _Odd:
        return _Odd(
            f"is {_quoted(literal)}, and only whole numbers are read", "write a whole number, or put it in quotes"
        )

    def whole(literal: str) -> int | _Odd:
        return int(literal) if len(literal) <= _MAX_DIGITS else odd(literal)

    try:
        value: object = json.loads(text, object_pairs_hook=pairs, parse_float=odd, parse_int=whole, parse_constant=odd)
    except RecursionError:
        _too_deep(name)
    return value


def _from_yaml(text: str, name: str) -> object:
    import yaml  # noqa: PLC0415  15 ms that JSON and flags do not need

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _YamlReader(yaml.parse(text, Loader=loader), name).document()
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise IntakeError(f"{name}{line} is no YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise IntakeError(f"{name} is no YAML: {_quoted(str(error).partition(chr(10))[0], 120)}") from error


class _YamlReader:
    """Builds values from parser events, so that nothing is constructed, resolved to a class or expanded."""

    def __init__(self, events: Iterator[Any], name: str) -> None:
        import yaml  # noqa: PLC0415  see _from_yaml

        self._kinds: Any = yaml.events
        self._tag_of: Any = yaml.resolver.Resolver().resolve
        self._scalar_node = yaml.ScalarNode
        self._events = events
        self._name = name

    def document(self) -> object:
        """Return the only document; None when there is none."""
        value, documents = None, 0
        for event in self._events:
            if isinstance(event, self._kinds.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise IntakeError(f"{self._name} holds more than one document", hint="keep one intake a file")
                value = self._value(next(self._events), 0)
        return value

    def _value(self, event: Any, depth: int) -> object:
        if depth > MAX_DEPTH:
            _too_deep(self._name)
        line = event.start_mark.line + 1
        if isinstance(event, self._kinds.AliasEvent):
            return _Odd(f"is the alias *{event.anchor} on line {line}, and aliases are not read", "write the value out")
        if isinstance(event, self._kinds.ScalarEvent):
            value = self._scalar(event, line)
        elif isinstance(event, self._kinds.MappingStartEvent):
            value = _Pairs(self._pairs(depth))
        else:
            value = list(self._items(depth))
        return _tagged(event.tag, line) if event.tag else value

    def _items(self, depth: int) -> Iterator[object]:
        while not isinstance(event := next(self._events), self._kinds.SequenceEndEvent):
            yield self._value(event, depth + 1)

    def _pairs(self, depth: int) -> Iterator[tuple[object, object, int]]:
        while not isinstance(event := next(self._events), self._kinds.MappingEndEvent):
            line = event.start_mark.line + 1
            as_written = isinstance(event, self._kinds.ScalarEvent) and not event.tag
            key: object = event.value if as_written else self._value(event, depth + 1)
            yield key, self._value(next(self._events), depth + 1), line

    def _scalar(self, event: Any, line: int) -> object:
        if not event.implicit[0]:
            return event.value
        tag = self._tag_of(self._scalar_node, event.value, (True, False))
        return _resolved(event.value, tag.removeprefix(_YAML_TAG), line)


def _resolved(text: str, kind: str, line: int) -> object:
    """Return an unquoted scalar as what it says, or odd when YAML takes it for something else."""
    if kind == "null":
        return None
    if kind == "bool" and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if kind == "int" and _WHOLE.fullmatch(text) and len(text) <= _MAX_DIGITS:
        return int(text)
    if kind not in _YAML_KINDS:
        return text
    reads_as, remedy = _YAML_KINDS[kind]
    return _Odd(f"is {_quoted(text)} on line {line}, which YAML reads as {reads_as}", remedy)


class _Counter:
    """Turns what was written into plain values, with a path for each problem, and counts them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._left = MAX_VALUES

    def settle(self, written: object, path: Path, problems: list[Problem]) -> object:
        """Return the plain value; what cannot be read becomes None and a problem."""
        self._left -= 1
        if self._left < 0:
            raise IntakeError(f"{self._name} holds more than {MAX_VALUES} values", hint="an intake is a page of text")
        if len(path) > MAX_DEPTH:
            _too_deep(self._name)
        if isinstance(written, _Odd):
            problems.append(Problem(path, written.says, written.remedy))
            return None
        if isinstance(written, _Pairs):
            return self._mapping(written, path, problems)
        if isinstance(written, list):
            return [self.settle(item, (*path, place), problems) for place, item in enumerate(written)]
        return written

    def _mapping(self, pairs: _Pairs, path: Path, problems: list[Problem]) -> dict[str, object]:
        found: dict[str, object] = {}
        lines: dict[str, int] = {}
        for key, value, line in pairs:
            if not isinstance(key, str) or key == "<<":
                at = f" on line {line}" if line else ""
                problems.append(Problem(path, f"has a key{at} that is no plain text", "write field names as they are"))
                continue
            inner = self.settle(value, (*path, key), problems)
            if key in found:
                where = f" (lines {lines[key]} and {line})" if line else ""
                problems.append(Problem((*path, key), f"is given twice{where}", "keep one"))
            found[key], lines[key] = inner, line
        return found


def _tagged(tag: str, line: int) -> _Odd:
    short = tag.replace(_YAML_TAG, "!!")
    return _Odd(f"has the tag {_quoted(short)} on line {line}, and tags are not read", "remove it")


def _too_deep(name: str) -> NoReturn:
    raise IntakeError(f"{name} is nested deeper than {MAX_DEPTH} levels", hint="an intake has three")
