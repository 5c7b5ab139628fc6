"""The local Prefect server that rtch starts, finds again and stops.

Here: the child, its record ``server.json`` in rtch's data folder, and who may stop it. Not here:
anything that imports Prefect; the flows that use the server are in ``rtch.flows``.

Prefect's own ``--background`` is unfit: it returns before the server answers, its output goes
to pipes that nobody reads, a stale pid file refuses the next start, and its ``stop`` signals
whichever process owns the number by then.
"""

from __future__ import annotations

import contextlib
import http
import http.client
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from rtch import daemon, home
from rtch.errors import ArtifactError, ToolError
from rtch.models.base import Record

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
FIRST_PORT = 4200  # Prefect's own, so that bookmarks hold
PORTS_TRIED = 100
START_TIMEOUT_S = 120.0  # ten times a first start (9-13 s) on a busy two-core machine
PROBE_TIMEOUT_S = 1.0
PAUSE_S = 0.1
LOG_TAIL_LINES = 20
LOG_TAIL_BYTES = 65_536

SERVER_SETTINGS = {
    # The stock server writes each task state in a transaction of its own, and the next flow run
    # then waits 2 s for a lock: 15 of 20 flows with the stock values, none of 80 with these.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    # Whole seconds: the server rounds down, and at 0 an idle one takes all of a core.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "DO_NOT_TRACK": "1",
    # Prefect starts processes of its own; they must not import from their working folder either.
    "PYTHONSAFEPATH": "1",
}


class Server(Record):
    """One Prefect server: where it answers, and which process it is.

    ``started`` is the start time of the process as the system words it; with ``pid`` it names
    one process. A server that rtch did not start has pid 0.
    """

    pid: Annotated[int, Field(ge=0)]
    started: str
    port: Annotated[int, Field(ge=0, le=65_535)]
    api_url: str
    ui_url: str
    home: str

    @property
    def ours(self) -> bool:
        """Whether rtch started it and may stop it."""
        return self.pid > 0


class _InterruptedError(Exception):
    """A signal arrived while a start was waiting."""


class _PortTakenError(Exception):
    """Another server took the port between the look and the start."""


class _Watch:
    """The deadline of one ``up``, and the signals that arrived meanwhile."""

    __slots__ = ("caught", "deadline")

    def __init__(self, timeout_s: float, caught: list[int]) -> None:
        self.deadline = time.monotonic() + timeout_s
        self.caught = caught

    def pause(self, what: str) -> None:
        """Wait a moment, or raise when a signal has arrived or the time is over."""
        if self.caught:
            raise _InterruptedError
        if time.monotonic() >= self.deadline:
            raise ToolError(
                f"{what} within the time limit", stderr=log_tail(), timed_out=True, hint=f"read {_log_file()}"
            )
        time.sleep(PAUSE_S)


def up(timeout_s: float = START_TIMEOUT_S) -> Server:
    """Return the running server, started first when there is none.

    Of several calls at once one starts a server and the others wait for that same one. A signal
    that arrives meanwhile ends the child first and is then delivered.

    Raises:
        ToolError: the child ended, or nothing answered within ``timeout_s``.
    """
    return bring_up(timeout_s)[0]


def ensure(timeout_s: float = START_TIMEOUT_S) -> tuple[Server, bool]:
    """Return the server that runs go to, and whether it was started just now.

    ``PREFECT_API_URL`` in the environment wins: it is taken as it is, and never stopped.
    """
    configured = os.environ.get("PREFECT_API_URL", "").strip()
    return (foreign(configured), False) if configured else bring_up(timeout_s)


def current() -> Server | None:
    """Return the recorded server when that very process still runs; it may yet be starting."""
    server = _recorded()
    return server if server is not None and _alive(server) else None


def down() -> bool:
    """Stop the server that rtch started; False when there is none.

    A server that is still starting is stopped too, and the ``up`` that waits for it fails.
    """
    server = current()
    if server is None:
        return False
    daemon.end_group(server.pid, server.started)
    with contextlib.suppress(BlockingIOError), daemon.locked(_lock_file()):
        # A start in progress holds the lock, and writes its own record over this one.
        _forget(server)
    return True


def answers(server: Server, timeout_s: float = PROBE_TIMEOUT_S) -> bool:
    """Whether the server's health address says ``true``, and it is this server that says it."""
    return _health(server, timeout_s) is True


def foreign(api_url: str) -> Server:
    """Describe a server that someone else runs."""
    base = api_url.rstrip("/")
    ui_url = os.environ.get("PREFECT_UI_URL", "").strip() or base.removesuffix("/api")
    return Server(pid=0, started="", port=0, api_url=base, ui_url=ui_url, home="")


