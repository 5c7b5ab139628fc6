"""A packet taken up again: held against the tree, the corrections and the newer packets; what may still be claimed.

Nothing restores what corrections take back: a chunk that shows a row as it was before bears no claim, and a packet
with such a chunk is held. The packet itself is read and never written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from rtch.documents import model_of
from rtch.errors import ArtifactError, RtchError, ZoneError
from rtch.handoff.material import UNTELLABLE, material_of
from rtch.heat import Heat, Made, heat_of, moment_of
from rtch.models.packet import Packet
from rtch.models.rehydration import ClaimForce, Outcome, RehydratedChunk, Rehydration
from rtch.models.verification import JudgedChunk, VerdictCounts, Verification
from rtch.models.vocab import ChunkVerdict, ConfidenceClass
from rtch.packet_history import Entry, brings_something, entries, question_of, superseding
from rtch.packets import peek
from rtch.reanchoring import reanchored
from rtch.tics import zone_tic
from rtch.verification import verify, zone_of

_STRENGTH = {force: len(ClaimForce) - n for n, force in enumerate(ClaimForce)}
_BY_VERDICT = {
    ChunkVerdict.UNCHANGED: ClaimForce.ACTIVE,
    ChunkVerdict.MOVED: ClaimForce.ACTIVE,
    ChunkVerdict.RENAMED: ClaimForce.RESTORED_WITH_CAVEAT,
    ChunkVerdict.EDITED: ClaimForce.CAUTION_ONLY,
    ChunkVerdict.AMBIGUOUS: ClaimForce.CAUTION_ONLY,
    ChunkVerdict.DELETED: ClaimForce.NONE,
    ChunkVerdict.UNREADABLE: ClaimForce.NONE,
    ChunkVerdict.NOT_JUDGED: ClaimForce.NONE,
}
_BY_OUTCOME = {
    Outcome.REFRESHED: ClaimForce.ACTIVE,
    Outcome.DRIFT_DETECTED: ClaimForce.RESTORED_WITH_CAVEAT,
    Outcome.SUPERSEDED: ClaimForce.CAUTION_ONLY,
    Outcome.FAILED: ClaimForce.NONE,
    Outcome.HELD: ClaimForce.NONE,
}
"""What the packet as a whole may still claim at most."""
_CHUNKS_AT_MOST = {
    Outcome.SUPERSEDED: ClaimForce.RESTORED_WITH_CAVEAT,
    Outcome.HELD: ClaimForce.RESTORED_WITH_CAVEAT,
}
"""What a chunk that stands may claim where its packet as a whole does not."""
_BY_HEAT = {
    Heat.ACTIVE: ClaimForce.ACTIVE,
    Heat.RESTORED_WITH_CAVEAT: ClaimForce.RESTORED_WITH_CAVEAT,
    Heat.CAUTION_ONLY: ClaimForce.CAUTION_ONLY,
    Heat.NONE: ClaimForce.CAUTION_ONLY,
}
_NO_EVIDENCE = frozenset(
    {ConfidenceClass.HIT, ConfidenceClass.WEAK_HIT, ConfidenceClass.NEIGHBOR_ONLY, ConfidenceClass.CAUTION_ONLY}
)
"""Classes that were a hint when they were found, and are no more than that now."""


class Rehydrated(NamedTuple):
    """The outcome, and the packet with the lines of now where one was made; it is not kept yet."""

    rehydration: Rehydration
    packet: Packet | None


def rehydrate(
    packet: Packet | str | os.PathLike[str],
    *,
    now: datetime | None = None,
    root: str | os.PathLike[str] | None = None,
    roots: Sequence[Path] = (),
    tic: int | None = None,
) -> Rehydrated:
    """Say what became of a packet, and what of it may still be claimed.

    Args:
        packet: a packet; or a file, an id or the beginning of an id.
        now: with an offset; a packet's age bounds what it may claim. None is the time that it is.
        root: the zone root; that of the packet's run where it is None.
        roots: zones whose kept packets may supersede it, besides those in rtch's data folder.
        tic: the zone's counter; None is what its rows say, of a packet that was made in tics.

    Raises:
        ZoneError: the root is not a folder that can be read.
        ArtifactError: there is no such packet, or it cannot be read.
    """
    if isinstance(packet, str | os.PathLike):
        packet = peek(packet if isinstance(packet, str) else Path(packet), roots=(*roots, Path(root or ".")))
    packet = model_of(packet)
    place = zone_of(packet, root)
    material = material_of(packet, place)
    verification = _verified(packet, place)
    newer = _newer(packet, roots=(*roots, place))
    outcome, because = _outcome(packet, verification, material.untold, newer)
    if tic is None and packet.generated_at_tic is not None:
        tic = zone_tic(place)
    made = Made(packet.generated_at, packet.generated_at_tic, packet.ttl_tics)
    by_age = _BY_HEAT[heat_of(made, now=now or datetime.now(UTC), tic=tic)]
    chunks = tuple(
        _chunk(judged, chunk.confidence_class, material.untold, material.doubted, (outcome, by_age))
        for judged, chunk in zip(verification.chunks, packet.hydrated_chunks, strict=True)
    )
    child = None
    if outcome is Outcome.REFRESHED and verification.counts.moved:
        child = reanchored(packet, verification, place).model_copy(update={"generated_at_tic": tic})
    whole = _weakest(_BY_OUTCOME[outcome], by_age) if packet.hydrated_chunks else ClaimForce.NONE
    record = Rehydration(
        packet_id=packet.packet_id,
        outcome=outcome,
        claim_force=whole,
        because=because,
        chunks=chunks,
        counts=verification.counts,
        held_chunks=len(material.untold),
        superseded_by=newer,
        refreshed_as=None if child is None else child.packet_id,
    )
    return Rehydrated(record, child)


def _verified(packet: Packet, root: Path) -> Verification:
    """Return the verdicts; where corrections cannot be looked at, no chunk is judged."""
    try:
        return verify(packet, root=root)
    except (ZoneError, ArtifactError):
        raise
    except (RtchError, ImportError) as error:
        why = f"{UNTELLABLE}: {error}"
        rows = tuple(
            JudgedChunk(
                chunk_id=one.chunk_id,
                verdict=ChunkVerdict.NOT_JUDGED,
                path=one.path,
                path_encoded=one.path_encoded,
                start_line=one.start_line,
                end_line=one.end_line,
                detail=why,
            )
            for one in packet.hydrated_chunks
        )
        return Verification(packet_id=packet.packet_id, chunks=rows, counts=VerdictCounts(not_judged=len(rows)))


def _newer(packet: Packet, *, roots: Sequence[Path]) -> str | None:
    """Return the newest packet of the same question, where it is newer than this one or was made of it."""
    found = entries(roots=tuple(dict.fromkeys(roots)), goal=packet.intake.goal)
    if all(one.packet_id != packet.packet_id for one in found):
        found.append(Entry(packet.packet_id, Path(), 0.0, packet))
    newest = superseding(found).get(packet.packet_id)
    by_id = {one.packet_id: one.packet for one in found if one.packet is not None}
    if newest is not None and _moment(by_id[newest]) > _moment(packet):
        return newest
    # Packets say when they were made in whole seconds, so one may be as old as what was made of it.
    made_of_it = [
        (_moment(other), packet_id)
        for packet_id, other in by_id.items()
        if getattr(other, "parent_packet_id", None) == packet.packet_id
        and question_of(other) == question_of(packet)
        and brings_something(other, packet)
    ]
    return max(made_of_it)[1] if made_of_it else None


def _moment(packet: Packet) -> datetime:
    return moment_of(packet.generated_at) or datetime.min.replace(tzinfo=UTC)


def _outcome(
    packet: Packet, verification: Verification, untold: Mapping[str, str], newer: str | None
) -> tuple[Outcome, str]:
    total = len(packet.hydrated_chunks)
    counts = verification.counts
    if untold:
        first = next(iter(untold.items()))
        rest = f" and {len(untold) - 1} more" if len(untold) > 1 else ""
        return Outcome.HELD, f"corrections keep back {first[0]}{rest}: {first[1]}"
    if newer is not None:
        return Outcome.SUPERSEDED, f"{newer} is newer and answers the same question"
    if verification.changed:
        changed = counts.edited + counts.deleted + counts.renamed + counts.ambiguous
        return Outcome.DRIFT_DETECTED, f"{changed} of {total} chunks are no longer what the packet says"
    if verification.unjudged:
        return Outcome.FAILED, f"of {counts.unreadable + counts.not_judged} of {total} chunks nothing is known"
    if not total:
        return Outcome.REFRESHED, "the packet has no chunk that could be held against the tree"
    moved = f", {counts.moved} of them at other lines" if counts.moved else ""
    return Outcome.REFRESHED, f"all {total} chunks stand{moved}"


def _chunk(
    judged: JudgedChunk,
    confidence: ConfidenceClass,
    untold: Mapping[str, str],
    doubted: Mapping[str, str],
    bounds: tuple[Outcome, ClaimForce],
) -> RehydratedChunk:
    outcome, by_age = bounds
    force = _weakest(_BY_VERDICT[judged.verdict], by_age, _CHUNKS_AT_MOST.get(outcome, ClaimForce.ACTIVE))
    detail = judged.detail
    if confidence in _NO_EVIDENCE:
        force = _weakest(force, ClaimForce.CAUTION_ONLY)
    if judged.path in doubted:
        force, detail = _weakest(force, ClaimForce.CAUTION_ONLY), detail or doubted[judged.path]
    if judged.chunk_id in untold:
        force, detail = ClaimForce.NONE, untold[judged.chunk_id]
    row = judged.model_dump(exclude={"detail"})
    return RehydratedChunk.model_validate(row | {"claim_force": force, "detail": detail})


def _weakest(*forces: ClaimForce) -> ClaimForce:
    return min(forces, key=_STRENGTH.__getitem__)
