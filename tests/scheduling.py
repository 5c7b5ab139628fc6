"""What tests of the drift and fleet flows share: a zone with a question, runs of its flows, and what the API tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rtch.server import Server

FINAL = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}
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
CODE = "class MooringPlan:\n    pass\n\n\ndef moor_boat(plan):\n    return plan\n"
EDITED = CODE.replace("(plan)", "(plan, berth)")

STEPS = """
import json, sys
from pathlib import Path
from rtch.drift.investigation import Wishes
from rtch.entry import Options
from rtch.flows.launch import drift_as_flow, fleet_as_flow

asked = json.load(sys.stdin)
said = []
if "fleet" in asked:
    report = fleet_as_flow(Path(asked["fleet"]), say=said.append)
else:
    wishes = Wishes(accept=asked.get("accept", ""), by="ada")
    report = drift_as_flow(asked["saved"], Options(), wishes, root=Path(asked["root"]), say=said.append)
print(json.dumps({"report": report.model_dump(mode="json"), "flow_run": said[-1].rpartition("/")[2]}))
"""


@dataclass(frozen=True, slots=True)
class Harbour:
    """A folder with zones, a home of its own for rtch, and the session's Prefect server."""

    folder: Path
    server: Server

    def zone(self, name: str) -> Path:
        """Make a zone."""
        root = self.folder / name
        root.mkdir()
        (root / "mooring.py").write_text(CODE)
        return root

    def save(self, name: str) -> str:
        """Save the question under a name."""
        place = self.folder / "home" / "intakes" / f"{name}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(INTAKE))
        return name

    def env(self) -> dict[str, str]:
        """Return the environment of a user whose runs go to the server."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
        return kept | {"RTCH_HOME": str(self.folder / "home"), "PREFECT_API_URL": self.server.api_url}

    def run(self, **asked: Any) -> tuple[dict[str, Any], str]:
        """Run a flow in a process of its own; return its report and the flow run's id."""
        ran = subprocess.run(
            [sys.executable, "-P", "-c", STEPS],
            input=json.dumps(asked),
            cwd=self.folder,
            env=self.env(),
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert ran.returncode == 0, ran.stderr
        told = json.loads(ran.stdout)
        return told["report"], told["flow_run"]

    def ask(self, path: str, body: object | None = None) -> Any:
        """Ask the API."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.server.api_url}/{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def flow_run(self, run: str) -> dict[str, Any]:
        """Return a flow run."""
        told: dict[str, Any] = self.ask(f"flow_runs/{run}")
        return told

    def artifacts(self, run: str) -> dict[str, dict[str, Any]]:
        """Return a flow run's artifacts by key."""
        found = self.ask("artifacts/filter", {"flow_runs": {"id": {"any_": [run]}}})
        return {one["key"]: one for one in found}

    def events(self, run: str, least: int) -> list[dict[str, Any]]:
        """Return the drift events of a flow run, oldest first, once there are enough of them."""
        wanted = {"event": {"prefix": ["rtch.drift."]}, "related": {"id": [f"prefect.flow-run.{run}"]}, "order": "ASC"}
        return self.until(lambda: self.ask("events/filter", {"filter": wanted})["events"], least)

    def tasks(self, run: str, least: int) -> dict[str, str]:
        """Return the state of each task run by name, once the API has been told of enough of them."""

        def final() -> list[dict[str, Any]]:
            found = self.ask("task_runs/filter", {"flow_runs": {"id": {"any_": [run]}}, "limit": 200})
            return [one for one in found if one["state_type"] in FINAL]

        return {one["name"]: one["state_name"] for one in self.until(final, least)}

    @staticmethod
    def until(look: Callable[[], list[Any]], least: int = 1, seconds: float = 30) -> list[Any]:
        """Look until there is enough to see: the server is told in lots."""
        give_up = time.monotonic() + seconds
        while len(found := look()) < least:
            assert time.monotonic() < give_up, found
            time.sleep(0.3)
        return found
