"""Definitions and imports of code, told by line patterns alone.

A search finds the lines that may define or import something (``code_scans``), one a language; the
file's own patterns then decide (``languages``). A line within a long comment or string may be taken
for code; ``grammars`` knows better, at a hundred times the cost.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from typing import NamedTuple

from rtch.languages import KINDS, Language, language_of
from rtch.models.features import Reference, Symbol
from rtch.models.vocab import SymbolKind
from rtch.scan_patterns import SCANS

LINE_BYTES = 240
"""How much of a line is looked at; a minified file's one line costs no more than another's."""


class CodeScan(NamedTuple):
    """Files of one language, and the expression that finds their candidate lines."""

    language: str
    pattern: str
    paths: tuple[str, ...]


def code_scans(paths: Iterable[str]) -> tuple[CodeScan, ...]:
    """Sort code files into one search a language, by the language's name; other files are left out."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        language = language_of(path)
        if language is not None:
            groups.setdefault(SCANS[language.name], []).append(path)
    names = {pattern: name for name, pattern in sorted(SCANS.items(), reverse=True)}
    return tuple(
        CodeScan(names[pattern], pattern, tuple(members))
        for pattern, members in sorted(groups.items(), key=lambda group: names[group[0]])
    )


SCAN_PATTERN: tuple[str, ...] = tuple(sorted(set(SCANS.values())))
"""All languages' expressions; correct for any code file, but slow: search by ``code_scans``."""


_TYPES = frozenset((SymbolKind.CLASS, SymbolKind.TYPE, SymbolKind.MODULE))
_Holder = tuple[int, str, bool]
"""A definition that later, deeper lines may belong to: indentation, name, whether it is a type."""
_NOTHING: _Holder = (-1, "", False)


def from_lines(path: str, rows: Iterable[tuple[int, bytes]]) -> tuple[tuple[Symbol, ...], tuple[Reference, ...]]:
    """Turn candidate lines into definitions and imports.

    Args:
        path: its name tells the language; an unknown one has neither.
        rows: line number and text from the line's start, by line.

    Returns:
        Definitions by line, the container told by indentation; imports, each target once.
    """
    language = language_of(path)
    if language is None:
        return (), ()
    symbols: list[Symbol] = []
    targets: dict[bytes, int] = {}
    outline = _Outline(language)
    define, imports, also = language.definition().match, language.imports, language.imports_may_define
    for line, row in rows:
        text = row if len(row) <= LINE_BYTES else row[:LINE_BYTES]
        match = define(text)
        if match is not None:
            symbol = outline.take(match, line)
            if symbol is not None:
                symbols.append(symbol)
        if match is None or also:
            for target in imports(text):
                targets.setdefault(target, line)
    return tuple(symbols), tuple(Reference(target.decode("utf-8", "replace"), at) for target, at in targets.items())


class _Outline:
    """The definitions that are open at a line, told by indentation."""

    def __init__(self, language: Language) -> None:
        groups = language.definition().groupindex
        self._kinds = {number: KINDS.get(name.rstrip("0123456789")) for name, number in groups.items()}
        self._owners = tuple(number for name, number in groups.items() if name.startswith("own"))
        self._not_names = language.not_names
        self._open: list[_Holder] = []

    def take(self, match: re.Match[bytes], line: int) -> Symbol | None:
        """Return what a definition line defines; the nearest less indented definition above may contain it."""
        number = match.lastindex or 0
        found = match[number]
        if found in self._not_names:
            return None
        text, opened = match.string, self._open
        indent = len(text) - len(text.lstrip(b" \t"))
        while opened and opened[-1][0] >= indent:
            opened.pop()
        kind, name = self._kinds[number], found.decode("utf-8", "replace")
        if kind is None:
            opened.append((indent, _last_part(name), True))
            return None
        _, container, is_type = opened[-1] if opened else _NOTHING
        for owner in self._owners:
            if match[owner]:
                container, is_type = _last_part(match[owner].decode("utf-8", "replace")), True
        if is_type and kind is SymbolKind.FUNCTION:
            kind = SymbolKind.METHOD
        if kind is not SymbolKind.CONSTANT:
            opened.append((indent, name, kind in _TYPES))
        return Symbol(name, kind, line, container if is_type else "")


def _last_part(name: str) -> str:
    return re.split(r"[.:]+", name)[-1]


def from_bytes(path: str, data: bytes) -> tuple[tuple[Symbol, ...], tuple[Reference, ...]]:
    """Do the same from a file's bytes."""
    return from_lines(path, enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1))


def is_code(path: str) -> bool:
    """Tell whether the file's language is known by its name."""
    return language_of(path) is not None
