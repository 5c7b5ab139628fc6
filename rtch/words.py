"""Words: how text and identifiers are cut into comparable parts.

An identifier counts as itself without separators and as its parts, lower-cased and lightly
stemmed: ``HarmonyEngine``, ``harmony_engine`` and ``harmony-engines`` meet. The stemmer takes off
only endings that seldom change the subject; a wrong stem costs a little noise, a missed one a file.
"""

from __future__ import annotations

import re
from functools import lru_cache

IDENTIFIER = re.compile(r"[^\W\d]\w*|\d{2,}")
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
_SHORT = 4
_DOUBLED = frozenset("bdfgmnprt")


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return a lower-case word without its inflection; words of up to four letters stay."""
    if len(word) <= _SHORT or word[-1].isdigit():
        return word
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ations", "at"), ("ation", "at"), ("ed", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _trim(word[: -len(ending)] + instead, undouble=ending in {"ing", "ed"})
    if word.endswith(("ss", "us", "is")):
        return word
    for ending in ("ers", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _trim(word[: -len(ending)], undouble=False)
    return _trim(word, undouble=False)


def _trim(word: str, *, undouble: bool) -> str:
    if undouble and len(word) > 3 and word[-1] == word[-2] and word[-1] in _DOUBLED:
        word = word[:-1]
    return word.rstrip("e") if len(word) > _SHORT else word


def parts(identifier: str) -> tuple[str, ...]:
    """Return an identifier's parts at case changes, digits and separators, lower-cased, in order."""
    return tuple(part.lower() for part in PART.findall(identifier))


def joined(text: str) -> str:
    """Return text without separators, lower-cased: the form in which spellings of one name are equal."""
    return re.sub(r"[\W_]+", "", text).lower()


@lru_cache(maxsize=400_000)
def tokens(identifier: str) -> tuple[str, ...]:
    """Return what an identifier counts as: itself without separators if it has parts, and its stemmed parts."""
    pieces = PART.findall(identifier)
    if len(pieces) > 1:
        whole = identifier.replace("_", "").lower()
        return (whole, *(stem(piece.lower()) for piece in pieces if len(piece) > 1))
    word = identifier.strip("_").lower()
    return (stem(word),) if len(word) > 1 else ()


def text_tokens(text: str) -> list[str]:
    """Return the tokens of running text, in order."""
    return [token for word in IDENTIFIER.findall(text) for token in tokens(word)]


def is_identifier_like(word: str) -> bool:
    """Tell whether a word is written as a name in code: inner capital, underscore, or letters with digits."""
    return bool(
        re.search(r"[a-z0-9][A-Z]", word)
        or ("_" in word.strip("_"))
        or (re.search(r"[A-Za-z]", word) and re.search(r"\d", word))
        or (word.startswith("_") and len(word) > 2)
    )
