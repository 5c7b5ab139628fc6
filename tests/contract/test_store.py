"""One contract for every store, and what the one on disk does with what it finds there."""

import hashlib
import importlib
import logging
import os
import pickle
import pkgutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem

import rtch.models
from rtch.errors import Dangling
from rtch.history import Step, ZoneHistory
from rtch.keys import KeyParts, NamedDigest
from rtch.models.base import Record
from rtch.models.vocab import StageName
from rtch.refs import Ref, StageRow
from rtch.rows import MemoryRows
from rtch.store import INLINE_BYTES, MemoryStore, Store, close_stores, open_store


class StoreNote(Record):
    text: str


class StoreOther(Record):
    number: int


SMALL = StoreNote(text="small")
LARGE = StoreNote(text="x" * 5000)
HUGE = StoreNote(text="y" * 100_000)
"""Past 32 KiB a value lies in a file of its own."""
KEYS = KeyParts(stage=StageName.SCOUT, logic="logic", inputs=(NamedDigest(name="zone", digest="1" * 64),))


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    close_stores()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def opened(kind: str, folder: Path) -> Store:
    places: dict[str, Path | str] = {
        "disk": folder,
        "shared folder": f"file://{folder}",
        "objects": f"memory:/{folder}",
    }
    return open_store(places[kind]) if kind in places else MemoryStore()


@pytest.fixture(params=["disk", "shared folder", "objects", "memory"])
def store(request: pytest.FixtureRequest, folder: Path) -> Store:
    return opened(request.param, folder)


@pytest.fixture(params=["disk", "shared folder", "memory"])
def noting(request: pytest.FixtureRequest, folder: Path) -> Store:
    """Return a store that notes when a row was used, which cannot be noted of an object."""
    return opened(request.param, folder)


@pytest.fixture
def disk(folder: Path) -> Store:
    return open_store(folder)


def afresh(store: Store) -> Store:
    """Return the store as another process sees it: nothing decoded yet."""
    if isinstance(store, MemoryStore):
        store._memo.clear()
        return store
    close_stores()
    return open_store(store.folder)


def stage(store: Store, parts: KeyParts = KEYS) -> Ref[Any]:
    found = store.get_stage(parts.key)
    assert found is not None
    return found


def rows(store: Store) -> set[str]:
    return {entry.key for entry in store._rows.entries()}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# The contract


@pytest.mark.parametrize("record", [SMALL, LARGE, HUGE], ids=["small", "large", "huge"])
def test_a_record_comes_back(store: Store, record: StoreNote) -> None:
    ref = store.put(record)
    assert ref == Ref("StoreNote", hashlib.sha256(record.canonical()).hexdigest())
    again = afresh(store)
    assert again.load(ref, StoreNote) == record
    assert again.read(ref) == record


def test_a_small_record_travels_inside_its_reference(store: Store) -> None:
    ref = store.put(SMALL)
    assert ref.inline == SMALL.canonical()
    assert rows(store) == set()
    assert MemoryStore().load(ref, StoreNote) == SMALL


def test_inline_ends_at_its_limit(store: Store) -> None:
    frame = len(StoreNote(text="").canonical())
    assert store.put(StoreNote(text="x" * (INLINE_BYTES - frame))).inline is not None
    assert store.put(StoreNote(text="x" * (INLINE_BYTES - frame + 1))).inline is None


def test_a_record_can_be_read_by_the_digest_of_its_bytes(store: Store) -> None:
    digest = store.put_bytes(SMALL.canonical())
    assert store.has(digest)
    assert not store.has("0" * 64)
    assert afresh(store).load(Ref("StoreNote", digest), StoreNote) == SMALL


def test_equal_artifacts_are_stored_once(store: Store) -> None:
    ref = store.put(LARGE)
    other = KEYS.model_copy(update={"logic": "other"})
    store.set_stage(KEYS.key, ref, KEYS)
    store.set_stage(other.key, store.put(LARGE), other)
    assert rows(store) == {f"a/{ref.digest}", f"k/{KEYS.key}", f"k/{other.key}"}
    assert store.get_stage(KEYS.key) == store.get_stage(other.key) == ref


