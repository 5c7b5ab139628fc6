"""One of a packet's next legal probes, run as it is declared: its hits make a child packet.

The child has the parent's chunks that still stand, at their lines of now, and the chunks of the probe's hits within
what is left of the read budget. So a chain of probes ends in one packet that has all of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from rtch.complementing import with_complement
from rtch.cutting import uncovered
from rtch.documents import model_of
from rtch.entry import Options, enter, leave, now, run_record
from rtch.errors import IntakeError
from rtch.evidence import strongest
from rtch.jobs import DirectRunner, Group, load, settle
from rtch.models.chunk import Chunk, Hydration, SkippedSurface, Surface
from rtch.models.intake import AcceptedIntake
from rtch.models.packet import Findings, Packet, ProbeOutcome
from rtch.models.plan import Hit, Probe, ProbePlan, ProbeResult
from rtch.models.vocab import Engine
from rtch.packets import peek, seal
from rtch.pipeline import HYDRATE, PACKET, PROBE, Planned, Run, plan
from rtch.reanchoring import reanchored
from rtch.refs import Ref
from rtch.session import Session, open_session
from rtch.tics import zone_tic
from rtch.verification import verify, zone_of

T = TypeVar("T")


class Probed(NamedTuple):
    """A child packet, and what the probe brought."""

    packet: Packet
    hit_count: int
    chunk_count: int
    """New chunks; 0 where nothing was found, all of it was shown already, or no budget is left."""
    shown_by: tuple[str, ...]
    """The parent's chunks that show hits already."""
    unread_count: int
    """Hits that no chunk shows: there was no place for them, or no budget."""


def run_probe(
    packet: Packet | str | os.PathLike[str],
    number: int,
    *,
    root: str | os.PathLike[str] | None = None,
    more_lines: int = 0,
    cached: bool = True,
) -> Probed:
    """Run one of a packet's next legal probes and return the child packet; it is not kept.

    Args:
        packet: a packet; or a file, an id or the beginning of an id.
        number: which probe, from 1, in the packet's order.
        root: the zone root; that of the packet's run where it is None.
        more_lines: lines added to what is left of the packet's read budget.
        cached: whether the artifact store is used.

    Raises:
        IntakeError: the packet has no such probe.
        ZoneError: the root is not a folder that can be read.
        ToolError: rg is missing or fails.
        ArtifactError: there is no such packet, or it cannot be read.
    """
    if isinstance(packet, str | os.PathLike):
        packet = peek(packet if isinstance(packet, str) else Path(packet), roots=(Path(root or "."),))
    parent = model_of(packet)
    probe = _chosen(parent, number)
    place = zone_of(parent, root)
    entry = enter(parent.intake, Options(root=place, cwd=place, cached=cached))
    session = open_session(entry)
    run = session.run_with(DirectRunner(session.limits.probe.workers))
    standing = _standing(parent, place)
    budget = standing.read_budget.remaining + more_lines
    made = _Child(run, parent, standing, probe, budget)
    _, findings = settle(lambda: made.findings(session), session.store)
    findings = _completed(findings, parent, probe)
    blobs = {chunk.path: chunk.blob_id for chunk in findings.hydrated_chunks}
    record = run_record(entry, Engine.DIRECT, blobs, tuple(run.timings))
    child = with_complement(seal(findings, record, now(), zone_tic(place), parent=parent.packet_id), place)
    leave(entry)
    shown_by = tuple(
        one.chunk_id
        for one in standing.hydrated_chunks
        if len(_unseen(made.result.hits, [one])) < len(made.result.hits)
    )
    return Probed(
        child, made.result.hit_count, made.new_chunks, shown_by, len(_unseen(made.result.hits, child.hydrated_chunks))
    )


def _chosen(packet: Packet, number: int) -> Probe:
    legal = packet.next_legal_probes
    if not legal:
        raise IntakeError(f"{packet.packet_id} has no next legal probe", hint="ask again with other seeds, or wider")
    if not 1 <= number <= len(legal):
        raise IntakeError(f"{packet.packet_id} has no next legal probe {number}", hint=f"use 1 to {len(legal)}")
    return legal[number - 1]


