"""What became of a packet as a whole, and what of it may still be claimed."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from rtch.models.base import Count, LineNumber, Record
from rtch.models.packet import PacketId
from rtch.models.verification import LinesNow, VerdictCounts
from rtch.models.vocab import ChunkVerdict


class Outcome(StrEnum):
    """What became of a packet; the first that holds, in this order."""

    HELD = "held"
    """Corrections keep back what it shows, or whether they do cannot be told."""
    SUPERSEDED = "superseded"
    """A newer packet answers the same question."""
    DRIFT_DETECTED = "drift_detected"
    """A chunk is no longer what the packet says, other than by its line numbers."""
    FAILED = "failed"
    """Of a chunk nothing is known, and none is known to have changed."""
    REFRESHED = "refreshed"
    """Every chunk stands."""


class ClaimForce(StrEnum):
    """What may still be claimed by something, strongest first."""

    ACTIVE = "active"
    """As when it was found."""
    RESTORED_WITH_CAVEAT = "restored_with_caveat"
    """As text that stands, after it was read again."""
    CAUTION_ONLY = "caution_only"
    """A hint where to look, and no evidence."""
    NONE = "none"


class RehydratedChunk(Record):
    """A chunk with its verdict, and what may still be claimed by it."""

    chunk_id: str
    path: str
    path_encoded: bool = False
    start_line: LineNumber
    end_line: LineNumber
    verdict: ChunkVerdict
    now: LinesNow | None = None
    claim_force: ClaimForce
    detail: str = ""


class Rehydration(Record):
    """The outcome, with the chunks in the packet's order. The packet that it is of is never changed."""

    schema_version: Literal["rtch.rehydration/1"] = "rtch.rehydration/1"
    packet_id: PacketId
    outcome: Outcome
    claim_force: ClaimForce
    because: str
    """Why, in one sentence."""
    chunks: tuple[RehydratedChunk, ...]
    counts: VerdictCounts
    held_chunks: Count = 0
    superseded_by: PacketId | None = None
    refreshed_as: PacketId | None = None
    """The packet that was made with the lines as they are now, where any had moved."""
