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
_BETWEEN = frozenset(range(128)) - frozenset(b"\n_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_APART = bytes(0x20 if byte in _BETWEEN else byte for byte in range(256))
"""Sets a blank for each byte that is of no word; what is beyond ASCII stays, and is cut up where it is new."""
_TOGETHER = 1000
"""Lines whose pieces are looked up at once; of a ledger's words nearly all are the same in each."""
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
        self._known: dict[bytes, tuple[str, ...]] = {}
        """The tokens of pieces of text between blanks; of most there are none."""
        self._bear: set[bytes] = set()
        """The pieces that have some."""

    def marks(self, text: str) -> list[Mark]:
        """Return a mark for each token on each line that bears it, by line; lines are cut at LF."""
        pulls, terms = self._pulls, self._terms
        found: list[Mark] = []
        lines = text.encode("utf-8", "surrogatepass").translate(_APART).split(b"\n")
        for start in range(0, len(lines), _TOGETHER):
            block = lines[start : start + _TOGETHER]
            bear = self._bearing(set(b" ".join(block).split()))
            pieces = set(bear)
            for number, line in enumerate(block, start=start + 1):
                met = pieces.intersection(line.split())
                held = {token for piece in met for token in bear[piece]} if met else ()
                found += (Mark(number, token, pulls[token], terms.get(token)) for token in sorted(held))
        return found

    def _bearing(self, pieces: set[bytes]) -> dict[bytes, tuple[str, ...]]:
        """Return the tokens of the pieces that have some; what is known of a piece is looked up for all in one call."""
        known, sieve = self._known, self._sieve.search
        bear = {piece: known[piece] for piece in pieces & self._bear}
        fresh = pieces.difference(known)
        if len(known) + len(fresh) > KNOWN_WORDS:
            known.clear()
            self._bear.clear()
        plain: list[bytes] = []
        for piece in fresh:
            text = piece.decode("utf-8", "surrogatepass")
            tokens_of = self._tokens_in(text) if sieve(text.replace("_", "")) else ()
            if tokens_of:
                bear[piece] = tokens_of
            elif len(piece) < LONGEST_WORD:
                plain.append(piece)
        learned = {piece: bear[piece] for piece in fresh & bear.keys() if len(piece) < LONGEST_WORD}
        if len(fresh) <= KNOWN_WORDS:
            known.update(dict.fromkeys(plain, ()))
            known.update(learned)
            self._bear.update(learned)
        return bear

    def _tokens_in(self, text: str) -> tuple[str, ...]:
        return tuple(token for word in IDENTIFIER.findall(text) for token in self._tokens(word))

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
