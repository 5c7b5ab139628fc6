"""Durable ids and marker phrases in text: handles a record is known by, and words about its standing.

What is looked for lies in ``config/patterns.yaml``. Most files hold none of it, so each form has an
expression of its own that begins with its literal part, which is searched for in C; the little that
is found is judged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from rtch.data_keys import clip
from rtch.models.features import DurableId, FeatureLimits, Heading, Marker
from rtch.models.patterns import IdBody, IdShape, Patterns
from rtch.models.vocab import MarkerKind

_BODIES = {
    IdBody.DIGITS: "[0-9]",
    IdBody.DASHED_DIGITS: "[0-9-]",
    IdBody.HEX: "[0-9A-Fa-f]",
    IdBody.WORD: "[A-Za-z0-9_]",
    IdBody.SLUG: "[A-Za-z0-9_-]",
}
_LONGEST = 160
"""Characters of a body: the longest handles seen have 112."""

_CAPITALS = re.compile(r"[A-Z]+$")
_MOST_CAPITALS = 10
_AROUND_COLON = r"""["'*_`]{0,4}[ \t]*:["'*_`]{0,4}[ \t]*["'*_`]{0,4}"""
_NEGATED = re.compile(
    r"(?:\b(?:not?|non|never|nor|neither|without|no longer)|n['\u2019]t)[\s-]+"
    r"(?:(?:an?|the|yet|be|as|been|considered)\s+)*$",
    re.IGNORECASE,
)
_DISCLAIMED = re.compile(
    r"(?:\b(?:not?|non|never|nor|neither|without|cannot|wrong|was|were|formerly|once|used to)\b|n['\u2019]t\b)"
    r"[^.;:!?\n]*$",
    re.IGNORECASE,
)
"""Anywhere before a claim to be the source, in its sentence: it is denied, or was true once."""
_ELSEWHERE = re.compile(
    r"(?: of truth)?[ \t]+(?:[^.;\n]{0,40}[ \t])?(?:is|are|lives?|lies|stays?|remains?|sits)[ \t]+"
    r"(?!(?:this|these|here|below|above|in this|the following)\b)|[^.!\n]{0,80}\?",
    re.IGNORECASE,
)
"""After "source": another one is named, or it is asked which it is."""
_LOOK_BACK = 80


class MarkScan(NamedTuple):
    """Ids, each once at its first line, and markers by line; ``truncated`` when a limit was reached."""

    ids: tuple[DurableId, ...]
    markers: tuple[Marker, ...]
    truncated: bool


class _Form(NamedTuple):
    """One expression; ``lowered`` tells to run it over the text in small letters.

    ``literal`` is a part of every match, and is looked for first: that is 20 times as fast.
    """

    literal: str
    pattern: re.Pattern[str]
    lowered: bool
    shape: IdShape | None = None
    kind: MarkerKind = MarkerKind.TIC


class _Text(NamedTuple):
    """A text, and the same in small letters with every character at its place."""

    text: str
    lowered: str


class MarkFinder:
    """Finds what some patterns describe; make one for many files."""

    def __init__(self, patterns: Patterns) -> None:
        """Compile the patterns."""
        self._ids = tuple(map(_id_form, patterns.durable_ids))
        forms = tuple(
            _phrase_form(phrase, one.kind, lowered=one.ignore_case)
            for one in patterns.markers
            for phrase in one.phrases
        )
        self._phrases = tuple(form for form in forms if form.kind is not MarkerKind.SESSION_LESSONS)
        self._lessons = tuple(form for form in forms if form.kind is MarkerKind.SESSION_LESSONS)
        self._tics = tuple(form for form in self._ids if form.shape is not None and form.shape.name == "tic")

    def find(self, text: str, limits: FeatureLimits) -> MarkScan:
        """Find durable ids and marker phrases; lines count from 1 and end in LF."""
        both = _both(text)
        ids: dict[str, DurableId] = {}
        for line, span in _with_lines(text, _spans(self._ids, both)):
            handle = text[span.start : span.end]
            ids.setdefault(handle, DurableId(handle, line))
        markers = dict.fromkeys(
            Marker(span.kind, clip(text[span.start : span.end], limits.max_text), line)
            for line, span in _with_lines(text, _spans(self._phrases, both))
            if not _denied(text, span)
        )
        cut = len(ids) > limits.max_ids or len(markers) > limits.max_markers
        return MarkScan(tuple(ids.values())[: limits.max_ids], tuple(markers)[: limits.max_markers], cut)

    def in_headings(self, headings: Iterable[Heading]) -> tuple[Marker, ...]:
        """Find headings that open a session's lessons, and other headings dated by a tic."""
        found = []
        for heading in headings:
            both = _both(heading.text)
            if next(_spans(self._lessons, both), None):
                found.append(Marker(MarkerKind.SESSION_LESSONS, heading.text, heading.line))
            elif next(_spans(self._tics, both), None):
                found.append(Marker(MarkerKind.TIC, heading.text, heading.line))
        return tuple(found)


class _Span(NamedTuple):
    """A match that was judged to be one."""

    start: int
    end: int
    kind: MarkerKind


def _both(text: str) -> _Text:
    # Through bytes only A-Z change, so every character stays at its place; it is also faster than ``str.lower``.
    return _Text(text, text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass"))


def _id_form(shape: IdShape) -> _Form:
    joiner = f"[{re.escape(shape.joiner)}]" if shape.joiner else ""
    body = f"({_BODIES[shape.body]}{{{shape.least},{_LONGEST}}})"
    if shape.prefix is None:
        # Begins at the joiner, of which there are far fewer than capitals.
        return _Form(shape.joiner[:1], re.compile(f"{joiner}(?<=[A-Z]{joiner}){body}"), lowered=False, shape=shape)
    prefix = shape.prefix.lower() if shape.ignore_case else shape.prefix
    pattern = re.compile(f"{re.escape(prefix)}{joiner}{'' if shape.joined or not joiner else '?'}{body}")
    return _Form(prefix, pattern, shape.ignore_case, shape)


def _phrase_form(phrase: str, kind: MarkerKind, *, lowered: bool) -> _Form:
    words = (phrase.lower() if lowered else phrase).split()
    expression = r"[ \t]+".join(map(re.escape, words)).replace(r":[ \t]+", _AROUND_COLON)
    return _Form(words[0].rstrip(":"), re.compile(expression), lowered, kind=kind)


def _spans(forms: Iterable[_Form], both: _Text) -> Iterator[_Span]:
    """Yield what the forms find, by place; of two that overlap the one that begins first, then the longer."""
    found = []
    for form in forms:
        hay = both.lowered if form.lowered else both.text
        if form.literal not in hay:
            continue
        for match in form.pattern.finditer(hay):
            start, end = match.span()
            if form.shape is not None:
                start = _id_start(form.shape, both.text, match)
            if form.shape is None and both.text[end : end + 1] in {"_", "("}:
                continue  # a name of the code, such as canonical_url
            in_names = form.shape is not None and form.shape.in_names
            if start >= 0 and _stands_alone(both.text, start, end, in_names=in_names):
                found.append(_Span(start, end, form.kind))
    reached = 0
    for span in sorted(found, key=lambda one: (one.start, -one.end)):
        if span.start >= reached:
            reached = span.end
            yield span


def _stands_alone(text: str, start: int, end: int, *, in_names: bool) -> bool:
    """Tell whether no word goes on at either side.

    In JSON a line break within a string is a backslash and a letter, and that letter is none of the word's.
    """
    after = text[end : end + 1]
    if after.isalnum():
        return False
    before = text[start - 1 : start]
    if not before.isalnum() and (in_names or before != "_"):
        return True
    return before in {"n", "r", "t"} and text[start - 2 : start - 1] == "\\"


def _id_start(shape: IdShape, text: str, match: re.Match[str]) -> int:
    """Return where an id begins, or -1 for what only looks like one."""
    if match[1][-1] in "_-":  # the rest is a placeholder, as in cpr_<name>
        return -1
    if shape.prefix is not None:
        return match.start()
    word = _CAPITALS.search(text[max(0, match.start() - _MOST_CAPITALS - 1) : match.start()])
    if word is None or not 2 <= len(word[0]) <= _MOST_CAPITALS or word[0] in _excluded(shape.but_not):
        return -1
    return match.start() - len(word[0])


@lru_cache(maxsize=16)
def _excluded(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(words)


def _denied(text: str, span: _Span) -> bool:
    """Tell whether a phrase is negated, or says that something else is what it speaks of."""
    line_start = text.rfind("\n", 0, span.start) + 1
    before = text[max(line_start, span.start - _LOOK_BACK) : span.start]
    if span.kind is not MarkerKind.SOURCE_OF_TRUTH:
        return _NEGATED.search(before) is not None
    if _DISCLAIMED.search(before) is not None:
        return True
    return "source" in text[span.start : span.end].lower() and _ELSEWHERE.match(text, span.end) is not None


def _with_lines(text: str, spans: Iterable[_Span]) -> Iterator[tuple[int, _Span]]:
    line, counted = 1, 0
    for span in spans:
        line += text.count("\n", counted, span.start)
        counted = span.start
        yield line, span
