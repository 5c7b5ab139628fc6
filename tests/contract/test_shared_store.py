"""Rows under a URL: whole or not there, foreign files let be, and what cannot be reached is told from a miss."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from rtch import home, turns
from rtch.entry import Options, enter
from rtch.errors import IntakeError
from rtch.intake_io import build_intake
from rtch.places import store_place
from rtch.rows import Down, FallbackRows, MemoryRows, Rows
from rtch.store import close_stores, open_store
from rtch.urlrows import UrlRows

LARGE = b"x" * 100_000


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    close_stores()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "shared"


@pytest.fixture
def rows(folder: Path) -> UrlRows:
    return UrlRows(folder.as_uri())


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def fail(*_arguments: Any, **_named: Any) -> Any:
    raise ConnectionError("the network is gone")


def test_a_row_can_be_read_by_its_name(rows: UrlRows, folder: Path) -> None:
    rows.put("b/list/a b", b"1")
    assert (folder / "b" / "list%2Fa%20b").read_bytes() == b"1"
    assert [path.name for path in (folder / "incoming").iterdir()] == []


def test_a_reader_has_one_whole_row_or_the_other(folder: Path) -> None:
    values = [bytes([letter]) * 300_000 for letter in b"ab"]
    writer, reader = UrlRows(folder.as_uri()), UrlRows(folder.as_uri())
    writer.put("b/one", values[0])
    done: list[bool] = []

    def write() -> None:
        for number in range(60):
            writer.put("b/one", values[number % 2])
        done.append(True)

    thread = threading.Thread(target=write)
    thread.start()
    seen: set[bytes | None] = set()
    while not done:
        seen.add(reader.get("b/one"))
    thread.join()
    assert seen <= set(values)


def test_rows_that_cannot_be_moved_leave_those_of_before(
    rows: UrlRows, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows.put_many({"b/one": b"1", "b/two": b"2"})
    with monkeypatch.context() as patch:
        patch.setattr(rows._fs, "mv", fail)
        with pytest.raises(Down, match=r"^file://\S+ cannot be used: the network is gone$"):
            rows.put_many({"b/one": LARGE, "b/two": LARGE})
    assert rows.get_many(["b/one", "b/two"]) == {"b/one": b"1", "b/two": b"2"}
    assert list((folder / "incoming").iterdir()) == []


def test_what_is_not_the_stores_is_neither_counted_nor_removed(rows: UrlRows, folder: Path) -> None:
    rows.put("b/one", b"1")
    others = [folder / "notes.txt", folder / "b" / "a name", folder / "b" / "folder" / "x", folder / "mine" / "y"]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    assert [entry.key for entry in rows.entries()] == ["b/one"]
    assert rows.sweep() == 0
    assert rows.clear() == 1
    assert all(path.read_text() == "mine" for path in others)


def test_what_a_killed_writer_left_goes_after_an_hour(rows: UrlRows, folder: Path) -> None:
    rows.put("b/one", b"1")
    old, young = folder / "incoming" / "old", folder / "incoming" / "young"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    assert rows.sweep() == 1
    assert (old.exists(), young.exists()) == (False, True)


def test_a_use_is_noted_in_a_folder_once_an_hour(rows: UrlRows, folder: Path) -> None:
    rows.put("b/one", b"1")
    path, now = folder / "b" / "one", time.time()
    os.utime(path, (now - 100, now - 100))
    rows.touch(["b/one", "b/absent"], now)
    assert path.stat().st_mtime == pytest.approx(now - 100)
    rows.touch(["b/one"], now + 4000)
    assert [entry.used_at for entry in rows.entries()] == [pytest.approx(now + 4000)]


@pytest.mark.parametrize("kind", ["folder", "objects"])
def test_a_place_out_of_reach_is_no_miss(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = UrlRows(folder.as_uri() if kind == "folder" else f"memory:/{folder}")
    rows.put("b/one", b"1")
    for name in ("cat_file", "info", "ls", "pipe_file", "pipe", "rm_file"):
        monkeypatch.setattr(rows._fs, name, fail)
    for work in (
        lambda: rows.get("b/one"),
        lambda: rows.get_many(["b/one", "b/two"]),
        lambda: rows.present(["b/one"]),
        lambda: rows.put("b/one", b"2"),
        lambda: rows.delete(["b/one"]),
        rows.entries,
    ):
        with pytest.raises(Down, match=r" cannot be used: the network is gone$"):
            work()


def test_a_file_system_that_is_not_installed_costs_the_cache_and_not_the_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = open_store("nowhere://user:secret@host/rtch")
    digest = store.put_bytes(LARGE)
    assert store.load_bytes(digest) == LARGE
    (warning,) = warnings(caplog)
    assert warning.startswith("nowhere://host/rtch cannot be used: ")
    assert warning.endswith(": this run keeps its artifacts in memory")
    assert "secret" not in warning


def test_a_damaged_row_of_another_machine_is_a_miss(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = open_store(folder.as_uri())
    store.set_blob("list/zone", b"abc")
    (path,) = (folder / "b").iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    assert store.get_blob("list/zone") is None
    assert warnings(caplog) == ["blob list/zone is damaged in the store and dropped"]
    assert not path.exists()


# A place that comes back


class Flaky(MemoryRows):
    """A place that can be switched off; what it holds outlives a new opening."""

    def __init__(self) -> None:
        super().__init__()
        self.up = True

    def get(self, key: str) -> bytes | None:
        if not self.up:
            raise Down("gone")
        return super().get(key)

    def put_many(self, values: Any) -> None:
        if not self.up:
            raise Down("gone")
        super().put_many(values)


def test_a_place_that_comes_back_is_given_what_it_missed(caplog: pytest.LogCaptureFixture) -> None:
    place = Flaky()
    rows: Rows = FallbackRows(lambda: place, pause_s=0)
    for number in range(2):
        place.up = False
        rows.put(f"b/{number}", b"1")
        rows.put("b/again", b"2")
        assert rows.get(f"b/{number}") == b"1"
        place.up = True
        rows.put("b/after", b"3")
        assert place.get_many([f"b/{number}", "b/again", "b/after"]).keys() == {f"b/{number}", "b/again", "b/after"}
    assert warnings(caplog) == ["gone: this run keeps its artifacts in memory"] * 2


def test_a_place_that_failed_is_left_alone_for_the_pause() -> None:
    asked: list[str] = []

    def refuse() -> Rows:
        asked.append("asked")
        raise Down("gone")

    rows = FallbackRows(refuse, pause_s=60)
    assert (rows.get("b/one"), rows.present(["b/one"])) == (None, set())
    assert len(asked) == 1


# Where it lies


def test_the_environment_says_where_the_store_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RTCH_STORE", raising=False)
    assert store_place() == str(tmp_path / "home" / "cache" / "store")
    monkeypatch.setenv("RTCH_STORE", "s3://bucket/rtch/")
    assert store_place() == "s3://bucket/rtch"
    monkeypatch.setenv("RTCH_STORE", "/shared/rtch")
    with pytest.raises(IntakeError) as raised:
        store_place()
    assert str(raised.value) == "RTCH_STORE is /shared/rtch, which is no URL; write it as file:///shared/rtch"


def test_a_store_inside_the_zone_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RTCH_STORE", f"file://{tmp_path}/zone/shared store")
    (tmp_path / "zone").mkdir()
    (tmp_path / "zone" / "a.py").write_text("a = 1\n")
    intake = build_intake({
        "goal": "Where is a", "target_profile": "code_path", "fanout_level": "normal", "mutation_risk": "read_only",
        "expected_output": "hydration_packet", "enough_evidence_definition": "at least 1 surface",
    })  # fmt: skip
    for _ in range(2):
        entry = enter(intake, Options(root=tmp_path / "zone"))
        assert [*entry.workspace.index] == ["a.py"]
        entry.store.set_blob("one", b"1")
    assert (tmp_path / "zone" / "shared store" / "b" / "one").exists()


def test_the_processes_of_one_machine_take_turns_at_a_shared_store(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    turns.folder_of.cache_clear()
    folder = turns.folder_of("s3://bucket/rtch")
    turns.folder_of.cache_clear()
    assert Path(folder).parent == home.cache_dir() / "shared"
    assert turns.folder_of("/a/folder") == "/a/folder"
    with turns.turn(folder, "key"):
        assert [path.name for path in Path(folder, "turns").iterdir()] == ["key"]


def test_objects_are_put_whole(folder: Path) -> None:
    rows = UrlRows(f"memory:/{folder}")
    rows.put_many({"b/one": LARGE, "b/two": b"2"})
    assert sorted(fsspec.filesystem("memory").find(str(folder))) == [f"{folder}/b/one", f"{folder}/b/two"]
    assert rows.sweep() == 0
