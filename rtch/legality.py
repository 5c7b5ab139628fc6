"""Which fanout level an intake may have, and the rules that a risky one is held to.

The rules are the specification's. Nothing is widened or narrowed here: the caller refuses the intake
(tactical vocabulary) or steps the level down with a note (sidecar vocabulary).
"""

from __future__ import annotations

from typing import NamedTuple

from rtch.models.intake import Intake
from rtch.models.vocab import ExpectedOutput, FanoutLevel, Investigation, MutationRisk, TargetProfile

LEVELS = (FanoutLevel.CONSERVATIVE, FanoutLevel.NORMAL, FanoutLevel.WIDE)
"""From the narrowest; every intake may be conservative."""

_WIDENING = frozenset({Investigation.MIGRATION, Investigation.DRIFT})


class Ceiling(NamedTuple):
    """The highest legal level, and the rule that sets it in words."""

    level: FanoutLevel
    because: str


def ceiling(
    profile: TargetProfile, risk: MutationRisk, output: ExpectedOutput, investigation: Investigation | None
) -> Ceiling:
    """Return the highest level that is legal for these four fields."""
    if risk is MutationRisk.HIGH_MUTATION:
        return Ceiling(FanoutLevel.CONSERVATIVE, "mutation_risk high_mutation requires conservative")
    if profile is TargetProfile.DOCTRINE_CHAIN and output is ExpectedOutput.CLAIM_EVIDENCE:
        return Ceiling(
            FanoutLevel.CONSERVATIVE,
            "target_profile doctrine_chain with expected_output claim_evidence requires conservative",
        )
    if risk is not MutationRisk.READ_ONLY:
        return Ceiling(FanoutLevel.NORMAL, f"wide requires mutation_risk read_only, and it is {risk.value}")
    if profile is not TargetProfile.VAGUE_INTENT and investigation not in _WIDENING:
        return Ceiling(
            FanoutLevel.NORMAL, "wide requires target_profile vague_intent, or investigation migration or drift"
        )
    return Ceiling(FanoutLevel.WIDE, "")


def ceiling_of(intake: Intake) -> Ceiling:
    """Return the highest level that is legal for an intake."""
    return ceiling(intake.target_profile, intake.mutation_risk, intake.expected_output, intake.investigation)


def legal_levels(intake: Intake) -> tuple[FanoutLevel, ...]:
    """Return the levels that the intake may have, the narrowest first."""
    return LEVELS[: LEVELS.index(ceiling_of(intake).level) + 1]


def violation(intake: Intake) -> str:
    """Return the sentence that refuses the intake's level and names the legal one; empty when it is legal."""
    top = ceiling_of(intake)
    if intake.fanout_level in legal_levels(intake):
        return ""
    asked, legal = intake.fanout_level.value, top.level.value
    return f"fanout_level {asked} is not legal: {top.because}; the highest legal level is {legal}"


_HARD_HOLDS = (
    "Source files are not changed: the run reads only.",
    "Packaging is composed with, not replaced: selected surfaces are handed on, never repacked here.",
    "A hit is a place, not a meaning: the confidence class bounds what each hit supports.",
    "No doctrine is promoted from this evidence: that takes a review of its own.",
    "Nothing is found by vectors or embeddings: structure and words alone.",
    "Growing files are not read whole: bounded chunks only.",
    "Nothing skipped or cut is left out of the packet: each has its reason.",
    "Discovery and packaging are two claims: neither lends the other confidence.",
)
_CONSERVATIVE_LIMITS = (
    "The plan has at most the conservative level's probes, all declared before any runs.",
    "Only terms of durable, explicit, path, heading, code, JSON, YAML or manifest origin are probed.",
    "No exploratory term supports a claim.",
)
_BEFORE_CHANGING = (
    "A change to any selected surface goes back to its source lines first: re-enter each chunk before acting."
)


def constraint_stack(intake: Intake) -> tuple[str, ...]:
    """Return the rules to show before anything else, in reading order; empty unless conservative with high mutation.

    Source: the specification's eight hard holds, then its limits of the conservative level.
    """
    if intake.fanout_level is FanoutLevel.CONSERVATIVE and intake.mutation_risk is MutationRisk.HIGH_MUTATION:
        return (*_HARD_HOLDS, *_CONSERVATIVE_LIMITS, _BEFORE_CHANGING)
    return ()
