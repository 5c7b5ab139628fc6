"""What the same question selects now: surfaces that entered or left, changes of order, another answer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence

from rtch.finding import finding
from rtch.models.chunk import Surface
from rtch.models.drift import Anchor, Certainty, DriftKind, Finding, Level
from rtch.models.packet import Packet
from rtch.models.vocab import HaltingReason, Verdict
from rtch.reentry import reentry_command

_Key = tuple[str, bool]


def compared(before: Packet, after: Packet, *, explained: Collection[str]) -> tuple[Finding, ...]:
    """Return what the answer of now has otherwise than the baseline's.

    Args:
        before: the baseline.
        after: the packet of now.
        explained: paths whose coming or going another finding tells of already.
    """
    return (*_entered_and_left(before, after, explained), *_reordered(before, after), *_answer(before, after))


def _entered_and_left(before: Packet, after: Packet, explained: Collection[str]) -> list[Finding]:
    old, new = _surfaces(before), _surfaces(after)
    found = [_entered(new[key], len(new)) for key in new if key not in old and key[0] not in explained]
    reasons = {row.path: f"{row.reason}{f': {row.detail}' if row.detail else ''}" for row in after.skipped_surfaces}
    return found + [
        _left(old[key], len(old), reasons.get(key[0], "")) for key in old if key not in new and key[0] not in explained
    ]


def _entered(surface: Surface, of: int) -> Finding:
    return _weighed(
        finding(
            DriftKind.SURFACE_ENTERED,
            subject=(surface.path,),
            state=("selected",),
            message=f"{surface.path} is selected now, as {surface.rank} of {of}: {surface.why}",
            at=_place(surface),
            now=_place(surface),
            next_command=surface.re_entry_command,
        ),
        surface,
        of,
    )


def _left(surface: Surface, of: int, why: str) -> Finding:
    return _weighed(
        finding(
            DriftKind.SURFACE_LEFT,
            subject=(surface.path,),
            state=(why.partition(":")[0],),
            message=f"{surface.path} was {surface.rank} of {of} and is not selected any more"
            + (f" ({why})" if why else ""),
            at=_place(surface),
            next_command=reentry_command(surface.path, encoded=surface.path_encoded),
        ),
        surface,
        of,
    )


def _weighed(found: Finding, surface: Surface, of: int) -> Finding:
    """Return a finding as a note where its surface is in the lower half, which any edit elsewhere may change."""
    return found if surface.rank <= (of + 1) // 2 else found.model_copy(update={"level": Level.NOTE})


def _reordered(before: Packet, after: Packet) -> list[Finding]:
    """Return the fewest surfaces whose moving explains the order of now: others only made room for them.

    One that others moved past, and that has the rank it had, is not told.
    """
    old, new = _surfaces(before), _surfaces(after)
    shared = [key for key in old if key in new]
    stayed = _longest_growing([new[key].rank for key in shared])
    return [
        finding(
            DriftKind.RANK_CHANGED,
            subject=(key[0],),
            state=(str(new[key].rank),),
            message=f"{key[0]} was {old[key].rank} of {len(old)} and is {new[key].rank} of {len(new)}",
            at=_place(old[key]),
            now=_place(new[key]),
            next_command=new[key].re_entry_command,
        )
        for place, key in enumerate(shared)
        if place not in stayed and old[key].rank != new[key].rank
    ]


def _longest_growing(ranks: Sequence[int]) -> set[int]:
    """Return the places of a longest growing sequence in distinct numbers."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for place, rank in enumerate(ranks):
        length = bisect_left(tails, rank)
        before.append(ends[length - 1] if length else -1)
        tails[length:] = [rank, *tails[length + 1 :]]
        ends[length:] = [place, *ends[length + 1 :]]
    found: set[int] = set()
    place = ends[-1] if ends else -1
    while place >= 0:
        found.add(place)
        place = before[place]
    return found


def _answer(before: Packet, after: Packet) -> list[Finding]:
    anchor = Anchor(
        path=after.intake.known_target or (after.selected_surfaces[0].path if after.selected_surfaces else ".")
    )
    goal, found = after.intake.goal, []
    if before.halting_reason is not after.halting_reason:
        message = f"the question halted with {before.halting_reason}, and halts with {after.halting_reason} now"
        better = after.halting_reason is HaltingReason.SATISFIED
        found.append(
            _changed_answer((goal, "halting_reason"), after.halting_reason.value, message, anchor, better=better)
        )
    held = {(one.kind, one.expected): one for one in before.criteria.compiled}
    for one in after.criteria.compiled:
        was = held.get((one.kind, one.expected))
        if was is not None and was.verdict is not one.verdict:
            message = (
                f"{one.kind} {one.expected} was {was.verdict} ({was.observed}) and is {one.verdict} ({one.observed})"
            )
            subject, better = (goal, one.kind.value, one.expected), one.verdict is Verdict.MET
            found.append(_changed_answer(subject, one.verdict.value, message, anchor, better=better))
    return found


def _changed_answer(subject: tuple[str, ...], state: str, message: str, anchor: Anchor, *, better: bool) -> Finding:
    found = finding(
        DriftKind.ANSWER_CHANGED,
        subject=subject,
        state=(state,),
        message=message,
        at=anchor,
        certainty=Certainty.CERTAIN,
    )
    return found.model_copy(update={"level": Level.NOTE}) if better else found


def _surfaces(packet: Packet) -> dict[_Key, Surface]:
    return {(one.path, one.path_encoded): one for one in packet.selected_surfaces}


def _place(surface: Surface) -> Anchor:
    return Anchor(path=surface.path, path_encoded=surface.path_encoded)
