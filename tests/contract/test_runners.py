"""Task runners by name: the packet, the edges and the states are the same with each."""

from __future__ import annotations

import importlib.util
import pickle
import socket
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from driving import Ask, Rtch, plant, same_part
from machines import Api

from rtch.errors import ArtifactError, Dangling, IntakeError, RtchError, ToolError
from rtch.jobs import Group, Job, Outcome, execute
from rtch.keys import key_parts
from rtch.limits import ScoutLimits
from rtch.models.vocab import StageName
from rtch.refs import Ref
from rtch.runner_names import runner_named
from rtch.store import MemoryStore
from rtch.trees import TreeRef

if TYPE_CHECKING:
    from rtch.server import Server

ADDRESS = "tcp://127.0.0.1:8786"
WRONG = {
    ("thread", ""): (IntakeError, "there is no task runner 'thread'; did you mean threads?"),
    ("ray", ""): (
        IntakeError,
        "there is no task runner 'ray'; known are threads, processes, dask, dask_at, or tcp://HOST:8786",
    ),
    ("dask_at", ""): (
        IntakeError,
        "dask_at is asked for without a scheduler's address; write tcp://HOST:8786 in its place",
    ),
    ("threads", ADDRESS): (
        IntakeError,
        f"the task runner threads takes no address, and {ADDRESS} is given; leave it out",
    ),
}


@pytest.mark.parametrize(("name", "address"), WRONG)
def test_a_wrong_runner_is_told_with_what_is_right(name: str, address: str) -> None:
    kind, message = WRONG[name, address]
    with pytest.raises(RtchError) as raised:
        runner_named(name, address)
    assert (type(raised.value), str(raised.value)) == (kind, message)


def test_a_package_that_is_missing_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ToolError) as raised:
        runner_named("dask")
    assert str(raised.value) == "the task runner dask needs prefect-dask; pip install 'rtch[dask]'"


def test_an_address_is_a_runner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: "there")
    assert runner_named(ADDRESS)[:2] == runner_named("dask_at", ADDRESS)[:2] == ("dask_at", ADDRESS)
    assert runner_named().name == "threads"


def test_a_wrong_runner_starts_no_server(tmp_path: Path) -> None:
    ran = Rtch(tmp_path).run("run", "how-stages-are-cached", "--root", str(tmp_path), "--runner", "thread")
    assert (ran.code, ran.out) == (2, "")
    assert "there is no task runner 'thread'; did you mean threads?" in ran.err
    assert not (tmp_path / "rtch" / "server.json").exists()


@pytest.mark.prefect
def test_processes_give_the_packet_the_edges_and_the_states_of_threads(prefect_server: Server, tmp_path: Path) -> None:
    root = plant(tmp_path / "zone", {
        "a.py": "def harpoon():\n    pass\n", "b.py": "from a import harpoon\n\n\ndef lance():\n    harpoon()\n",
    })  # fmt: skip
    api = Api(prefect_server.api_url)
    ask = Ask("Where do harpoon and lance meet", ["harpoon", "lance"])
    rtch = Rtch(plant(tmp_path / "home", {}), {"PREFECT_API_URL": api.url})
    direct = rtch.hydrate(root, ask, "--no-cache")
    processes, again, threads = (
        rtch.with_environment(RTCH_RUNNER=name).hydrate(root, ask, "--engine", "prefect")
        for name in ("processes", "processes", "threads")
    )
    assert same_part(processes) == same_part(again) == same_part(threads) == same_part(direct)
    assert [api.states(packet) for packet in (processes, again)] == [{"Completed"}, {"Cached"}]
    assert api.edges(processes) == api.edges(again) == api.edges(threads)


def test_a_worker_of_another_version_makes_nothing() -> None:
    store = MemoryStore()
    parts = key_parts(StageName.SCOUT, "another", [], None)
    tree = TreeRef("/nowhere", "state")
    job = Job(
        parts=parts, kind="Inventory", inputs=(), limits=ScoutLimits(max_directories=1), tree=tree,
        store=store.folder, refresh=False, label="scout",
    )  # fmt: skip
    with pytest.raises(ArtifactError) as raised:
        execute(job)
    assert str(raised.value) == (
        f"{socket.gethostname()} has not the rtch and Python of the process that asked for scout; "
        "give every host the same versions, and start its workers again"
    )
    assert store.stats().stages == 0


def test_what_goes_wrong_with_a_runner_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    from rtch.flows.runners import carried_by  # noqa: PLC0415  it brings Prefect along

    with pytest.raises(ToolError) as raised, carried_by("threads", 1):
        raise BrokenProcessPool("gone")
    assert str(raised.value) == (
        "a process that carried a task was killed: gone; run it again: what was made is in the store"
    )
    with pytest.raises(OSError, match=r"^a disk$"), carried_by("threads", 1):
        raise OSError("a disk")
    with carried_by("", 1) as own:
        assert own is None


def test_what_travels_to_a_process_can_be_pickled() -> None:
    group: Group[Any] = Group([Ref("Note", "1" * 64), Ref("Note", "2" * 64, b"{}")])
    for error in (Dangling("1" * 64), ToolError("one", argv=["rg"], stderr="two", hint="three")):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), vars(again)) == (str(error), vars(error))
    assert pickle.loads(pickle.dumps(Outcome(group, True, 1.0))).ref.members == group.members  # noqa: FBT003
