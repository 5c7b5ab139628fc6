"""How a run of investigations ends: a state whose name says what was found, and never looks clean where it is not.

A state's type decides its colour in the UI, and whether automations take it for a success. Completed are runs in
which nothing new was found, or that took their baseline; everything else is of type Failed, and its name says
whether the tree has drifted or the run came to grief. The report is kept with either.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any

from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed
from prefect.utilities.annotations import quote

from rtch.errors import RtchError
from rtch.flows.pages import visible
from rtch.models.drift import DriftReport, DriftStatus, Investigation

NAMES = {
    DriftStatus.CLEAN: "Clean",
    DriftStatus.BASELINE_TAKEN: "BaselineTaken",
    DriftStatus.NOT_JUDGED: "NotJudged",
    DriftStatus.DRIFT: "Drift",
    DriftStatus.FAILED: "Failed",
}
GOOD = frozenset({DriftStatus.CLEAN, DriftStatus.BASELINE_TAKEN})
MOST_TOLD = 10
"""Investigations that a state's message tells of one by one."""


class NotClean(RtchError):  # noqa: N818  what a run ended with, and no error of its own
    """A run that came to its end and is not clean; its report is kept."""

    def __init__(self, report: DriftReport) -> None:
        super().__init__(told(report))
        self.report = report
        self.exit_code = report.exit_code

    def __reduce__(self) -> tuple[type[NotClean], tuple[DriftReport]]:
        """Travel between processes by the report."""
        return NotClean, (self.report,)


class _Foreseen(logging.Filter):
    """Keeps Prefect from calling an end that was foreseen an unexpected exception, with its trace.

    A process that a schedule started raises whatever a flow of type Failed ended with, after the state is told.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], NotClean))


_FORESEEN = _Foreseen()


def ended(report: DriftReport) -> State[Any]:
    """Return the final state of a run, which holds its report."""
    worst = worst_of(report)
    if worst in GOOD:
        return Completed(name=NAMES[worst], message=told(report), data=quote(report))
    logging.getLogger("prefect.flow_runs").addFilter(_FORESEEN)
    return Failed(name=NAMES[worst], message=told(report), data=NotClean(report))


def worst_of(report: DriftReport) -> DriftStatus:
    """Return the worst that came of any investigation."""
    order = list(DriftStatus)
    return max((one.status for one in report.investigations), key=order.index)


def told(report: DriftReport) -> str:
    """Return a report in a line: how many ended how, then those that are not clean."""
    counted = Counter(one.status for one in report.investigations)
    total = ", ".join(f"{counted[status]} {status.value}" for status in reversed(DriftStatus) if counted[status])
    order = list(DriftStatus)
    bad = sorted(
        (one for one in report.investigations if one.status is not DriftStatus.CLEAN),
        key=lambda one: -order.index(one.status),
    )
    lines = [f"{one.saved} @ {one.zone_name}: {outcome(one)}" for one in bad[:MOST_TOLD]]
    if len(bad) > MOST_TOLD:
        lines.append(f"and {len(bad) - MOST_TOLD} more")
    return visible("; ".join([total, *lines]))


def outcome(one: Investigation) -> str:
    """Return what came of an investigation, in a few words."""
    counts = one.counts
    match one.status:
        case DriftStatus.FAILED:
            return f"failed: {one.failure}"
        case DriftStatus.DRIFT:
            return f"{counts.drifted} drifted"
        case DriftStatus.NOT_JUDGED:
            return f"{counts.not_judged} not judged"
        case DriftStatus.BASELINE_TAKEN:
            return "nothing to compare with yet, a baseline was taken"
        case DriftStatus.CLEAN:
            return f"nothing new on {counts.chunks} chunks and {counts.surfaces} surfaces"
