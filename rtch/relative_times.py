"""Times that a request names by where it stands: ``the last 5 tics``, ``yesterday``, ``2 weeks ago``.

They are counted from the zone's last tic, or from what the request says it is ``as of``, and never from the clock: the
same question on the same tree has the same answer. What there is nothing to count from stays words, and a question.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rtch.tic_words import tic_words
from rtch.tics import LastTic, last_tic

_DAYS = {"day": 1, "week": 7, "month": 30}
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNT = rf"(?:\d{{1,4}}|{'|'.join(_NUMBERS)})"


class Told(NamedTuple):
    """A relative time: as it is said, as it is called where it is resolved (else empty text), and why."""

    said: str
    called: str
    because: str


class Reading(NamedTuple):
    """A request with its relative times put into tics and dates, and what they were."""

    text: str
    times: tuple[Told, ...]


def origin_of(goal: str, root: Path) -> LastTic | None:
    """Return what relative times are counted from; None where the goal names none, or the zone counts no tics."""
    return last_tic(root) if _relative(tic_words().words).search(goal) else None


def absolute(goal: str, last: LastTic | None) -> Reading:
    """Return a goal with the relative times that can be resolved put in place of their words.

    Args:
        goal: the text.
        last: the zone's last tic, as ``origin_of`` found it.
    """
    words = tic_words().words
    times: list[Told] = []
    pieces: list[str] = []
    at = 0
    stated = _stated(words).search(goal)
    for found in _relative(words).finditer(goal):
        told = _in_days(found, stated, last) if _unit(found) else _in_tics(found, words[0], stated, last)
        times.append(told)
        if told.called:
            pieces += goal[at : found.start()], told.called
            at = found.end()
    return Reading("".join((*pieces, goal[at:])), tuple(dict.fromkeys(times)))


def _in_tics(found: re.Match[str], word: str, stated: re.Match[str] | None, last: LastTic | None) -> Told:
    said = " ".join(found.group().split())
    if stated and stated["tic"]:
        now, because = int(stated["tic"]), f"counted from the {word} that the goal is as of"
    elif last is not None:
        now, because = last.number, f"counted from {word} {last.number}, the last that the zone counted"
    else:
        return Told(said, "", f"the zone counts no {word}")
    first, final = _span(found, now)
    if final < 1:
        return Told(said, "", f"there was no such {word} before {word} {now}")
    first = max(1, first)
    return Told(said, f"{word} {final}" if first == final else f"{word} {first} to {final}", because)


def _in_days(found: re.Match[str], stated: re.Match[str] | None, last: LastTic | None) -> Told:
    said = " ".join(found.group().split())
    if stated and stated["date"]:
        text, because = stated["date"], "counted from the day that the goal is as of"
    elif last is not None and last.date:
        text, because = last.date, f"counted from {last.date}, the day of the zone's last {tic_words().words[0]}"
    else:
        return Told(said, "", "nothing in the zone says which day it is, and the clock is not asked")
    try:
        now = date.fromisoformat(text)
        first, final = (now + timedelta(days=shift) for shift in _span(found, 0))
    except (ValueError, OverflowError):
        return Told(said, "", f"{text} is no day that it can be counted from")
    return Told(said, f"{first}" if first == final else f"{first} to {final}", because)


def _span(found: re.Match[str], now: int) -> tuple[int, int]:
    """Return the first and the last tic, or day, of a relative time."""
    days = _DAYS.get(_unit(found), 1)
    count = _number(found["ago"] or found["count"] or "1")
    if found["ago"]:
        return now - count * days, now - count * days
    which = (found["which"] or "yesterday").lower()
    if which == "current":
        return now, now
    if which in {"previous", "yesterday"}:
        return now - count * days, now - 1
    return now - count * days + 1, now


def _unit(found: re.Match[str]) -> str:
    """Return the unit of days that a relative time is in; empty text where it is in tics."""
    if found["yesterday"]:
        return "day"
    return (found["unit"] or found["unit_ago"] or "").lower().removesuffix("s")


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS.index(text.lower()) + 1


@lru_cache(maxsize=4)
def _relative(words: tuple[str, ...]) -> re.Pattern[str]:
    tics = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    units = "|".join(f"{unit}s?" for unit in _DAYS)
    thing = rf"(?:(?:{tics})|(?P<unit>{units}))\b(?![ _-]?\d)"
    span = rf"(?:the\s+)?(?P<which>last|latest|past|previous|current)\s+(?:(?P<count>{_COUNT})\s+)?{thing}"
    ago = rf"(?P<ago>{_COUNT})\s+(?:(?:{tics})|(?P<unit_ago>{units}))\s+ago\b"
    return re.compile(rf"\b(?:{span}|{ago}|(?P<yesterday>yesterday)\b)", re.IGNORECASE)


@lru_cache(maxsize=4)
def _stated(words: tuple[str, ...]) -> re.Pattern[str]:
    tics = "|".join(map(re.escape, words))
    return re.compile(
        rf"\bas\s+of\s+(?:(?:the\s+)?(?:{tics})[ _-]?(?P<tic>\d{{1,18}})|(?P<date>\d{{4}}-\d{{2}}-\d{{2}}))\b",
        re.IGNORECASE,
    )
