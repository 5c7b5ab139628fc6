"""Definitions and imports of code, told by line patterns alone.

One search over all code files finds the lines that may define or import something, whatever the
language (``SCAN_PATTERN``); the file's own language then decides (``languages``). A line within a
long comment or string may be taken for code; ``grammars`` knows better, at a hundred times the cost.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from typing import NamedTuple

from rtch.languages import KINDS, language_of
from rtch.models.features import Reference, Symbol
from rtch.models.vocab import SymbolKind

LINE_BYTES = 240
"""How much of a line is looked at; a minified file's one line costs no more than another's."""

_MODIFIERS = (
    r"(?:(?:export|default|declare|abstract|async|pub(?:\([^)]*\))?|unsafe|extern|public|private|protected|internal"
    r"|static|final|sealed|open|data|inline|value|inner|override|suspend|operator|infix|tailrec|external|expect|actual"
    r"|companion|partial|readonly|virtual|fileprivate|mutating|nonmutating|implicit|lazy|case|local|typedef|const|enum"
    r"|memoize|module_function|cdef|cpdef|annotation|synchronized|native|fun|indirect|required|convenience|new|extend"
    r"|template[ \t]*<.*>|@[\w.]+(?:\([^)]*\))?|\[[^\]]*\])[ \t]+){0,8}"
)
_KEYWORDS = (
    r"(?:def|class|fn|func|fun|function|interface|enum|struct|trait|impl|type|typedef|mod|module|namespace|object"
    r"|protocol|extension|record|union|actor|mixin|typealias|delegate|defmodule|defp|defmacrop?|defprotocol|defguard"
    r"|defdelegate|sub|package|message|service|rpc|input|scalar|cdef|cpdef|const|static|val|var|let|macro_rules"
    r"|@interface|using|[Cc][Rr][Ee][Aa][Tt][Ee])"
)
_REST = r".{0,200}"

_IMPORT = (
    r"^[ \t]*(?:(?:pub(?:\([^)]*\))?|global|return|@\w+)[ \t]+)?(?:from|import|cimport|use|require|require_once"
    r"|require_relative|include|include_once|-include|source|alias|load|autoload|part|extern|\.)[ \t(]+.{0,200}"
)
_MEMBER = (
    r"^[ \t]+(?:@\w+[ \t]+)*(?:(?:public|protected|private|internal|static|final|abstract|override|virtual|async"
    r"|factory|synchronized|inline|explicit|constexpr|friend|external|unsafe|sealed|extern|default|new|partial)[ \t]+)+"
    r"[^=;(]{0,160}[({=].{0,120}"
)

SCAN_PATTERN: tuple[str, ...] = (
    rf"^[ \t]*{_MODIFIERS}{_KEYWORDS}\b[*!]?[ \t<(].{{0,200}}",
    _IMPORT,
    r"^[ \t]*#[ \t]*(?:define|include|import)\b.{0,200}",
    r"^[ \t]*define\(.{0,120}",
    r"^[ \t]*(?:export\b|import\b|\}).{0,120}\bfrom[ \t]*['\"].{0,120}",
    r"^.{0,120}\b(?:require|import)[ \t]*\([ \t]*['\"`].{1,120}",
    r"^\t(?:[\w.]+[ \t]+)?\"[^\"\s]+\"[ \t\r]*(?://.*)?$",
    # values at the left margin, constants, targets of make
    r"^(?:export[ \t]+)?[A-Za-z_]\w*[ \t]*(?::[^=]{1,120}|[:?+])?=[^=].{0,160}",
    r"^[ \t]*[A-Z][A-Za-z0-9_]*(?:[ \t]+[\w.*\[\]]+)?[ \t]*=[^=~>].{0,100}",
    r"^[\w./%-]+(?:[ \t]+[\w./%-]+)*[ \t]*::?(?:[^=:].{0,100})?$",
    # functions that are values
    r"^[ \t]*[\w$.]+[ \t]*[:=][ \t]*(?:async[ \t]*)?(?:function\b|\([^)]*\)[^=]{0,60}=>|[\w$]+[ \t]*=>).{0,80}",
    r"^[ \t]*(?:module\.)?exports\.[\w$]+[ \t]*=.{0,80}",
    # members: known by a modifier, by a line that ends as a head does, or by a result type
    _MEMBER,
    r"^[ \t]+[\w$#*][\w$:<>\[\],.*&?~# \t]*\([^;]{0,200}[{,(]?[ \t\r]*$",
    r"^[ \t]+[\w$?]+(?:<[^>]*>)?\([^;]*\)[ \t]*:[^;]+;[ \t\r]*$",
    # functions of C at the left margin, and what closes its typedefs
    r"^[A-Za-z_~][\w \t*&<>:,~]*\([^;]{0,200}$",
    r"^\}[ \t]*\w+[ \t]*;",
    # functions of the shell
    r"^[ \t]*[\w.:-]+[ \t]*\([ \t]*\).{0,40}",
)
"""Rust regular expressions for ``rg -o``: lines that may define or import something, in any language."""


class _Holder(NamedTuple):
    """A definition that later, deeper lines may belong to."""

    indent: int
    name: str
    is_type: bool


_TYPES = frozenset((SymbolKind.CLASS, SymbolKind.TYPE, SymbolKind.MODULE))


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
    definition = language.definition()
    outline = _Outline(tuple(name for name in definition.groupindex if name.startswith("own")))
    define, imports, not_names = definition.match, language.imports, language.not_names
    for line, row in rows:
        text = row[:LINE_BYTES]
        for target in imports(text):
            targets.setdefault(target, line)
        match = define(text)
        if match is not None and match[match.lastindex or 0] not in not_names:
            symbol = outline.take(match, line, len(text) - len(text.lstrip(b" \t")))
            if symbol is not None:
                symbols.append(symbol)
    return tuple(symbols), tuple(Reference(_text(target), line) for target, line in targets.items())


class _Outline:
    """The definitions that are open at a line, told by indentation."""

    def __init__(self, owners: tuple[str, ...]) -> None:
        self._open: list[_Holder] = []
        self._owners = owners

    def take(self, match: re.Match[bytes], line: int, indent: int) -> Symbol | None:
        """Return what a definition line defines; the nearest less indented definition above contains it."""
        while self._open and self._open[-1].indent >= indent:
            self._open.pop()
        group, name = match.lastgroup or "", _text(match[match.lastindex or 0])
        if group.startswith("own"):
            self._open.append(_Holder(indent, _last_part(name), is_type=True))
            return None
        holder = self._open[-1] if self._open else _Holder(-1, "", is_type=False)
        owner = next((match[key] for key in self._owners if match[key]), None)
        if owner is not None:
            holder = _Holder(-1, _last_part(_text(owner)), is_type=True)
        kind = KINDS[group.rstrip("0123456789")]
        if kind is SymbolKind.FUNCTION and holder.is_type:
            kind = SymbolKind.METHOD
        if kind is not SymbolKind.CONSTANT:
            self._open.append(_Holder(indent, name, is_type=kind in _TYPES))
        return Symbol(name, kind, line, holder.name if holder.is_type else "")


def _last_part(name: str) -> str:
    return re.split(r"[.:]+", name)[-1]


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def from_bytes(path: str, data: bytes) -> tuple[tuple[Symbol, ...], tuple[Reference, ...]]:
    """Do the same from a file's bytes."""
    return from_lines(path, enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1))


def is_code(path: str) -> bool:
    """Tell whether the file's language is known by its name."""
    return language_of(path) is not None
