"""Turns: of several processes that miss the same artifact one makes it, and the others wait and find it.

A turn is the lock of an empty file, which the system gives back however its holder ends. It saves work and
guards nothing: where it cannot be had, the work is done twice and its result is the same. Of a store that several
machines share, each machine has turns of its own: two of them may make the same, and both write the same bytes.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from rtch import home
from rtch.errors import ArtifactError

log = logging.getLogger("rtch.store")

WAIT_S = 60.0
"""As long as a search may take; a holder that takes longer is as good as stuck."""
FIRST_PAUSE_S = 0.001
LAST_PAUSE_S = 0.02
"""A fiftieth of a second is not noticed beside a stage that took longer than that to make."""
STALE_S = 3600.0


@lru_cache(maxsize=16)
def folder_of(store: str) -> str:
    """Return the folder in which the processes of this machine take turns at a store.

    Args:
        store: its folder, or its URL; of a store in memory what comes back is no path.
    """
    if "://" not in store:
        return store
    try:
        place = home.cache_dir() / "shared" / hashlib.sha256(store.encode()).hexdigest()[:16]
        return str(home.private_dir(place))
    except ArtifactError:
        return ""


@contextmanager
def turn(folder: str, name: str, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the only turn of a name, once whoever has it is done.

    Args:
        folder: of the store; anything but an absolute path is a store in memory, which no other process sees.
        name: a stage key.
        wait_s: after so long the block runs without its turn, and a warning says so.
    """
    handle = _taken(Path(folder, "turns"), name, wait_s) if os.path.isabs(folder) else None  # noqa: PTH117  text
    try:
        yield
    finally:
        if handle is not None:
            with suppress(OSError):
                os.unlink(f"{folder}/turns/{name}")  # noqa: PTH108  a hot path
            os.close(handle)


def sweep(folder: Path) -> int:
    """Remove what holders left that were killed; return how many files went."""
    count = 0
    oldest = time.time() - STALE_S
    for path in (folder / "turns").glob("*"):
        with suppress(OSError):
            if path.lstat().st_mtime < oldest:
                path.unlink()
                count += 1
    return count


def _taken(folder: Path, name: str, wait_s: float) -> int | None:
    """Return the descriptor of the locked file; None where it cannot be had."""
    give_up = time.monotonic() + wait_s
    pause = FIRST_PAUSE_S
    try:
        while (handle := _locked(folder, name)) is None:
            if time.monotonic() >= give_up:
                log.warning("another process has been making %s for %.0f s: it is made here too", name[:12], wait_s)
                return None
            time.sleep(pause)
            pause = min(pause * 1.5, LAST_PAUSE_S)
    except OSError:
        return None  # a disk that is full or read-only, or knows no locks
    return handle


def _locked(folder: Path, name: str) -> int | None:
    """Return the descriptor of the file, locked; None while another holds it.

    Raises:
        OSError: the file cannot be made or locked.
    """
    path = f"{folder}/{name}"
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        handle = os.open(path, flags, 0o600)
    except FileNotFoundError:
        folder.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(path, flags, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The one before may have removed the file between its opening and its locking here.
        mine = os.fstat(handle).st_ino == os.stat(path).st_ino  # noqa: PTH116  a hot path
    except (BlockingIOError, FileNotFoundError):
        mine = False
    except OSError:
        os.close(handle)
        raise
    if mine:
        return handle
    os.close(handle)
    return None
