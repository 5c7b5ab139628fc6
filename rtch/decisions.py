"""Whether a goal decides what becomes of an artifact: keep, merge, sunset, reposition, build next.

The words are in ``config/decisions.json``. A verb alone is no decision ("merge two dicts"): it takes a question, a
choice between two of them, or an order whose whole object is an artifact ("retire the old queue compiler").
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from pathlib import Path

from rtch.models.intake import Intake
from rtch.models.vocab import Investigation

_CONFIG = Path(__file__).parent / "config" / "decisions.json"
_MAX_CHARS = 400
"""Of a goal in which a decision is looked for: it is one sentence, and a report of an error is no decision."""
_NAME = r"(?!(?:as|at|by|fails?|for|from|if|in|into|is|of|on|or|and|to|when|while|with)\b)[\w.@+/-]+"
_PATH = r"(?:[\w.@+-]+(?:/[\w.@+-]+)+/?|[\w@+-]+\.[A-Za-z]\w{0,7})"


def is_disposition(intake: Intake) -> bool:
    """Say whether an intake decides what becomes of an artifact; its ``investigation``, where given, has the last word.

    A name alone is no artifact ("retire old_connections" may be of a program's values): the object of an order
    is a path, or ends with a word that names a kind of artifact.
    """
    if intake.investigation is not None:
        return intake.investigation == Investigation.DISPOSITION  # a packet that is shown has plain text there
    goal = " ".join(intake.goal.split())
    return len(goal) <= _MAX_CHARS and any(pattern.search(goal) for pattern in _patterns())


def decision_words() -> frozenset[str]:
    """Return the words by which a decision is told, which name no artifact."""
    names = ("cues", "choices", "done", "doing", "orders", "joins")
    return frozenset(word for name in names for word in _words()[name])


@functools.cache
def _words() -> dict[str, list[str]]:
    words: dict[str, list[str]] = json.loads(_CONFIG.read_bytes())
    return words


@functools.cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    words = _words()
    cue, kind, order, join = (_any(words[name]) for name in ("cues", "artifacts", "orders", "joins"))
    choice, done, doing = (_any(words[name]) for name in ("choices", "done", "doing"))
    any_form = f"(?:{choice}|{done}|{doing})"
    described = rf"(?:the |our |this |that |its )?(?:{_NAME} ){{0,4}}?{kind}s?(?: {_PATH})?"
    named = rf"(?:the |our |this |that )?(?:{_NAME} ){{0,3}}?{_PATH}(?: {kind})?"
    artifact = rf"(?:{described}|{named})"
    opening = r"^(?:please |let us |let's |we (?:want|plan|need|have) to |time to )?"
    # After the artifact no other noun: "the module option" is an option.
    closing = r"(?=[.;!?]? *$|[,;] | (?:in favou?r of|because|since|once|now that|after|before|and)\b)"
    found = (
        rf"\bshould (?:we|i|you|they|one) (?:\w+ ){{0,2}}?{choice}\b",
        rf"^should [^.;?!]*\bbe {done}\b",
        rf"\b{cue}\b[^.;?!]*\b(?:(?:to|we|i|you|they|or|should|not) {choice}|(?:be|or) {done})\b",
        rf"\b(?:worth|{cue})\b[^.;?!]*\b{doing}\b",
        rf"\b{any_form}(?:[ /]\S+){{0,4}} (?:decision|or not)\b",
        rf"\b{any_form}\b[^.;?!]{{0,40}}(?:\bor\b|/)[^.;?!]{{0,20}}\b{any_form}\b",
        r"\bwhat\b[^.;?!]*\b(?:build|do) next\b",
        r"(?<![\w-])disposition (?:of|for|decision)\b",
        rf"{opening}{order} {artifact}{closing}",
        rf"{opening}{join} {artifact} (?:in)?to {artifact}{closing}",
    )
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in found)


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, words))})"
