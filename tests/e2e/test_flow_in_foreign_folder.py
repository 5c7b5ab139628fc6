"""A flow that is started in somebody else's folder takes nothing from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rtch.server import Server

pytestmark = pytest.mark.prefect

FLOW = """
from prefect import flow, get_run_logger
from rtch.errors import ZoneError

@flow(persist_result=False)
def smallflow(fail):
    get_run_logger().info("a line for the server")
    if fail:
        raise ZoneError("there is no zone", hint="make one")
    return 42
"""

STARTER = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from rtch.errors import ZoneError
from rtch.flows.launch import run_flow
done = run_flow("smallflow", {"fail": False}, tags=["small"])
try:
    run_flow("smallflow", {"fail": True})
except ZoneError as error:
    print(json.dumps({"value": done.value, "url": done.url, "error": str(error), "cwd": os.getcwd()}))
"""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder whose settings would run a command when Prefect sets up its logging."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / ".env").write_text(f"PREFECT_LOGGING_SETTINGS_PATH={folder}/log.yml\n")
    (folder / "prefect.toml").write_text(f'[logging]\nconfig_path = "{folder}/log.yml"\n')
    (folder / "log.yml").write_text(
        f"version: 1\nhandlers:\n  x:\n    (): os.system\n    command: touch {folder}/ran\nroot: {{handlers: [x]}}\n"
    )
    for name in ("prefect", "flows", "tasks", "rtch", "smallflow"):
        (folder / f"{name}.py").write_text(f"open('{folder}/ran', 'w').close()\n")
    return folder


def environment(tmp_path: Path, server: Server) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return kept | {"RTCH_HOME": str(tmp_path / "home"), "PREFECT_API_URL": server.api_url}


def test_a_foreign_folder_configures_nothing(tmp_path: Path, hostile: Path, prefect_server: Server) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "smallflow.py").write_text(FLOW)
    ran = subprocess.run(
        [sys.executable, "-P", "-c", STARTER, str(own)],
        cwd=hostile,
        env=environment(tmp_path, prefect_server),
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert not (hostile / "ran").exists()
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["url"].startswith(f"{prefect_server.ui_url}/runs/flow-run/")
    assert (told["value"], told["error"], told["cwd"]) == (42, "there is no zone; make one", str(hostile))
    assert ran.stderr == ""


def test_the_trap_would_have_sprung(tmp_path: Path, hostile: Path) -> None:
    subprocess.run(
        [sys.executable, "-P", "-c", "import prefect.main"],
        cwd=hostile,
        env={"PATH": os.environ["PATH"], "PREFECT_HOME": str(tmp_path / "client")},
        capture_output=True,
        check=False,
        timeout=180,
    )
    assert (hostile / "ran").exists()
