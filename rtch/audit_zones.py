"""Which zone a path is in the audit folder of: by the zone's marker, or by the names of the layout."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.layout import layout
from rtch.reading import SkippedFile
from rtch.zone_marker import audit_folder, read_marker

if TYPE_CHECKING:
    from rtch.workspace import Workspace

MAX_MARKER_BYTES = 65_536


def governing(path: str, folders_of: Callable[[str], Iterable[str]]) -> str | None:
    """Return the nearest folder above a path in whose audit folder it lies; None where there is none.

    Args:
        path: with slashes.
        folders_of: the audit folders of a folder, relative to it.
    """
    base = path
    while base:
        base = base.rpartition("/")[0]
        inner = path[len(base) :].lstrip("/")
        if any(folder == "." or inner.startswith(f"{folder}/") for folder in folders_of(base)):
            return base
    return None


def outermost_zone(place: str, root: str) -> str | None:
    """Return the highest zone with an audit folder above an absolute path: its view is of all zones in it.

    Above ``root`` only what is marked as a zone or a repository is one: a folder's name alone is no reason to look.
    """
    found = None
    base = place
    while base := base.rpartition("/")[0]:
        if _may_be_zone(base, root) and any(Path(base, name).is_dir() for name in _folders_on_disk(base)):
            found = base
    return found


def _may_be_zone(base: str, root: str) -> bool:
    marks = (layout().root_marker, ".git")
    return f"{base}/".startswith(f"{root}/") or any(os.path.lexists(f"{base}/{name}") for name in marks)


def _folders_on_disk(base: str) -> tuple[str, ...]:
    return _audit_folders(read_marker(Path(base or "/") / layout().root_marker, MAX_MARKER_BYTES), base)


def folders_in(ws: Workspace, base: str) -> tuple[str, ...]:
    """Return the audit folders of a folder of an open tree, relative to it; a path without a slash at its end."""
    marker, content = f"{base}/{layout().root_marker}".lstrip("/"), b""
    if marker in ws.index:
        with contextlib.suppress(SkippedFile), ws.open(marker) as file:
            content = file.pread(0, MAX_MARKER_BYTES)
    return _audit_folders(content, f"{ws.root}/{base}".rstrip("/"))


def _audit_folders(marker: bytes, zone: str) -> tuple[str, ...]:
    """Return the audit folders of a zone, relative to it, and where those lead that are links or absolute."""
    folder, named = audit_folder(marker)
    found = dict.fromkeys((folder,) if folder else layout().audit_folders)
    base = os.path.realpath(zone)
    for text in (named.strip(),) if named.strip() else tuple(found):
        with contextlib.suppress(ValueError, OSError):
            real = os.path.realpath(f"{base}/{text}" if not text.startswith("/") else text)
            if f"{real}/".startswith(f"{base}/"):
                found[real[len(base) + 1 :] or "."] = None
    return tuple(found)
