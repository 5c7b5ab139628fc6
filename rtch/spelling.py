"""Spellings: the patterns by which terms are searched, and which terms a matched text stands for.

One pass of rg carries every term. A word is searched inside identifiers and counted only where it
is a whole part of one (``log`` in ``log_stats``, never in ``catalog``); a name is found in all its
spellings; anything else is a literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rtch.words import joined, parts, stem, tokens


class Spelling:
    """How one term is searched and recognised."""

    def __init__(self, term: str) -> None:
        self.term = term
        last = re.split(r"\.|::|#", term)[-1] if re.fullmatch(r"[\w.:#]+", term) else ""
        self._whole = joined(term)
        self._name = joined(last)
        self._root = stem(term.lower()) if term.isalpha() else ""
        self._lower = term.lower()
        pair = re.fullmatch(r"([A-Za-z]+) ([A-Za-z]+)", term)
        self._pair = pair.group(1).lower() + stem(pair.group(2).lower()) if pair else ""
        tic = re.fullmatch(r"tic[ _-]?(\d+)", term, re.IGNORECASE)
        self._moment = tic.group(1) if tic else ""

    @property
    def root(self) -> str:
        """The stem by which a single word is searched inside identifiers, or empty."""
        return self._root if self._root and len(parts(self.term)) == 1 else ""

    @property
    def pattern(self) -> str:
        """The regular expression of a name or literal; case is ignored by the search."""
        if self._pair:
            first, second = self.term.lower().split(" ")
            return rf"\w*{_escaped(first)}[-_ ]?{_escaped(stem(second))}\w*"
        if self._moment:
            return rf"\btic[ _-]?{self._moment}\b"
        if re.fullmatch(r"[\w-]+", self.term):
            pieces = parts(self.term)
            if len(pieces) > 1 and "".join(pieces) == self._whole:
                return rf"\w*{'[-_]?'.join(map(_escaped, pieces))}\w*"
            return rf"\w*{_escaped(self.term)}\w*"
        if self._name and self._name != self._whole:
            return rf"(?:{_escaped(self.term)}|\w*{_escaped(re.split(r'[.:#]+', self.term)[-1])}\w*)"
        return _escaped(self.term)

    def recognises(self, text: str) -> bool:
        """Tell whether a matched text stands for this term."""
        if self.root:
            return any(self.root in tokens(piece) for piece in re.split(r"\W+", text))
        if self._pair:
            return self._pair in joined(text)
        if re.fullmatch(r"[\w-]+", self.term):
            return self._whole in joined(text)
        return self._lower in text.lower() or (bool(self._name) and self._name == joined(text))

    def exact(self, text: str) -> bool:
        """Tell whether a matched text is the term itself in one of its spellings, and not a longer name."""
        plain = joined(text)
        return plain == self._whole or (bool(self._name) and plain == self._name)


def _escaped(text: str) -> str:
    """Escape text for a Rust regular expression; a run of blanks matches any run of blanks."""
    return re.sub(r"(?:\\ )+|\s+", r"\\s+", re.sub(r"([\\.+*?()|\[\]{}^$#&~-])", r"\\\1", text))


class SpellingSet:
    """Several terms in one search."""

    def __init__(self, terms: Iterable[str]) -> None:
        self.spellings = tuple(Spelling(term) for term in dict.fromkeys(terms))
        self._known: dict[bytes, tuple[int, ...]] = {}

    def patterns(self) -> tuple[str, ...]:
        """Return the patterns for one pass: names and literals each, and all words in one."""
        named = [spelling.pattern for spelling in self.spellings if not spelling.root]
        roots = sorted({spelling.root for spelling in self.spellings if spelling.root})
        words = [rf"\w*(?:{'|'.join(map(_escaped, roots))})\w*"] if roots else []
        return (*sorted(named, key=len, reverse=True), *words)

    def terms_in(self, matched: bytes) -> tuple[int, ...]:
        """Return the indices of the terms that a matched text stands for."""
        known = self._known.get(matched)
        if known is None:
            text = matched.decode("utf-8", "replace")
            known = tuple(i for i, spelling in enumerate(self.spellings) if spelling.recognises(text))
            if len(self._known) < 200_000:
                self._known[matched] = known
        return known
