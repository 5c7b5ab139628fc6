"""The artifact store: references to artifacts, and the rows in which artifacts are kept.

Two kinds of row matter: ``k/<stage key>`` names the artifact that a stage made, ``a/<digest>`` holds its
bytes. Equal artifacts under several keys are stored once, and keys downstream, made of digests, still hit.
Blobs (``b/``), pins (``p/``) and the history of keys (``z/``, ``r/``) are bookkeeping. Everything is
checked when it is read; what is missing, torn or foreign is a miss with a warning, never an error of the
user's. Where rows lie, and how, is the business of ``places``, ``diskrows`` and ``urlrows``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
import uuid
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import ValidationError

from rtch.errors import Dangling
from rtch.history import PacketHistory, Step, ZoneHistory, next_history, packet_history
from rtch.keys import KeyParts
from rtch.memo import Memo
from rtch.models.base import Record, canonical_json
from rtch.places import is_url, rows_at
from rtch.refs import Ref, StageRow, loaded_models
from rtch.rows import MemoryRows, Rows

__all__ = ["MemoryStore", "Ref", "Store", "close_stores", "open_store"]

log = logging.getLogger("rtch.store")

INLINE_BYTES = 4096
"""Artifacts up to this size travel inside their reference and need no row."""
MEMO_BYTES = 8 * 2**20
"""Decoded artifacts kept in the process, counted by their canonical bytes."""
MAX_BYTES = 2**30
"""The size at which a store is trimmed when no other is given."""

M = TypeVar("M", bound=Record)


class StoreStats(NamedTuple):
    """Rows and bytes of a store, by kind of row."""

    folder: str
    stages: int
    artifacts: int
    blobs: int
    pins: int
    size_bytes: int


class GcReport(NamedTuple):
    """What ``gc`` removed, and what is left."""

    removed: int
    freed_bytes: int
    swept: int
    left: int
    left_bytes: int


class Store:
    """Artifacts by digest, and the stage keys that lead to them."""

    def __init__(self, rows: Rows, *, folder: str = "", max_bytes: int = MAX_BYTES) -> None:
        self.folder = folder
        self._rows = rows
        self._max_bytes = max_bytes
        self._used: set[str] = set()
        self._forgotten: set[str] = set()
        """Digests to be made again; an artifact inside its stage row has no row of its own to delete."""
        self._memo = Memo(MEMO_BYTES)

    # Artifacts

    def put(self, record: M) -> Ref[M]:
        """Store a record and return its reference; a small one travels inline and needs no row."""
        data = record.canonical()
        digest = hashlib.sha256(data).hexdigest()
        self._memo.add(digest, record, len(data))
        inline = data if len(data) <= INLINE_BYTES else None
        if inline is None:
            self._put(digest, data)
        return Ref(type(record).__name__, digest, inline)

    def load(self, ref: Ref[M], model: type[M]) -> M:
        """Return the record of a reference.

        Raises:
            Dangling: it is not in the store, or does not have its digest, or is no such record.
        """
        return self._load(ref.digest, ref.inline, model)

    def read(self, ref: Ref[M], model: type[M] | None = None) -> M:
        """Return the record of a reference, as the model that its kind names where none is given.

        Raises:
            Dangling: as ``load``; also when no loaded model has the kind's name.
        """
        known = loaded_models().get(ref.kind) if model is None else model
        if known is None:
            log.warning("artifact %s in the store is of the unknown kind %s", ref.digest[:12], ref.kind[:80])
            raise Dangling(ref.digest)
        return self.load(ref, cast("type[M]", known))

    def put_bytes(self, data: bytes) -> str:
        """Store bytes and return their digest."""
        digest = hashlib.sha256(data).hexdigest()
        self._put(digest, data)
        return digest

    def load_bytes(self, digest: str) -> bytes:
        """Return the bytes of a digest.

        Raises:
            Dangling: they are not in the store, or do not have the digest.
        """
        key = f"a/{digest}"
        data = self._rows.get(key)
        if data is None:
            raise Dangling(digest)
        if hashlib.sha256(data).hexdigest() != digest:
            log.warning("artifact %s is damaged in the store and will be made again", digest[:12])
            raise Dangling(digest)
        self._used.add(key)
        return data

    def has(self, digest: str) -> bool:
        """Tell whether the bytes of a digest are there; they are not read."""
        return bool(self._rows.present([f"a/{digest}"]))

    def forget(self, digest: str) -> None:
        """Drop an artifact that could not be read, so that its stage runs again."""
        self._memo.drop(digest)
        self._forgotten.add(digest)
        self._rows.delete([f"a/{digest}"])

    def _put(self, digest: str, data: bytes) -> None:
        key = f"a/{digest}"
        self._used.add(key)
        if not self._rows.present([key]):
            self._rows.put(key, data)

    def _load(self, digest: str, inline: bytes | None, model: type[M]) -> M:
        known = self._memo.get(digest, model)
        if known is not None:
            return known
        data = self.load_bytes(digest) if inline is None else inline
        try:
            record = model.parse(data)
        except ValidationError as error:
            log.warning("artifact %s in the store is no %s and will be made again", digest[:12], model.__name__)
            raise Dangling(digest) from error
        self._memo.add(digest, record, len(data))
        return record

    # Stages

    def get_stage(self, key: str, kind: str = "") -> Ref[Any] | None:
        """Return the artifact of a stage key, of a kind where one is asked for, if it is there."""
        name = f"k/{key}"
        data = self._rows.get(name)
        if data is None:
            return None
        head, _, body = data.partition(b"\n")
        try:
            row = StageRow.parse(head)
        except ValidationError:
            self._drop_stage(name, "is unreadable")
            return None
        damaged = row.inline and hashlib.sha256(body).hexdigest() != row.digest
        if damaged or (kind and row.kind != kind):
            self._drop_stage(name, "holds a damaged artifact" if damaged else f"leads to no {kind}")
            return None
        if row.digest in self._forgotten:
            return None
        needed = set() if row.inline else {f"a/{row.digest}"}
        if needed and self._rows.present(needed) != needed:
            return None
        self._used.update(needed, (name,))
        return Ref(row.kind, row.digest, body if row.inline else None)

    def set_stage(self, key: str, ref: Ref[Any], parts: KeyParts) -> None:
        """Note that the stage key leads to the artifact."""
        self._forgotten.discard(ref.digest)
        row = StageRow(kind=ref.kind, digest=ref.digest, inline=ref.inline is not None, key=parts)
        self._rows.put(f"k/{key}", row.canonical() + b"\n" + (ref.inline or b""))

    def _drop_stage(self, name: str, why: str) -> None:
        log.warning("stage row %s of the store %s and is dropped", name[2:14], why)
        self._rows.delete([name])

    # Blobs: whole packs of bytes under a name

    def get_blob(self, name: str) -> bytes | None:
        """Return the bytes last set under the name; None when there are none or they are damaged."""
        return self.get_blobs([name]).get(name)

    def get_blobs(self, names: Collection[str]) -> dict[str, bytes]:
        """Return the bytes last set under each of some names, where they are there and not damaged."""
        found: dict[str, bytes] = {}
        for key, data in self._rows.get_many([f"b/{name}" for name in names]).items():
            if hashlib.sha256(memoryview(data)[32:]).digest() == data[:32]:
                found[key[2:]] = data[32:]
                self._used.add(key)
            else:
                log.warning("blob %s is damaged in the store and dropped", key[2:])
                self._rows.delete([key])
        return found

    def set_blob(self, name: str, data: bytes) -> None:
        """Set the bytes under the name; the last writer wins."""
        self.set_blobs({name: data})

    def set_blobs(self, blobs: Mapping[str, bytes]) -> None:
        """Set the bytes under each of some names at once."""
        self._rows.put_many({f"b/{name}": hashlib.sha256(data).digest() + data for name, data in blobs.items()})

    # Runs

    def remember_run(self, zone: str, root: str, packet_id: str, steps: Sequence[Step]) -> None:
        """Keep the keys of a run, so that a later one can be compared with it; call once a run.

        Nothing is written when every key is the one of the run before.

        Args:
            zone: ``keys.zone_id``.
            root: the zone's root, to be shown.
            packet_id: the packet that the run made, or empty.
            steps: its stages in order; a mapped stage has several.
        """
        before = self.zone_history(zone)
        after = next_history(before, zone, root, steps)
        if after != before:
            self._rows.put(f"z/{zone}", after.canonical())
        name = f"r/{packet_id}"
        if packet_id and (not all(step.hit for step in steps) or not self._rows.present([name])):
            self._rows.put(name, packet_history(before, after, steps).canonical())
        self.flush()
        self._trim()

    def zone_history(self, zone: str) -> ZoneHistory | None:
        """Return the last two distinct keys of every stage that ran in the zone."""
        return self._history(f"z/{zone}", ZoneHistory)

    def packet_history(self, packet_id: str) -> PacketHistory | None:
        """Return the keys of the run that made the packet, beside those of the runs before it."""
        return self._history(f"r/{packet_id}", PacketHistory)

    def _history(self, name: str, model: type[M]) -> M | None:
        data = self._rows.get(name)
        if data is None:
            return None
        self._used.add(name)
        try:
            return model.parse(data)
        except ValidationError:
            log.warning("history %s of the store is unreadable and dropped", name)
            self._rows.delete([name])
            return None

    # Upkeep

    def pin(self, name: str, digests: Iterable[str]) -> None:
        """Keep artifacts from ``gc`` under a name, as long as the name is pinned."""
        self._rows.put(f"p/{name}", canonical_json(sorted(set(digests))))

    def unpin(self, name: str) -> None:
        """Let ``gc`` have the artifacts of the name again."""
        self._rows.delete([f"p/{name}"])

    def flush(self) -> None:
        """Note which rows were used, for ``gc`` removes the least recently used."""
        used, self._used = self._used, set()
        self._rows.touch(used, time.time())

    def stats(self) -> StoreStats:
        """Count rows and bytes."""
        entries = self._rows.entries()
        kinds = [entry.key[:2] for entry in entries]
        return StoreStats(
            folder=self.folder,
            stages=kinds.count("k/"),
            artifacts=kinds.count("a/"),
            blobs=kinds.count("b/"),
            pins=kinds.count("p/"),
            size_bytes=sum(entry.size for entry in entries),
        )

    def gc(self, max_bytes: int, max_age_s: float | None = None) -> GcReport:
        """Remove the least recently used rows until the rest fits; pinned artifacts stay.

        Args:
            max_bytes: how many bytes may stay.
            max_age_s: rows unused for longer go in any case.
        """
        self.flush()
        swept = self._rows.sweep()
        entries = sorted(self._rows.entries(), key=lambda entry: (entry.used_at, entry.key))
        pinned = self._pinned(entry.key for entry in entries)
        oldest = time.time() - max_age_s if max_age_s is not None else float("-inf")
        left = sum(entry.size for entry in entries)
        before, doomed = left, []
        for entry in entries:
            if (left > max_bytes or entry.used_at < oldest) and entry.key not in pinned:
                doomed.append(entry.key)
                left -= entry.size
        self._rows.delete(doomed)
        return GcReport(len(doomed), before - left, swept, len(entries) - len(doomed), left)

    def clear(self) -> int:
        """Remove everything, pinned or not; return how many rows there were."""
        self._memo.clear()
        self._used.clear()
        return self._rows.clear()

    def close(self) -> None:
        """Note uses and let go of files."""
        self.flush()
        self._rows.close()

    def _pinned(self, keys: Iterable[str]) -> set[str]:
        """Return pinned keys, the pins among them."""
        pinned: set[str] = set()
        for key in keys:
            if key.startswith("p/"):
                pinned.add(key)
                try:
                    pinned.update(f"a/{digest}" for digest in json.loads(self._rows.get(key) or b"[]"))
                except (ValueError, TypeError):
                    log.warning("pin %s of the store is unreadable", key[2:])
        return pinned

    def _trim(self) -> None:
        """Bring a store that has outgrown its limit back to three quarters of it."""
        if self._rows.size() > self._max_bytes:
            self.gc(self._max_bytes * 3 // 4)


class MemoryStore(Store):
    """A store of one run, for ``--no-cache``: the same contract, and nothing on disk."""

    def __init__(self) -> None:
        super().__init__(MemoryRows(), folder=f"memory:{uuid.uuid4().hex}")
        _IN_MEMORY[self.folder] = self


_STORES: dict[str, Store] = {}
_STORES_LOCK = threading.Lock()
_IN_MEMORY: weakref.WeakValueDictionary[str, Store] = weakref.WeakValueDictionary()


def open_store(place: Path | str, *, max_bytes: int = MAX_BYTES, timeout_s: float | None = None) -> Store:
    """Return the store in a folder or under a URL, made if missing; one a place and process.

    A place that cannot be used costs the cache and not the run: the store keeps its rows in memory then,
    and a warning says why.

    Args:
        place: a path, a URL, or the ``folder`` of a ``MemoryStore`` that lives in this process.
        max_bytes: the size at which the store is trimmed.
        timeout_s: how long a write waits for other processes; None takes ``diskrows.TIMEOUT_S``.
    """
    memory = _IN_MEMORY.get(str(place))
    if memory is not None:
        return memory
    name = str(place) if is_url(str(place)) else str(Path(place).absolute())
    with _STORES_LOCK:
        store = _STORES.get(name)
        if store is None:
            store = _STORES[name] = Store(rows_at(name, timeout_s), folder=name, max_bytes=max_bytes)
    return store


def close_stores() -> None:
    """Close every open store; the next ``open_store`` opens anew."""
    with _STORES_LOCK:
        stores = list(_STORES.values())
        _STORES.clear()
    for store in stores:
        store.close()
