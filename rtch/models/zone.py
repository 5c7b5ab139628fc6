"""The zone descriptor: where discovery may look and what stands out by shape."""

from __future__ import annotations

import operator
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from rtch.models.base import Count, Digest, LineNumber, Record, is_empty
from rtch.models.vocab import CautionFlag, EntryKind, FileRole


class RungKind(StrEnum):
    """Which marker makes a folder a rung, lowest first."""

    SITE = "site"
    DOMAIN = "domain"
    ESTATE = "estate"
    FEDERATION = "federation"


class Rung(Record):
    """One folder of the doctrine chain.

    ``path`` is relative to the zone root: ``.`` is the root itself, ``../`` lies above it.
    """

    kind: RungKind
    name: str
    path: str
    marker: str
    documents: tuple[str, ...] = ()
    ledgers: tuple[str, ...] = ()
    """Where the bodies lie of a rung whose document is an index."""


class TruthFile(Record):
    """A file that speaks for the zone by its name or shape."""

    path: str
    why: str


class Registry(Record):
    """A manifest or registry: a structured file that says what exists."""

    path: str
    role: FileRole
    why: str


class ZoneCaution(Record):
    """Something met while orienting that a consumer must know."""

    flag: CautionFlag
    path: str
    note: str


class Capabilities(Record):
    """What could be used: tool versions and grammars; empty text means absent."""

    rg: str
    git: str
    grammars: tuple[str, ...] = ()


class OddEntry(Record):
    """An entry of the tree that is no readable regular file."""

    path: str
    kind: EntryKind
    target: str = ""


class WorkingState(Record):
    """How the tree is listed and how many entries of each kind it has.

    The commit and branch lie in the packet's ``run``: they are no function of the tree's bytes.
    """

    vcs: Literal["git", "none"]
    listed_by: Literal["git", "walk"]
    files: Count
    directories: Count
    other_entries: Count
    size_bytes: Count


class Section(Record):
    """A part of a document, by its heading."""

    title: str
    start_line: LineNumber
    end_line: LineNumber
    re_entry_command: str
    ids: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """Durable ids that stand in it, each once, in order."""


class OutsideDocument(Record):
    """A document of the user's own that lies outside the zone and was asked for; it is read and never written."""

    path: str
    why: str
    size_bytes: Count
    sha256: Digest | None = None
    """None where it was not read to its end."""
    sections: tuple[Section, ...] = ()


class AuditPlace(Record):
    """Where an audit path leads that is absolute or leads upward: known only with the root's place on the disk."""

    named: str
    path: str
    """Relative where it lies in the zone, absolute where it lies outside and the user permits it, else empty."""


class Surroundings(Record):
    """What is known of the root before orientation: what lies above it, and which tools there are.

    Gathered anew in each run and handed to orient as an input, for a stage reads nothing that is not an argument.
    """

    zone_root: str
    root_marker: str
    vcs: Literal["git", "none"]
    rungs_above: tuple[Rung, ...] = ()
    cautions_above: tuple[ZoneCaution, ...] = Field(default=(), exclude_if=is_empty)
    """Of markers above the root that cannot be read, or not as meant."""
    audit_place: AuditPlace | None = None
    outside: tuple[OutsideDocument, ...] = ()
    capabilities: Capabilities


class ZoneDescriptor(Record):
    """Stage 2's artifact. It does not depend on the goal."""

    schema_version: Literal["rtch.zone/1"] = "rtch.zone/1"
    zone_name: str
    """The name that a marker gives the zone, else empty: never the folder's name, which may differ between copies."""
    zone_root: str
    """Relative to the repository root; ``.`` where they are the same."""
    root_marker: str
    """The root marker's name, ``git`` or ``none``: what the folder has that makes it a root."""
    rungs: tuple[Rung, ...] = ()
    """Lowest first."""
    truth_files: tuple[TruthFile, ...] = ()
    registries: tuple[Registry, ...] = ()
    audit_logs: str = ""
    """The zone's audit folder, relative; absolute where the user permits one outside, empty when it has none."""
    odd_entries: tuple[OddEntry, ...] = ()
    """Links, submodules, special files and what cannot be opened, by path."""
    listing_fingerprint: Digest
    working_state: WorkingState
    capabilities: Capabilities
    cautions: tuple[ZoneCaution, ...] = ()
    outside: Annotated[tuple[OutsideDocument, ...], Field(exclude_if=operator.not_)] = ()
    """Documents outside the zone that the user asked for; a descriptor without any does not speak of them."""
