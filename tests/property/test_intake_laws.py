"""Laws of requests: nothing crashes, nothing is lost, nothing illegal comes through."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rtch.criteria import ChunkFact, EvidenceFacts, compile_halting, judge, required_terms, satisfied
from rtch.errors import IntakeError
from rtch.halting_grammar import read_sentence
from rtch.intake_io import build_intake, dump_intake, parse_intake
from rtch.legality import violation
from rtch.models.intake import AcceptedIntake, Intake
from rtch.models.vocab import (
    ConfidenceClass,
    Dialect,
    ExpectedOutput,
    FanoutLevel,
    Investigation,
    MutationRisk,
    Scope,
    TargetProfile,
)
from rtch.plain_data import read_plain
from rtch.stages.intake import intake as accept

LAW = settings(deadline=None, max_examples=60)

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40).filter(str.strip)
TERM = TEXT.filter(lambda text: "\n" not in text.strip())
TERMS = st.lists(TERM, max_size=4)
WORDS = st.sampled_from(
    [
        *(
            "at least",
            "3",
            "5+",
            "one",
            "more than",
            "between 1 and",
            "each",
            "every seed",
            "the known target",
            "no",
            "or",
        ),
        *(
            "surfaces",
            "files",
            "definition of",
            "claim-supporting",
            "chunk",
            "hydrated",
            "is covered",
            "if",
            "and",
            ",",
            ";",
        ),
        *("`stage_key`", "StageKey", "rtch/keys.py", '"quoted text"', "'", "`", ".", "per"),
    ]
)
SENTENCE = st.one_of(st.lists(WORDS, min_size=1, max_size=20).map(" ".join), TEXT)


def words(closed: Any) -> st.SearchStrategy[str]:
    return st.sampled_from([member.value for member in closed])


REQUESTS = st.fixed_dictionaries(
    {
        "goal": TEXT,
        "target_profile": words(TargetProfile),
        "fanout_level": words(FanoutLevel),
        "mutation_risk": words(MutationRisk),
        "expected_output": words(ExpectedOutput),
        "enough_evidence_definition": SENTENCE,
    },
    optional={
        "known_target": TEXT,
        "explicit_seeds": TERMS,
        "forbidden_assumptions": TERMS,
        "known_neighbor_surfaces": st.lists(TEXT, max_size=3),
        "scope": words(Scope),
        "read_budget": st.integers(1, 1_000_000),
        "investigation": words(Investigation),
    },
)
SIDECARS = st.fixed_dictionaries(
    {
        "goal": TEXT,
        "seeds": TERMS,
        "profile": st.sampled_from(["narrow", "mixed", "broad"]),
        "fanout": st.sampled_from(["conservative", "moderate", "aggressive"]),
        "mutation_risk": st.sampled_from(["read_only", "local_mutation", "cross_repo_mutation"]),
    }
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


def built(request: dict[str, object], **more: Any) -> Intake | None:
    try:
        return build_intake(request, **more)
    except IntakeError:
        return None


@LAW
@given(REQUESTS)
def test_what_is_built_is_legal_and_what_is_refused_is_not(request: dict[str, object]) -> None:
    intake = built(request)
    if intake is not None:
        assert violation(intake) == ""
        assert AcceptedIntake.parse(accept(intake).canonical()) == accept(intake)
    else:
        assert built(request | {"fanout_level": "conservative"}) is not None


@LAW
@given(SIDECARS)
def test_every_sidecar_request_is_made_legal_with_its_cap(block: dict[str, object]) -> None:
    intake = build_intake({"intent": block})
    assert violation(intake) == ""
    assert intake.surface_cap == {"conservative": 3, "moderate": 7, "aggressive": 15}[str(block["fanout"])]
    assert intake == build_intake(block, dialect=Dialect.SIDECAR)
    assert satisfied_with(intake, cap=True)
    assert not satisfied_with(intake, cap=False)


def satisfied_with(intake: Intake, *, cap: bool) -> bool:
    halting = compile_halting(intake)
    return satisfied(judge(halting, facts(surface_cap_reached=cap)))


def facts(**changed: Any) -> EvidenceFacts:
    nothing: dict[str, Any] = {
        "surfaces": (), "chunks": (), "terms_found": frozenset(), "definitions_found": frozenset(),
        "covered_seeds": frozenset(), "surface_cap_reached": False, "budget_spent": False,
    }  # fmt: skip
    return EvidenceFacts(**(nothing | changed))


@LAW
@given(REQUESTS | SIDECARS.map(lambda block: {"intent": block}))
def test_what_is_written_is_read_back(request: dict[str, object]) -> None:
    intake = built(request)
    if intake is not None:
        assert parse_intake(dump_intake(intake).encode(), name="F") == intake
        assert build_intake(intake.model_dump(mode="json")) == intake
        assert Intake.parse(intake.canonical()) == intake


@LAW
@given(REQUESTS)
def test_json_and_yaml_and_plain_values_are_one_request(request: dict[str, object]) -> None:
    by_json = json.dumps(request).encode()
    assert built(request) == read_or_none(by_json)


def read_or_none(source: bytes) -> Intake | None:
    try:
        return parse_intake(source, name="F")
    except IntakeError:
        return None


@LAW
@given(st.dictionaries(st.text(max_size=12) | st.sampled_from(sorted(Intake.model_fields)), ANYTHING, max_size=6))
def test_any_plain_values_are_an_intake_or_a_sentence(request: dict[str, object]) -> None:
    refusal = refusal_of(lambda: build_intake(request, name="F"))
    assert refusal is None or refusal.startswith("F")
    assert "\x1b" not in (refusal or "")


@LAW
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_plain_values_or_a_sentence(source: bytes) -> None:
    refusal = refusal_of(lambda: read_plain(source, name="F"))
    if refusal is None:
        fields = read_plain(source, name="F").fields
        assert json.loads(json.dumps(fields)) == fields
    else:
        assert refusal.startswith("F")


def refusal_of(call: Callable[[], object]) -> str | None:
    try:
        call()
    except IntakeError as error:
        return str(error)
    return None


@LAW
@given(SENTENCE, TERMS)
def test_no_word_of_a_halting_sentence_is_lost(sentence: str, seeds: list[str]) -> None:
    """Each clause is the person's own words, and whole clauses alone are left out of what is not checked."""
    clauses = read_sentence(sentence, seeds=tuple(seeds))
    position = 0
    for clause in clauses:
        found = sentence.find(clause.text, position)
        assert found >= 0
        position = found + len(clause.text)
        assert clause.criteria or not clause.whole


