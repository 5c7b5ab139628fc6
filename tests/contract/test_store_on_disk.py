"""What the store on disk does with what it finds there: damage, locks, planted rows, other processes."""

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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import diskcache
import pytest

from rtch.diskrows import BytesDisk, DiskRows
from rtch.errors import Dangling
from rtch.history import Step
from rtch.keys import KeyParts, NamedDigest
from rtch.models.base import Record
from rtch.models.vocab import StageName
from rtch.refs import Ref
from rtch.rows import FallbackRows
from rtch.store import MemoryStore, Store, close_stores, open_store


class DiskNote(Record):
    text: str


class StoreOther(Record):
    number: int


SMALL = DiskNote(text="small")
LARGE = DiskNote(text="x" * 5000)
HUGE = DiskNote(text="y" * 100_000)
"""Past 32 KiB a value lies in a file of its own."""
KEYS = KeyParts(stage=StageName.SCOUT, logic="logic", inputs=(NamedDigest(name="zone", digest="1" * 64),))


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    close_stores()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


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


def cache(store: Store) -> Any:
    assert isinstance(store._rows, FallbackRows)
    assert isinstance(store._rows._disk, DiskRows)
    return store._rows._disk._cache


def rows(store: Store) -> set[str]:
    return {entry.key for entry in store._rows.entries()}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# Opening


