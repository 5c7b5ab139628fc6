"""Which folder is the zone root."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from rtch.errors import ZoneError
from rtch.git import find_toplevel
from rtch.models.vocab import RootSource
from rtch.paths import typed
from rtch.zone_marker import marks_a_root


@dataclass(frozen=True, slots=True)
class RootChoice:
    """The zone root, what made it one, and the top of the git work tree around it."""

    root: Path
    repo_root: Path | None
    how: RootSource


def find_root(start: Path, pinned: Path | None = None) -> RootChoice:
    """Choose the zone root: the pinned one, the nearest with the root marker, the git toplevel, the folder itself.

    Args:
        start: where the search begins; a file stands for its folder.
        pinned: what ``--root`` named.

    Raises:
        ZoneError: the pinned root, or the start, is not a folder that can be read.
    """
    if pinned is not None:
        root = readable_root(pinned)
        return RootChoice(root, find_toplevel(root), RootSource.PINNED)
    folder = readable_root(start if start.is_dir() else start.parent)
    toplevel = find_toplevel(folder)
    for candidate in (folder, *folder.parents):
        if marks_a_root(candidate):
            return RootChoice(candidate, toplevel, RootSource.TICZONE)
    if toplevel is not None:
        return RootChoice(toplevel, toplevel, RootSource.GIT)
    return RootChoice(folder, None, RootSource.CWD)


def readable_root(root: Path) -> Path:
    """Return a root with all links resolved.

    Raises:
        ZoneError: it is not a folder that can be read.
    """
    try:
        resolved = root.resolve(strict=True)
        status = resolved.stat()
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ZoneError(f"the root {typed(str(root))} cannot be opened: {why}") from error
    if not stat.S_ISDIR(status.st_mode):
        raise ZoneError(f"the root {typed(str(root))} is not a folder")
    if not os.access(resolved, os.R_OK | os.X_OK):
        raise ZoneError(f"the root {typed(str(root))} cannot be read: permission denied")
    return resolved
