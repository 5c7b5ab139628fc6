"""Records that this process has decoded or made, so that the stages of a run need not decode them each."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TypeVar

from rtch.models.base import Record

M = TypeVar("M", bound=Record)


class Memo:
    """Records by digest, least recently used out first; shared, for records are frozen.

    Args:
        max_bytes: what is kept at most, counted by canonical bytes.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._records: OrderedDict[str, tuple[Record, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, digest: str, model: type[M]) -> M | None:
        """Return the record of a digest, if it is kept as this model."""
        with self._lock:
            record, _ = self._records.get(digest, (None, 0))
            if type(record) is not model:
                return None
            self._records.move_to_end(digest)
            return record

    def add(self, digest: str, record: Record, size: int) -> None:
        """Keep a record of so many canonical bytes; one larger than the whole memo is not kept."""
        if size > self._max_bytes:
            return
        self.drop(digest)
        with self._lock:
            self._records[digest] = (record, size)
            self._size += size
            while self._size > self._max_bytes:
                _, (_, gone) = self._records.popitem(last=False)
                self._size -= gone

    def drop(self, digest: str) -> None:
        """Keep the record no longer."""
        with self._lock:
            _, size = self._records.pop(digest, (None, 0))
            self._size -= size

    def clear(self) -> None:
        """Keep none."""
        with self._lock:
            self._records.clear()
            self._size = 0