@pytest.mark.parametrize("record", [SMALL, LARGE, HUGE], ids=["small", "large", "huge"])
def test_a_stage_leads_to_its_artifact(store: Store, record: StoreNote) -> None:
    assert store.get_stage(KEYS.key) is None
    store.set_stage(KEYS.key, store.put(record), KEYS)
    again = afresh(store)
    found = again.get_stage(KEYS.key)
    assert found is not None
    assert again.read(found) == record


def test_an_inline_artifact_with_a_line_break_comes_back(store: Store) -> None:
    record = StoreNote(text="a\nb\u2028c")
    store.set_stage(KEYS.key, store.put(record), KEYS)
    assert afresh(store).read(stage(store)) == record


@pytest.mark.parametrize("record", [SMALL, LARGE], ids=["inline", "row"])
def test_a_forgotten_artifact_is_made_again(store: Store, record: StoreNote) -> None:
    ref = store.put(record)
    store.set_stage(KEYS.key, ref, KEYS)
    store.forget(ref.digest)
    assert store.get_stage(KEYS.key) is None
    store.set_stage(KEYS.key, store.put(record), KEYS)
    assert afresh(store).read(stage(store)) == record


def test_what_is_missing_dangles(store: Store) -> None:
    with pytest.raises(Dangling) as caught:
        store.load(Ref("StoreNote", "0" * 64), StoreNote)
    assert caught.value.digest == "0" * 64
    with pytest.raises(Dangling):
        store.load_bytes("0" * 64)