def _standing(parent: Packet, root: Path) -> Packet:
    """Return the parent with the chunks that still stand."""
    return reanchored(parent, verify(parent, root=root), root)


class _Child:
    """The findings of a child in the making; each attempt begins anew."""

    def __init__(self, run: Run, parent: Packet, standing: Packet, probe: Probe, budget: int) -> None:
        self.run = run
        self.parent = parent
        self.standing = standing
        self.probe = probe
        self.budget = budget
        self.result = ProbeResult(probe_id=probe.probe_id, hits=(), files_searched=0, bytes_searched=0, hit_count=0)
        self.new_chunks = 0

    def findings(self, session: Session) -> Ref[Findings]:
        """Run the probe and the stages after it; the stages before it are of the tree as it is."""
        run = self.run
        run.steps.clear()
        run.timings.clear()
        planned = plan(run, session.intake, session.surroundings)
        declared = load(run.store, planned.plan)
        self.result = self._probed()
        fresh = self._hydrated(planned, declared)
        evidence = self._joined(fresh)
        ran = [outcome for outcome in self.parent.probe_plan.probes if outcome.ran]
        probes = tuple(outcome.probe for outcome in ran if outcome.probe.probe_id != self.probe.probe_id)
        legal = tuple(one for one in self.parent.next_legal_probes if one.probe_id != self.probe.probe_id)
        whole = declared.model_copy(
            update={
                "probes": (*probes, self.probe),
                "max_probes": max(declared.max_probes, len(probes) + 1),
                "next_legal_probes": legal,
                "next_legal_probes_cut": self.parent.next_legal_probes_cut,
                "read_budget_lines": self.standing.read_budget.consumed + self.budget,
                "basket": self.parent.candidate_basket,
            }
        )
        known = [_known(outcome) for outcome in ran if outcome.probe.probe_id != self.probe.probe_id]
        results = Group([run.put(one) for one in (*known, self.result)])
        return run.stage(
            PACKET,
            planned.asked,
            planned.zone,
            planned.inventory,
            planned.survey,
            run.put(whole),
            results,
            run.put(evidence),
        )

    def _probed(self) -> ProbeResult:
        """Run the probe on those of its targets that are in the tree; the others are errors of its result."""
        index = self.run.workspace.index
        there = tuple(path for path in self.probe.target_set if path in index)
        gone = [path for path in self.probe.target_set if path not in index]
        ref = self.run.put(self.probe.model_copy(update={"target_set": there}))
        found = load(self.run.store, self.run.map(PROBE, [(ref, there, str(self.probe.family))])[0])
        told = tuple(f"{path}: not in the tree" for path in gone)
        return found.model_copy(update={"errors": (*found.errors, *told)})

    def _hydrated(self, planned: Planned, declared: ProbePlan) -> Hydration:
        """Read chunks around the hits that no standing chunk shows, within what is left of the budget."""
        unseen = _unseen(self.result.hits, self.standing.hydrated_chunks)
        hit = {one.path for one in unseen}
        aimed = declared.model_copy(
            update={
                "probes": (self.probe,),
                "candidates": tuple(one for one in declared.candidates if one.path in hit),
                "read_budget_lines": self.budget,
            }
        )
        results = Group([self.run.put(self.result.model_copy(update={"hits": unseen}))])
        asked = self.run.put(_untargeted(load(self.run.store, planned.asked)))
        ref = self.run.stage(HYDRATE, asked, planned.zone, self.run.put(aimed), results, reads=tuple(sorted(hit)))
        return load(self.run.store, ref)

    def _joined(self, fresh: Hydration) -> Hydration:
        """Return the standing evidence with the new one behind it."""
        first = 1 + max((_number(one.chunk_id) for one in self.standing.hydrated_chunks), default=0)
        limits = self.run.limits.hydrate
        ws = self.run.workspace
        chunks = uncovered(fresh.chunks, self.standing.hydrated_chunks, ws, limits, first=first)
        self.new_chunks = len(chunks)
        surfaces = _surfaces(self.standing.selected_surfaces, fresh.surfaces, chunks)
        shown = {one.path for one in surfaces}
        skipped = dict.fromkeys((*self.standing.skipped_surfaces, *fresh.skipped))
        return fresh.model_copy(
            update={
                "chunks": (*self.standing.hydrated_chunks, *chunks),
                "surfaces": surfaces,
                "skipped": tuple(one for one in skipped if one.path not in shown or _of_a_chunk(one)),
                "cautions": _both(self.standing.caution_map, fresh.cautions),
                "effective_records": _both(self.standing.effective_records, fresh.effective_records),
                "holds": _both(self.standing.holds, fresh.holds),
                "lines_consumed": self.standing.read_budget.consumed
                + sum(one.end_line - one.start_line + 1 for one in chunks),
            }
        )


