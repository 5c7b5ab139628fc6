"""What rtch costs, beside git and rg in the same run on the same machine.

    python tests/bench/run.py [--tree DIR | --files 650] [--repeat 5] [--prefect] [--json]

Every figure is of new processes with a warm page cache. It is no test: it prints a table, and which
limit each row met, and exits 0.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from measure import Run, Sample, run_once, sample

BIN = Path(sys.executable).parent
TREE_MAKER = Path(__file__).parent.parent / "corpora/tree.py"
LARGE_FILES = 5_000
"""From here on the limits are ratios; below, process start outweighs the work and they are seconds."""
TRIVIAL_S = 0.15
EMPTY_STORE_S = 0.5
WARM_STORE_S = 0.3
EDIT_S = 0.15
SMALL_RSS_MIB = 100
LARGE_RSS_MIB = 200
PREFECT_OVER_DIRECT_S = 0.6

NEW_GOALS = (
    "Which module plans the day and how does it settle a route",
    "Where is the number of hops limited",
    "What documents how a parcel reaches a quay",
    "Who describes a route as one line",
    "Which settings belong to routing",
    "What changed in the order of a route",
    "Where is the default for hops",
)


@dataclass(frozen=True, slots=True)
class Limit:
    """A ceiling in seconds or MiB, and how it came about."""

    ceiling: float
    words: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    name: str
    median_s: float
    min_s: float
    max_s: float
    rss_mib: float
    codes: tuple[int, ...]
    limit: str = ""
    met: bool | None = None
    rss_limit: str = ""
    rss_met: bool | None = None


def row(name: str, taken: Sample, limit: Limit | None = None, rss: float | None = None) -> Row:
    """Judge a sample by its median time and its peak memory; what failed has met nothing."""
    low, high = taken.range_s
    ran = taken.codes == (0,)
    met = None if limit is None else ran and taken.median_s <= limit.ceiling
    rss_met = None if rss is None else ran and taken.rss_mib <= rss
    words = "" if limit is None else limit.words
    rss_words = "" if rss is None else f"{rss:.0f} MiB"
    return Row(name, taken.median_s, low, high, taken.rss_mib, taken.codes, words, met, rss_words, rss_met)


@dataclass(slots=True)
class Bench:
    """A tree, a folder for homes, and how often each thing is run."""

    root: Path
    scratch: Path
    repeat: int
    files: int
    seed: str
    edited: Path | None
    homes: int = 0

    @property
    def large(self) -> bool:
        return self.files >= LARGE_FILES

    def environment(self, home: Path) -> dict[str, str]:
        path = f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {"PATH": path, "HOME": str(self.scratch), "RTCH_HOME": str(home), "LC_ALL": "C.UTF-8"}

    def home(self) -> Path:
        self.homes += 1
        return self.scratch / f"home-{self.homes}"

    def rtch(self, home: Path, *arguments: str) -> Run:
        return run_once([str(BIN / "rtch"), *arguments], cwd=self.root, env=self.environment(home))

    def hydrate(self, home: Path, goal: str = "", *more: str, root: Path | None = None) -> Run:
        goal = goal or f"Where is {self.seed} defined and who calls it"
        fields = ("--profile", "code_path", "--fanout", "conservative", "--risk", "read_only")
        output = ("--output-kind", "hydration_packet", "--enough", "at least 2 surfaces", "--format", "json")
        seed = (f"--seed={self.seed}",)
        return self.rtch(
            home, "hydrate", "--root", str(root or self.root), "--goal", goal, *fields, *output, *seed, *more
        )


def literals(packet: bytes, fallback: str) -> tuple[str, ...]:
    """Return what the probes of a packet searched for."""
    try:
        plan = json.loads(packet)["probe_plan"]["probes"]
    except (ValueError, KeyError):
        return (fallback,)
    terms = (term for outcome in plan for term in outcome["probe"]["terms"])
    return tuple(sorted({spelling for term in terms for spelling in term["spellings"]})) or (fallback,)


def yardsticks(bench: Bench, words: Sequence[str]) -> tuple[Sample, Sample]:
    """Return what ``git status`` and one counting rg pass cost on the tree."""
    environment = bench.environment(bench.scratch)
    status = ["git", "status", "--porcelain=v2", "-z"]
    terms = [part for word in words for part in ("-e", word)]
    rg = [str(BIN / "rg"), "-c", "-F", "--no-config", "--hidden", "--no-ignore", "-g", "!.git", *terms, "."]
    return (
        sample(bench.repeat, lambda _: run_once(status, cwd=bench.root, env=environment)),
        sample(bench.repeat, lambda _: run_once(rg, cwd=bench.root, env=environment)),
    )


def make_tree(root: Path, *more: str) -> dict[str, str]:
    """Generate a tree in another process, for what this one holds its children would start with."""
    argv = [sys.executable, str(TREE_MAKER), str(root), "--git", *more]
    made = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    told: dict[str, str] = json.loads(made.stdout)
    return told


def trivial_rows(bench: Bench) -> Iterator[Row]:
    """Yield the commands that must answer at once."""
    intake = bench.scratch / "intake.yaml"
    intake.write_text(
        "goal: Where is the route settled\ntarget_profile: code_path\nfanout_level: conservative\n"
        "mutation_risk: read_only\nexpected_output: hydration_packet\n"
        "enough_evidence_definition: at least 2 surfaces\n",
        encoding="utf-8",
    )
    limit = Limit(TRIVIAL_S, f"{TRIVIAL_S} s")
    home = bench.home()
    for arguments in (("--version",), ("--help",), ("intake", "check", str(intake))):
        name = "rtch " + " ".join(arguments[:2])
        runs = [bench.rtch(home, *arguments) for _ in range(bench.repeat)]
        yield row(name, Sample(tuple(runs)), limit)


def _edit(path: Path, number: int) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(f"# tide table {number}\n")


def hydrate_rows(bench: Bench) -> Iterator[Row]:
    """Yield the yardsticks and every way a hydrate can find its store."""
    rss = LARGE_RSS_MIB if bench.large else SMALL_RSS_MIB
    first = bench.hydrate(bench.home())
    words = literals(first.out, bench.seed)
    status, rg = yardsticks(bench, words)
    start = sample(bench.repeat, lambda _: bench.rtch(bench.scratch, "--version")).median_s
    yield row("git status --porcelain=v2 -z", status)
    yield row(f"rg -c -F, {len(words)} literals", rg)
    small = Limit(WARM_STORE_S, f"{WARM_STORE_S} s")
    pass_, state = rg.median_s, status.median_s
    cold = Limit(2 * pass_, f"2 rg = {2 * pass_:.2f} s") if bench.large else Limit(EMPTY_STORE_S, f"{EMPTY_STORE_S} s")
    yield row("hydrate, empty store", sample(bench.repeat, lambda _: bench.hydrate(bench.home())), cold, rss)

    home = bench.home()
    bench.hydrate(home)
    same = Limit(1.5 * state + start, f"1.5 status + start = {1.5 * state + start:.2f} s") if bench.large else small
    unchanged = sample(bench.repeat, lambda _: bench.hydrate(home))
    yield row("hydrate, same intake again", unchanged, same, rss)
    new = Limit(1.5 * pass_, f"1.5 rg = {1.5 * pass_:.2f} s") if bench.large else small
    goals = sample(bench.repeat, lambda number: bench.hydrate(home, f"{NEW_GOALS[number % 7]} ({number})"))
    yield row("hydrate, new intake", goals, new, rss)
    if bench.edited:
        yield edited_row(bench, home, unchanged, rss)


def edited_row(bench: Bench, home: Path, unchanged: Sample, rss: float) -> Row:
    """Return the run after one file was edited, beside the unchanged run."""
    path = bench.edited or bench.root

    def once(number: int) -> Run:
        _edit(path, number)
        return bench.hydrate(home)

    ceiling = unchanged.median_s + EDIT_S
    limit = Limit(ceiling, f"unchanged + {EDIT_S} = {ceiling:.2f} s")
    return row("hydrate, one file edited", sample(bench.repeat, once), limit, rss)


def giant_row(bench: Bench) -> Row:
    """Return a cold run on a tree with a 200 MB file and a 5 MB line, whose memory is what counts."""
    root = bench.scratch / "giants"
    make_tree(root, "--with-giants")
    taken = sample(min(bench.repeat, 3), lambda _: bench.hydrate(bench.home(), root=root))
    return row("hydrate, empty store, giants", taken, None, LARGE_RSS_MIB)


def prefect_rows(bench: Bench) -> Iterator[Row]:
    """Yield the Prefect engine with a server that is up: as a new process, and over direct in a warm one."""
    home = bench.home()
    bench.rtch(home, "up")
    try:
        bench.hydrate(home)
        fresh = sample(bench.repeat, lambda _: bench.hydrate(home, "", "--engine", "prefect"))
        yield row("hydrate --engine prefect, new process", fresh)
        script = [
            sys.executable,
            "-P",
            str(Path(__file__).with_name("warm.py")),
            str(bench.root),
            str(bench.repeat),
            bench.seed,
        ]
        ran = run_once(script, cwd=bench.scratch, env=bench.environment(home))
        for name, seconds in json.loads(ran.out or b"{}").items():
            taken = Sample(tuple(Run(each, ran.rss_kib, ran.code, b"") for each in seconds))
            over = (
                Limit(PREFECT_OVER_DIRECT_S, f"{PREFECT_OVER_DIRECT_S} s") if name.startswith("prefect over") else None
            )
            yield row(f"warm process: {name}", taken, over)
    finally:
        bench.rtch(home, "down")


def table(rows: Sequence[Row]) -> str:
    """Return the rows as aligned text."""
    head = ("what", "median", "min", "max", "peak MiB", "exit", "limit", "verdict")
    words = {True: "met", False: "MISSED", None: ""}
    cells = [
        (
            each.name, f"{each.median_s:.3f}", f"{each.min_s:.3f}", f"{each.max_s:.3f}", f"{each.rss_mib:.0f}",
            ",".join(map(str, each.codes)), "; ".join(filter(None, (each.limit, each.rss_limit))),
            " ".join(filter(None, (words[each.met], each.rss_limit and f"memory {words[each.rss_met]}"))),
        )
        for each in rows
    ]  # fmt: skip
    widths = [max(len(line[column]) for line in (head, *cells)) for column in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in (head, *cells)]
    return "\n".join(line.rstrip() for line in lines)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure rtch beside git and rg.")
    parser.add_argument("--tree", type=Path, help="a repository of yours, which is not changed; needs --seed")
    parser.add_argument("--files", type=int, default=650, help="files of the generated tree (default: 650)")
    parser.add_argument("--seed", help="the term to look for (default: the generated tree's own)")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--prefect", action="store_true", help="also the Prefect engine, with a server of its own")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.tree and not chosen.seed:
        parser.error("--tree needs --seed, a term that stands in it")
    return chosen


def set_up(chosen: argparse.Namespace, scratch: Path) -> Bench:
    """Return the bench on the tree that was named, else on a generated one."""
    if chosen.tree:
        root = chosen.tree.resolve()
        files = sum(len(names) for _, _, names in os.walk(root))
        return Bench(root, scratch, chosen.repeat, files, chosen.seed, edited=None)
    root = scratch / "tree"
    told = make_tree(root, "--files", str(chosen.files))
    return Bench(root, scratch, chosen.repeat, chosen.files, chosen.seed or told["symbol"], root / told["definition"])


def measured(bench: Bench, *, prefect: bool) -> Iterator[Row]:
    """Yield every row that was asked for."""
    yield from trivial_rows(bench)
    yield from hydrate_rows(bench)
    if bench.edited and not bench.large:
        yield giant_row(bench)
    if prefect:
        yield from prefect_rows(bench)


def main() -> None:
    """Measure, and print the table or JSON."""
    chosen = options()
    with tempfile.TemporaryDirectory(prefix="rtch-bench-") as folder:
        rows: list[Row] = []
        for each in measured(set_up(chosen, Path(folder)), prefect=chosen.prefect):
            rows.append(each)
            print(f"{each.name}: {each.median_s:.3f} s", file=sys.stderr)
    print(json.dumps([asdict(each) for each in rows], indent=1) if chosen.json else table(rows))


if __name__ == "__main__":
    main()
