"""The clock itself: a cron tick that runs a drift flow, automations that fire by it, and a signal that ends it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from scheduling import EDITED, RTCH, Harbour

if TYPE_CHECKING:
    from rtch.server import Server

pytestmark = pytest.mark.services
AUTOMATIONS = Path(__file__).parents[2] / "config" / "automations"
DEPLOYMENT = (
    "name: minutely\nflow: rtch.flows.drift.drift\nparameters: {saved: [mooring], options: {root: quay}}\n"
    'cron: "* * * * *"\ntimezone: Europe/Vienna\n'
)


def ticked(harbour: Harbour) -> list[dict[str, Any]]:
    """Return the runs that the clock started and that are over, newest first."""
    wanted = {"deployments": {"name": {"any_": ["minutely"]}}, "flow_runs": {"tags": {"all_": ["auto-scheduled"]}}}
    found = harbour.ask("flow_runs/filter", wanted | {"sort": "START_TIME_DESC"})
    return [one for one in found if one["state_type"] in {"COMPLETED", "FAILED", "CRASHED"}]


def fired(harbour: Harbour, name: str) -> list[dict[str, Any]]:
    """Return the events of an automation of this name that was triggered by the drift of this harbour's zone."""
    found = harbour.ask("events/filter", {"filter": {"event": {"name": ["prefect.automation.triggered"]}}})["events"]
    return [one for one in found if one["resource"]["prefect.resource.name"] == name]


def test_the_clock_runs_a_drift_flow_and_automations_fire(tmp_path: Path, prefect_server: Server) -> None:
    harbour = Harbour(tmp_path, prefect_server)
    root, saved = harbour.zone("quay"), harbour.save("mooring")
    for name in ("prefect", "tasks", "flows", "httpx"):
        (root / f"{name}.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w').close()\n")
    harbour.run(saved=[saved], root=str(root))
    (root / "mooring.py").write_text(EDITED)
    (tmp_path / "minutely.yaml").write_text(DEPLOYMENT)
    subprocess.run([RTCH, "serve", "--automations"], env=harbour.env(), cwd=root, check=True, timeout=120)
    # As the one that comes with rtch, with the least that a proactive trigger can wait.
    missed = yaml.safe_load((AUTOMATIONS / "drift-missed.yaml").read_text())
    missed["name"], missed["trigger"]["within"] = "missed soon", 10
    harbour.ask("automations/", missed)

    served = subprocess.Popen(
        [RTCH, "serve", "../minutely.yaml"],
        cwd=root,
        env=harbour.env(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        (run, *_) = harbour.until(lambda: ticked(harbour), seconds=120)
        assert (run["name"], run["state_type"], run["state_name"]) == ("quay: drift of mooring", "FAILED", "Drift")
        assert set(run["tags"]) == {"auto-scheduled", "rtch", "drift", "quay", "mooring"}
        assert run["expected_start_time"].split(".")[0].removesuffix("Z").endswith(":00"), "as the cron says"
        (event,) = harbour.events(run["id"], 1)
        assert event["event"] == "rtch.drift.detected"
        assert {one["prefect.resource.role"] for one in event["related"]} >= {"flow-run", "flow", "deployment"}

        drifted = harbour.until(lambda: fired(harbour, "rtch drift detected"))
        told = [one["payload"]["triggering_event"]["id"] for one in drifted]
        assert event["id"] in told
        absent = harbour.until(lambda: fired(harbour, "missed soon"), seconds=60)
        assert absent[0]["payload"]["triggering_labels"]["rtch.question"] == "mooring"
        logs = harbour.ask("logs/filter", {"logs": {"flow_run_id": {"any_": [run["id"]]}}})
        assert [one["message"] for one in logs if one["level"] > 20] == []

        served.terminate()
        _, err = served.communicate(timeout=60)
    finally:
        served.kill()
    assert served.returncode == 0
    assert err.split("\n")[0] == "rtch: serving drift/minutely (* * * * * Europe/Vienna)"
    assert err.split("\n")[-2] == "rtch: stopped; what falls due meanwhile is shown as Late"
    assert "Traceback" not in err
    assert not (tmp_path / "sprung").exists()

    # Nobody serves it now: what falls due is seen to be late, and is no success.
    late = {"deployments": {"name": {"any_": ["minutely"]}}, "flow_runs": {"state": {"name": {"any_": ["Late"]}}}}
    assert harbour.until(lambda: harbour.ask("flow_runs/filter", late), seconds=120)
    deployment = harbour.ask("deployments/name/drift/minutely")
    assert deployment["paused"] is False
