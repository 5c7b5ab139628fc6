"""Rung markers: which folders speak for a zone, inside it and above it.

A marker may be empty; its first line of text is the rung's display name, or the ``name`` of its
JSON where it is a ``.ticzone``. A folder with several markers is of the highest kind.
"""

from __future__ import annotations

import os
import posixpath
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.models.tree import Listing
from rtch.models.zone import Rung, RungKind
from rtch.zone_marker import marker_fields, read_marker

if TYPE_CHECKING:
    from rtch.limits import OrientLimits

MARKERS: dict[str, RungKind] = {
    ".ticzone": RungKind.SITE,
    ".site-root": RungKind.SITE,
    ".domain-root": RungKind.DOMAIN,
    ".estate-root": RungKind.ESTATE,
    ".federation-root": RungKind.FEDERATION,
}
"""Marker file names, lowest rung first."""

MOST_PARENTS = 64
"""Folders above a root that may be asked for markers, whatever the limits say."""

ORDER: dict[RungKind, int] = {kind: place for place, kind in enumerate(RungKind)}


def marker_paths(listing: Listing) -> tuple[str, ...]:
    """Return the paths of a listing that are rung markers."""
    endings = tuple(MARKERS)
    found = (path for path in listing.paths if path.endswith(endings))
    return tuple(path for path in found if posixpath.basename(path) in MARKERS)


def highest(markers: list[str]) -> str:
    """Return the marker that gives a folder with several of them its kind."""
    return max(markers, key=lambda name: (ORDER[MARKERS[name]], name))


def display_name(marker: str, content: bytes) -> str:
    """Return the name a marker gives its rung, or empty text where it gives none or cannot be read as meant."""
    if marker == ".ticzone":
        name = (marker_fields(content) or {}).get("name", "")
        return name if isinstance(name, str) else ""
    return content.decode("utf-8", "replace").strip().split("\n", 1)[0].strip()[:200]


def rungs_above(root: Path, limits: OrientLimits) -> tuple[Rung, ...]:
    """Return the rungs of the folders above the root, nearest first.

    Only markers and the documents beside them are looked at, as regular files, and no link is followed.
    Bounds: ``limits.max_parents`` folders up, ``limits.max_marker_bytes`` of each marker.
    """
    found: list[Rung] = []
    for up, folder in enumerate(list(root.parents)[: limits.max_parents], start=1):
        markers = [name for name in MARKERS if _is_regular(folder / name)]
        if not markers:
            continue
        marker = highest(markers)
        prefix = "/".join([".."] * up)
        documents = tuple(f"{prefix}/{name}" for name in limits.rung_documents if _is_regular(folder / name))
        content = read_marker(folder / marker, limits.max_marker_bytes)
        found.append(
            Rung(
                kind=MARKERS[marker],
                name=display_name(marker, content),
                path=prefix,
                marker=f"{prefix}/{marker}",
                documents=documents,
            )
        )
    return tuple(found)


def trace_above(root: Path) -> list[bytes]:
    """Return what ``rungs_above`` would see, as bytes to be compared: markers, and the files beside them.

    A folder that cannot be listed compares equal to nothing, not even to itself.
    Bounds: ``MOST_PARENTS`` folders up.
    """
    trace: list[bytes] = []
    for folder in list(root.parents)[:MOST_PARENTS]:
        markers = [name for name in MARKERS if _is_regular(folder / name)]
        if markers:
            contents = [read_marker(folder / name, 1 << 16) for name in markers]
            trace += [repr(markers).encode(), *contents, _files_of(folder)]
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
