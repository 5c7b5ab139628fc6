"""Whose a path is: CODEOWNERS, by the rules of GitHub and GitLab.

Both take the last pattern that matches, and patterns much like those of ``.gitignore``: ``docs/*`` is of the files in
``docs`` alone, ``docs/`` and ``docs`` of all below. GitLab has sections as well: each has its own last match, and all
of them own the path. They are read below ``.gitlab``, and wherever a file has one.

Patterns are matched part by part without going back further than one star, so none takes longer than the product
of its length and the path's.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rtch.models.drift import NotJudged
from rtch.reading import SkippedFile, open_regular

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""In the order in which GitHub looks; the first that is there counts. GitLab's own place comes last."""
MAX_BYTES = 3 * 1024 * 1024
"""GitHub takes no larger file."""
MAX_LINE_CHARS = 4096
MAX_PATTERN_CHARS = 500
MAX_PARTS = 64
"""Of a pattern, between slashes; with these, the worst rule takes some milliseconds for one path."""
MAX_RULES = 20_000
MAX_PROBLEMS = 50
ALL_S = 10.0
"""Seconds for all paths; past them no owner is named. With a thousand rules a path takes 1.3 ms."""
_SECTION = re.compile(r"(\^)?\[([^\[\]]+)\](?:\[(\d+)\])?(?:\s+(.*))?$")
_OWNER = re.compile(r"@[\w.][\w./-]*|@@[\w-]+|[^\s@#]+@[^\s@#]+\.[^\s@#]+")
_WORD = re.compile(r"(?:\\.|[^\s\\])+")


class _Rule(NamedTuple):
    parts: tuple[str, ...]
    """Of the pattern between its slashes, from the top; ``**`` is any number of folders."""
    below: bool
    """Whether what lies below a match is of it too."""
    owners: tuple[str, ...]
    section: str


class Owners:
    """The owners that a tree names for its paths.

    Attributes:
        place: the file, relative to the folder that it was found in; empty where there is none.
        problems: what in it was not understood, by line, and why it could not be read.
    """

    def __init__(self, text: str = "", place: str = "", *, below: str = "") -> None:
        """Read rules.

        Args:
            text: of the file.
            place: where it lies.
            below: the folder that paths are relative to, as the file sees it; with a slash at its end.
        """
        self.place = place
        self.problems: tuple[NotJudged, ...] = ()
        self._below = below
        self._rules: list[_Rule] = []
        self._known: dict[str, tuple[str, ...]] = {}
        self._left = ALL_S
        self._read(text)

    @classmethod
    def of(cls, root: Path, top: Path | None) -> Owners:
        """Return the owners of a zone: by its own file, or else by that at the top of the repository around it."""
        bases = [(root, "")]
        if top is not None and root.resolve() != top.resolve() and root.resolve().is_relative_to(top.resolve()):
            bases.append((top, f"{root.resolve().relative_to(top.resolve()).as_posix()}/"))
        for base, below in bases:
            for place in PLACES:
                if not os.path.lexists(base / place):
                    continue
                try:
                    with open_regular(os.fsencode(base.resolve()), place.encode(), place) as file:
                        if file.row.size <= MAX_BYTES:
                            text = file.pread(0, file.row.size).decode("utf-8", "replace")
                            return cls(text, place, below=below)
                        why = f"{file.row.size} bytes, limit {MAX_BYTES}"
                except SkippedFile as skipped:
                    why = f"{skipped.reason} ({skipped.detail})"
                unread = cls("", place)
                unread.problems = (NotJudged(what=place, why=why),)
                return unread
        return cls()

    def of_path(self, path: str) -> tuple[str, ...]:
        """Return the owners of a path of the zone, as the file names them; nothing where nobody is named."""
        if path not in self._known and self._left > 0:
            begun = time.monotonic()
            owners = self._look_up(f"{self._below}{path}".strip("/").split("/"), begun + self._left)
            self._left -= time.monotonic() - begun
            if owners is None or self._left <= 0:
                self._left = 0.0
                self.problems += (NotJudged(what=self.place, why=f"its rules took more than {ALL_S:g} s"),)
            self._known[path] = owners or ()
        return self._known.get(path, ())

    def _look_up(self, parts: Sequence[str], end: float) -> tuple[str, ...] | None:
        """Return a path's owners; None where they are not known in time."""
        found: dict[str, tuple[str, ...]] = {}
        for rule in reversed(self._rules):
            if time.monotonic() > end:
                return None
            if rule.section not in found and _matches(rule, parts):
                found[rule.section] = rule.owners
        named = (owner for section in self._sections for owner in found.get(section, ()))
        return tuple(dict.fromkeys(named))

    def _read(self, text: str) -> None:
        lines = text.removeprefix("\ufeff").splitlines()
        sectioned = self.place.startswith(".gitlab/") or _has_sections(lines)
        problems: list[NotJudged] = []
        section = ""
        default: tuple[str, ...] = ()
        for number, line in enumerate(lines, 1):
            bare = line.strip()
            if not bare or bare.startswith("#"):
                continue
            head = _SECTION.match(_uncommented(bare)) if sectioned else None
            if head is not None:
                section, default = head[2].strip().casefold(), _owners_in((head[4] or "").split())[0]
                continue
            why = self._take(bare, section, default)
            if why:
                problems.append(NotJudged(what=f"{self.place}:L{number}", why=why))
        past = len(problems) - MAX_PROBLEMS
        if past > 0:
            problems[MAX_PROBLEMS:] = [NotJudged(what=self.place, why=f"{past} more lines are not understood")]
        self.problems = tuple(problems)
        self._sections = tuple(dict.fromkeys(rule.section for rule in self._rules))

    def _take(self, line: str, section: str, default: tuple[str, ...]) -> str:
        """Take a rule, and return what is not understood of it."""
        found = _WORD.match(line[:MAX_LINE_CHARS])
        pattern = found[0] if found else ""
        parts, below = _parts(pattern)
        why = _not_taken(line, pattern, parts)
        if not why and len(self._rules) >= MAX_RULES:
            why = f"more than {MAX_RULES} rules"
        if why:
            return why
        owners, strange = _owners_in(_uncommented(line[len(pattern) :]).split())
        if strange and not owners:
            # Without owners it would take those of earlier rules away.
            return f"no owner: {strange[0]}"
        self._rules.append(_Rule(parts, below, owners or default, section))
        return f"no owner: {strange[0]}" if strange else ""


