"""A process that outlives the one that starts it: which one it is, and how to end it.

A number names a process only together with its start time, for numbers are used again. What the
process is for does not matter here; ``server`` says it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from rtch.errors import ToolError

STOP_GRACE_S = 15.0  # SIGTERM needs 0.2 s; a flush of recorded states may take longer
PAUSE_S = 0.05


def process_start(pid: int) -> str | None:
    """Return when a process started, as the system words it; None when it is gone or a zombie."""
    if Path("/proc/self/stat").exists():
        return start_from_proc(pid)
    return start_from_ps(pid)


def start_from_proc(pid: int) -> str | None:
    """Read field 22 of Linux' ``/proc/PID/stat``: clock ticks since the machine's start."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field is the name in brackets, and may hold blanks and brackets itself.
    fields = stat[stat.rindex(b")") + 2 :].split()
    state, started = fields[0], fields[19]
    return None if state in {b"Z", b"X"} else started.decode("ascii")


def start_from_ps(pid: int) -> str | None:
    """Ask ``ps`` where there is no ``/proc``, as on macOS; a second is the finest it tells.

    Raises:
        ToolError: ps is missing or did not answer, which is not the same as a process gone.
    """
    # Each heading in an option of its own: BSD's ps takes all after "=" for the first heading.
    argv = ["/bin/ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)]
    try:
        ran = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
            env={"LC_ALL": "C", "TZ": "UTC"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolError(f"ps could not be asked for the start time of process {pid}", argv=argv) from error
    state, _, started = ran.stdout.decode("ascii", "replace").strip().partition(" ")
    return None if not state or state.startswith("Z") else started.strip()


def end_group(pid: int, started: str, grace_s: float = STOP_GRACE_S) -> None:
    """End the process group that a session leader of ours leads.

    SIGTERM, a grace for the leader, then SIGKILL for whatever is left of the group. Returns when
    the leader is gone. The caller has checked that ``pid`` is still the process of ``started``.
    """
    _signal_group(pid, signal.SIGTERM)
    give_up = time.monotonic() + grace_s
    while process_start(pid) == started and time.monotonic() < give_up:
        time.sleep(PAUSE_S)
    _signal_group(pid, signal.SIGKILL)
    while process_start(pid) == started:
        time.sleep(PAUSE_S)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # a zombie when this very process started it


def end_child(child: subprocess.Popen[bytes], grace_s: float = STOP_GRACE_S) -> None:
    """End a child of this process, leader of its own group, and all of the group."""
    if child.poll() is None:
        _signal_group(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(grace_s)
    _signal_group(child.pid, signal.SIGKILL)
    child.wait()


def _signal_group(pid: int, number: int) -> None:
    # A group outlives its leader, so the number is not another's while anyone is left in it.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


@contextlib.contextmanager
def deferred_signals() -> Iterator[list[int]]:
    """Collect the signals that would end this process, so that no child is left unrecorded.

    Only the main thread may set handlers; elsewhere signals keep their effect.
    """
    caught: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield caught
        return
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    held = {number: handler for number, handler in previous.items() if handler not in (signal.SIG_IGN, None)}
    for number in held:
        signal.signal(number, lambda caught_number, _frame: caught.append(caught_number))
    try:
        yield caught
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which the system gives back however this process ends.

    Raises:
        BlockingIOError: another holds it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(fd)
