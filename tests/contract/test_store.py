"""One contract for every store, and what the one on disk does with what it finds there."""

import hashlib
import json
import logging
import os
import pickle
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import diskcache
import pytest

from rtch.errors import Dangling
from rtch.history import Step
from rtch.keys import KeyParts, NamedDigest
from rtch.models.base import Record
from rtch.models.vocab import StageName
from rtch.refs import Ref, StageRow
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
def _closed():
    yield
    close_stores()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture(params=["disk", "memory"])
def store(request, folder):
    return open_store(folder) if request.param == "disk" else MemoryStore()


@pytest.fixture
def disk(folder):
    return open_store(folder)


def afresh(store: Store) -> Store:
    """Return the store as another process sees it: nothing decoded yet."""
    if isinstance(store, MemoryStore):
        store._memo.clear()
        return store
    close_stores()
    return open_store(store.folder)


def rows(store: Store) -> set[str]:
    return {entry.key for entry in store._rows.entries()}


def warnings(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# The contract


@pytest.mark.parametrize("record", [SMALL, LARGE, HUGE], ids=["small", "large", "huge"])
def test_a_record_comes_back(store, record):
    ref = store.put(record)
    assert ref == Ref("StoreNote", hashlib.sha256(record.canonical()).hexdigest())
    again = afresh(store)
    assert again.load(ref, StoreNote) == record
    assert again.read(ref) == record


def test_a_small_record_travels_inside_its_reference(store):
    ref = store.put(SMALL)
    assert ref.inline == SMALL.canonical()
    assert rows(store) == set()
    assert MemoryStore().load(ref, StoreNote) == SMALL


def test_inline_ends_at_its_limit(store):
    frame = len(StoreNote(text="").canonical())
    assert store.put(StoreNote(text="x" * (INLINE_BYTES - frame))).inline is not None
    assert store.put(StoreNote(text="x" * (INLINE_BYTES - frame + 1))).inline is None


def test_a_row_is_made_for_a_small_record_on_demand(store):
    ref = store.put_row(SMALL)
    assert ref.inline is None
    assert afresh(store).read(Ref("StoreNote", ref.digest), StoreNote) == SMALL


def test_equal_artifacts_are_stored_once(store):
    ref = store.put(LARGE)
    other = KEYS.model_copy(update={"logic": "other"})
    store.set_stage(KEYS.key, ref, KEYS)
    store.set_stage(other.key, store.put(LARGE), other)
    assert rows(store) == {f"a/{ref.digest}", f"k/{KEYS.key}", f"k/{other.key}"}
    assert store.get_stage(KEYS.key) == store.get_stage(other.key) == ref


@pytest.mark.parametrize("record", [SMALL, LARGE, HUGE], ids=["small", "large", "huge"])
def test_a_stage_leads_to_its_artifact(store, record):
    assert store.get_stage(KEYS.key) is None
    store.set_stage(KEYS.key, store.put(record), KEYS)
    again = afresh(store)
    found = again.get_stage(KEYS.key)
    assert found is not None
    assert again.read(found) == record


def test_an_inline_artifact_with_a_line_break_comes_back(store):
    record = StoreNote(text="a\nb\u2028c")
    store.set_stage(KEYS.key, store.put(record), KEYS)
    assert afresh(store).read(store.get_stage(KEYS.key)) == record


def test_a_stage_without_a_part_of_its_artifact_is_a_miss(store):
    shard = store.put_row(SMALL)
    store.set_stage(KEYS.key, store.put(LARGE, parts=(shard.digest,)), KEYS)
    assert store.get_stage(KEYS.key).parts == (shard.digest,)
    store.forget(shard.digest)
    assert store.get_stage(KEYS.key) is None
    store.put_row(SMALL)
    assert store.get_stage(KEYS.key) is not None


def test_many_parts_are_all_asked_for(store):
    digests = [store.put_bytes(str(number).encode()) for number in range(450)]
    store.set_stage(KEYS.key, store.put(SMALL, parts=digests), KEYS)
    assert store.get_stage(KEYS.key) is not None
    store.forget(digests[-1])
    assert store.get_stage(KEYS.key) is None


@pytest.mark.parametrize("record", [SMALL, LARGE], ids=["inline", "row"])
def test_a_forgotten_artifact_is_made_again(store, record):
    ref = store.put(record)
    store.set_stage(KEYS.key, ref, KEYS)
    store.forget(ref.digest)
    assert store.get_stage(KEYS.key) is None
    store.set_stage(KEYS.key, store.put(record), KEYS)
    assert afresh(store).read(store.get_stage(KEYS.key)) == record


def test_what_is_missing_dangles(store):
    with pytest.raises(Dangling) as caught:
        store.load(Ref("StoreNote", "0" * 64), StoreNote)
    assert caught.value.digest == "0" * 64
    with pytest.raises(Dangling):
        store.load_bytes("0" * 64)


def test_what_is_no_such_record_dangles(store, caplog):
    ref = store.put_row(SMALL)
    with pytest.raises(Dangling):
        afresh(store).load(Ref("StoreOther", ref.digest), StoreOther)
    assert warnings(caplog) == [f"artifact {ref.digest[:12]} in the store is no StoreOther and will be made again"]


def test_a_kind_that_names_no_model_dangles(store, caplog):
    ref = store.put_row(SMALL)
    with pytest.raises(Dangling):
        store.read(Ref("os.system", ref.digest))
    assert warnings(caplog) == [f"artifact {ref.digest[:12]} in the store is of the unknown kind os.system"]


def test_bytes_come_back(store):
    digest = store.put_bytes(b"\0\xff\n")
    assert digest == hashlib.sha256(b"\0\xff\n").hexdigest()
    assert afresh(store).load_bytes(digest) == b"\0\xff\n"
    assert store.put_bytes(b"") == hashlib.sha256(b"").hexdigest()
    assert store.load_bytes(hashlib.sha256(b"").hexdigest()) == b""


@pytest.mark.parametrize("data", [b"", b"pack", b"p" * 100_000])
def test_a_blob_is_what_was_set_last(store, data):
    assert store.get_blob("features/1") is None
    store.set_blob("features/1", b"before")
    store.set_blob("features/1", data)
    assert afresh(store).get_blob("features/1") == data


def test_pinned_artifacts_outlive_gc(store):
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


def test_gc_removes_what_was_not_used_for_longest(store):
    digests = [store.put_bytes(bytes([number]) * 1000) for number in range(4)]
    store.flush()
    now = time.time()
    for age, digest in enumerate(digests):
        set_used(store, digest, now - 10_000 * (4 - age))
    store.load_bytes(digests[0])
    report = store.gc(2500)
    assert rows(store) == {f"a/{digests[0]}", f"a/{digests[3]}"}
    assert (report.removed, report.left_bytes) == (2, 2 * (1000 + 66))


def test_gc_by_age(store):
    old, young = store.put_bytes(b"old"), store.put_bytes(b"young")
    store.flush()
    set_used(store, old, time.time() - 100_000)
    store.gc(10**9, max_age_s=50_000)
    assert rows(store) == {f"a/{young}"}


def set_used(store: Store, digest: str, when: float) -> None:
    if isinstance(store, MemoryStore):
        store._rows._used[f"a/{digest}"] = when
    else:
        with sqlite3.connect(f"{store.folder}/rows/cache.db") as db:
            db.execute("UPDATE Cache SET access_time = ? WHERE key = ?", (when, f"a/{digest}"))
        db.close()


def test_stats_count_by_kind(store):
    store.set_stage(KEYS.key, store.put(LARGE), KEYS)
    store.set_blob("stat", b"blob")
    store.pin("p", [])
    stats = store.stats()
    assert (stats.stages, stats.artifacts, stats.blobs, stats.pins) == (1, 1, 1, 1)
    assert stats.size_bytes > 5000


def test_clear_leaves_nothing(store):
    ref = store.put(LARGE)
    store.pin("p", [ref.digest])
    assert store.clear() == 2
    assert rows(store) == set()
    with pytest.raises(Dangling):
        store.read(ref)
    assert store.read(store.put(LARGE)) == LARGE


def test_a_store_is_trimmed_after_a_run_when_it_outgrew_its_limit(folder):
    store = open_store(folder, max_bytes=300_000)
    for number in range(6):
        store.put(StoreNote(text=str(number) * 100_000))
    store.remember_run("zone", "/zone", "", [Step(parts=KEYS, hit=False)])
    assert store.stats().size_bytes <= 225_000


# What is remembered of runs


def step(logic: str, stage: StageName = StageName.SCOUT, *, hit: bool = False) -> Step:
    return Step(parts=KeyParts(stage=stage, logic=logic), hit=hit)


def test_the_last_two_distinct_keys_are_remembered(store):
    for logic in ("one", "two", "two", "three", "three"):
        store.remember_run("zone", "/zone", "", [step(logic)])
    (history,) = store.zone_history("zone").stages
    assert [parts.logic for parts in history.latest + history.previous] == ["three", "two"]
    assert store.zone_history("elsewhere") is None


def test_stages_that_did_not_run_keep_their_keys(store):
    store.remember_run("zone", "/zone", "", [step("a", StageName.PLAN), step("b", StageName.ORIENT)])
    store.remember_run("zone", "/zone", "", [step("c", StageName.ORIENT)])
    stages = {one.stage: one.latest[0].logic for one in store.zone_history("zone").stages}
    assert list(stages.items()) == [(StageName.ORIENT, "c"), (StageName.PLAN, "a")]


def test_a_run_that_changed_nothing_writes_nothing(store, monkeypatch):
    run = [step("a", hit=True), step("b", StageName.PROBE, hit=True), step("c", StageName.PROBE, hit=True)]
    store.remember_run("zone", "/zone", "rtch_packet_1", run)
    monkeypatch.setattr(store._rows, "put", lambda *_: pytest.fail("a row was written"))
    store.remember_run("zone", "/zone", "rtch_packet_1", run)


def test_a_packet_remembers_the_run_that_made_it(store):
    store.remember_run("zone", "/zone", "", [step("a"), step("x", StageName.PLAN)])
    store.remember_run("zone", "/zone", "rtch_packet_1", [step("b"), step("x", StageName.PLAN, hit=True)])
    store.remember_run("zone", "/zone", "rtch_packet_1", [step("b", hit=True), step("x", StageName.PLAN, hit=True)])
    history = store.packet_history("rtch_packet_1")
    assert (history.made, history.changed) == ((StageName.SCOUT,), (StageName.SCOUT,))
    assert store.packet_history("rtch_packet_2") is None


def test_an_unreadable_history_is_dropped_with_a_warning(store, caplog):
    store._rows.put("z/zone", b"{")
    assert store.zone_history("zone") is None
    assert rows(store) == set()
    assert warnings(caplog) == ["history z/zone of the store is unreadable and dropped"]


# References


def test_a_reference_is_frozen_and_travels():
    ref = Ref[StoreNote]("StoreNote", "1" * 64, ("2" * 64,), b"{}")
    with pytest.raises(AttributeError):
        ref.digest = "3" * 64
    with pytest.raises(AttributeError):
        del ref.digest
    copy = pickle.loads(pickle.dumps(ref))
    assert (copy, copy.inline) == (ref, ref.inline)
    assert len({copy, ref}) == 1
    assert not hasattr(ref, "__dict__")
    assert ref != "1" * 64
    assert repr(ref) == "Ref(StoreNote 111111111111 +1)"


# Opening


def test_one_store_a_folder_and_process(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert open_store(folder) is open_store(str(folder)) is open_store(Path("cache"))


def test_a_memory_store_is_found_by_its_name_while_it_lives():
    store = MemoryStore()
    assert open_store(store.folder) is store


def test_the_folder_is_private(folder, disk):
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_open_to_others_is_closed(folder):
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    open_store(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_opening_again_writes_nothing(folder, disk):
    disk.put(LARGE)
    close_stores()
    lock = sqlite3.connect(folder / "rows" / "cache.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        start = time.monotonic()
        assert open_store(folder).read(Ref("StoreNote", hashlib.sha256(LARGE.canonical()).hexdigest())) == LARGE
        assert time.monotonic() - start < 5
    finally:
        lock.close()


def test_stock_settings_are_taken_over(folder):
    diskcache.Cache(str(folder / "rows"), size_limit=1, eviction_policy="least-recently-used").close()
    store = open_store(folder)
    assert store._rows._disk._cache.eviction_policy == "none"
    assert store.read(store.put(HUGE)) == HUGE


# A store that cannot be used costs time and no result


def works_in_memory(store: Store) -> bool:
    ref = store.put(LARGE)
    store.set_stage(KEYS.key, ref, KEYS)
    store.set_blob("blob", b"data")
    store.remember_run("zone", "/zone", "rtch_packet_1", [Step(parts=KEYS, hit=False)])
    store._memo.clear()
    return store.read(store.get_stage(KEYS.key)) == LARGE and store.get_blob("blob") == b"data"


def test_a_folder_that_is_a_file(folder, caplog):
    folder.write_text("in the way")
    store = open_store(folder)
    assert works_in_memory(store)
    assert warnings(caplog) == [
        f"{folder} is not a folder; set RTCH_HOME to a folder of your own: this run keeps its artifacts in memory"
    ]
    assert folder.read_text() == "in the way"


def test_a_folder_of_another_user(folder, caplog, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    folder.mkdir()
    assert works_in_memory(open_store(folder))
    assert len(warnings(caplog)) == 1
    assert list(folder.iterdir()) == []


def test_a_locked_store(folder, disk, caplog):
    ref = disk.put(HUGE)
    close_stores()
    lock = sqlite3.connect(folder / "rows" / "cache.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        store = open_store(folder, timeout_s=0.05)
        assert works_in_memory(store)
        assert store.read(ref) == HUGE
        assert warnings(caplog) == [f"{folder} is locked by another process: this run keeps its artifacts in memory"]
        store.forget(ref.digest)
        with pytest.raises(Dangling):
            store.load_bytes(ref.digest)
    finally:
        lock.close()


def test_a_full_disk(tmp_path):
    """A limit on the size of files is what a process can set for itself; SQLite and files meet it alike."""
    code = """
import logging, resource, signal, sys
from rtch.models.base import Record
from rtch.store import open_store

class Note(Record):
    text: str

logging.basicConfig(format="%(levelname)s %(message)s", stream=sys.stdout)
store = open_store(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
for size in (100_000, 20_000, 5_000):
    ref = store.put(Note(text="x" * size))
    store._memo.clear()
    assert store.read(ref).text == "x" * size
print("done")
"""
    run = subprocess.run(
        [sys.executable, "-P", "-c", code, str(tmp_path / "cache")],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    lines = run.stdout.splitlines()
    assert (run.stderr, lines[-1]) == ("", "done")
    assert [line.split()[0] for line in lines[:-1]] == ["WARNING"]


@pytest.mark.parametrize("where", ["head", "page", "empty", "table"])
def test_a_damaged_database_is_set_aside(folder, disk, caplog, where):
    refs = [disk.put(StoreNote(text=f"{number}" * 6000)) for number in range(20)]
    close_stores()
    damage(folder / "rows" / "cache.db", where)
    store = open_store(folder)
    for ref in refs:
        store.forget(ref.digest)
    assert works_in_memory(store)
    close_stores()
    store = open_store(folder)
    assert store.read(store.get_stage(KEYS.key)) == LARGE, "the store that starts empty is on disk"
    if where != "empty":
        assert len(warnings(caplog)) == 1
        assert warnings(caplog)[0].startswith(f"the store in {folder} is damaged (")
        assert (folder / "rows.broken").exists()
        store.gc(10**9)
        assert not (folder / "rows.broken").exists()


def damage(database: Path, where: str) -> None:
    with sqlite3.connect(database) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    data = bytearray(database.read_bytes())
    if where == "head":
        data[:100] = b"not a database".ljust(100)
    elif where == "page":
        data[4096:] = os.urandom(len(data) - 4096)
    elif where == "empty":
        data.clear()
    else:
        with sqlite3.connect(database) as db:
            db.execute("INSERT INTO Settings VALUES ('get', 'planted')")
        db.close()
        return
    database.write_bytes(data)


def test_damage_met_in_the_middle_of_a_run(folder, disk, caplog):
    refs = [disk.put(StoreNote(text=f"{number}" * 6000)) for number in range(20)]
    damage(folder / "rows" / "cache.db", "page")
    disk._memo.clear()
    for ref in refs:
        disk.forget(ref.digest)
    assert works_in_memory(disk)
    assert len(warnings(caplog)) <= 1


def test_a_folder_deleted_in_the_middle_of_a_run(folder, disk):
    disk.put(LARGE)
    shutil.rmtree(folder)
    disk.set_stage(KEYS.key, disk.put(HUGE), KEYS)
    again = afresh(disk)
    assert again.read(again.get_stage(KEYS.key)) == HUGE
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


# Torn artifacts


def value_file(folder: Path) -> Path:
    (path,) = (folder / "rows").glob("??/??/*.val")
    return path


@pytest.mark.parametrize("how", ["truncated", "deleted", "emptied", "replaced", "linked", "fifo"])
def test_a_torn_file_is_a_miss(folder, disk, how):
    ref = disk.put(HUGE)
    disk.set_stage(KEYS.key, ref, KEYS)
    store = afresh(disk)
    path = value_file(folder)
    data = path.read_bytes()
    path.unlink()
    if how in ("truncated", "emptied"):
        path.write_bytes(data[: 1000 if how == "truncated" else 0])
    elif how == "replaced":
        path.write_bytes(b"z" * len(data))
    elif how == "linked":
        path.symlink_to("/etc/passwd")
    elif how == "fifo":
        os.mkfifo(path)
    if how != "replaced":
        assert store.get_stage(KEYS.key) is None, "seen without reading"
    with pytest.raises(Dangling) as caught:
        store.read(ref)
    store.forget(caught.value.digest)
    assert store.get_stage(KEYS.key) is None
    store.set_stage(KEYS.key, store.put(HUGE), KEYS)
    assert afresh(store).read(store.get_stage(KEYS.key)) == HUGE


def test_a_torn_row_is_a_miss(disk, caplog):
    ref = disk.put(LARGE)
    disk.set_stage(KEYS.key, ref, KEYS)
    disk._rows.put(f"a/{ref.digest}", LARGE.canonical()[:-10])
    store = afresh(disk)
    with pytest.raises(Dangling):
        store.read(store.get_stage(KEYS.key))
    assert warnings(caplog) == [f"artifact {ref.digest[:12]} is damaged in the store and will be made again"]


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'{"kind":', b"null\n", b"[]\n{}"])
def test_a_torn_stage_row_is_a_miss(store, data, caplog):
    store._rows.put(f"k/{KEYS.key}", data)
    assert store.get_stage(KEYS.key) is None
    assert rows(store) == set()
    assert warnings(caplog) == [f"stage row {KEYS.key[:12]} of the store is unreadable and is dropped"]


def test_a_damaged_inline_artifact_is_a_miss(store, caplog):
    row = StageRow(kind="StoreNote", digest="0" * 64, parts=(), inline=True, key=KEYS)
    store._rows.put(f"k/{KEYS.key}", row.canonical() + b"\n" + SMALL.canonical())
    assert store.get_stage(KEYS.key) is None
    assert warnings(caplog) == [f"stage row {KEYS.key[:12]} of the store holds a damaged artifact and is dropped"]


@pytest.mark.parametrize("data", [b"", b"short", b"\0" * 40])
def test_a_damaged_blob_is_a_miss(store, data, caplog):
    store._rows.put("b/stat", data)
    assert store.get_blob("stat") is None
    assert rows(store) == set()
    assert warnings(caplog) == ["blob stat is damaged in the store and dropped"]


# Planted rows


class Bomb:
    """Unpickled, it leaves a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def plant(folder: Path, **columns: object) -> None:
    row = {"raw": 1, "store_time": 0.0, "access_time": 0.0, "size": 0, "mode": 1} | columns
    names = ", ".join(row)
    with sqlite3.connect(folder / "rows" / "cache.db") as db:
        db.execute(f"INSERT INTO Cache({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    db.close()


def planted_columns(name: str, tmp_path: Path) -> dict[str, object]:
    bomb = pickle.dumps(Bomb(tmp_path / "executed"))
    outside = tmp_path / "outside.val"
    outside.write_bytes(b"\0" * 32)
    inside = tmp_path / "cache" / "rows" / "pickled.val"
    inside.write_bytes(bomb)
    return {
        "pickled value": {"mode": 4, "value": bomb},
        "pickled file": {"mode": 4, "filename": "pickled.val", "size": len(bomb)},
        "text value": {"mode": 1, "value": "text"},
        "number": {"mode": 1, "value": 7},
        "no value": {"mode": 1, "value": None},
        "text file": {"mode": 3, "filename": "../../outside.val", "size": 32},
        "climbing name": {"mode": 2, "filename": "../../outside.val", "size": 32},
        "absolute name": {"mode": 2, "filename": str(outside), "size": 32},
        "other name": {"mode": 2, "filename": "cache.db", "size": 32},
        "name and value": {"mode": 1, "filename": "../../outside.val", "value": b"x"},
        "mode 0": {"mode": 0, "value": b"x"},
        "mode of text": {"mode": "4", "value": bomb},
    }[name]


PLANTED = [
    "pickled value",
    "pickled file",
    "text value",
    "number",
    "no value",
    "text file",
    "climbing name",
    "absolute name",
    "other name",
    "name and value",
    "mode 0",
    "mode of text",
]


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_row_is_a_miss_with_a_warning(folder, disk, tmp_path, caplog, name):
    columns = planted_columns(name, tmp_path)
    for key in (f"k/{KEYS.key}", "b/stat", f"a/{'0' * 64}", "z/zone"):
        plant(folder, key=key, **columns)
    assert disk.get_stage(KEYS.key) is None
    assert disk.get_blob("stat") is None
    assert disk.zone_history("zone") is None
    with pytest.raises(Dangling):
        disk.load_bytes("0" * 64)
    assert len(warnings(caplog)) == 4
    assert all("is refused and dropped" in message for message in warnings(caplog))
    assert rows(disk) == set()
    assert not (tmp_path / "executed").exists()
    assert (tmp_path / "outside.val").exists()


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("how", ["gc", "clear", "set"])
def test_planted_rows_are_removed_and_nothing_outside(folder, disk, tmp_path, name, how):
    key = f"b/{name}"
    plant(folder, key=key, **planted_columns(name, tmp_path))
    if how == "gc":
        disk.gc(0)
    elif how == "clear":
        disk.clear()
    else:
        disk.set_blob(name, b"mine")
        assert disk.get_blob(name) == b"mine"
    assert rows(disk) == ({key} if how == "set" else set())
    assert (tmp_path / "outside.val").exists()
    assert not (tmp_path / "executed").exists()


def test_planted_keys_do_no_harm(folder, disk, tmp_path, caplog):
    bomb = pickle.dumps(Bomb(tmp_path / "executed"))
    for number, key in enumerate((bomb, b"bytes", 7, None, "text")):
        plant(folder, key=key, raw=0 if number in (0, 4) else 1, value=b"x")
    plant(folder, key="b/when", value=b"x", access_time="never")
    plant(folder, key="b/size", value=b"x", size="large")
    disk.put(LARGE)
    assert disk.stats().artifacts == 1
    report = disk.gc(10**9)
    assert (report.swept, report.left) == (7, 1)
    assert warnings(caplog) == ["7 rows of the store have a form it never writes and are dropped"]
    assert not (tmp_path / "executed").exists()


def test_an_unreadable_pin_pins_nothing(disk, caplog):
    disk._rows.put("p/one", b"{")
    disk._rows.put("p/two", b"7")
    disk.gc(0)
    assert warnings(caplog) == ["pin one of the store is unreadable", "pin two of the store is unreadable"]


def test_only_text_and_bytes_are_written(disk):
    cache = disk._rows._disk._cache
    for key, value in ((("a", 1), b"x"), (b"a", b"x"), (1, b"x"), ("a", "text"), ("a", 1), ("a", {})):
        with pytest.raises(TypeError):
            cache.set(key, value)
    with pytest.raises(TypeError), Path(__file__).open("rb") as file:
        cache.set("a", file, read=True)
    cache.set("a", b"x")
    with pytest.raises(TypeError):
        cache.get("a", read=True)


def test_strays_are_swept_when_they_are_old(folder, disk):
    disk.put(HUGE)
    paths = [folder / "rows" / "00" / "00" / f"{number}.val" for number in "12"]
    paths[0].parent.mkdir(parents=True)
    for path in paths:
        path.write_bytes(b"stray")
    os.utime(paths[0], (0, 0))
    assert disk.gc(10**9).swept == 1
    assert [path.exists() for path in paths] == [False, True]
    assert disk.stats().artifacts == 1


# Many at once


def test_threads_share_a_store(store):
    errors: list[Exception] = []

    def work(number: int) -> None:
        try:
            for turn in range(20):
                ref = store.put(StoreNote(text=f"{turn}" * 5000))
                parts = KEYS.model_copy(update={"logic": f"{number}/{turn}"})
                store.set_stage(parts.key, ref, parts)
                assert store.read(store.get_stage(parts.key)).text == f"{turn}" * 5000
        except Exception as error:  # noqa: BLE001  a thread's failure is the test's
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert (store.stats().stages, store.stats().artifacts) == (160, 20)


WORKER = """
import logging, sys
from rtch.keys import KeyParts
from rtch.models.base import Record
from rtch.models.vocab import StageName
from rtch.store import open_store

class Note(Record):
    text: str

logging.basicConfig(stream=sys.stderr)
store = open_store(sys.argv[1])
for turn in range(25):
    text = f"{turn % 10}" * (40_000 if turn % 3 else 5_000)
    ref = store.put(Note(text=text))
    parts = KeyParts(stage=StageName.PROBE, logic=f"{sys.argv[2]}/{turn}")
    store.set_stage(parts.key, ref, parts)
    store.set_blob("shared", text.encode())
    store._memo.clear()
    assert store.read(store.get_stage(parts.key)).text == text
    assert store.get_blob("shared")
store.close()
"""


def test_eight_processes_at_once_on_an_empty_folder(folder):
    command = [sys.executable, "-P", "-c", WORKER, str(folder)]
    children = [
        subprocess.Popen([*command, str(number)], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        for number in range(8)
    ]
    outcomes = [(child.communicate(timeout=120)[1].decode(), child.returncode) for child in children]
    assert outcomes == [("", 0)] * 8
    store = open_store(folder)
    assert store.stats().stages == 200
    for number in range(8):
        for turn in range(25):
            assert store.get_stage(KeyParts(stage=StageName.PROBE, logic=f"{number}/{turn}").key) is not None
    assert store._rows._disk._cache.check() == []


def test_damage_met_by_many_processes_is_set_aside_once(folder, disk):
    disk.put(HUGE)
    close_stores()
    damage(folder / "rows" / "cache.db", "head")
    command = [sys.executable, "-P", "-c", WORKER, str(folder)]
    children = [
        subprocess.Popen([*command, str(number)], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        for number in range(3)
    ]
    outcomes = [(child.communicate(timeout=120)[1].decode(), child.returncode) for child in children]
    assert [code for _, code in outcomes] == [0] * 3
    assert "".join(text for text, _ in outcomes).count("is damaged") == 1
    assert open_store(folder).stats().stages == 75


def test_the_form_of_a_stage_row(disk):
    disk.set_stage(KEYS.key, disk.put(SMALL), KEYS)
    head, body = disk._rows.get(f"k/{KEYS.key}").split(b"\n")
    assert body == SMALL.canonical()
    assert json.loads(head) == {
        "kind": "StoreNote",
        "digest": hashlib.sha256(body).hexdigest(),
        "parts": [],
        "inline": True,
        "key": json.loads(KEYS.canonical()),
    }
