"""One question carried by several machines: Dask workers, and a work pool's worker; the packet is the direct one.

The Prefect server keeps its state in a real PostgreSQL.

The machines are those of ``hosts``: each with an installation and a home of its own, and no path to Python modules
in common. The zone and the shared store are at the same paths on all of them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from driving import Ask, Packet, hold_to_the_laws, plant, same_part
from hosts import Host, free_port, listens, running, wait_until
from machines import Database, Machines, running_database, running_machines

pytestmark = pytest.mark.services

ZONE = {
    "README.md": "# Whaling\n\nThe harpoon is the source of truth.\n",
    "harpoon.py": "def harpoon():\n    pass\n",
    "boat.py": "from harpoon import harpoon\n\n\ndef throw_lance():\n    harpoon()\n",
    "docs/lance.md": "# throw_lance\n\nA lance is no harpoon.\n",
    "config.yaml": "harpoon:\n  length: 3\n",
}
QUESTION = Ask("Where do harpoon and throw_lance meet", ["harpoon", "throw_lance"])
QUIET = ("--no-dashboard",)


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with running_database() as made:
        yield made


@pytest.fixture(scope="module")
def machines(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with running_machines(database, tmp_path_factory.mktemp("machines")) as made:
        yield made


@pytest.fixture(scope="module")
def zone(machines: Machines) -> Path:
    return plant(machines.folder / "zone", ZONE)


@pytest.fixture(scope="module")
def direct(zone: Path, machines: Machines) -> Packet:
    """The packet that this machine makes by itself."""
    packet = machines.asking(machines.client.folder / "home").hydrate(zone, QUESTION, "--no-cache")
    hold_to_the_laws(packet, zone)
    return packet


@pytest.fixture(scope="module")
def scheduler(machines: Machines) -> Iterator[str]:
    """Return the address of a Dask scheduler on one host, with a worker on each."""
    assert importlib.util.find_spec("prefect_dask"), "prefect-dask is missing: run tests/services/install.sh"
    left = machines.hosts[0]
    port = free_port()
    start = ["-P", "-m", "distributed.cli.dask_scheduler", "--host", left.address, "--port", str(port), *QUIET]
    with contextlib.ExitStack() as stack:
        log = machines.folder / "scheduler.log"
        process = stack.enter_context(running(left.argv("python", *start), left.env(), log))
        wait_until(lambda: listens(left.address, port), process, log)
        for host in machines.hosts:
            stack.enter_context(_dask_worker(machines, host, f"tcp://{left.address}:{port}"))
        yield f"tcp://{left.address}:{port}"


@contextlib.contextmanager
def _dask_worker(machines: Machines, host: Host, address: str) -> Iterator[None]:
    start = [
        "-P",
        "-m",
        "distributed.cli.dask_worker",
        address,
        "--host",
        host.address,
        "--nthreads",
        "1",
        "--no-nanny",
    ]
    log = machines.folder / f"worker-{host.folder.name}.log"
    env = host.env(PREFECT_API_URL=machines.api.url)
    with running(host.argv("python", *start, "--name", host.folder.name, *QUIET), env, log) as process:
        wait_until(lambda: "Registered to" in log.read_text(), process, log)
        yield


def test_a_flow_run_is_kept_in_postgres(machines: Machines, zone: Path, direct: Packet, tmp_path: Path) -> None:
    database = machines.database
    rtch = machines.asking(tmp_path)
    rtch.hydrate(zone, QUESTION)
    flow = rtch.hydrate(zone, QUESTION, "--engine", "prefect")
    assert same_part(flow) == same_part(direct)
    run_id = flow["run"]["flow_run_id"]
    assert database.ask(f"select state_type from flow_run where id = '{run_id}'") == "COMPLETED"
    expect_states(database, run_id, {"Cached"})
    again = rtch.hydrate(zone, QUESTION, "--engine", "prefect", "--refresh")
    assert same_part(again) == same_part(direct)
    expect_states(database, again["run"]["flow_run_id"], {"Completed"})
    assert int(database.ask("select count(*) from artifact where key is not null")) >= 2


def expect_states(database: Database, run_id: str, wanted: set[str]) -> None:
    """Wait until the recorder has written every task run's last state, which it does in batches."""
    sql = f"select distinct state_name from task_run where flow_run_id = '{run_id}'"
    deadline = time.monotonic() + 30
    while (found := set(database.ask(sql).split("\n"))) != wanted and time.monotonic() < deadline:
        time.sleep(0.5)
    assert found == wanted