def test_what_is_no_such_record_dangles(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    ref = Ref[StoreNote]("StoreNote", store.put_bytes(SMALL.canonical()))
    with pytest.raises(Dangling):
        afresh(store).load(Ref("StoreOther", ref.digest), StoreOther)
    assert warnings(caplog) == [f"artifact {ref.digest[:12]} in the store is no StoreOther and will be made again"]


def test_a_kind_that_names_no_model_dangles(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    ref = Ref[StoreNote]("StoreNote", store.put_bytes(SMALL.canonical()))
    with pytest.raises(Dangling):
        store.read(Ref("os.system", ref.digest))
    assert warnings(caplog) == [f"artifact {ref.digest[:12]} in the store is of the unknown kind os.system"]


def test_bytes_come_back(store: Store) -> None:
    digest = store.put_bytes(b"\0\xff\n")
    assert digest == hashlib.sha256(b"\0\xff\n").hexdigest()
    assert afresh(store).load_bytes(digest) == b"\0\xff\n"
    assert store.put_bytes(b"") == hashlib.sha256(b"").hexdigest()
    assert store.load_bytes(hashlib.sha256(b"").hexdigest()) == b""


@pytest.mark.parametrize("data", [b"", b"pack", b"p" * 100_000])
def test_a_blob_is_what_was_set_last(store: Store, data: bytes) -> None:
    assert store.get_blob("features/1") is None
    store.set_blob("features/1", b"before")
    store.set_blob("features/1", data)
    assert afresh(store).get_blob("features/1") == data


def test_blobs_that_are_set_together_come_back_together(store: Store) -> None:
    blobs = {f"seen/{number}": str(number).encode() for number in range(450)} | {"large": b"p" * 100_000, "empty": b""}
    store.set_blobs(blobs)
    assert afresh(store).get_blobs([*blobs, "absent"]) == blobs
    assert store.get_blobs([]) == {}


def test_blobs_that_were_read_are_used(noting: Store) -> None:
    noting.set_blobs({"one": b"1" * 1000, "two": b"2" * 1000})
    noting.flush()
    for name in ("one", "two"):
        set_used(noting, f"b/{name}", time.time() - 10_000)
    noting.get_blobs(["two"])
    noting.gc(1500)
    assert rows(noting) == {"b/two"}


def test_pinned_artifacts_outlive_gc(store: Store) -> None:
    kept, gone = store.put(LARGE), store.put(HUGE)
    store.pin("rtch_packet_1", [kept.digest])
    report = store.gc(0)
    assert rows(store) == {f"a/{kept.digest}", "p/rtch_packet_1"}
    assert (report.removed, report.left) == (1, 2)
    assert report.freed_bytes >= 100_000
    assert afresh(store).read(kept) == LARGE
    with pytest.raises(Dangling):
        store.load_bytes(gone.digest)
    store.unpin("rtch_packet_1")
    store.gc(0)
    assert rows(store) == set()


def test_gc_removes_what_was_not_used_for_longest(noting: Store) -> None:
    digests = [noting.put_bytes(bytes([number]) * 1000) for number in range(4)]
    noting.flush()
    now = time.time()
    for age, digest in enumerate(digests):
        set_used(noting, f"a/{digest}", now - 10_000 * (4 - age))
    noting.load_bytes(digests[0])
    report = noting.gc(2500)
    assert rows(noting) == {f"a/{digests[0]}", f"a/{digests[3]}"}
    assert (report.removed, report.left_bytes) == (2, 2 * (1000 + 66))


def test_gc_by_age(store: Store) -> None:
    old, young = store.put_bytes(b"old"), store.put_bytes(b"young")
    store.flush()
    set_used(store, f"a/{old}", time.time() - 100_000)
    store.gc(10**9, max_age_s=50_000)
    assert rows(store) == {f"a/{young}"}


def set_used(store: Store, key: str, when: float) -> None:
    if isinstance(store, MemoryStore):
        assert isinstance(store._rows, MemoryRows)
        store._rows._used[key] = when
    elif store.folder.startswith("file://"):
        os.utime(f"{store.folder.removeprefix('file://')}/{key}", (when, when))
    elif store.folder.startswith("memory://"):
        MemoryFileSystem.store[f"{store.folder.removeprefix('memory:/')}/{key}"].created = datetime.fromtimestamp(
            when, UTC
        )
    else:
        with sqlite3.connect(f"{store.folder}/rows/cache.db") as db:
            db.execute("UPDATE Cache SET access_time = ? WHERE key = ?", (when, key))
        db.close()


def test_stats_count_by_kind(store: Store) -> None:
    store.set_stage(KEYS.key, store.put(LARGE), KEYS)
    store.set_blob("stat", b"blob")
    store.pin("p", [])
    stats = store.stats()
    assert (stats.stages, stats.artifacts, stats.blobs, stats.pins) == (1, 1, 1, 1)
    assert stats.size_bytes > 5000


def test_clear_leaves_nothing(store: Store) -> None:
    ref = store.put(LARGE)
    store.pin("p", [ref.digest])
    assert store.clear() == 2
    assert rows(store) == set()
    with pytest.raises(Dangling):
        store.read(ref)
    assert store.read(store.put(LARGE)) == LARGE


# What is remembered of runs


def step(logic: str, stage: StageName = StageName.SCOUT, *, hit: bool = False) -> Step:
    return Step(parts=KeyParts(stage=stage, logic=logic), hit=hit)


def zone(store: Store) -> ZoneHistory:
    history = store.zone_history("zone")
    assert history is not None
    return history


def test_the_last_two_distinct_keys_are_remembered(store: Store) -> None:
    for logic in ("one", "two", "two", "three", "three"):
        store.remember_run("zone", "/zone", "", [step(logic)])
    (history,) = zone(store).stages
    assert [parts.logic for parts in history.latest + history.previous] == ["three", "two"]
    assert store.zone_history("elsewhere") is None


def test_stages_that_did_not_run_keep_their_keys(store: Store) -> None:
    store.remember_run("zone", "/zone", "", [step("a", StageName.PLAN), step("b", StageName.ORIENT)])
    store.remember_run("zone", "/zone", "", [step("c", StageName.ORIENT)])
    stages = {one.stage: one.latest[0].logic for one in zone(store).stages}
    assert list(stages.items()) == [(StageName.ORIENT, "c"), (StageName.PLAN, "a")]


def test_a_run_that_changed_nothing_writes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = [step("a", hit=True), step("b", StageName.PROBE, hit=True), step("c", StageName.PROBE, hit=True)]
    store.remember_run("zone", "/zone", "rtch_packet_1", run)
    monkeypatch.setattr(store._rows, "put", lambda *_: pytest.fail("a row was written"))
    store.remember_run("zone", "/zone", "rtch_packet_1", run)


def test_a_packet_remembers_the_run_that_made_it(store: Store) -> None:
    store.remember_run("zone", "/zone", "", [step("a"), step("x", StageName.PLAN)])
    store.remember_run("zone", "/zone", "rtch_packet_1", [step("b"), step("x", StageName.PLAN, hit=True)])
    store.remember_run("zone", "/zone", "rtch_packet_1", [step("b", hit=True), step("x", StageName.PLAN, hit=True)])
    history = store.packet_history("rtch_packet_1")
    assert history is not None
    assert (history.made, history.changed) == ((StageName.SCOUT,), (StageName.SCOUT,))
    assert store.packet_history("rtch_packet_2") is None


def test_an_unreadable_history_is_dropped_with_a_warning(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    store._rows.put("z/zone", b"{")
    assert store.zone_history("zone") is None
    assert rows(store) == set()
    assert warnings(caplog) == ["history z/zone of the store is unreadable and dropped"]


# References


def test_a_kind_names_one_model() -> None:
    for module in pkgutil.iter_modules(rtch.models.__path__, "rtch.models."):
        importlib.import_module(module.name)
    names = [
        model.__name__ for model in all_models(Record) if model.__module__.startswith("rtch.") and model is not Record
    ]
    assert len(names) > 10
    assert sorted(names) == sorted(set(names))


def all_models(model: type[Record]) -> Iterator[type[Record]]:
    yield model
    for inner in model.__subclasses__():
        yield from all_models(inner)


def test_a_reference_is_frozen_and_travels() -> None:
    ref = Ref[StoreNote]("StoreNote", "1" * 64, b"{}")
    with pytest.raises(AttributeError):
        ref.digest = "3" * 64
    with pytest.raises(AttributeError):
        del ref.digest
    copy = pickle.loads(pickle.dumps(ref))
    assert (copy, copy.inline) == (ref, ref.inline)
    assert len({copy, ref}) == 1
    assert not hasattr(ref, "__dict__")
    assert ref != "1" * 64
    assert repr(ref) == "Ref(StoreNote 111111111111)"


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'{"kind":', b"null\n", b"[]\n{}"])
def test_a_torn_stage_row_is_a_miss(store: Store, data: bytes, caplog: pytest.LogCaptureFixture) -> None:
    store._rows.put(f"k/{KEYS.key}", data)
    assert store.get_stage(KEYS.key) is None
    assert rows(store) == set()
    assert warnings(caplog) == [f"stage row {KEYS.key[:12]} of the store is unreadable and is dropped"]


def test_a_damaged_inline_artifact_is_a_miss(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    row = StageRow(kind="StoreNote", digest="0" * 64, inline=True, key=KEYS)
    store._rows.put(f"k/{KEYS.key}", row.canonical() + b"\n" + SMALL.canonical())
    assert store.get_stage(KEYS.key) is None
    assert warnings(caplog) == [f"stage row {KEYS.key[:12]} of the store holds a damaged artifact and is dropped"]


@pytest.mark.parametrize("data", [b"", b"short", b"\0" * 40])
def test_a_damaged_blob_is_a_miss(store: Store, data: bytes, caplog: pytest.LogCaptureFixture) -> None:
    store._rows.put("b/stat", data)
    assert store.get_blob("stat") is None
    assert rows(store) == set()
    assert warnings(caplog) == ["blob stat is damaged in the store and dropped"]


def test_a_damaged_blob_among_others_is_dropped_and_the_others_come_back(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    store.set_blobs({"one": b"1", "two": b"2" * 100_000, "three": b"3"})
    store._rows.put("b/one", b"\0" * 40)
    assert store.get_blobs(["one", "two", "three"]) == {"two": b"2" * 100_000, "three": b"3"}
    assert rows(store) == {"b/two", "b/three"}
    assert warnings(caplog) == ["blob one is damaged in the store and dropped"]


def test_a_memory_store_is_found_by_its_name_while_it_lives() -> None:
    store = MemoryStore()
    assert open_store(store.folder) is store


# Many at once


def test_threads_share_a_store(store: Store) -> None:
    errors: list[Exception] = []

    def work(number: int) -> None:
        try:
            for turn in range(20):
                ref = store.put(StoreNote(text=f"{turn}" * 5000))
                parts = KEYS.model_copy(update={"logic": f"{number}/{turn}"})
                store.set_stage(parts.key, ref, parts)
                assert store.read(stage(store, parts)).text == f"{turn}" * 5000
        except Exception as error:  # noqa: BLE001  a thread's failure is the test's
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert (store.stats().stages, store.stats().artifacts) == (160, 20)
