"""``rtch up``, ``status`` and ``down`` with the real Prefect server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from rtch import daemon

pytestmark = pytest.mark.prefect

RTCH = str(Path(sys.executable).with_name("rtch"))
START_S = 180


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    made = kept | {"RTCH_HOME": str(tmp_path / "home")}
    yield made
    subprocess.run([RTCH, "down"], env=made, check=True, capture_output=True)


def start(environment: dict[str, str], *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [RTCH, *args],
        env=environment,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def rtch(environment: dict[str, str], *args: str) -> tuple[int, str, str]:
    with start(environment, *args) as process:
        out, err = process.communicate(timeout=START_S)
        return process.returncode, out, err


def test_a_server_from_up_to_down(environment: dict[str, str]) -> None:
    assert rtch(environment, "status") == (1, "down\n", "")

    with start(environment, "up", "--format", "json") as one, start(environment, "up", "--format", "json") as other:
        told = [json.loads(each.communicate(timeout=START_S)[0]) for each in (one, other)]
        assert (one.returncode, other.returncode) == (0, 0)
    assert told[0] == told[1]
    first = told[0]

    with urllib.request.urlopen(f"{first['api_url']}/health", timeout=5) as answer:
        assert answer.read() == b"true"
    with urllib.request.urlopen(first["ui_url"], timeout=5) as page:
        assert b"<html" in page.read()
    code, out, _ = rtch(environment, "status", "--format", "json")
    assert (code, json.loads(out)) == (0, first)

    os.kill(first["pid"], signal.SIGKILL)
    while daemon.process_start(first["pid"]) == first["started"]:
        time.sleep(0.05)
    assert rtch(environment, "status")[:2] == (1, "down\n")
    code, out, err = rtch(environment, "up", "--format", "json")
    assert code == 0
    assert "started" in err
    second = json.loads(out)
    assert second["pid"] != first["pid"]

    assert rtch(environment, "down")[0] == 0
    assert daemon.process_start(second["pid"]) != second["started"]
    assert rtch(environment, "status")[:2] == (1, "down\n")
    assert rtch(environment, "down")[0] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_up_leaves_no_server(environment: dict[str, str], number: signal.Signals) -> None:
    record = Path(environment["RTCH_HOME"]) / "server.json"
    with start(environment, "up") as process:
        give_up = time.monotonic() + 60
        while not record.exists():
            assert time.monotonic() < give_up
            time.sleep(0.05)
        child = json.loads(record.read_bytes())
        time.sleep(1)
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
        assert process.returncode != 0
    assert out == ""
    assert daemon.process_start(child["pid"]) != child["started"]
    assert not record.exists()
