"""Rows on disk, through diskcache.

The folder may hold anything that whoever wrote to it liked: nothing read from it is ever unpickled, and no file
outside it is opened or removed. A row of a form that the store never writes is a miss with a warning.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import shutil
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import diskcache
from typing_extensions import override

from rtch import turns
from rtch.errors import ArtifactError
from rtch.home import private_dir
from rtch.rows import Down, Entry, Rows

log = logging.getLogger("rtch.store")

TIMEOUT_S = 60.0
"""How long a write waits for other processes; with 0.01 s eight of them met 42 timeouts."""
MODE_RAW = 1
MODE_BINARY = 2
MAX_VALUE_BYTES = 2**30
FILE_NAME = re.compile(r"[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{28}\.val")
"""The only file names that diskcache gives; anything else was not written by it."""
LAST_MADE = "Settings_size_delete"
"""What diskcache makes last in an empty folder: the folder is complete when it is there."""
READ_TRIES = 3
BATCH = 200
ORPHAN_AGE_S = 3600.0
"""A value's file is written before its row: younger files may still get one."""

T = TypeVar("T")


class Refused(ValueError):  # noqa: N818  says what happened to the row
    """A row has a form that the store never writes."""


class Gone(Exception):  # noqa: N818  says what happened to the file
    """A value's file is not there: removed, or replaced between the reading of its row and its own."""


class BytesDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Text keys and bytes values; everything else is refused, above all pickle."""

    def put(self, key: object) -> tuple[str, bool]:
        """Return the key as it is stored."""
        if type(key) is not str:
            raise TypeError(f"a key of the store is text, not {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """Return a stored key."""
        if raw != 1 or type(key) is not str:
            raise Refused("a key that is no text")
        return key

    def store(self, value: object, read: object, key: object = diskcache.UNKNOWN) -> tuple[Any, ...]:
        """Return the columns for a value; large ones are written to a file."""
        if read or type(value) is not bytes:
            raise TypeError(f"a value of the store is bytes, not {type(value).__name__}")
        columns: tuple[Any, ...] = super().store(value, read=False, key=key)
        return columns

    def fetch(self, mode: object, filename: object, value: object, read: object) -> bytes:
        """Return a stored value."""
        if read:
            raise TypeError("the store hands out no file handles")
        if mode == MODE_RAW and filename is None and type(value) is bytes:
            return value
        if mode == MODE_BINARY and value is None and type(filename) is str:
            return self._read(filename)
        raise Refused(f"a value of mode {mode!r} and type {type(value).__name__}")

    def remove(self, file_path: object) -> None:
        """Remove a value's file; a name that diskcache did not give is left alone."""
        if type(file_path) is str and FILE_NAME.fullmatch(file_path):
            super().remove(file_path)

    def _read(self, filename: str) -> bytes:
        if not FILE_NAME.fullmatch(filename):
            raise Refused(f"a file named {filename[:80]!r}")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            handle = os.open(os.path.join(self._directory, filename), flags)  # noqa: PTH118  a hot path
        except FileNotFoundError as error:
            raise Gone(filename) from error
        with open(handle, "rb", buffering=0) as file:  # noqa: PTH123  a descriptor
            info = os.fstat(handle)
            if not stat.S_ISREG(info.st_mode) or info.st_size > MAX_VALUE_BYTES:
                raise Refused(f"a file {filename} that is no regular file of at most {MAX_VALUE_BYTES} bytes")
            return file.read()


class QuietCache(diskcache.Cache):  # type: ignore[misc]  # diskcache has no types
    """A cache that opens without writing where its settings stand in the folder already.

    The stock constructor writes every setting anew, some forty transactions: 6 ms a start, and it waits a
    minute on a writer that holds the lock even when the caller only means to read.
    """

    SETTINGS: ClassVar[Mapping[str, object]] = diskcache.DEFAULT_SETTINGS | {
        "eviction_policy": "none",
        "cull_limit": 0,
    }

    def __init__(self, directory: str, timeout_s: float) -> None:
        self._directory = directory
        self._timeout = timeout_s
        self._local = threading.local()
        self._txn_id: int | None = None
        if not self._attach():
            super().__init__(directory, timeout=timeout_s, disk=BytesDisk, **self.SETTINGS)

    @contextmanager
    def _transact(self, *args: Any, **named: Any) -> Iterator[tuple[Any, Any]]:
        """Keep the files of what was replaced until the outermost transaction is over: readers still need them."""
        if self._txn_id != threading.get_ident():
            with super()._transact(*args, **named) as self._outermost:
                yield self._outermost
        else:
            yield self._outermost

    def _attach(self) -> bool:
        """Take the settings from here if the folder's are the same; False leaves it to the stock constructor.

        Raises:
            sqlite3.DatabaseError: the folder has settings that no version writes.
        """
        if not os.path.exists(f"{self._directory}/{diskcache.core.DBNAME}"):  # noqa: PTH110  a text path
            return False
        try:
            stored = dict(self._sql("SELECT key, value FROM Settings").fetchall())
            complete = self._sql("SELECT 1 FROM sqlite_master WHERE name = ?", (LAST_MADE,)).fetchall()
        except sqlite3.OperationalError:
            return False
        if stored.keys() - self.SETTINGS.keys() - diskcache.core.METADATA.keys():
            raise sqlite3.DatabaseError("settings that no version writes")
        if not complete or any(stored.get(name) != value for name, value in self.SETTINGS.items()):
            return False
        for name, value in self.SETTINGS.items():
            setattr(self, name, value)
        ((self._page_size,),) = self._sql("PRAGMA page_size").fetchall()
        self._disk = BytesDisk(self._directory, min_file_size=self.SETTINGS["disk_min_file_size"])
        return True


