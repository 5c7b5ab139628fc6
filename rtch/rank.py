"""Scores of files before any probe has run: every part has a name and a reason.

First a shortlist by what text and path alone say of every file; then, with what those files show when
they are looked into, the whole score. It is a sum of parts times the profile's prior for the file's
role. The largest part is a BM25 over fields (text, path, defined names, headings); the others reward what
the request names outright: seeds, definitions, paths, stack frames, dotted modules, quotes. Weights were
chosen on real changes of real projects (docs/ranking.md).
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rtch.bodies import Bodies, saturated, share_of
from rtch.lending import lend
from rtch.models.basket import Basket
from rtch.models.features import FileFeatures
from rtch.models.inventory import FileFacts
from rtch.models.plan import Candidate, CostEstimate, ScorePart
from rtch.models.vocab import FileRole
from rtch.named import STEEPNESS, Named, Part, seed_rarity
from rtch.path_words import PathWords
from rtch.query import Query, query_of
from rtch.roles import role_of
from rtch.words import heads, joined, last_name, text_tokens, tokens

DEFINITIONS = 1.0
HEADINGS = 2.0
"""What one bearing name or heading counts for beside one mention in the text (``bodies.BODY``)."""
NO_STANDING: Mapping[str, str] = {}
SAYS = {
    "body": "its text says {}",
    "path": "its path bears {}",
    "definitions": "it defines names with {}",
    "headings": "its headings bear {}",
}
"""A field's part in words."""
DEFINES = 0.2
DEFINES_SEED = 0.4
"""What an exact definition of a rare seed adds, so that it stands above what is only called after it."""
SIZE = 0.1
"""A file that the request's words are in is more likely meant the more there is of it."""
STANDING = 0.5
"""What it counts for, under a profile that is about registries, that a file is one and does not only speak of one."""
FULL_SIZE_LOG = 14.0
"""ln(1 + bytes) from which a file is as large as counts: about a megabyte."""


def facts_of(features: Iterable[FileFeatures], query: Query) -> Iterator[FileFacts]:
    """Reduce features, file by file, to what the request's words meet."""
    sieve = heads([*query.weights, *query.names])
    for file in features:
        names = [(symbol.name, joined(symbol.name)) for symbol in file.symbols]
        bearing = [name for name, plain in names if sieve.search(plain)]
        titles = [heading.text for heading in file.headings if sieve.search(joined(heading.text))]
        definitions = Counter(token for name in bearing for token in tokens(name) if token in query.weights)
        headings = Counter(token for title in titles for token in text_tokens(title) if token in query.weights)
        yield FileFacts(
            path=file.path,
            definitions=tuple(sorted(definitions.items())),
            headings=tuple(sorted(headings.items())),
            defined=tuple(sorted({plain for _, plain in names if plain in query.names})),
            definition_count=len(file.symbols),
            heading_count=len(file.headings),
            references=tuple(reference.target for reference in file.references),
        )


class Shortlist(NamedTuple):
    """The files to look into, sorted; what all files say; and how many of them were left behind."""

    paths: tuple[str, ...]
    bodies: Bodies
    beyond: int


def shortlist(
    words: PathWords, basket: Basket, cost: CostEstimate, priors: Mapping[FileRole, float], most: int
) -> Shortlist:
    """Choose the files that a request may be about, by text, path and what it names.

    Args:
        words: every file of the zone.
        basket: the request.
        cost: which files hold what.
        priors: a factor for each role.
        most: how many are chosen.
    """
    query = query_of(basket)
    bodies = Bodies(words, basket, query, cost)
    scores = bodies.scores(query.weights)
    best = max(scores.values(), default=0.0) or 1.0
    named = Named(words, basket, query, cost).parts()
    totals = {path: score / best for path, score in scores.items()}
    for path, parts in named.items():
        totals[path] = totals.get(path, 0.0) + math.fsum(value for _, value, _ in parts)
    beyond = max(0, len(totals) - most)
    if beyond:
        targets = {path for path, parts in named.items() if any(name == "target" for name, _, _ in parts)}
        factors = ((path, 1.0 if path in targets else priors.get(role_of(path), 1.0)) for path in totals)
        weighed = ((-totals[path] * factor, path) for path, factor in factors)
        totals = {path: total for total, path in heapq.nsmallest(most, weighed)}
    return Shortlist(tuple(sorted(totals)), bodies, beyond)


