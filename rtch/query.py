"""A basket as ranking needs it: tokens with their shares, names asked for, seeds, and how each word was spoken."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from rtch.models.basket import Basket, Term, TermShape
from rtch.moments import Moment, moment_of
from rtch.words import joined, last_name, parts, stem, text_tokens


class Query(NamedTuple):
    """The request as ranking needs it."""

    weights: dict[str, float]
    """A share for each token."""
    names: dict[str, float]
    """Joined identifier-like names, asked for by goal or seeds."""
    seeds: tuple[Term, ...]
    terms: tuple[Term, ...]
    spoken: dict[str, str]
    """How each token stood in the request."""


def query_of(basket: Basket) -> Query:
    """Turn the weighed terms of a basket into tokens and names."""
    weights: dict[str, float] = defaultdict(float)
    names: dict[str, float] = {}
    spoken: dict[str, str] = {}
    terms = tuple(term for term in basket.terms if term.weight > 0)
    for term in terms:
        for form in (*_pair_forms(term.term), joined(term.term)):
            spoken.setdefault(form, term.term)
        for word in parts(term.term) if moment_in(term) is None else ():
            spoken.setdefault(stem(word), word)
        if term.shape is TermShape.JOINED:
            for form in _pair_forms(term.term):
                weights[form] += term.weight
            continue
        if moment_in(term) is not None:
            weights[joined(term.term)] += term.weight
            continue
        for token in set(text_tokens(term.term)):
            weights[token] += term.weight
        if term.shape in {TermShape.SEED, TermShape.IDENTIFIER}:
            names[joined(last_name(term.term))] = term.weight
    seeds = tuple(term for term in terms if term.shape is TermShape.SEED)
    return Query(dict(weights), names, seeds, terms, spoken)


def moment_in(term: Term) -> Moment | None:
    """Return the time that a term of a request names, in its goal or as a seed; None for any other term."""
    return moment_of(term.term) if term.shape in {TermShape.MOMENT, TermShape.SEED} else None


def tokens_counted(term: str, shape: TermShape) -> tuple[str, ...]:
    """Return the tokens that a hit of a term counts for in a file's text."""
    if shape is TermShape.JOINED:
        return _pair_forms(term)
    if shape is TermShape.MOMENT:
        return (joined(term),)
    if term.isalpha() and len(parts(term)) == 1:
        return (stem(term.lower()),)
    return (joined(term),) if re.fullmatch(r"[\w-]+", term) else (joined(last_name(term)),)


def _pair_forms(text: str) -> tuple[str, ...]:
    """Return how two words written as one count as a token: ``work tree`` as worktree and its stem."""
    whole = joined(text)
    return tuple(dict.fromkeys((whole, stem(whole))))
