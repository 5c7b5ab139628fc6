"""Literal terms as one rg expression, and which of them a match holds."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Literals:
    """Literal patterns as one expression that misses none of them on any line.

    Alternatives are tried longest first, and two literals that can overlap (``resolve_zone``,
    ``zone_root``) have their union as a further alternative. So each literal lies in some match on
    each of its lines; ``within`` tells which ones a match holds.
    """

    patterns: tuple[str, ...]
    ignore_case: bool = False

    def expressions(self) -> list[str]:
        """Return rg's alternatives, with the Latin-1 form of literals that are not ASCII."""
        unions = {union for a in self.patterns for b in self.patterns for union in _unions(a, b)}
        ordered = sorted({*self.patterns, *unions}, key=lambda text: (-len(text.encode()), text))
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


def _unions(first: str, second: str) -> Iterator[str]:
    """Yield the texts in which the end of one literal is the beginning of the other."""
    for size in range(1, min(len(first), len(second))):
        if first.endswith(second[:size]):
            yield first + second[size:]


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
