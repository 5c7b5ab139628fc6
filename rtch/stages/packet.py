"""Stage 7: evidence becomes the findings of a packet, with what it does not answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from rtch.criteria import ChunkFact, EvidenceFacts, required_terms, satisfied
from rtch.criteria import judge as judged
from rtch.evidence import at_least
from rtch.limits import PacketLimits
from rtch.models.basket import Basket, RelativeTime, Term, TermShape
from rtch.models.chunk import GRAMMAR_GIVEN_UP, Caution, Chunk, Hydration
from rtch.models.intake import AcceptedIntake, Criteria
from rtch.models.inventory import InventorySummary, ShapeInventory, Survey
from rtch.models.packet import (
    ClaimEvidenceResult,
    ExecutedPlan,
    FileDigest,
    Findings,
    Fingerprint,
    PacketResult,
    ProbeOutcome,
    Question,
    ReadBudget,
    Result,
    SingleChunkResult,
    TargetReason,
    TargetSetResult,
)
from rtch.models.plan import Probe, ProbePlan, ProbeResult
from rtch.models.vocab import (
    CautionFlag,
    ConfidenceClass,
    ExpectedOutput,
    FanoutLevel,
    HaltingReason,
    MarkerKind,
    MutationRisk,
    QuestionTie,
    SkipReason,
    Use,
    Verdict,
)
from rtch.models.zone import ZoneDescriptor
from rtch.pairing import generic_warnings
from rtch.stages.desk import Desk

_NO_SIGNAL = {
    FanoutLevel.CONSERVATIVE: HaltingReason.NO_SIGNAL_CONSERVATIVE,
    FanoutLevel.NORMAL: HaltingReason.NO_SIGNAL_NORMAL,
    FanoutLevel.WIDE: HaltingReason.NO_SIGNAL_WIDE,
}
_TELLING = frozenset(
    {
        SkipReason.HELD,
        SkipReason.OVERSIZED,
        SkipReason.UNREADABLE,
        SkipReason.TIMEOUT,
        SkipReason.BINARY,
        SkipReason.SECRET,
        SkipReason.VANISHED,
        SkipReason.CHANGED_DURING_RUN,
        SkipReason.NOT_FOUND,
        SkipReason.OUTSIDE_ZONE,
    }
)
"""Reasons for which a skipped surface could still change the answer."""
_LIMITS = {
    SkipReason.SURFACE_CAP: "the surface cap",
    SkipReason.READ_BUDGET: "the read budget",
    SkipReason.TARGET_CUT: "the limits of the plan",
    SkipReason.CRITERIA_MET: "the criteria, which held before they were searched",
    SkipReason.OUT_OF_SCOPE: "the scope",
}


def packet(
    accepted: AcceptedIntake,
    zone: ZoneDescriptor,
    inventory: ShapeInventory,
    survey: Survey,
    plan: ProbePlan,
    results: tuple[ProbeResult, ...],
    evidence: Hydration,
    limits: PacketLimits,
    desk: Desk,
) -> Findings:
    """Put together everything of the packet that is a function of tree, intake and configuration."""
    del desk
    intake = accepted.intake
    criteria = _criteria(accepted, plan, evidence)
    outcomes = _outcomes(plan.probes, results)
    reason, detail = _halting(intake.fanout_level, plan, criteria, evidence, outcomes)
    legal = (*(outcome.probe for outcome in outcomes if not outcome.ran), *plan.next_legal_probes)
    executed = ExecutedPlan(
        plan_id=plan.plan_id,
        fanout_level=plan.fanout_level,
        max_probes=plan.max_probes,
        probes=outcomes,
        remaining_probes=plan.max_probes - sum(outcome.ran for outcome in outcomes),
        dropped=plan.dropped,
        predicted_files=plan.predicted_files,
        predicted_bytes=plan.predicted_bytes,
        predicted_lines=plan.predicted_lines,
    )
    return Findings(
        intake=intake,
        constraint_stack=accepted.constraint_stack,
        zone_descriptor=zone,
        shape_inventory=_summary(inventory, survey),
        candidate_basket=plan.basket,
        probe_plan=executed,
        hydrated_chunks=evidence.chunks,
        selected_surfaces=evidence.surfaces,
        skipped_surfaces=evidence.skipped,
        unresolved_questions=_questions(criteria, executed, evidence, plan.basket)[: limits.max_questions],
        caution_map=_cautions(accepted, zone, survey, plan, outcomes, evidence),
        effective_records=evidence.effective_records,
        holds=evidence.holds,
        next_legal_probes=legal[: plan.max_probes],
        next_legal_probes_cut=max(0, len(legal) - plan.max_probes) + plan.next_legal_probes_cut,
        generic_alone_warnings=generic_warnings(plan.basket.terms),
        fanout_level_used=plan.fanout_level,
        halting_reason=reason,
        halting_detail=detail,
        criteria=criteria,
        read_budget=ReadBudget(
            total=plan.read_budget_lines,
            consumed=evidence.lines_consumed,
            remaining=plan.read_budget_lines - evidence.lines_consumed,
        ),
        fingerprint=Fingerprint(
            listing=zone.listing_fingerprint,
            hydrated=tuple(FileDigest(path=one.path, sha256=one.sha256) for one in evidence.surfaces),
        ),
        ttl_tics=limits.ttl_tics,
        capabilities=zone.capabilities,
        result=_result(intake.expected_output, evidence),
    )


def _summary(inventory: ShapeInventory, survey: Survey) -> InventorySummary:
    return InventorySummary(
        reference=hashlib.sha256(inventory.canonical()).hexdigest(),
        directories=inventory.directories[:50],
        directories_cut=inventory.directories_cut + max(0, len(inventory.directories) - 50),
        roles=inventory.roles,
        scans=(*inventory.scans, *survey.scans),
        files_unread=len(survey.unread),
    )


def _criteria(accepted: AcceptedIntake, plan: ProbePlan, evidence: Hydration) -> Criteria:
    chunks = evidence.chunks
    sourced = [
        surface.path
        for surface in evidence.surfaces
        if at_least(surface.confidence_class, ConfidenceClass.HYDRATED_EVIDENCE)
    ]
    hit = {ref.term for chunk in chunks for ref in chunk.hits}
    texts = [chunk.text.casefold() for chunk in chunks]
    seeds = {term.term for term in plan.basket.terms if term.shape is TermShape.SEED}
    facts = EvidenceFacts(
        surfaces=tuple(sourced),
        chunks=tuple(ChunkFact(chunk.path, chunk.confidence_class) for chunk in chunks),
        terms_found=frozenset(
            term for term in required_terms(accepted.halting) if any(term.casefold() in text for text in texts)
        ),
        definitions_found=frozenset(name for chunk in chunks for name in chunk.defines),
        covered_seeds=frozenset(seed for seed in seeds if seed in hit or _names_any(seed, chunks)),
        surface_cap_reached=evidence.surface_cap_reached or len(evidence.surfaces) >= plan.surface_cap,
        budget_spent=evidence.budget_spent,
    )
    return judged(accepted.halting, facts)


def _names_any(seed: str, chunks: Sequence[Chunk]) -> bool:
    """Tell whether a seed is the path of a chunk's file, or the end of it."""
    tail = seed.removeprefix("./")
    return any(chunk.path == tail or chunk.path.endswith(f"/{tail}") for chunk in chunks)


