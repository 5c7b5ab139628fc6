"""Why each surface stands at its rank, and why a path does not stand among them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rtch.escape import visible

if TYPE_CHECKING:
    from rtch.models.packet import Packet
    from rtch.models.plan import Candidate

_GROUPED = "/** ("


def explain(packet: Packet) -> str:
    """Return the score parts of every selected surface, largest first."""
    lines: list[str] = []
    for surface in packet.selected_surfaces:
        lines.append(
            f"{surface.rank}. {visible(surface.path)}  score {surface.score:.3f}  {visible(surface.confidence_class)}"
        )
        for part in sorted(surface.score_parts, key=lambda part: (-abs(part.value), part.name)):
            because = f"  {visible(part.because)}" if part.because else ""
            lines.append(f"     {part.value:+9.3f}  {visible(part.name)}{because}")
    lines.append(f"stopped: {visible(packet.halting_reason)} {visible(packet.halting_detail)}".rstrip())
    return "\n".join(lines)


def why_not(packet: Packet, path: str, candidates: Sequence[Candidate] = ()) -> str:
    """Return, in words, what the packet knows of a path.

    Args:
        packet: the packet.
        path: relative to the zone root.
        candidates: the plan's ranked files, where the caller has the plan.
    """
    wanted = path.removeprefix("./").rstrip("/")
    found = [
        *_selected(packet, wanted),
        *_skipped(packet, wanted),
        *_ranked(candidates, wanted),
        *_searched(packet, wanted),
    ]
    if not found:
        found = ["no term of the basket led to it and no probe had it in its target set", *_near(packet, wanted)]
    return "\n".join(f"{visible(wanted)}: {line}" for line in found)


def _selected(packet: Packet, path: str) -> Iterator[str]:
    for surface in packet.selected_surfaces:
        if path == surface.path:
            yield f"it is selected, at rank {surface.rank}: {visible(surface.why)}"
        elif path in surface.twins:
            yield f"it has the same bytes as {visible(surface.path)}, selected at rank {surface.rank}"


def _skipped(packet: Packet, path: str) -> Iterator[str]:
    for row in packet.skipped_surfaces:
        detail = f" ({visible(row.detail)})" if row.detail else ""
        if row.path == path:
            yield f"skipped: {visible(row.reason)}{detail}"
        elif _GROUPED in row.path and path.startswith(row.path.split(_GROUPED)[0] + "/"):
            yield f"it may be one of those skipped as {visible(row.path)}: {visible(row.reason)}{detail}"


def _ranked(candidates: Sequence[Candidate], path: str) -> Iterator[str]:
    for place, candidate in enumerate(candidates, start=1):
        if candidate.path == path:
            parts = ", ".join(f"{visible(part.name)} {part.value:+.3f}" for part in candidate.parts)
            score = f"score {candidate.score:.3f} ({parts})"
            yield f"before any probe it stood at place {place} of {len(candidates)}, {score}"


def _searched(packet: Packet, path: str) -> Iterator[str]:
    outcomes = [
        one for one in packet.probe_plan.probes if any(_covers(target, path) for target in one.probe.target_set)
    ]
    ran = [one.probe.probe_id for one in outcomes if one.ran]
    waiting = [one.probe.probe_id for one in outcomes if not one.ran]
    if ran:
        yield f"searched by {visible(', '.join(ran))}"
    if waiting:
        yield f"would have been searched by {visible(', '.join(waiting))}, which did not run"
    for term in packet.candidate_basket.terms:
        if any(place.path == path for place in term.places):
            yield f"the inventory knows the term {visible(term.term)} from it"


def _covers(target: str, path: str) -> bool:
    return target in {path, ".", "**"} or path.startswith(target.removesuffix("/**").rstrip("/") + "/")


def _near(packet: Packet, path: str) -> Iterator[str]:
    known = {surface.path for surface in packet.selected_surfaces} | {row.path for row in packet.skipped_surfaces}
    near = difflib.get_close_matches(path, sorted(known), n=1, cutoff=0.8)
    if near:
        yield f"did you mean {visible(near[0])}?"
