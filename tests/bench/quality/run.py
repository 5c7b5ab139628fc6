"""Does rtch point at the right files and lines? Measured on published trees, beside other locators.

    python tests/bench/quality/run.py --own                     our own cases, rtch alone
    python tests/bench/quality/run.py --bench DIR               DIR/dev.jsonl too, beside DIR/baselines
    python tests/bench/quality/run.py --own --where split=own-tune --list

Trees are fetched once, and answers kept, in $LOCBENCH_CACHE, else $RTCH_BENCH_CACHE, else
~/.cache/rtch-bench. Tune on dev and own-tune; own-check says whether what was learnt holds elsewhere.
It is no test: it prints tables and exits 0, or says what it lacks and exits 2.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # as a script, this file is not in its own package

from quality.cases import FIELDS, REMEDY, BenchError, Case, dev_cases, faults, own_cases, picked
from quality.corpora import cache_folder, fetched, fetcher, place_of
from quality.systems import Asking, Result, System, baselines, kept_at, load, results_of, rtch_system, save
from quality.tables import groups, listing, means, moved, pairs

OURS = "rtch"


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    told = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=told, allow_abbrev=False)
    parser.add_argument("--bench", metavar="DIR", help="a bench's folder: dev.jsonl, locbench/, baselines/")
    parser.add_argument("--own", action="store_true", help="only this repository's cases; needs no bench")
    parser.add_argument(
        "--where", action="append", default=[], metavar="FIELD=VALUE",
        help=f"only these cases, as profile=code_path or language=go,rust; repeatable; fields: {', '.join(FIELDS)}",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", type=int, default=2, help="questions at a time; seconds are truest with 1 (default: 2)"
    )
    parser.add_argument("--fresh", action="store_true", help="ask rtch again, whatever it answered before")
    parser.add_argument("--list", action="store_true", help="also a row for each case: where its gold stands")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write all results there, one a line")
    parser.add_argument(
        "--compare", type=Path, metavar="OLD", help="pair rtch with itself in an earlier file of --save"
    )
    parser.add_argument(
        "--python", type=Path, default=Path(sys.executable), metavar="PROGRAM",
        help="the interpreter of the bench's locators: bm25 needs bm25s and numpy (default: this one)",
    )  # fmt: skip
    return parser.parse_args(argv)


def say(text: str) -> None:
    """Tell people."""
    print(text, file=sys.stderr, flush=True)


def chosen_cases(chosen: argparse.Namespace) -> list[Case]:
    """Return the cases that were asked for, those of one tree together.

    Raises:
        BenchError: there is no bench where one is needed, or no case.
    """
    if not (chosen.own or chosen.bench):
        raise BenchError(f"no bench was named: {REMEDY}")
    cases = [*([] if chosen.own else dev_cases(Path(chosen.bench))), *own_cases()]
    return sorted(picked(cases, chosen.where), key=lambda case: case.corpus.folder)


def trees(cases: Sequence[Case], bench: Path | None, cache: Path) -> dict[str, Path]:
    """Return the folder of each corpus, fetched and held against the gold.

    Raises:
        BenchError: one could not be had, or does not hold what a case's gold says.
    """
    fetch = fetcher(bench, cache)
    corpora = {case.corpus.folder: case.corpus for case in cases}
    missing = [folder for folder in corpora if not place_of(corpora[folder], cache).is_dir()]
    if missing:
        say(f"{len(missing)} trees to fetch into {cache}: {', '.join(missing)}")
    roots = {folder: fetched(corpus, fetch) for folder, corpus in corpora.items()}
    wrong = [fault for case in cases for fault in faults(case, roots[case.corpus.folder])]
    if wrong:
        raise BenchError("\n".join(wrong))
    return roots


def measured(chosen: argparse.Namespace, cases: Sequence[Case], scratch: Path) -> dict[str, dict[str, Result]]:
    """Return every system's results, rtch first."""
    cache, bench = cache_folder(), Path(chosen.bench) if chosen.bench else None
    roots = trees(cases, bench, cache)
    systems: list[System] = [rtch_system(scratch), *([] if bench is None else baselines(bench, chosen.python, say))]
    results = {}
    for system in systems:
        again = chosen.fresh and system.name == OURS
        asking = Asking(roots, kept_at(cache, system), chosen.jobs, say, again=again)
        results[system.name] = results_of(system, cases, asking)
    return results


def report(cases: Sequence[Case], systems: dict[str, dict[str, Result]]) -> Iterator[str]:
    """Yield the tables."""
    ours = systems[OURS]
    yield f"# Quality on {len(cases)} cases: percent, with bootstrap 95 % intervals"
    yield f"{OURS} {ours[cases[0].id].version[:16]}"
    by_split = groups(cases, _split)
    yield means("split", by_split, systems)
    yield means("profile", groups(cases, lambda case: f"{_source(case)} {case.profile.value}"), systems)
    yield means("language", groups(cases, lambda case: f"{_source(case)} {case.language}"), systems)
    for name, theirs in systems.items():
        if name != OURS:
            yield f"## {OURS} against {name}, paired"
            yield pairs(by_split, ours, theirs)
    everything = [each for results in systems.values() for each in results.values()]
    failed = [f"- {each.system}: {each.id}: {each.reply.error}" for each in everything if each.reply.error]
    if failed:
        yield "## Failed, and counted as misses"
        yield "\n".join(failed)


def _split(case: Case) -> str:
    return case.split


def _source(case: Case) -> str:
    """Return whose the case is: a bench's cases and ours are never thrown together."""
    return case.split.partition("-")[0]


def comparison(cases: Sequence[Case], ours: dict[str, Result], old: Path) -> Iterator[str]:
    """Yield the tables of rtch against an earlier rtch; only answers to the same question are paired."""
    before = {each.id: each for each in load(old) if each.system == OURS}
    theirs = {key: each for key, each in before.items() if key in ours and ours[key].question == each.question}
    yield f"## rtch against rtch in {old}, paired"
    yield f"{len(theirs)} of {len(cases)} cases have an earlier answer to the same question"
    yield pairs(groups(cases, _split), ours, theirs)
    yield moved(cases, ours, theirs)


def main() -> int:
    """Measure, and print the tables."""
    chosen = options()
    try:
        cases = chosen_cases(chosen)
        with tempfile.TemporaryDirectory(prefix="rtch-quality-") as scratch:
            systems = measured(chosen, cases, Path(scratch))
    except BenchError as error:
        say(f"bench-quality: {error}")
        return 2
    if chosen.save:
        save(chosen.save, (each for results in systems.values() for each in results.values()))
    parts = [*report(cases, systems)]
    if chosen.list:
        parts.append(listing(cases, systems[OURS]))
    if chosen.compare:
        parts += comparison(cases, systems[OURS], chosen.compare)
    print("\n\n".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