def _outcomes(probes: Sequence[Probe], results: Iterable[ProbeResult]) -> tuple[ProbeOutcome, ...]:
    found = {result.probe_id: result for result in results}
    return tuple(_outcome(probe, found.get(probe.probe_id)) for probe in probes)


def _outcome(probe: Probe, result: ProbeResult | None) -> ProbeOutcome:
    if result is None:
        return ProbeOutcome(probe=probe, ran=False, hit_count=0, paths_hit=0, files_searched=0, bytes_searched=0)
    return ProbeOutcome(
        probe=probe,
        ran=True,
        hit_count=result.hit_count,
        paths_hit=len({hit.path for hit in result.hits}),
        files_searched=result.files_searched,
        bytes_searched=result.bytes_searched,
        truncated=result.truncated,
        timed_out=result.timed_out,
        errors=result.errors,
    )


def _halting(
    level: FanoutLevel,
    plan: ProbePlan,
    criteria: Criteria,
    evidence: Hydration,
    outcomes: Sequence[ProbeOutcome],
) -> tuple[HaltingReason, str]:
    """Return why no more is looked for: enough was found, or the declared plan is spent, or nothing came of it."""
    idle = sum(not outcome.ran for outcome in outcomes)
    if not evidence.chunks:
        failed = [outcome.probe.probe_id for outcome in outcomes if outcome.timed_out or outcome.errors]
        detail = "no probe led to a chunk"
        return _NO_SIGNAL[level], detail + (f"; incomplete: {', '.join(failed)}" if failed else "")
    if satisfied(criteria):
        return HaltingReason.SATISFIED, f"every compiled criterion is met; {idle} declared probes did not have to run"
    unmet = "; ".join(one.expected for one in criteria.compiled if one.verdict is Verdict.UNMET)
    lacking = f"unmet: {unmet}" if unmet else "nothing of the definition can be checked by machine"
    spent = f"{len(outcomes) - idle} of {len(outcomes)} declared probes have run"
    lines = f"{evidence.lines_consumed} of {plan.read_budget_lines} lines are read"
    return HaltingReason.BUDGET_EXHAUSTED, f"partial_evidence: {lacking}; {spent}, {lines}"


