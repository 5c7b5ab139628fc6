"""Rung markers: which folders speak for a zone, inside it and above it.

A marker may be empty; its first line of text is the rung's display name, or the ``name`` of its
JSON where it is the root marker. A folder with several markers is of the highest kind.
"""

from __future__ import annotations

import fnmatch
import os
import posixpath
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.layout import layout
from rtch.models.tree import Listing
from rtch.models.vocab import CautionFlag
from rtch.models.zone import Rung, RungKind, ZoneCaution
from rtch.zone_marker import marker_fields, read_marker, unfit

if TYPE_CHECKING:
    from rtch.limits import OrientLimits

MOST_PARENTS = 64
"""Folders above a root that may be asked for markers, whatever the limits say."""

ORDER: dict[RungKind, int] = {kind: place for place, kind in enumerate(RungKind)}


def marker_paths(listing: Listing, markers: Mapping[str, RungKind]) -> tuple[str, ...]:
    """Return the paths of a listing that are rung markers."""
    endings = tuple(markers)
    found = (path for path in listing.paths if path.endswith(endings))
    return tuple(path for path in found if posixpath.basename(path) in markers)


def highest(names: Sequence[str], markers: Mapping[str, RungKind]) -> str:
    """Return the marker that gives a folder with several of them its kind."""
    return max(names, key=lambda name: (ORDER[markers[name]], name))


def display_name(content: bytes, *, is_json: bool) -> str:
    """Return the name a marker gives its rung, or empty text where it gives none or cannot be read as meant."""
    if is_json:
        name = (marker_fields(content) or {}).get("name", "")
        return name if isinstance(name, str) else ""
    return content.decode("utf-8", "replace").strip().split("\n", 1)[0].strip()[:200]


def rung_of(
    path: str,
    contents: Mapping[str, bytes],
    limits: OrientLimits,
    *,
    documents: Sequence[str] = (),
    ledgers: Sequence[str] = (),
) -> Rung:
    """Return the rung of a folder from its markers.

    Args:
        path: the folder, relative to the zone root.
        contents: of its markers, by name; the highest gives the kind, and the name if it has one.
        limits: the kinds of all markers, and which of them is JSON.
        documents: names of the documents beside them.
        ledgers: its ledgers, relative to the folder.
    """
    prefix = "" if path == "." else path + "/"
    marker = highest(list(contents), limits.markers)
    names = (display_name(contents[name], is_json=name == limits.root_marker) for name in (marker, *contents))
    return Rung(
        kind=limits.markers[marker],
        name=next(filter(None, names), ""),
        path=path,
        marker=prefix + marker,
        documents=tuple(prefix + name for name in documents),
        ledgers=tuple(prefix + name for name in ledgers),
    )


def what_is_wrong(content: bytes, *, may_be_empty: bool) -> str:
    """Return why a root marker does not say what it is meant to; empty where it does."""
    if not content.strip():
        return "" if may_be_empty else "the zone marker is empty: it names neither the zone nor its audit folder"
    said = marker_fields(content)
    if said is None:
        return "the zone marker is no JSON object"
    odd = [name for name in ("name", "audit_logs_path") if not isinstance(said.get(name, ""), str)]
    return f"the zone marker's {' and '.join(odd)} is no text, and is not used" if odd else ""


def marker_cautions(folder: Path, path: str, limits: OrientLimits) -> tuple[ZoneCaution, ...]:
    """Return what is wrong with the markers of a folder on the disk: those that cannot be read, or not as meant.

    Args:
        folder: where it is.
        path: how it is named, relative to the zone root.
        limits: the markers' names, and ``max_marker_bytes`` of each.
    """
    found = []
    for name in limits.markers:
        wrong = unfit(folder / name)
        if wrong:
            wrong = f"marker not read: {wrong}"
        elif name == limits.root_marker:
            content = read_marker(folder / name, limits.max_marker_bytes + 1)
            large = len(content) > limits.max_marker_bytes
            wrong = (
                f"marker not read: it is larger than {limits.max_marker_bytes} bytes"
                if large
                else what_is_wrong(content, may_be_empty=True)
            )
        if wrong:
            where = name if path == "." else f"{path}/{name}"
            found.append(ZoneCaution(flag=CautionFlag.MALFORMED, path=where, note=wrong))
    return tuple(found)


def cautions_above(root: Path, limits: OrientLimits) -> tuple[ZoneCaution, ...]:
    """Return what is wrong with the markers of the folders that ``rungs_above`` looks into, nearest first."""
    folders = enumerate(list(root.parents)[: limits.max_parents], start=1)
    return tuple(one for up, folder in folders for one in marker_cautions(folder, "/".join([".."] * up), limits))


