"""How often files bear the request's tokens in their text and in their path, and how rare each token is."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from rtch.models.basket import Basket, TermShape
from rtch.models.plan import CostEstimate, TermHits
from rtch.path_words import PathWords
from rtch.query import Query, tokens_counted

K1 = 2.0
"""Saturation: the second mention of a word counts less than the first."""
B = 0.5
"""How far a long file is discounted."""
BODY = 0.5
PATH = 5.0
"""What one mention in a field counts for beside one in another (docs/ranking.md)."""


def saturated(amount: float) -> float:
    """Return what so many weighed mentions are worth: K1 + 1 at most."""
    return amount * (K1 + 1) / (amount + K1)


def share_of(weight: float, size: float, mean: float) -> float:
    """Return what one mention counts for in a field of a weight, less the longer the field is than on average."""
    return weight / (1 - B + B * size / mean)


class Bodies:
    """The mentions of a request's tokens in every file that the counts or its own path speak for."""

    def __init__(self, words: PathWords, basket: Basket, query: Query, cost: CostEstimate) -> None:
        self._cost = cost
        self._mean_size = max(1.0, sum(cost.sizes) / max(1, len(cost.sizes)))
        self._index = {path: i for i, path in enumerate(cost.paths)}
        self._text = _mentions(basket, query, cost)
        self._path: dict[str, dict[str, int]] = defaultdict(dict)
        for path, counts in words.bearing(query.weights).items():
            for token, count in counts.items():
                self._path[token][path] = count
        self._total = max(1, len(words.paths))
        self._tokens = sorted(self._text.keys() | self._path.keys())

    def rarity(self, shown: Mapping[str, AbstractSet[str]] | None = None) -> dict[str, float]:
        """Return each token that some file bears, and how much it tells: BM25's weight of it.

        It is ln(1 + (N - n + 0.5) / (n + 0.5)) for n of N files.

        Args:
            shown: the files whose names or headings bear a token, where they were looked into.
        """
        shown = shown or {}
        found = {}
        for token in sorted({*self._tokens, *shown}):
            paths = self._path.get(token, {}).keys() | shown.get(token, frozenset())
            beside = sum(not self._count(token, self._index.get(path, -1)) for path in paths)
            files = len(self._text.get(token, _NOWHERE).files) + beside
            found[token] = math.log(1 + (self._total - files + 0.5) / (files + 0.5))
        return found

    def _count(self, token: str, i: int) -> int:
        files, counts = self._text.get(token, _NOWHERE)
        at = bisect_left(files, i)
        return counts[at] if at < len(files) and files[at] == i else 0

    def of(self, path: str) -> dict[str, dict[str, float]]:
        """Return the weighed mentions of each token in a file's text (``body``) and path, by field."""
        rows: dict[str, dict[str, float]] = defaultdict(dict)
        i = self._index.get(path, -1)
        share = share_of(BODY, self._cost.sizes[i], self._mean_size) if i >= 0 else 0.0
        for token in self._tokens:
            count = self._count(token, i)
            if count:
                rows[token]["body"] = share * count
            named = self._path.get(token, {}).get(path, 0)
            if named:
                rows[token]["path"] = PATH * named
        return rows

    def scores(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Return what text and path alone are worth, a path; only files that bear some token."""
        paths = self._cost.paths
        shares = [share_of(BODY, size, self._mean_size) for size in self._cost.sizes]
        scores: dict[str, float] = defaultdict(float)
        for token, rarity in self.rarity().items():
            worth = weights[token] * rarity
            named = {path: PATH * count for path, count in self._path.get(token, {}).items()}
            for i, count in zip(*self._text.get(token, _NOWHERE), strict=True):
                path = paths[i]
                scores[path] += worth * saturated(shares[i] * count + (named.pop(path, 0.0) if named else 0.0))
            for path, amount in named.items():
                scores[path] += worth * saturated(amount)
        return scores


_NOWHERE = TermHits()


def _mentions(basket: Basket, query: Query, cost: CostEstimate) -> dict[str, TermHits]:
    """Turn the counts of terms into those of tokens: in each file the most that a term counted.

    They stay in columns: a question of forty words may have a million pairs of file and count.
    """
    shapes = {term.term: term.shape for term in basket.terms}
    columns: dict[str, list[TermHits]] = defaultdict(list)
    for term, hits in zip(cost.terms, cost.hits, strict=True):
        for token in tokens_counted(term, shapes.get(term, TermShape.WORD)) if hits.files else ():
            if token in query.weights:
                columns[token].append(hits)
    return {token: _most(some) for token, some in columns.items()}


def _most(columns: Sequence[TermHits]) -> TermHits:
    if len(columns) == 1:
        return columns[0]
    most: dict[int, int] = {}
    for hits in columns:
        for i, count in zip(hits.files, hits.counts, strict=True):
            most[i] = max(most.get(i, 0), count)
    files = tuple(sorted(most))
    return TermHits(files, tuple(most[i] for i in files))
