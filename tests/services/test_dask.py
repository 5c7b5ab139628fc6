"""The hydrate flow on Dask: jobs travel to other processes, which open tree and store themselves."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from driving import Ask, Rtch, hold_to_the_laws, plant, same_part

if TYPE_CHECKING:
    from rtch.server import Server

pytestmark = pytest.mark.services

SCRIPT = """
import json, sys
from pathlib import Path

def main():
    from prefect_dask import DaskTaskRunner
    from rtch.flows.hydrate import hydrate
    from rtch.flows.parameters import RunOptions
    intake = json.loads(sys.argv[2])
    cluster = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    flow = hydrate.with_options(task_runner=DaskTaskRunner(cluster_kwargs=cluster))
    packet = flow(intake, RunOptions(root=Path(sys.argv[1]), folder=Path(sys.argv[1]))).unquote()
    print(packet.model_dump_json())

if __name__ == "__main__":
    main()
"""


def test_dask_gives_the_direct_packet(prefect_server: Server, tmp_path: Path) -> None:
    assert importlib.util.find_spec("prefect_dask"), "prefect-dask is missing: run tests/services/install.sh"
    root = plant(tmp_path / "zone", {"a.py": "def harpoon():\n    pass\n", "b.py": "from a import harpoon\n"})
    plant(tmp_path, {"dask_run.py": SCRIPT, "home/.keep": ""})
    rtch = Rtch(tmp_path / "home", {"PREFECT_API_URL": prefect_server.api_url})
    direct = rtch.hydrate(root, Ask("Where is harpoon defined", ["harpoon"]), "--no-cache")
    fields = {name: value for name, value in direct["intake"].items() if value not in (None, [])}
    env = rtch.env() | {
        "DASK_TEMPORARY_DIRECTORY": str(tmp_path / "dask"),
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_LOGGING_LEVEL": "WARNING",
        "DO_NOT_TRACK": "1",
    }
    argv = [sys.executable, "-P", str(tmp_path / "dask_run.py"), str(root), json.dumps(fields)]
    ran = subprocess.run(
        argv, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=240
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    packet = json.loads(ran.stdout.splitlines()[-1])
    hold_to_the_laws(packet, root)
    assert same_part(packet) == same_part(direct)
    assert packet["run"]["engine"] == "prefect"
