"""What one question costs with each task runner and each place for the store: seconds of the wall and of the CPU.

Run it by hand: ``.venv/bin/python tests/bench/runners.py [--files 650] [--repeat 3]``. Each figure is of new processes;
*first* has an empty store, *again* finds everything there. Ratios are to a flow on threads and a folder of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from driving import Ask, Rtch, corpus, plant, same_part  # noqa: E402  tests are no package
from hosts import LOOPBACK, free_port, listens, running, wait_until  # noqa: E402

from rtch import server  # noqa: E402

SETTLE_S = 3.0
"""Files must be older than this before their times alone tell that they are unchanged."""
DASK = ("-P", "-m")


class Way(NamedTuple):
    """A way to run the question."""

    name: str
    flags: Sequence[str] = ()
    environment: Mapping[str, str] = {}


class Cost(NamedTuple):
    """Medians, in seconds; of processes that were there before only the wall is seen."""

    wall_s: float
    cpu_s: float


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description="Measure task runners and places for the store.")
    parser.add_argument("--files", type=int, default=650)
    parser.add_argument("--repeat", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rtch-runners-") as name:
        folder = Path(name)
        tree = corpus("tree")
        tree.build(folder / "tree", files=chosen.files, git=True)
        time.sleep(SETTLE_S)
        ask = Ask(f"Where is {tree.SYMBOL} defined", [tree.SYMBOL])
        os.environ["RTCH_HOME"] = str(folder / "server")
        found = server.up(timeout_s=300)
        try:
            with _scheduler(folder, found.api_url) as address:
                _report(folder, ask, _ways(folder, found.api_url, address), chosen.repeat)
        finally:
            server.down()


def _ways(folder: Path, api_url: str, address: str) -> list[Way]:
    flow, api = ("--engine", "prefect"), {"PREFECT_API_URL": api_url}
    shared = {"RTCH_STORE": f"file://{folder}/NAME/shared"}
    ways = [
        Way("flow on threads", flow, api),
        Way("direct, no flow"),
        Way("direct, RTCH_STORE=file://", (), shared),
        Way("flow on threads, RTCH_STORE=file://", flow, api | shared),
        Way("flow on processes", flow, api | {"RTCH_RUNNER": "processes"}),
    ]
    if address:
        ways.append(Way("flow on dask", flow, api | {"RTCH_RUNNER": "dask"}))
        ways.append(Way("flow on a running cluster", flow, api | {"RTCH_RUNNER": address}))
        ways.append(Way("the same, RTCH_STORE=file://", flow, api | {"RTCH_RUNNER": address} | shared))
    return ways


def _report(folder: Path, ask: Ask, ways: Sequence[Way], repeat: int) -> None:
    packets: set[bytes] = set()
    costs: dict[str, list[Cost]] = {}
    for number, way in enumerate(ways):
        costs[way.name] = [Cost(0, 0)] * 2
        samples: tuple[list[Cost], list[Cost]] = ([], [])
        for turn in range(repeat):
            home = plant(folder / f"home-{number}-{turn}", {})
            environment = {name: text.replace("NAME", home.name) for name, text in way.environment.items()}
            for kept in samples:
                kept.append(_once(Rtch(home, environment), folder / "tree", ask, way.flags, packets))
        costs[way.name] = [Cost(*map(statistics.median, zip(*kept, strict=True))) for kept in samples]
    assert len(packets) == 1, "the packet depends on the way"
    base = costs[ways[0].name]
    print("| | first, s | CPU s | x | again, s | CPU s | x |\n|---|---|---|---|---|---|---|")
    for name, pair in costs.items():
        row = [
            f"{cost.wall_s:.2f} | {cost.cpu_s:.2f} | {cost.wall_s / of.wall_s:.2f}"
            for cost, of in zip(pair, base, strict=True)
        ]
        print(f"| {name} | {' | '.join(row)} |")


def _once(rtch: Rtch, root: Path, ask: Ask, flags: Sequence[str], packets: set[bytes]) -> Cost:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    ran = rtch.run("hydrate", *ask.flags(), "--root", str(root), "--format", "json", *flags, timeout=300)
    wall_s = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ran.code == 0, ran.err
    packets.add(same_part(ran.packet))
    return Cost(wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


@contextlib.contextmanager
def _scheduler(folder: Path, api_url: str) -> Iterator[str]:
    """Keep a Dask scheduler with two workers, and yield its address; nothing where Dask is not installed."""
    if importlib.util.find_spec("prefect_dask") is None:
        yield ""
        return
    port = free_port()
    address = f"tcp://{LOOPBACK}:{port}"
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PREFECT_API_URL": api_url, "DO_NOT_TRACK": "1"}
    with contextlib.ExitStack() as stack:
        start = [sys.executable, *DASK, "distributed.cli.dask_scheduler", "--host", LOOPBACK, "--port", str(port)]
        log = folder / "scheduler.log"
        process = stack.enter_context(running([*start, "--no-dashboard"], env, log))
        wait_until(lambda: listens(LOOPBACK, port), process, log)
        for name in ("one", "two"):
            worker = [sys.executable, *DASK, "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
            log = folder / f"{name}.log"
            process = stack.enter_context(running([*worker, "--no-dashboard", "--name", name], env, log))
            wait_until(lambda log=log: "Registered to" in log.read_text(), process, log)  # type: ignore[misc]
        yield address


if __name__ == "__main__":
    main()