@LAW
@given(SENTENCE, TERMS, st.lists(st.sampled_from(ConfidenceClass), max_size=6))
def test_prose_alone_is_never_satisfied_and_more_evidence_never_unsatisfies(
    sentence: str, seeds: list[str], classes: list[ConfidenceClass]
) -> None:
    request = build_intake(
        {
            "goal": "g", "target_profile": "mixed", "fanout_level": "normal", "mutation_risk": "read_only",
            "expected_output": "hydration_packet", "enough_evidence_definition": sentence, "explicit_seeds": seeds,
        }
    )  # fmt: skip
    halting = compile_halting(request)
    chunks = tuple(ChunkFact(f"{place}.py", one) for place, one in enumerate(classes))
    some = facts(surfaces=tuple(chunk.path for chunk in chunks), chunks=chunks)
    more = facts(
        surfaces=(*some.surfaces, "rtch/keys.py", "x.py"),
        chunks=(*chunks, ChunkFact("x.py", ConfidenceClass.CLAIM_SUPPORTING)),
        terms_found=frozenset(required_terms(halting)),
        covered_seeds=frozenset(seeds),
        surface_cap_reached=True,
    )
    assert not satisfied(judge(halting, facts()))
    if not halting.compiled:
        assert halting.not_machine_checked
        assert not satisfied(judge(halting, more))
    if satisfied(judge(halting, some)):
        assert satisfied(judge(halting, more))
