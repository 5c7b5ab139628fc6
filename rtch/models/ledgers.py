"""How rows of ledgers are read, and what a packet says of rows that were corrected or are withheld."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from rtch.models.base import LineNumber, Record

Words = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=100)]
Positive = Annotated[int, Field(ge=1)]


class LedgerRules(Record):
    """``config/ledgers.yaml``: the words by which rows, their standing and their corrections are known."""

    id_fields: Words
    status_fields: Words
    terminal: Words
    suspensive: Words
    pending: Words
    tail_bytes: Positive
    derived: Words
    corrections: Annotated[str, Field(min_length=1, max_length=200)]
    max_ledger_bytes: Positive
    max_receipts: Positive
    correction_type: Annotated[str, Field(min_length=1, max_length=200)]
    legacy_actions: Words
    effective_states: Words
    proposed_states: Words
    ended_states: Words
    authority_classes: Words
    receipt_folders: Words


class HoldReason(StrEnum):
    """Why rows or a whole surface cannot be relied on."""

    CYCLE = "cycle"
    DUPLICATE = "duplicate"
    LEGACY = "legacy"
    MALFORMED_ROW = "malformed_row"
    MISSING_SUPERSEDED = "missing_superseded"
    ORPHAN = "orphan"
    TORN_TAIL = "torn_tail"
    UNAUTHORISED = "unauthorised"
    UNREADABLE = "unreadable"


class Hold(Record):
    """The receipt of a surface that is held.

    ``withheld`` tells that none of its text is shown; otherwise it is shown and supports no claim.
    """

    surface: str
    reason: HoldReason
    withheld: bool
    detail: str
    record_id: str = ""
    line: LineNumber | None = None
    """Of the row that is at fault, on ``source``."""
    source: str = ""
    """The surface with the row at fault."""
    re_entry_command: str


class EffectiveRecord(Record):
    """A row that is shown as its authorised corrections make it."""

    record_id: str
    surface: str
    line: LineNumber
    correction_ids: tuple[str, ...]
    withheld_lines: tuple[LineNumber, ...] = ()
    """Earlier rows of the same record that bear what was corrected."""
    re_entry_command: str
