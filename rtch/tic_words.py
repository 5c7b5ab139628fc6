"""What tics are called, which keys of rows date them, and where a zone counts them.

``config/tics.json`` holds the packaged words. A user's own file takes their place, name by name, as with the layout;
a zone has no say in it. Read in each run on a zone, so nothing heavy is imported here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from rtch.errors import IntakeError
from rtch.own_files import Stamp, known_values, own_file, own_values, stamp_of

PACKAGED = Path(__file__).parent / "config" / "tics.json"
VARIABLE = "RTCH_TICS"
_NAMES = ("tics.json", "tics.yaml")
_WHAT = "the list of tic words"

Values = tuple[tuple[str, str | int | float | bool | None], ...]


class TicWords(NamedTuple):
    """The words of one organisation; they can be a key.

    Attributes:
        words: what a tic is called in requests and rows; the first is one tic.
        stamps: other keys that date a row.
        folder: of the files that count tics, relative to the audit folder.
        ending: of their names.
        row: the fields and values that make a row one of a tic.
        excluded: those that make it one that does not count; ``not`` in the file.
        counters: fields that hold the count; the first that a row has counts.
        dates: fields that hold its day, as ISO 8601.
    """

    words: tuple[str, ...]
    stamps: tuple[str, ...]
    folder: str
    ending: str
    row: Values
    excluded: Values
    counters: tuple[str, ...]
    dates: tuple[str, ...]


_KNOWN = {"not" if name == "excluded" else name: name for name in TicWords._fields}
"""What a name of the file is called here."""


def tic_words() -> TicWords:
    """Return the words in force for this process's user.

    Raises:
        IntakeError: the user's file cannot be read, or does not have the shape of the packaged one.
    """
    place = own_file(VARIABLE, _NAMES)
    if place is None:
        return packaged_words()
    return _of_user(place, stamp_of(place, _WHAT))


def tic_digest(words: TicWords) -> str:
    """Return the digest of some words: what follows from them is stored under it."""
    return hashlib.sha256(repr(words).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=1)
def packaged_words() -> TicWords:
    """Return the words that are packaged."""
    called = f"{_WHAT} config/tics.json"
    return TicWords(**_checked(known_values(json.loads(PACKAGED.read_bytes()), called, _KNOWN), called))


@lru_cache(maxsize=4)
def _of_user(place: Path, stamp: Stamp) -> TicWords:
    given = own_values(place, stamp, _WHAT, _KNOWN)
    return packaged_words()._replace(**_checked(given, f"{_WHAT} {place}"))


def _checked(given: Mapping[str, object], called: str) -> dict[str, Any]:
    return {_KNOWN[key]: _value(key, value, called) for key, value in given.items()}


def _value(key: str, value: object, called: str) -> object:
    if key in {"row", "not"}:
        if isinstance(value, dict) and all(map(_is_text, value)) and all(map(_is_plain, value.values())):
            return tuple(sorted(value.items()))
        raise IntakeError(f"{called}: {key} must give fields of a row their values")
    if key in {"folder", "ending"}:
        if _is_text(value) and not str(value).startswith("/") and ".." not in str(value).split("/"):
            return value
        raise IntakeError(f"{called}: {key} must be text, and lead nowhere else")
    if isinstance(value, list) and all(map(_is_text, value)) and (value or key in {"stamps", "dates"}):
        return tuple(value)
    raise IntakeError(f"{called}: {key} must be a list of words")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable()


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)
