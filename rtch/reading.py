"""Opening files of a tree: regular files only, through no link, and never waiting for one.

Every folder on the way is opened by itself without following links, so a folder swapped for a
link between listing and reading cannot lead out of the zone, and no path is too long.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Self

from rtch.errors import RtchError
from rtch.models.vocab import SkipReason

BLOCK_BYTES = 1 << 20
INODE_BITS = (1 << 63) - 1
"""What is kept of an inode number, so that five of these make a row of signed 64-bit integers."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_REASONS = {
    errno.ENOENT: SkipReason.VANISHED,
    errno.ENOTDIR: SkipReason.VANISHED,
    errno.ELOOP: SkipReason.SYMLINK,
    errno.EMLINK: SkipReason.SYMLINK,  # what BSD answers for a link that must not be followed
    errno.ENXIO: SkipReason.NOT_REGULAR,  # a socket, or a FIFO without a writer
    errno.EOPNOTSUPP: SkipReason.NOT_REGULAR,
}


class SkippedFile(RtchError):  # noqa: N818  a reason to leave a file out, not a failure of the run
    """A path that cannot be read as a text of the zone, and why."""

    exit_code = 3

    def __init__(self, reason: SkipReason, path: str, detail: str = "") -> None:
        super().__init__(f"{path}: {reason}" + (f" ({detail})" if detail else ""))
        self.reason = reason
        self.path = path
        self.detail = detail


class StatRow(NamedTuple):
    """What tells two states of a file apart without reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int
    mode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """Take the row from a stat result."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino & INODE_BITS, status.st_mode)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A regular file, open for reading; ``row`` is its state when it was opened."""

    descriptor: int
    path: str
    row: StatRow

    def pread(self, start: int, length: int) -> bytes:
        """Return the bytes of a range; fewer where the file ends."""
        pieces: list[bytes] = []
        while length > 0:
            piece = os.pread(self.descriptor, min(length, BLOCK_BYTES * 16), start)
            if not piece:
                break
            pieces.append(piece)
            start += len(piece)
            length -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def digest(self) -> str:
        """Return the sha256 of the bytes, in blocks, at most the size at opening."""
        hasher = hashlib.sha256()
        for start in range(0, self.row.size, BLOCK_BYTES):
            hasher.update(os.pread(self.descriptor, min(BLOCK_BYTES, self.row.size - start), start))
        self.check_unchanged()
        return hasher.hexdigest()

    def check_unchanged(self) -> None:
        """Compare the state with that at opening.

        Raises:
            SkippedFile: CHANGED_DURING_RUN.
        """
        if StatRow.of(os.fstat(self.descriptor)) != self.row:
            raise SkippedFile(SkipReason.CHANGED_DURING_RUN, self.path, "written while it was read")


@contextmanager
def open_regular(root: bytes, name: bytes, path: str, known: StatRow | None = None) -> Generator[OpenFile, None, None]:
    """Open a regular file below a root, following no link on the way.

    Args:
        root: the zone root, absolute.
        name: the path's own bytes, relative to the root.
        path: how the path is shown.
        known: the row that the listing saw. Where it still holds, the file is the one that was
            listed, and the folders on the way need no look of their own.

    Raises:
        SkippedFile: VANISHED, SYMLINK, NOT_REGULAR or UNREADABLE.
    """
    descriptor = -1 if known is None else _open_known(root + b"/" + name, known)
    try:
        if descriptor < 0:
            descriptor = _open_below(root, name)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise SkippedFile(SkipReason.NOT_REGULAR, path, "not a regular file")
        yield OpenFile(descriptor, path, StatRow.of(status))
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, SkipReason.UNREADABLE)
        raise SkippedFile(reason, path, error.strerror or "") from None
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def peek(path: bytes, length: int, known: StatRow) -> bytes | None:
    """Return the first bytes of a file if it is still the one that was seen; else None."""
    descriptor = _open_known(path, known)
    if descriptor < 0:
        return None
    try:
        return os.read(descriptor, length)
    finally:
        os.close(descriptor)


def _open_known(path: bytes, known: StatRow) -> int:
    """Open a file by its whole path if it is still the one that was seen; -1 where it is not."""
    try:
        descriptor = os.open(path, _FILE)
    except OSError:
        return -1
    if StatRow.of(os.fstat(descriptor)) == known:
        return descriptor
    os.close(descriptor)
    return -1


def _open_below(root: bytes, name: bytes) -> int:
    *folders, last = name.split(b"/")
    at = os.open(root, _FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(last, _FILE, dir_fd=at)
    finally:
        os.close(at)
