"""The rows of the Prefect engine, with a server that is up."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import ceilings
from asking import Bench
from measure import Run, Sample, run_once, sample
from verdicts import NO_LIMIT, Row, timed

WARM = Path(__file__).with_name("warm.py")


def prefect_rows(bench: Bench) -> Generator[Row, None, None]:
    """Yield the engine as a new process, then over direct in a warm one; the server is stopped in the end."""
    with bench.home() as home:
        try:
            up = bench.rtch(home, "up")
            if up.code:
                yield timed("rtch up", Sample((up,)))
                return
            bench.hydrate(home)
            fresh = sample(bench.repeat, lambda _: bench.hydrate(home, "--engine", "prefect"))
            yield timed("hydrate --engine prefect, new process", fresh)
            yield from _warm_rows(bench, home)
        finally:
            bench.rtch(home, "down")


def _warm_rows(bench: Bench, home: Path) -> Iterator[Row]:
    argv = [sys.executable, "-P", str(WARM), str(bench.tree.root), str(bench.repeat), bench.tree.seeds[0]]
    ran = run_once(argv, cwd=bench.scratch, env=bench.environment(home))
    if ran.code:
        yield timed("warm process", Sample((ran,)))
        return
    for name, seconds in json.loads(ran.out).items():
        taken = Sample(tuple(Run(each, ran.rss_kib, ran.code) for each in seconds))
        limit = ceilings.PREFECT_OVER_DIRECT if name.startswith("prefect over direct") else NO_LIMIT
        yield timed(f"warm process: {name}", taken, limit)
