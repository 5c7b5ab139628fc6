"""Packets of one question over a change of the tree: listed, compared, pinned and pruned."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

from driving import RTCH, plant


def rtch(home: Path, root: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"RTCH_HOME": str(home)}
    return subprocess.run(
        [RTCH, *argv],
        cwd=root,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


def hydrate(home: Path, root: Path) -> str:
    done = rtch(
        home, root, "hydrate", "--root", str(root), "--goal", "where are tides computed", "--profile", "vague_intent",
        "--fanout", "normal", "--risk", "read_only", "--output-kind", "hydration_packet",
        "--enough", "at least 1 surface", "--seed", "tide_height", "--format", "json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    packet_id: str = json.loads(done.stdout)["packet_id"]
    return packet_id


def test_history_of_a_question(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "zone"
    plant(root, {"tides.py": "def tide_height(hour):\n    return hour\n"})
    before = hydrate(home, root)
    plant(root, {"tides.py": "def tide_height(hour):\n    return hour * 2\n", "more.py": "print(tide_height(3))\n"})
    time.sleep(1.1)  # packets say when they were made in whole seconds
    after = hydrate(home, root)

    differs = rtch(home, root, "packet", "diff", before, after, "--format", "json")
    assert (differs.returncode, differs.stderr) == (1, "")
    assert [row["path"] for row in json.loads(differs.stdout)["surfaces_entered"]] == ["more.py"]
    assert rtch(home, root, "packet", "diff", after, after).returncode == 0

    rows = json.loads(rtch(home, root, "packet", "list", "--format", "json").stdout)["packets"]
    assert {row["packet_id"]: row["superseded_by"] for row in rows} == {before: after, after: None}

    assert rtch(home, root, "packet", "pin", before, "--why", "cited").returncode == 0
    assert rtch(home, root, "packet", "prune").stdout == ""
    assert rtch(home, root, "packet", "unpin", before).returncode == 0
    pruned = rtch(home, root, "packet", "prune", "--persisted")
    assert pruned.stdout.count(before) == 2, "the remembered copy and the one that the pin kept"
    assert rtch(home, root, "packet", "show", before).returncode == 6
    assert rtch(home, root, "packet", "show", after).returncode == 0
    assert sorted(place.name for place in root.iterdir()) == ["more.py", "tides.py"]
