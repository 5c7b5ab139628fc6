"""Rows of bytes under text keys: what the artifact store needs of a place, in memory, and with a way out.

Rows on disk are ``diskrows``' business; what rows mean, which belong together and when they go is ``store``'s.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, Protocol, TypeVar

from typing_extensions import override

log = logging.getLogger("rtch.store")

T = TypeVar("T")


class Entry(NamedTuple):
    """One row as ``gc`` sees it."""

    key: str
    size: int
    used_at: float


class Rows(Protocol):
    """What a store needs of a place for rows."""

    def get(self, key: str) -> bytes | None:
        """Return the value; None when there is none that can be read."""

    def get_many(self, keys: Collection[str]) -> dict[str, bytes]:
        """Return the values of those keys that have one which can be read."""

    def put(self, key: str, value: bytes) -> None:
        """Write or overwrite a row."""

    def put_many(self, values: Mapping[str, bytes]) -> None:
        """Write or overwrite rows, all of them or none."""

    def delete(self, keys: Collection[str]) -> None:
        """Remove rows; missing ones are no error."""

    def present(self, keys: Collection[str]) -> set[str]:
        """Return which of the keys have a row, and its file where the value lies in one."""

    def touch(self, keys: Collection[str], now: float) -> None:
        """Note that the rows were used."""

    def entries(self) -> list[Entry]:
        """Return every row, without values."""

    def size(self) -> int:
        """Return about how many bytes the rows take; cheaper than ``entries``."""

    def sweep(self) -> int:
        """Remove what is no row of the store's; return how many rows and files went."""

    def clear(self) -> int:
        """Remove every row; return how many there were."""

    def close(self) -> None:
        """Let go of files."""


class Down(Exception):  # noqa: N818  a signal inside the store, translated before it leaves
    """The database cannot be used: locked, read-only, full, unreadable."""


class MemoryRows(Rows):
    """Rows of one process, gone with it."""

    def __init__(self) -> None:
        self._rows: dict[str, bytes] = {}
        self._used: dict[str, float] = {}
        self._lock = threading.Lock()

    @override
    def get(self, key: str) -> bytes | None:
        return self._rows.get(key)

    @override
    def get_many(self, keys: Collection[str]) -> dict[str, bytes]:
        return {key: self._rows[key] for key in keys if key in self._rows}

    @override
    def put(self, key: str, value: bytes) -> None:
        self.put_many({key: value})

    @override
    def put_many(self, values: Mapping[str, bytes]) -> None:
        with self._lock:
            self._rows.update(values)
            self._used.update(dict.fromkeys(values, time.time()))

    @override
    def delete(self, keys: Collection[str]) -> None:
        with self._lock:
            for key in keys:
                self._rows.pop(key, None)
                self._used.pop(key, None)

    @override
    def present(self, keys: Collection[str]) -> set[str]:
        return {key for key in keys if key in self._rows}

    @override
    def touch(self, keys: Collection[str], now: float) -> None:
        with self._lock:
            self._used.update((key, now) for key in keys if key in self._rows)

    @override
    def entries(self) -> list[Entry]:
        with self._lock:
            return [Entry(key, len(value) + len(key), self._used[key]) for key, value in self._rows.items()]

    @override
    def size(self) -> int:
        with self._lock:
            return sum(map(len, self._rows.values()))

    @override
    def sweep(self) -> int:
        return 0

    @override
    def clear(self) -> int:
        with self._lock:
            count = len(self._rows)
            self._rows.clear()
            self._used.clear()
        return count

    @override
    def close(self) -> None:
        """Keep the rows: a closed store in memory can still be read."""


