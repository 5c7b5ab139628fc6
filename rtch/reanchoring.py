"""A new packet with the chunks of another at the lines where they are now, and without those that have changed.

What a chunk is evidence of was judged when it was found, and stays: reasons, classes, criteria, cautions and the
record of the run are the parent's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rtch.anchors import FileNow
from rtch.entry import now
from rtch.limits import HydrateLimits, load_limits
from rtch.masking import secret_name
from rtch.models.chunk import Chunk, Clipped, SkippedSurface, Surface
from rtch.models.packet import (
    ClaimEvidenceResult,
    FileDigest,
    Packet,
    PacketResult,
    Question,
    ReadBudget,
    Result,
    SingleChunkResult,
    TargetReason,
    TargetSetResult,
)
from rtch.models.verification import JudgedChunk, LinesNow, Verification
from rtch.models.vocab import ChunkVerdict, Origin, QuestionTie, SkipReason
from rtch.packets import seal
from rtch.reading import SkippedFile
from rtch.reentry import line_range, reentry_command
from rtch.stages.chunks import Held, SourceFile, make_chunk
from rtch.verification import read_now
from rtch.version import VERSION

STANDING = frozenset({ChunkVerdict.UNCHANGED, ChunkVerdict.MOVED, ChunkVerdict.RENAMED})
"""Verdicts by which a chunk's bytes are known to be at ``now``."""
_OF_THE_FILE = (
    *("path", "path_encoded", "line_range", "start_line", "end_line", "byte_start", "byte_end", "file_sha256"),
    *("blob_id", "encoding", "bom", "newline", "heading_path", "quote", "next_re_entry_command"),
)
"""What of a chunk follows from its file as it is."""


class _Kept(NamedTuple):
    """The chunks of a new packet, and what was left out."""

    chunks: tuple[Chunk, ...]
    dropped: tuple[SkippedSurface, ...]


def reanchored(packet: Packet, verification: Verification, root: Path) -> Packet:
    """Return a packet whose parent is another, with its chunks as a verification found them.

    Chunks that are unchanged, moved or renamed are kept, with the range, digests and commands of the file that they
    are in now. All others become skipped surfaces with their verdict, and a question names how many they are.

    Args:
        packet: the parent, as its model.
        verification: of that packet.
        root: the zone root that it was held against.
    """
    kept = _kept(packet, verification, root)
    surfaces = _surfaces(packet.selected_surfaces, kept.chunks)
    lines = sum(chunk.end_line - chunk.start_line + 1 for chunk in kept.chunks)
    findings = packet.model_copy(
        update={
            "hydrated_chunks": kept.chunks,
            "selected_surfaces": surfaces,
            "skipped_surfaces": (*packet.skipped_surfaces, *kept.dropped),
            "unresolved_questions": (*packet.unresolved_questions, *_questions(kept.dropped)),
            "read_budget": ReadBudget(
                total=packet.read_budget.total,
                consumed=min(lines, packet.read_budget.total),
                remaining=max(0, packet.read_budget.total - lines),
            ),
            "fingerprint": packet.fingerprint.model_copy(
                update={"hydrated": tuple(FileDigest(path=one.path, sha256=one.sha256) for one in surfaces)}
            ),
            "result": _result(packet.result, surfaces, kept.chunks),
        }
    )
    run = packet.run.model_copy(
        update={"rtch_version": VERSION, "zone_root": str(root), "persisted_at": "", "handoff": None}
    )
    return seal(findings, run, now(), packet.generated_at_tic, parent=packet.packet_id)


def _kept(packet: Packet, verification: Verification, root: Path) -> _Kept:
    files: dict[tuple[str, bool], FileNow | None] = {}
    limits = load_limits().hydrate
    chunks: list[Chunk] = []
    dropped: list[SkippedSurface] = []
    for chunk, judged in zip(packet.hydrated_chunks, verification.chunks, strict=True):
        made = None
        if judged.now is not None and judged.verdict in STANDING:
            place = judged.now.path, judged.now.path_encoded
            if place not in files:
                files[place] = _file(root, *place)
            made = _chunk(files[place], chunk, judged.now, limits)
        if made is None:
            dropped.append(_dropped(chunk, judged))
        else:
            chunks.append(made)
    return _Kept(tuple(chunks), tuple(dropped))


def _file(root: Path, path: str, encoded: bool) -> FileNow | None:  # noqa: FBT001  a pair
    """Return a file as it is; None where it cannot be read or its text must not be shown."""
    try:
        return None if secret_name(path) else read_now(root, path, encoded=encoded)
    except SkippedFile:
        return None


