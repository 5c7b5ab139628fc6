"""Stage 4: the request becomes typed terms, by its words alone.

What the tree knows of them is told later, when it is known which files hold them (``grounding``): until
then a word of the goal is exploratory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rtch.goal import SEED_WEIGHT, Piece, decompose
from rtch.limits import BasketLimits
from rtch.models.basket import Basket, RelativeTime, Term, TermShape, TimeOrigin
from rtch.models.intake import AcceptedIntake, Intake
from rtch.models.vocab import Origin, Use
from rtch.relative_times import absolute
from rtch.stages.desk import Desk
from rtch.tics import LastTic
from rtch.words import beginning, joined, last_name, parts, stem


def basket(accepted: AcceptedIntake, origin: TimeOrigin, limits: BasketLimits, desk: Desk) -> Basket:
    """Turn goal, seeds, target, neighbours and assumptions into terms.

    Returns:
        Terms as they stood in the request, seeds first, then the goal's by weight; at most
        ``limits.max_terms``, and the rest counted.
    """
    del desk
    intake = accepted.intake
    read = absolute(intake.goal, None if origin.tic is None else LastTic(origin.tic, origin.date))
    goal = decompose(read.text, frozenset(limits.words.stop.split()))
    seeds = [_seed(text, limits) for text in dict.fromkeys(intake.explicit_seeds)]
    named = {joined(term.term) for term in seeds}
    words = [_goal_term(piece, limits) for piece in goal.pieces if joined(piece.text) not in named]
    others = [*_target(intake), *_neighbors(intake), *_assumptions(intake, limits)]
    kept = [*seeds, *others, *sorted(words, key=lambda term: -term.weight)][: limits.max_terms]
    return Basket(
        terms=tuple(kept),
        frames=goal.frames,
        noise=goal.stopped,
        terms_cut=len(seeds) + len(others) + len(words) - len(kept),
        relative_times=tuple(RelativeTime(said=one.said, called=one.called, because=one.because) for one in read.times),
    )


def _seed(text: str, limits: BasketLimits) -> Term:
    return Term(
        term=text,
        shape=TermShape.SEED,
        origin=Origin.EXPLICIT_SEED,
        use=Use.HYDRATE,
        weight=SEED_WEIGHT,
        variants=variants(text, limits.max_variants),
    )


def _goal_term(piece: Piece, limits: BasketLimits) -> Term:
    return Term(
        term=piece.text,
        shape=piece.shape,
        origin=Origin.EXPLORATORY,
        use=Use.EXPLORATORY,
        weight=piece.weight,
        variants=variants(piece.text, limits.max_variants),
    )


def variants(text: str, most: int) -> tuple[str, ...]:
    """Return the spellings searched beside a term: other separators of a name, the beginning of a word."""
    lower = text.lower()
    pieces = parts(text)
    if re.fullmatch(r"[^\W\d_]+", text) and len(pieces) == 1:
        spellings = [beginning(stem(lower))]
    elif re.fullmatch(r"[\w-]+", text):
        spellings = [sep.join(pieces) for sep in ("_", "-", "")] if len(pieces) > 1 else []
    elif re.fullmatch(r"[A-Za-z]+ (?:[A-Za-z]+|\d+)", text):
        first, second = lower.split(" ")
        spellings = [f"{first}{sep}{beginning(stem(second))}" for sep in (" ", "_", "-", "")]
    else:
        spellings = [last_name(text)]
    return tuple(dict.fromkeys(one for one in spellings if one.lower() != lower))[:most]


def _target(intake: Intake) -> Iterable[Term]:
    if intake.known_target:
        yield Term(
            term=intake.known_target, shape=TermShape.TARGET, origin=Origin.FILE_PATH, use=Use.HYDRATE, weight=0.0
        )


def _neighbors(intake: Intake) -> Iterable[Term]:
    for path in intake.known_neighbor_surfaces:
        yield Term(
            term=path, shape=TermShape.NEIGHBOR, origin=Origin.REF_NEIGHBORHOOD, use=Use.NEIGHBOR_ONLY, weight=0.0
        )


def _assumptions(intake: Intake, limits: BasketLimits) -> Iterable[Term]:
    for text in intake.forbidden_assumptions:
        yield Term(
            term=text,
            shape=TermShape.ASSUMPTION,
            origin=Origin.CAUTION,
            use=Use.CAUTION,
            weight=0.0,
            variants=variants(text, limits.max_variants),
        )