class FallbackRows(Rows):
    """Rows on disk while the disk serves, and in memory from the first failure on.

    A cache that cannot be used costs time and never a result: the failure is a warning, and what this
    process wrote stays readable to it.
    """

    def __init__(self, open_disk: Callable[[], Rows], *, pause_s: float = math.inf) -> None:
        """Open the disk.

        Args:
            open_disk: called again after a pause where the disk could not be read.
            pause_s: how long a disk that failed is left alone; then it is tried again, and given what was kept.
        """
        self._open_disk = open_disk
        self._pause_s = pause_s
        self._memory = MemoryRows()
        self._gone: set[str] = set()
        self._disk: Rows | None = None
        self._open_at = self._write_at = 0.0
        self._lock = threading.Lock()
        self._warned = False
        self._opened()

    @override
    def get(self, key: str) -> bytes | None:
        value = self._memory.get(key)
        if value is not None or key in self._gone:
            return value
        return self._read(lambda disk: disk.get(key), None)

    @override
    def get_many(self, keys: Collection[str]) -> dict[str, bytes]:
        found = self._memory.get_many(keys)
        rest = [key for key in keys if key not in found and key not in self._gone]
        nothing: dict[str, bytes] = {}
        return found | self._read(lambda disk: disk.get_many(rest), nothing) if rest else found

    @override
    def put(self, key: str, value: bytes) -> None:
        if not self._write(lambda disk: disk.put(key, value)):
            self._memory.put(key, value)
        self._gone.discard(key)

    @override
    def put_many(self, values: Mapping[str, bytes]) -> None:
        if values and not self._write(lambda disk: disk.put_many(values)):
            self._memory.put_many(values)
        self._gone.difference_update(values)

    @override
    def delete(self, keys: Collection[str]) -> None:
        self._memory.delete(keys)
        if not self._write(lambda disk: disk.delete(keys)):
            self._gone.update(keys)

    @override
    def present(self, keys: Collection[str]) -> set[str]:
        found = self._memory.present(keys)
        rest = [key for key in keys if key not in found and key not in self._gone]
        nothing: set[str] = set()
        return found | self._read(lambda disk: disk.present(rest), nothing) if rest else found

    @override
    def touch(self, keys: Collection[str], now: float) -> None:
        self._memory.touch(keys, now)
        self._write(lambda disk: disk.touch(keys, now))

    @override
    def entries(self) -> list[Entry]:
        nothing: list[Entry] = []
        return self._memory.entries() + self._read(lambda disk: disk.entries(), nothing)

    @override
    def size(self) -> int:
        return self._memory.size() + self._read(lambda disk: disk.size(), 0)

    @override
    def sweep(self) -> int:
        count = 0

        def work(disk: Rows) -> None:
            nonlocal count
            count = disk.sweep()

        self._write(work)
        return count

    @override
    def clear(self) -> int:
        count = self._memory.clear()

        def work(disk: Rows) -> None:
            nonlocal count
            count += disk.clear()

        self._write(work)
        return count

    @override
    def close(self) -> None:
        if self._disk is not None:
            self._disk.close()

    def _opened(self) -> Rows | None:
        if self._disk is None and time.monotonic() >= self._open_at:
            try:
                self._disk = self._open_disk()
            except Down as error:
                self._open_at = self._failed(error)
        return self._disk

    def _read(self, work: Callable[[Rows], T], otherwise: T) -> T:
        disk = self._opened()
        if disk is None:
            return otherwise
        try:
            return work(disk)
        except Down as error:
            self._disk = None
            self._open_at = self._failed(error)
            return otherwise

    def _write(self, work: Callable[[Rows], None]) -> bool:
        """Write to the disk if it takes writes; after a failure there is a pause."""
        disk = self._opened()
        if disk is None or time.monotonic() < self._write_at:
            return False
        try:
            if self._warned:
                self._catch_up(disk)
            work(disk)
        except Down as error:
            self._write_at = self._failed(error)
            return False
        return True

    def _catch_up(self, disk: Rows) -> None:
        """Give the disk what it missed, for others wait for it there."""
        kept = self._memory.get_many([entry.key for entry in self._memory.entries()])
        disk.delete(list(self._gone))
        disk.put_many(kept)
        self._gone.clear()
        self._memory.delete(kept)
        self._warned = False

    def _failed(self, error: Down) -> float:
        """Return when to try again; say it once an outage, whatever else fails and in however many threads."""
        with self._lock:
            warned, self._warned = self._warned, True
        if not warned:
            log.warning("%s: this run keeps its artifacts in memory", error)
        return time.monotonic() + self._pause_s
