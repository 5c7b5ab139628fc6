"""Run one command in a new process and tell how long it took and how much memory it held at most."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

BUDGET_S = 20.0
"""What one row may cost: once it is spent, the row has as few runs as it has."""
PAUSE_S = 0.004
TAIL_BYTES = 4096
MAXRSS_PER_KIB = 1024 if sys.platform == "darwin" else 1


@dataclass(frozen=True, slots=True)
class Run:
    """One run; ``rss_kib`` is the peak of the process or of a child that it waited for, whichever was larger."""

    wall_s: float
    rss_kib: int
    code: int
    out: bytes = b""
    complaint: str = ""
    """The last line on standard error of a run that failed."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Several runs of one thing."""

    runs: tuple[Run, ...]

    @property
    def seconds(self) -> tuple[float, ...]:
        return tuple(run.wall_s for run in self.runs)

    @property
    def median_s(self) -> float:
        return statistics.median(self.seconds)

    @property
    def rss_mib(self) -> float:
        return max(run.rss_kib for run in self.runs) / 1024

    @property
    def codes(self) -> tuple[int, ...]:
        return tuple(sorted({run.code for run in self.runs}))

    @property
    def complaint(self) -> str:
        return next((run.complaint for run in self.runs if run.complaint), "")


def run_once(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Run:
    """Start a command without a terminal or a shell and wait for it.

    This process must stay small: a child starts with the peak of the process that it was made from.
    """
    with tempfile.TemporaryFile() as complaints:
        started = time.perf_counter()
        with _started(argv, cwd, env, complaints) as process:
            out = process.stdout.read() if process.stdout else b""
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - started
            process.returncode = os.waitstatus_to_exitcode(status)
        return Run(
            wall, usage.ru_maxrss // MAXRSS_PER_KIB, process.returncode, out, _complaint(process.returncode, complaints)
        )


def sample(repeat: int, once: Callable[[int], Run], *, budget_s: float = BUDGET_S) -> Sample:
    """Run something ``repeat`` times, or as often as the budget lets start; it is told the number of the run."""
    runs = [once(0)]
    while len(runs) < repeat and sum(run.wall_s for run in runs) < budget_s:
        runs.append(once(len(runs)))
    return Sample(tuple(runs))


def run_summed(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Run | None:
    """Run a command and tell the most that it and all below it held at one time; None where ``/proc`` cannot tell.

    What several processes share is parted among them (PSS), also among those of others that run meanwhile. It
    is looked at every few milliseconds, so a shorter peak is missed, and the command takes longer than it
    should: its time means nothing.
    """
    if not Path("/proc/self/smaps_rollup").exists():
        return None
    peak = 0
    with tempfile.TemporaryFile() as complaints, _started(argv, cwd, env, complaints) as process:
        reader = threading.Thread(target=lambda: process.stdout and process.stdout.read())
        reader.start()
        while process.poll() is None:
            peak = max(peak, sum(map(_proportional_kib, _family(process.pid))))
            time.sleep(PAUSE_S)
        reader.join()
        return Run(0.0, peak, process.returncode, b"", _complaint(process.returncode, complaints))


def _started(argv: Sequence[str], cwd: Path, env: Mapping[str, str], complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints
    )


def _complaint(code: int, complaints: IO[bytes]) -> str:
    if not code:
        return ""
    complaints.seek(0, os.SEEK_END)
    complaints.seek(max(0, complaints.tell() - TAIL_BYTES))
    return complaints.read().decode(errors="replace").strip().rpartition("\n")[2]


def _family(pid: int) -> Iterator[int]:
    """Yield a process and all below it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # gone meanwhile
                # The second field is the name in brackets, and may hold anything.
                after_name = (entry / "stat").read_bytes().rpartition(b")")[2]
                children.setdefault(int(after_name.split()[1]), []).append(int(entry.name))
    waiting = [pid]
    while waiting:
        member = waiting.pop()
        yield member
        waiting += children.get(member, [])


def _proportional_kib(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_bytes().split(b"\n"):
            if line.startswith(b"Pss:"):
                return int(line.split()[1])
    return 0
