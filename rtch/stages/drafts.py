"""Drafts of probes: what each family would look for, before quotas and the cost rule.

Three waves: what was named (seeds, ids, paths); what the tree knows (headings, symbols, keys);
what is only a word, and what must be looked at with caution.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rtch.limits import FanoutBudget, PlanLimits
from rtch.models.basket import Basket, Place, Term, TermShape
from rtch.models.intake import Intake
from rtch.models.inventory import Survey
from rtch.models.plan import Candidate, CostEstimate, ProbeTerm
from rtch.models.vocab import (
    ClaimAuthority,
    ExpectedOutput,
    MarkerKind,
    Origin,
    ProbeFamily,
    ProbeType,
    TargetProfile,
    Use,
)
from rtch.models.zone import ZoneDescriptor
from rtch.named_paths import same_file
from rtch.query import moment_in
from rtch.rungs import chain_of, documents_of
from rtch.stages import families
from rtch.stages.families import ProbeShape
from rtch.words import text_tokens

SEED_PULL = 1.5
"""What being named as a seed adds to a term's share when lines are chosen: seeds lead, goal words refine."""
FRAME_WEIGHT = 2.0
"""The share of a line that a stack frame names: as much as a seed."""
_KEYS = frozenset({Origin.JSON_KEY, Origin.YAML_KEY, Origin.MANIFEST_KEY})
_PHRASES = ("authoritative", "source of truth", "canonical", "single source")
_SPOKEN_FOR = frozenset({TargetProfile.DOCTRINE_CHAIN, TargetProfile.MANIFEST_REGISTRY, TargetProfile.AUDIT_HISTORY})
_FIRST: dict[TargetProfile, ProbeFamily] = {
    TargetProfile.CODE_PATH: ProbeFamily.CODE_SYMBOL,
    TargetProfile.DOCTRINE_CHAIN: ProbeFamily.HEADING,
    TargetProfile.AUDIT_HISTORY: ProbeFamily.TEMPORAL,
    TargetProfile.MANIFEST_REGISTRY: ProbeFamily.STRUCTURED_KEY,
    TargetProfile.VAGUE_INTENT: ProbeFamily.HEADING,
    TargetProfile.MIXED: ProbeFamily.CODE_SYMBOL,
}


class Field(NamedTuple):
    """All that drafting looks at."""

    intake: Intake
    zone: ZoneDescriptor
    survey: Survey
    basket: Basket
    cost: CostEstimate
    paths: tuple[str, ...]
    ranked: tuple[Candidate, ...]
    allowed: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Draft:
    """A probe before its target set is cut; targets by falling score."""

    family: ProbeFamily
    type: ProbeType
    wave: int
    purpose: str
    terms: tuple[ProbeTerm, ...]
    targets: tuple[str, ...]
    expected_signal: str
    limitation: str
    authority: ClaimAuthority

    @property
    def texts(self) -> tuple[str, ...]:
        """The terms as they stand in the basket."""
        return tuple(term.term for term in self.terms)


def drafts_for(field: Field, budget: FanoutBudget, limits: PlanLimits) -> list[Draft]:
    """Return every draft that the level's origins admit: by wave, the profile's own family first."""
    maker = _Maker(field, budget, limits)
    drafts = [draft for make in _MAKERS for draft in make(maker)]
    first = _FIRST[field.intake.target_profile]
    return sorted(drafts, key=lambda draft: (draft.wave, draft.family is not first))