def _not_taken(line: str, pattern: str, parts: Sequence[str]) -> str:
    """Return why a line cannot be a rule; nothing where it can."""
    if len(line) > MAX_LINE_CHARS or len(pattern) > MAX_PATTERN_CHARS or len(parts) > MAX_PARTS:
        return "the pattern or the line is too long"
    if not parts:
        return "no pattern"
    if pattern.startswith("!"):
        return "a pattern cannot be taken back"
    return "ranges of characters are not taken" if "[" in pattern.replace("\\[", "") else ""


def _has_sections(lines: Sequence[str]) -> bool:
    return any(_SECTION.match(_uncommented(line.strip())) for line in lines if line.lstrip()[:1] in {"[", "^"})


def _uncommented(text: str) -> str:
    """Return a line without a comment at its end: a hash after white space."""
    return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].rstrip()


def _owners_in(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the names among some words, and the other words."""
    owners = tuple(dict.fromkeys(word for word in words if _OWNER.fullmatch(word)))
    return owners, [word for word in words if not _OWNER.fullmatch(word)]


def _parts(pattern: str) -> tuple[tuple[str, ...], bool]:
    """Return a pattern's parts from the top, and whether what lies below a match is of it."""
    parts = [part for part in pattern.split("/") if part]
    if not parts:
        return (), False
    anchored = "/" in pattern.rstrip("/")
    folder = pattern.endswith("/")
    if folder:
        parts.append("**")
    if not anchored:
        parts.insert(0, "**")
    # Below ``docs/*`` nothing is meant, as the star is of files; ``*`` alone is of everything anyway.
    below = parts[-1] not in {"*", "**"}
    merged = [part for i, part in enumerate(parts) if part != "**" or parts[i - 1 : i] != ["**"]]
    if merged[-1] == "**":
        merged.append("*")
    return tuple(merged), below


def _matches(rule: _Rule, parts: Sequence[str]) -> bool:
    """Tell whether a rule is of a path: all of its parts, or the first of them where what is below counts too."""
    reached = {0}
    for name in parts:
        # ``reached`` are the parts of the rule that come next; each is looked at once for each part of the path.
        reached = _beyond(rule.parts, reached)
        if rule.below and len(rule.parts) in reached:
            return True
        reached = {
            state if rule.parts[state] == "**" else state + 1
            for state in reached
            if state < len(rule.parts) and (rule.parts[state] == "**" or _fits(rule.parts[state], name))
        }
        if not reached:
            return False
    return len(rule.parts) in reached


def _beyond(parts: Sequence[str], states: set[int]) -> set[int]:
    """Return some states and those behind a ``**``, which may be of no folder at all; not at a pattern's end."""
    return states | {state + 1 for state in states if state < len(parts) - 1 and parts[state] == "**"}


def _fits(pattern: str, name: str) -> bool:
    """Tell whether a part fits a name; a star that fails is tried further on, and those before it never again."""
    tokens = _tokens(pattern)
    if tokens is None:
        return pattern == name
    at, i, star, mark = 0, 0, -1, 0
    while at < len(name):
        if i < len(tokens) and tokens[i] == ("*", True):
            star, mark = i, at
            i += 1
        elif i < len(tokens) and (tokens[i] == ("?", True) or tokens[i] == (name[at], False)):
            at, i = at + 1, i + 1
        elif star >= 0:
            mark += 1
            at, i = mark, star + 1
        else:
            return False
    return all(token == ("*", True) for token in tokens[i:])


@lru_cache(maxsize=1 << 12)
def _tokens(pattern: str) -> list[tuple[str, bool]] | None:
    """Return the characters of a pattern, and which of them stand for others; None where all stand for themselves."""
    if not set(pattern) & set("*?\\"):
        return None
    return [
        (escaped, False) if escaped else (char, char in "*?")
        for char, escaped in ((found[0], found[1]) for found in re.finditer(r"\\(.)|.", pattern, re.DOTALL))
    ]