def _result(expected: ExpectedOutput, evidence: Hydration) -> Result:
    chunks = evidence.chunks
    if expected is ExpectedOutput.TARGET_SET:
        return TargetSetResult(targets=tuple(TargetReason(path=s.path, reason=s.why) for s in evidence.surfaces))
    if expected is ExpectedOutput.SINGLE_CHUNK:
        best = _best_chunk(evidence)
        note = "the best chunk of the best surface" if best else "none: no chunk was hydrated"
        return SingleChunkResult(chunk_id=best, note=note)
    if expected is ExpectedOutput.CLAIM_EVIDENCE:
        ids = tuple(c.chunk_id for c in chunks if c.confidence_class is ConfidenceClass.CLAIM_SUPPORTING)
        note = (
            f"{len(ids)} of {len(chunks)} chunks may support a claim" if ids else "none: no chunk may support a claim"
        )
        return ClaimEvidenceResult(chunk_ids=ids, note=note)
    return PacketResult(surfaces=len(evidence.surfaces), chunks=len(chunks))


def _best_chunk(evidence: Hydration) -> str | None:
    if not evidence.surfaces:
        return None
    return evidence.surfaces[0].chunks[0]


def _questions(criteria: Criteria, plan: ExecutedPlan, evidence: Hydration, basket: Basket) -> tuple[Question, ...]:
    questions = [
        Question(
            question=f"The definition is not met: expected {one.expected}, observed {one.observed}; what is missing?",
            tied_to=QuestionTie.CRITERION,
            reference=one.kind,
        )
        for one in criteria.compiled
        if one.verdict is Verdict.UNMET
    ]
    questions += [
        Question(question=f"Not checked by machine: {clause}", tied_to=QuestionTie.CRITERION, reference="sentence")
        for clause in criteria.not_machine_checked
    ]
    questions += _about_times(basket.relative_times)
    questions += _about_probes(plan)
    questions += _about_words(basket.terms, evidence.chunks)
    questions += [
        Question(
            question=f"{one.path} was not read ({', '.join(filter(None, (one.reason, one.detail)))}): would it matter?",
            tied_to=QuestionTie.SKIPPED_SURFACE,
            reference=one.path,
        )
        for one in evidence.skipped
        if one.reason in _TELLING
    ][:12]
    questions += _about_limits(evidence)
    return tuple(questions) or (
        Question(
            question="Every compiled criterion is met; does the evidence answer the goal, as its reader judges it?",
            tied_to=QuestionTie.LIMIT,
            reference="goal",
        ),
    )


def _about_limits(evidence: Hydration) -> Iterable[Question]:
    for reason, limit in _LIMITS.items():
        count = sum(one.count for one in evidence.skipped if one.reason is reason)
        if count:
            held = "1 surface with hits was" if count == 1 else f"{count} surfaces with hits were"
            yield Question(
                question=f"{held} not read because of {limit}: do the first ones suffice?",
                tied_to=QuestionTie.LIMIT,
                reference=reason,
            )


