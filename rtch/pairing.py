"""What the cost dry run settles: which terms are generic here, and whether what pairs with them really hits."""

from __future__ import annotations

from collections.abc import Iterable

from rtch.limits import Words
from rtch.models.basket import Basket, GenericWarning, Term, TermShape
from rtch.models.plan import CostEstimate
from rtch.models.vocab import Origin, Use

_MOST_PAIRS = 8
_COUNTED = frozenset({TermShape.WORD, TermShape.JOINED})


def settled(basket: Basket, cost: CostEstimate, words: Words) -> Basket:
    """Return the basket as the counts leave it.

    A goal word in more than ``words.generic_share`` of the files searched is generic; a generic term
    is paired with the terms that are not, have a source and hit, and without one it is exploratory.
    """
    terms = [_common(term, cost.files_with(term.term), cost.files_searched, words) for term in basket.terms]
    strong = tuple(
        term.term
        for term in terms
        if not term.generic and term.weight > 0 and _sourced(term) and cost.files_with(term.term)
    )
    return basket.model_copy(update={"terms": tuple(_paired(term, strong) for term in terms)})


def _common(term: Term, files: int, searched: int, words: Words) -> Term:
    if term.generic or term.shape not in _COUNTED or searched < words.generic_min_files:
        return term
    if files <= words.generic_share * searched:
        return term
    why = f"in {files} of {searched} files"
    return term.model_copy(update={"generic": True, "why_generic": why})


def _sourced(term: Term) -> bool:
    return term.origin not in {Origin.EXPLORATORY, Origin.CAUTION, Origin.REF_NEIGHBORHOOD, Origin.NOISE}


def _paired(term: Term, strong: tuple[str, ...]) -> Term:
    if not term.generic:
        return term
    pairs = tuple(one for one in strong if one != term.term)[:_MOST_PAIRS]
    changes: dict[str, object] = {"pairs_with": pairs}
    if not pairs:
        changes |= {"origin": Origin.EXPLORATORY, "use": Use.EXPLORATORY}
    return term.model_copy(update=changes)


def generic_warnings(terms: Iterable[Term]) -> tuple[GenericWarning, ...]:
    """Return a warning for each generic term that stands alone."""
    return tuple(
        GenericWarning(
            term=term.term,
            warning=f"{term.term} is generic ({term.why_generic}) and nothing strong that hits stands beside it",
        )
        for term in terms
        if term.generic and not term.pairs_with
    )
