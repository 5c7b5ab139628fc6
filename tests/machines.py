"""What runs on and between hosts: PostgreSQL on loopback, and a Prefect server on it that all of them reach."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driving import Packet, Rtch
from hosts import LOOPBACK, Host, free_port, listens, network, running, wait_until

FINAL = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


def postgres_program(name: str) -> str:
    """Return a server program's path; PostgreSQL that is not installed is a failure, not a skip."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    found = str(places[0]) if places else shutil.which(name)
    assert found, f"{name} is missing: run tests/services/install.sh"
    return found


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


@contextlib.contextmanager
def running_database() -> Iterator[Database]:
    """Keep a PostgreSQL running."""
    user = "postgres" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="rtch-pg-") as name:
        folder = Path(name)
        if user:
            shutil.chown(folder, user)
        made = Database(folder, free_port(), user)
        made.call("initdb", "-D", str(folder / "data"), "-U", "prefect", "--auth=trust", "-E", "UTF8", "--no-sync")
        argv = [postgres_program("postgres"), "-D", str(folder / "data"), "-p", str(made.port), "-k", str(folder)]
        argv += ["-c", f"listen_addresses={LOOPBACK}", "-c", "fsync=off"]
        log = Path(tempfile.mkdtemp(prefix="rtch-pg-log-")) / "postgres.log"
        with running(argv, {"PATH": os.defpath, "LC_ALL": "C"}, log, user) as process:
            wait_until(lambda: listens(LOOPBACK, made.port), process, log)
            made.ask("create database prefect", "postgres")
            made.ask("create extension if not exists pg_trgm")
            yield made
        shutil.rmtree(log.parent)


@dataclass(frozen=True, slots=True)
class Api:
    """A Prefect server, asked from this machine."""

    url: str

    def ask(self, path: str, body: object | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def tasks(self, run: str, least: int) -> list[dict[str, Any]]:
        """Return the task runs of a flow run, once the server has been told the last state of each."""
        give_up = time.monotonic() + 60
        while True:
            found: list[dict[str, Any]] = self.ask(
                "task_runs/filter", {"flow_runs": {"id": {"any_": [run]}}, "limit": 200}
            )
            if len(found) >= least and {one["state_type"] for one in found} <= FINAL:
                return found
            assert time.monotonic() < give_up, found
            time.sleep(0.3)

    def states(self, packet: Packet) -> set[str]:
        """Return the states of the task runs that made a packet."""
        return {one["state_name"] for one in self._of(packet)}

    def edges(self, packet: Packet) -> dict[str, set[str]]:
        """Return what each task run that made a packet followed from, by name."""
        tasks = self._of(packet)
        names = {one["id"]: one["name"] for one in tasks}
        return {
            one["name"]: {names[each["id"]] for given in one["task_inputs"].values() for each in given} for one in tasks
        }

    def _of(self, packet: Packet) -> list[dict[str, Any]]:
        return self.tasks(packet["run"]["flow_run_id"], len(packet["run"]["stages"]))


@dataclass(frozen=True, slots=True)
class Machines:
    """Two hosts, who asks them, a folder that all share, and a Prefect server that all reach."""

    folder: Path
    hosts: list[Host]
    client: Host
    api: Api
    database: Database

    def asking(self, home: Path, **environment: str) -> Rtch:
        """Return the client's rtch with a home of its own, which sends its runs to the server."""
        home.mkdir(exist_ok=True)
        return Rtch(home, {"PREFECT_API_URL": self.api.url} | environment, (str(self.client.bin / "rtch"),))

    @property
    def separate(self) -> bool:
        """Whether the hosts have networks and files of their own."""
        return bool(self.hosts[0].prefix)


@contextlib.contextmanager
def running_machines(database: Database, folder: Path) -> Iterator[Machines]:
    """Keep two hosts below a folder, and a Prefect server on a database that they reach."""
    with network(folder, ["left", "right"]) as (address, hosts):
        port = str(free_port(address))
        url = f"http://{address}:{port}/api"
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder),
            "PREFECT_HOME": str(folder / "server"),
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": database.url,
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
            "PYTHONSAFEPATH": "1",
        }
        argv = [sys.executable, "-P", "-m", "prefect", "server", "start", "--host", address, "--port", port]

        def answers() -> bool:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
                return bool(answer.read() == b"true")
            return False

        with running(argv, env, folder / "server.log") as process:
            wait_until(answers, process, folder / "server.log")
            yield Machines(folder, hosts[:-1], hosts[-1], Api(url), database)