class Ranker:
    """Scores the files that were looked into, and those that they lend to."""

    def __init__(
        self,
        words: PathWords,
        basket: Basket,
        cost: CostEstimate,
        files: Iterable[FileFacts],
        rarity: Mapping[str, float],
    ) -> None:
        self.words = words
        self.basket = basket
        self.cost = cost
        self.facts = {fact.path: fact for fact in files}
        self.query = query_of(basket)
        self._rarity = rarity
        self._sizes = dict(zip(cost.paths, cost.sizes, strict=True))
        self._bodies = Bodies(words, basket, self.query, cost)

    def candidates(
        self, priors: Mapping[FileRole, float], detailed: int, standing: Mapping[str, str] = NO_STANDING
    ) -> tuple[Candidate, ...]:
        """Return every such file that anything speaks for, best first; ties by path.

        Args:
            priors: a factor for each role.
            detailed: how many of the first carry their parts.
            standing: the files that the profile is about, and why: they come before those that only speak of the same.
        """
        scored = self._scored(priors)
        for path in standing.keys() & scored.keys():
            scored[path].append(("standing", STANDING, standing[path]))
        lend(scored, self.words.paths, {path: fact.references for path, fact in self.facts.items()})
        totals = {path: math.fsum(value for _, value, _ in found) for path, found in scored.items()}
        best = sorted((path for path, total in totals.items() if total > 0), key=lambda path: (-totals[path], path))
        return tuple(
            Candidate(
                path=path,
                score=round(totals[path], 6),
                parts=tuple(
                    ScorePart(name=name, value=round(value, 6), because=because)
                    for name, value, because in (scored[path] if place < detailed else ())
                ),
            )
            for place, path in enumerate(best)
        )

    def pulls(self) -> tuple[tuple[str, float], ...]:
        """Return each token with its share in the request times its rarity."""
        weights = self.query.weights
        return tuple((token, round(weights[token] * rarity, 6)) for token, rarity in sorted(self._rarity.items()))

    def _scored(self, priors: Mapping[FileRole, float]) -> dict[str, list[Part]]:
        text = self._bm25()
        best = max((sum(value for value, _ in fields.values()) for fields in text.values()), default=0.0) or 1.0
        named = self._named()
        scored: dict[str, list[Part]] = {}
        for path in sorted(text.keys() | (named.keys() & self.facts.keys())):
            raw: list[Part] = [
                (f"text.{field}", value / best, SAYS[field].format(words))
                for field, (value, words) in text.get(path, {}).items()
            ]
            raw += named.get(path, [])
            raw += self._size(path)
            role = role_of(path)
            prior = priors.get(role, 1.0)
            scored[path] = [
                (name, value if name == "target" else value * prior, because) for name, value, because in raw
            ]
            if prior != 1.0:
                lost = sum(value for name, value, _ in raw if name != "target") * (1 - prior)
                scored[path].append(("role", 0.0, f"{role} x {prior} under this profile, {lost:.3f} taken off"))
        return scored

    def _named(self) -> dict[str, list[Part]]:
        named = Named(self.words, self.basket, self.query, self.cost).parts()
        for path, part in self._definitions():
            named.setdefault(path, []).append(part)
        return named

    # -- BM25 over fields ------------------------------------------------------------------------

    def _bm25(self) -> dict[str, dict[str, tuple[float, str]]]:
        """Return, a file, the weight of each field's hits with its best words; fields share one saturation."""
        wanted = self.query.weights
        shaped = [
            fact for fact in self.facts.values() if fact.definition_count or fact.heading_count or fact.references
        ]
        means = _mean(fact.definition_count for fact in shaped), _mean(fact.heading_count for fact in shaped)
        scores: dict[str, dict[str, tuple[float, str]]] = {}
        for path, fact in self.facts.items():
            shares: dict[str, dict[str, float]] = defaultdict(dict)
            for token, per_field in self._fields(fact, means).items():
                total = sum(per_field.values())
                value = wanted[token] * self._rarity.get(token, 0.0) * saturated(total)
                for field, share in per_field.items():
                    shares[field][token] = value * share / total
            if shares:
                scores[path] = {
                    field: (math.fsum(found.values()), self._first(found)) for field, found in shares.items()
                }
        return scores

    def _first(self, found: Mapping[str, float]) -> str:
        """Return the words that weigh most as the request has them, best first."""
        best = sorted(found, key=lambda token: (-found[token], token))
        return ", ".join(list(dict.fromkeys(self.query.spoken.get(token, token) for token in best))[:3])

    def _fields(self, fact: FileFacts, means: tuple[float, float]) -> dict[str, dict[str, float]]:
        rows = self._bodies.of(fact.path)
        share = share_of(DEFINITIONS, fact.definition_count, means[0])
        for token, count in fact.definitions:
            rows[token]["definitions"] = share * count
        share = share_of(HEADINGS, fact.heading_count, means[1])
        for token, count in fact.headings:
            rows[token]["headings"] = share * count
        return rows

    # -- what is defined, and how much there is --------------------------------------------------

    def _definitions(self) -> Iterable[tuple[str, Part]]:
        """Exact definitions of the names asked for, rare ones more, and most those of rare seeds."""
        total = max(1, len(self.words.paths))
        defining = Counter(name for fact in self.facts.values() for name in fact.defined)
        values = {
            path: math.fsum(math.log(1 + total / defining[name]) for name in fact.defined)
            for path, fact in self.facts.items()
            if fact.defined
        }
        best = max(values.values(), default=1.0) or 1.0
        rarities = seed_rarity(self.query, self.cost, total)
        seeded = {joined(last_name(term)): rarity**STEEPNESS for term, rarity in rarities.items()}
        for path, value in values.items():
            defined = self.facts[path].defined
            more = DEFINES_SEED * max((seeded.get(name, 0.0) / defining[name] for name in defined), default=0.0)
            yield path, ("defines", DEFINES * value / best + more, f"defines {', '.join(defined)}")

    def _size(self, path: str) -> Iterable[Part]:
        size = self._sizes.get(path)
        if size is not None:
            share = min(1.0, math.log1p(size) / FULL_SIZE_LOG)
            yield "size", SIZE * share, f"{size} bytes that may hold it"


def _mean(values: Iterable[int]) -> float:
    known: Sequence[int] = list(values)
    return max(1e-6, sum(known) / len(known)) if known else 1.0
