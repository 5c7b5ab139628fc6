"""One pipeline, two engines, one store: equal packets, and finds that the Prefect API shows as Cached."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rtch.server import Server

pytestmark = pytest.mark.prefect

DAMAGES = ("artifacts deleted", "artifacts torn", "artifacts planted", "stages torn", "cleared")
NOT_IN_THE_ID = ("run", "generated_at", "generated_at_tic")

LURE = "<img src=http://evil.example/x.png> ![predict_tide](http://evil.example/y.png)"
TREE = {
    "README.md": "# Tide tables\n\nThe tide table is the source of truth for `predict_tide`.\n",
    "pyproject.toml": '[project]\nname = "tides"\nversion = "1.0"\n',
    "src/tides/__init__.py": "",
    "src/tides/predict.py": (
        "from tides.table import TideTable\n\n\n"
        "def predict_tide(harbour, hour):\n"
        '    """Return the height of the water."""\n'
        "    table = TideTable(harbour)\n"
        "    return table.at(hour)\n"
    ),
    "src/tides/table.py": (
        "class TideTable:\n"
        "    def __init__(self, harbour):\n"
        "        self.harbour = harbour\n\n"
        "    def at(self, hour):\n"
        "        return len(self.harbour) + hour\n"
    ),
    "tests/test_predict.py": (
        "from tides.predict import predict_tide\n\n\n"
        "def test_predict_tide():\n"
        "    assert predict_tide('Brest', 3) == 8\n"
    ),
    "config/harbours.yaml": "harbours:\n  brest:\n    predict_tide: true\n    tide_table: tables/brest.json\n",
    "docs/lure.md": f"# predict_tide\n\n{LURE}\n",
    "docs/decisions/0001-tables.md": "# Tables\n\nDeprecated: the old TideTable format.\n",
}

INTAKE = {
    "goal": "Change how predict_tide reads the TideTable",
    "target_profile": "code_path",
    "fanout_level": "normal",
    "mutation_risk": "low_mutation",
    "expected_output": "hydration_packet",
    "enough_evidence_definition": "at least 2 surfaces and one claim_supporting chunk",
    "explicit_seeds": ["predict_tide"],
}
OTHER = INTAKE | {"goal": "Where are the harbours configured?", "explicit_seeds": ["harbours"]}

STEPS = """
import json, sys
from pathlib import Path
from rtch import home
from rtch.entry import Options, enter
from rtch.flows.launch import run_flow
from rtch.flows.parameters import RunOptions, intake_of, intake_values
from rtch.entry import Options, enter
from rtch.session import open_session, run_direct
from rtch.store import open_store

def damage(how):
    store = open_store(home.cache_dir() / "store")
    rows = store._rows
    store._memo.clear()
    for place, entry in enumerate(list(rows.entries())):
        kind = entry.key[:2]
        if how == "cleared" or (how == "artifacts deleted" and kind == "a/"):
            rows.delete([entry.key])
        elif how == "artifacts torn" and kind == "a/":
            rows.put(entry.key, rows.get(entry.key)[:-1])
        elif how == "artifacts planted" and kind == "a/":
            rows.put(entry.key, b'{"planted": true}')
        elif how == "stages torn" and kind == "k/":
            rows.put(entry.key, b"{")

