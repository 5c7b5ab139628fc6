"""The sidecar vocabulary, and the level it is stepped down to."""

# ruff: noqa: E501  whole sentences are compared

from __future__ import annotations

import itertools
from typing import Any

import pytest

from rtch import dialects
from rtch.errors import IntakeError
from rtch.intake_io import Preset, build_intake, dump_intake, parse_intake
from rtch.legality import violation
from rtch.models.intake import Intake
from rtch.models.vocab import (
    Dialect,
    ExpectedOutput,
    FanoutLevel,
    Investigation,
    MutationRisk,
    Scope,
    TargetProfile,
)

BLOCK: dict[str, object] = {
    "goal": "see where keys are made",
    "seeds": ["stage_key", "src/keys.py"],
    "profile": "narrow",
    "fanout": "conservative",
    "mutation_risk": "read_only",
}


def sidecar(**changed: object) -> Intake:
    return build_intake({"intent": BLOCK | changed}, name="F")


def refusal(fields: Any, **more: Any) -> str:
    with pytest.raises(IntakeError) as caught:
        build_intake(fields, name="F", **more)
    return str(caught.value)


def test_the_block_becomes_the_canonical_fields() -> None:
    intake = sidecar()
    assert (intake.goal, intake.explicit_seeds) == ("see where keys are made", ("stage_key", "src/keys.py"))
    assert (intake.target_profile, intake.expected_output) == (TargetProfile.MIXED, ExpectedOutput.HYDRATION_PACKET)
    assert intake.enough_evidence_definition == "the surface cap is reached or the read budget is spent"
    assert (intake.dialect, intake.notes) == (Dialect.SIDECAR, ())


@pytest.mark.parametrize(
    ("word", "scope"), [("narrow", Scope.NARROW), ("mixed", Scope.ADJACENT), ("broad", Scope.BROAD)]
)
def test_its_profile_is_a_scope(word: Any, scope: Any) -> None:
    assert sidecar(profile=word).scope is scope


@pytest.mark.parametrize(
    ("word", "risk"),
    [
        ("read_only", MutationRisk.READ_ONLY),
        ("local_mutation", MutationRisk.LOW_MUTATION),
        ("cross_repo_mutation", MutationRisk.HIGH_MUTATION),
    ],
)
def test_its_risks_are_the_canonical_ones(word: Any, risk: Any) -> None:
    assert sidecar(mutation_risk=word).mutation_risk is risk


NO_NOTE = ""
DOWN = "fanout_level was stepped down from {} to {}: {}"
HIGH = "mutation_risk high_mutation requires conservative"
LOW = "wide requires mutation_risk read_only, and it is low_mutation"
VAGUE = "wide requires target_profile vague_intent, or investigation migration or drift"


@pytest.mark.parametrize(
    ("fanout", "risk", "level", "cap", "note"),
    [
        ("conservative", "read_only", FanoutLevel.CONSERVATIVE, 3, NO_NOTE),
        ("conservative", "cross_repo_mutation", FanoutLevel.CONSERVATIVE, 3, NO_NOTE),
        ("moderate", "read_only", FanoutLevel.NORMAL, 7, NO_NOTE),
        ("moderate", "local_mutation", FanoutLevel.NORMAL, 7, NO_NOTE),
        ("moderate", "cross_repo_mutation", FanoutLevel.CONSERVATIVE, 7, DOWN.format("normal", "conservative", HIGH)),
        ("aggressive", "read_only", FanoutLevel.NORMAL, 15, DOWN.format("wide", "normal", VAGUE)),
        ("aggressive", "local_mutation", FanoutLevel.NORMAL, 15, DOWN.format("wide", "normal", LOW)),
        ("aggressive", "cross_repo_mutation", FanoutLevel.CONSERVATIVE, 15, DOWN.format("wide", "conservative", HIGH)),
    ],
)
def test_an_illegal_level_is_stepped_down_with_a_note_and_the_cap_is_kept(
    fanout: Any, risk: Any, level: Any, cap: Any, note: Any
) -> None:
    intake = sidecar(fanout=fanout, mutation_risk=risk)
    assert (intake.fanout_level, intake.surface_cap) == (level, cap)
    assert intake.notes == ((note,) if note else ())


def test_an_aggressive_drift_investigation_may_be_wide() -> None:
    intake = build_intake({"intent": BLOCK | {"fanout": "aggressive"}, "investigation": "drift"})
    assert (intake.fanout_level, intake.surface_cap, intake.notes) == (FanoutLevel.WIDE, 15, ())
    assert intake.investigation is Investigation.DRIFT


