"""Literal terms as one rg expression, and which of them a match holds."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

MAX_UNIONS = 256
"""Texts of overlapping literals that are looked for as well; real terms overlap in a few dozen ways."""


@dataclass(frozen=True)
class Literals:
    """Literal patterns as one expression that misses none of them on any line.

    Alternatives are tried longest first, and literals that can overlap (``resolve_zone``,
    ``zone_root``) have their union as a further alternative. So each literal lies in some match on
    each of its lines; ``within`` tells which ones a match holds. Only literals that can be chained
    in more than MAX_UNIONS ways are not promised that.
    """

    patterns: tuple[str, ...]
    ignore_case: bool = False

    def expressions(self) -> list[str]:
        """Return rg's alternatives, with the Latin-1 form of literals that are not ASCII."""
        texts = [text.lower() for text in self.patterns] if self.ignore_case else self.patterns
        ordered = sorted({*self.patterns, *_unions(texts)}, key=lambda text: (-len(text.encode()), text))
        found = [_quoted(text) for text in ordered]
        found += [form for text in ordered for form in _latin(text, ignore_case=self.ignore_case)]
        return found

    @cached_property
    def _folded(self) -> tuple[str, ...]:
        return tuple(map(self._fold, self.patterns))

    @cached_property
    def _known(self) -> dict[bytes, tuple[int, ...]]:
        return {}

    def within(self, text: bytes) -> tuple[int, ...]:
        """Return the indices of the patterns that occur in a match's text."""
        known = self._known.get(text)
        if known is None:
            try:
                whole = self._fold(text.decode())
            except UnicodeDecodeError:
                whole = self._fold(text.decode("latin-1"))
            known = tuple(i for i, pattern in enumerate(self._folded) if pattern in whole)
            self._known[text] = known
        return known

    def _fold(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text


def _unions(literals: Iterable[str]) -> set[str]:
    """Return the texts in which literals overlap: the end of one, or of a union, begins another.

    The longest overlaps come first where there are too many.
    """
    known = sorted(set(literals))
    by_prefix: dict[str, list[str]] = {}
    for text in known:
        for size in range(1, len(text)):
            by_prefix.setdefault(text[:size], []).append(text)
    found: set[str] = set()
    fresh = known
    while fresh and len(found) < MAX_UNIONS:
        joined = {
            union: size
            for first in fresh
            for size in range(1, len(first))
            for second in by_prefix.get(first[-size:], ())
            if second not in (union := first + second[size:])[: len(first)] and union not in found
        }
        fresh = sorted(joined, key=lambda text: (-joined[text], text))[: MAX_UNIONS - len(found)]
        found.update(fresh)
    return found


def _quoted(text: str) -> str:
    """Escape what is special in rg's syntax, and nothing else: a backslash before ``<`` is an assertion there."""
    return re.sub(r"[\\.+*?()|\[\]{}^$#&~-]", r"\\\g<0>", text)


def _latin(text: str, *, ignore_case: bool) -> Iterator[str]:
    """Yield a literal as Latin-1 bytes, for files in that encoding; ASCII literals need none."""
    if text.isascii():
        return
    try:
        pieces = [_latin_char(char, ignore_case=ignore_case) for char in text]
    except UnicodeEncodeError:
        return
    yield "(?-u:" + "".join(pieces) + ")"


def _latin_char(char: str, *, ignore_case: bool) -> str:
    if char.isascii():
        return _quoted(char)
    forms = {char.encode("latin-1")}
    if ignore_case:
        for other in (char.lower(), char.upper()):
            with contextlib.suppress(UnicodeEncodeError):
                forms.add(other.encode("latin-1"))
    return "(?:" + "|".join(f"\\x{form[0]:02X}" for form in sorted(forms) if len(form) == 1) + ")"
