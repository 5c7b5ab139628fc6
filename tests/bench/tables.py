"""The tables as aligned text, and how each row grows from one size to the next."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from importtime import Imports
from verdicts import Row, shown, tally

YARDSTICKS = ("rg", "status", "hash")
HEAD = ("what", "median", "min", "max", "", *(f"x {name}" for name in YARDSTICKS), "MiB", "runs", "exit")
TEXT_COLUMNS = {0, 4, len(HEAD), len(HEAD) + 1}
"""Those that are aligned to the left; the others hold numbers."""


@dataclass(slots=True)
class Report:
    """What was measured on one tree."""

    name: str
    files: int
    bytes: int = 0
    rows: list[Row] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        rows = [
            asdict(row) | {"median": row.median if row.figures else None, "verdict": row.verdict} for row in self.rows
        ]
        return {"tree": self.name, "files": self.files, "bytes": self.bytes, "rows": rows}


@dataclass(frozen=True, slots=True)
class Growth:
    """How one row grew between two trees: ``times`` over ``files_times`` is 1 where it grows with the files."""

    row: str
    smaller: str
    larger: str
    times: float
    files_times: float


def growth(reports: Sequence[Report]) -> list[Growth]:
    """Return how every row that both have grew from each tree to the next larger one."""
    found = []
    ordered = sorted(reports, key=lambda report: report.files)
    for small, large in itertools.pairwise(ordered):
        before = {row.name: row.median for row in small.rows if row.figures and not row.failed}
        found += [
            Growth(row.name, small.name, large.name, row.median / before[row.name], large.files / small.files)
            for row in large.rows
            if row.figures and not row.failed and before.get(row.name)
        ]
    return found


def table(report: Report) -> str:
    """Return the rows of a tree."""
    head = (*HEAD, "limit", "verdict")
    title = f"# {report.name}: {report.files:,} files, {report.bytes / 1e6:,.0f} MB"
    return f"{title}\n{aligned([head, *map(_cells, report.rows)], TEXT_COLUMNS)}"


def growth_table(reports: Sequence[Report], grown: Sequence[Growth]) -> str:
    """Return the growth of every row, a column for each step from size to size."""
    ordered = sorted(reports, key=lambda report: report.files)
    steps = list(itertools.pairwise(ordered))
    told = {(each.row, each.smaller): each for each in grown}
    names = list(dict.fromkeys(each.row for each in grown))
    heads = [
        f"{small.files:,} to {large.files:,}: files x{large.files / small.files:.1f}, bytes x{_over(large, small):.1f}"
        for small, large in steps
    ]
    lines = [["what", *heads]]
    for name in names:
        cells = [told.get((name, small.name)) for small, _ in steps]
        lines.append(
            [name, *(f"x{each.times:.2f} = {each.times / each.files_times:.2f}" if each else "" for each in cells)]
        )
    title = "# Growth: time (memory, bytes) ratio = that over the files' ratio; 1 grows with the files"
    return f"{title}\n{aligned(lines, {0})}"


def imports_table(found: Sequence[Imports]) -> str:
    """Return what each command loads: the modules, and the heaviest packages."""
    lines = []
    for each in found:
        heaviest = [f"{name} {own:.1f} ({modules})" for name, own, modules in each.heaviest]
        lines.append([each.command, f"{sum(each.modules.values())}", f"{each.total_ms:.0f}", ", ".join(heaviest)])
    title = "# Imports: modules, milliseconds, and the heaviest packages: milliseconds (modules)"
    return f"{title}\n{aligned([['command', 'modules', 'ms', 'heaviest'], *lines], {0, 3})}"


def count_line(reports: Sequence[Report]) -> str:
    """Return how many limits were met and missed."""
    counted = tally([row for report in reports for row in report.rows])
    return ", ".join(f"{count} {word}" for word, count in counted.items())


def aligned(lines: Sequence[Sequence[str]], left: set[int]) -> str:
    """Return lines of cells in columns, numbers to the right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(_padded(line, widths, left)).rstrip() for line in lines)


def _padded(line: Sequence[str], widths: Sequence[int], left: set[int]) -> Iterator[str]:
    for column, (cell, width) in enumerate(zip(line, widths, strict=True)):
        yield cell.ljust(width) if column in left else cell.rjust(width)


def _cells(row: Row) -> tuple[str, ...]:
    if not row.figures:
        return (row.name, *[""] * (len(HEAD) - 1), row.limit.words, row.verdict)
    figures = (shown(figure, row.unit) for figure in (row.median, min(row.figures), max(row.figures)))
    ratios = (f"{row.ratios[name]:.1f}" if name in row.ratios else "" for name in YARDSTICKS)
    held = "" if row.rss_mib is None else f"{row.rss_mib:.0f}"
    exits = ",".join(map(str, row.codes))
    return (row.name, *figures, row.unit, *ratios, held, str(len(row.figures)), exits, row.limit.words, row.verdict)


def _over(large: Report, small: Report) -> float:
    return large.bytes / small.bytes if small.bytes else 0.0
