"""A server or a run that is killed: the error comes soon, nothing half-made is believed, and the next run is whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driving import Rtch, corpus, plant

tree = corpus("tree")
pytestmark = pytest.mark.prefect

ASKED = f"""\
goal: Where is {tree.SYMBOL} defined and who calls it
target_profile: code_path
fanout_level: normal
mutation_risk: read_only
expected_output: hydration_packet
enough_evidence_definition: at least 90 surfaces
explicit_seeds: [{tree.SYMBOL}]
"""
SOON_S = 60.0
"""The client of an unwatched server waits three minutes."""


class Watched:
    """A saved question on a tree, and a server of its own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        tree.build(self.root, files=400, git=True)
        self.rtch = Rtch(plant(folder, {"home/.keep": "", "asked.yaml": ASKED}) / "home")
        self.argv = ("drift", str(folder / "asked.yaml"), "--root", str(self.root), "--format", "json")

    def look(self, *more: str) -> dict[str, Any]:
        ran = self.rtch.run(*self.argv, *more, timeout=180)
        assert ran.code in {0, 1, 7}, ran.err
        (found,) = json.loads(ran.out)["investigations"]
        assert isinstance(found, dict)
        return found

    def server_pid(self) -> int:
        record = json.loads((self.rtch.home / "rtch/server.json").read_text())
        assert isinstance(record["pid"], int)
        return record["pid"]

    def begun(self, *more: str) -> subprocess.Popen[str]:
        """Start a run that makes every stage, and return once its flow run is under way."""
        argv = [*self.rtch.command, *self.argv, *(more or ("--no-cache",))]
        run = subprocess.Popen(
            argv, env=self.rtch.env(), cwd=self.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert run.stderr is not None
        while "flow run http" not in (line := run.stderr.readline()):
            assert line, "the run ended before it began"
        return run


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    made = Watched(tmp_path_factory.mktemp("faults"))
    yield made
    made.rtch.run("down")


def test_a_server_that_is_killed_ends_the_run_soon_and_the_next_one_starts_another(watched: Watched) -> None:
    assert watched.look()["status"] == "baseline_taken"
    run = watched.begun()
    started = time.monotonic()
    os.kill(watched.server_pid(), signal.SIGKILL)
    _, err = run.communicate(timeout=SOON_S)
    assert run.returncode == 5, err
    assert "could not carry the run" in err
    assert "Traceback" not in err
    assert time.monotonic() - started < SOON_S
    assert watched.look()["status"] == "clean"


def test_a_run_that_is_killed_is_not_believed_and_the_next_one_is_whole(watched: Watched) -> None:
    before = watched.look()
    run = watched.begun()
    run.kill()
    run.communicate()
    after = watched.look()
    assert (after["status"], after["packet_id"]) == ("clean", before["packet_id"])
    assert after["findings"] == before["findings"]


def test_two_flows_of_one_question_at_once_agree(watched: Watched) -> None:
    watched.look()
    runs = [watched.begun() for _ in range(2)]
    reports = [json.loads(run.communicate(timeout=SOON_S)[0]) for run in runs]
    statuses = [report["investigations"][0]["status"] for report in reports]
    assert statuses == ["clean", "clean"]


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that they have."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    rows = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = [child for child, parent in rows if parent == pid]
    return [*found, *(below for child in found for below in children_of(child))]


def carriers_of(pid: int) -> list[int]:
    """Return the processes that carry a run's tasks."""
    found = []
    for child in children_of(pid):
        try:
            argv = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if b"multiprocessing" in argv and b"resource_tracker" not in argv:
            found.append(child)
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="carriers are told by /proc")
def test_a_process_that_carries_probes_is_killed_and_the_next_run_is_whole(watched: Watched) -> None:
    before = watched.look()
    run = watched.begun("--runner", "processes")
    deadline = time.monotonic() + SOON_S
    while not (carriers := carriers_of(run.pid)) and time.monotonic() < deadline and run.poll() is None:
        time.sleep(0.05)
    assert carriers, "nothing carried the tasks"
    os.kill(carriers[0], signal.SIGKILL)
    out, err = run.communicate(timeout=SOON_S * 3)
    assert "Traceback" not in err
    (broken,) = json.loads(out)["investigations"]
    assert (broken["status"], run.returncode) == ("failed", 5), err
    assert "was killed" in broken["failure"]
    after = watched.look()
    assert (after["status"], after["packet_id"]) == ("clean", before["packet_id"])
    history = watched.rtch.run("drift", *watched.argv[1:4], "--history").out
    assert "was killed" in history
