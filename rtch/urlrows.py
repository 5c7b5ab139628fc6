"""Rows under a URL, through fsspec: a shared folder, or a bucket of objects, for several machines at once.

A row is one file, ``<url>/<kind>/<quoted rest of the key>``; a file is written under another name and moved, an
object is put, so that a reader has the row of before or the whole row of now. Nothing read is ever unpickled; that
the bytes are those that were written is seen by ``store``, as on disk. Only files that have a row's name are listed
or removed: the URL may hold other things.

Unlike rows on disk, those of ``put_many`` appear one after the other where objects are put, and a use is noted in
folders alone: in a bucket the row that was written first goes first.
"""

from __future__ import annotations

import logging
import os
import re
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from typing_extensions import override

from rtch import turns
from rtch.rows import Down, Entry, Rows

log = logging.getLogger("rtch.store")

KINDS = "abkprz"
"""The first letter of every key of a store."""
MAX_LISTED = 200_000
"""Rows of one kind that ``entries`` looks at."""
PUT_WHOLE = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "memory"})
"""Where an object appears when all of it is there; elsewhere a file grows while it is written."""
FOLDERS = frozenset({"file", "local"})
USE_NOTED_S = 3600.0
STRAY_AGE_S = 3600.0
NOT_THERE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
TIMES = ("mtime", "LastModified", "last_modified", "updated", "created")
CREDENTIALS = re.compile(r"//[^/@]*@")

T = TypeVar("T")


