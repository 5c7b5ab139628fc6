import errno
import fcntl
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rtch.turns import sweep, turn

NAME = "0" * 64
HOLD = """
import sys, time
from rtch.turns import turn
with turn(sys.argv[1], sys.argv[2]):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path)


def left(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).rglob("*") if path.is_file())


@contextmanager
def held(folder: str, name: str = NAME) -> Iterator[subprocess.Popen[bytes]]:
    """Have another process hold a turn."""
    with subprocess.Popen([sys.executable, "-c", HOLD, folder, name], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        try:
            yield holder
        finally:
            holder.kill()


def test_one_at_a_time_and_nothing_is_left(folder: str) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with turn(folder, NAME):
                inside += 1
                most = max(most, inside)
                time.sleep(0.0005)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, inside, left(folder)) == (1, 0, [])


def test_other_names_do_not_wait(folder: str) -> None:
    with turn(folder, NAME), turn(folder, "1" * 64, wait_s=0):
        assert len(left(folder)) == 2


def test_a_turn_is_given_back_when_the_work_fails(folder: str) -> None:
    with pytest.raises(ValueError, match="work"), turn(folder, NAME):
        raise ValueError("work")
    assert left(folder) == []


def test_a_holder_that_was_killed_holds_nothing(folder: str, caplog: pytest.LogCaptureFixture) -> None:
    with held(folder) as holder:
        holder.kill()
    assert left(folder) == [NAME]
    with turn(folder, NAME, wait_s=0):
        pass
    assert (left(folder), caplog.records) == ([], [])


def test_a_holder_that_is_stuck_is_waited_for_no_longer_than_said(
    folder: str, caplog: pytest.LogCaptureFixture
) -> None:
    with held(folder):
        with caplog.at_level(logging.WARNING), turn(folder, NAME, wait_s=0.05):
            pass
        assert caplog.messages == ["another process has been making 000000000000 for 0 s: it is made here too"]
        assert left(folder) == [NAME], "the turn of the other is not ours to give back"


def test_a_place_that_takes_no_files_costs_the_turn_and_not_the_work(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []
    for place in (str(tmp_path / "absent" / "store"), "memory:0123", "/dev/null"):
        with turn(place, NAME):
            done.append(place)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "open", full)
    with turn(folder, NAME):
        done.append("full")
    monkeypatch.undo()

    def unlockable(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unlockable)
    with turn(folder, NAME):
        done.append("unlockable")
    assert len(done) == 5
    assert not Path("memory:0123").exists()


def test_what_killed_holders_left_is_swept_when_it_is_old(folder: str) -> None:
    place = Path(folder, "turns")
    place.mkdir()
    for name, age_s in (("old", 7200), ("young", 60)):
        (place / name).touch()
        os.utime(place / name, (time.time() - age_s,) * 2)
    assert (sweep(Path(folder)), left(folder)) == (1, ["young"])
    assert sweep(Path(folder) / "absent") == 0
