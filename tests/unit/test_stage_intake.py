"""Stage 1 accepts an intake, or refuses it with the legal level."""

from __future__ import annotations

import hashlib

import pytest

from rtch.errors import IntakeError
from rtch.models.intake import AcceptedIntake, Intake
from rtch.models.vocab import ExpectedOutput, FanoutLevel, MutationRisk, TargetProfile
from rtch.stages.intake import intake

REQUEST = Intake(
    goal="g",
    target_profile=TargetProfile.MIXED,
    fanout_level=FanoutLevel.NORMAL,
    mutation_risk=MutationRisk.READ_ONLY,
    expected_output=ExpectedOutput.HYDRATION_PACKET,
    enough_evidence_definition="2 surfaces and the docs agree",
    notes=("filled",),
)


def test_it_is_the_request_with_digest_and_checks() -> None:
    accepted = intake(REQUEST)
    assert accepted.intake == REQUEST
    assert accepted.intake_digest == hashlib.sha256(REQUEST.canonical()).hexdigest()
    assert [one.expected for one in accepted.halting.compiled] == [2]
    assert accepted.halting.not_machine_checked == ("the docs agree",)
    assert accepted.constraint_stack == ()
    assert AcceptedIntake.parse(accepted.canonical()) == accepted


def test_a_risky_change_comes_with_its_constraints() -> None:
    risky = REQUEST.model_copy(
        update={"fanout_level": FanoutLevel.CONSERVATIVE, "mutation_risk": MutationRisk.HIGH_MUTATION}
    )
    assert len(intake(risky).constraint_stack) == 12


def test_an_illegal_level_is_refused_however_the_intake_was_made() -> None:
    with pytest.raises(IntakeError) as caught:
        intake(REQUEST.model_copy(update={"fanout_level": FanoutLevel.WIDE}))
    assert caught.value.exit_code == 2
    assert str(caught.value).endswith("the highest legal level is normal")


def test_another_request_has_another_digest() -> None:
    other = REQUEST.model_copy(update={"goal": "h"})
    assert intake(other).intake_digest != intake(REQUEST).intake_digest
