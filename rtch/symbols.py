"""Definitions and imports of code, told by line patterns alone."""

from __future__ import annotations

from collections.abc import Iterable

from rtch.models.features import Reference, Symbol

SCAN_PATTERN: tuple[str, ...] = ()
"""Rust regular expressions for ``rg -o``: lines that may define or import something, in any language."""


def from_lines(path: str, rows: Iterable[tuple[int, bytes]]) -> tuple[tuple[Symbol, ...], tuple[Reference, ...]]:
    """Turn candidate lines (line number, text from the line's start) into definitions and imports."""
    raise NotImplementedError


def from_bytes(path: str, data: bytes) -> tuple[tuple[Symbol, ...], tuple[Reference, ...]]:
    """Do the same from a file's bytes."""
    raise NotImplementedError


def is_code(path: str) -> bool:
    """Tell whether the file's language is known by its name."""
    raise NotImplementedError
