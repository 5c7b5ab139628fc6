"""Words: how text and identifiers are cut into comparable parts.

An identifier counts as itself without separators and as its parts, lower-cased and lightly
stemmed: ``HarmonyEngine``, ``harmony_engine`` and ``harmony-engines`` meet. The stemmer takes off
only endings that seldom change the subject; a wrong stem costs a little noise, a missed one a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

IDENTIFIER = re.compile(r"[^\W\d]\w*|\d{2,}")
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
FILE_ENDING = re.compile(
    r"pyi?x?|pxd|[cm]?[jt]sx?|vue|svelte|go|rs|md|rst|adoc|txt|cfg|ini|toml|ya?ml|jsonl?|c|h|cc|cpp|hpp|java|kt|rb"
    r"|php|cs|swift|scala|sh|sql|css|html|lock|xml|proto"
)
"""Endings by which a word with a dot is taken for a file name."""
_SEPARATORS = re.compile(r"[\W_]+")
_SHORT = 4
_ENDINGS = (
    *(("ies", "y"), ("ied", "y"), ("ie", "y"), ("sses", "ss")),
    *(("ing", ""), ("ations", "at"), ("ation", "at"), ("ed", "")),
)
_VOWEL = re.compile("[aeiouy]")
_LOST_E = re.compile("[^aeiou][aeiouy][^aeiouwxy]")
"""What is left of ``naming`` and ``filed``; of ``adding`` and ``boxed`` it is the word itself."""
_DOUBLED = frozenset("bdfgmnprt")


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return a lower-case word without its inflection; words of up to four letters stay."""
    if len(word) <= _SHORT or word[-1].isdigit():
        return word
    for ending, instead in _ENDINGS:
        rest = word[: -len(ending)]
        if not word.endswith(ending) or len(rest) < 3:
            continue
        if instead:
            return _trim(rest + instead)
        if not _VOWEL.search(rest) or word.endswith("eed"):
            break  # string, spring and speed have no such ending
        return _trim(_restored(rest))
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-2] if word.endswith(("ses", "xes", "zes", "ches", "shes")) else word[:-1]
        word = word + "e" if word[-1] in "sz" and _LOST_E.fullmatch(word) else word
    return _trim(word)


def beginning(root: str) -> str:
    """Return what every word of a stem begins with: ``quer`` of query and queries, ``fil`` of file and filing."""
    changes = len(root) >= _SHORT and (root[-1] == "y" or (len(root) == _SHORT and root[-1] == "e"))
    return root[:-1] if changes else root


def _restored(rest: str) -> str:
    """Return a verb as it was before ``ing`` or ``ed``: ``run`` of ``runn``, ``file`` of ``fil``."""
    if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] in _DOUBLED:
        return rest[:-1]
    return rest + "e" if _LOST_E.fullmatch(rest) else rest


def _trim(word: str) -> str:
    return word.rstrip("e") if len(word) > _SHORT else word


def last_name(text: str) -> str:
    """Return the last part of a dotted or qualified name; a file's ending is none, nor is one letter."""
    last = re.split(r"\.|::|#", text)[-1] if re.fullmatch(r"[\w.:#]+", text) else ""
    return text if len(last) < 2 or FILE_ENDING.fullmatch(last) else last


def parts(identifier: str) -> tuple[str, ...]:
    """Return an identifier's parts at case changes, digits and separators, lower-cased, in order."""
    return tuple(part.lower() for part in PART.findall(identifier))


@lru_cache(maxsize=50_000)
def joined(text: str) -> str:
    """Return text without separators, lower-cased: the form in which spellings of one name are equal."""
    return (text.replace("_", "") if text.isidentifier() else _SEPARATORS.sub("", text)).lower()


HEAD = 3
"""Letters that a stem shares with its word at least."""


def heads(forms: Iterable[str]) -> re.Pattern[str]:
    """Return what any text must match to hold a word of one of these forms: a cheap sieve before cutting it up."""
    found = sorted({re.escape(form[:HEAD]) for form in forms if form})
    return re.compile("|".join(found) if found else r"(?!)", re.IGNORECASE)


@lru_cache(maxsize=50_000)
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
