"""The listing: every path that belongs to the tree, without stat data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Self

from pydantic import model_validator

from rtch.models.base import Count, Digest, Record, canonical_json
from rtch.models.vocab import CautionFlag, EntryKind


class TreeNote(Record):
    """Something met while listing that a consumer must know; ``path`` is empty where it concerns the whole tree."""

    flag: CautionFlag
    path: str
    detail: str


class Listing(Record):
    """The tree as columns: one index names one entry in all of them.

    Paths are POSIX, relative to the zone root and sorted by their UTF-8 bytes. A path whose bytes
    are not UTF-8 is percent-encoded (``%`` itself too) and its index stands in ``encoded``. Sizes
    are those of regular files and links, else 0.
    """

    paths: tuple[str, ...]
    kinds: tuple[EntryKind, ...]
    sizes: tuple[Count, ...]
    encoded: tuple[Count, ...] = ()
    notes: tuple[TreeNote, ...] = ()

    @model_validator(mode="after")
    def _columns_agree(self) -> Self:
        if not len(self.paths) == len(self.kinds) == len(self.sizes):
            raise ValueError("the columns of a listing differ in length")
        if self.encoded and self.encoded[-1] >= len(self.paths):
            raise ValueError("an encoded path is not in the listing")
        return self

    def __len__(self) -> int:
        return len(self.paths)

    def canonical(self) -> bytes:
        """Return the same JSON as any record's, without the detour over 100,000 copied values."""
        columns = {name: getattr(self, name) for name in ("paths", "kinds", "sizes", "encoded")}
        return canonical_json({**columns, "notes": [note.model_dump(mode="json") for note in self.notes]})

    def fingerprint(self) -> Digest:
        """Return the sha256 of the canonical record."""
        return hashlib.sha256(self.canonical()).hexdigest()

    def files(self) -> Iterator[str]:
        """Yield the regular files in order."""
        return (path for path, kind in zip(self.paths, self.kinds, strict=True) if kind is EntryKind.FILE)
