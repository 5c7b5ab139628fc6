"""``rtch serve``: what it leaves on a server, and what it says where that cannot be."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scheduling import RTCH, Harbour

if TYPE_CHECKING:
    from rtch.server import Server

DEPLOYMENT = (
    'flow: rtch.flows.drift.drift\nparameters: {saved: [mooring]}\ncron: "0 3 * * sun"\n'
    "timezone: Europe/Vienna\nconcurrency_limit: 2\ncollision_strategy: enqueue\ntags: [quay]\ndescription: Sundays.\n"
)


@pytest.fixture
def server(prefect_server: Server) -> Server:
    return prefect_server


@pytest.fixture
def harbour(tmp_path: Path, server: Server) -> Harbour:
    harbour = Harbour(tmp_path, server)
    harbour.save("mooring")
    root = harbour.zone("quay")
    for name in ("prefect", "tasks", "flows", "httpx"):
        (root / f"{name}.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w').close()\n")
    return harbour


def written(harbour: Harbour, name: str) -> str:
    path = harbour.folder / f"{name}.yaml"
    path.write_text(f"name: {name}\n{DEPLOYMENT}")
    return str(path)


def serve(harbour: Harbour, *args: str, **environment: str) -> tuple[int, str, str]:
    ran = subprocess.run(
        [RTCH, "serve", *args],
        cwd=harbour.folder / "quay",
        env=harbour.env() | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return ran.returncode, ran.stdout, ran.stderr


def deployed(harbour: Harbour, name: str) -> dict[str, Any]:
    told: dict[str, Any] = harbour.ask(f"deployments/name/drift/{name}")
    return told


@pytest.mark.prefect
def test_a_deployment_is_left_on_a_pool_and_taken_off_it_by_whoever_serves_it(harbour: Harbour, server: Server) -> None:
    url, name = server.api_url, "sundays"
    path = written(harbour, name)
    said = f"there is no work pool 'quays' at {url}; make it with PREFECT_API_URL={url}"
    refused = f"rtch: {said} prefect work-pool create quays --type process\n"
    assert serve(harbour, path, "--pool", "quays", "--root", ".") == (2, "", refused)
    harbour.ask("work_pools/", {"name": "quays", "type": "process"})
    code, _, err = serve(harbour, path, "--pool", "quays", "--root", ".")
    assert (code, err.split("\n")[0]) == (0, "rtch: drift/sundays is on quays (0 3 * * sun Europe/Vienna)")
    told = deployed(harbour, name)
    assert (told["entrypoint"], told["work_pool_name"]) == ("rtch.flows.drift.drift", "quays")
    root = str(harbour.folder / "quay")
    assert told["parameters"] == {"saved": ["mooring"], "options": {"root": root}}
    assert [(one["schedule"]["cron"], one["schedule"]["timezone"]) for one in told["schedules"]] == [
        ("0 3 * * sun", "Europe/Vienna")
    ]
    assert (told["global_concurrency_limit"]["limit"], told["concurrency_options"]["collision_strategy"]) == (
        2,
        "ENQUEUE",
    )
    assert (told["tags"], told["description"]) == (["rtch", "quay"], "Sundays.")
    assert told["job_variables"] == {"env": {"PYTHONSAFEPATH": "1"}}

    served = subprocess.Popen(
        [RTCH, "serve", path], cwd=root, env=harbour.env(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        harbour.until(lambda: [1] * (deployed(harbour, name)["work_pool_name"] is None))
        time.sleep(1)  # its signal handlers come with its loop
        served.send_signal(signal.SIGINT)
        _, err = served.communicate(timeout=60)
    finally:
        served.kill()
    assert served.returncode == 0
    assert err == (
        "rtch: serving drift/sundays (0 3 * * sun Europe/Vienna)\n"
        f"rtch: see {server.ui_url}/deployments; Ctrl-C ends it\n"
        "rtch: stopped; what falls due meanwhile is shown as Late\n"
    )
    assert deployed(harbour, name)["paused"] is False
    assert not (harbour.folder / "sprung").exists()


@pytest.mark.prefect
def test_of_the_runs_that_were_missed_the_last_is_made_up_for(harbour: Harbour) -> None:
    path = harbour.folder / "missing.yaml"
    path.write_text(f"name: missing\n{DEPLOYMENT}".replace("0 3 * * sun", "@yearly"))
    harbour.ask("work_pools/", {"name": "nobody", "type": "process"})
    assert serve(harbour, str(path), "--pool", "nobody", "--root", ".")[0] == 0
    deployment = deployed(harbour, "missing")["id"]
    due = [f"2020-01-0{day}T03:00:00Z" for day in (1, 2, 3)]
    for when in due:
        state = {"type": "SCHEDULED", "state_details": {"scheduled_time": when}}
        harbour.ask(f"deployments/{deployment}/create_flow_run", {"state": state})

    def over() -> list[dict[str, Any]]:
        wanted = {"deployments": {"id": {"any_": [deployment]}}, "sort": "EXPECTED_START_TIME_ASC"}
        found = harbour.ask("flow_runs/filter", wanted)
        return [one for one in found if one["state_type"] in {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}]

    served = subprocess.Popen(
        [RTCH, "serve", str(path)], cwd=harbour.folder / "quay", env=harbour.env(), stderr=subprocess.PIPE, text=True
    )
    try:
        found = harbour.until(over, 3, seconds=60)
        served.send_signal(signal.SIGTERM)
        _, err = served.communicate(timeout=60)
    finally:
        served.kill()
    assert [(one["state_name"], one["state_type"]) for one in found] == [
        ("Missed", "CANCELLED"),
        ("Missed", "CANCELLED"),
        ("BaselineTaken", "COMPLETED"),
    ]
    assert err.startswith("rtch: drift/missing: 3 runs were missed, the last of them is made up for\n")
    assert served.returncode == 0


@pytest.mark.prefect
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("flow: rtch.flows.drift.nope", "rtch.flows.drift.nope of d cannot be imported: "),
        ("flow: rtch.flows.pages.code", "rtch.flows.pages.code of d is no flow"),
        (
            "flow: rtch.flows.drift.drift\nparameters: {boat: 1, saved: [mooring]}",
            "rtch.flows.drift.drift does not take",
        ),
        ("flow: rtch.flows.drift.drift\nparameters: {saved: [mooring], wishes: {fail_on: never}}", "rtch.flows.drift"),
    ],
)
def test_what_a_flow_does_not_take_is_said(harbour: Harbour, text: str, said: str) -> None:
    path = harbour.folder / "d.yaml"
    path.write_text(f'name: d\ncron: "@daily"\n{text}\n')
    code, out, err = serve(harbour, str(path))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"rtch: {said}")


@pytest.mark.prefect
def test_the_automations_are_made_once(harbour: Harbour) -> None:
    serve(harbour, "--automations")
    code, out, err = serve(harbour, "--automations")
    assert (code, out) == (0, "")
    assert "automation 'rtch drift detected' is there already\n" in err
    found = harbour.ask("automations/filter", {})
    names = sorted(one["name"] for one in found if one["name"].startswith("rtch "))
    assert names == ["rtch drift detected", "rtch drift missed"]
    missed = next(one for one in found if one["name"] == "rtch drift missed")
    assert missed["trigger"]["posture"] == "Proactive"
    assert "rtch.drift.failed" not in missed["trigger"]["expect"]


def test_an_api_that_does_not_answer_is_a_tool_that_failed(tmp_path: Path) -> None:
    folder = tmp_path / "zone"
    folder.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    env |= {"RTCH_HOME": str(tmp_path / "home"), "PREFECT_API_URL": "http://127.0.0.1:9/api"}
    ran = subprocess.run(
        [RTCH, "serve", "--automations"], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (5, "", 1)
    assert ran.stderr.startswith("rtch: the Prefect API at http://127.0.0.1:9/api did not take it: ")
