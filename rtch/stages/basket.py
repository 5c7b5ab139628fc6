"""Stage 4: the request becomes typed terms, grounded in what the tree knows.

A word that is a real path part, heading, symbol, key or id takes that origin; a word that is not
stays exploratory. A generic term is weak alone: it is exploratory unless something strong stands
beside it in the request, and whether that something really hits is settled after the cost dry run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rtch.goal import SEED_WEIGHT, Piece, decompose
from rtch.limits import BasketLimits
from rtch.models.basket import Basket, Place, Term, TermShape
from rtch.models.intake import AcceptedIntake, Intake
from rtch.models.inventory import ShapeInventory
from rtch.models.tree import Listing
from rtch.models.vocab import Origin, Use
from rtch.models.zone import ZoneDescriptor
from rtch.stages.desk import Desk
from rtch.stages.grounding import TRUST, Grounding
from rtch.words import beginning, joined, last_name, parts, stem

_LOCATING = {
    Origin.DURABLE_HANDLE: Use.HYDRATE,
    Origin.EXPLICIT_SEED: Use.HYDRATE,
    Origin.MANIFEST_KEY: Use.HYDRATE,
    Origin.FILE_PATH: Use.LOCATE,
    Origin.HEADING: Use.LOCATE,
    Origin.CODE_SYMBOL: Use.LOCATE,
    Origin.JSON_KEY: Use.LOCATE,
    Origin.YAML_KEY: Use.LOCATE,
    Origin.LOCAL_SHAPE: Use.LOCATE,
}
_STRONG = frozenset(_LOCATING)
_SHAPES = frozenset(
    {"changelog", "ledger", "manifest", "registry", "config", "configuration", "test", "tests", "schema"}
)
"""Words that name a kind of file rather than a subject."""


def basket(
    accepted: AcceptedIntake,
    listing: Listing,
    zone: ZoneDescriptor,
    inventory: ShapeInventory,
    limits: BasketLimits,
    desk: Desk,
) -> Basket:
    """Turn goal, seeds, target, neighbours and assumptions into terms.

    Returns:
        Terms by descending trust of their origin, then as they stood in the request; at most
        ``limits.max_terms``, seeds first, and the rest counted.
    """
    intake = accepted.intake
    stop = frozenset(limits.words.stop.split())
    goal = decompose(intake.goal, stop)
    known = _ground(intake, goal.pieces, (listing, zone, inventory), limits, desk)
    seeds = [_seed(text, known, limits) for text in dict.fromkeys(intake.explicit_seeds)]
    named = {joined(term.term) for term in seeds}
    words = [_goal_term(piece, known, limits) for piece in goal.pieces if joined(piece.text) not in named]
    others = [*_target(intake), *_neighbors(intake), *_assumptions(intake, limits)]
    kept = [*seeds, *others, *sorted(words, key=lambda term: -term.weight)][: limits.max_terms]
    terms = _pair(kept, frozenset(limits.words.generic))
    ordered = sorted(enumerate(terms), key=lambda item: (TRUST[item[1].origin], item[0]))
    return Basket(
        terms=tuple(term for _, term in ordered),
        frames=goal.frames,
        noise=goal.stopped,
        terms_cut=len(seeds) + len(others) + len(words) - len(kept),
    )


def _ground(
    intake: Intake,
    pieces: Sequence[Piece],
    seen: tuple[Listing, ZoneDescriptor, ShapeInventory],
    limits: BasketLimits,
    desk: Desk,
) -> Grounding:
    listing, zone, inventory = seen
    wanted = [*intake.explicit_seeds, *(last_name(seed) for seed in intake.explicit_seeds)]
    for piece in pieces:
        wanted += [piece.text, last_name(piece.text)]
    grounding = Grounding(wanted, (one.path for one in zone.registries), limits.max_places)
    grounding.paths(listing.files())
    for shard in desk.shards(inventory.shards):
        grounding.shard(shard)
    return grounding


def _places(text: str, known: Grounding) -> tuple[tuple[Place, ...], int]:
    places, cut = known.places(text)
    return (places, cut) if places or last_name(text) == text else known.places(last_name(text))


def _seed(text: str, known: Grounding, limits: BasketLimits) -> Term:
    places, cut = _places(text, known)
    durable = any(place.shape is Origin.DURABLE_HANDLE and place.name == text for place in places)
    return Term(
        term=text,
        shape=TermShape.SEED,
        origin=Origin.DURABLE_HANDLE if durable else Origin.EXPLICIT_SEED,
        use=Use.HYDRATE,
        weight=SEED_WEIGHT,
        variants=variants(text, limits.max_variants),
        places=places,
        places_cut=cut,
    )


def _goal_term(piece: Piece, known: Grounding, limits: BasketLimits) -> Term:
    places, cut = _places(piece.text, known)
    origin = _origin(piece, places)
    return Term(
        term=piece.text,
        shape=piece.shape,
        origin=origin,
        use=_LOCATING.get(origin, Use.EXPLORATORY),
        weight=piece.weight,
        variants=variants(piece.text, limits.max_variants),
        places=places,
        places_cut=cut,
    )


def _origin(piece: Piece, places: Sequence[Place]) -> Origin:
    shapes = sorted({place.shape for place in places}, key=TRUST.__getitem__)
    if shapes:
        return shapes[0]
    return Origin.LOCAL_SHAPE if piece.text in _SHAPES else Origin.EXPLORATORY


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


def _pair(terms: Sequence[Term], generic: frozenset[str]) -> list[Term]:
    """Mark generic terms, name what stands strong beside them, and weaken those with nothing."""
    weak = [_is_generic(term, generic) for term in terms]
    strong = tuple(
        term.term for term, w in zip(terms, weak, strict=True) if not w and term.origin in _STRONG and term.weight > 0
    )[:8]
    return [_weakened(term, strong) if w else term for term, w in zip(terms, weak, strict=True)]


def _is_generic(term: Term, generic: frozenset[str]) -> bool:
    if term.shape not in {TermShape.SEED, TermShape.WORD}:
        return False
    word = term.term.lower()
    return word in generic or stem(word) in {stem(one) for one in generic}


def _weakened(term: Term, strong: tuple[str, ...]) -> Term:
    changes: dict[str, object] = {"generic": True, "why_generic": "listed as generic", "pairs_with": strong}
    if not strong:
        changes |= {"origin": Origin.EXPLORATORY, "use": Use.EXPLORATORY}
    return term.model_copy(update=changes)
