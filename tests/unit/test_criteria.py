"""Halting definitions compiled from block and sentence, and judged on facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest

from rtch.criteria import (
    MAX_CRITERIA,
    ChunkFact,
    EvidenceFacts,
    compile_halting,
    expected_of,
    judge,
    required_definitions,
    required_terms,
    satisfied,
)
from rtch.dialects import CAP_SENTENCE
from rtch.errors import IntakeError
from rtch.models.intake import CompiledCriterion, EnoughEvidence, Halting, Intake
from rtch.models.vocab import (
    ConfidenceClass,
    CriterionKind,
    Dialect,
    ExpectedOutput,
    FanoutLevel,
    MutationRisk,
    TargetProfile,
    Verdict,
)

NOTHING = EvidenceFacts(
    surfaces=(),
    chunks=(),
    terms_found=frozenset(),
    definitions_found=frozenset(),
    covered_seeds=frozenset(),
    surface_cap_reached=False,
    budget_spent=False,
)


def intake(enough: str = "x", **changed: Any) -> Intake:
    base = Intake(
        goal="g",
        target_profile=TargetProfile.MIXED,
        fanout_level=FanoutLevel.NORMAL,
        mutation_risk=MutationRisk.READ_ONLY,
        expected_output=ExpectedOutput.HYDRATION_PACKET,
        enough_evidence_definition=enough,
    )
    return base.model_copy(update=changed)


def one(kind: CriterionKind, source: Literal["sentence", "block", "dialect"] = "sentence", **values: Any) -> Halting:
    return Halting(compiled=(CompiledCriterion(kind=kind, source=source, **values),))


def verdict(halting: Halting, **facts: Any) -> tuple[str, str, bool]:
    (judged,) = judge(halting, replace(NOTHING, **facts)).compiled
    return judged.expected, judged.observed, judged.verdict is Verdict.MET


def chunks(*classes: ConfidenceClass) -> tuple[ChunkFact, ...]:
    return tuple(ChunkFact(f"{place}.py", confidence) for place, confidence in enumerate(classes))


# --- compiling -----------------------------------------------------------------------------------------------------


def test_a_block_is_taken_as_it_stands() -> None:
    block = EnoughEvidence(
        min_surfaces=2, min_claim_supporting=1, required_terms=("a", "a"), required_paths=("p",), per_seed_coverage=True
    )
    halting = compile_halting(intake("2 surfaces", enough_evidence=block, explicit_seeds=("s", "t", "s")))
    assert [(c.kind, c.expected, c.term, c.confidence) for c in halting.compiled] == [
        (CriterionKind.MIN_SURFACES, 2, "", None),
        (CriterionKind.MIN_CLASS, 1, "", ConfidenceClass.CLAIM_SUPPORTING),
        (CriterionKind.REQUIRED_TERM, 1, "a", None),
        (CriterionKind.REQUIRED_PATH, 1, "p", None),
        (CriterionKind.PER_SEED_COVERAGE, 1, "s", None),
        (CriterionKind.PER_SEED_COVERAGE, 1, "t", None),
    ]
    assert {c.source for c in halting.compiled} == {"block"}
    assert halting.not_machine_checked == ()


def test_a_sentence_that_says_more_than_the_block_is_kept() -> None:
    block = EnoughEvidence(min_surfaces=2)
    halting = compile_halting(intake("3 surfaces, `x` is found, and the docs agree", enough_evidence=block))
    assert [c.kind for c in halting.compiled] == [CriterionKind.MIN_SURFACES]
    assert halting.not_machine_checked == ("`x` is found", "the docs agree")


def test_without_a_block_the_sentence_is_compiled() -> None:
    halting = compile_halting(intake("3 surfaces, each seed, and the docs agree", explicit_seeds=("s",)))
    assert [(c.kind, c.expected, c.term, c.source) for c in halting.compiled] == [
        (CriterionKind.MIN_SURFACES, 3, "", "sentence"),
        (CriterionKind.PER_SEED_COVERAGE, 1, "s", "sentence"),
    ]
    assert halting.not_machine_checked == ("the docs agree",)


@pytest.mark.parametrize("block", [None, EnoughEvidence(), EnoughEvidence(per_seed_coverage=False)])
def test_a_block_without_a_criterion_is_no_block(block: Any) -> None:
    assert [c.kind for c in compile_halting(intake("3 chunks", enough_evidence=block)).compiled] == [
        CriterionKind.MIN_CHUNKS
    ]


def test_seed_coverage_without_seeds_is_refused() -> None:
    with pytest.raises(IntakeError) as caught:
        compile_halting(intake(enough_evidence=EnoughEvidence(per_seed_coverage=True)))
    assert str(caught.value) == (
        "enough_evidence.per_seed_coverage is true, and there are no explicit_seeds; name a seed"
    )


@pytest.mark.parametrize(("dialect", "source"), [(Dialect.SIDECAR, "dialect"), (Dialect.TACTICAL, "sentence")])
def test_the_dialects_own_sentence_is_the_cap(dialect: Any, source: Literal["sentence", "dialect"]) -> None:
    for sentence in (CAP_SENTENCE, f"  {CAP_SENTENCE.capitalize()}. "):
        halting = compile_halting(intake(sentence, dialect=dialect))
        assert [(c.kind, c.source) for c in halting.compiled] == [(CriterionKind.CAP_REACHED, source)]
        assert halting.not_machine_checked == ()


def test_a_block_replaces_the_dialects_own_sentence() -> None:
    halting = compile_halting(
        intake(CAP_SENTENCE, dialect=Dialect.SIDECAR, enough_evidence=EnoughEvidence(min_surfaces=2))
    )
    assert [c.kind for c in halting.compiled] == [CriterionKind.MIN_SURFACES]
    assert halting.not_machine_checked == ()


def test_nothing_is_lost_even_where_there_is_no_clause() -> None:
    assert compile_halting(intake("!?")) == Halting(not_machine_checked=("!?",))


def test_the_number_of_criteria_is_bounded_and_the_rest_is_kept() -> None:
    halting = compile_halting(intake(", ".join(f"`t{number}`" for number in range(300))))
    assert len(halting.compiled) == MAX_CRITERIA
    assert len(halting.not_machine_checked) == 300 - MAX_CRITERIA


def test_what_has_to_be_looked_for_is_listed_once() -> None:
    halting = compile_halting(intake("`a`, `b`, `a`, one definition, and the definition of `c`"))
    assert required_terms(halting) == ("a", "b")
    assert required_definitions(halting) == ("c",)


# --- judging -------------------------------------------------------------------------------------------------------


def test_surfaces_are_counted_once_each() -> None:
    halting = one(CriterionKind.MIN_SURFACES, expected=2)
    assert verdict(halting, surfaces=("a", "a")) == ("at least 2 surfaces", "1 surface", False)
    assert verdict(halting, surfaces=("a", "b")) == ("at least 2 surfaces", "2 surfaces", True)


def test_surfaces_of_a_class_are_those_with_such_a_chunk() -> None:
    halting = one(CriterionKind.MIN_SURFACES, expected=1, confidence=ConfidenceClass.CLAIM_SUPPORTING)
    found = (ChunkFact("a", ConfidenceClass.CLAIM_SUPPORTING), ChunkFact("b", ConfidenceClass.HYDRATED_EVIDENCE))
    assert verdict(halting, surfaces=("a", "b"), chunks=found) == (
        "at least 1 claim_supporting surface", "1 surface", True,
    )  # fmt: skip
    assert verdict(halting, surfaces=("b",), chunks=found)[2] is False


def test_chunks_are_counted() -> None:
    halting = one(CriterionKind.MIN_CHUNKS, expected=2)
    assert verdict(halting, chunks=chunks(ConfidenceClass.WEAK_HIT)) == ("at least 2 chunks", "1 chunk", False)
    assert verdict(halting, chunks=chunks(ConfidenceClass.WEAK_HIT, ConfidenceClass.CAUTION_ONLY))[2] is True


LADDER = [
    ConfidenceClass.HIT,
    ConfidenceClass.WEAK_HIT,
    ConfidenceClass.SOURCE_BEARING_HIT,
    ConfidenceClass.HYDRATED_EVIDENCE,
    ConfidenceClass.CLAIM_SUPPORTING,
]


@pytest.mark.parametrize("asked", ConfidenceClass)
@pytest.mark.parametrize("has", ConfidenceClass)
def test_a_stronger_class_counts_for_a_weaker_one(asked: Any, has: Any) -> None:
    on_ladder = asked in LADDER and has in LADDER
    expected = LADDER.index(has) >= LADDER.index(asked) if on_ladder else has is asked
    halting = one(CriterionKind.MIN_CLASS, expected=1, confidence=asked)
    assert verdict(halting, chunks=chunks(has)) == (
        f"at least 1 {asked.value} chunk", f"{int(expected)} chunk{'' if expected else 's'}", expected,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "found", "met"),
    [
        ("put", {"Store.put"}, True),
        ("Store.put", {"put"}, True),
        ("rtch.keys.stage_key", {"stage_key"}, True),
        ("Store::put", {"Store.put"}, True),
        ("put", {"input", "put_row", "Store.output"}, False),
        ("put", set(), False),
    ],
)
def test_a_definition_is_found_by_its_symbol_path(asked: Any, found: Any, met: Any) -> None:
    expected, observed, verdict_met = verdict(
        one(CriterionKind.DEFINITION, term=asked), definitions_found=frozenset(found)
    )
    assert expected == f"the definition of {asked!r} in a chunk"
    assert verdict_met is met
    assert observed == (f"found: {next(iter(found))}" if met else "not found")


def test_definitions_without_a_name_are_counted() -> None:
    halting = one(CriterionKind.DEFINITION, expected=2)
    assert verdict(halting, definitions_found=frozenset({"a"})) == ("at least 2 definitions", "1 definition", False)
    assert verdict(halting, definitions_found=frozenset({"a", "b"}))[2] is True


def test_terms_and_seeds_are_found_exactly() -> None:
    assert verdict(one(CriterionKind.REQUIRED_TERM, term="a"), terms_found=frozenset({"b"})) == (
        "'a' in a chunk", "not found", False,
    )  # fmt: skip
    assert verdict(one(CriterionKind.REQUIRED_TERM, term="a"), terms_found=frozenset({"a"}))[1:] == ("found: a", True)
    assert verdict(one(CriterionKind.PER_SEED_COVERAGE, term="a"), covered_seeds=frozenset({"A"})) == (
        "a chunk for the seed 'a'", "not found", False,
    )  # fmt: skip
    assert verdict(one(CriterionKind.PER_SEED_COVERAGE, term="a"), covered_seeds=frozenset({"a"}))[2] is True


@pytest.mark.parametrize(
    ("asked", "surface", "by_block", "by_sentence"),
    [
        ("src/keys.py", "src/keys.py", True, True),
        ("./src/keys.py", "src/keys.py", True, True),
        ("src", "src/keys.py", True, True),
        ("src/", "src/keys.py", True, True),
        ("keys.py", "src/keys.py", False, True),
        ("app/", "src/app/keys.py", False, True),
        ("keys.py", "src/monkeys.py", False, False),
        ("src/keys.p", "src/keys.py", False, False),
        ("src/keys.py", "src/keys.py.bak", False, False),
    ],
)
def test_a_path_is_a_surface_or_its_folder_and_in_a_sentence_its_end(
    asked: Any, surface: Any, by_block: Any, by_sentence: Any
) -> None:
    kind = CriterionKind.REQUIRED_PATH
    assert verdict(one(kind, "block", term=asked), surfaces=(surface,))[2] is by_block
    assert verdict(one(kind, "sentence", term=asked), surfaces=(surface,))[2] is by_sentence


@pytest.mark.parametrize(
    ("cap", "spent", "observed"),
    [
        (False, False, "neither"),
        (True, False, "surface cap reached"),
        (False, True, "read budget spent"),
        (True, True, "surface cap reached and read budget spent"),
    ],
)
def test_the_cap_is_one_or_the_other(cap: Any, spent: Any, observed: Any) -> None:
    halting = one(CriterionKind.CAP_REACHED, "dialect")
    assert verdict(halting, surface_cap_reached=cap, budget_spent=spent) == (CAP_SENTENCE, observed, cap or spent)


def test_prose_alone_is_never_satisfied() -> None:
    everything = replace(NOTHING, surfaces=tuple("abc"), chunks=chunks(*ConfidenceClass), surface_cap_reached=True)
    criteria = judge(compile_halting(intake("we understand it")), everything)
    assert criteria.not_machine_checked == ("we understand it",)
    assert not satisfied(criteria)


def test_satisfied_takes_every_criterion() -> None:
    halting = compile_halting(intake("2 surfaces, 1 chunk and the docs agree"))
    facts = replace(NOTHING, surfaces=("a", "b"))
    assert not satisfied(judge(halting, facts))
    assert satisfied(judge(halting, replace(facts, chunks=chunks(ConfidenceClass.HIT))))


def test_what_is_expected_is_told_before_anything_was_found() -> None:
    halting = compile_halting(intake("2 claim-supporting chunks"))
    assert [expected_of(criterion) for criterion in halting.compiled] == ["at least 2 claim_supporting chunks"]
