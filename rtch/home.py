"""Where rtch keeps what outlives a run: the cache folder and the data folder.

``$RTCH_HOME`` overrides both. Everything below them belongs to the user alone: folders are made with
mode 0700, and a folder that another user owns is refused, for whoever can write a cache decides what a
later run believes. What lies in the folders is the business of ``store``, ``packets`` and ``drift``.
"""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from pathlib import Path
from typing import NamedTuple

from rtch.errors import ArtifactError

log = logging.getLogger("rtch.home")

SET_HOME = "set RTCH_HOME to a folder of your own"
PRIVATE = 0o700
OTHERS_ANY = 0o077
OTHERS_WRITE = 0o022


class Locations(NamedTuple):
    """The two folders as the environment names them; None where it names none."""

    cache: Path | None
    data: Path | None


def locations() -> Locations:
    """Return where the folders are or would be; nothing is made or checked.

    Used to leave rtch's own outputs out of a scan, so it has to answer also for folders that do not exist.
    """
    own = os.environ.get("RTCH_HOME", "")
    if own:
        home = Path(os.path.abspath(os.path.expanduser(own)))  # noqa: PTH100, PTH111  Path.expanduser raises without a home
        return Locations(home / "cache", home)
    return Locations(_xdg("XDG_CACHE_HOME", ".cache"), _xdg("XDG_DATA_HOME", ".local/share"))


def cache_dir() -> Path:
    """Return the folder of what can be made again, made if missing.

    Without a usable home it is a private folder in the system's temporary folder, with a warning: a cache
    that is lost costs time and no result.

    Raises:
        ArtifactError: not even the temporary folder can be used.
    """
    place = locations().cache
    try:
        return private_dir(_named(place, "cache"))
    except ArtifactError as error:
        fallback = Path(tempfile.gettempdir()) / f"rtch-{os.getuid()}"
        if fallback.is_symlink():  # anyone may have put it there
            raise ArtifactError(f"{fallback} is a link", hint=SET_HOME) from error
        private_dir(fallback)
        log.warning("%s: the cache lies in %s for this run", error, fallback)
        return fallback


def store_dir() -> Path:
    """Return the folder of the artifact store; the store makes it."""
    return cache_dir() / "store"


def data_dir() -> Path:
    """Return the folder of packets, intakes, baselines and the local server, made if missing.

    Raises:
        ArtifactError: there is no home, or the folder cannot be made or is another user's. No temporary
            folder takes its place, for what is kept here is meant to be found again.
    """
    place = _named(locations().data, "data")
    return private_dir(place, readable=bool(os.environ.get("RTCH_HOME")))


def packets_dir() -> Path:
    """Return the folder of persisted packets, made if missing."""
    return private_dir(data_dir() / "packets")


def intakes_dir() -> Path:
    """Return the folder of saved intakes, made if missing."""
    return private_dir(data_dir() / "intakes")


def drift_dir(zone: str) -> Path:
    """Return the folder of a zone's baselines and history, made if missing.

    Args:
        zone: the zone's name in the store (``keys.zone_id``).
    """
    return private_dir(data_dir() / "drift" / zone)


def server_dir() -> Path:
    """Return the home of the Prefect server that ``rtch up`` starts, made if missing."""
    return private_dir(data_dir() / "server")


def server_file() -> Path:
    """Return the path of the record of the running server; the file may be absent."""
    return data_dir() / "server.json"


def private_dir(path: Path, *, readable: bool = False) -> Path:
    """Make a folder that only its owner can change, or check one that exists.

    Args:
        path: an absolute path; missing parents are made private as well.
        readable: leave a folder that others may read as it is (a home the user chose, such as a checkout's).

    Raises:
        ArtifactError: it cannot be made, is no folder, or is another user's.
    """
    try:
        for folder in reversed((path, *path.parents)):
            if not folder.exists():
                folder.mkdir(mode=PRIVATE, exist_ok=True)
        info = path.stat()
        if not stat.S_ISDIR(info.st_mode):
            raise ArtifactError(f"{path} is not a folder", hint=SET_HOME)
        if info.st_uid != os.getuid():
            raise ArtifactError(f"{path} belongs to user {info.st_uid}", hint=SET_HOME)
        if info.st_mode & (OTHERS_WRITE if readable else OTHERS_ANY):
            path.chmod(stat.S_IMODE(info.st_mode) & ~OTHERS_WRITE if readable else PRIVATE)
    except OSError as error:
        raise ArtifactError(f"{path} cannot be used: {error.strerror or error}", hint=SET_HOME) from error
    return path


def _named(place: Path | None, what: str) -> Path:
    if place is None:
        raise ArtifactError(f"there is no home folder to keep the {what} in", hint=SET_HOME)
    return place


def _xdg(variable: str, default: str) -> Path | None:
    """Return the XDG folder; the specification has a relative value ignored."""
    named = os.environ.get(variable, "")
    if named and os.path.isabs(named):  # noqa: PTH117  a string from the environment, not yet a path
        return Path(named) / "rtch"
    try:
        return Path.home() / default / "rtch"
    except RuntimeError:
        return None
