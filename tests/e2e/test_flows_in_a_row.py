"""Flows one right after the other: the server keeps up, and a plan at its widest stays a bounded number of tasks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from driving import corpus, plant

from rtch.flows.serving import COME_BACK

if TYPE_CHECKING:
    from rtch.server import Server

pytestmark = pytest.mark.prefect

tree = corpus("tree")

MOST_TASKS = 40
MOST_PROBES = 25
INTAKE = {
    "target_profile": "vague_intent",
    "fanout_level": "wide",
    "mutation_risk": "read_only",
    "expected_output": "hydration_packet",
    "enough_evidence_definition": "at least 90 surfaces",
}
ROW = """
import json, sys
from collections import Counter
from pathlib import Path
from rtch.entry import Options
from rtch.flows.launch import run_flow
from rtch.flows.parameters import RunOptions, intake_of, intake_values
import httpx

answers = Counter()

def told(response):
    return f"{response.status_code} {response.headers.get('Retry-After', '')}".strip()

def counted(send):
    def sent(self, request):
        try:
            response = send(self, request)
        except Exception as error:
            answers[type(error).__name__] += 1
            raise
        answers[told(response)] += 1
        return response
    return sent

def counted_async(send):
    async def sent(self, request):
        try:
            response = await send(self, request)
        except Exception as error:
            answers[type(error).__name__] += 1
            raise
        answers[told(response)] += 1
        return response
    return sent

httpx.HTTPTransport.handle_request = counted(httpx.HTTPTransport.handle_request)
httpx.AsyncHTTPTransport.handle_async_request = counted_async(httpx.AsyncHTTPTransport.handle_async_request)

given = json.load(sys.stdin)
runs = []
for intake in given["intakes"]:
    options = RunOptions.of(Options(root=Path(given["root"])), Path.cwd())
    parameters = {"intake": intake_values(intake_of(intake)), "options": options}
    packet, run_id, _ = run_flow("rtch.flows.hydrate", parameters)
    stages = Counter(stage.stage.value for stage in packet.run.stages)
    runs.append({"id": run_id, "stages": stages, "made": sum(not stage.cached for stage in packet.run.stages)})
print(json.dumps({"runs": runs, "answers": answers}))
"""
ANSWERS = {"200", "201", "204", "422", f"503 {COME_BACK[1].decode()}"}
"""422 says that no token is to be had. Prefect's client waits two seconds and more where it is not told how long."""


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("harbor") / "tree"
    tree.build(root, files=200, git=True)
    return root


def row(home: Path, root: Path, server: Server, intakes: list[dict[str, Any]]) -> dict[str, Any]:
    """Run a flow for each intake in one process, and return what the requests were answered."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    ran = subprocess.run(
        [sys.executable, "-P", "-c", ROW],
        cwd=home,
        env=kept | {"RTCH_HOME": str(home / "rtch"), "PREFECT_API_URL": server.api_url},
        input=json.dumps({"root": str(root), "intakes": intakes}),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_ten_questions_in_a_row_wait_for_no_server(tmp_path: Path, harbor: Path, prefect_server: Server) -> None:
    asked = [
        INTAKE
        | {"goal": f"Where is {tree.SYMBOL} called, question {place}", "explicit_seeds": [tree.SYMBOL, f"q{place}"]}
        for place in range(10)
    ]
    done = row(tmp_path, harbor, prefect_server, asked)
    assert len(done["runs"]) == len(asked)
    assert all(run["made"] > 1 for run in done["runs"]), "a question that had been asked before costs the server less"
    assert sum(done["answers"].values()) > 5 * len(asked), "the requests were not seen"
    assert set(done["answers"]) <= ANSWERS


def test_the_widest_plan_is_fewer_than_forty_tasks(tmp_path: Path, prefect_server: Server) -> None:
    root, intake = wide_question(tmp_path / "zone")
    (run,) = row(tmp_path, root, prefect_server, [intake])["runs"]
    wanted = json.dumps({"task_runs": {"flow_run_id": {"any_": [run["id"]]}}}).encode()
    url = f"{prefect_server.api_url}/task_runs/count"
    with urllib.request.urlopen(urllib.request.Request(url, wanted, {"Content-Type": "application/json"})) as answer:
        told = int(answer.read())
    probes, tasks = run["stages"]["probe"], sum(run["stages"].values())
    assert probes > 20, "the plan is not wide"
    assert told <= tasks, "a stage is more than a task"
    assert tasks + (MOST_PROBES - probes) < MOST_TASKS


def wide_question(root: Path) -> tuple[Path, dict[str, Any]]:
    """Write a tree, and a question whose words give every family of probes something to look for."""
    words = [
        "".join(parts) for parts in product(("ba", "de", "ki", "lo"), ("mu", "ne", "po"), ("rn", "st", "ld", "ck"))
    ]
    seeds, symbols, headings, cautions = words[:12], words[12:24], words[24:36], words[36:42]
    files = {"README.md": f"# Readme\n\nThe source of truth for {' '.join(seeds)}.\n"}
    for place, (seed, symbol, heading) in enumerate(zip(seeds, symbols, headings, strict=True)):
        files[f"s{place}.py"] = f"def {symbol}_now():\n    return '{seed} {cautions[place % 6]}'\n"
        files[f"d{place}.md"] = f"# {heading.capitalize()}\n\nAbout {seed}.\n"
    names = ", ".join(f"{symbol}_now" for symbol in symbols)
    return plant(root, files), INTAKE | {
        "goal": f"How do {names} meet, as of 2024-05-01, in s1.py, s2.py and d3.md: {' '.join(headings)}",
        "explicit_seeds": seeds,
        "forbidden_assumptions": cautions,
    }