def log_tail(lines: int = LOG_TAIL_LINES) -> str:
    """Return the last lines that the server wrote."""
    try:
        with _log_file().open("rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - LOG_TAIL_BYTES))
            text = stream.read().decode("utf-8", "replace")
    except OSError as error:
        return f"{_log_file()}: {error.strerror}"
    return "\n".join(text.rstrip("\n").split("\n")[-lines:])


def command(port: int) -> list[str]:
    """Return the argument list of the child."""
    return [sys.executable, "-P", "-m", "rtch.flows.serving", HOST, str(port)]


def server_environment(inherited: Mapping[str, str], port: int, folder: Path) -> dict[str, str]:
    """Return the child's environment: the caller's without any Prefect setting, and ours."""
    kept = {name: value for name, value in inherited.items() if not name.upper().startswith("PREFECT_")}
    api_url = f"http://{HOST}:{port}/api"
    addresses = {"PREFECT_HOME": str(folder), "PREFECT_API_URL": api_url, "PREFECT_UI_API_URL": api_url}
    return kept | addresses | SERVER_SETTINGS


def bring_up(timeout_s: float = START_TIMEOUT_S) -> tuple[Server, bool]:
    """Return what ``up`` does, and whether the server was started just now."""
    found: tuple[Server, bool] | None = None
    with daemon.deferred_signals() as caught, contextlib.suppress(_InterruptedError):
        found = _find_or_start(_Watch(timeout_s, caught))
    if found is not None and not caught:
        return found
    if found is not None and found[1]:
        daemon.end_group(found[0].pid, found[0].started)
        _forget(found[0])
    signal.raise_signal(caught[0])
    # Reached when the caller's own handler returns: the start was given up all the same.
    raise ToolError(f"signal {caught[0]} ended the start of the Prefect server")


def _find_or_start(watch: _Watch) -> tuple[Server, bool]:
    with _start_lock(watch):
        server = current()
        if server is None:
            return _start(watch), True
        _wait_for_other(server, watch)
        return server, False


def _start(watch: _Watch) -> Server:
    for port in filter(_is_free, range(FIRST_PORT, FIRST_PORT + PORTS_TRIED)):
        child = _spawn(port)
        try:
            server = _describe(child, port)
            _record(server)
            _wait_for_child(server, child, watch)
        except BaseException as error:
            daemon.end_child(child)
            home.server_file().unlink(missing_ok=True)
            if isinstance(error, _PortTakenError):
                continue
            raise
        # The server outlives this process, so nobody waits for it through this object.
        child.returncode = 0
        return server
    raise ToolError(
        f"no port from {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1} is free on {HOST}",
        hint="stop what listens there, or set PREFECT_API_URL to a server that runs",
    )


def _spawn(port: int) -> subprocess.Popen[bytes]:
    folder = home.server_dir()
    try:
        fd = os.open(_log_file(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise ArtifactError(f"{_log_file()} cannot be written: {error.strerror}") from error
    try:
        return subprocess.Popen(
            command(port),
            cwd=folder,
            env=server_environment(os.environ, port, folder),
            stdin=subprocess.DEVNULL,
            stdout=fd,
            stderr=fd,
            start_new_session=True,  # the terminal's Ctrl-C is for rtch alone
        )
    finally:
        os.close(fd)


def _describe(child: subprocess.Popen[bytes], port: int) -> Server:
    return Server(
        pid=child.pid,
        started=daemon.process_start(child.pid) or "",
        port=port,
        api_url=f"http://{HOST}:{port}/api",
        ui_url=f"http://{HOST}:{port}",
        home=str(home.server_dir()),
    )


def _wait_for_child(server: Server, child: subprocess.Popen[bytes], watch: _Watch) -> None:
    while (healthy := _health(server, PROBE_TIMEOUT_S)) is not True:
        # Another rtch may have found the same port free in the seconds before it was bound.
        if healthy is False:
            raise _PortTakenError
        if child.poll() is not None:
            if not _is_free(server.port):
                raise _PortTakenError
            raise _ended_early(f"with code {child.returncode}")
        watch.pause(f"the Prefect server did not answer on port {server.port}")


def _wait_for_other(server: Server, watch: _Watch) -> None:
    while not answers(server):
        if not _alive(server):
            raise _ended_early(f"(pid {server.pid})")
        watch.pause(f"the Prefect server (pid {server.pid}) did not answer on port {server.port}")


def _ended_early(how: str) -> ToolError:
    tail = log_tail()
    last = tail.rstrip().rpartition("\n")[2].strip()
    return ToolError(
        f"the Prefect server ended {how} while starting, its last line: {last}",
        stderr=tail,
        hint=f"read {_log_file()}",
    )


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the server binds: a connection that lingers from the last one is no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # macOS lets the address be bound beside a listener on all addresses.
        probe.settimeout(PROBE_TIMEOUT_S)
        return probe.connect_ex((HOST, port)) != 0


def _health(server: Server, timeout_s: float) -> bool | None:
    """Return True when this server answers, False when another does, None when none does.

    Each server has a home of its own, and tells it.
    """
    if _get(server.port, "/api/health", timeout_s) != b"true":
        return None
    settings = _get(server.port, "/api/admin/settings", timeout_s)
    if settings is None:
        return None
    try:
        return bool(json.loads(settings)["home"] == server.home)
    except (ValueError, TypeError, KeyError):
        return False


def _get(port: int, path: str, timeout_s: float) -> bytes | None:
    connection = http.client.HTTPConnection(HOST, port, timeout=timeout_s)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return body if response.status == http.HTTPStatus.OK else None


@contextlib.contextmanager
def _start_lock(watch: _Watch) -> Iterator[None]:
    with contextlib.ExitStack() as held:
        while True:
            try:
                held.enter_context(daemon.locked(_lock_file()))
                break
            except BlockingIOError:
                watch.pause("another rtch did not finish starting the Prefect server")
        yield


def _lock_file() -> Path:
    return home.data_dir() / "server.lock"


def _log_file() -> Path:
    return home.server_dir() / "server.log"


def _recorded() -> Server | None:
    path = home.server_file()
    try:
        return Server.parse(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError:
        log.warning("%s is no record of a server and is left out of account", path)
        return None
    except OSError as error:
        raise ArtifactError(f"{path} cannot be read: {error.strerror}") from error


def _record(server: Server) -> None:
    path = home.server_file()
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(server.canonical() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ArtifactError(f"{path} cannot be written: {error.strerror}") from error


def _forget(server: Server) -> None:
    if _recorded() == server:
        home.server_file().unlink(missing_ok=True)


def _alive(server: Server) -> bool:
    return server.ours and daemon.process_start(server.pid) == server.started
