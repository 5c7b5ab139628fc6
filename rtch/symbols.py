"""Definitions and imports of code, told by line patterns alone (``languages``).

A line within a long comment or string may be taken for code; ``grammars`` knows better, at a hundred
times the cost.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

from rtch.languages import KINDS, Language, language_of
from rtch.models.features import FeatureLimits, FileFeatures, Reference, Symbol
from rtch.models.vocab import SymbolKind
from rtch.roles import role_of
from rtch.text import decode, wide_encoding

LINE_BYTES = 240
"""How much of a line is looked at; a minified file's one line costs no more than another's."""


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
    define, imports, also, word = (
        language.definition().match,
        language.imports,
        language.imports_may_define,
        language.import_word,
    )
    for line, row in rows:
        text = row if len(row) <= LINE_BYTES else row[:LINE_BYTES]
        match = define(text)
        if match is not None:
            symbol = outline.take(match, line)
            if symbol is not None:
                symbols.append(symbol)
        if word in text and (match is None or also):
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
    """Do the same from a file's bytes, in whatever encoding its byte order mark tells."""
    utf8 = decode(data).text.encode() if wide_encoding(data) else data.removeprefix(codecs.BOM_UTF8)
    return from_lines(path, enumerate(utf8.split(b"\n"), 1))


def code_features(path: str, data: bytes, limits: FeatureLimits | None = None) -> FileFeatures:
    """Return what a code file shows: its definitions and imports.

    Bounds: ``limits.max_symbols`` and ``limits.max_references``; reaching one is marked.
    """
    limits = limits or FeatureLimits()
    symbols, references = from_bytes(path, data)
    return FileFeatures(
        path=path,
        role=role_of(path),
        symbols=symbols[: limits.max_symbols],
        references=references[: limits.max_references],
        truncated=len(symbols) > limits.max_symbols or len(references) > limits.max_references,
    )


def is_code(path: str) -> bool:
    """Tell whether the file's language is known by its name."""
    return language_of(path) is not None
