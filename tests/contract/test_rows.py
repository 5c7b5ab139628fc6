"""One contract for every place for rows: in memory, on disk, under a URL, and with a way out."""

import logging
import sqlite3
import threading
from collections.abc import Callable, ItemsView, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rtch.diskrows import BATCH, DiskRows
from rtch.rows import Down, FallbackRows, MemoryRows, Rows
from rtch.urlrows import UrlRows

LARGE = b"x" * 100_000
"""Past 32 KiB a value lies in a file of its own."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(params=["memory", "disk", "shared folder", "objects", "fallback", "fallen back"])
def rows(request: pytest.FixtureRequest, folder: Path) -> Iterator[Rows]:
    def refuse() -> Rows:
        raise Down("no disk")

    kinds: dict[str, Callable[[], Rows]] = {
        "memory": MemoryRows,
        "disk": lambda: DiskRows(folder),
        "shared folder": lambda: UrlRows(folder.as_uri()),
        "objects": lambda: UrlRows(f"memory:/{folder}"),
        "fallback": lambda: FallbackRows(lambda: DiskRows(folder)),
        "fallen back": lambda: FallbackRows(refuse),
    }
    made = kinds[request.param]()
    yield made
    made.close()


@pytest.fixture
def disk(folder: Path) -> Iterator[DiskRows]:
    made = DiskRows(folder)
    yield made
    made.close()


def keys(rows: Rows) -> set[str]:
    return {entry.key for entry in rows.entries()}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# The contract


def test_many_rows_come_back_at_once_and_those_that_are_not_there_do_not(rows: Rows) -> None:
    values = {"b/empty": b"", "b/small": b"\0\xff\n", "b/large": LARGE}
    rows.put_many(values)
    assert rows.get_many([*values, "b/absent"]) == values
    assert {key: rows.get(key) for key in values} == values
    assert rows.present([*values, "b/absent"]) == keys(rows) == values.keys()


def test_nothing_asked_for_or_written_is_nothing(rows: Rows) -> None:
    rows.put_many({})
    assert (rows.get_many([]), rows.get_many(["b/absent"]), rows.entries()) == ({}, {}, [])


def test_more_rows_than_one_question_holds_come_back(rows: Rows) -> None:
    values = {f"b/{number}": str(number).encode() for number in range(2 * BATCH + 50)}
    rows.put_many(values)
    assert rows.get_many([*values, *values]) == values
    rows.delete(list(values)[1:])
    assert rows.get_many(values) == {"b/0": b"0"}


@pytest.mark.parametrize("before", [b"before", LARGE])
@pytest.mark.parametrize("after", [b"after", LARGE[1:]])
def test_what_was_written_last_is_there_however_it_was_written(rows: Rows, before: bytes, after: bytes) -> None:
    rows.put("b/one", before)
    rows.put_many({"b/one": after, "b/two": before})
    assert rows.get_many(["b/one", "b/two"]) == {"b/one": after, "b/two": before}
    rows.put_many({"b/one": before})
    rows.put("b/two", after)
    assert rows.get_many(["b/one", "b/two"]) == {"b/one": before, "b/two": after}


def test_what_was_deleted_is_gone_until_it_is_written_again(rows: Rows) -> None:
    rows.put_many({"b/one": b"1", "b/two": LARGE})
    rows.delete(["b/one", "b/two"])
    assert rows.get_many(["b/one", "b/two"]) == {}
    rows.put_many({"b/two": b"2"})
    assert rows.get_many(["b/one", "b/two"]) == {"b/two": b"2"}


def test_rows_written_together_are_counted_with_their_bytes(rows: Rows) -> None:
    rows.put_many({"b/one": b"1" * 1000, "b/two": LARGE})
    assert {entry.key: entry.size for entry in rows.entries()} == {"b/one": 1005, "b/two": 100_005}
    assert rows.size() >= len(LARGE)
    assert rows.clear() == 2


# On disk, all or none


class Watched(dict[str, bytes]):
    """Rows to be written, with something that happens between the first of them and the second."""

    def __init__(self, values: Mapping[str, bytes], between: Callable[[], None]) -> None:
        super().__init__(values)
        self.between = between

    def items(self) -> Any:
        found: ItemsView[str, bytes] = super().items()
        for number, item in enumerate(found):
            if number:
                self.between()
            yield item


def test_readers_have_the_rows_of_before_until_all_are_written(folder: Path, disk: DiskRows) -> None:
    before = {"b/large": LARGE, "b/small": b"1"}
    disk.put_many(before)
    seen: list[dict[str, bytes]] = []

    def read() -> None:
        reader = DiskRows(folder)
        seen.append(reader.get_many(before))
        reader.close()

    def between() -> None:
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()

    after = {"b/large": LARGE[1:], "b/small": b"2"}
    disk.put_many(Watched(after, between))
    assert seen == [before]
    assert disk.get_many(after) == after


def test_rows_that_could_not_all_be_written_are_as_before(folder: Path, disk: DiskRows) -> None:
    before = {"b/large": LARGE, "b/small": b"1"}
    disk.put_many(before)

    def between() -> None:
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match=r"^in the middle$"):
        disk.put_many(Watched({"b/large": LARGE[1:], "b/new": LARGE, "b/small": b"2"}, between))
    with pytest.raises(TypeError):
        disk.put_many({"b/large": LARGE[1:], "b/new": b"new", "b/small": "text"})  # type: ignore[dict-item]
    assert disk.get_many([*before, "b/new"]) == before
    assert keys(disk) == before.keys()


def test_the_files_of_replaced_and_deleted_values_go(folder: Path, disk: DiskRows) -> None:
    disk.put_many({f"b/{number}": LARGE for number in range(3)})
    disk.put_many({"b/0": LARGE[1:], "b/1": b"small"})
    disk.delete(["b/2"])
    assert [path.read_bytes() for path in (folder / "rows").glob("??/??/*.val")] == [LARGE[1:]]


# What is found damaged


def test_a_row_whose_file_is_gone_is_left_out(folder: Path, disk: DiskRows) -> None:
    disk.put_many({"b/large": LARGE, "b/small": b"1"})
    (path,) = (folder / "rows").glob("??/??/*.val")
    path.unlink()
    assert disk.get_many(["b/large", "b/small"]) == {"b/small": b"1"}
    disk.put_many({"b/large": LARGE[1:]})
    assert disk.get_many(["b/large"]) == {"b/large": LARGE[1:]}


PLANTED: dict[str, dict[str, object]] = {
    "pickle": {"mode": 4, "value": b"\x80\x04N."},
    "text": {"mode": 1, "value": "text"},
    "no value": {"mode": 1, "value": None},
    "name and value": {"mode": 1, "value": b"x", "filename": "../../outside.val"},
    "climbing name": {"mode": 2, "filename": "../../outside.val", "size": 1},
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_row_of_a_form_that_is_never_written_is_refused_and_the_others_come_back(
    folder: Path, disk: DiskRows, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    disk.put_many({"b/one": b"1", "b/two": LARGE})
    columns = {"key": "b/planted", "raw": 1, "store_time": 0.0, "access_time": 0.0, "size": 0} | PLANTED[name]
    with sqlite3.connect(folder / "rows" / "cache.db") as db:
        marks = ", ".join("?" * len(columns))
        db.execute(f"INSERT INTO Cache({', '.join(columns)}) VALUES ({marks})", tuple(columns.values()))
    db.close()
    assert disk.get_many(["b/one", "b/planted", "b/two"]) == {"b/one": b"1", "b/two": LARGE}
    assert [message.partition(":")[0] for message in warnings(caplog)] == [
        "row b/planted of the store is refused and dropped"
    ]
    assert keys(disk) == {"b/one", "b/two"}


# The way out


def test_rows_that_cannot_be_written_to_the_disk_are_read_from_memory_beside_it(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = FallbackRows(lambda: DiskRows(folder, timeout_s=0.05))
    rows.put_many({"b/disk": LARGE, "b/both": b"disk", "b/gone": b"disk"})
    lock = sqlite3.connect(folder / "rows" / "cache.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        rows.put_many({"b/both": b"memory", "b/memory": LARGE})
        rows.delete(["b/gone"])
        assert rows.get_many(["b/disk", "b/both", "b/gone", "b/memory"]) == {
            "b/disk": LARGE,
            "b/both": b"memory",
            "b/memory": LARGE,
        }
        rows.put_many({"b/gone": b"again"})
        assert rows.get_many(["b/gone"]) == {"b/gone": b"again"}
    finally:
        lock.close()
        rows.close()
    assert warnings(caplog) == [f"{folder} is locked by another process: this run keeps its artifacts in memory"]


def test_rows_that_can_no_longer_be_read_are_missing_and_those_in_memory_are_not(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(MemoryRows):
        def get_many(self, keys: object) -> dict[str, bytes]:
            raise Down(f"{folder} cannot be used")

        def put_many(self, values: object) -> None:
            raise Down(f"{folder} cannot be used")

    rows = FallbackRows(Failing)
    rows.put_many({"b/one": b"1"})
    assert rows.get_many(["b/one", "b/two"]) == {"b/one": b"1"}
    assert rows.get_many(["b/two"]) == {}
    assert warnings(caplog) == [f"{folder} cannot be used: this run keeps its artifacts in memory"]
