"""The names in a sentence, and the sentence cut into parts that no name is cut by.

A name is quoted text or something written like an identifier or a path. What the parts mean is the business of
``halting_grammar``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from rtch.models.vocab import ConfidenceClass

MAX_NAME_CHARS = 400
"""Longer quotes are prose; the same bound as a term's."""

BLOT = "\ue000"
"""Stands for a character that has been read: no letter, no space, no mark of punctuation."""


class Name(NamedTuple):
    """What a sentence names, and where it stands."""

    start: int
    end: int
    text: str
    is_path: bool


_START = attrgetter("start")


class Part(NamedTuple):
    """A span of the sentence; ``masked`` has the same length, in lower case, with its names blotted out."""

    start: int
    text: str
    masked: str
    names: tuple[Name, ...]

    def cut(self, start: int, end: int) -> Part:
        """Return the part between two offsets of this one."""
        low, high = self.start + start, self.start + end
        first = bisect_left(self.names, low, key=_START)
        last = bisect_left(self.names, high, lo=first, key=_START)
        return Part(low, self.text[start:end], self.masked[start:end], self.names[first:last])

    @property
    def verbatim(self) -> str:
        """The person's words without the punctuation around them."""
        return self.text.strip(" \t\r,:")


_EXTENSIONS = (
    "adoc|bash|bat|c|cc|cfg|cjs|conf|cpp|cs|css|csv|cxx|dart|ex|exs|go|gradle|h|hh|hpp|hs|htm|html|ini|ipynb|java|jl"
    "|js|json|jsonl|jsx|kt|kts|lock|log|lua|m|md|mjs|ml|mm|php|pl|pm|proto|ps1|py|pyi|r|rb|rs|rst|scala|scss|sh|sql"
    "|svelte|swift|tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig|zsh"
)
_QUOTED = re.compile(
    r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|«([^»\n]+)»|(?<![\w'])'([^'\n]+)'(?![\w'])|\u2018([^\u2018\n]+?)\u2019(?!\w)"
)
_BARE = re.compile(
    rf"""
      (?P<path> (?<![\w./~@+-])
                (?: (?: (?:\.{{1,2}}|~)? / )? [\w.@+-]+ (?: / [\w.@+-]+ )+ \. (?:{_EXTENSIONS}) \b
                  | (?: \.{{1,2}} / )? [\w.@+-]+ (?: / [\w.@+-]+ )+ / (?!\w)
                  | (?: [\w@+-]+ \. )+ (?:{_EXTENSIONS}) \b (?!\() (?!\.\w)
                  | (?: [\w.@+-]+ / ){{2,}} [\w@+-]+ ) )
    | (?P<term> (?<![\w-]) --[a-z][\w-]+
              | (?<![\w-]) [A-Z][A-Z0-9]+ (?: - [A-Z0-9]+ )* - \d+ \b
              | (?<![\w.:]) [A-Za-z_]\w* (?: (?:\.|::) [A-Za-z_]\w* )+ (?: \(\) )?
              | (?<![\w.]) [A-Za-z_]\w* \(\)
              | (?<![\w.]) __\w+__
              | (?<![\w.]) \w* [A-Za-z0-9] _ \w+
              | \b [a-z]+ [A-Z] \w* \b
              | \b [A-Z][a-z0-9]+ (?: [A-Z] [A-Za-z0-9]* )+ \b )
    """,
    re.VERBOSE,
)
_NO_NAMES = frozenset(
    {
        *(member.value for member in ConfidenceClass),
        *("claim_supporting", "source_bearing", "explicit_seed", "explicit_seeds", "known_target", "e.g", "i.e"),
        *("github", "gitlab", "javascript", "typescript", "postgresql", "powershell", "macos", "ios"),
    }
)
"""Written like identifiers, and words of the grammar or of plain English."""

_ABBREVIATIONS = re.compile(r"\b(?:e\.g|i\.e|etc|cf|vs|approx|min|max)\.")
_BETWEEN = re.compile(r"\bbetween (\w+) and (\w+)\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_STOPS = re.compile(r"[;\n]|[.!?]+(?=\s|$)")
_JOINTS = re.compile(r",(?:\s*and\b)?|\band\b|\bplus\b|\bas well as\b|\balong with\b|&")


def parts_of(sentence: str) -> Iterator[Part]:
    """Cut a sentence at its stops: ``. ; ! ?`` and line breaks."""
    names = tuple(_names(sentence))
    masked = list(_lowered(sentence))
    for name in names:
        masked[name.start : name.end] = BLOT * (name.end - name.start)
    yield from _cut(Part(0, sentence, "".join(masked), names), _STOPS)


def clauses_of(part: Part) -> Iterator[Part]:
    """Cut a part at commas and conjunctions."""
    return _cut(part, _JOINTS)


def _cut(part: Part, at: re.Pattern[str]) -> Iterator[Part]:
    start = 0
    for joint in at.finditer(part.masked):
        yield part.cut(start, joint.start())
        start = joint.end()
    yield part.cut(start, len(part.text))


def _lowered(sentence: str) -> str:
    """Return the sentence in lower case and of the same length; what would be cut in the wrong place is rewritten."""
    text = "".join(char.lower() if len(char.lower()) == 1 else char for char in sentence)
    text = _ABBREVIATIONS.sub(lambda match: match[0].replace(".", " "), text)
    text = _BETWEEN.sub(lambda match: f"{match[1]} to {match[2]}".rjust(len(match[0])), text)
    return _THOUSANDS.sub(BLOT, text).replace("_", " ")


def _names(sentence: str) -> Iterator[Name]:
    """Yield quoted texts and bare identifiers, in order, none inside another."""
    position = 0
    for quoted in _QUOTED.finditer(sentence):
        yield from _bare_names(sentence, position, quoted.start())
        inner = next(group for group in quoted.groups() if group is not None).strip()
        if inner and len(inner) <= MAX_NAME_CHARS:
            yield _name(quoted.start(), quoted.end(), inner, is_path=_looks_like_path(inner))
        position = quoted.end()
    yield from _bare_names(sentence, position, len(sentence))


def _bare_names(sentence: str, start: int, end: int) -> Iterator[Name]:
    for found in _BARE.finditer(sentence, start, end):
        if found[0].lower() not in _NO_NAMES and len(found[0]) <= MAX_NAME_CHARS:
            yield _name(found.start(), found.end(), found[0], is_path=found["path"] is not None)


def _name(start: int, end: int, text: str, *, is_path: bool) -> Name:
    return Name(start, end, text.removeprefix("./") if is_path else text.removesuffix("()"), is_path)


def _looks_like_path(quoted: str) -> bool:
    if re.search(r"[\s*?\[\](){}<>=\"':,;|]", quoted):
        return False
    has_extension = re.fullmatch(rf"[\w.@+-]+\.(?:{_EXTENSIONS})", quoted) is not None
    return has_extension or "/" in quoted.strip("/") or quoted.endswith("/")
