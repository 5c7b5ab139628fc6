"""What is remembered of runs: the keys of the last ones, so that a changed key can be told in words."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from rtch.keys import KeyParts
from rtch.models.base import Record
from rtch.models.vocab import StageName


class Step(Record):
    """One stage of a run: the parts of its key, and whether its artifact was in the store."""

    parts: KeyParts
    hit: bool


class StageHistory(Record):
    """The last two distinct sets of keys that a stage had in a zone; several keys when it is mapped."""

    stage: StageName
    latest: tuple[KeyParts, ...]
    previous: tuple[KeyParts, ...] = ()
    changed_at: float = 0.0


class RunHistory(Record):
    """What is remembered of a zone's last runs (``z/``), or of the run that made a packet (``r/``)."""

    zone: str
    root: str
    stages: tuple[StageHistory, ...]


def next_history(before: RunHistory | None, zone: str, root: str, steps: Sequence[Step]) -> RunHistory:
    """Return the history with the run's keys as the latest, where they differ from the latest so far."""
    stages = {history.stage: history for history in before.stages} if before else {}
    ran: dict[StageName, list[KeyParts]] = {}
    for step in steps:
        ran.setdefault(step.parts.stage, []).append(step.parts)
    for stage, parts in ran.items():
        known = stages.get(stage)
        if known is None or _keys(known.latest) != _keys(parts):
            previous = known.latest if known else ()
            stages[stage] = StageHistory(
                stage=stage, latest=tuple(parts), previous=previous, changed_at=round(time.time(), 3)
            )
    ordered = sorted(stages.values(), key=lambda history: list(StageName).index(history.stage))
    return RunHistory(zone=zone, root=root, stages=tuple(ordered))


def _keys(parts: Collection[KeyParts]) -> set[str]:
    return {part.key for part in parts}
