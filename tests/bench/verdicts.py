"""One line of a table, and how a measured figure is held against a limit."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from measure import Sample

NOT_BUILT = "not built"
FAILED = "FAILED"
MISSED = "MISSED"
MET = "met"
MOST_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Limit:
    """A ceiling and how it came about; without a ceiling the words are told and nothing is judged."""

    words: str = ""
    ceiling: float | None = None


NO_LIMIT = Limit()


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was measured: ``figures`` are seconds, MiB or bytes, one a run."""

    name: str
    figures: tuple[float, ...] = ()
    unit: str = "s"
    limit: Limit = NO_LIMIT
    rss_mib: float | None = None
    codes: tuple[int, ...] = (0,)
    complaint: str = ""
    """What a failed run said."""
    ratios: Mapping[str, float] = field(default_factory=dict)
    """How many times a yardstick of the same run, by the yardstick's name."""

    @property
    def median(self) -> float:
        return statistics.median(self.figures)

    @property
    def failed(self) -> bool:
        """Whether a run did not do its work, or found nothing where there is something: its figures mean nothing."""
        return self.codes != (0,)

    @property
    def verdict(self) -> str:
        """``met``, ``MISSED by`` how much, ``FAILED``, ``not built``, or nothing where there is no limit."""
        if not self.figures:
            return NOT_BUILT
        if self.failed:
            return f"{FAILED}: {self.complaint[:MOST_CHARACTERS]}"
        ceiling = self.limit.ceiling
        if ceiling is None:
            return ""
        if self.median <= ceiling:
            return MET
        times = f" (x{self.median / ceiling:.2f})" if ceiling > 0 else ""
        return f"{MISSED} by {shown(self.median - ceiling, self.unit)} {self.unit}{times}"


def weighed(name: str, taken: Sample, limit: Limit = NO_LIMIT) -> Row:
    """Return the row of the memory of some runs: one figure, the most that any held."""
    return Row(name, (taken.rss_mib,), "MiB", limit, codes=taken.codes, complaint=taken.complaint)


def timed(name: str, taken: Sample, limit: Limit = NO_LIMIT, *, ratios: Mapping[str, float] | None = None) -> Row:
    """Return the row of a sample of runs."""
    return Row(name, taken.seconds, "s", limit, taken.rss_mib, taken.codes, taken.complaint, ratios or {})


def shown(figure: float, unit: str) -> str:
    """Word a figure: milliseconds count, parts of a byte do not."""
    return {"s": f"{figure:.3f}", "MiB": f"{figure:.0f}"}.get(unit, f"{figure:,.0f}")


def tally(rows: Sequence[Row]) -> dict[str, int]:
    """Count the verdicts."""
    words = [re.split(" by |:", row.verdict)[0] or "no limit" for row in rows]
    return {word: words.count(word) for word in (MET, MISSED, FAILED, NOT_BUILT, "no limit")}
