"""The stat rows of many paths, as columns."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat

from rtch.models.vocab import EntryKind
from rtch.reading import INODE_BITS, StatRow

ROW_COLUMNS = 5
"""The fields of a StatRow."""
RACY_NS = 50_000_000
"""A file changed this shortly before it was looked at may change again with the same time stamp."""
COARSE_RACY_NS = 2_000_000_000
"""The same where time stamps are whole seconds."""
_NO_ROW = (0, 0, 0, 0, 0)
_BLOCK = 512
_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)


def is_racy(ctime_ns: int, looked_ns: int) -> bool:
    """Tell whether a file may have changed again, after it was looked at, without its row showing it."""
    whole_seconds = ctime_ns % 1_000_000_000 == 0
    return ctime_ns >= looked_ns - (COARSE_RACY_NS if whole_seconds else RACY_NS)


def stat_rows(names: Sequence[bytes], at: int) -> list[int]:
    """Return ROW_COLUMNS integers for each path, whatever it is; zeros where there is nothing to be seen.

    Most of opening a tree is spent here. A path that begins at an open folder is walked faster than a whole one.

    Args:
        names: the paths, relative.
        at: the descriptor of the folder that they are relative to.
    """
    lstat = os.lstat
    flat: list[int] = []
    for name in names:
        try:
            status = lstat(name, dir_fd=at)
        except OSError:
            flat += _NO_ROW
        else:
            flat += (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode)
    return flat


@contextmanager
def opened(folder: bytes) -> Iterator[int]:
    """Open a folder as the start of paths.

    Raises:
        OSError: it cannot be opened.
    """
    descriptor = os.open(folder, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class Sight:
    """What lstat says of some paths, each looked at once, in the order in which they were given.

    Attributes:
        rows: ROW_COLUMNS integers each, all zero where it is no regular file.
        odd: what each path is that is no regular file, by index.
        links: the size and the sha256 of a symbolic link's target, by index.
    """

    __slots__ = ("_base", "links", "odd", "rows")

    def __init__(self, root: bytes) -> None:
        """Look below a root, which is an absolute path."""
        self._base = root + b"/"
        self.rows: array[int] = array("q")
        self.odd: dict[int, EntryKind] = {}
        self.links: dict[int, tuple[int, str]] = {}

    def __len__(self) -> int:
        return len(self.rows) // ROW_COLUMNS

    def kinds(self) -> tuple[EntryKind, ...]:
        """Return what each path is."""
        kinds = list(repeat(EntryKind.FILE, len(self)))
        for i, kind in self.odd.items():
            kinds[i] = kind
        return tuple(kinds)

    def sizes(self) -> tuple[int, ...]:
        """Return the sizes of regular files and links, else 0."""
        sizes = self.rows[::ROW_COLUMNS]
        for i, (size, _) in self.links.items():
            sizes[i] = size
        return tuple(sizes)

    def look(self, names: Sequence[bytes], known: Mapping[bytes, EntryKind]) -> None:
        """Look at more paths; those in ``known`` are not looked at."""
        try:
            with opened(self._base) as at:
                for start in range(0, len(names), _BLOCK):
                    self._look(names[start : start + _BLOCK], known, at)
        except OSError:
            self._look(names, dict.fromkeys(names, EntryKind.ABSENT), -1)

    def _look(self, names: Sequence[bytes], known: Mapping[bytes, EntryKind], at: int) -> None:
        before = len(self)
        if known and not known.keys().isdisjoint(names):
            flat = stat_rows([b"" if name in known else name for name in names], at)
        else:
            flat = stat_rows(names, at)
        modes = flat[ROW_COLUMNS - 1 :: ROW_COLUMNS]
        if not all(map(stat.S_ISREG, set(modes))):
            for i, mode in enumerate(modes):
                if not stat.S_ISREG(mode):
                    row = self._look_closely(before + i, names[i], known, at)
                    flat[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS] = row
        self.rows.extend(_signed(flat))

    def _look_closely(self, i: int, name: bytes, known: Mapping[bytes, EntryKind], at: int) -> Sequence[int]:
        """Say what a path is that seemed to be no regular file."""
        if name in known:
            self.odd[i] = known[name]
            return _NO_ROW
        try:
            status = os.lstat(name, dir_fd=at)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError | NotADirectoryError)
            self.odd[i] = EntryKind.ABSENT if missing else EntryKind.UNREADABLE
            return _NO_ROW
        kind = kind_of(status.st_mode)
        if kind is EntryKind.FILE:
            return StatRow.of(status)
        self.odd[i] = kind
        if kind is EntryKind.SYMLINK:
            self.links[i] = status.st_size, _target_digest(name, at)
        return _NO_ROW

    def row(self, i: int) -> StatRow:
        """Return one row."""
        return StatRow(*self.rows[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS])

    def extend(self, other: Sight) -> None:
        """Take in what was seen of further paths."""
        before = len(self)
        self.odd |= {before + i: kind for i, kind in other.odd.items()}
        self.links |= {before + i: link for i, link in other.links.items()}
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
        if not changed or max(changed) < soon.start:
            return looked_ns
        fresh = [i for i, ctime in enumerate(changed) if ctime in soon]
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
        return now

    def picked(self, order: Iterable[int]) -> Sight:
        """Return the same in another order, with some left out."""
        other = Sight(self._base[:-1])
        places = {}
        for place, i in enumerate(order):
            places[i] = place
            other.rows += self.rows[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS]
        other.odd = {places[i]: kind for i, kind in self.odd.items() if i in places}
        other.links = {places[i]: link for i, link in self.links.items() if i in places}
        return other


def folder_rows(root: bytes, folders: Sequence[bytes]) -> array[int]:
    """Return each folder's row, all zero where it is none or a link to one."""
    try:
        with opened(root) as at:
            flat = stat_rows(folders, at)
    except OSError:
        return array("q", bytes(8 * ROW_COLUMNS * len(folders)))
    for i, mode in enumerate(flat[ROW_COLUMNS - 1 :: ROW_COLUMNS]):
        if not stat.S_ISDIR(mode):
            flat[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS] = _NO_ROW
    return _signed(flat)


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


