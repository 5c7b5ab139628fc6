"""Packets that cite lines of a real tree, made as hydration makes them, and what became of these lines."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # tests are no package: siblings are found beside this file

import samples as sample

sys.path.pop(0)

from rtch.limits import load_limits
from rtch.models.chunk import Chunk, Surface
from rtch.models.packet import FileDigest, Fingerprint, Packet, PacketResult
from rtch.models.verification import JudgedChunk, LinesNow
from rtch.models.vocab import ConfidenceClass, Origin
from rtch.reentry import path_bytes
from rtch.stages.chunks import Held, SourceFile, make_chunk
from rtch.text import LineIndex, wide_encoding


def cited(root: Path, path: str, start: int, end: int, *, number: int = 1, encoded: bool = False) -> Chunk:
    """Return a chunk of some lines of a file, with a hit on the first."""
    data = bytes_at(root, path, encoded=encoded)
    digest = hashlib.sha256(data).hexdigest()
    file = SourceFile(path, encoded, data, digest, load_limits().hydrate, "sha1", may_parse=True)
    held = Held("rtch_probe_1", "settle", Origin.EXPLICIT_SEED, start, 0, ConfidenceClass.HYDRATED_EVIDENCE)
    return make_chunk(file, start, end, [held], number=number)


def citing(root: Path, *chunks: Chunk, commit: str = "", twins: Sequence[str] = (), **changes: Any) -> Packet:
    """Return a packet of these chunks, with a surface for each path."""
    paths = list(dict.fromkeys(chunk.path for chunk in chunks))
    surfaces = [_surface(rank, [one for one in chunks if one.path == path]) for rank, path in enumerate(paths, 1)]
    surfaces = [one.model_copy(update={"twins": tuple(twins)}) for one in surfaces]
    fields: dict[str, Any] = {
        "hydrated_chunks": chunks,
        "selected_surfaces": tuple(surfaces),
        "fingerprint": Fingerprint(
            listing=sample.digest("listing"),
            hydrated=tuple(FileDigest(path=one.path, sha256=one.sha256) for one in surfaces),
        ),
        "result": PacketResult(surfaces=len(surfaces), chunks=len(chunks)),
        "run": sample.run_record(zone_root=str(root), commit=commit),
    }
    return sample.packet(**(fields | changes))


def _surface(rank: int, chunks: Sequence[Chunk]) -> Surface:
    first = chunks[0]
    return sample.surface(
        rank,
        path=first.path,
        path_encoded=first.path_encoded,
        line_range=first.line_range,
        re_entry_command=first.next_re_entry_command,
        chunks=tuple(one.chunk_id for one in chunks),
        sha256=first.file_sha256,
    )


def bytes_at(root: Path, path: str, *, encoded: bool = False) -> bytes:
    return Path(os.fsdecode(os.fsencode(root) + b"/" + path_bytes(path, encoded=encoded))).read_bytes()


def span_of(root: Path, now: LinesNow) -> bytes:
    """Return the bytes of some lines as they are."""
    data = bytes_at(root, now.path, encoded=now.path_encoded)
    start, end = LineIndex(data, wide_encoding(data) or "utf-8").span(now.start_line, now.end_line)
    return data[start:end]


def told(judged: JudgedChunk) -> tuple[str, str | None]:
    """Return a verdict and where the lines are, both as text."""
    now = judged.now
    return judged.verdict.value, None if now is None else f"{now.path}:L{now.start_line}-L{now.end_line}"
