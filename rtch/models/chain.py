"""The doctrine briefing for a path: what the rungs above it say, each within a bound."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rtch.models.base import Count, LineNumber, Record, is_empty
from rtch.models.zone import ZoneCaution


class Elision(Record):
    """What is not shown of a document, between its head and its tail."""

    size_bytes: Count
    characters: Count | None
    """None where the document was not read whole, so that they were not counted."""
    first_line: LineNumber
    last_line: LineNumber | None
    """None where the lines were not counted; then ``lines_after`` tells the end."""
    lines_after: Count
    """Lines that are shown after it."""
    re_entry_command: str
    """Reads it, or the first thousand lines of it."""


class ChainDocument(Record):
    """One document of a rung: its head and, behind what is left out, its tail."""

    path: str
    """Relative to the zone root; above it with ``../``, and absolute where it lies outside."""
    kind: Literal["document", "ledger", "memory"]
    size_bytes: Count
    head: str
    tail: str
    elided: Elision | None
    masked: Count
    """Lines with a secret that is not shown."""
    problem: str
    """Why nothing of it is shown; empty otherwise."""
    re_entry_command: str


class ChainRung(Record):
    """One rung with what it says; ``root`` is a zone root without any marker."""

    rung: Literal["site", "domain", "estate", "federation", "root"]
    name: str
    path: str
    marker: str
    documents: tuple[ChainDocument, ...]
    dehydrated: bool
    """Whether a document of it is an index whose bodies lie in a ledger."""
    ledgers: tuple[ChainDocument, ...]
    is_current: bool
    """Whether it is the nearest to the target."""


class Chain(Record):
    """What ``rtch chain`` says; rungs lowest first."""

    schema_version: Literal["rtch.chain/1"] = "rtch.chain/1"
    target: str
    zone_root: str
    current_rung: str | None
    """The path of the nearest rung; None where there is none."""
    max_chars_per_rung: Count
    rungs: tuple[ChainRung, ...]
    cautions: tuple[ZoneCaution, ...] = Field(default=(), exclude_if=is_empty)
    """Of the markers around the target that cannot be read, or not as meant."""
    outside: tuple[ChainDocument, ...] = ()
    """The user's own documents, where they were asked for."""
