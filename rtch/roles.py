"""What a file is for, told by its path alone; and the banner of a generated file."""

from __future__ import annotations

from rtch.models.vocab import FileRole


def role_of(path: str) -> FileRole:
    """Return a file's role from its path relative to the zone root (no folder above it counts)."""
    raise NotImplementedError


def is_generated_banner(head: bytes) -> bool:
    """Tell whether a file's first bytes say that a program wrote it."""
    raise NotImplementedError
