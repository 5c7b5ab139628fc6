"""Results as Markdown tables."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from quality.cases import Case
from quality.scores import METRICS, Mean, mean_of, paired, ranks_of, scores_of
from quality.systems import Result

Results = Mapping[str, Result]
"""Of one system, by the id of the case."""
SHOWN_GOAL = 60


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the first column stands left, the others right."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def groups(cases: Sequence[Case], name_of: Callable[[Case], str]) -> dict[str, list[Case]]:
    """Return the cases by the name of their group, groups by name."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(name_of(case), []).append(case)
    return dict(sorted(found.items()))


def means(title: str, grouped: Mapping[str, Sequence[Case]], systems: Mapping[str, Results]) -> str:
    """Return the mean of each metric in percent with its interval, for each group and system."""
    head = (title, "system", "cases", *METRICS, "failed", "s, empty store", "s, warm store")
    rows = [
        (group, system, *_means_row(cases, results))
        for group, cases in grouped.items()
        for system, results in systems.items()
    ]
    return table(head, rows)


def _means_row(cases: Sequence[Case], results: Results) -> list[str]:
    replies = [results[case.id].reply for case in cases]
    scores = [scores_of(reply.answer, case.gold_ranges) for case, reply in zip(cases, replies, strict=True)]
    cells = [_percent(mean_of([each[metric] for each in scores])) for metric in METRICS]
    failed = sum(bool(reply.error) for reply in replies)
    warm = [reply.warm_seconds for reply in replies if reply.warm_seconds is not None]
    return [str(len(cases)), *cells, str(failed), _median([reply.seconds for reply in replies]), _median(warm)]


def _percent(mean: Mean) -> str:
    return f"{100 * mean.value:.1f} [{100 * mean.low:.0f}-{100 * mean.high:.0f}]"


def _median(seconds: Sequence[float]) -> str:
    return f"{statistics.median(seconds):.2f}" if seconds else ""


def pairs(grouped: Mapping[str, Sequence[Case]], ours: Results, theirs: Results) -> str:
    """Return the paired comparison in each metric, for each group, over the cases that both were asked."""
    head = ("cases", "metric", "both", "wins", "losses", "ties", "difference", "sign test p")
    rows: list[Sequence[str]] = []
    for group, cases in grouped.items():
        both = [case for case in cases if case.id in ours and case.id in theirs]
        for metric in METRICS if both else ():
            pair = paired(*(values(both, results, metric) for results in (ours, theirs)))
            gap = pair.difference
            told = f"{100 * gap.value:+.1f} [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"
            counts = (str(number) for number in (len(both), pair.wins, pair.losses, pair.ties))
            rows.append((group, metric, *counts, told, f"{pair.chance:.3g}"))
    return table(head, rows)


def values(cases: Sequence[Case], results: Results, metric: str) -> list[float]:
    """Return one metric of each case, in their order."""
    return [scores_of(results[case.id].reply.answer, case.gold_ranges)[metric] for case in cases]


def moved(cases: Sequence[Case], ours: Results, theirs: Results) -> str:
    """Return the cases whose gold stands at other ranks than in the older results, or whose lines are others."""
    head = ("case", "ranks before", "ranks", "line@2000 before", "line@2000")
    rows = []
    for case in cases:
        if case.id in ours and case.id in theirs:
            before, after = (_places(case, results[case.id]) for results in (theirs, ours))
            if before != after:
                rows.append((case.id, before[0], after[0], before[1], after[1]))
    return table(head, rows)


def _places(case: Case, result: Result) -> tuple[str, str]:
    ranks = ranks_of(result.reply.answer, tuple(case.gold_ranges)).values()
    lines = scores_of(result.reply.answer, case.gold_ranges)["line@2000"]
    return ", ".join("-" if rank is None else str(rank) for rank in ranks), f"{100 * lines:.0f}"


def listing(cases: Sequence[Case], results: Results) -> str:
    """Return one row for each case: where its gold files stand, and what share of its lines is shown."""
    head = ("case", "profile", "gold", "ranks", "line@2000", "goal")
    rows = []
    for case in cases:
        goal = " ".join(case.goal.split())
        shown = goal if len(goal) <= SHOWN_GOAL else f"{goal[: SHOWN_GOAL - 3]}..."
        rows.append(
            (
                case.id,
                case.profile.value,
                ", ".join(case.gold_ranges),
                *_places(case, results[case.id]),
                shown.replace("|", "\\|"),
            )
        )
    return table(head, rows)
