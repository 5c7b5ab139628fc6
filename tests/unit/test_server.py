"""The supervisor, with a stand-in for Prefect that answers within a blink."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rtch import daemon, server
from rtch.errors import ArtifactError, ToolError

STAND_IN = r"""
import json, os, signal, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
port, mode = int(sys.argv[1]), sys.argv[2]
if mode == "die":
    print("first line"); print("it broke"); sys.exit(3)
if mode == "mute":
    time.sleep(60)
if mode == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
home = "elsewhere" if mode == "impostor" else os.environ["PREFECT_HOME"]
class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"true" if self.path == "/api/health" else json.dumps({"home": home}).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
HTTPServer.allow_reuse_address = True
HTTPServer(("127.0.0.1", port), Answer).serve_forever()
"""


def stand_in(mode: str) -> Callable[[int], list[str]]:
    return lambda port: [sys.executable, "-c", STAND_IN, str(port), mode]


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own, ports of its own, and nothing left running."""
    monkeypatch.setenv("RTCH_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr(server, "FIRST_PORT", unused_port())
    monkeypatch.setattr(server, "PORTS_TRIED", 5)
    monkeypatch.setattr(server, "command", stand_in("well"))
    yield tmp_path
    server.down()


def record(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "server.json").read_bytes())
    return found


def wait_until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    give_up = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def runs(pid: int) -> bool:
    return daemon.process_start(pid) is not None


def test_up_starts_a_server_that_current_finds_and_down_ends(place: Path) -> None:
    assert server.current() is None
    found = server.up(20)
    assert server.answers(found)
    assert server.current() == found
    assert found.home == str(place / "server")
    assert found.api_url == f"http://127.0.0.1:{found.port}/api"
    assert record(place) == found.model_dump(mode="json")
    assert server.down() is True
    assert not runs(found.pid)
    assert server.current() is None
    assert not (place / "server.json").exists()
    assert server.down() is False


def test_the_record_and_the_log_are_the_users_alone(place: Path) -> None:
    server.up(20)
    assert (place / "server.json").stat().st_mode & 0o077 == 0
    assert (place / "server" / "server.log").stat().st_mode & 0o077 == 0


def test_up_again_finds_the_same_server(place: Path) -> None:
    assert server.bring_up(20)[1] is True
    first = server.current()
    assert server.bring_up(20) == (first, False)


def test_of_many_ups_at_once_one_starts(place: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: server.bring_up(30), range(6)))
    assert len({each.pid for each, _ in found}) == 1
    assert sorted(started for _, started in found) == [False] * 5 + [True]


def test_after_a_kill_up_starts_another(place: Path) -> None:
    first = server.up(20)
    os.killpg(first.pid, signal.SIGKILL)
    wait_until(lambda: not runs(first.pid))
    assert server.current() is None
    second = server.up(20)
    assert second.pid != first.pid
    assert server.answers(second)


def test_a_number_that_is_another_process_now_is_left_alone(place: Path) -> None:
    bystander = subprocess.Popen(["/bin/sleep", "30"], start_new_session=True)
    try:
        first = server.up(20)
        server.down()
        stolen = first.model_dump(mode="json") | {"pid": bystander.pid, "started": "1"}
        (place / "server.json").write_text(json.dumps(stolen))
        assert server.current() is None
        assert server.down() is False
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_child_that_dies_shows_the_end_of_its_log(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "command", stand_in("die"))
    with pytest.raises(ToolError) as caught:
        server.up(20)
    assert caught.value.stderr == "first line\nit broke"
    assert str(caught.value) == (
        f"the Prefect server ended with code 3 while starting, its last line: it broke; read {place}/server/server.log"
    )
    assert not (place / "server.json").exists()