def _both(standing: Iterable[T], fresh: Iterable[T]) -> tuple[T, ...]:
    """Return both without what they have in common twice."""
    return tuple(dict.fromkeys((*standing, *fresh)))


def _untargeted(accepted: AcceptedIntake) -> AcceptedIntake:
    """Return the request without its target, which would be read whole and is no hit of this probe."""
    bare = {"known_target": None, "known_neighbor_surfaces": accepted.intake.known_neighbor_surfaces}
    return accepted.model_copy(update={"intake": accepted.intake.model_copy(update=bare)})


def _unseen(hits: Iterable[Hit], chunks: Sequence[Chunk]) -> tuple[Hit, ...]:
    spans: dict[str, list[tuple[int, int]]] = {}
    for chunk in chunks:
        spans.setdefault(chunk.path, []).append((chunk.start_line, chunk.end_line))
    return tuple(hit for hit in hits if not any(a <= hit.line <= b for a, b in spans.get(hit.path, ())))


def _surfaces(standing: Sequence[Surface], fresh: Sequence[Surface], chunks: Sequence[Chunk]) -> tuple[Surface, ...]:
    """Return the standing surfaces, with the new chunks that lie on them, and then the new ones by rank."""
    by_path: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        by_path.setdefault(chunk.path, []).append(chunk)
    made = {one.path: one for one in standing}
    for surface in fresh:
        new = by_path.get(surface.path, [])
        if not new:
            continue
        known = made.get(surface.path, surface.model_copy(update={"rank": len(made) + 1, "chunks": ()}))
        known_classes = [known.confidence_class] if known.chunks else []
        made[surface.path] = known.model_copy(
            update={
                "chunks": (*known.chunks, *(one.chunk_id for one in new)),
                "confidence_class": strongest([*known_classes, *(one.confidence_class for one in new)]),
                "sha256": surface.sha256,
            }
        )
    return tuple(made.values())


def _of_a_chunk(skipped: SkippedSurface) -> bool:
    """Tell whether a row is of a chunk that was dropped, on a surface that may be shown for others."""
    return skipped.detail.startswith("rtch_chunk_")


def _number(chunk_id: str) -> int:
    digits = chunk_id.rpartition("_")[2]
    return int(digits) if digits.isdecimal() else 0


def _known(outcome: ProbeOutcome) -> ProbeResult:
    """Return what a packet still knows of a probe that ran: how much it found, and not where."""
    return ProbeResult(
        probe_id=outcome.probe.probe_id,
        hits=(),
        files_searched=outcome.files_searched,
        bytes_searched=outcome.bytes_searched,
        hit_count=outcome.hit_count,
        truncated=outcome.truncated,
        timed_out=outcome.timed_out,
        errors=outcome.errors,
    )


def _completed(findings: Findings, parent: Packet, probe: Probe) -> Findings:
    """Return the findings with what the parent tells of its own plan."""
    before = {one.probe.probe_id: one for one in parent.probe_plan.probes}
    probes = tuple(
        one if one.probe.probe_id == probe.probe_id else before.get(one.probe.probe_id, one)
        for one in findings.probe_plan.probes
    )
    kept = {
        name: getattr(parent.probe_plan, name)
        for name in ("dropped", "predicted_files", "predicted_bytes", "predicted_lines")
    }
    executed = findings.probe_plan.model_copy(update={"probes": probes, **kept})
    return findings.model_copy(update={"probe_plan": executed})
