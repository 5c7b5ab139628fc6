"""Which level is legal, what a risky change is held to."""

# ruff: noqa: ISC004  whole sentences are compared

from __future__ import annotations

import itertools
from typing import Any

import pytest

from rtch.intake_io import build_intake
from rtch.legality import ceiling, constraint_stack, legal_levels, violation
from rtch.models.intake import Intake
from rtch.models.vocab import (
    ExpectedOutput,
    FanoutLevel,
    Investigation,
    MutationRisk,
    TargetProfile,
)


def intake(**changed: Any) -> Intake:
    base = Intake(
        goal="g",
        target_profile=TargetProfile.MIXED,
        fanout_level=FanoutLevel.CONSERVATIVE,
        mutation_risk=MutationRisk.READ_ONLY,
        expected_output=ExpectedOutput.HYDRATION_PACKET,
        enough_evidence_definition="x",
    )
    return base.model_copy(update=changed)


EVERY = list(itertools.product(TargetProfile, MutationRisk, ExpectedOutput, [None, *Investigation]))


def test_conservative_is_always_legal() -> None:
    assert all(
        violation(intake(target_profile=profile, mutation_risk=risk, expected_output=output, investigation=why)) == ""
        for profile, risk, output, why in EVERY
    )


def test_wide_needs_read_only_and_a_reason() -> None:
    wide = {combination for combination in EVERY if ceiling(*combination).level is FanoutLevel.WIDE}
    assert wide == {
        (profile, risk, output, why)
        for profile, risk, output, why in EVERY
        if risk is MutationRisk.READ_ONLY
        and (profile is TargetProfile.VAGUE_INTENT or why in {Investigation.MIGRATION, Investigation.DRIFT})
        and (profile, output) != (TargetProfile.DOCTRINE_CHAIN, ExpectedOutput.CLAIM_EVIDENCE)
    }


def test_only_high_mutation_and_doctrine_claims_are_held_to_conservative() -> None:
    held = {combination for combination in EVERY if ceiling(*combination).level is FanoutLevel.CONSERVATIVE}
    assert held == {
        (profile, risk, output, why)
        for profile, risk, output, why in EVERY
        if risk is MutationRisk.HIGH_MUTATION
        or (profile is TargetProfile.DOCTRINE_CHAIN and output is ExpectedOutput.CLAIM_EVIDENCE)
    }


@pytest.mark.parametrize(
    ("changed", "levels"),
    [
        ({}, (FanoutLevel.CONSERVATIVE, FanoutLevel.NORMAL)),
        ({"mutation_risk": MutationRisk.HIGH_MUTATION}, (FanoutLevel.CONSERVATIVE,)),
        ({"target_profile": TargetProfile.VAGUE_INTENT}, tuple(FanoutLevel)),
    ],
)
def test_legal_levels_begin_with_the_narrowest(changed: Any, levels: Any) -> None:
    assert legal_levels(intake(**changed)) == levels


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"fanout_level": FanoutLevel.NORMAL, "mutation_risk": MutationRisk.HIGH_MUTATION},
            "fanout_level normal is not legal: mutation_risk high_mutation requires conservative; "
            "the highest legal level is conservative",
        ),
        (
            {
                "fanout_level": FanoutLevel.NORMAL,
                "target_profile": TargetProfile.DOCTRINE_CHAIN,
                "expected_output": ExpectedOutput.CLAIM_EVIDENCE,
            },
            "fanout_level normal is not legal: target_profile doctrine_chain with expected_output claim_evidence "
            "requires conservative; the highest legal level is conservative",
        ),
        (
            {"fanout_level": FanoutLevel.WIDE, "mutation_risk": MutationRisk.LOW_MUTATION},
            "fanout_level wide is not legal: wide requires mutation_risk read_only, and it is low_mutation; "
            "the highest legal level is normal",
        ),
    ],
)
def test_a_violation_names_the_legal_level(changed: Any, sentence: str) -> None:
    assert violation(intake(**changed)) == sentence


def test_the_constraint_stack_is_for_conservative_high_mutation_alone() -> None:
    for level, risk in itertools.product(FanoutLevel, MutationRisk):
        stack = constraint_stack(intake(fanout_level=level, mutation_risk=risk))
        assert bool(stack) is (level is FanoutLevel.CONSERVATIVE and risk is MutationRisk.HIGH_MUTATION)


def test_the_stack_begins_with_the_eight_holds() -> None:
    stack = constraint_stack(intake(mutation_risk=MutationRisk.HIGH_MUTATION))
    assert len(stack) == len(set(stack)) == 12
    assert stack[0] == "Source files are not changed: the run reads only."
    assert stack[8].startswith("The plan has at most the conservative level's probes")


def test_an_illegal_level_is_told_as_a_field_of_the_request() -> None:
    fields = intake(mutation_risk=MutationRisk.HIGH_MUTATION).model_dump(mode="json", exclude_defaults=True)
    assert build_intake(fields).fanout_level is FanoutLevel.CONSERVATIVE