class UrlRows(Rows):
    """Rows under a URL, shared by any number of processes on any number of machines."""

    def __init__(self, url: str) -> None:
        """Open the place; a folder is made when the first row is written.

        Raises:
            Down: no file system of that kind is installed, or it cannot be used.
        """
        self._url = url
        self._shown = CREDENTIALS.sub("//", url)
        self._written = 0
        self._fs, self._root = self._guard(lambda: _opened(url))
        protocols = {self._fs.protocol} if isinstance(self._fs.protocol, str) else set(self._fs.protocol)
        self._whole = bool(protocols & PUT_WHOLE)
        self._folder = bool(protocols & FOLDERS)

    @override
    def get(self, key: str) -> bytes | None:
        def read() -> bytes | None:
            try:
                return bytes(self._fs.cat_file(self._path(key)))
            except NOT_THERE:
                return None

        return self._guard(read)

    @override
    def get_many(self, keys: Collection[str]) -> dict[str, bytes]:
        paths = {self._path(key): key for key in keys}
        if len(paths) < 2:
            return {key: value for key in paths.values() if (value := self.get(key)) is not None}
        found: dict[str, bytes] = {}
        # Where the file system is asynchronous they are fetched at once.
        for path, value in self._guard(lambda: self._fs.cat(list(paths), on_error="return")).items():
            if isinstance(value, bytes):
                found[paths[path]] = value
            elif not isinstance(value, NOT_THERE):
                raise self._down(value)
        return found

    @override
    def put(self, key: str, value: bytes) -> None:
        self.put_many({key: value})

    @override
    def put_many(self, values: Mapping[str, bytes]) -> None:
        self._written += sum(map(len, values.values()))
        if self._whole:
            self._guard(lambda: self._fs.pipe({self._path(key): value for key, value in values.items()}))
        else:
            self._guard(lambda: self._move_in(values))

    @override
    def delete(self, keys: Collection[str]) -> None:
        for key in keys:
            self._guard(lambda key=key: self._remove(self._path(key)))  # type: ignore[misc]  # a default binds the key

    @override
    def present(self, keys: Collection[str]) -> set[str]:
        return {key for key in keys if self._info(self._path(key)).get("type") == "file"}

    @override
    def touch(self, keys: Collection[str], now: float) -> None:
        """Note the use in a folder; at most once an hour a row."""
        if not self._folder:
            return
        for path in map(self._path, keys):
            used_at = self._info(path).get("mtime", now)
            if used_at < now - USE_NOTED_S:
                self._guard(lambda path=path: os.utime(path, (now, now)))  # type: ignore[misc]  # a default binds it

    @override
    def entries(self) -> list[Entry]:
        return [
            Entry(key, int(info.get("size") or 0) + len(key), _used_at(info))
            for kind in KINDS
            for key, info in self._listed(kind)
        ]

    @override
    def size(self) -> int:
        """Return how many bytes this process has written: to ask how many there are costs more than a run."""
        return self._written

    @override
    def sweep(self) -> int:
        count = turns.sweep(Path(turns.folder_of(self._url)))
        oldest = time.time() - STRAY_AGE_S
        for path, info in self._files("incoming"):
            if _used_at(info) < oldest:
                self._guard(lambda path=path: self._remove(path))  # type: ignore[misc]  # a default binds the path
                count += 1
        return count

    @override
    def clear(self) -> int:
        keys = [entry.key for entry in self.entries()]
        self.delete(keys)
        self._written = 0
        return len(keys)

    @override
    def close(self) -> None:
        """Nothing is held open."""

    def _path(self, key: str) -> str:
        kind, _, rest = key.partition("/")
        return f"{self._root}/{kind}/{quote(rest, safe='')}"

    def _move_in(self, values: Mapping[str, bytes]) -> None:
        """Write every file under another name, then move them to their own."""
        waiting: list[tuple[str, str]] = []
        for name in {"incoming", *(key.partition("/")[0] for key in values)}:
            self._fs.makedirs(f"{self._root}/{name}", exist_ok=True)
        try:
            for key, value in values.items():
                waiting.append((f"{self._root}/incoming/{uuid.uuid4().hex}", self._path(key)))
                self._fs.pipe_file(waiting[-1][0], value)
            while waiting:
                self._fs.mv(*waiting[0])
                del waiting[0]
        finally:
            for temporary, _ in waiting:
                self._remove(temporary)

    def _remove(self, path: str) -> None:
        try:
            self._fs.rm_file(path)
        except NOT_THERE:
            return

    def _info(self, path: str) -> dict[str, Any]:
        def ask() -> dict[str, Any]:
            try:
                return dict(self._fs.info(path))
            except NOT_THERE:
                return {}

        return self._guard(ask)

    def _listed(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for path, info in self._files(kind):
            key = f"{kind}/{unquote(path.rpartition('/')[2])}"
            if path == self._path(key):
                yield key, info

    def _files(self, folder: str) -> list[tuple[str, dict[str, Any]]]:
        def ask() -> list[dict[str, Any]]:
            self._fs.invalidate_cache()
            try:
                return list(self._fs.ls(f"{self._root}/{folder}", detail=True))
            except NOT_THERE:
                return []

        files = [(str(info["name"]), info) for info in self._guard(ask) if info.get("type") == "file"]
        if len(files) > MAX_LISTED:
            log.warning("%s has %d rows of one kind: %d are looked at", self._shown, len(files), MAX_LISTED)
        return files[:MAX_LISTED]

    def _guard(self, work: Callable[[], T]) -> T:
        """Do the work.

        Raises:
            Down: the place cannot be used; that a row is not there is no such thing.
        """
        try:
            return work()
        except Down:
            raise
        except Exception as error:  # each file system has errors of its own
            raise self._down(error) from error

    def _down(self, error: object) -> Down:
        told = " ".join(str(error).split()) or type(error).__name__
        return Down(f"{self._shown} cannot be used: {CREDENTIALS.sub('//', told)[:300]}")


def _opened(url: str) -> tuple[Any, str]:
    import fsspec  # noqa: PLC0415  comes with Prefect; 60 ms that a store on disk need not pay

    system, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
    return system, str(root).rstrip("/")


def _used_at(info: Mapping[str, Any]) -> float:
    """Return when a file was last written or used; a file system that does not tell says now."""
    for name in TIMES:
        value = info.get(name)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, int | float):
            return float(value)
    return time.time()
