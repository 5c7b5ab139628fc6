"""Files of the user's own that take the place of packaged ones, name by name.

A zone has no say in them. Looked at in every run, so nothing heavy is imported here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from rtch import home
from rtch.errors import IntakeError
from rtch.nearest import nearest_of

_MAX_BYTES = 65_536


class Stamp(NamedTuple):
    """The state of a file, by which what it said is known again."""

    changed_ns: int
    size: int


def own_file(variable: str, names: Sequence[str]) -> Path | None:
    """Return a file of the user's own: the one that a variable names, else the first that is in rtch's data folder.

    None where there is neither.
    """
    named = os.environ.get(variable, "")
    if named:
        return Path(named)
    data = home.locations().data
    places = () if data is None else (data / name for name in names)
    # Not Path.is_file, which raises where the folder may not be looked into: it is then no folder of this user's.
    return next((place for place in places if os.path.isfile(place)), None)  # noqa: PTH113


def stamp_of(place: Path, what: str) -> Stamp:
    """Return the state of a file.

    Raises:
        IntakeError: it cannot be looked at; the sentence calls it ``what``.
    """
    try:
        status = place.stat()
    except OSError as error:
        raise IntakeError(f"{what} {place} cannot be read: {error.strerror}") from error
    return Stamp(status.st_mtime_ns, status.st_size)


def own_values(place: Path, stamp: Stamp, what: str, known: Collection[str]) -> dict[str, object]:
    """Return the plain values that a file of JSON or YAML gives to known names.

    Raises:
        IntakeError: it is too large, cannot be read, or gives another name; the sentence calls it ``what``.
    """
    if stamp.size > _MAX_BYTES:
        raise IntakeError(f"{what} {place} is larger than {_MAX_BYTES} bytes", hint="it is a list of names")
    return known_values(_plain(place, what), f"{what} {place}", known)


def known_values(given: object, called: str, known: Collection[str]) -> dict[str, object]:
    """Return the values of a mapping, but for its remark under ``_``.

    Raises:
        IntakeError: it is no mapping, or has another name; the sentence calls it ``called``.
    """
    if not isinstance(given, dict):
        raise IntakeError(f"{called} must be a mapping of names")
    for key in given:
        if key != "_" and key not in known:
            near = nearest_of(str(key), sorted(known))
            hint = f"did you mean {near}?" if near else f"known are {', '.join(sorted(known))}"
            raise IntakeError(f"{called} has the unknown key {str(key)[:60]}", hint=hint)
    return {str(key): value for key, value in given.items() if key != "_"}


def _plain(place: Path, what: str) -> object:
    data = place.read_bytes()
    try:
        if place.suffix == ".json":
            return json.loads(data)
        import yaml  # noqa: PLC0415  15 ms for those who have such a file

        return yaml.safe_load(data)
    except (ValueError, RecursionError, TypeError, LookupError, AttributeError) as error:
        raise IntakeError(f"{what} {place} cannot be read: {_first_line(error)}") from error
    except Exception as error:  # the reader of YAML has an error of its own, which is not loaded before
        if type(error).__module__.partition(".")[0] != "yaml":
            raise
        raise IntakeError(f"{what} {place} cannot be read: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
