"""How zones are laid out: the names of markers, documents, ledgers and ignore files.

``config/layout.json`` holds the packaged names. A user's own file takes their place, name by name; a zone never says
how it is laid out, nor what outside of it may be read. Read at every start, so nothing heavy is imported here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from rtch import home
from rtch.errors import IntakeError
from rtch.nearest import nearest_of

PACKAGED = Path(__file__).parent / "config" / "layout.json"
VARIABLE = "RTCH_LAYOUT"
KINDS = ("site", "domain", "estate", "federation")
"""Kinds of rungs, lowest first."""
_NAMES = ("layout.json", "layout.yaml")
_MAX_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Layout:
    """The names of one organisation.

    Attributes:
        root_marker: the file that makes a folder a zone root; JSON, empty, or broken.
        markers: file names that make a folder a rung, with the rung's kind.
        documents: names of the files in which a rung speaks.
        ledgers: where a rung's ledger may lie, as patterns relative to the rung.
        audit_folders: folders of audit logs where the root marker names none.
        ignore_files: names of files with ignore rules, beside git's.
        memory: where the user's memory of a zone may lie; ``{slug}`` is the zone root with hyphens for all
            that is no letter or digit.
        with_memory: whether it is read without being asked for.
        audit_roots: folders outside of zones in which audit logs may lie.
    """

    root_marker: str
    markers: Mapping[str, str]
    documents: tuple[str, ...]
    ledgers: tuple[str, ...]
    audit_folders: tuple[str, ...]
    ignore_files: tuple[str, ...]
    memory: tuple[str, ...]
    with_memory: bool
    audit_roots: tuple[str, ...]


def layout() -> Layout:
    """Return the layout in force for this process's user.

    Raises:
        IntakeError: the user's file cannot be read, or does not have the shape of the packaged one.
    """
    place = layout_file()
    if place is None:
        return packaged_layout()
    try:
        status = place.stat()
    except OSError as error:
        raise IntakeError(f"the layout {place} cannot be read: {error.strerror}") from error
    return _of_user(place, status.st_mtime_ns, status.st_size)


def layout_file() -> Path | None:
    """Return the user's own layout file, or None where there is none."""
    return own_file(VARIABLE, _NAMES)


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


def layout_bytes() -> bytes:
    """Return what the layout follows from, to be compared between runs."""
    place = layout_file()
    return PACKAGED.read_bytes() + (b"" if place is None else place.read_bytes())


@lru_cache(maxsize=1)
def packaged_layout() -> Layout:
    """Return the layout that is packaged."""
    return Layout(**_checked(json.loads(PACKAGED.read_bytes()), "config/layout.json"))


@lru_cache(maxsize=4)
def _of_user(place: Path, changed_ns: int, size: int) -> Layout:
    del changed_ns
    if size > _MAX_BYTES:
        raise IntakeError(f"the layout {place} is larger than {_MAX_BYTES} bytes", hint="it is a list of names")
    packaged = packaged_layout()
    before = {field.name: getattr(packaged, field.name) for field in fields(Layout)}
    return Layout(**before | _checked(plain_mapping(place, "the layout"), str(place)))


def plain_mapping(place: Path, what: str) -> object:
    """Return the plain values of a file of JSON or YAML.

    Raises:
        IntakeError: it cannot be read; the sentence calls it ``what``.
    """
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


def _checked(given: object, source: str) -> dict[str, Any]:
    """Return the values of a layout that a file gives."""
    if not isinstance(given, dict):
        raise IntakeError(f"the layout {source} must be a mapping of names")
    known = {field.name for field in fields(Layout)}
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key == "_":
            continue
        if key not in known:
            near = nearest_of(str(key), sorted(known))
            hint = f"did you mean {near}?" if near else f"known are {', '.join(sorted(known))}"
            raise IntakeError(f"the layout {source} has the unknown key {str(key)[:60]}", hint=hint)
        found[key] = _value(key, value, source)
    return found


def _value(key: str, value: object, source: str) -> object:
    if key == "with_memory":
        if isinstance(value, bool):
            return value
        raise IntakeError(f"the layout {source}: {key} must be true or false")
    if key == "root_marker":
        if _is_name(value):
            return value
        raise IntakeError(f"the layout {source}: {key} must be the name of a file")
    if key == "markers":
        if isinstance(value, dict) and all(_is_name(name) and kind in KINDS for name, kind in value.items()):
            return dict(value)
        raise IntakeError(f"the layout {source}: {key} must give each file name one of {', '.join(KINDS)}")
    plain = key in {"documents", "audit_folders", "ignore_files"}
    if isinstance(value, list) and all((_is_name if plain else _is_text)(one) for one in value):
        return tuple(value)
    raise IntakeError(f"the layout {source}: {key} must be a list of {'names' if plain else 'paths'}")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 1000 and value.isprintable()


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _is_text(value) and "/" not in value and value not in {".", "..", ".git"}
