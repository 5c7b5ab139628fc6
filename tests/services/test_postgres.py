"""The hydrate flow on a Prefect server that keeps its state in a real PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from driving import Ask, Rtch, plant, same_part

pytestmark = pytest.mark.services

HARPOON = Ask("Where is harpoon defined", ["harpoon"])
START_S = 180.0


def postgres_program(name: str) -> str:
    """Return a server program's path; PostgreSQL that is not installed is a failure, not a skip."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    found = str(places[0]) if places else shutil.which(name)
    assert found, f"{name} is missing: run tests/services/install.sh"
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def running(
    argv: list[str], env: dict[str, str], log: Path, user: str | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Keep a program running, and end it and its children by the group that it leads."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            argv, env=env, cwd=log.parent, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            user=user, group=user, extra_groups=None if user is None else [],
        )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


def wait_until(answers: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        if answers():
            return
        time.sleep(0.2)
    pytest.fail(f"{process.args!r} did not answer: {log.read_text()[-2000:]}")


class Database:
    """A cluster of its own on loopback, owned by an ordinary user as PostgreSQL demands."""

    def __init__(self, folder: Path, port: int, user: str | None) -> None:
        self.folder, self.port, self.user = folder, port, user
        self.url = f"postgresql+asyncpg://prefect@127.0.0.1:{port}/prefect"

    def call(self, program: str, *arguments: str) -> str:
        done = subprocess.run(
            [postgres_program(program), *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False, timeout=120, user=self.user, group=self.user,
            extra_groups=None if self.user is None else [],
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, sql: str, database: str = "prefect") -> str:
        address = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "prefect", "-d", database]
        return self.call("psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", *address, "-c", sql).strip()

    def answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    user = "postgres" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="rtch-pg-") as name:
        folder = Path(name)
        if user:
            shutil.chown(folder, user)
        made = Database(folder, free_port(), user)
        made.call("initdb", "-D", str(folder / "data"), "-U", "prefect", "--auth=trust", "-E", "UTF8", "--no-sync")
        argv = [postgres_program("postgres"), "-D", str(folder / "data"), "-p", str(made.port), "-k", str(folder)]
        argv += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        log = Path(tempfile.mkdtemp(prefix="rtch-pg-log-")) / "postgres.log"
        with running(argv, {"PATH": os.defpath, "LC_ALL": "C"}, log, user) as process:
            wait_until(made.answers, process, log)
            made.ask("create database prefect", "postgres")
            made.ask("create extension if not exists pg_trgm")
            yield made
        shutil.rmtree(log.parent)


@pytest.fixture(scope="module")
def api_url(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("prefect-on-postgres")
    port = str(free_port())
    url = f"http://127.0.0.1:{port}/api"
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "PREFECT_HOME": str(folder / "home"),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": database.url,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PYTHONSAFEPATH": "1",
    }
    argv = [sys.executable, "-P", "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", port]

    def answers() -> bool:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
            return bool(answer.read() == b"true")
        return False

    with running(argv, env, folder / "server.log") as process:
        wait_until(answers, process, folder / "server.log")
        yield url


def test_a_flow_run_is_kept_in_postgres_and_gives_the_direct_packet(
    api_url: str, database: Database, tmp_path: Path
) -> None:
    root = plant(tmp_path / "zone", {"a.py": "def harpoon():\n    pass\n", "b.py": "from a import harpoon\n"})
    rtch = Rtch(plant(tmp_path / "home", {}), {"PREFECT_API_URL": api_url})
    direct = rtch.hydrate(root, HARPOON)
    flow = rtch.hydrate(root, HARPOON, "--engine", "prefect")
    assert same_part(flow) == same_part(direct)
    run_id = flow["run"]["flow_run_id"]
    assert database.ask(f"select state_type from flow_run where id = '{run_id}'") == "COMPLETED"
    expect_states(database, run_id, {"Cached"})
    again = rtch.hydrate(root, HARPOON, "--engine", "prefect", "--refresh")
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
