"""How two packets differ."""

from __future__ import annotations

from typing import Literal

from rtch.models.base import Count, Digest, LineNumber, Record


class RankedPath(Record):
    """A selected surface of one packet alone."""

    path: str
    path_encoded: bool
    rank: Count


class MovedPath(Record):
    """A selected surface of both, at another rank."""

    path: str
    path_encoded: bool
    rank_before: Count
    rank_after: Count


class PlacedChunk(Record):
    """The span of a chunk that one packet alone has."""

    path: str
    path_encoded: bool
    start_line: LineNumber
    end_line: LineNumber
    text_sha256: Digest


class ChangedChunk(Record):
    """A span that both have, with other bytes."""

    path: str
    path_encoded: bool
    start_line: LineNumber
    end_line: LineNumber
    text_sha256_before: Digest
    text_sha256_after: Digest


class ChangedValue(Record):
    """A value under a name such as ``criteria.min_surfaces 3``; None where one packet has none."""

    name: str
    before: str | None
    after: str | None


class PacketDiff(Record):
    """What is otherwise in ``after`` than in ``before``; packets with one id have nothing in any list."""

    schema_version: Literal["rtch.packet_diff/1"] = "rtch.packet_diff/1"
    before: str
    after: str
    surfaces_entered: tuple[RankedPath, ...]
    surfaces_left: tuple[RankedPath, ...]
    surfaces_moved: tuple[MovedPath, ...]
    chunks_added: tuple[PlacedChunk, ...]
    chunks_removed: tuple[PlacedChunk, ...]
    chunks_changed: tuple[ChangedChunk, ...]
    criteria: tuple[ChangedValue, ...]
    halting: tuple[ChangedValue, ...]
    state: tuple[ChangedValue, ...]
    """The fingerprint: the listing, and the bytes of hydrated files."""
    fields: tuple[str, ...]
    """Every field of the packets that differs in any way, so that no difference is passed over."""

    @property
    def same(self) -> bool:
        """Whether the packets say the same."""
        return not self.fields
