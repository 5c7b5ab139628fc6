"""The intake: the validated request, in the canonical vocabulary."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from rtch.models.base import Count, Digest, Record
from rtch.models.vocab import (
    ConfidenceClass,
    CriterionKind,
    Dialect,
    ExpectedOutput,
    FanoutLevel,
    Investigation,
    MutationRisk,
    Scope,
    TargetProfile,
    Verdict,
)

Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
Term = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400, pattern=r"^[^\x00]*$")]
ZonePath = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
Terms = Annotated[tuple[Term, ...], Field(max_length=100)]


class EnoughEvidence(Record):
    """The exact form of a halting definition; every given field is a criterion."""

    min_surfaces: Annotated[int, Field(ge=1, le=10_000)] | None = None
    min_claim_supporting: Annotated[int, Field(ge=1, le=10_000)] | None = None
    required_terms: Terms = ()
    required_paths: Annotated[tuple[ZonePath, ...], Field(max_length=100)] = ()
    per_seed_coverage: bool | None = None


class Intake(Record):
    """One request. The first six fields are the contract and have no default.

    ``read_budget`` counts distinct lines in hydrated chunks; None takes the level's default.
    ``surface_cap`` is set by the sidecar dialect alone (3, 7 or 15).
    """

    schema_version: Literal["rtch.intake/1"] = "rtch.intake/1"
    goal: Sentence
    target_profile: TargetProfile
    fanout_level: FanoutLevel
    mutation_risk: MutationRisk
    expected_output: ExpectedOutput
    enough_evidence_definition: Sentence
    known_target: ZonePath | None = None
    explicit_seeds: Terms = ()
    forbidden_assumptions: Terms = ()
    known_neighbor_surfaces: Annotated[tuple[ZonePath, ...], Field(max_length=100)] = ()
    scope: Scope | None = None
    read_budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    investigation: Investigation | None = None
    enough_evidence: EnoughEvidence | None = None
    dialect: Dialect = Dialect.TACTICAL
    surface_cap: Annotated[int, Field(ge=1, le=1000)] | None = None
    notes: tuple[str, ...] = ()
    """What was filled in by a preset or stepped down by a dialect, one sentence each."""


class CompiledCriterion(Record):
    """One check that the halting definition was compiled to, before it is judged.

    ``expected`` is a count for the min_* kinds; ``term`` holds the term, path or seed of the
    others; ``confidence`` is the least class counted by min_class.
    """

    kind: CriterionKind
    expected: Count = 1
    term: str = ""
    confidence: ConfidenceClass | None = None
    source: Literal["block", "sentence", "dialect"]


class Halting(Record):
    """The halting definition as a machine can check it, and what it cannot."""

    compiled: tuple[CompiledCriterion, ...] = ()
    not_machine_checked: tuple[str, ...] = ()


class JudgedCriterion(Record):
    """A criterion with what was observed."""

    kind: CriterionKind
    expected: str
    observed: str
    verdict: Verdict


class Criteria(Record):
    """What the packet says about its halting definition."""

    compiled: tuple[JudgedCriterion, ...] = ()
    not_machine_checked: tuple[str, ...] = ()


class AcceptedIntake(Record):
    """Stage 1's artifact: the intake, its digest, its compiled halting and what it is bound by."""

    intake: Intake
    intake_digest: Digest
    halting: Halting
    constraint_stack: tuple[str, ...] = ()
    """The rules a conservative plan for a high-mutation change is held to, in reading order."""
