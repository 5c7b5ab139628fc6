"""Exact definitions by tree-sitter, where a grammar is installed."""

from __future__ import annotations

from typing import NamedTuple

from rtch.models.base import LineNumber
from rtch.models.vocab import SymbolKind


class Definition(NamedTuple):
    """One definition; the range takes in its decorators and the comment right above it."""

    name: str
    kind: SymbolKind
    line: LineNumber
    start_line: LineNumber
    end_line: LineNumber
    container: tuple[str, ...]


class Definitions(NamedTuple):
    """The definitions of one file, by start line; the outer one first."""

    items: tuple[Definition, ...]

    def enclosing(self, line: int) -> Definition | None:
        """Return the innermost definition that holds a line."""
        raise NotImplementedError

    def confirm(self, name: str, line: int) -> bool:
        """Tell whether ``name`` is defined at that line."""
        raise NotImplementedError


def definitions(path: str, data: bytes, *, max_bytes: int = 1_000_000, timeout_s: float = 1.0) -> Definitions | None:
    """Parse a file; None where no grammar fits, it is over ``max_bytes`` or time ran out."""
    raise NotImplementedError


def available() -> tuple[str, ...]:
    """Return the languages whose grammar is installed, sorted, importing none of them."""
    raise NotImplementedError
