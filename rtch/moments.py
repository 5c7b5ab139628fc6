"""Times that a request names: a tic, a date, or a range of either; and the texts that are of such a time.

``tic 412``, ``tics 200 to 206``, ``since tic 220``, ``2025-02-26``, ``before 2025-03-01``. What tics are called,
and the keys by which rows give them, is in ``config/tics.json``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from rtch.tic_words import TicWords, tic_words

LONGEST = 9
"""Digits of the last tic of a range without an end."""
_DATE = r"\d{4}-\d{2}-\d{2}"
_FIRST_DATE, _LAST_DATE = "0000-00-00", "9999-99-99"
_LEAD = re.compile(r"\b(since|after|before|until|up to|between)\s+(?:the\s+)?$", re.IGNORECASE)
_TO = r"(?:\s*(?:-|\u2013|\.\.\.?)\s*|\s+(?:to|through|until{})\s+)"
_MORE = re.compile(r"(?:\s*(?:,|&|\band\b|\bor\b)\s*\d{1,18}\b)+")
_HELD = r"""(?:[ _-]?|["'`*]{0,2}\s{0,2}[:=]\s{0,2}["'`*]{0,2})"""
"""What stands between a tic's name and its number, in prose, names and rows."""


class Moment(NamedTuple):
    """A time or a range of times, both ends included.

    Attributes:
        text: how it is called, as ``tic 412``, ``tic 200-206``, ``tic 220-`` or ``2025-02-26``.
        pattern: an expression, for rg, of all texts that may be of it; case is ignored.
    """

    text: str
    pattern: str
    exact: re.Pattern[str]
    is_tic: bool

    def holds(self, text: str) -> bool:
        """Tell whether a text names the time."""
        return self.exact.search(text) is not None


class Said(NamedTuple):
    """A time as a request names it: how it is called, and the span of the text that names it."""

    called: str
    start: int
    end: int


def moments_in(text: str) -> Iterator[Said]:
    """Yield the times that a request names, in order; a single one is called as it is written."""
    at, called_so = 0, tic_words().words
    while (found := _single(called_so).search(text, at)) is not None:
        before = _LEAD.search(text[: found.start()])
        lead = before.group(1).lower() if before else ""
        tail = _tail(called_so, bool(found["tic"]), lead == "between").match(text, found.end())
        first = found["tic"] or found["date"]
        other = tail.group(1) if tail and (len(first), first) <= (len(tail.group(1)), tail.group(1)) else ""
        if found["tic"]:
            many = found["word"].lower() != called_so[0]
            called = _tic_called(found, other, lead, called_so[0])
        else:
            many = False
            called = _date_called(found["date"], other, lead)
        more = _MORE.match(text, found.end()) if many and not other else None
        at = tail.end() if tail and other else more.end() if more else found.end()
        yield Said(called, found.start(), at)
        for number in re.findall(r"\d+", more.group()) if more else ():
            yield Said(f"{called_so[0]} {number}", found.start(), at)


def _tic_called(found: re.Match[str], other: str, lead: str, word: str) -> str:
    one = int(found["tic"])
    if other:
        return f"{word} {one}-{int(other)}"
    ranges = {"since": (one, ""), "after": (one + 1, ""), "before": ("", max(0, one - 1)), "until": ("", one)}
    low, high = ranges.get("until" if lead == "up to" else lead, (None, None))
    if low is None:
        return found.group() if found["word"].lower() == word else f"{word} {one}"
    return f"{word} {low}-{high}"


def _date_called(one: str, other: str, lead: str) -> str:
    if other:
        return f"{one}..{other}"
    if lead in {"since", "after"}:
        return f"{one}.."
    return f"..{one}" if lead in {"before", "until", "up to"} else one


def moment_of(term: str) -> Moment | None:
    """Return the time that a term is, or None for any other term."""
    return _moment_of(term, tic_words()) if any(one.isdigit() for one in term) else None


@lru_cache(maxsize=200)
def _moment_of(term: str, rules: TicWords) -> Moment | None:
    words = "|".join(map(re.escape, rules.words))
    tic = re.fullmatch(rf"(?:{words})[ _-]?(?:(\d+)|(\d*)-(\d*))", term, re.IGNORECASE)
    if tic:
        low, high = (tic.group(1),) * 2 if tic.group(1) else (tic.group(2) or "0", tic.group(3) or "9" * LONGEST)
        return _tic(term, rules, low, high)
    date = re.fullmatch(rf"({_DATE})|({_DATE})?\.\.({_DATE})?", term)
    if date:
        low, high = (
            (date.group(1),) * 2 if date.group(1) else (date.group(2) or _FIRST_DATE, date.group(3) or _LAST_DATE)
        )
        return _date(term, low, high)
    return None


def _tic(term: str, rules: TicWords, low: str, high: str) -> Moment:
    numbers = "|".join(_numbers(low.lstrip("0") or "0", high.lstrip("0") or "0"))
    named = "|".join(map(re.escape, (*rules.words, *rules.stamps)))
    lead = rf"(?:{named}){_HELD}0*(?:{numbers})"
    # A row may date its tic: the number of a year is none of a tic.
    pattern = rf"(?:\b|_){lead}(?:\b|_)(?:-\d\d-\d\d)?"
    return Moment(term, pattern, re.compile(rf"(?<![^\W_]){lead}(?!\d|-\d\d-\d\d)", re.IGNORECASE), is_tic=True)


def _date(term: str, low: str, high: str) -> Moment:
    days = _between(low, high).replace("-?", "[-_]?")
    return Moment(term, rf"(?:\b|_){days}\d*", re.compile(rf"(?<![^\W_]){days}(?!\d)"), is_tic=False)


def _numbers(low: str, high: str) -> Iterator[str]:
    """Yield an expression of the numbers from one to another for each count of digits that they have."""
    for digits in range(len(low), len(high) + 1):
        first = low if digits == len(low) else "1" + "0" * (digits - 1)
        last = high if digits == len(high) else "9" * digits
        if first <= last:
            yield _between(first, last)


def _between(low: str, high: str) -> str:
    """Return an expression of the texts from one to another of the same length, of digits and dashes.

    A dash stands as ``-?``, which is no part of any other form.
    """
    at = next((i for i, (a, b) in enumerate(zip(low, high, strict=True)) if a != b), len(low))
    same = low[:at].replace("-", "-?")
    if at == len(low):
        return same
    first, last, rest, other = low[at], high[at], low[at + 1 :], high[at + 1 :]
    if not rest:
        return f"{same}[{first}-{last}]"
    least, most = re.sub(r"\d", "0", rest), re.sub(r"\d", "9", rest)
    ways = []
    inner = (chr(ord(first) + (rest != least)), chr(ord(last) - (other != most)))
    if rest != least:
        ways.append(first + _between(rest, most))
    if inner[0] <= inner[1]:
        ways.append(f"[{inner[0]}-{inner[1]}]" + re.sub(r"\d", "#", least).replace("-", "-?").replace("#", r"\d"))
    if other != most:
        ways.append(last + _between(least, other))
    return f"{same}(?:{'|'.join(ways)})"


@lru_cache(maxsize=4)
def _single(called_so: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(map(re.escape, called_so))
    return re.compile(rf"\b(?P<word>{words})[ _-]?(?P<tic>\d{{1,18}})\b|\b(?P<date>{_DATE})\b", re.IGNORECASE)


@lru_cache(maxsize=16)
def _tail(called_so: tuple[str, ...], of_tics: bool, joined_by_and: bool) -> re.Pattern[str]:  # noqa: FBT001
    words = "|".join(map(re.escape, called_so))
    last = rf"(?:(?:{words})[ _-]?)?(\d{{1,18}})\b" if of_tics else rf"({_DATE})\b"
    return re.compile(_TO.format("|and" if joined_by_and else "") + last, re.IGNORECASE)
