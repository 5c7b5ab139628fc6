"""``rtch run`` and ``--engine prefect``: one packet on stdout, where to look on stderr, nothing taken from the tree."""

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

RTCH = str(Path(sys.executable).with_name("rtch"))
INTAKE = {
    "goal": "Change how moor_boat reads the MooringPlan",
    "target_profile": "code_path",
    "fanout_level": "conservative",
    "mutation_risk": "read_only",
    "expected_output": "hydration_packet",
    "enough_evidence_definition": "at least 1 surface",
    "explicit_seeds": ["moor_boat"],
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A zone that also holds traps for whoever imports or configures from the working folder."""
    root = tmp_path / "marina"
    root.mkdir()
    (root / "mooring.py").write_text("class MooringPlan:\n    pass\n\n\ndef moor_boat(plan):\n    return plan\n")
    (root / ".env").write_text(f"PREFECT_LOGGING_SETTINGS_PATH={root}/log.yml\n")
    (root / "log.yml").write_text(
        "version: 1\nroot: {handlers: [trap]}\n"
        f"handlers:\n  trap:\n    (): os.system\n    command: touch {tmp_path}/sprung\n"
    )
    for name in ("prefect", "tasks", "flows", "httpx"):
        (root / f"{name}.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w').close()\n")
    (tmp_path / "intake.json").write_text(json.dumps(INTAKE))
    return root


def rtch(tree: Path, api_url: str, *args: str) -> tuple[int, str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    ran = subprocess.run(
        [RTCH, *args],
        cwd=tree,
        env=kept | {"RTCH_HOME": str(tree.parent / "home"), "PREFECT_API_URL": api_url},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.prefect
def test_a_saved_intake_runs_as_a_flow(tree: Path, prefect_server: Server) -> None:
    saved = str(tree.parent / "intake.json")
    code, out, err = rtch(tree, prefect_server.api_url, "run", saved, "--format", "json")
    assert code == 0, err
    packet = json.loads(out)
    assert err == f"rtch: flow run {packet['run']['flow_run_url']}\n"
    assert packet["run"]["flow_run_url"].startswith(f"{prefect_server.ui_url}/runs/flow-run/")
    assert packet["run"]["cwd"] == packet["run"]["zone_root"] == str(tree)
    assert "mooring.py" in {chunk["path"] for chunk in packet["hydrated_chunks"]}

    code, out, err = rtch(tree, prefect_server.api_url, "hydrate", saved, "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["packet_id"] == packet["packet_id"]
    assert not (tree.parent / "sprung").exists()


@pytest.mark.prefect
def test_an_error_in_a_flow_is_the_error_of_a_direct_run(tree: Path, prefect_server: Server) -> None:
    (tree / ".rtch.yaml").write_text("limits: {probe: {max_hits: 1000000000}}\n")
    saved = str(tree.parent / "intake.json")
    told = [
        rtch(tree, prefect_server.api_url, "hydrate", saved, "--engine", engine) for engine in ("direct", "prefect")
    ]
    assert {code for code, _, _ in told} == {2}
    assert {out for _, out, _ in told} == {""}
    direct_error, flow_error = (err.rstrip("\n").split("\n")[-1] for _, _, err in told)
    assert direct_error == flow_error


def test_an_api_that_does_not_answer_is_a_tool_that_failed(tree: Path) -> None:
    code, out, err = rtch(tree, "http://127.0.0.1:9/api", "run", str(tree.parent / "intake.json"))
    assert (code, out) == (5, "")
    assert err.startswith("rtch: the Prefect API at http://127.0.0.1:9/api could not carry the run: ")
    assert err.count("\n") == 1
