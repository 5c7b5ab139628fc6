"""Between waves: do the criteria hold with what was found so far, so that the rest need not run?

Only hits are known here. A criterion that asks for read chunks counts the surfaces on which they
would be read; the packet judges again on what was read.
"""

from __future__ import annotations

from collections import defaultdict

from rtch.criteria import ChunkFact, EvidenceFacts, required_terms, satisfied
from rtch.criteria import judge as judged
from rtch.evidence import classify, stands_beside, strongest
from rtch.limits import JudgeLimits
from rtch.models.basket import TermShape
from rtch.models.intake import AcceptedIntake
from rtch.models.plan import ProbePlan, ProbeResult, WaveVerdict
from rtch.models.vocab import ConfidenceClass
from rtch.stages.desk import Desk
from rtch.symbols import is_code


def judge(
    accepted: AcceptedIntake, plan: ProbePlan, results: tuple[ProbeResult, ...], limits: JudgeLimits, desk: Desk
) -> WaveVerdict:
    """Judge the compiled criteria on the hits of the waves that have run."""
    del limits, desk
    probes = {probe.probe_id: probe for probe in plan.probes}
    wave = max((probes[result.probe_id].wave for result in results), default=0)
    hitting = frozenset(hit.term for result in results for hit in result.hits)
    classes: dict[str, set[ConfidenceClass]] = defaultdict(set)
    for result in results:
        probe = probes[result.probe_id]
        terms = {term.term: term for term in probe.terms}
        for hit in result.hits:
            beside = stands_beside(hit.path, accepted.intake)
            found = classify(terms[hit.term], probe.claim_authority, hitting, read=True, truth=False, beside=beside)
            classes[hit.path].add(found)
    best = {path: strongest(found) for path, found in classes.items()}
    counted = [path for path, found in best.items() if found is ConfidenceClass.HYDRATED_EVIDENCE]
    seeds = {term.term for term in plan.basket.terms if term.shape is TermShape.SEED}
    wanted = required_terms(accepted.halting)
    defined = {hit.term for result in results for hit in result.hits if hit.structural and is_code(hit.path)}
    facts = EvidenceFacts(
        surfaces=tuple(sorted(counted)),
        chunks=tuple(ChunkFact(path, ConfidenceClass.HYDRATED_EVIDENCE) for path in counted),
        terms_found=frozenset(term for term in wanted if term in hitting),
        definitions_found=frozenset(defined),
        covered_seeds=frozenset(seeds & hitting),
        surface_cap_reached=len(counted) >= plan.surface_cap,
        budget_spent=False,
    )
    criteria = judged(accepted.halting, facts)
    met = satisfied(criteria)
    because = "; ".join(f"{one.expected}: {one.observed}" for one in criteria.compiled)
    return WaveVerdict(wave=wave, satisfied=met, because=because or "nothing of the definition is machine-checked")