for step in json.load(sys.stdin):
    if "damage" in step:
        damage(step["damage"])
        continue
    intake, options = intake_of(step["intake"]), Options(root=Path(step["root"]))
    if step["engine"] == "direct":
        packet, run_id = run_direct(open_session(enter(intake, options))), ""
    else:
        parameters = {"intake": intake_values(intake), "options": RunOptions.of(options, Path.cwd())}
        packet, run_id, _ = run_flow("rtch.flows.hydrate", parameters)
    print(json.dumps({"packet": packet.model_dump(mode="json"), "flow_run": run_id}), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """A packet, and the flow run that made it."""

    packet: dict[str, Any]
    flow_run: str

    @property
    def findings(self) -> dict[str, Any]:
        return {name: value for name, value in self.packet.items() if name not in NOT_IN_THE_ID}


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A task run as the API tells it."""

    stage: str
    name: str
    state: str
    inputs: frozenset[str]
    guessed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Bench:
    """A tree, a home of its own for rtch, and the session's Prefect server."""

    root: Path
    home: Path
    server: Server

    def run(self, *steps: dict[str, Any]) -> list[Ran]:
        """Run the steps in one process; return what came of each that makes a packet."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
        ran = subprocess.run(
            [sys.executable, "-P", "-c", STEPS],
            input=json.dumps([{"root": str(self.root)} | step for step in steps]),
            env=kept | {"RTCH_HOME": str(self.home), "PREFECT_API_URL": self.server.api_url},
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        assert ran.returncode == 0, ran.stderr
        return [Ran(**json.loads(line)) for line in ran.stdout.split("\n") if line]

    def tasks(self, ran: Ran) -> list[TaskRun]:
        """Return the task runs of a flow run, once the API has the last state of each: it is told of them in lots."""
        give_up = time.monotonic() + 30
        while True:
            found = self.ask("task_runs/filter", {"flow_runs": {"id": {"any_": [ran.flow_run]}}, "limit": 200})
            whole = len(found) >= len(ran.packet["run"]["stages"])
            if whole and all(each["state_type"] in {"COMPLETED", "FAILED", "CRASHED"} for each in found):
                break
            assert time.monotonic() < give_up, found
            time.sleep(0.3)
        names = {each["id"]: each["name"] for each in found}
        return [_task_run(each, names) for each in found]

    def states(self, ran: Ran) -> dict[str, str]:
        """Return the state of each task run by name; every name is there once."""
        tasks = self.tasks(ran)
        states = {task.name: task.state for task in tasks}
        assert len(states) == len(tasks)
        return states

    def ask(self, path: str, body: object) -> Any:
        request = urllib.request.Request(
            f"{self.server.api_url}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def artifacts(self, flow_run: str) -> dict[str, dict[str, Any]]:
        """Return the artifacts of a flow run by type."""
        found = self.ask("artifacts/filter", {"flow_runs": {"id": {"any_": [flow_run]}}})
        return {each["type"]: each for each in found}

    def flow_run(self, flow_run: str) -> dict[str, Any]:
        """Return a flow run as the API tells it."""
        with urllib.request.urlopen(f"{self.server.api_url}/flow_runs/{flow_run}", timeout=10) as answer:
            told: dict[str, Any] = json.load(answer)
            return told


def _task_run(told: dict[str, Any], names: dict[str, str]) -> TaskRun:
    inputs = {
        where: {names[each["id"]] for each in given if "id" in each} for where, given in told["task_inputs"].items()
    }
    declared = inputs.pop("wait_for", set())
    return TaskRun(
        stage=re.split("[_ -]", told["name"])[0],
        name=told["name"],
        state=told["state_name"],
        inputs=frozenset(declared),
        guessed=frozenset(name for given in inputs.values() for name in given),
    )


def direct(intake: dict[str, Any]) -> dict[str, Any]:
    return {"engine": "direct", "intake": intake}


def prefect(intake: dict[str, Any]) -> dict[str, Any]:
    return {"engine": "prefect", "intake": intake}


def damage(how: str) -> dict[str, Any]:
    return {"damage": how}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, prefect_server: Server) -> Bench:
    place = tmp_path_factory.mktemp("engines")
    for path, text in TREE.items():
        (place / "tides" / path).parent.mkdir(parents=True, exist_ok=True)
        (place / "tides" / path).write_text(text)
    return Bench(place / "tides", place / "home", prefect_server)


@dataclass(frozen=True, slots=True)
class History:
    """Runs of one home, one after the other."""

    first: Ran
    """Direct, with an empty store."""
    again: Ran
    """The same as a flow."""
    other: Ran
    """Another intake as a flow."""
    other_again: Ran
    """The same directly."""
    fresh: Ran
    """The first intake as a flow, with the store cleared."""


@pytest.fixture(scope="module")
def history(bench: Bench) -> History:
    return History(
        *bench.run(direct(INTAKE), prefect(INTAKE), prefect(OTHER), direct(OTHER), damage("cleared"), prefect(INTAKE))
    )


def test_both_engines_give_one_packet(history: History) -> None:
    assert history.first.packet["hydrated_chunks"]
    assert history.again.findings == history.first.findings
    assert history.fresh.findings == history.first.findings
    assert history.other_again.findings == history.other.findings != history.first.findings


def test_the_record_of_a_run_says_what_ran_it(bench: Bench, history: History) -> None:
    direct_run, flow_run = history.first.packet["run"], history.again.packet["run"]
    assert (direct_run["engine"], direct_run["flow_run_id"], direct_run["flow_run_url"]) == ("direct", "", "")
    assert (flow_run["engine"], flow_run["flow_run_id"]) == ("prefect", history.again.flow_run)
    assert flow_run["flow_run_url"] == f"{bench.server.ui_url}/runs/flow-run/{history.again.flow_run}"
    assert flow_run["cwd"] == direct_run["cwd"]


def test_the_first_flow_after_a_direct_run_shows_every_stage_as_cached(bench: Bench, history: History) -> None:
    assert set(bench.states(history.again).values()) == {"Cached"}
    assert set(bench.states(history.fresh).values()) == {"Completed"}


def test_another_question_finds_the_zone_and_the_inventory(bench: Bench, history: History) -> None:
    states = bench.states(history.other)
    assert (states["orient"], states["scout"]) == ("Cached", "Cached")
    assert (states["intake"], states["basket"], states["packet"]) == ("Completed", "Completed", "Completed")


def test_a_direct_run_finds_what_a_flow_made(history: History) -> None:
    assert {stage["cached"] for stage in history.other_again.packet["run"]["stages"]} == {True}


@pytest.mark.parametrize("which", ["again", "fresh"])
def test_the_edges_are_those_of_the_pipeline(bench: Bench, history: History, which: str) -> None:
    tasks = bench.tasks(getattr(history, which))
    assert [task.name for task in tasks if task.guessed] == []
    edges = {task.name: task.inputs for task in tasks}
    probes = {task.name for task in tasks if task.stage == "probe"}
    judges = {task.name for task in tasks if task.stage == "judge"}
    assert edges["intake"] == edges["orient"] == edges["scout"] == frozenset()
    assert edges["basket"] == {"intake"}
    assert edges["cost"] == {"basket"}
    assert edges["survey"] == {"intake", "orient", "basket", "cost"}
    assert edges["plan"] == {"intake", "orient", "survey", "cost"}
    assert len(probes) > 1
    for name in probes:
        assert "plan" in edges[name]
        assert edges[name] <= {"plan"} | judges
    for name in judges:
        assert {"intake", "plan"} < edges[name] <= {"intake", "plan"} | probes
    assert edges["hydrate"] == {"intake", "orient", "plan"} | probes
    assert edges["packet"] == {"intake", "orient", "scout", "survey", "plan", "hydrate"} | probes


def test_what_is_damaged_is_made_again(bench: Bench) -> None:
    steps = [step for how in DAMAGES for step in (damage(how), prefect(INTAKE))]
    whole, *mended, after = bench.run(prefect(INTAKE), *steps, prefect(INTAKE))
    for how, ran in zip(DAMAGES, mended, strict=True):
        assert ran.findings == whole.findings, how
        assert "Completed" in {task.state for task in bench.tasks(ran)}, how
    assert after.findings == whole.findings
    assert set(bench.states(after).values()) == {"Cached"}


def test_a_flow_run_can_be_read_in_the_ui(bench: Bench, history: History) -> None:
    ran = history.fresh
    told = bench.flow_run(ran.flow_run)
    assert told["name"] == "tides: Change how predict_tide reads the TideTable"
    assert {"rtch", "code_path", "normal", "tides"} <= set(told["tags"])
    artifacts = bench.artifacts(ran.flow_run)
    assert set(artifacts) == {"markdown", "table"}
    assert "def predict_tide(harbour, hour):" in artifacts["markdown"]["data"]
    assert LURE not in artifacts["markdown"]["data"].replace("\n" + LURE, "")
    assert len(json.loads(artifacts["table"]["data"])) == len(ran.packet["selected_surfaces"])
    logs = bench.ask("logs/filter", {"logs": {"flow_run_id": {"any_": [ran.flow_run]}}})
    assert any("\nscout: computed in" in line["message"] for line in logs)
