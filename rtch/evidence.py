"""What a hit or chunk supports: a pure function of origin, use, pairing, file role and reading.

| class | when |
|---|---|
| hit | located, nothing read; or a term that only presses, and says nothing of the subject |
| weak_hit | generic or exploratory term without a pairing that hits |
| source_bearing_hit | a sourced term, not read |
| hydrated_evidence | a source-bearing hit whose bounded chunk was read |
| claim_supporting | hydrated evidence on a durable handle, explicit seed or manifest key, from a source-of-truth file |
| neighbor_only, caution_only | a neighbour's surface, a caution term |

A generic term never supports a claim, paired or not, and no probe's hit more than the probe's authority.
"""

from __future__ import annotations

from collections.abc import Collection

from rtch.models.basket import Term
from rtch.models.intake import Intake
from rtch.models.plan import ProbeTerm
from rtch.models.vocab import ClaimAuthority, ConfidenceClass, Origin, Use

CLAIMING = frozenset({Origin.DURABLE_HANDLE, Origin.EXPLICIT_SEED, Origin.MANIFEST_KEY})
"""Origins that can support a claim."""

ORDER = {
    ConfidenceClass.CAUTION_ONLY: 0,
    ConfidenceClass.NEIGHBOR_ONLY: 1,
    ConfidenceClass.HIT: 2,
    ConfidenceClass.WEAK_HIT: 3,
    ConfidenceClass.SOURCE_BEARING_HIT: 4,
    ConfidenceClass.HYDRATED_EVIDENCE: 5,
    ConfidenceClass.CLAIM_SUPPORTING: 6,
}
"""Classes by what they support, least first."""

SUPPORTS = {
    ConfidenceClass.HIT: "locates a candidate and supports nothing further",
    ConfidenceClass.WEAK_HIT: "a generic or exploratory word stands here; supports no claim",
    ConfidenceClass.SOURCE_BEARING_HIT: "supports that the term anchors here, not what the text says",
    ConfidenceClass.HYDRATED_EVIDENCE: "supports claims about these lines alone; no declared source of truth",
    ConfidenceClass.CLAIM_SUPPORTING: "supports claims about these lines; whether they are right was not judged",
    ConfidenceClass.NEIGHBOR_ONLY: "supports adjacency, not claims about the target",
    ConfidenceClass.CAUTION_ONLY: "supports nothing without the consumer's judgement",
}
"""What each class supports, and thereby what it does not."""


def stands_beside(path: str, intake: Intake) -> bool:
    """Tell whether a path is, or lies in, a surface that the intake names as a neighbour and not as its target."""
    neighbors = (one.removeprefix("./").rstrip("/") for one in intake.known_neighbor_surfaces)
    return path != intake.known_target and any(path == one or path.startswith(f"{one}/") for one in neighbors)


def classify(  # noqa: PLR0913  each is a column of the table
    term: ProbeTerm | Term,
    authority: ClaimAuthority,
    hitting: Collection[str],
    *,
    read: bool,
    truth: bool,
    beside: bool = False,
) -> ConfidenceClass:
    """Return the class of one term's hit.

    Args:
        term: the term with its origin, use and pairing.
        authority: the most that its probe may support.
        hitting: every term that hits somewhere in the zone.
        read: whether a bounded chunk that holds the hit was read.
        truth: whether the file is a source of truth at that line.
        beside: whether the file is a neighbour (``stands_beside``), whatever term hits there.
    """
    if term.use is Use.CAUTION or term.origin is Origin.CAUTION:
        return ConfidenceClass.CAUTION_ONLY
    if beside or term.use is Use.NEIGHBOR_ONLY or term.origin is Origin.REF_NEIGHBORHOOD:
        return ConfidenceClass.NEIGHBOR_ONLY
    if is_weak(term, hitting):
        return ConfidenceClass.WEAK_HIT
    if term.use is Use.PRESSURE:
        return ConfidenceClass.HIT
    if not read:
        return ConfidenceClass.SOURCE_BEARING_HIT
    claims = term.origin in CLAIMING and not term.generic and authority is ClaimAuthority.CLAIM_SUPPORTING
    return ConfidenceClass.CLAIM_SUPPORTING if claims and truth else ConfidenceClass.HYDRATED_EVIDENCE


def is_weak(term: ProbeTerm | Term, hitting: Collection[str]) -> bool:
    """Tell whether a term is generic or exploratory and nothing that hits stands beside it."""
    if not term.generic and term.origin not in {Origin.EXPLORATORY, Origin.NOISE}:
        return False
    return not any(pair in hitting for pair in term.pairs_with)


def strongest(classes: Collection[ConfidenceClass]) -> ConfidenceClass:
    """Return the class that supports most."""
    return max(classes, key=ORDER.__getitem__)


def at_least(found: ConfidenceClass, least: ConfidenceClass) -> bool:
    """Tell whether one class supports at least what another does."""
    return ORDER[found] >= ORDER[least]
