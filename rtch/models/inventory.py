"""What is known of a tree's shape: by its names before any question is asked, and by what the files of a question show.

The inventory follows from the listing alone. The survey looks into the files that a question may be about,
best first, for looking into all of them would cost what the tree is large and not what was asked.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from rtch.models.base import Count, Digest, LineNumber, Record
from rtch.models.basket import Basket
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
    """A file that could not be looked into, and why."""

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


class FileFacts(NamedTuple):
    """What ranking keeps of a file that was looked into, for the words of the request alone."""

    path: str
    definitions: tuple[tuple[str, Count], ...] = ()
    """How many of the defined names bear a token of the request; so for headings."""
    headings: tuple[tuple[str, Count], ...] = ()
    defined: tuple[str, ...] = ()
    """Joined names, among those asked for, that the file defines exactly."""
    definition_count: Count = 0
    heading_count: Count = 0
    references: tuple[str, ...] = ()


class Survey(Record):
    """What the files that a question may be about show, and the basket grounded in it."""

    schema_version: Literal["rtch.survey/1"] = "rtch.survey/1"
    basket: Basket
    files: tuple[FileFacts, ...]
    """The shortlist, by path: every other file lies behind all of these."""
    rarity: tuple[tuple[str, float], ...]
    """Each token of the request that some file bears, and how much it tells: ln of the inverse share of files."""
    files_beyond: Count
    """Files that hold or bear a word of the request and were not looked into, for others came before them."""
    scans: tuple[Scan, ...]
    unread: tuple[UnreadFile, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    marked: tuple[MarkedFile, ...] = ()


class InventorySummary(Record):
    """What a packet shows of the inventory, with the digest of the whole."""

    reference: Digest
    directories: tuple[DirectoryShape, ...]
    directories_cut: Count
    roles: tuple[RoleCount, ...]
    scans: tuple[Scan, ...]
    files_unread: Count
