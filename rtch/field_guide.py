"""What each field of an intake and each of its words means, for people: messages, interview, schema.

The shapes and bounds are the models' business; nothing is checked here.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from rtch.models.vocab import (
    Dialect,
    ExpectedOutput,
    FanoutLevel,
    Investigation,
    MutationRisk,
    Scope,
    TargetProfile,
)


class Field(NamedTuple):
    """One field: what it says, the flag that sets it, the words it may hold, and an example of free text."""

    name: str
    flag: str
    says: str
    words: type[StrEnum] | None = None
    example: str = ""
    default: StrEnum | None = None
    """What the interview offers; nothing else fills a field by itself."""


REQUIRED: tuple[Field, ...] = (
    Field("goal", "--goal", "what you need to know or do, in one sentence", example="Find where a stage key is made"),
    Field(
        "target_profile", "--profile", "what kind of surface it is about", TargetProfile, default=TargetProfile.MIXED
    ),
    Field("fanout_level", "--fanout", "how far the search may spread", FanoutLevel, default=FanoutLevel.CONSERVATIVE),
    Field("mutation_risk", "--risk", "what you mean to do afterwards", MutationRisk, default=MutationRisk.READ_ONLY),
    Field(
        "expected_output",
        "--output-kind",
        "which part of the packet you want",
        ExpectedOutput,
        default=ExpectedOutput.HYDRATION_PACKET,
    ),
    Field(
        "enough_evidence_definition",
        "--enough",
        "when the search may stop, in one sentence",
        example="At least 3 surfaces, and every seed is covered",
    ),
)

OPTIONAL: tuple[Field, ...] = (
    Field("known_target", "--known-target", "a path that is known to matter", example="src/keys.py"),
    Field("explicit_seeds", "--seed", "words, names or paths to start from", example="stage_key"),
    Field(
        "forbidden_assumptions",
        "--forbid",
        "what must not be taken for granted; becomes cautions",
        example="legacy_key",
    ),
    Field(
        "known_neighbor_surfaces",
        "--neighbor",
        "paths that lie beside the target, never above it",
        example="tests/keys.py",
    ),
    Field("scope", "--scope", "how far from the seeds a surface may lie", Scope),
    Field("read_budget", "--read-budget", "distinct lines that may be hydrated", example="800"),
    Field("investigation", "--investigation", "a purpose that widens what is legal or adds a surface", Investigation),
    Field("enough_evidence", "", "the halting definition as exact criteria"),
    Field("dialect", "", "the vocabulary that the request was written in", Dialect),
    Field("surface_cap", "", "the most surfaces; set by the sidecar dialect alone"),
    Field("notes", "", "what a preset filled in or a dialect stepped down"),
    Field("schema_version", "", "the version of this shape"),
)

FIELDS: dict[str, Field] = {field.name: field for field in (*REQUIRED, *OPTIONAL)}

MEANINGS: dict[StrEnum, str] = {
    TargetProfile.DOCTRINE_CHAIN: "rules and their standing: doctrine, topology, domain and estate documents",
    TargetProfile.AUDIT_HISTORY: "what was decided or happened: ledgers, reviews, changelogs",
    TargetProfile.CODE_PATH: "how code runs: definitions, callers, configuration that it reads",
    TargetProfile.MANIFEST_REGISTRY: "sources of truth by key: manifests, registries, configuration",
    TargetProfile.VAGUE_INTENT: "not known yet: anything that the words lead to",
    TargetProfile.MIXED: "several of these",
    FanoutLevel.CONSERVATIVE: "at most 5 probes, from named or structural terms alone",
    FanoutLevel.NORMAL: "at most 12 probes; for read-only or low-mutation work",
    FanoutLevel.WIDE: "at most 25 probes; read-only, and the intent vague or the investigation migration or drift",
    MutationRisk.READ_ONLY: "nothing will be changed",
    MutationRisk.LOW_MUTATION: "a small change that is easy to undo",
    MutationRisk.HIGH_MUTATION: "a change that is wide or hard to undo",
    ExpectedOutput.HYDRATION_PACKET: "the whole evidence packet",
    ExpectedOutput.TARGET_SET: "the ranked paths, for a consolidator",
    ExpectedOutput.SINGLE_CHUNK: "the one best chunk",
    ExpectedOutput.CLAIM_EVIDENCE: "only chunks that may support a claim",
    Scope.NARROW: "the seeds' own file families",
    Scope.ADJACENT: "their folders, importers and imports as well",
    Scope.BROAD: "anywhere in the zone",
    Investigation.MIGRATION: "find what a migration has to touch; may be wide",
    Investigation.DRIFT: "find what has moved away from what is written; may be wide",
    Investigation.DISPOSITION: "decide what becomes of an artifact; adds its relational surface",
    Dialect.TACTICAL: "the canonical fields",
    Dialect.SIDECAR: "an intent block with profile, fanout and mutation_risk",
}


def words_of(words: type[StrEnum]) -> str:
    """Return the words of a closed set as they stand in a message."""
    return ", ".join(member.value for member in words)