def rungs_above(root: Path, limits: OrientLimits) -> tuple[Rung, ...]:
    """Return the rungs of the folders above the root, nearest first.

    Only markers and the documents and ledgers beside them are looked at, as regular files, and no link is followed.
    Bounds: ``limits.max_parents`` folders up, ``limits.max_marker_bytes`` of each marker.
    """
    found: list[Rung] = []
    for up, folder in enumerate(list(root.parents)[: limits.max_parents], start=1):
        path = "/".join([".."] * up)
        rung = rung_at(folder, path, limits)
        if rung is not None:
            found.append(rung)
    return tuple(found)


def rung_at(folder: Path, path: str, limits: OrientLimits) -> Rung | None:
    """Return the rung of a folder on the disk, or None where it has no marker.

    Args:
        folder: where it is.
        path: how it is named, relative to the zone root.
        limits: the names, and ``max_marker_bytes`` of each marker.
    """
    markers = [name for name in limits.markers if _is_regular(folder / name)]
    if not markers:
        return None
    return rung_of(
        path,
        {name: read_marker(folder / name, limits.max_marker_bytes) for name in markers},
        limits,
        documents=[name for name in limits.rung_documents if _is_regular(folder / name)],
        ledgers=ledgers_on_disk(folder, limits.ledgers),
    )


def ledgers_on_disk(folder: Path, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the ledgers of a folder by where they lie, relative to it.

    No link is followed, and what has a name that cannot be shown as it is is left out.
    """
    found: set[str] = set()
    for pattern in patterns:
        places = [""]
        for part in pattern.split("/"):
            places = [posixpath.join(place, name) for place in places for name in _matching(folder / place, part)]
        found.update(place for place in places if _is_regular(folder / place))
    return tuple(sorted(place for place in found if place.isprintable()))


def _matching(folder: Path, pattern: str) -> list[str]:
    if not any(sign in pattern for sign in "*?["):
        return [pattern] if pattern not in {"", ".", ".."} and _is_plain(folder / pattern) else []
    try:
        with os.scandir(folder) as entries:
            plain = (entry.name for entry in entries if not entry.is_symlink())
            return sorted(name for name in plain if fnmatch.fnmatchcase(name, pattern))[:_MOST_LEDGERS]
    except OSError:
        return []


_MOST_LEDGERS = 20
"""Entries of a folder that one pattern may mean; a rung has one ledger, and seldom two."""


def ledgers_listed(folder: str, paths: Sequence[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """Return which of some listed paths are ledgers of a folder by where they lie, relative to it."""
    prefix = "" if folder == "." else folder + "/"
    inside = (path[len(prefix) :] for path in paths if path.startswith(prefix))
    return tuple(sorted(name for name in inside if any(_lies_at(name, pattern) for pattern in patterns)))


def _lies_at(path: str, pattern: str) -> bool:
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))


def chain_of(rungs: Sequence[Rung], target: str | None) -> tuple[Rung, ...]:
    """Return the rungs that speak for a path of the zone, in their order; without a path, all."""
    if target is None:
        return tuple(rungs)
    return tuple(
        rung
        for rung in rungs
        if rung.path == "." or rung.path.startswith("..") or f"{target}/".startswith(f"{rung.path}/")
    )


def documents_of(rungs: Sequence[Rung]) -> tuple[str, ...]:
    """Return what some rungs say, in their order: a rung's documents, and then its ledgers."""
    return tuple(dict.fromkeys(path for rung in rungs for path in (*rung.documents, *rung.ledgers)))


def trace_above(root: Path) -> list[bytes]:
    """Return what ``rungs_above`` and ``cautions_above`` would see, as bytes: markers, and the files beside them.

    A folder that cannot be listed compares equal to nothing, not even to itself.
    Bounds: ``MOST_PARENTS`` folders up.
    """
    trace: list[bytes] = []
    names = layout()
    for folder in list(root.parents)[:MOST_PARENTS]:
        markers = [name for name in names.markers if _is_regular(folder / name)]
        if markers:
            contents = [read_marker(folder / name, 1 << 16) for name in markers]
            ledgers = repr(ledgers_on_disk(folder, names.ledgers)).encode("utf-8", "surrogateescape")
            trace += [repr(markers).encode(), *contents, _files_of(folder), ledgers]
        trace += [f"{name} {wrong}".encode() for name in names.markers if (wrong := unfit(folder / name))]
        trace.append(b"/")
    return trace


def _files_of(folder: Path) -> bytes:
    """Return the names of a folder's regular files."""
    try:
        with os.scandir(os.fsencode(folder)) as entries:
            return b"\0".join(sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False)))
    except OSError:
        return os.urandom(16)


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _is_plain(path: Path) -> bool:
    try:
        return not stat.S_ISLNK(path.lstat().st_mode)
    except OSError:
        return False
