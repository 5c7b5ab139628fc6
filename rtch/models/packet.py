"""The evidence packet: what is handed over."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from rtch.models.base import Count, Digest, Record, is_empty
from rtch.models.basket import Basket, GenericWarning
from rtch.models.chunk import Caution, Chunk, SkippedSurface, Surface
from rtch.models.intake import Criteria, Intake
from rtch.models.inventory import InventorySummary
from rtch.models.ledgers import EffectiveRecord, Hold
from rtch.models.plan import DroppedProbe, Probe
from rtch.models.run import RunRecord
from rtch.models.vocab import ExpectedOutput, FanoutLevel, HaltingReason, QuestionTie
from rtch.models.zone import Capabilities, ZoneDescriptor

SCHEMA_VERSION = "rtch.packet/1"

PacketId = Annotated[str, Field(pattern=r"^rtch_packet_[0-9a-f]{64}$")]


class ProbeOutcome(Record):
    """A declared probe with what came of it; ``ran`` is False where an earlier wave sufficed."""

    probe: Probe
    ran: bool
    hit_count: Count
    paths_hit: Count
    files_searched: Count
    bytes_searched: Count
    truncated: bool = False
    timed_out: bool = False
    errors: tuple[str, ...] = ()


class ExecutedPlan(Record):
    """The plan with its outcomes inline."""

    plan_id: str
    fanout_level: FanoutLevel
    max_probes: Count
    probes: tuple[ProbeOutcome, ...]
    remaining_probes: Count
    dropped: tuple[DroppedProbe, ...]
    predicted_files: Count
    predicted_bytes: Count
    predicted_lines: Count


class ReadBudget(Record):
    """Distinct lines in hydrated chunks."""

    total: Count
    consumed: Count
    remaining: Count


class FileDigest(Record):
    """The digest of a file that was hydrated."""

    path: str
    sha256: Digest


class Fingerprint(Record):
    """What the packet is true of: the listing (path, kind, size) and the hydrated files' bytes."""

    listing: Digest
    hydrated: tuple[FileDigest, ...]


class Question(Record):
    """Something the evidence does not answer, tied to what shows it."""

    question: str
    tied_to: QuestionTie
    reference: str


class TargetReason(Record):
    """A ranked path with its reason."""

    path: str
    reason: str


class PacketResult(Record):
    """The whole packet is the result."""

    kind: Literal[ExpectedOutput.HYDRATION_PACKET] = ExpectedOutput.HYDRATION_PACKET
    surfaces: Count
    chunks: Count


class TargetSetResult(Record):
    """The ranked path list for a consolidator, with reasons."""

    kind: Literal[ExpectedOutput.TARGET_SET] = ExpectedOutput.TARGET_SET
    targets: tuple[TargetReason, ...]


class SingleChunkResult(Record):
    """The one best chunk, or none."""

    kind: Literal[ExpectedOutput.SINGLE_CHUNK] = ExpectedOutput.SINGLE_CHUNK
    chunk_id: str | None
    note: str


class ClaimEvidenceResult(Record):
    """Only chunks that may support a claim; an empty list says so in ``note``."""

    kind: Literal[ExpectedOutput.CLAIM_EVIDENCE] = ExpectedOutput.CLAIM_EVIDENCE
    chunk_ids: tuple[str, ...]
    note: str


Result = Annotated[
    PacketResult | TargetSetResult | SingleChunkResult | ClaimEvidenceResult, Field(discriminator="kind")
]


class Findings(Record):
    """Stage 7's artifact: everything of the packet that is a function of tree, intake and configuration."""

    schema_version: Literal["rtch.packet/1"] = "rtch.packet/1"
    intake: Intake
    constraint_stack: tuple[str, ...]
    zone_descriptor: ZoneDescriptor
    shape_inventory: InventorySummary
    candidate_basket: Basket
    probe_plan: ExecutedPlan
    hydrated_chunks: tuple[Chunk, ...]
    selected_surfaces: tuple[Surface, ...]
    skipped_surfaces: tuple[SkippedSurface, ...]
    unresolved_questions: Annotated[tuple[Question, ...], Field(min_length=1)]
    caution_map: tuple[Caution, ...]
    effective_records: tuple[EffectiveRecord, ...] = Field(default=(), exclude_if=is_empty)
    """Rows of the selected surfaces that are shown as their corrections make them."""
    holds: tuple[Hold, ...] = Field(default=(), exclude_if=is_empty)
    """Surfaces of which nothing is shown, or that support no claim, each with why."""
    next_legal_probes: tuple[Probe, ...]
    next_legal_probes_cut: Count = 0
    """Further ones, of which the level admits no more here."""
    generic_alone_warnings: tuple[GenericWarning, ...]
    fanout_level_used: FanoutLevel
    halting_reason: HaltingReason
    halting_detail: str
    criteria: Criteria
    read_budget: ReadBudget
    fingerprint: Fingerprint
    ttl_tics: Count
    capabilities: Capabilities
    result: Result


class Packet(Findings):
    """The findings with their id, and the record of the run that made this copy.

    ``packet_id`` is ``rtch_packet_`` and the sha256 of the canonical JSON of the findings, and of ``parent_packet_id``
    where there is one: a packet without a parent is written without the field.
    """

    packet_id: PacketId
    parent_packet_id: PacketId | None = Field(default=None, exclude_if=lambda value: value is None)
    """The packet whose chunks this one has at the lines where they were found again."""
    generated_at: str
    generated_at_tic: int | None
    run: RunRecord


class Omitted(Record):
    """What a shortened view leaves out of its packet."""

    max_chars: Count
    """The number of characters that was asked for."""
    what: tuple[str, ...]
    """Each begins with how many there were."""
    whole: str
    """The command that shows the packet."""


class ShownPacket(Packet):
    """A packet as it is written out: whole, or shortened and with ``omitted``, which no kept packet has.

    A chunk without its text then bears the tag ``text_omitted``.
    """

    model_config = ConfigDict(title="Packet")

    omitted: Omitted | None = None
