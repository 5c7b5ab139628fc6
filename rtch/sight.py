"""The stat rows of many paths, as columns."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from array import array
from collections.abc import Iterable, Mapping, Sequence

from rtch.models.vocab import EntryKind
from rtch.reading import INODE_BITS, StatRow

ROW_COLUMNS = 5
"""The fields of a StatRow."""
RACY_NS = 50_000_000
"""A file changed this shortly before it was looked at may change again with the same time stamp."""
COARSE_RACY_NS = 2_000_000_000
"""The same where time stamps are whole seconds."""
_EMPTY_ROW = (0, 0, 0, 0, 0)
_BLOCK = 512


def is_racy(ctime_ns: int, looked_ns: int) -> bool:
    """Tell whether a file may have changed again, after it was looked at, without its row showing it."""
    whole_seconds = ctime_ns % 1_000_000_000 == 0
    return ctime_ns >= looked_ns - (COARSE_RACY_NS if whole_seconds else RACY_NS)


class Sight:
    """What lstat says of some paths, each looked at once, in the order in which they were given.

    Attributes:
        kinds: what each path is.
        rows: ROW_COLUMNS integers each, all zero where it is no regular file.
        sizes: of regular files and links, else 0.
        links: the sha256 of a symbolic link's target, by index.
    """

    __slots__ = ("_base", "kinds", "links", "rows", "sizes")

    def __init__(self, root: bytes) -> None:
        """Look below a root, which is an absolute path."""
        self._base = root + b"/"
        self.kinds: list[EntryKind] = []
        self.rows: array[int] = array("q")
        self.sizes: list[int] = []
        self.links: dict[int, str] = {}

    def look(self, names: Sequence[bytes], known: Mapping[bytes, EntryKind]) -> None:
        """Look at more paths; those in ``known`` are not looked at."""
        for start in range(0, len(names), _BLOCK):
            block = names[start : start + _BLOCK]
            if known and not known.keys().isdisjoint(block):
                flat = [value for name in block for value in self._known(name, known)]
            else:
                flat = self._files(block)
            self.rows.extend(_signed(flat))

    def _files(self, names: Sequence[bytes]) -> list[int]:
        """Look at paths that are regular files but for a few; this loop is most of opening a tree."""
        base, lstat, kinds, sizes = self._base, os.lstat, self.kinds, self.sizes
        file, regular, type_bits = EntryKind.FILE, stat.S_IFREG, 0o170000
        flat: list[int] = []
        for name in names:
            try:
                status = lstat(base + name)
            except OSError as error:
                missing = isinstance(error, FileNotFoundError | NotADirectoryError)
                flat += self._other(EntryKind.ABSENT if missing else EntryKind.UNREADABLE, 0)
                continue
            mode, size = status.st_mode, status.st_size
            if mode & type_bits == regular:
                kinds.append(file)
                sizes.append(size)
                flat += (size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, mode)
            elif stat.S_ISLNK(mode):
                self.links[len(kinds)] = _target_digest(base + name)
                flat += self._other(EntryKind.SYMLINK, size)
            else:
                flat += self._other(kind_of(mode), 0)
        return flat

    def _known(self, name: bytes, known: Mapping[bytes, EntryKind]) -> Sequence[int]:
        return self._other(known[name], 0) if name in known else self._files([name])

    def _other(self, kind: EntryKind, size: int) -> tuple[int, int, int, int, int]:
        self.kinds.append(kind)
        self.sizes.append(size)
        return _EMPTY_ROW

    def row(self, i: int) -> StatRow:
        """Return one row."""
        return StatRow(*self.rows[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS])

    def extend(self, other: Sight) -> None:
        """Take in what was seen of further paths."""
        before = len(self.kinds)
        self.links |= {before + i: digest for i, digest in other.links.items()}
        self.kinds += other.kinds
        self.sizes += other.sizes
        self.rows += other.rows

    def settle(self, names: Sequence[bytes], looked_ns: int) -> int:
        """Look again at files that changed just before the first look, once their time stamps can be trusted.

        Waits at most RACY_NS. What changes all the time, or has its time stamp in the future or in
        whole seconds, stays unsafe.

        Args:
            names: the paths that were looked at.
            looked_ns: the time before the first look.

        Returns:
            the time that ``is_racy`` is to be asked with, for every row.
        """
        changed = self.rows[2::ROW_COLUMNS]
        soon = range(looked_ns - RACY_NS, looked_ns + RACY_NS)
        fresh = [i for i, ctime in enumerate(changed) if ctime >= soon.start and ctime in soon]
        if not fresh:
            return looked_ns
        ready = max(changed[i] for i in fresh) + RACY_NS + 1
        while (now := time.time_ns()) < ready:
            time.sleep((ready - now) / 1e9)
        for i in fresh:
            with contextlib.suppress(OSError):
                status = os.lstat(self._base + names[i])
                if stat.S_ISREG(status.st_mode):
                    self.rows[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS] = _signed(list(StatRow.of(status)))
                    self.sizes[i] = status.st_size
        return now

    def picked(self, order: Iterable[int]) -> Sight:
        """Return the same in another order, with some left out."""
        other = Sight(self._base[:-1])
        for i in order:
            if i in self.links:
                other.links[len(other.kinds)] = self.links[i]
            other.kinds.append(self.kinds[i])
            other.sizes.append(self.sizes[i])
            other.rows += self.rows[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS]
        return other


def kind_of(mode: int) -> EntryKind:
    """Return what a stat mode says an entry is."""
    for test, kind in (
        (stat.S_ISREG, EntryKind.FILE),
        (stat.S_ISLNK, EntryKind.SYMLINK),
        (stat.S_ISDIR, EntryKind.DIRECTORY),
        (stat.S_ISFIFO, EntryKind.FIFO),
        (stat.S_ISSOCK, EntryKind.SOCKET),
    ):
        if test(mode):
            return kind
    return EntryKind.DEVICE


def is_folder(path: bytes) -> bool:
    """Tell whether a path is a folder and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def not_folders(root: bytes, names: Iterable[bytes]) -> set[bytes]:
    """Return the folders on the way to some paths that are links or gone.

    What lies behind a link to a folder is not the tree's, whatever git's index says.
    """
    folders = {name.rpartition(b"/")[0] for name in names}
    pending = list(folders)
    while pending:
        parent = pending.pop().rpartition(b"/")[0]
        if parent not in folders:
            folders.add(parent)
            pending.append(parent)
    folders.discard(b"")
    base = root + b"/"
    bad: set[bytes] = set()
    for folder in sorted(folders):
        if folder.rpartition(b"/")[0] in bad or not is_folder(base + folder):
            bad.add(folder)
    return bad


def _target_digest(path: bytes) -> str:
    try:
        return hashlib.sha256(os.readlink(path)).hexdigest()  # noqa: PTH115  a path in bytes
    except OSError:
        return ""


def _signed(flat: list[int]) -> array[int]:
    """Return 64-bit integers; only an inode number can be past the signed range."""
    try:
        return array("q", flat)
    except OverflowError:
        return array("q", [value & INODE_BITS if value > INODE_BITS else value for value in flat])
