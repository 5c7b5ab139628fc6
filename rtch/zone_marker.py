"""A zone's root marker (``.ticzone``), read without the models: what it says, and where it keeps packets."""

from __future__ import annotations

import json
import os
import posixpath
import stat
from pathlib import Path

from rtch.layout import layout
from rtch.paths import typed

_MAX_PATH, _MAX_NAME = 2000, 200
"""Characters; a longer path cannot be opened everywhere."""


def marker_fields(content: bytes) -> dict[str, object] | None:
    """Return what a ``.ticzone`` says, or None where it is no JSON object; its text holds no lone surrogates."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return {typed(key): typed(one) if isinstance(one, str) else one for key, one in value.items()}


def audit_folder(content: bytes) -> tuple[str, str]:
    """Return the audit folder that a ``.ticzone`` names, relative to it, and the text by which it does.

    The folder is empty where none is named, or one that lies outside the zone, in ``.git``, or that no path can be.
    """
    named = (marker_fields(content) or {}).get("audit_logs_path")
    if not isinstance(named, str) or not named.strip():
        return "", ""
    folder = posixpath.normpath(named.strip())
    parts = folder.split("/")
    too_long = len(folder) > _MAX_PATH or max(map(len, parts)) > _MAX_NAME
    unfit = folder.startswith("/") or parts[0] == ".." or ".git" in parts or "\0" in folder or too_long
    return "" if unfit else folder, named


def declared_packets(root: Path) -> tuple[Path, ...]:
    """Return where packets go in a zone whose marker names an audit folder: inside it, or where the layout permits."""
    folder, named = audit_folder(read_marker(root / layout().root_marker, 1 << 16))
    if named.strip() and not folder:
        from rtch.outside import audit_place  # noqa: PLC0415  few markers name an absolute path

        place = audit_place(root.resolve(), ())
        folder = "" if place is None else place.path
    return (root / folder / "rtch" / "packets",) if folder else ()


_KINDS = {
    stat.S_IFDIR: "a folder, and no file",
    stat.S_IFLNK: "a link, and none is followed",
    stat.S_IFIFO: "a FIFO, and no file",
    stat.S_IFSOCK: "a socket, and no file",
}


def unfit(path: Path | bytes) -> str:
    """Return why what stands under a marker's name can say nothing; empty where it is a readable file, or nothing.

    It is looked at and never opened, for a FIFO would wait.
    """
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"it cannot be looked at: {error.strerror}"
    if not stat.S_ISREG(mode):
        return f"it is {_KINDS.get(stat.S_IFMT(mode), 'a device, and no file')}"
    return "" if os.access(path, os.R_OK) else "it cannot be read: permission denied"


def marks_a_root(place: Path) -> bool:
    """Tell whether a root marker stands in a folder: of any kind, and broken or not, but no folder of its name."""
    path = place / layout().root_marker
    return os.path.lexists(path) and not path.is_dir()


def read_marker(path: Path, max_bytes: int) -> bytes:
    """Return the beginning of a regular file, and nothing for any other or for none."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return b""
    # A folder can be opened, but is no file that an object could be made of.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(max_bytes)
