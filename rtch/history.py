"""What is remembered of runs: the keys of the last ones, so that a changed key can be told in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence

from rtch.keys import KeyParts, StateDiff, diff_states, explain
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


class ZoneHistory(Record):
    """What is remembered of a zone's runs (``z/``)."""

    zone: str
    root: str
    stages: tuple[StageHistory, ...]


class PacketHistory(Record):
    """What is remembered of the run that made a packet (``r/``): its zone's history right after it.

    ``made`` are the stages that ran, the others came from the store; ``changed`` are those whose key was
    not that of the run before.
    """

    zone: ZoneHistory
    made: tuple[StageName, ...]
    changed: tuple[StageName, ...]


StateLoader = Callable[[str], bytes | None]
"""From the digest of stored state rows to the rows, None when they are gone."""


def why_stage(history: StageHistory, load_state: StateLoader) -> tuple[str, ...]:
    """Say in words how the stage's latest keys differ from those before."""
    latest, previous = history.latest, history.previous
    if not previous:
        return explain(None, latest[0])
    if len(latest) == len(previous) == 1:
        return explain(previous[0], latest[0], _files(previous[0], latest[0], load_state))
    known = {parts.key for parts in previous}
    fresh = [parts for parts in latest if parts.key not in known]
    words = [f"{len(fresh)} of {len(latest)} keys are new, {len(previous)} before"]
    if fresh:
        # Inputs differ between the members of a mapped stage at any time; the rest they have in common.
        told = explain(previous[0], fresh[0], _files(previous[0], fresh[0], load_state))
        words += [word for word in told if not word.startswith("input ")]
    return tuple(words)


def why_packet(history: PacketHistory, load_state: StateLoader) -> Iterator[tuple[StageName, tuple[str, ...]]]:
    """Say in words, stage by stage, why the run that made the packet ran a stage or did not."""
    for stage in history.zone.stages:
        made, changed = stage.stage in history.made, stage.stage in history.changed
        if made and not changed:
            words: tuple[str, ...] = ("made again under the same key: refreshed, or its artifact was gone",)
        elif changed:
            words = why_stage(stage, load_state)
            words = words if made else ("from the store, under another key than the run before", *words)
        else:
            words = ("from the store",)
        yield stage.stage, words


def packet_history(before: ZoneHistory | None, after: ZoneHistory, steps: Sequence[Step]) -> PacketHistory:
    """Return what a packet remembers of the run with these steps, which led from one history to the next."""
    known = {history.stage: _keys(history.latest) for history in before.stages} if before else {}
    ran = {step.parts.stage for step in steps}
    return PacketHistory(
        zone=ZoneHistory(
            zone=after.zone, root=after.root, stages=tuple(one for one in after.stages if one.stage in ran)
        ),
        made=tuple(sorted({step.parts.stage for step in steps if not step.hit})),
        changed=tuple(
            one.stage for one in after.stages if one.stage in ran and known.get(one.stage) != _keys(one.latest)
        ),
    )


def next_history(before: ZoneHistory | None, zone: str, root: str, steps: Sequence[Step]) -> ZoneHistory:
    """Return the history with the run's keys as the latest, where they differ from the latest so far."""
    stages = {history.stage: history for history in before.stages} if before else {}
    ran: dict[StageName, list[KeyParts]] = {}
    for step in steps:
        ran.setdefault(step.parts.stage, []).append(step.parts)
    for stage, parts in ran.items():
        known = stages.get(stage)
        if known is not None and known.latest == tuple(parts):
            continue  # the usual case, told without hashing
        if known is None or _keys(known.latest) != _keys(parts):
            previous = known.latest if known else ()
            stages[stage] = StageHistory(
                stage=stage, latest=tuple(parts), previous=previous, changed_at=round(time.time(), 3)
            )
    ordered = sorted(stages.values(), key=lambda history: list(StageName).index(history.stage))
    return ZoneHistory(zone=zone, root=root, stages=tuple(ordered))


def _files(before: KeyParts, after: KeyParts, load_state: StateLoader) -> StateDiff | None:
    if not before.state_ref or not after.state_ref:
        return None
    old, new = load_state(before.state_ref), load_state(after.state_ref)
    return None if old is None or new is None else diff_states(old, new)


def _keys(parts: Collection[KeyParts]) -> set[str]:
    return {part.key for part in parts}
