"""Which zone a command means, told by its flags and the working folder without listing anything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rtch.errors import ZoneError
from rtch.layout import layout
from rtch.zone_marker import marks_a_root


def zone_root(pinned: Path | None) -> Path:
    """Return the pinned root, else the nearest folder with the root marker, with ``.git``, or the working folder.

    Raises:
        ZoneError: it is not a folder that can be entered.
    """
    if pinned is not None:
        return _checked(pinned)
    folder = _working_folder()
    around = (folder, *folder.parents)
    marked = next((place for place in around if marks_a_root(place)), None)
    return marked or next((place for place in around if (place / ".git").exists()), folder)


def packet_roots(pinned: Path | None) -> tuple[Path, ...]:
    """Return the zones whose packets an id may name: the pinned one, or those around the working folder."""
    return (_checked(pinned),) if pinned is not None else tuple(_around())


def _around() -> Iterator[Path]:
    folder, names = _working_folder(), layout()
    for place in (folder, *folder.parents):
        if any((place / name).exists() for name in (names.root_marker, *names.audit_folders)):
            yield place


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise ZoneError("the working folder no longer exists", hint="name a root with --root") from None


def _checked(root: Path) -> Path:
    try:
        real = root.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ZoneError(f"the root {str(root)!r} cannot be opened: {why}") from error
    if not real.is_dir() or not os.access(real, os.R_OK | os.X_OK):
        raise ZoneError(f"the root {str(root)!r} is not a folder that can be read")
    return real
