"""Which packages a command of rtch loads, and how long that takes, by ``python -X importtime``."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from asking import RTCH, Bench, intake_file

LINE = re.compile(rb"import time: +(\d+) \| +\d+ \| *(\S+)")
HEAVIEST = 10
RUNS = 3


@dataclass(frozen=True, slots=True)
class Imports:
    """What one run loaded: milliseconds and modules by top-level package, children's time apart."""

    command: str
    own_ms: Mapping[str, float]
    modules: Mapping[str, int]

    @property
    def total_ms(self) -> float:
        """The milliseconds of all modules."""
        return sum(self.own_ms.values())

    @property
    def heaviest(self) -> list[tuple[str, float, int]]:
        """The heaviest packages: name, milliseconds, modules."""
        ranked = sorted(self.own_ms, key=lambda name: (-self.own_ms[name], name))
        return [(name, self.own_ms[name], self.modules[name]) for name in ranked[:HEAVIEST]]


def parsed(command: str, told: bytes) -> Imports:
    """Return what the interpreter told on its standard error."""
    own, modules = Counter[str](), Counter[str]()
    for microseconds, module in LINE.findall(told):
        package = module.decode().partition(".")[0]
        own[package] += int(microseconds)
        modules[package] += 1
    return Imports(command, {name: each / 1000 for name, each in own.items()}, modules)


def imports(bench: Bench) -> list[Imports]:
    """Return what four commands load, each in its fastest of a few runs."""
    check = ("intake", "check", str(intake_file(bench.scratch)))
    found = []
    with bench.home() as home:
        found.append(_fastest(bench, home, "rtch --version", ("--version",)))
        found.append(_fastest(bench, home, "rtch intake check FILE", check))
        bench.hydrate(home)
        found.append(_fastest(bench, home, "rtch hydrate, same intake again", bench.question()))
    found.append(_fastest(bench, None, "rtch hydrate, empty store", bench.question()))
    return found


def _fastest(bench: Bench, home: Path | None, command: str, arguments: Sequence[str]) -> Imports:
    runs = [parsed(command, _told(bench, home, arguments)) for _ in range(RUNS)]
    return min(runs, key=lambda each: each.total_ms)


def _told(bench: Bench, home: Path | None, arguments: Sequence[str]) -> bytes:
    if home is None:
        with bench.home() as empty:
            return _told(bench, empty, arguments)
    argv = [sys.executable, "-X", "importtime", RTCH, *arguments]
    return subprocess.run(
        argv, cwd=bench.tree.root, env=bench.environment(home), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, check=False,
    ).stderr  # fmt: skip
