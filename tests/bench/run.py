"""What rtch costs on trees of several sizes, beside git, rg and hashing in the same run on the same machine.

    python tests/bench/run.py [--sizes 650 10000] [--repeat 3] [--prefect] [--json]
    python tests/bench/run.py --tree DIR [--seed TERM]

Every figure is of new processes with a warm page cache. Memory is the peak of the largest process, rtch
itself or one that it started, except in the row that tells the sum of all. Generated trees are kept in
$RTCH_BENCH_CACHE, else artifacts/bench, and take 2.4 GB there. It is no test: it prints tables, which limit
each row met or by how much it was missed, and exits 0, or says what it lacks and exits 2.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import trees
from asking import BIN, RTCH, Bench
from ceilings import SMALL_FILES
from importtime import Imports, imports
from prefect_rows import prefect_rows
from rows import measured
from tables import Report, count_line, growth, growth_table, imports_table, table
from verdicts import shown, tally
from yardsticks import Yardsticks

REPEATS = ((2_000, 7), (30_000, 5))
MOST_REPEATS = 3
"""For the largest trees; a row that has cost ``measure.BUDGET_S`` ends before."""


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    told = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=told, allow_abbrev=False)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--tree", type=Path, metavar="DIR", help="a tree of yours; it is read, or copied if small")
    which.add_argument("--sizes", type=int, nargs="+", metavar="FILES", help=f"default: {trees.SIZES}")
    parser.add_argument(
        "--seed", default="", metavar="TERM", help="what to look for in your tree (default: a rare name)"
    )
    parser.add_argument("--repeat", type=int, help="runs of each row at most (default: 7, 5 or 3 by size)")
    parser.add_argument(
        "--prefect", action=argparse.BooleanOptionalAction,
        help="the Prefect engine too, with a server of its own (default: with a small generated tree)",
    )  # fmt: skip
    parser.add_argument("--imports", action=argparse.BooleanOptionalAction, default=True, help="what commands load")
    parser.add_argument("--json", action="store_true", help="all figures, as JSON")
    chosen = parser.parse_args(argv)
    if chosen.repeat is not None and chosen.repeat < 1:
        parser.error("--repeat takes a number from 1 on")
    if any(size < 1 for size in chosen.sizes or ()):
        parser.error("--sizes takes numbers of files from 1 on")
    if chosen.seed and not chosen.tree:
        parser.error("--seed needs --tree; a generated tree has its own")
    return chosen


def say(text: str) -> None:
    """Tell people."""
    print(text, file=sys.stderr, flush=True)


def repeats(chosen: argparse.Namespace, files: int) -> int:
    """Return how often each row is run at most."""
    asked: int | None = chosen.repeat
    return asked or next((times for most, times in REPEATS if files <= most), MOST_REPEATS)


@contextlib.contextmanager
def bench_on(chosen: argparse.Namespace, size: int) -> Iterator[Bench]:
    """Yield the bench on the tree that was named, else on a generated one, with a scratch folder of its own."""
    with tempfile.TemporaryDirectory(prefix="rtch-bench-") as folder:
        scratch = Path(folder).resolve()
        tree = trees.of_yours(chosen.tree.resolve(), chosen.seed, scratch) if chosen.tree else None
        with tree or trees.generated(size, scratch, say) as known:
            yield Bench(known, scratch, repeats(chosen, known.files))


def reported(chosen: argparse.Namespace, bench: Bench, *, first: bool) -> Report:
    """Measure one tree; each row is told as soon as it is known."""
    tree, yard = bench.tree, Yardsticks(bench)
    report = Report(tree.name, tree.files, yard.bytes())
    say(f"{tree.name}: {tree.files:,} files, asking about {tree.seeds[0]}")
    wants_prefect = tree.generated and tree.files <= SMALL_FILES if chosen.prefect is None else chosen.prefect
    for rows in (measured(yard, first=first), *([prefect_rows(bench)] if wants_prefect else [])):
        with contextlib.closing(rows):
            for row in rows:
                report.rows.append(row)
                figure = f"{shown(row.median, row.unit)} {row.unit}" if row.figures else ""
                say(f"  {row.name}: {figure} {row.verdict}".rstrip())
    return report


def machine() -> dict[str, str]:
    """Return what the figures depend on besides the trees."""
    programs = ((RTCH, "--version"), ("git", "--version"), (str(BIN / "rg"), "--version"))
    versions = [trees.run(Path.cwd(), *argv).decode().partition("\n")[0] for argv in programs]
    python = f"Python {platform.python_version()}"
    return {"versions": ", ".join([*versions, python]), "platform": platform.platform(), "cpus": str(os.cpu_count())}


def load() -> str:
    """Return how busy the machine was in the last minute, in processes."""
    return f"{os.getloadavg()[0]:.1f}"


def main() -> int:
    """Measure, and print the tables or JSON."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are stopped and folders removed
    chosen, started, before = options(), time.monotonic(), load()
    reports: list[Report] = []
    loaded: list[Imports] = []
    try:
        for size in [0] if chosen.tree else sorted(set(chosen.sizes or trees.SIZES)):
            with bench_on(chosen, size) as bench:
                first = not reports
                reports.append(reported(chosen, bench, first=first))
                loaded += imports(bench) if first and chosen.imports else []
    except trees.BenchError as error:
        say(f"bench: {error}")
        return 2
    where = machine() | {"load": f"{before} before, {load()} after"}
    say(f"took {time.monotonic() - started:.0f} s")
    print(json_of(reports, loaded, where) if chosen.json else text_of(reports, loaded, where))
    return 0


def text_of(reports: Sequence[Report], loaded: Sequence[Imports], where: Mapping[str, str]) -> str:
    """Return the tables and the line that counts."""
    parts = ["; ".join(f"{name}: {told}" for name, told in where.items()), *map(table, reports)]
    if len(reports) > 1:
        parts.append(growth_table(reports, growth(reports)))
    if loaded:
        parts.append(imports_table(loaded))
    return "\n\n".join([*parts, count_line(reports)])


def json_of(reports: Sequence[Report], loaded: Sequence[Imports], where: Mapping[str, str]) -> str:
    """Return everything as JSON."""
    told = {
        "machine": where,
        "trees": [report.as_json() for report in reports],
        "growth": [asdict(each) for each in growth(reports)],
        "imports": [asdict(each) for each in loaded],
        "verdicts": tally([row for report in reports for row in report.rows]),
    }
    return json.dumps(told, indent=1)


if __name__ == "__main__":
    sys.exit(main())
