"""Run one command in a new process and tell how long it took and how much memory it held at most."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Run:
    """One run; ``rss_kib`` is the peak of the process or of a child that it waited for, whichever was larger."""

    wall_s: float
    rss_kib: int
    code: int
    out: bytes


@dataclass(frozen=True, slots=True)
class Sample:
    """Several runs of one thing."""

    runs: tuple[Run, ...]

    @property
    def median_s(self) -> float:
        return statistics.median(run.wall_s for run in self.runs)

    @property
    def range_s(self) -> tuple[float, float]:
        return min(run.wall_s for run in self.runs), max(run.wall_s for run in self.runs)

    @property
    def rss_mib(self) -> float:
        return max(run.rss_kib for run in self.runs) / 1024

    @property
    def codes(self) -> tuple[int, ...]:
        return tuple(sorted({run.code for run in self.runs}))


def run_once(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Run:
    """Start a command without a terminal or a shell and wait for it.

    This process must stay small: a child starts with the peak of the process that it was made from.
    """
    started = time.perf_counter()
    with subprocess.Popen(
        argv, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        out = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    return Run(wall, usage.ru_maxrss, process.returncode, out)


def sample(repeat: int, once: Callable[[int], Run]) -> Sample:
    """Run something ``repeat`` times; it is told the number of the run."""
    return Sample(tuple(once(number) for number in range(repeat)))