def test_every_combination_of_its_words_is_legal() -> None:
    for profile, fanout, risk in itertools.product(*dialects.WORDS.values()):
        assert violation(sidecar(profile=profile, fanout=fanout, mutation_risk=risk)) == ""


def test_canonical_fields_without_a_word_of_its_own_stand_beside_the_block() -> None:
    intake = build_intake(
        {
            "intent": BLOCK,
            "known_target": "src/keys.py",
            "enough_evidence_definition": "1 surface",
            "expected_output": "single_chunk",
            "read_budget": 50,
        }
    )
    assert (intake.known_target, intake.enough_evidence_definition) == ("src/keys.py", "1 surface")
    assert (intake.expected_output, intake.read_budget) == (ExpectedOutput.SINGLE_CHUNK, 50)


def test_flat_fields_are_sidecar_only_when_asked_for() -> None:
    assert build_intake(BLOCK, dialect=Dialect.SIDECAR) == sidecar()
    assert "fanout is no field of an intake" in refusal(BLOCK)
    assert "intent is no field of an intake" in refusal({"intent": BLOCK}, dialect=Dialect.TACTICAL)


def test_flags_speak_the_vocabulary_of_the_request() -> None:
    flags = {"target_profile": "broad", "fanout_level": "moderate", "explicit_seeds": ["x"], "read_budget": 9}
    intake = build_intake({"intent": BLOCK}, flags=flags)
    assert (intake.scope, intake.fanout_level, intake.surface_cap) == (Scope.BROAD, FanoutLevel.NORMAL, 7)
    assert (intake.explicit_seeds, intake.read_budget) == (("x",), 9)


def test_seeds_may_be_left_out() -> None:
    assert (
        build_intake({"intent": {name: value for name, value in BLOCK.items() if name != "seeds"}}).explicit_seeds == ()
    )


def test_what_is_missing_is_named_in_its_own_words() -> None:
    assert refusal({"intent": {"goal": " "}}) == (
        "F has 4 problems:\n"
        "- intent.goal is missing (--goal): write one sentence\n"
        "- intent.profile is missing (--profile): one of narrow, mixed, broad\n"
        "- intent.fanout is missing (--fanout): one of conservative, moderate, aggressive\n"
        "- intent.mutation_risk is missing (--risk): one of read_only, local_mutation, cross_repo_mutation"
    )


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"fanout": "wide"}, "intent.fanout must be one of conservative, moderate, aggressive, found 'wide'; that word is the tactical dialect's; the intent block has its own"),
        ({"profile": 3}, "intent.profile must be one of narrow, mixed, broad, found the number 3"),
        ({"seeds": None}, "intent.seeds must be a list, found nothing; leave it out, or write []"),
        ({"seeds": "a"}, "intent.seeds must be a list, found 'a'; write it as a list of one"),
        ({"seeds": ["a", 2]}, "intent.seeds[1] must be text, found the number 2; put it in quotes"),
        ({"goal": 7}, "intent.goal must be text, found the number 7; put it in quotes"),
        ({"seed": ["a"]}, "intent.seed is no field of an intake; did you mean seeds?"),
        ({"fanout_level": "wide"}, "intent.fanout_level is no field of an intake; did you mean fanout?"),
    ],
)  # fmt: skip
def test_one_wrong_thing_is_one_sentence_about_what_was_written(changed: Any, sentence: str) -> None:
    assert refusal({"intent": BLOCK | changed}) == f"F: {sentence}"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"intent": ["a"]}, "intent must be a mapping of goal, seeds, profile, fanout, mutation_risk, found a list"),
        ({"intent": None}, "intent must be a mapping of goal, seeds, profile, fanout, mutation_risk, found nothing"),
        ({"intent": BLOCK, "scope": "narrow"}, "scope is no field of an intake; known are expected_output, enough_evidence_definition, enough_evidence, known_target, forbidden_assumptions, known_neighbor_surfaces, read_budget, investigation"),
    ],
)  # fmt: skip
def test_a_wrong_block_or_neighbour_is_refused(fields: Any, sentence: str) -> None:
    assert sentence in refusal(fields)


def test_a_preset_does_not_fill_it() -> None:
    preset = Preset("look", "", {"target_profile": "mixed"})
    assert refusal({"intent": BLOCK}, preset=preset) == (
        "F: it is in the sidecar dialect, which preset look does not fill; leave one out"
    )


def test_a_saved_sidecar_intake_is_read_back_and_not_stepped_down_again() -> None:
    intake = sidecar(fanout="aggressive")
    assert parse_intake(dump_intake(intake).encode(), name="F") == intake