def test_a_child_that_never_answers_is_ended_at_the_limit(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[server.Server] = []
    monkeypatch.setattr(server, "command", stand_in("mute"))
    monkeypatch.setattr(server, "_record", started.append)
    with pytest.raises(ToolError) as caught:
        server.up(0.5)
    assert caught.value.timed_out
    assert len(started) == 1
    assert not runs(started[0].pid)


def test_a_server_that_ignores_the_signal_is_killed_after_the_grace(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "command", stand_in("deaf"))
    monkeypatch.setattr(daemon, "STOP_GRACE_S", 0.3)
    found = server.up(20)
    begun = time.monotonic()
    daemon.end_group(found.pid, found.started, 0.3)
    assert 0.25 < time.monotonic() - begun < 5
    assert not runs(found.pid)


def test_a_taken_port_is_passed_over(place: Path) -> None:
    with socket.create_server(("127.0.0.1", server.FIRST_PORT)):
        assert server.up(20).port > server.FIRST_PORT


def test_another_server_that_answers_on_the_port_is_not_taken_for_ours(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports: list[int] = []

    def first_an_impostor(port: int) -> list[str]:
        ports.append(port)
        return stand_in("impostor" if len(ports) == 1 else "well")(port)

    monkeypatch.setattr(server, "command", first_an_impostor)
    assert server.up(20).port == ports[1] != ports[0]


def test_no_port_left_is_an_error_that_says_so(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PORTS_TRIED", 1)
    with (
        socket.create_server(("127.0.0.1", server.FIRST_PORT)),
        pytest.raises(ToolError, match=rf"^no port from {server.FIRST_PORT} to {server.FIRST_PORT} is free"),
    ):
        server.up(20)


def test_down_ends_a_server_that_is_still_starting(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "command", stand_in("mute"))
    failed: list[str] = []

    def start() -> None:
        try:
            server.up(30)
        except ToolError as error:
            failed.append(str(error))

    waiting = threading.Thread(target=start)
    waiting.start()
    wait_until(lambda: server.current() is not None)
    assert server.down() is True
    waiting.join(10)
    assert len(failed) == 1
    assert "while starting" in failed[0]


def test_a_record_that_is_no_record_counts_for_nothing(place: Path) -> None:
    (place / "server.json").write_text("{}")
    assert server.current() is None
    (place / "server.json").unlink()
    (place / "server.json").mkdir()
    with pytest.raises(ArtifactError):
        server.current()
    (place / "server.json").rmdir()


def test_ensure_takes_the_configured_server_and_starts_none(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://elsewhere:4200/api/")
    found, started = server.ensure()
    assert (found.api_url, found.ui_url, found.ours, started) == (
        "http://elsewhere:4200/api",
        "http://elsewhere:4200",
        False,
        False,
    )
    assert server.current() is None


def test_ensure_starts_one_and_says_so(place: Path) -> None:
    found, started = server.ensure(20)
    assert started
    assert server.ensure(20) == (found, False)


def test_the_child_inherits_no_prefect_setting() -> None:
    inherited = {
        "PATH": "/bin",
        "PREFECT_API_KEY": "x",
        "prefect_home": "y",
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": "z",
    }
    made = server.server_environment(inherited, 4300, Path("/h"))
    assert made == {
        "PATH": "/bin",
        "PREFECT_HOME": "/h",
        "PREFECT_API_URL": "http://127.0.0.1:4300/api",
        "PREFECT_UI_API_URL": "http://127.0.0.1:4300/api",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "DO_NOT_TRACK": "1",
        "PYTHONSAFEPATH": "1",
    }


INTERRUPTED = """
import sys
sys.path.insert(0, sys.argv[1])
import test_server
from rtch import server
server.FIRST_PORT = int(sys.argv[2])
server.command = test_server.stand_in("mute")
server.up(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_no_child_is_left_when_a_signal_ends_the_start(place: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(Path(__file__).parent), str(unused_port())], stderr=subprocess.DEVNULL
    ) as starting:
        wait_until((place / "server.json").exists, 20)
        child = record(place)["pid"]
        assert runs(child)
        starting.send_signal(number)
        assert starting.wait(20) == -number
    assert not runs(child)
    assert not (place / "server.json").exists()


def test_a_server_survives_the_death_of_the_one_that_was_starting_it(place: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.replace("mute", "well"), str(Path(__file__).parent), str(unused_port())]
    ) as starting:
        assert starting.wait(30) == 0
    found = server.current()
    assert found is not None
    assert server.answers(found)


def test_a_process_is_named_alike_by_proc_and_by_itself() -> None:
    own = daemon.process_start(os.getpid())
    assert own is not None
    assert own == daemon.process_start(os.getpid())


def test_a_zombie_is_not_alive() -> None:
    child = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert daemon.process_start(child.pid) is None
    if Path("/bin/ps").exists():
        assert daemon.start_from_ps(child.pid) is None
    child.wait()


@pytest.mark.skipif(not Path("/bin/ps").exists(), reason="ps is not installed")
def test_ps_tells_the_start_of_a_process_and_the_absence_of_one() -> None:
    assert daemon.start_from_ps(os.getpid()) == daemon.start_from_ps(os.getpid()) != ""
    assert daemon.start_from_ps(2**22 + 5) is None


def test_a_missing_ps_is_not_a_missing_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*args: object, **kwargs: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", absent)
    with pytest.raises(ToolError):
        daemon.start_from_ps(os.getpid())


def test_supervisor_does_not_load_prefect() -> None:
    code = "import rtch.server, rtch.cli.server, sys; print([m for m in sys.modules if m.startswith('prefect')])"
    ran = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_no_setting_makes_an_idle_server_spin() -> None:
    """The recorder sleeps for the whole seconds of its interval: at 0 it never sleeps."""
    name = "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL"
    assert int(float(server.SERVER_SETTINGS[name])) >= 1