def _about_times(times: Iterable[RelativeTime]) -> Iterable[Question]:
    for one in times:
        if one.called:
            text = f"“{one.said}” is taken for {one.called}, {one.because}: is that what was meant?"
        else:
            text = f"“{one.said}” is no time that was looked for: {one.because}; which tic or date is meant?"
        yield Question(question=text, tied_to=QuestionTie.LIMIT, reference=one.said)


def _about_probes(plan: ExecutedPlan) -> Iterable[Question]:
    for outcome in plan.probes:
        if outcome.ran and not outcome.hit_count:
            words = ", ".join(outcome.probe.input_terms)
            why = "it did not come to its end" if outcome.timed_out or outcome.errors else "is it named otherwise here"
            yield Question(
                question=f"{outcome.probe.family} found nothing for {words}: {why}?",
                tied_to=QuestionTie.ZERO_HIT_PROBE,
                reference=outcome.probe.probe_id,
            )


def _about_words(terms: Sequence[Term], chunks: Sequence[Chunk]) -> Iterable[Question]:
    hit = {ref.term for chunk in chunks for ref in chunk.hits}
    for term in terms:
        if term.use is Use.EXPLORATORY and term.term in hit:
            yield Question(
                question=f"{term.term} is no name that the tree knows; do the lines that hold it mean the same?",
                tied_to=QuestionTie.EXPLORATORY_HIT,
                reference=term.term,
            )
        elif term.shape is TermShape.SEED and term.term not in hit and not _names_any(term.term, chunks):
            yield Question(
                question=f"The seed {term.term} stands in no chunk: is it spelled otherwise, or elsewhere?",
                tied_to=QuestionTie.ZERO_HIT_PROBE,
                reference=term.term,
            )


def _cautions(
    accepted: AcceptedIntake,
    zone: ZoneDescriptor,
    survey: Survey,
    plan: ProbePlan,
    outcomes: Sequence[ProbeOutcome],
    evidence: Hydration,
) -> tuple[Caution, ...]:
    shown = {surface.path for surface in evidence.surfaces}
    found = [Caution(path=".", flag=CautionFlag.CONSTRAINT_STACK, note=note) for note in accepted.constraint_stack]
    risk = accepted.intake.mutation_risk
    if risk is not MutationRisk.READ_ONLY:
        found += [
            Caution(path=path, flag=CautionFlag.MUTATION_RISK, note=f"{risk}: read it whole before you change it")
            for path in sorted(shown)
        ]
    found += [Caution(path=one.path, flag=one.flag, note=one.note) for one in zone.cautions]
    found += [Caution(path=one.path, flag=one.flag, note=one.note) for one in plan.cautions]
    found += [
        Caution(path=one.path, flag=one.flag, note=one.detail, line=one.line)
        for one in survey.problems
        if one.path in shown
    ]
    found += [
        Caution(
            path=one.path, flag=CautionFlag.DEPRECATED, note="speaks of deprecation or supersession", line=one.lines[0]
        )
        for one in survey.marked
        if one.kind is MarkerKind.DEPRECATION and one.path in shown and one.lines
    ]
    found += [_incomplete(outcome) for outcome in outcomes if outcome.truncated or outcome.timed_out or outcome.errors]
    note = "its grammar would take too long; its definitions are known by pattern alone"
    found += [
        Caution(path=chunk.path, flag=CautionFlag.COST_CEILING, note=note)
        for chunk in evidence.chunks
        if GRAMMAR_GIVEN_UP in chunk.tags
    ]
    found += evidence.cautions
    return tuple(dict.fromkeys(found))


def _incomplete(outcome: ProbeOutcome) -> Caution:
    if outcome.timed_out:
        flag, what = CautionFlag.TIMEOUT, "ran out of time"
    elif outcome.errors:
        flag, what = CautionFlag.SEARCH_INCOMPLETE, f"could not search {len(outcome.errors)} of its targets"
    else:
        flag, what = CautionFlag.COST_CEILING, "reached its limit of hits in some files"
    return Caution(path=".", flag=flag, note=f"{outcome.probe.probe_id} ({outcome.probe.family}) {what}")