class DiskRows(Rows):
    """Rows in a folder, shared by any number of processes on one machine."""

    def __init__(self, folder: Path, *, timeout_s: float = TIMEOUT_S) -> None:
        """Open the folder, made private if missing.

        Raises:
            Down: it cannot be used.
        """
        self._folder = folder
        self._rows = folder / "rows"
        self._broken = folder / "rows.broken"
        self._database = f"{self._rows}/{diskcache.core.DBNAME}"
        self._timeout_s = timeout_s
        self._opened = 0
        self._cache: Any = None
        self._guard(self._open)

    @override
    def get(self, key: str) -> bytes | None:
        for _ in range(READ_TRIES):
            try:
                value: bytes | None = self._guard(lambda: self._cache.get(key))
            except Gone:
                continue
            except Refused as error:
                log.warning("row %s of the store is refused and dropped: %s", key[:80], error)
                with suppress(Down):
                    self.delete([key])
                return None
            else:
                return value
        return None

    @override
    def get_many(self, keys: Collection[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for some in _batches(keys):
            sql = f"SELECT key, mode, filename, value FROM Cache WHERE raw = 1 AND key IN ({_marks(some)})"  # noqa: S608  marks alone
            for key, mode, name, value in self._sql(sql, some):
                # What lies in a file of its own, or has another form, is the business of ``get``.
                whole = value if mode == MODE_RAW and name is None and type(value) is bytes else self.get(key)
                if whole is not None:
                    found[key] = whole
        return found

    @override
    def put(self, key: str, value: bytes) -> None:
        self._guard(lambda: self._cache.set(key, value))

    @override
    def put_many(self, values: Mapping[str, bytes]) -> None:
        self._guard(lambda: self._set(values))

    def _set(self, values: Mapping[str, bytes]) -> None:
        with self._cache.transact():
            for key, value in values.items():
                self._cache.set(key, value)

    @override
    def delete(self, keys: Collection[str]) -> None:
        for some in _batches(keys):
            self._guard(partial(self._drop, some))

    @override
    def present(self, keys: Collection[str]) -> set[str]:
        found: set[str] = set()
        for some in _batches(keys):
            sql = f"SELECT key, filename, size FROM Cache WHERE raw = 1 AND key IN ({_marks(some)})"  # noqa: S608  marks alone
            found |= {key for key, name, size in self._sql(sql, some) if name is None or self._has_file(name, size)}
        return found

    @override
    def touch(self, keys: Collection[str], now: float) -> None:
        """Note the use; at most once an hour a row, for each write waits for a lock."""
        for some in _batches(keys):
            where = f"WHERE raw = 1 AND access_time < ? AND key IN ({_marks(some)})"
            stale = (now - 3600, *some)
            if self._sql(f"SELECT 1 FROM Cache {where} LIMIT 1", stale):  # noqa: S608  marks alone
                self._sql(f"UPDATE Cache SET access_time = ? {where}", (now, *stale))  # noqa: S608  marks alone

    @override
    def entries(self) -> list[Entry]:
        sql = (
            "SELECT key, size + ifnull(length(value), 0) + length(key), access_time FROM Cache"
            " WHERE raw = 1 AND typeof(key) = 'text' AND typeof(size) = 'integer' AND typeof(access_time) = 'real'"
        )
        return [Entry(key, size, used_at) for key, size, used_at in self._sql(sql)]

    @override
    def size(self) -> int:
        return int(self._guard(self._cache.volume))

    @override
    def sweep(self) -> int:
        foreign = (
            "FROM Cache WHERE raw IS NOT 1 OR typeof(key) != 'text' OR typeof(size) != 'integer'"
            " OR typeof(access_time) != 'real' OR NOT (mode = 1 AND typeof(value) = 'blob' AND filename IS NULL"
            " OR mode = 2 AND value IS NULL AND typeof(filename) = 'text')"
        )
        ((count,),) = self._sql(f"SELECT count(*) {foreign}")
        if count:
            log.warning("%d rows of the store have a form it never writes and are dropped", count)
            self._sql(f"DELETE {foreign}")
        return int(count) + self._sweep_files() + turns.sweep(self._folder)

    @override
    def clear(self) -> int:
        count: int = self._guard(self._cache.clear)
        return count

    @override
    def close(self) -> None:
        self._cache.close()

    def _drop(self, keys: list[str]) -> None:
        with self._cache.transact():
            for key in keys:
                self._cache.delete(key)

    def _sql(self, statement: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._guard(
            lambda: self._cache._sql(statement, tuple(values)).fetchall()  # noqa: SLF001  its API has no query over keys
        )
        return rows

    def _guard(self, work: Callable[[], T]) -> T:
        """Do the work; once more on a database that opens anew when this one is damaged or no longer there.

        Raises:
            Down: the database cannot be used.
        """
        try:
            try:
                if self._cache is not None and self._inode() != self._opened:
                    self._reopen()  # deleted or set aside by another process: SQLite would write on into nowhere
                return work()
            except (sqlite3.DatabaseError, ValueError) as error:
                if self._inode() == self._opened and not _damaged(error):
                    raise
                self._set_aside(error)
                self._reopen()
                return work()
        except diskcache.Timeout as error:
            raise Down(f"{self._folder} is locked by another process") from error
        except (sqlite3.Error, OSError) as error:
            raise Down(f"{self._folder} cannot be used: {error}") from error
        except ArtifactError as error:
            raise Down(str(error)) from error

    def _open(self) -> None:
        private_dir(self._folder)
        with self._lock(fcntl.LOCK_SH):
            private_dir(self._rows)
            self._opened = self._inode()
            self._cache = QuietCache(str(self._rows), self._timeout_s)
            self._opened = self._inode()

    def _reopen(self) -> None:
        if self._cache is not None:
            self._cache.close()
        self._open()

    def _inode(self) -> int:
        try:
            return os.stat(self._database).st_ino  # noqa: PTH116  a hot path
        except OSError:
            return 0

    def _set_aside(self, error: Exception) -> None:
        """Move the damaged rows out of the way, unless another process has done so already.

        The whole folder is renamed: a fresh database must not share the names of its logs with the damaged
        one, which other processes may still have open.
        """
        if self._inode() != self._opened:
            return
        with self._lock(fcntl.LOCK_EX):
            if self._inode() != self._opened:
                return
            log.warning("the store in %s is damaged (%s): it is set aside and starts empty", self._folder, error)
            shutil.rmtree(self._broken, ignore_errors=True)
            self._rows.rename(self._broken)

    @contextmanager
    def _lock(self, kind: int) -> Iterator[None]:
        """Hold the lock between opening the rows, which many may do, and setting them aside."""
        with (self._folder / "lock").open("wb") as file:
            fcntl.flock(file, kind)
            yield

    def _has_file(self, filename: object, size: object) -> bool:
        if type(filename) is not str or not FILE_NAME.fullmatch(filename):
            return False
        try:
            info = os.lstat(f"{self._rows}/{filename}")
        except OSError:
            return False
        return stat.S_ISREG(info.st_mode) and info.st_size == size

    def _sweep_files(self) -> int:
        """Remove files without a row: left by a writer that was killed, or by a database set aside."""
        known = {name for (name,) in self._sql("SELECT filename FROM Cache WHERE filename IS NOT NULL")}
        oldest = time.time() - ORPHAN_AGE_S
        count = 0
        if self._broken.exists():
            shutil.rmtree(self._broken, ignore_errors=True)
            count += 1
        for path in self._rows.glob("??/??/*.val"):
            name = path.relative_to(self._rows).as_posix()
            with suppress(OSError):
                if name not in known and path.lstat().st_mtime < oldest:
                    path.unlink()
                    count += 1
        return count


def _damaged(error: Exception) -> bool:
    """Tell a damaged database from one that is locked, read-only or on a full disk.

    A bare ValueError is diskcache unpacking two rows where the index allows one.
    """
    if isinstance(error, ValueError):
        return type(error) is ValueError
    if isinstance(error, sqlite3.OperationalError):
        return any(sign in str(error) for sign in ("no such table", "no such column", "malformed"))
    return not isinstance(error, sqlite3.ProgrammingError)


def _batches(keys: Collection[str]) -> Iterator[list[str]]:
    some = list(keys)
    for start in range(0, len(some), BATCH):
        yield some[start : start + BATCH]


def _marks(keys: Collection[str]) -> str:
    return ",".join("?" * len(keys))
