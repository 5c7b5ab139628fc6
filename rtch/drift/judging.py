"""Which findings count: held against what was accepted, suppressed, and below the level that fails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache

from rtch.finding import finding
from rtch.models.baseline import Accepted, Baseline, Suppression
from rtch.models.drift import Anchor, BaselineState, DriftCounts, DriftStatus, Finding, Level


def judged(found: Iterable[Finding], baseline: Baseline, *, today: date, complete: bool) -> tuple[Finding, ...]:
    """Return findings with what the baseline says of each, and those that were accepted and are no more.

    Args:
        found: as the checks made them; one that two checks made is there once.
        baseline: what was accepted and suppressed.
        today: in UTC.
        complete: whether every check came to its end, so that one that is not found is no more.
    """
    by_id = {one.finding_id: one for one in found}
    accepted = {row.finding_id: row for row in baseline.accepted}
    rows = [_judged(one, accepted.get(one.finding_id), baseline.suppressions, today) for one in by_id.values()]
    gone = [row for name, row in sorted(accepted.items()) if name not in by_id] if complete else []
    return tuple(sorted([*rows, *map(_absent, gone)], key=_order))


def _order(one: Finding) -> tuple[bool, int, str, str, int, str]:
    absent = one.baseline_state is BaselineState.ABSENT
    return absent, -one.level.weight, one.kind.value, one.at.path, one.at.start_line or 0, one.finding_id


def _judged(one: Finding, row: Accepted | None, suppressions: Sequence[Suppression], today: date) -> Finding:
    update: dict[str, object] = {}
    if row is not None and row.state == one.state:
        update = {"baseline_state": BaselineState.UNCHANGED, "set_aside": row.reason}
    elif row is not None:
        update = {"baseline_state": BaselineState.UPDATED}
    if not update.get("set_aside"):
        holding = next((each for each in suppressions if holds(each, one, today)), None)
        if holding is not None:
            update |= {"set_aside": holding.reason, "set_aside_until": holding.until}
    return one.model_copy(update=update) if update else one


def _absent(row: Accepted) -> Finding:
    made = finding(row.kind, subject=(), state=(), message=row.message, at=Anchor(path=row.path))
    return made.model_copy(
        update={
            "finding_id": row.finding_id,
            "state": row.state,
            "baseline_state": BaselineState.ABSENT,
            "set_aside": row.reason,
        }
    )


def holds(row: Suppression, one: Finding, today: date) -> bool:
    """Tell whether a suppression selects a finding and has not ended."""
    return (
        today.isoformat() <= row.until
        and (not row.finding_id or row.finding_id == one.finding_id)
        and (row.kind is None or row.kind is one.kind)
        and (not row.paths or _pattern(row.paths).fullmatch(one.at.path) is not None)
    )


@lru_cache(maxsize=64)
def _pattern(glob: str) -> re.Pattern[str]:
    """Return a glob as a pattern: ``**`` crosses folders, ``*`` and ``?`` stay in one."""
    parts = re.split(r"(\*\*/?|\*|\?)", glob)
    forms = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(forms.get(part, re.escape(part)) for part in parts), re.DOTALL)


def counted(found: Sequence[Finding], checked: DriftCounts, *, not_judged: int, fail_on: Level) -> DriftCounts:
    """Return how much was checked with what came of it."""
    open_ones = [one for one in found if one.counts]
    failing = sum(one.level.weight >= fail_on.weight for one in open_ones)
    present = [one for one in found if one.baseline_state is not BaselineState.ABSENT]
    return checked.model_copy(
        update={
            "drifted": failing,
            "notes": len(open_ones) - failing,
            "accepted": sum(one.baseline_state is BaselineState.UNCHANGED for one in present),
            "suppressed": sum(bool(one.set_aside_until) for one in present),
            "not_judged": not_judged,
        }
    )


def status_of(counts: DriftCounts, *, taken: bool, blind: bool) -> DriftStatus:
    """Return what came of an investigation.

    Args:
        counts: what was counted.
        taken: the baseline was taken by this very run, so that nothing was compared.
        blind: a cited chunk could not be judged, or a check did not come to its end.
    """
    if taken:
        return DriftStatus.BASELINE_TAKEN
    if counts.drifted:
        return DriftStatus.DRIFT
    return DriftStatus.NOT_JUDGED if blind else DriftStatus.CLEAN


EXIT_CODES = {
    DriftStatus.CLEAN: 0,
    DriftStatus.BASELINE_TAKEN: 7,
    DriftStatus.NOT_JUDGED: 7,
    DriftStatus.DRIFT: 1,
}
"""``failed`` has the code of its error."""


def added(parts: Iterable[DriftCounts]) -> DriftCounts:
    """Return counts added up."""
    total: dict[str, int] = {}
    for part in parts:
        for name, value in part.model_dump().items():
            total[name] = total.get(name, 0) + value
    return DriftCounts(**total)
