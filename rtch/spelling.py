"""Spellings: the patterns by which terms are searched, and which terms a matched text stands for.

One pass of rg carries every term. A word is searched inside identifiers and counted only where it
is a whole part of one (``log`` in ``log_stats``, never in ``catalog``); a name is found in all its
spellings; anything else is a literal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from rtch.moments import moment_of
from rtch.words import beginning, joined, last_name, parts, stem, tokens

_BETWEEN = re.compile(r"\W+")


class Spelling:
    """How one term is searched and recognised."""

    def __init__(self, term: str) -> None:
        self.term = term
        last = last_name(term)
        # Only what keeps its length in lower case can be searched in parts: İ becomes two characters.
        plain = len(term.lower()) == len(term)
        pieces = parts(term) if plain and re.fullmatch(r"[\w-]+", term) else ()
        self._pieces = pieces if len(pieces) > 1 and "".join(pieces) == joined(term) else ()
        self._whole = joined(term)
        pieced = "[-_]?".join(map(re.escape, self._pieces))
        numbered = bool(self._pieces) and term[-1].isdigit()
        self._numbered = re.compile(rf"{pieced}(?!\d)", re.IGNORECASE) if numbered else None
        """A name that ends in a number is no part of one with a longer number."""
        self._name = joined(last) if last != term else ""
        self._letter = term if len(term) == 1 and term.isalnum() else ""
        single = plain and term.isalpha() and not self._letter and len(parts(term)) == 1
        self.root = stem(term.lower()) if single else ""
        """The stem by which a single word is searched inside identifiers, or empty."""
        self._lower = _spaced(term)
        pair = re.fullmatch(r"([A-Za-z]+) ([A-Za-z]+)", term)
        self._pair = (pair.group(1).lower(), _inflected(stem(pair.group(2).lower()))) if pair else None
        self.pair = "".join(self._pair or ())
        """The expression of two words written as one, without separators, or empty."""
        self._as_one = re.compile(self.pair)
        self._moment = moment_of(term)

    @property
    def pattern(self) -> str:  # noqa: PLR0911  one form of term after the other
        """The regular expression of a name or literal; case is ignored by the search."""
        if self._pair:
            return rf"\w*{self._pair[0]}[-_ ]?{self._pair[1]}\w*"
        if self._moment:
            return self._moment.pattern
        if self._letter:
            return rf"(?:\b|_){_escaped(self.term)}(?:\b|_)"
        if self._pieces:
            return rf"\w*{'[-_]?'.join(map(_escaped, self._pieces))}\w*"
        if re.fullmatch(r"[\w-]+", self.term):
            return rf"\w*{_escaped(self.term)}\w*"
        if self._name:
            return rf"(?:{_escaped(self.term)}|\b{_escaped(last_name(self.term))}\b)"
        return _escaped(self.term)

    def recognises(self, text: str) -> bool:  # noqa: PLR0911  one form of term after the other
        """Tell whether a matched text stands for this term."""
        if self.root:
            return self.root in _tokens_of(text)
        if self._pair:
            return self._as_one.search(joined(text)) is not None
        if self._moment:
            return self._moment.holds(text)
        if self._numbered:
            return self._numbered.search(text) is not None
        if self._pieces:
            return self._whole in joined(text)
        if self._letter:
            return self._whole == joined(text)
        return self._lower in _spaced(text) or (bool(self._name) and self._name == joined(text))


def _tokens_of(text: str) -> tuple[str, ...]:
    if text.isidentifier():
        return tokens(text)
    return tuple(token for piece in _BETWEEN.split(text) for token in tokens(piece))


def _inflected(root: str) -> str:
    """Return the expression of how the words of a stem begin: ``quer[yi]`` of queries, ``fil[ei]`` of filing."""
    common = beginning(root)
    return _escaped(root) if common == root else f"{_escaped(common)}[{root[-1]}i]"


def _spaced(text: str) -> str:
    return " ".join(text.lower().split())


def _escaped(text: str) -> str:
    """Escape text for a Rust regular expression; a run of blanks matches any run of blanks."""
    return re.sub(r"(?:\\ )+|\s+", r"\\s+", re.sub(r"([\\.+*?()|\[\]{}^$#&~-])", r"\\\1", text))


REST_OF_WORD = r"(?-u:[\w\x80-\xFF]*)"
"""What stands for ``\\w*``: letters told by their bytes, for which rg needs half the time."""
AROUND = 64
MOST_KNOWN = 50_000
"""Texts whose terms are remembered: four times as many took 100 MB more on 40,000 files and were no faster."""
_BOUNDED = rf"(?-u:[\w\x80-\xFF]{{0,{AROUND}}})"


class SpellingSet:
    """Several terms in one search."""

    def __init__(self, terms: Iterable[str]) -> None:
        self.spellings = tuple(Spelling(term) for term in dict.fromkeys(terms))
        self._roots: dict[str, list[int]] = {}
        for i, spelling in enumerate(self.spellings):
            if spelling.root:
                self._roots.setdefault(spelling.root, []).append(i)
        named = [(i, spelling) for i, spelling in enumerate(self.spellings) if not spelling.root]
        self._pairs = [(i, spelling) for i, spelling in named if spelling.pair]
        self._any_pair = re.compile("|".join(spelling.pair for _, spelling in self._pairs))
        self._others = [(i, spelling) for i, spelling in named if not spelling.pair]
        self._known: dict[bytes, tuple[int, ...]] = {}

    def patterns(self, *, bounded: bool = False) -> tuple[str, ...]:
        """Return the patterns for one pass of rg: names and literals each, and all words in one.

        Args:
            bounded: take no more than AROUND bytes of the word on both sides of what is sought. It is
                slower, and for words of such a length that their beginning says nothing of the place.
        """
        named = [spelling.pattern for spelling in self.spellings if not spelling.root]
        roots = sorted({spelling.root for spelling in self.spellings if spelling.root})
        words = [rf"\w*(?:{'|'.join(map(_inflected, roots))})\w*"] if roots else []
        patterns = (*sorted(named, key=len, reverse=True), *words)
        around = _BOUNDED if bounded else REST_OF_WORD
        return tuple(pattern.replace(r"\w*", around) for pattern in patterns)

    def terms_in(self, matched: bytes) -> tuple[int, ...]:
        """Return the indices of the terms that a matched text stands for."""
        known = self._known.get(matched)
        if known is None:
            known = self._terms_in(matched.decode("utf-8", "replace"))
            if len(self._known) < MOST_KNOWN:
                self._known[matched] = known
        return known

    def count(self, matched: Iterable[bytes]) -> dict[int, int]:
        """Return how many of some matched texts stand for each term, by its index."""
        counts: dict[int, int] = {}
        known = self._known
        for text, times in Counter(matched).items():
            found = known.get(text)
            for index in self.terms_in(text) if found is None else found:
                counts[index] = counts.get(index, 0) + times
        return counts

    def _terms_in(self, text: str) -> tuple[int, ...]:
        """Look all words up by the text's tokens at once, and ask the other spellings one by one.

        Two neighbouring words of a goal make a spelling, so a long goal has many of them and almost no text any.
        """
        found = [i for token in _tokens_of(text) for i in self._roots.get(token, ())] if self._roots else []
        found += [i for i, spelling in self._others if spelling.recognises(text)]
        if self._pairs and self._any_pair.search(joined(text)):
            found += [i for i, spelling in self._pairs if spelling.recognises(text)]
        return tuple(sorted(set(found)))
