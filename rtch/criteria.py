"""The halting definition as checks, and the checks as verdicts.

An ``enough_evidence`` block is taken as it stands; without one the person's sentence is compiled by
``halting_grammar``. What no machine can check is carried along in the person's own words. A definition that
compiles to nothing is never satisfied, however much was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, assert_never

from rtch.dialects import CAP_SENTENCE
from rtch.errors import IntakeError
from rtch.halting_grammar import Clause, read_sentence
from rtch.models.intake import CompiledCriterion, Criteria, EnoughEvidence, Halting, Intake, JudgedCriterion
from rtch.models.vocab import ConfidenceClass, CriterionKind, Dialect, Verdict

MAX_CRITERIA = 200
"""Of one sentence; a clause that would go past it is kept as not machine checked."""

_LADDER = (
    ConfidenceClass.HIT,
    ConfidenceClass.WEAK_HIT,
    ConfidenceClass.SOURCE_BEARING_HIT,
    ConfidenceClass.HYDRATED_EVIDENCE,
    ConfidenceClass.CLAIM_SUPPORTING,
)
"""Each counts where an earlier one is asked for; neighbour and caution classes count for themselves alone."""


class ChunkFact(NamedTuple):
    """What a criterion may count of one chunk that was read."""

    path: str
    confidence: ConfidenceClass


@dataclass(frozen=True, slots=True)
class EvidenceFacts:
    """What was found, as far as a criterion asks; none has a default, for a fact left out would read as nothing found.

    Attributes:
        surfaces: paths of the selected surfaces.
        chunks: the hydrated chunks.
        terms_found: those of ``required_terms(halting)`` that stand in a hydrated chunk's text.
        definitions_found: symbol paths (``Class.method``) that the plan sought and whose definition lies in a
            hydrated chunk.
        covered_seeds: explicit seeds that a hydrated chunk was selected by.
        surface_cap_reached: whether no further surface may be selected.
        budget_spent: whether no further line may be read.
    """

    surfaces: tuple[str, ...]
    chunks: tuple[ChunkFact, ...]
    terms_found: frozenset[str]
    definitions_found: frozenset[str]
    covered_seeds: frozenset[str]
    surface_cap_reached: bool
    budget_spent: bool


def compile_halting(intake: Intake) -> Halting:
    """Return the intake's halting definition as criteria, and the clauses that are not machine checked.

    Raises:
        IntakeError: the block asks that each seed be covered, and there is none.
    """
    exact = _from_block(intake)
    by_dialect = intake.dialect is Dialect.SIDECAR and _is_cap_sentence(intake.enough_evidence_definition)
    if exact:
        return Halting(compiled=exact, not_machine_checked=() if by_dialect else _unsaid(intake, exact))
    if _is_cap_sentence(intake.enough_evidence_definition):
        source: Literal["dialect", "sentence"] = "dialect" if by_dialect else "sentence"
        return Halting(compiled=(CompiledCriterion(kind=CriterionKind.CAP_REACHED, source=source),))
    return _from_sentence(intake)


def required_terms(halting: Halting) -> tuple[str, ...]:
    """Return the terms that must stand in a hydrated chunk, each once, in order."""
    return _terms(halting, CriterionKind.REQUIRED_TERM)


def required_definitions(halting: Halting) -> tuple[str, ...]:
    """Return the names whose definition must lie in a hydrated chunk, each once, in order."""
    return _terms(halting, CriterionKind.DEFINITION)


def judge(halting: Halting, facts: EvidenceFacts) -> Criteria:
    """Return a verdict for each criterion, in order, with what was expected and observed in words."""
    return Criteria(
        compiled=tuple(_judged(criterion, facts) for criterion in halting.compiled),
        not_machine_checked=halting.not_machine_checked,
    )


def satisfied(criteria: Criteria) -> bool:
    """Say whether there is a criterion and all of them are met; prose alone never is."""
    return bool(criteria.compiled) and all(one.verdict is Verdict.MET for one in criteria.compiled)


def _from_block(intake: Intake) -> tuple[CompiledCriterion, ...]:
    block = intake.enough_evidence
    if block is None:
        return ()
    if block.per_seed_coverage and not intake.explicit_seeds:
        raise IntakeError(
            "enough_evidence.per_seed_coverage is true, and there are no explicit_seeds", hint="name a seed"
        )
    return tuple(_block_criteria(block, intake.explicit_seeds))


def _block_criteria(block: EnoughEvidence, seeds: Iterable[str]) -> Iterable[CompiledCriterion]:
    if block.min_surfaces is not None:
        yield CompiledCriterion(kind=CriterionKind.MIN_SURFACES, expected=block.min_surfaces, source="block")
    if block.min_claim_supporting is not None:
        yield CompiledCriterion(
            kind=CriterionKind.MIN_CLASS,
            expected=block.min_claim_supporting,
            confidence=ConfidenceClass.CLAIM_SUPPORTING,
            source="block",
        )
    for term in dict.fromkeys(block.required_terms):
        yield CompiledCriterion(kind=CriterionKind.REQUIRED_TERM, term=term, source="block")
    for path in dict.fromkeys(block.required_paths):
        yield CompiledCriterion(kind=CriterionKind.REQUIRED_PATH, term=path, source="block")
    if block.per_seed_coverage:
        for seed in dict.fromkeys(seeds):
            yield CompiledCriterion(kind=CriterionKind.PER_SEED_COVERAGE, term=seed, source="block")


def _clauses(intake: Intake) -> tuple[Clause, ...]:
    sentence = intake.enough_evidence_definition
    clauses = read_sentence(sentence, seeds=intake.explicit_seeds, known_target=intake.known_target)
    return clauses or (Clause(sentence),)


def _from_sentence(intake: Intake) -> Halting:
    compiled: dict[CompiledCriterion, None] = {}
    unchecked: list[str] = []
    for clause in _clauses(intake):
        fits = len(compiled.keys() | set(clause.criteria)) <= MAX_CRITERIA
        if fits:
            compiled |= dict.fromkeys(clause.criteria)
        if not (fits and clause.whole):
            unchecked.append(clause.text)
    return Halting(compiled=tuple(compiled), not_machine_checked=tuple(unchecked))


def _unsaid(intake: Intake, exact: Iterable[CompiledCriterion]) -> tuple[str, ...]:
    """Return the clauses of the sentence that ask for more than the kinds of thing the block asks for."""
    held = {(one.kind, one.term, one.confidence) for one in exact}
    return tuple(
        clause.text
        for clause in _clauses(intake)
        if not clause.whole or any((one.kind, one.term, one.confidence) not in held for one in clause.criteria)
    )


def _is_cap_sentence(sentence: str) -> bool:
    return " ".join(sentence.casefold().rstrip(".! ").split()) == CAP_SENTENCE


def _terms(halting: Halting, kind: CriterionKind) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.term for one in halting.compiled if one.kind is kind and one.term))


def expected_of(criterion: CompiledCriterion) -> str:  # noqa: PLR0911  one row a kind
    """Return in words what a criterion asks for."""
    kind, term, least = criterion.kind, criterion.term, criterion.expected
    adjective = f"{criterion.confidence.value} " if criterion.confidence else ""
    match kind:
        case CriterionKind.MIN_SURFACES:
            return f"at least {_counted(least, f'{adjective}surface')}"
        case CriterionKind.MIN_CHUNKS | CriterionKind.MIN_CLASS:
            return f"at least {_counted(least, f'{adjective}chunk')}"
        case CriterionKind.DEFINITION:
            return f"the definition of {term!r} in a chunk" if term else f"at least {_counted(least, 'definition')}"
        case CriterionKind.REQUIRED_TERM:
            return f"{term!r} in a chunk"
        case CriterionKind.REQUIRED_PATH:
            return f"{term!r} among the surfaces"
        case CriterionKind.PER_SEED_COVERAGE:
            return f"a chunk for the seed {term!r}"
        case CriterionKind.CAP_REACHED:
            return CAP_SENTENCE
        case _:
            assert_never(kind)


def _judged(criterion: CompiledCriterion, facts: EvidenceFacts) -> JudgedCriterion:
    observed, met = _observe(criterion, facts)
    verdict = Verdict.MET if met else Verdict.UNMET
    return JudgedCriterion(kind=criterion.kind, expected=expected_of(criterion), observed=observed, verdict=verdict)


def _observe(criterion: CompiledCriterion, facts: EvidenceFacts) -> tuple[str, bool]:  # noqa: PLR0911  one row a kind
    """Return what was observed, in words, and whether it meets the criterion."""
    kind, term, least = criterion.kind, criterion.term, criterion.expected
    match kind:
        case CriterionKind.MIN_SURFACES:
            return _enough(_surfaces(criterion.confidence, facts), least, "surface")
        case CriterionKind.MIN_CHUNKS | CriterionKind.MIN_CLASS:
            count = sum(_reaches(chunk.confidence, criterion.confidence) for chunk in facts.chunks)
            return _enough(count, least, "chunk")
        case CriterionKind.DEFINITION if not term:
            return _enough(len(facts.definitions_found), least, "definition")
        case CriterionKind.DEFINITION:
            return _found(name for name in facts.definitions_found if _same_symbol(term, name))
        case CriterionKind.REQUIRED_TERM:
            return _found(found for found in facts.terms_found if found == term)
        case CriterionKind.REQUIRED_PATH:
            return _found(path for path in facts.surfaces if _same_path(criterion, path))
        case CriterionKind.PER_SEED_COVERAGE:
            return _found(seed for seed in facts.covered_seeds if seed == term)
        case CriterionKind.CAP_REACHED:
            reached = ["surface cap reached"] * facts.surface_cap_reached + ["read budget spent"] * facts.budget_spent
            return " and ".join(reached) or "neither", bool(reached)
        case _:
            assert_never(kind)


def _enough(count: int, least: int, noun: str) -> tuple[str, bool]:
    return _counted(count, noun), count >= least


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _found(matching: Iterable[str]) -> tuple[str, bool]:
    first = min(matching, default=None)
    return ("not found", False) if first is None else (f"found: {first}", True)


def _surfaces(confidence: ConfidenceClass | None, facts: EvidenceFacts) -> int:
    if confidence is None:
        return len(set(facts.surfaces))
    good = {chunk.path for chunk in facts.chunks if _reaches(chunk.confidence, confidence)}
    return len(good & set(facts.surfaces))


def _reaches(has: ConfidenceClass, asked: ConfidenceClass | None) -> bool:
    if asked is None or has is asked:
        return True
    return has in _LADDER and asked in _LADDER and _LADDER.index(has) >= _LADDER.index(asked)


def _same_symbol(asked: str, found: str) -> bool:
    """Say whether two dotted names are one symbol, either of them possibly qualified further than the other."""
    short, long = sorted((re.sub(r"::|#", ".", asked), re.sub(r"::|#", ".", found)), key=len)
    return long == short or long.endswith(f".{short}")


def _same_path(criterion: CompiledCriterion, path: str) -> bool:
    """Say whether a surface is the path asked for, or lies in the folder asked for.

    A block's path is from the zone root; in a sentence the end of a path names it, too.
    """
    asked = criterion.term.removeprefix("./").rstrip("/")
    if path == asked or path.startswith(f"{asked}/"):
        return True
    return criterion.source == "sentence" and (path.endswith(f"/{asked}") or f"/{asked}/" in f"/{path}")