def test_the_tasks_of_one_run_are_carried_by_two_machines(
    machines: Machines, zone: Path, direct: Packet, scheduler: str
) -> None:
    home = machines.client.folder / "sharing"
    rtch = machines.asking(home, RTCH_STORE=f"file://{machines.folder}/shared", RTCH_RUNNER=scheduler)
    flags = (*QUESTION.flags(), "--root", str(zone), "--format", "json", "--engine", "prefect")
    runs = [rtch.run("hydrate", *flags, timeout=180) for _ in range(2)]
    assert [(ran.code, ran.err if ran.code else "") for ran in runs] == [(0, "")] * 2
    first, again = (ran.packet for ran in runs)
    hold_to_the_laws(first, zone)
    assert same_part(first) == same_part(again) == same_part(direct)
    assert [machines.api.states(packet) for packet in (first, again)] == [{"Completed"}, {"Cached"}]
    on_threads = rtch.with_environment(RTCH_RUNNER="threads").hydrate(zone, QUESTION, "--engine", "prefect")
    assert machines.api.edges(first) == machines.api.edges(on_threads)
    # Whoever makes something takes a turn of its own machine.
    assert all([*(host.folder / "home/.cache/rtch/shared").glob("*")] for host in machines.hosts)


def test_machines_without_a_common_store_are_told_what_is_missing(
    machines: Machines, zone: Path, scheduler: str
) -> None:
    if not machines.separate:
        pytest.skip("no network namespaces here: each host sees the client's own store")
    rtch = machines.asking(machines.client.folder / "alone", RTCH_RUNNER=scheduler)
    ran = rtch.run("hydrate", *QUESTION.flags(), "--root", str(zone), "--engine", "prefect", timeout=120)
    assert ran.code == 6
    told = f"is missing or damaged in the store: the workers at {scheduler} do not share it; give every host one store"
    assert re.search(rf"rtch: artifact [0-9a-f]{{12}} {re.escape(told)}", ran.err)


def test_machines_without_a_common_zone_are_told_what_is_missing(machines: Machines, scheduler: str) -> None:
    if not machines.separate:
        pytest.skip("no network namespaces here: each host sees the client's files")
    root = plant(machines.client.folder / "zone", ZONE)
    shared = {"RTCH_STORE": f"file://{machines.folder}/shared", "RTCH_RUNNER": scheduler}
    rtch = machines.asking(machines.client.folder / "sharing", **shared)
    ran = rtch.run("hydrate", *QUESTION.flags(), "--root", str(root), "--engine", "prefect", timeout=120)
    assert ran.code == 3
    assert "run it again; all hosts need the zone in one shared folder" in ran.err


def test_a_worker_on_another_machine_picks_up_a_deployment(machines: Machines, zone: Path, direct: Packet) -> None:
    left, right = machines.hosts
    fields = {name: value for name, value in direct["intake"].items() if value not in (None, [])}
    deployment = {
        "name": "look",
        "flow": "rtch.flows.hydrate.hydrate",
        "parameters": {"intake": fields, "options": {"root": str(zone)}},
        "cron": "0 3 1 1 *",
    }
    (left.folder / "look.json").write_text(json.dumps(deployment))
    left.run("prefect", "work-pool", "create", "hosts", "--type", "process", PREFECT_API_URL=machines.api.url)
    left.run("rtch", "serve", str(left.folder / "look.json"), "--pool", "hosts", PREFECT_API_URL=machines.api.url)
    left.run("prefect", "deployment", "run", "hydrate/look", PREFECT_API_URL=machines.api.url)
    right.run("prefect", "worker", "start", "--pool", "hosts", "--run-once", PREFECT_API_URL=machines.api.url)

    wanted = {"deployments": {"name": {"any_": ["look"]}}, "flow_runs": {"state": {"type": {"any_": ["COMPLETED"]}}}}
    (run,) = machines.api.ask("flow_runs/filter", wanted)
    (artifact,) = machines.api.ask(
        "artifacts/filter",
        {"flow_runs": {"id": {"any_": [run["id"]]}}, "artifacts": {"type": {"any_": ["markdown"]}}},
    )
    packet_id = artifact["description"].removeprefix("Packet ")
    assert packet_id == direct["packet_id"]
    packet = json.loads(right.run("rtch", "show", packet_id, "--format", "json"))
    assert same_part(packet) == same_part(direct)
    assert packet["run"]["flow_run_id"] == run["id"]
    if machines.separate:
        assert not list((left.folder / "home").glob("**/packets/*"))
