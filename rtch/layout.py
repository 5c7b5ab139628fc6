"""How zones are laid out: the names of markers, documents, ledgers and ignore files.

``config/layout.json`` holds the packaged names. A user's own file takes their place, name by name; a zone never says
how it is laid out, nor what outside of it may be read. Read at every start, so nothing heavy is imported here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from rtch.errors import IntakeError
from rtch.own_files import Stamp, known_values, own_file, own_values, stamp_of

PACKAGED = Path(__file__).parent / "config" / "layout.json"
VARIABLE = "RTCH_LAYOUT"
KINDS = ("site", "domain", "estate", "federation")
"""Kinds of rungs, lowest first."""
_NAMES = ("layout.json", "layout.yaml")
_WHAT = "the layout"


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


_KNOWN = tuple(field.name for field in fields(Layout))


def layout() -> Layout:
    """Return the layout in force for this process's user.

    Raises:
        IntakeError: the user's file cannot be read, or does not have the shape of the packaged one.
    """
    place = layout_file()
    if place is None:
        return packaged_layout()
    return _of_user(place, stamp_of(place, _WHAT))


def layout_file() -> Path | None:
    """Return the user's own layout file, or None where there is none."""
    return own_file(VARIABLE, _NAMES)


def layout_bytes() -> bytes:
    """Return what the layout follows from, to be compared between runs."""
    place = layout_file()
    return PACKAGED.read_bytes() + (b"" if place is None else place.read_bytes())


@lru_cache(maxsize=1)
def packaged_layout() -> Layout:
    """Return the layout that is packaged."""
    called = f"{_WHAT} config/layout.json"
    return Layout(**_checked(known_values(json.loads(PACKAGED.read_bytes()), called, _KNOWN), called))


@lru_cache(maxsize=4)
def _of_user(place: Path, stamp: Stamp) -> Layout:
    packaged = packaged_layout()
    before = {name: getattr(packaged, name) for name in _KNOWN}
    return Layout(**before | _checked(own_values(place, stamp, _WHAT, _KNOWN), f"{_WHAT} {place}"))


def _checked(given: Mapping[str, object], called: str) -> dict[str, Any]:
    return {key: _value(key, value, called) for key, value in given.items()}


def _value(key: str, value: object, called: str) -> object:
    if key == "with_memory":
        if isinstance(value, bool):
            return value
        raise IntakeError(f"{called}: {key} must be true or false")
    if key == "root_marker":
        if _is_name(value):
            return value
        raise IntakeError(f"{called}: {key} must be the name of a file")
    if key == "markers":
        if isinstance(value, dict) and all(_is_name(name) and kind in KINDS for name, kind in value.items()):
            return dict(value)
        raise IntakeError(f"{called}: {key} must give each file name one of {', '.join(KINDS)}")
    plain = key in {"documents", "audit_folders", "ignore_files"}
    if isinstance(value, list) and all((_is_name if plain else _is_text)(one) for one in value):
        return tuple(value)
    raise IntakeError(f"{called}: {key} must be a list of {'names' if plain else 'paths'}")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 1000 and value.isprintable()


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _is_text(value) and "/" not in value and value not in {".", "..", ".git"}