class _Maker:
    """Turns terms into drafts of one family after another."""

    def __init__(self, field: Field, budget: FanoutBudget, limits: PlanLimits) -> None:
        self.field = field
        self.budget = budget
        self.limits = limits
        self.terms = [term for term in field.basket.terms if term.origin in budget.origins]
        self._score = {one.path: one.score for one in field.ranked}
        paths = field.cost.paths
        self._files = {
            term: hits.files if field.allowed is None else tuple(i for i in hits.files if paths[i] in field.allowed)
            for term, hits in zip(field.cost.terms, field.cost.hits, strict=True)
        }

    def files_with(self, terms: Iterable[Term]) -> tuple[str, ...]:
        """Return the files that hold any of the terms, by falling score."""
        found = {i for term in terms for i in self._files.get(term.term, ())}
        return self.best_first(self.field.cost.paths[i] for i in found)

    def best_first(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return paths by falling score, then by name; only those in scope."""
        allowed, scores = self.field.allowed, self._score
        kept = {path for path in paths if allowed is None or path in allowed}
        # Most of a large tree's files hold some word and have no score: they need no key to be sorted by.
        scored = sorted(kept & scores.keys(), key=lambda path: (-scores[path], path))
        return (*scored, *sorted(kept - scores.keys()))

    def rarest_first(self, terms: Iterable[Term]) -> list[Term]:
        """Return terms by the number of files that hold them, so that the order in which they were named is nothing."""
        return sorted(terms, key=lambda term: (self.field.cost.files_with(term.term), term.term))

    def grouped(
        self,
        shape: ProbeShape,
        terms: Sequence[Term],
        *,
        size: int | None = None,
        origins: frozenset[Origin] | None = None,
    ) -> Iterable[Draft]:
        """Yield drafts of a few terms each, no more than the family's quota where larger groups avoid it."""
        hitting = [term for term in terms if self._files.get(term.term)]
        quota = self.budget.quotas.get(shape.family, 1)
        least = -(-len(hitting) // quota) if hitting else 1
        size = max(1, min(size or self.limits.terms_per_probe, max(1, least)))
        for start in range(0, len(hitting), size):
            group = hitting[start : start + size]
            yield self.draft(shape, group, self.files_with(group), origins)

    def _probe_term(self, term: Term, targets: set[str], origins: frozenset[Origin] | None) -> ProbeTerm:
        places = [place for place in term.places if place.path in targets]
        if origins is not None:
            places = [place for place in places if place.shape in origins]
        return ProbeTerm(
            term=term.term,
            spellings=(term.term, *term.variants),
            origin=term.origin,
            use=term.use,
            pull=round(self._pull(term), 6),
            generic=term.generic,
            pairs_with=term.pairs_with,
            places=tuple((place.path, place.line) for place in places if place.line is not None),
        )

    def _pull(self, term: Term) -> float:
        files = self.field.cost.files_with(term.term)
        total = max(1, self.field.cost.files_searched)
        rarity = math.log(1 + (total - files + 0.5) / (files + 0.5)) if files <= total else 0.0
        return (term.weight + (SEED_PULL if term.shape is TermShape.SEED else 0.0)) * rarity

    def draft(
        self, shape: ProbeShape, terms: Sequence[Term], targets: Sequence[str], origins: frozenset[Origin] | None = None
    ) -> Draft:
        """Return one draft."""
        return Draft(
            family=shape.family,
            type=shape.type,
            wave=shape.wave,
            purpose=shape.purpose,
            terms=tuple(self._probe_term(term, set(targets), origins) for term in terms),
            targets=tuple(targets),
            expected_signal=shape.expected,
            limitation=shape.limitation,
            authority=shape.authority,
        )


def _by_weight(terms: Iterable[Term]) -> list[Term]:
    return sorted(terms, key=lambda term: (term.generic, -term.weight))


def _has(term: Term, shapes: frozenset[Origin]) -> bool:
    return any(place.shape in shapes for place in term.places)


def _target(maker: _Maker) -> Iterable[Draft]:
    known = set(maker.field.paths)
    named = [t for t in maker.terms if t.shape in {TermShape.TARGET, TermShape.PATH} or _is_path_seed(t, known)]
    found: dict[str, Term] = {}
    for term in named:
        tail = term.term.removeprefix("./")
        # A path that is one says so; only else is it the end of some.
        for path in [tail] if tail in known else [one for one in maker.field.paths if one.endswith("/" + tail)]:
            # What is found is the path, whatever it was named by.
            found.setdefault(path, term.model_copy(update={"origin": Origin.FILE_PATH}))
    for term in maker.terms:
        # A seed that names a file, with or without its ending, means the file and not only where it is mentioned.
        for place in term.places if term.shape is TermShape.SEED else ():
            if place.shape is Origin.FILE_PATH and place.path in known:
                found.setdefault(place.path, _path_term(place.name))
    artifact = maker.field.basket.artifact
    if artifact in known:
        found.setdefault(artifact, _path_term(artifact))
    places: dict[str, list[Place]] = defaultdict(list)
    terms = {term.term: term for term in found.values()}
    for path, term in found.items():
        places[term.term].append(_place(path))
    for framed in _framed(maker):
        terms.setdefault(framed.path, _path_term(framed.path, FRAME_WEIGHT))
        places[framed.path].append(framed)
    if terms:
        placed = [term.model_copy(update={"places": tuple(places[name])}) for name, term in terms.items()]
        yield maker.draft(
            families.INVENTORY, placed, maker.best_first(place.path for some in places.values() for place in some)
        )


def _place(path: str) -> Place:
    return Place(path=path, line=1, shape=Origin.FILE_PATH, name=path)


def _is_path_seed(term: Term, known: set[str]) -> bool:
    return term.shape is TermShape.SEED and (term.term.removeprefix("./") in known or "/" in term.term)


def _framed(maker: _Maker) -> Iterable[Place]:
    """Yield where the goal's stack frames lie in the tree, at the lines they name."""
    framed = [one.path for one in maker.field.ranked if any(part.name == "frame" for part in one.parts)]
    for frame in maker.field.basket.frames:
        for path in framed:
            if same_file(path, frame.path):
                yield Place(path=path, line=frame.line or 1, shape=Origin.FILE_PATH, name=path)


def _path_term(text: str, weight: float = 0.0) -> Term:
    """Return a term that stands for a path and not for text: its hits say where to look, and support no claim."""
    return Term(term=text, shape=TermShape.FRAME, origin=Origin.FILE_PATH, use=Use.LOCATE, weight=weight)


def _handles(maker: _Maker) -> Iterable[Draft]:
    return maker.grouped(
        families.HANDLE,
        maker.rarest_first(
            t for t in maker.terms if t.origin is Origin.DURABLE_HANDLE and t.shape is not TermShape.MOMENT
        ),
    )


def _seeds(maker: _Maker) -> Iterable[Draft]:
    seeds = (t for t in maker.terms if t.shape is TermShape.SEED and t.origin is Origin.EXPLICIT_SEED)
    return maker.grouped(families.SEED, maker.rarest_first(seeds))


def _symbols(maker: _Maker) -> Iterable[Draft]:
    shapes = frozenset({Origin.CODE_SYMBOL})
    terms = _by_weight(t for t in _goal_words(maker) if _has(t, shapes))
    return maker.grouped(families.SYMBOL, terms, origins=shapes)


def _headings(maker: _Maker) -> Iterable[Draft]:
    shapes = frozenset({Origin.HEADING})
    terms = _by_weight(t for t in _goal_words(maker) if _has(t, shapes))
    return maker.grouped(families.HEADING, terms, origins=shapes)


def _keys(maker: _Maker) -> Iterable[Draft]:
    return maker.grouped(families.KEY, _by_weight(t for t in _goal_words(maker) if _has(t, _KEYS)), origins=_KEYS)


def _goal_words(maker: _Maker) -> list[Term]:
    plain = {TermShape.WORD, TermShape.IDENTIFIER, TermShape.JOINED, TermShape.QUOTE}
    return [t for t in maker.terms if t.shape in plain and t.origin not in {Origin.EXPLORATORY, Origin.CAUTION}]


def _moments(maker: _Maker) -> Iterable[Draft]:
    yield from maker.grouped(families.TEMPORAL, [term for term in maker.terms if moment_in(term) is not None])
    moments = [moment for term in maker.terms if (moment := moment_in(term)) is not None]
    named = maker.best_first(path for path in maker.field.paths if any(moment.holds(path) for moment in moments))
    if named:
        placed = [
            _path_term(path).model_copy(update={"places": (_place(path),)})
            for path in named[: maker.limits.target_files]
        ]
        yield maker.draft(families.DATED_NAMES, placed, named)


def _names(maker: _Maker) -> Iterable[Draft]:
    shapes = frozenset({Origin.CODE_SYMBOL, Origin.HEADING}) | _KEYS
    terms = [t for t in _goal_words(maker) if _has(t, frozenset({Origin.FILE_PATH})) and not _has(t, shapes)]
    shaped = [t for t in _goal_words(maker) if t.origin is Origin.LOCAL_SHAPE]
    return maker.grouped(families.NAMES, _by_weight([*terms, *shaped]), size=8)


def _references(maker: _Maker) -> Iterable[Draft]:
    related = [term for term in maker.terms if term.shape is TermShape.RELATION]
    if related:
        yield maker.draft(families.RELATION, related, [place.path for term in related for place in term.places])
    for term in (one for one in maker.terms if one.shape is not TermShape.MOMENT):
        own = {place.path for place in term.places if place.shape is Origin.DURABLE_HANDLE}
        others = [path for path in maker.files_with([term]) if path not in own]
        if term.origin is Origin.DURABLE_HANDLE and own and others:
            yield maker.draft(families.REFERENCE, [term], others)
    neighbors = [t for t in maker.terms if t.shape is TermShape.NEIGHBOR]
    found = [
        (term, path)
        for term in neighbors
        for path in maker.field.paths
        if path == term.term.removeprefix("./") or path.startswith(term.term.removeprefix("./").rstrip("/") + "/")
    ]
    if found:
        placed = [
            t.model_copy(update={"places": tuple(_place(path) for one, path in found if one is t)}) for t in neighbors
        ]
        yield maker.draft(families.NEIGHBOR, placed, maker.best_first(path for _, path in found))


def _standing(maker: _Maker) -> Iterable[Draft]:
    """Draft what a profile is about whether or not the goal's words are in it; it ranks behind what they lead to."""
    zone, intake = maker.field.zone, maker.field.intake
    kinds = {
        TargetProfile.MANIFEST_REGISTRY: ("registry manifest", tuple(one.path for one in zone.registries)),
        TargetProfile.DOCTRINE_CHAIN: ("doctrine rung", documents_of(chain_of(zone.rungs, intake.known_target))),
        TargetProfile.AUDIT_HISTORY: ("ledger", tuple(one.path for one in zone.truth_files if one.why == "a ledger")),
    }
    word, paths = kinds.get(intake.target_profile, ("", ()))
    asked = set(text_tokens(word)) & {token for term in maker.terms for token in text_tokens(term.term)}
    listed = set(maker.field.paths)
    moments = [term for term in maker.terms if moment_in(term) is not None]
    if moments and intake.target_profile is TargetProfile.AUDIT_HISTORY:
        listed &= set(maker.files_with(moments))  # where a time is asked for, a ledger without it is not what is meant
    targets = maker.best_first(path for path in paths if path in listed)
    if targets:
        # Where the goal does not ask for them by name, that they exist says nothing of the subject.
        use = Use.LOCATE if asked else Use.PRESSURE
        terms = [
            _path_term(path).model_copy(update={"use": use, "places": (_place(path),)})
            for path in targets[: maker.limits.target_files]
        ]
        yield maker.draft(families.STANDING, terms, targets)


def _truth(maker: _Maker) -> Iterable[Draft]:
    intake = maker.field.intake
    if Origin.LOCAL_SHAPE not in maker.budget.origins:
        return
    if intake.target_profile not in _SPOKEN_FOR and intake.expected_output is not ExpectedOutput.CLAIM_EVIDENCE:
        return
    marked = {m.path for m in maker.field.survey.marked if m.kind is MarkerKind.SOURCE_OF_TRUTH}
    targets = [one.path for one in maker.field.ranked[:20] if one.path in marked]
    if targets:
        terms = [
            Term(term=text, shape=TermShape.QUOTE, origin=Origin.LOCAL_SHAPE, use=Use.PRESSURE, weight=0.0)
            for text in _PHRASES
        ]
        yield maker.draft(families.TRUTH, terms, targets)


def _words(maker: _Maker) -> Iterable[Draft]:
    loose = [t for t in maker.terms if t.origin is Origin.EXPLORATORY and t.shape is not TermShape.MOMENT]
    return maker.grouped(families.WORDS, _by_weight(loose), size=12)


def _cautions(maker: _Maker) -> Iterable[Draft]:
    return maker.grouped(families.CAUTION, [t for t in maker.terms if t.origin is Origin.CAUTION], size=6)


_MAKERS: tuple[Callable[[_Maker], Iterable[Draft]], ...] = (
    _target,
    _moments,
    _handles,
    _seeds,
    _symbols,
    _headings,
    _keys,
    _names,
    _references,
    _standing,
    _truth,
    _words,
    _cautions,
)