def not_folders(root: bytes, names: Iterable[bytes]) -> set[bytes]:
    """Return the folders on the way to some paths that are links or gone.

    What lies behind a link to a folder is not the tree's, whatever git's index says.
    """
    folders = sorted(folders_of(names))
    return without_row(folders, folder_rows(root, folders))


def without_row(folders: Sequence[bytes], rows: array[int]) -> set[bytes]:
    """Return those of some sorted folders that have an empty row, and those that lie below one."""
    modes = rows[ROW_COLUMNS - 1 :: ROW_COLUMNS]
    bad: set[bytes] = set()
    if not all(modes):
        for folder, mode in zip(folders, modes, strict=True):
            if not mode or folder.rpartition(b"/")[0] in bad:
                bad.add(folder)
    return bad


def folders_of(names: Iterable[bytes]) -> set[bytes]:
    """Return every folder on the way to some paths; the root is ``.``."""
    folders = {name.rpartition(b"/")[0] for name in names}
    pending = list(folders)
    while pending:
        parent = pending.pop().rpartition(b"/")[0]
        if parent not in folders:
            folders.add(parent)
            pending.append(parent)
    folders.discard(b"")
    return folders | {b"."}


def _target_digest(name: bytes, at: int) -> str:
    try:
        return hashlib.sha256(os.readlink(name, dir_fd=at)).hexdigest()
    except OSError:
        return ""


def _signed(flat: list[int]) -> array[int]:
    """Return 64-bit integers; only an inode number can be past the signed range."""
    try:
        return array("q", flat)
    except OverflowError:
        return array("q", [value & INODE_BITS if value > INODE_BITS else value for value in flat])
