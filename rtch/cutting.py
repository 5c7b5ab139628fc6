"""The part of a chunk that other chunks do not show, so that no line of a packet stands in it twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rtch.evidence import ORDER
from rtch.limits import HydrateLimits
from rtch.models.chunk import Chunk, ProbeHitRef
from rtch.models.vocab import ConfidenceClass, Origin
from rtch.reading import SkippedFile
from rtch.stages.chunks import Held, SourceFile, make_chunk
from rtch.workspace import Workspace


class SourceOf(NamedTuple):
    """Where the text of a part comes from."""

    ws: Workspace
    limits: HydrateLimits

    def file(self, chunk: Chunk) -> SourceFile | None:
        """Return a chunk's file; None where it is no longer the one that the chunk is of."""
        try:
            read = self.ws.read(chunk.path, max_bytes=self.limits.max_file_bytes)
        except SkippedFile:
            return None
        if read.sha256 != chunk.file_sha256:
            return None
        return SourceFile(
            path=chunk.path,
            encoded=chunk.path_encoded,
            data=read.data,
            sha256=read.sha256,
            limits=self.limits,
            object_format=self.ws.object_format,
            may_parse=False,
        )


def uncovered(
    chunks: Iterable[Chunk], shown: Iterable[Chunk], ws: Workspace, limits: HydrateLimits, *, first: int
) -> list[Chunk]:
    """Return chunks without the lines that others show, numbered anew; what has no hit then is left out.

    Args:
        chunks: of files as they are.
        shown: the others.
        ws: the open tree.
        limits: of hydration.
        first: the number of the first one.
    """
    spans: dict[str, list[tuple[int, int]]] = {}
    for one in shown:
        spans.setdefault(one.path, []).append((one.start_line, one.end_line))
    made: list[Chunk] = []
    for chunk in chunks:
        for start, end in _gaps(chunk, sorted(spans.get(chunk.path, ()))):
            number = first + len(made)
            if (start, end) == (chunk.start_line, chunk.end_line):
                made.append(chunk.model_copy(update={"chunk_id": f"rtch_chunk_{number}"}))
                continue
            part = _part(chunk, (start, end), SourceOf(ws, limits), number)
            if part is not None:
                made.append(part)
    return made


def _gaps(chunk: Chunk, spans: Sequence[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """Yield the ranges of a chunk's lines that lie in none of the spans, which are in order."""
    start = chunk.start_line
    for low, high in spans:
        if high < start or low > chunk.end_line:
            continue
        if low > start:
            yield start, low - 1
        start = high + 1
    if start <= chunk.end_line:
        yield start, chunk.end_line


def _part(chunk: Chunk, lines: tuple[int, int], source: SourceOf, number: int) -> Chunk | None:
    start, end = lines
    hits = [hit for hit in chunk.hits if start <= hit.line <= end]
    if not hits:
        return None
    file = source.file(chunk)
    if file is None:
        return None
    held = [Held(hit.probe_id, hit.term, hit.origin, hit.line, 0, _class(chunk, hit)) for hit in hits]
    return make_chunk(file, start, end, held, number=number)


def _class(chunk: Chunk, hit: ProbeHitRef) -> ConfidenceClass:
    """Return what a hit is worth at most: the chunk's class is that of its best term."""
    if hit.term == chunk.term_or_shape:
        return chunk.confidence_class
    most = ConfidenceClass.WEAK_HIT if hit.origin is Origin.EXPLORATORY else ConfidenceClass.HYDRATED_EVIDENCE
    return min(chunk.confidence_class, most, key=ORDER.__getitem__)
