"""Private temporary folders of which a killed process leaves none behind for long.

A folder is held by a lock that ends with its process, however that ends. Whoever makes the next one removes those
of the same user that nobody holds; no link is followed on the way, and nothing of another user's is touched.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def held_folder(prefix: str, parent: str | None = None) -> Iterator[Path]:
    """Make a folder that only this user can open, and remove it at the end.

    Args:
        prefix: how its name begins; no other program's names may begin so.
        parent: the folder that it is made in; None is that for temporary files.

    Raises:
        OSError: it cannot be made.
    """
    place = parent or tempfile.gettempdir()
    _sweep(prefix, place)
    folder, descriptor = _made(prefix, place)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _made(prefix: str, parent: str) -> tuple[Path, int]:
    """Make and lock a folder; one that another process sweeps before it is locked is made again."""
    while True:
        folder = tempfile.mkdtemp(prefix=prefix, dir=parent)
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(folder, _FOLDER)
            if _is_held(folder, descriptor):
                return Path(folder), descriptor
            os.close(descriptor)


def _is_held(folder: str, descriptor: int) -> bool:
    """Lock a folder and tell whether it is still there; where folders cannot be locked, none is swept either."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    try:
        return os.path.samestat(os.lstat(folder), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _sweep(prefix: str, parent: str) -> None:
    """Remove this user's folders that no process holds; what cannot be removed is left."""
    with contextlib.suppress(OSError):
        above = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in [name for name in os.listdir(above) if name.startswith(prefix)]:  # noqa: PTH208  a descriptor
                with contextlib.suppress(OSError):
                    _remove(above, name)
        finally:
            os.close(above)


def _remove(above: int, name: str) -> None:
    """Remove a folder by what was opened and not by its name, so that nothing can be put in its place.

    Raises:
        OSError: it is a link or no folder, is held, or cannot be removed.
    """
    descriptor = os.open(name, _FOLDER, dir_fd=above)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with os.scandir(descriptor) as entries:
            inside = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for inner, is_folder in inside:
            if is_folder:
                shutil.rmtree(inner, dir_fd=descriptor)
            else:
                os.unlink(inner, dir_fd=descriptor)
        os.rmdir(name, dir_fd=above)
    finally:
        os.close(descriptor)