def test_one_store_a_folder_and_process(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert open_store(folder) is open_store(str(folder)) is open_store(Path("cache"))


def test_the_folder_is_private(folder: Path, disk: Store) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_open_to_others_is_closed(folder: Path) -> None:
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    open_store(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_opening_again_writes_nothing(folder: Path, disk: Store) -> None:
    ref = disk.put(LARGE)
    close_stores()
    lock = sqlite3.connect(folder / "rows" / "cache.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        start = time.monotonic()
        record = open_store(folder).read(ref)
        took_s = time.monotonic() - start
    finally:
        lock.close()
    assert record == LARGE
    assert took_s < 5


def test_stock_settings_are_taken_over(folder: Path) -> None:
    diskcache.Cache(str(folder / "rows"), size_limit=1, eviction_policy="least-recently-used").close()
    store = open_store(folder)
    assert cache(store).eviction_policy == "none"
    assert store.read(store.put(HUGE)) == HUGE


def test_a_store_is_trimmed_after_a_run_when_it_outgrew_its_limit(folder: Path) -> None:
    store = open_store(folder, max_bytes=300_000)
    for number in range(6):
        store.put(DiskNote(text=str(number) * 100_000))
    store.remember_run("zone", "/zone", "", [Step(parts=KEYS, hit=False)])
    assert store.stats().size_bytes <= 225_000


def test_a_folder_half_made_by_another_process_is_completed(
    folder: Path, disk: Store, caplog: pytest.LogCaptureFixture
) -> None:
    close_stores()
    with sqlite3.connect(folder / "rows" / "cache.db") as db:
        db.execute("DROP TABLE Cache")
    db.close()
    store = open_store(folder)
    assert store.read(store.put(HUGE)) == HUGE
    assert store._rows.size() > 100_000, "diskcache counts by its triggers"
    assert warnings(caplog) == []


def test_a_value_replaced_while_it_is_read_is_read_again(disk: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.set_blob("pack", b"1" * 100_000)
    read = BytesDisk._read

    def replaced_first(self: BytesDisk, filename: str) -> bytes:
        monkeypatch.setattr(BytesDisk, "_read", read)
        disk.set_blob("pack", b"2" * 100_000)
        return read(self, filename)

    monkeypatch.setattr(BytesDisk, "_read", replaced_first)
    assert disk.get_blob("pack") == b"2" * 100_000


# A store that cannot be used costs time and no result


def works_in_memory(store: Store) -> bool:
    ref = store.put(LARGE)
    store.set_stage(KEYS.key, ref, KEYS)
    store.set_blob("blob", b"data")
    store.remember_run("zone", "/zone", "rtch_packet_1", [Step(parts=KEYS, hit=False)])
    store._memo.clear()
    return store.read(stage(store)) == LARGE and store.get_blob("blob") == b"data"


def test_a_folder_that_is_a_file(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder.write_text("in the way")
    store = open_store(folder)
    assert works_in_memory(store)
    assert warnings(caplog) == [
        f"{folder} is not a folder; set RTCH_HOME to a folder of your own: this run keeps its artifacts in memory"
    ]
    assert folder.read_text() == "in the way"


def test_a_folder_of_another_user(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    folder.mkdir()
    assert works_in_memory(open_store(folder))
    assert len(warnings(caplog)) == 1
    assert list(folder.iterdir()) == []


def test_a_locked_store(folder: Path, disk: Store, caplog: pytest.LogCaptureFixture) -> None:
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
        assert not store.has(ref.digest)
        with pytest.raises(Dangling):
            store.load_bytes(ref.digest)
    finally:
        lock.close()
    later = store.put_bytes(b"later")
    assert not afresh(store).has(later), "the first failure is the last try"


def test_a_full_disk(tmp_path: Path) -> None:
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
def test_a_damaged_database_is_set_aside(
    folder: Path, disk: Store, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    refs = [disk.put(DiskNote(text=f"{number}" * 6000)) for number in range(20)]
    close_stores()
    damage(folder / "rows" / "cache.db", where)
    store = open_store(folder)
    for ref in refs:
        store.forget(ref.digest)
    assert works_in_memory(store)
    close_stores()
    store = open_store(folder)
    assert store.read(stage(store)) == LARGE, "the store that starts empty is on disk"
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


def test_damage_met_in_the_middle_of_a_run(folder: Path, disk: Store, caplog: pytest.LogCaptureFixture) -> None:
    refs = [disk.put(DiskNote(text=f"{number}" * 6000)) for number in range(20)]
    damage(folder / "rows" / "cache.db", "page")
    disk._memo.clear()
    for ref in refs:
        disk.forget(ref.digest)
    assert works_in_memory(disk)
    assert len(warnings(caplog)) <= 1


def test_a_folder_deleted_in_the_middle_of_a_run(folder: Path, disk: Store) -> None:
    disk.put(LARGE)
    shutil.rmtree(folder)
    disk.set_stage(KEYS.key, disk.put(HUGE), KEYS)
    again = afresh(disk)
    assert again.read(stage(again)) == HUGE
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


# Torn artifacts


def value_file(folder: Path) -> Path:
    (path,) = (folder / "rows").glob("??/??/*.val")
    return path


@pytest.mark.parametrize("how", ["truncated", "deleted", "emptied", "replaced", "linked", "fifo"])
def test_a_torn_file_is_a_miss(folder: Path, disk: Store, how: str) -> None:
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
        (folder / "elsewhere").write_bytes(data)
        path.symlink_to(folder / "elsewhere")
    elif how == "fifo":
        os.mkfifo(path)
    if how != "replaced":
        assert store.get_stage(KEYS.key) is None, "seen without reading"
    with pytest.raises(Dangling) as caught:
        store.read(ref)
    store.forget(caught.value.digest)
    assert store.get_stage(KEYS.key) is None
    store.set_stage(KEYS.key, store.put(HUGE), KEYS)
    assert afresh(store).read(stage(store)) == HUGE


def test_a_torn_row_is_a_miss(disk: Store, caplog: pytest.LogCaptureFixture) -> None:
    ref = disk.put(LARGE)
    disk.set_stage(KEYS.key, ref, KEYS)
    disk._rows.put(f"a/{ref.digest}", LARGE.canonical()[:-10])
    store = afresh(disk)
    with pytest.raises(Dangling):
        store.read(stage(store))
    assert warnings(caplog) == [f"artifact {ref.digest[:12]} is damaged in the store and will be made again"]


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


BOMB, OUTSIDE = "the bomb", "the path of a file outside"
PLANTED: dict[str, dict[str, object]] = {
    "pickled value": {"mode": 4, "value": BOMB},
    "pickled file": {"mode": 4, "filename": "pickled.val", "size": 1},
    "text value": {"mode": 1, "value": "text"},
    "number": {"mode": 1, "value": 7},
    "no value": {"mode": 1, "value": None},
    "text file": {"mode": 3, "filename": "../../outside.val", "size": 32},
    "climbing name": {"mode": 2, "filename": "../../outside.val", "size": 32},
    "absolute name": {"mode": 2, "filename": OUTSIDE, "size": 32},
    "other name": {"mode": 2, "filename": "cache.db", "size": 32},
    "name and value": {"mode": 1, "filename": "../../outside.val", "value": b"x"},
    "mode 0": {"mode": 0, "value": b"x"},
    "mode of text": {"mode": "4", "value": BOMB},
}


def planted_columns(name: str, tmp_path: Path) -> dict[str, object]:
    bomb = pickle.dumps(Bomb(tmp_path / "executed"))
    outside = tmp_path / "outside.val"
    outside.write_bytes(b"\0" * 32)
    (tmp_path / "cache" / "rows" / "pickled.val").write_bytes(bomb)
    meant = {BOMB: bomb, OUTSIDE: str(outside)}
    return {column: meant.get(str(value), value) for column, value in PLANTED[name].items()}


@pytest.mark.parametrize("name", ["pickled value", "pickled file"])
def test_the_bomb_goes_off_in_a_stock_cache(folder: Path, disk: Store, tmp_path: Path, name: str) -> None:
    plant(folder, key="b/stat", **planted_columns(name, tmp_path))
    stock = diskcache.Cache(str(folder / "rows"))
    stock.get("b/stat")
    stock.close()
    assert (tmp_path / "executed").exists()


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_row_is_a_miss_with_a_warning(
    folder: Path, disk: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
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
def test_planted_rows_are_removed_and_nothing_outside(
    folder: Path, disk: Store, tmp_path: Path, name: str, how: str
) -> None:
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


def test_planted_keys_do_no_harm(folder: Path, disk: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    bomb = pickle.dumps(Bomb(tmp_path / "executed"))
    for number, key in enumerate((bomb, b"bytes", 7, None, "text")):
        plant(folder, key=key, raw=0 if number in (0, 4) else 1, value=b"x")
    plant(folder, key="b/when", value=b"x", access_time="never")
    plant(folder, key="b/size", value=b"x", size="large")
    disk.put(LARGE)
    assert disk.stats().artifacts == 1
    for walk in (cache(disk).__iter__, cache(disk).iterkeys):
        with pytest.raises(ValueError, match=r"^a key that is no text$"):
            list(walk())
    report = disk.gc(10**9)
    assert (report.swept, report.left) == (7, 1)
    assert warnings(caplog) == ["7 rows of the store have a form it never writes and are dropped"]
    assert not (tmp_path / "executed").exists()


def test_an_unreadable_pin_pins_nothing(disk: Store, caplog: pytest.LogCaptureFixture) -> None:
    disk._rows.put("p/one", b"{")
    disk._rows.put("p/two", b"7")
    disk.gc(0)
    assert warnings(caplog) == ["pin one of the store is unreadable", "pin two of the store is unreadable"]


def test_only_text_and_bytes_are_written(disk: Store) -> None:
    plain = cache(disk)
    for key, value in ((("a", 1), b"x"), (b"a", b"x"), (1, b"x"), ("a", "text"), ("a", 1), ("a", {})):
        with pytest.raises(TypeError):
            plain.set(key, value)
    with pytest.raises(TypeError), Path(__file__).open("rb") as file:
        plain.set("a", file, read=True)
    plain.set("a", b"x")
    with pytest.raises(TypeError):
        plain.get("a", read=True)


@pytest.mark.parametrize(("key", "raw"), [("text", 0), (b"bytes", 1), (pickle.dumps(1), 0), ("text", None)])
def test_only_text_is_read_as_a_key(key: object, raw: object) -> None:
    with pytest.raises(ValueError, match=r"^a key that is no text$"):
        BytesDisk("nowhere").get(key, raw)


def test_a_lock_met_by_many_threads_is_one_warning(folder: Path, disk: Store, caplog: pytest.LogCaptureFixture) -> None:
    close_stores()
    lock = sqlite3.connect(folder / "rows" / "cache.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        store = open_store(folder, timeout_s=0.3)
        threads = [threading.Thread(target=store.put_bytes, args=(str(n).encode(),)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        lock.close()
    assert len(warnings(caplog)) == 1
    assert sorted(store.load_bytes(hashlib.sha256(str(n).encode()).hexdigest()) for n in range(4)) == [
        b"0", b"1", b"2", b"3",
    ]  # fmt: skip


def test_strays_are_swept_when_they_are_old(folder: Path, disk: Store) -> None:
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


def test_eight_processes_at_once_on_an_empty_folder(folder: Path) -> None:
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
    assert cache(store).check() == []


def test_damage_met_by_many_processes_is_set_aside_once(folder: Path, disk: Store) -> None:
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


def test_the_form_of_a_stage_row(disk: Store) -> None:
    disk.set_stage(KEYS.key, disk.put(SMALL), KEYS)
    head, body = (disk._rows.get(f"k/{KEYS.key}") or b"").split(b"\n")
    assert body == SMALL.canonical()
    assert json.loads(head) == {
        "kind": "DiskNote",
        "digest": hashlib.sha256(body).hexdigest(),
        "inline": True,
        "key": json.loads(KEYS.canonical()),
    }
