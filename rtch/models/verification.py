"""What became of a packet's chunks: one verdict each, and where the same text is now."""

from __future__ import annotations

from typing import Literal

from rtch.models.base import Count, LineNumber, Record
from rtch.models.vocab import ChunkVerdict

SCHEMA_VERSION = "rtch.verification/1"


class LinesNow(Record):
    """Where a chunk's lines are in the tree as it is."""

    path: str
    path_encoded: bool = False
    start_line: LineNumber
    end_line: LineNumber


class JudgedChunk(Record):
    """A chunk as the packet has it, and what the tree says of it.

    ``now`` is None unless the verdict proves the range: the captured bytes stand there, or it is where the edited
    lines begin and end.
    """

    chunk_id: str
    verdict: ChunkVerdict
    path: str
    path_encoded: bool = False
    start_line: LineNumber
    end_line: LineNumber
    now: LinesNow | None = None
    detail: str = ""
    """By what it was found, or why it was not; empty where the lines are as they were."""


class VerdictCounts(Record):
    """How many chunks have each verdict."""

    unchanged: Count = 0
    moved: Count = 0
    edited: Count = 0
    deleted: Count = 0
    renamed: Count = 0
    ambiguous: Count = 0
    unreadable: Count = 0
    not_judged: Count = 0


class Verification(Record):
    """The verdicts in the order of the packet's chunks."""

    schema_version: Literal["rtch.verification/1"] = "rtch.verification/1"
    packet_id: str
    chunks: tuple[JudgedChunk, ...]
    counts: VerdictCounts
    reanchored_as: str | None = None
    """The id of the packet that was made with the lines as they are now, where one was asked for."""

    @property
    def changed(self) -> bool:
        """Whether a chunk is known to be no longer what the packet says, other than by its line numbers."""
        counts = self.counts
        return counts.edited + counts.deleted + counts.renamed + counts.ambiguous > 0

    @property
    def unjudged(self) -> bool:
        """Whether of a chunk nothing is known."""
        return self.counts.unreadable + self.counts.not_judged > 0
