"""Why each surface stands at its rank, and why a path does not stand among them."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from rtch.escape import visible

if TYPE_CHECKING:
    from rtch.models.basket import Basket
    from rtch.models.chunk import SkippedSurface
    from rtch.models.packet import Packet
    from rtch.models.plan import Candidate, Probe, ProbePlan, ScorePart, Unreached

_GROUPED = "/** ("


def explain(packet: Packet) -> str:
    """Return the score parts of every selected surface, largest first."""
    lines: list[str] = []
    for surface in packet.selected_surfaces:
        lines.append(
            f"{surface.rank}. {visible(surface.path)}  score {surface.score:.3f}  {visible(surface.confidence_class)}"
        )
        lines += _parts(surface.score_parts)
    lines.append(f"stopped: {visible(packet.halting_reason)} {visible(packet.halting_detail)}".rstrip())
    return "\n".join(lines)


def explain_plan(plan: ProbePlan) -> str:
    """Return the score parts of the candidates that would be read first, before any probe has run."""
    first = plan.candidates[: plan.surface_cap]
    lines: list[str] = []
    for place, candidate in enumerate(first, start=1):
        lines.append(f"{place}. {visible(candidate.path)}  score {candidate.score:.3f}  before any probe")
        lines += _parts(candidate.parts)
    rest = len(plan.candidates) - len(first)
    lines.append(f"{rest} more candidates stand below; nothing has been searched for them or read")
    return "\n".join(lines)


def _parts(parts: Sequence[ScorePart]) -> Iterator[str]:
    for part in sorted(parts, key=lambda part: (-abs(part.value), part.name)):
        because = f"  {visible(part.because)}" if part.because else ""
        yield f"     {part.value:+9.3f}  {visible(part.name)}{because}"


def why_not(packet: Packet, path: str, candidates: Sequence[Candidate] = ()) -> str:
    """Return, in words, what the packet knows of a path.

    Args:
        packet: the packet.
        path: relative to the zone root.
        candidates: the plan's ranked files, where the caller has the plan.
    """
    wanted = _bare(path)
    found = [
        *_selected(packet, wanted),
        *_skipped(packet.skipped_surfaces, wanted),
        *_ranked(candidates, wanted),
        *_searched(packet, wanted),
        *_known(packet.candidate_basket, wanted),
    ]
    known = {surface.path for surface in packet.selected_surfaces} | {row.path for row in packet.skipped_surfaces}
    return _told(wanted, found, known)


def why_not_planned(plan: ProbePlan, path: str) -> str:
    """Return, in words, what the plan knows of a path.

    Args:
        plan: the declared probes, of which none has run.
        path: relative to the zone root.
    """
    wanted = _bare(path)
    aimed = [one.probe_id for one in plan.probes if _aims_at(one, wanted)]
    later = [one.probe_id for one in plan.next_legal_probes if _aims_at(one, wanted)]
    found = [
        *_ranked(plan.candidates, wanted),
        *([f"to be searched by {visible(', '.join(aimed))}"] if aimed else []),
        *([f"a next legal probe would search it: {visible(', '.join(later))}"] if later else []),
        *_skipped(plan.unreached, wanted),
        *_known(plan.basket, wanted),
    ]
    known = {candidate.path for candidate in plan.candidates} | {row.path for row in plan.unreached}
    return _told(wanted, found, known | {target for one in plan.probes for target in one.target_set})


def _bare(path: str) -> str:
    return path.removeprefix("./").rstrip("/")


def _told(path: str, found: Sequence[str], known: Collection[str]) -> str:
    lines = found or ["no term of the basket led to it and no probe had it in its target set", *_near(path, known)]
    return "\n".join(f"{visible(path)}: {line}" for line in lines)


def _selected(packet: Packet, path: str) -> Iterator[str]:
    for surface in packet.selected_surfaces:
        if path == surface.path:
            yield f"it is selected, at rank {surface.rank}: {visible(surface.why)}"
        elif path in surface.twins:
            yield f"it has the same bytes as {visible(surface.path)}, selected at rank {surface.rank}"


def _skipped(rows: Sequence[SkippedSurface | Unreached], path: str) -> Iterator[str]:
    for row in rows:
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
    outcomes = [one for one in packet.probe_plan.probes if _aims_at(one.probe, path)]
    ran = [one.probe.probe_id for one in outcomes if one.ran]
    waiting = [one.probe.probe_id for one in outcomes if not one.ran]
    if ran:
        yield f"searched by {visible(', '.join(ran))}"
    if waiting:
        yield f"would have been searched by {visible(', '.join(waiting))}, which did not run"


def _known(basket: Basket, path: str) -> Iterator[str]:
    for term in basket.terms:
        if any(place.path == path for place in term.places):
            yield f"the inventory knows the term {visible(term.term)} from it"


def _aims_at(probe: Probe, path: str) -> bool:
    return any(_covers(target, path) for target in probe.target_set)


def _covers(target: str, path: str) -> bool:
    return target in {path, ".", "**"} or path.startswith(target.removesuffix("/**").rstrip("/") + "/")


def _near(path: str, known: Collection[str]) -> Iterator[str]:
    near = difflib.get_close_matches(path, sorted(known), n=1, cutoff=0.8)
    if near:
        yield f"did you mean {visible(near[0])}?"
