"""What stands around the artifact that a request decides on, as terms of its basket.

A decision to keep, merge, retire or reposition is not told by the artifact's inside: the basket has who names it, what
it is held against, who owns it and how it is published, each with the line that tells it.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable

from rtch.decisions import decision_words
from rtch.models.basket import Basket, Place, Term, TermShape
from rtch.models.complement import Related
from rtch.models.intake import Intake
from rtch.models.vocab import Origin, Use
from rtch.owners import MAX_BYTES, PLACES, Owners
from rtch.reading import SkippedFile
from rtch.relations import artifact_of, compared, published, served_by
from rtch.stages.desk import Desk
from rtch.stages.grounding import TRUST
from rtch.words import parts, stem
from rtch.workspace import Workspace

MAX_SERVED = 6
"""Surfaces that name the artifact and are terms; the record of the run has more of them."""
_MIN_SHARED = 5
"""Characters of a stem by which another word begins; ``use`` is no ``user``."""
_SPOKEN = frozenset({TermShape.SEED, TermShape.WORD, TermShape.IDENTIFIER})


def related(basket: Basket, intake: Intake, desk: Desk) -> Basket:
    """Return a grounded basket with the artifact and the terms of its relations; as it is where it names none.

    Bounds: one search of the tree for the artifact's names, as ``served_by`` bounds it.
    """
    ws = desk.workspace
    artifact = artifact_of(intake, ws) or _borne(basket, ws, {one.path for one in compared(intake, ws, "")})
    if not artifact:
        return basket
    targets = compared(intake, ws, artifact)
    served = served_by(ws, artifact, {one.path for one in targets})
    if served.doubts:
        desk.distrust()
    found = [
        *(_term(one, f"comparison target: {one.why}") for one in targets),
        *(_term(one, f"served party: {one.why}") for one in served.shown[:MAX_SERVED]),
        *_owner(ws, artifact),
        *(_of(one.manifest, None, f"publish status: {one.status}") for one in published(ws, artifact)[0]),
    ]
    known = {term.term for term in basket.terms}
    terms = [*basket.terms, *{term.term: term for term in reversed(found) if term.term not in known}.values()]
    return basket.model_copy(
        update={
            "artifact": artifact,
            "terms": tuple(sorted(terms, key=lambda term: TRUST[term.origin])),
            "terms_cut": basket.terms_cut + served.cut + max(0, len(served.shown) - MAX_SERVED),
        }
    )


def _borne(basket: Basket, ws: Workspace, others: set[str]) -> str:
    """Return the one file or folder whose name bears the most words of a request: two of them, or all there are.

    Of those that bear as many, the one whose name says least else; nothing where several do. It is none of
    ``others``, which it is held against.
    """
    said = {stem(word) for word in decision_words()}
    spoken = [one for one in basket.terms if one.shape in _SPOKEN and one.weight > 0]
    wanted = {stem(part) for one in spoken for part in parts(one.term)} - said
    if not wanted or all(one.generic for one in spoken):
        return ""
    best: dict[tuple[int, int], list[str]] = defaultdict(list)
    heads = tuple(one[:_MIN_SHARED] for one in wanted)
    for path in {one for file in ws.listing.files() for one in (file, *_folders(file))} - others:
        base = posixpath.splitext(posixpath.basename(path))[0]
        if not any(head in base.lower() for head in heads):
            continue
        name = {stem(part) for part in parts(base)}
        borne = sum(any(_alike(one, other) for other in name) for one in wanted)
        if borne >= min(2, len(wanted)):
            best[borne, -len(name)].append(path)
    found = best[max(best)] if best else []
    return found[0] if len(found) == 1 else ""


def _alike(one: str, other: str) -> bool:
    """Tell whether two stems are of one word: ``compiler`` names what ``compile`` is the name of."""
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= _MIN_SHARED and long.startswith(short))


def _folders(path: str) -> Iterable[str]:
    while path := posixpath.dirname(path):
        yield path


def _owner(ws: Workspace, artifact: str) -> Iterable[Term]:
    place = next((path for path in PLACES if path in ws.index), None)
    if place is None:
        return
    try:
        text = ws.read(place, max_bytes=MAX_BYTES).data.decode("utf-8", "replace")
    except SkippedFile:
        return
    owners = Owners(text, place).of_path(artifact)
    if owners:
        yield _of(place, None, f"owner: {' '.join(owners)}")


def _term(one: Related, relation: str) -> Term:
    return _of(one.path, one.line, relation)


def _of(path: str, line: int | None, relation: str) -> Term:
    return Term(
        term=path,
        shape=TermShape.RELATION,
        origin=Origin.REF_NEIGHBORHOOD,
        use=Use.NEIGHBOR_ONLY,
        weight=0.0,
        places=(Place(path=path, line=line or 1, shape=Origin.REF_NEIGHBORHOOD, name=relation[:200]),),
    )
