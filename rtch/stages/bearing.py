"""Which lines of a file bear words of the request, whatever the probes were sent to find.

Probes lead to surfaces, and the judge may end them early. What is read on a surface is decided by
all that was asked for: each word of the request has a pull, and a line that bears it has its share.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rtch.models.basket import Term, TermShape
from rtch.models.plan import ProbePlan
from rtch.models.vocab import Use
from rtch.words import IDENTIFIER, heads, joined, parts, stem, tokens

LONGEST_WORD = 120
"""Characters; what is longer is data, and cutting it up would fill memory with what never returns."""
KNOWN_WORDS = 100_000
"""Words whose tokens are kept; a dump of a few megabytes has more, and hardly one of them twice."""
_SPOKEN = frozenset({TermShape.SEED, TermShape.WORD, TermShape.IDENTIFIER, TermShape.JOINED})
_UNREAD = frozenset({Use.CAUTION, Use.EXCLUDE, Use.NEIGHBOR_ONLY})


class Mark(NamedTuple):
    """A token of the request on a line; ``term`` where the token is a whole term and not a part of one."""

    line: int
    token: str
    pull: float
    term: Term | None


class Bearing:
    """The words of a request as hydration reads them."""

    def __init__(self, plan: ProbePlan) -> None:
        """Take the settled basket, what each token pulls, and which terms may be looked for."""
        self._pulls = dict(plan.pulls)
        self._terms: dict[str, Term] = {}
        for term in plan.basket.terms:
            if term.shape in _SPOKEN and term.use not in _UNREAD and term.origin in plan.admitted:
                for form in whole_forms(term):
                    self._terms.setdefault(form, term)
        self._sieve = heads(self._pulls)
        self._known: dict[str, tuple[str, ...]] = {}

    def marks(self, text: str) -> list[Mark]:
        """Return a mark for each token on each line that bears it, by line; lines are cut at LF."""
        known, pulls, terms = self._known, self._pulls, self._terms
        found: list[Mark] = []
        for number, line in enumerate(text.split("\n"), start=1):
            held: set[str] = set()
            for word in IDENTIFIER.findall(line):
                one = known.get(word)
                if one is None:
                    if len(known) >= KNOWN_WORDS:
                        known.clear()
                    one = known[word] = self._tokens(word)
                held.update(one)
            found += (Mark(number, token, pulls[token], terms.get(token)) for token in sorted(held))
        return found

    def column(self, line: str, token: str) -> int:
        """Return where in a line the first word with a token begins, in characters."""
        return next((one.start() for one in IDENTIFIER.finditer(line) if token in self._tokens(one.group())), 0)

    def _tokens(self, word: str) -> tuple[str, ...]:
        if len(word) >= LONGEST_WORD or not self._sieve.search(word.replace("_", "")):
            return ()
        return tuple(one for one in tokens(word) if one in self._pulls)


def whole_forms(term: Term) -> Iterable[str]:
    """Return the tokens that stand for a whole term and for nothing less."""
    whole = joined(term.term)
    return {whole, stem(whole)} if term.shape is TermShape.JOINED or len(parts(term.term)) == 1 else {whole}