def _chunk(file: FileNow | None, chunk: Chunk, place: LinesNow, limits: HydrateLimits) -> Chunk | None:
    """Return a chunk at its place; None where the file was written again meanwhile."""
    if file is None:
        return None
    object_format = "sha256" if len(chunk.blob_id) == 64 else "sha1"
    source = SourceFile(file.path, file.encoded, file.data, file.sha256, limits, object_format, may_parse=False)
    if place.end_line > len(source.lines):
        return None
    fresh = make_chunk(source, place.start_line, place.end_line, [_held(chunk, place)], number=1)
    if fresh.text_sha256 != chunk.text_sha256:
        return None
    by = place.start_line - chunk.start_line
    changed = {name: getattr(fresh, name) for name in _OF_THE_FILE}
    changed["hits"] = tuple(one.model_copy(update={"line": max(1, one.line + by)}) for one in chunk.hits)
    if chunk.clipped:  # around hits of which only the line is kept, so its text stays as it is
        changed |= _shifted(chunk, by, fresh.byte_start - chunk.byte_start)
    else:
        changed |= {"text": fresh.text, "masked": fresh.masked}
    return chunk.model_copy(update=changed)


def _shifted(chunk: Chunk, lines: int, size: int) -> dict[str, object]:
    """Return where a chunk's text differs from its file, so many lines and bytes further on."""
    masked = (one.model_copy(update={"line": max(1, one.line + lines)}) for one in chunk.masked)
    clipped = (
        Clipped(
            line=max(1, one.line + lines),
            byte_start=max(0, one.byte_start + size),
            byte_end=max(0, one.byte_end + size),
        )
        for one in chunk.clipped
    )
    return {"masked": tuple(masked), "clipped": tuple(clipped)}


def _held(chunk: Chunk, place: LinesNow) -> Held:
    """Return a hit on the line of the chunk's first one; nothing but its line matters here."""
    line = chunk.hits[0].line - chunk.start_line + place.start_line if chunk.hits else place.start_line
    line = min(max(line, place.start_line), place.end_line)
    return Held("", chunk.term_or_shape, Origin.EXPLORATORY, line, 0, chunk.confidence_class)


def _dropped(chunk: Chunk, judged: JudgedChunk) -> SkippedSurface:
    reason, why = SkipReason.CHANGED_SINCE, ", ".join(filter(None, (judged.verdict, judged.detail)))
    if judged.now is not None and judged.verdict in STANDING:
        secret = secret_name(judged.now.path)
        reason = SkipReason.SECRET if secret else SkipReason.CHANGED_DURING_RUN
        why = secret or "written again meanwhile"
    return SkippedSurface(path=chunk.path, reason=reason, detail=f"{chunk.chunk_id}, {chunk.line_range}: {why}")


def _questions(dropped: Sequence[SkippedSurface]) -> Iterable[Question]:
    if dropped:
        those = "1 chunk that was" if len(dropped) == 1 else f"{len(dropped)} chunks that were"
        yield Question(
            question=f"{those} counted when the criteria were judged changed since: would they still be met?",
            tied_to=QuestionTie.SKIPPED_SURFACE,
            reference=dropped[0].path,
        )


def _surfaces(old: Sequence[Surface], kept: Sequence[Chunk]) -> tuple[Surface, ...]:
    """Return the surfaces that still have a chunk, under the paths that these have now, ranked as they were."""
    now_at = {chunk.chunk_id: chunk for chunk in kept}
    made: dict[str, Surface] = {}
    for surface in old:
        chunks = [now_at[one] for one in surface.chunks if one in now_at]
        for path, ids in _by_path(chunks).items():
            first = now_at[ids[0]]
            if path in made:
                made[path] = made[path].model_copy(update={"chunks": (*made[path].chunks, *ids)})
                continue
            made[path] = surface.model_copy(
                update={
                    "path": path,
                    "path_encoded": first.path_encoded,
                    "rank": len(made) + 1,
                    "line_range": line_range(first.start_line, first.end_line),
                    "re_entry_command": reentry_command(
                        path, first.start_line, first.end_line, encoded=first.path_encoded
                    ),
                    "chunks": ids,
                    "sha256": first.file_sha256,
                    "twins": surface.twins if first.file_sha256 == surface.sha256 else (),
                }
            )
    return tuple(made.values())


def _by_path(chunks: Iterable[Chunk]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for chunk in chunks:
        found[chunk.path] = (*found.get(chunk.path, ()), chunk.chunk_id)
    return found


def _result(result: Result, surfaces: Sequence[Surface], chunks: Sequence[Chunk]) -> Result:
    """Return the result less what is no longer in the packet."""
    ids = {chunk.chunk_id for chunk in chunks}
    match result:
        case PacketResult():
            return PacketResult(surfaces=len(surfaces), chunks=len(chunks))
        case TargetSetResult():
            return TargetSetResult(targets=tuple(TargetReason(path=one.path, reason=one.why) for one in surfaces))
        case SingleChunkResult():
            gone = result.chunk_id is not None and result.chunk_id not in ids
            return SingleChunkResult(chunk_id=None, note="none: it changed since it was read") if gone else result
        case ClaimEvidenceResult():
            left = tuple(one for one in result.chunk_ids if one in ids)
            note = f"{len(left)} of {len(result.chunk_ids)} are as they were"
            return ClaimEvidenceResult(chunk_ids=left, note=note) if left != result.chunk_ids else result
