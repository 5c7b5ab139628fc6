"""The shape inventory: what scout saw, before any question is asked.

The per-file features lie in shards, artifacts of their own of at most a few hundred files, so
that one edited file makes one shard again and no stage has to hold a whole tree.
"""

from __future__ import annotations

from typing import Literal

from rtch.models.base import Count, Digest, LineNumber, Record
from rtch.models.features import FileFeatures
from rtch.models.vocab import CautionFlag, FileRole, MarkerKind, SkipReason


class Scan(Record):
    """One bounded scan of the tree. How long it took lies in the packet's ``run``."""

    name: str
    pattern: str
    files_touched: Count
    bytes_read: Count
    hits: Count
    truncated: bool = False
    note: str = ""


class DirectoryShape(Record):
    """A folder with what lies in it and below it."""

    path: str
    files: Count
    files_below: Count
    size_bytes: Count


class RoleCount(Record):
    """How many files have a role."""

    role: FileRole
    files: Count
    size_bytes: Count


class UnreadFile(Record):
    """A file whose content scout could not take in, and why."""

    path: str
    reason: SkipReason
    detail: str = ""


class MarkedFile(Record):
    """Where a phrase says something about the standing of the text around it."""

    path: str
    kind: MarkerKind
    lines: tuple[LineNumber, ...]


class FileProblem(Record):
    """A defect of a file's structure that a consumer must know."""

    path: str
    flag: CautionFlag
    line: LineNumber
    detail: str


class ShapeInventory(Record):
    """Stage 3's artifact. It does not depend on the goal."""

    schema_version: Literal["rtch.inventory/1"] = "rtch.inventory/1"
    directories: tuple[DirectoryShape, ...]
    """By path; at most ``limits.max_directories``, shallow first."""
    directories_cut: Count = 0
    roles: tuple[RoleCount, ...]
    scans: tuple[Scan, ...]
    shards: tuple[Digest, ...]
    """Digests of the ``FeatureShard`` artifacts, in path order."""
    unread: tuple[UnreadFile, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    marked: tuple[MarkedFile, ...] = ()


class FeatureShard(Record):
    """Features of some files, by path."""

    files: tuple[FileFeatures, ...]


class InventorySummary(Record):
    """What a packet shows of the inventory, with the digest of the whole."""

    reference: Digest
    directories: tuple[DirectoryShape, ...]
    directories_cut: Count
    roles: tuple[RoleCount, ...]
    scans: tuple[Scan, ...]
    files_unread: Count
