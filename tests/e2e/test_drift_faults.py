"""Investigations under faults: nothing is lost, nothing half-written is believed, and the next run recovers."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from driving import Ran, Rtch, corpus, plant

tree = corpus("tree")

ASKED = f"""\
goal: Where is {tree.SYMBOL} defined and who calls it
target_profile: code_path
fanout_level: normal
mutation_risk: read_only
expected_output: hydration_packet
enough_evidence_definition: at least 90 surfaces
explicit_seeds: [{tree.SYMBOL}]
"""
DIRECT = ("--engine", "direct", "--format", "json")


class Watched:
    """A saved question on a tree, with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        tree.build(self.root, files=200, git=True)
        self.rtch = Rtch(plant(folder, {"home/.keep": "", "asked.yaml": ASKED}) / "home")
        self.saved = folder / "asked.yaml"

    @property
    def argv(self) -> tuple[str, ...]:
        return ("drift", str(self.saved), "--root", str(self.root), *DIRECT)

    def look(self, *more: str, codes: tuple[int, ...] = (0, 1, 7)) -> dict[str, Any]:
        ran = self.rtch.run(*self.argv, *more)
        assert ran.code in codes, (ran.code, ran.err)
        return investigation(ran)

    def edit(self) -> None:
        """Change a cited line."""
        path = next(path for path in self.root.rglob("*.py") if f"def {tree.SYMBOL}" in path.read_text())
        path.write_text(path.read_text().replace(f"def {tree.SYMBOL}(", f"def {tree.SYMBOL}(changed, ", 1))

    @property
    def baseline(self) -> Path:
        (found,) = self.rtch.home.rglob("*.baseline.yaml")
        return found


def investigation(ran: Ran) -> dict[str, Any]:
    (found,) = json.loads(ran.out)["investigations"]
    assert isinstance(found, dict)
    return found


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_a_deleted_store_loses_nothing(watched: Watched) -> None:
    assert watched.look()["status"] == "baseline_taken"
    watched.edit()
    before = watched.look()
    assert before["status"] == "drift"
    shutil.rmtree(watched.rtch.home / "rtch/cache")
    after = watched.look()
    assert (after["packet_id"], after["findings"]) == (before["packet_id"], before["findings"])


def test_a_full_disk_costs_no_baseline(watched: Watched) -> None:
    watched.look()
    watched.edit()
    kept = watched.baseline.read_bytes()
    assert len(kept) > 30_000

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    argv = [*watched.rtch.command, *watched.argv, "--accept", "as agreed"]
    ran = subprocess.run(
        argv, env=watched.rtch.env(), cwd=watched.root, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False, timeout=60, preexec_fn=limited,
    )  # fmt: skip
    assert ran.returncode == 6, (ran.returncode, ran.stderr)
    assert "Traceback" not in ran.stderr
    assert watched.baseline.read_bytes() == kept
    assert list(watched.baseline.parent.glob("*.tmp")) == []
    assert watched.look()["status"] == "drift"
    watched.look("--accept", "as agreed", codes=(0,))


def test_a_killed_run_leaves_a_baseline_that_is_whole_or_none(watched: Watched) -> None:
    for wait_s in (0.1, 0.2, 0.3, 0.4, 0.6):
        child = subprocess.Popen(
            [*watched.rtch.command, *watched.argv, "--accept", "so it is"],
            env=watched.rtch.env(), cwd=watched.root, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(wait_s)
        child.kill()
        child.wait()
        found = watched.look()
        assert found["status"] in {"clean", "baseline_taken"}, found["failure"]


def test_two_runs_at_once_agree(watched: Watched) -> None:
    watched.look()
    watched.edit()
    with ThreadPoolExecutor(2) as pool:
        made = [investigation(ran) for ran in pool.map(lambda _: watched.rtch.run(*watched.argv), range(2))]
    assert [one["status"] for one in made] == ["drift", "drift"]
    assert made[0]["findings"] == made[1]["findings"]
    rows = watched.rtch.run("drift", str(watched.saved), "--root", str(watched.root), "--history", "--format", "json")
    assert len(rows.out.splitlines()) == 3


def test_one_accepts_while_another_looks_and_no_acceptance_is_lost(watched: Watched) -> None:
    watched.look()
    watched.edit()
    first, *_ = [one for one in watched.look()["findings"] if one["kind"] == "edited"]
    accept = (*watched.argv, "--accept", "as agreed", "--only", first["finding_id"])
    suppress = (*watched.argv, "--suppress", "soon", "--until", "2999-01-01", "--kind", "moved")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda argv: watched.rtch.run(*argv), (accept, suppress)))
    kept = watched.baseline.read_text()
    assert "as agreed" in kept
    assert "2999-01-01" in kept


CLOCK = """
import sys
from datetime import UTC, datetime, timedelta
import rtch.drift.investigation as one, rtch.entry as entry, rtch.session as session
def long_ago():
    return (datetime.now(UTC) - timedelta(days=4000)).isoformat(timespec="seconds")
one.now = entry.now = session.now = long_ago
one.today = lambda: (datetime.now(UTC) - timedelta(days=4000)).date()
sys.argv = ["rtch", *sys.argv[1:]]
from rtch.cli.main import entry
entry()
"""


def test_a_clock_that_was_set_back_changes_no_verdict(watched: Watched) -> None:
    watched.look()
    watched.edit()
    before = watched.look()
    script = plant(watched.rtch.home, {"clock.py": CLOCK}) / "clock.py"
    back = Rtch(watched.rtch.home, command=(sys.executable, "-P", str(script)))
    ran = back.run(*watched.argv)
    assert ran.code == 1, ran.err
    made = investigation(ran)
    assert made["started_at"] < before["started_at"]
    assert made["findings"] == before["findings"]
    assert watched.look()["findings"] == before["findings"]
