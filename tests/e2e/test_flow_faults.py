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

    def begun(self) -> subprocess.Popen[str]:
        """Start a run that makes every stage, and return once its flow run is under way."""
        argv = [*self.rtch.command, *self.argv, "--no-cache"]
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
