"""Hydrated chunks, the surfaces they lie on, and what was skipped."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rtch.models.base import Count, Digest, LineNumber, Record, is_empty
from rtch.models.ledgers import EffectiveRecord, Hold
from rtch.models.plan import ScorePart
from rtch.models.vocab import CautionFlag, ConfidenceClass, FileRole, NewlineStyle, Origin, SkipReason

GRAMMAR_GIVEN_UP = "grammar_given_up"
"""The tag of a chunk whose file a grammar would have taken too long on: its definitions are known by pattern."""


class Masked(Record):
    """A secret that was replaced in a chunk's text."""

    line: LineNumber
    kind: str


class Clipped(Record):
    """A part of a long line that is not shown; offsets are those of the file."""

    line: LineNumber
    byte_start: Count
    byte_end: Count


class QuoteAnchor(Record):
    """What finds a chunk again when its lines have moved: its edges and what surrounds them."""

    prefix: str
    first_line: str
    last_line: str
    suffix: str


class ProbeHitRef(Record):
    """Which probe and term lead here."""

    probe_id: str
    term: str
    origin: Origin
    line: LineNumber


class Chunk(Record):
    """A bounded span of lines that contains what matched.

    ``text`` decodes the file's bytes from the start of ``start_line`` through the LF of
    ``end_line``; masked and clipped spans are the only difference. ``text_sha256`` is of those bytes.
    A ledger's bytes are those of its effective text, where rows of it are corrected; such a chunk bears a tag.
    """

    chunk_id: str
    path: str
    path_encoded: bool = False
    line_range: str
    start_line: LineNumber
    end_line: LineNumber
    byte_start: Count
    byte_end: Count
    text: str
    text_sha256: Digest
    file_sha256: Digest
    blob_id: str
    """Computed from the bytes; where git's index says otherwise, the packet's ``run`` names the path."""
    encoding: str
    bom: bool = False
    newline: NewlineStyle
    symbol_path: str = ""
    defines: tuple[str, ...] = ()
    """Symbol paths whose definition lies in the chunk and was hit, or all of them where the file itself was named."""
    heading_path: tuple[str, ...] = ()
    quote: QuoteAnchor
    why_included: str
    term_or_shape: str
    hits: tuple[ProbeHitRef, ...]
    confidence_class: ConfidenceClass
    limitation: str
    next_re_entry_command: str
    tags: tuple[str, ...] = ()
    masked: tuple[Masked, ...] = ()
    clipped: tuple[Clipped, ...] = ()


class Surface(Record):
    """A path that a consumer may act on, with why it stands at its rank."""

    path: str
    path_encoded: bool = False
    rank: Count
    role: FileRole
    why: str
    line_range: str | None
    re_entry_command: str
    score: float
    score_parts: tuple[ScorePart, ...]
    confidence_class: ConfidenceClass
    chunks: tuple[str, ...] = ()
    sha256: Digest
    twins: tuple[str, ...] = ()
    """Other paths with the same bytes."""


class SkippedSurface(Record):
    """A surface that was named, hit or met, and not hydrated.

    ``path`` may be ``dir/** (n)`` where n of one reason lie below ``dir``; ``count`` adds up.
    """

    path: str
    reason: SkipReason
    detail: str = ""
    count: Count = 1


class Caution(Record):
    """What a consumer must know before relying on a surface."""

    path: str
    flag: CautionFlag
    note: str
    line: LineNumber | None = None


class Hydration(Record):
    """Stage 6's artifact: what was read, on which surfaces, and what was not."""

    schema_version: Literal["rtch.hydration/1"] = "rtch.hydration/1"
    chunks: tuple[Chunk, ...]
    surfaces: tuple[Surface, ...]
    skipped: tuple[SkippedSurface, ...]
    cautions: tuple[Caution, ...]
    effective_records: tuple[EffectiveRecord, ...] = Field(default=(), exclude_if=is_empty)
    holds: tuple[Hold, ...] = Field(default=(), exclude_if=is_empty)
    lines_consumed: Count
    surface_cap_reached: bool = False
    budget_spent: bool = False
