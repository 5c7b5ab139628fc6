"""What became of cited lines: the verdicts on a baseline's chunks as findings."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rtch.anchors import Lines
from rtch.finding import excerpt, finding
from rtch.models.chunk import Chunk
from rtch.models.drift import Anchor, Certainty, DriftKind, Finding, Level, NotJudged
from rtch.models.packet import Packet
from rtch.models.verification import JudgedChunk, LinesNow, Verification
from rtch.models.vocab import ChunkVerdict
from rtch.reading import SkippedFile
from rtch.reentry import line_range, reentry_command
from rtch.verification import read_now

_KINDS = {
    ChunkVerdict.MOVED: DriftKind.MOVED,
    ChunkVerdict.EDITED: DriftKind.EDITED,
    ChunkVerdict.DELETED: DriftKind.DELETED,
    ChunkVerdict.RENAMED: DriftKind.RENAMED,
    ChunkVerdict.AMBIGUOUS: DriftKind.AMBIGUOUS,
}


class Cited(NamedTuple):
    """The findings, and the chunks of which nothing is known."""

    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]


class _Judged(NamedTuple):
    chunk: Chunk
    row: JudgedChunk


def cited(baseline: Packet, verification: Verification, root: Path, *, is_there: Callable[[str], bool]) -> Cited:
    """Return a finding for each chunk that is no longer as it was captured; chunks of a gone file share one.

    Args:
        baseline: the packet that was verified.
        verification: a verdict for each of its chunks, in their order.
        root: the zone root.
        is_there: whether the tree has a path.
    """
    judged = [_Judged(*pair) for pair in zip(baseline.hydrated_chunks, verification.chunks, strict=True)]
    not_judged = [
        NotJudged(what=one.row.chunk_id, why=f"{_where(one.chunk)} is {one.row.verdict}: {one.row.detail}")
        for one in judged
        if one.row.verdict in {ChunkVerdict.UNREADABLE, ChunkVerdict.NOT_JUDGED}
    ]
    drifted = [one for one in judged if one.row.verdict in _KINDS]
    gone: dict[tuple[str, str], list[_Judged]] = {}
    findings: list[Finding] = []
    for one in drifted:
        if one.row.verdict in {ChunkVerdict.DELETED, ChunkVerdict.RENAMED} and not is_there(one.chunk.path):
            gone.setdefault((one.chunk.path, "" if one.row.now is None else one.row.now.path), []).append(one)
        else:
            findings.append(_of_chunk(one, root))
    findings += [_of_gone_file(group) for group in gone.values()]
    return Cited(tuple(findings), tuple(not_judged))


def _of_gone_file(group: Sequence[_Judged]) -> Finding:
    first, row = group[0].chunk, group[0].row
    what = f"{len(group)} cited chunk{'s' if len(group) > 1 else ''}"
    if row.now is None:
        return finding(
            DriftKind.DELETED,
            subject=(first.path,),
            state=("gone",),
            message=f"{first.path} is gone, with {what}",
            at=_at(first),
            captured=excerpt(first.text),
            verdict=ChunkVerdict.DELETED,
            chunk_id=first.chunk_id,
            related=_others(group),
        )
    return finding(
        DriftKind.RENAMED,
        subject=(first.path,),
        state=(row.now.path,),
        message=f"{first.path} is gone, and {what} of it {'are' if len(group) > 1 else 'is'} in {row.now.path}",
        at=_at(first),
        captured=excerpt(first.text),
        now=_now(row.now),
        found=excerpt(first.text),
        verdict=ChunkVerdict.RENAMED,
        chunk_id=first.chunk_id,
        related=_others(group),
        next_command=_read_again(row.now),
    )


def _others(group: Sequence[_Judged]) -> tuple[Anchor, ...]:
    return tuple(_at(one.chunk) for one in group[1:])


def _of_chunk(one: _Judged, root: Path) -> Finding:
    chunk, row = one
    now = None if row.now is None else _now(row.now)
    file, text = _text_now(root, row)
    state = {
        ChunkVerdict.MOVED: (line_range(row.now.start_line, row.now.end_line) if row.now else "",),
        ChunkVerdict.EDITED: (text or file,),
        ChunkVerdict.AMBIGUOUS: (row.detail,),
    }.get(row.verdict, (row.verdict.value,))
    same = row.verdict is ChunkVerdict.EDITED and bool(text) and _same_but_for_line_ends(text, chunk)
    by_digest = row.verdict in {ChunkVerdict.MOVED, ChunkVerdict.RENAMED}
    found = finding(
        _KINDS[row.verdict],
        subject=(chunk.path, chunk.line_range, chunk.text_sha256),
        state=state,
        message=f"{_where(chunk)} {_said(row)}",
        at=_at(chunk),
        certainty=Certainty.CERTAIN if by_digest else Certainty.LIKELY,
        captured=excerpt(_differing(chunk.text, text)),
        now=now,
        found=excerpt(_differing(text, chunk.text)),
        verdict=row.verdict,
        chunk_id=chunk.chunk_id,
        next_command=_read_again(row.now) if row.now else reentry_command(chunk.path, encoded=chunk.path_encoded),
    )
    # git may check a file out with other line ends than it was captured with: nothing was written.
    return found.model_copy(update={"level": Level.NOTE}) if same else found


def _same_but_for_line_ends(text: str, chunk: Chunk) -> bool:
    plain = not (chunk.masked or chunk.clipped)
    return plain and text.replace("\r\n", "\n") == chunk.text.replace("\r\n", "\n")


def _said(row: JudgedChunk) -> str:
    words = {ChunkVerdict.MOVED: "is", ChunkVerdict.AMBIGUOUS: "is ambiguous:", ChunkVerdict.RENAMED: "moved:"}
    detail = f" {row.detail}" if row.detail else ""
    if row.verdict in words:
        return f"{words[row.verdict]}{detail}"
    return f"was {row.verdict}" + (f" ({row.detail})" if row.detail else "")


def _text_now(root: Path, row: JudgedChunk) -> tuple[str, str]:
    """Return the digest of a chunk's file as it is, and the text at its lines of now where these are known."""
    if row.verdict is not ChunkVerdict.EDITED:
        return "", ""
    place = row.now or row
    try:
        file = read_now(root, place.path, encoded=place.path_encoded)
        if row.now is None:
            return file.sha256, ""
        data = file.bytes_of(Lines(row.now.start_line, row.now.end_line))
        return hashlib.sha256(data).hexdigest(), data.decode("utf-8", "replace")
    except (SkippedFile, IndexError):
        return "unreadable", ""


def _differing(text: str, other: str) -> str:
    """Return a text from the first line that the other does not have; empty where it has all of them."""
    if not other:
        return text
    theirs = set(_lines(other))
    ours = list(_lines(text))
    return next(("\n".join(ours[i:]) for i, line in enumerate(ours) if line and line not in theirs), "")


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.split("\n"))


def _where(chunk: Chunk) -> str:
    return f"{chunk.path}:{chunk.line_range}"


def _at(chunk: Chunk) -> Anchor:
    return Anchor(
        path=chunk.path, path_encoded=chunk.path_encoded, start_line=chunk.start_line, end_line=chunk.end_line
    )


def _now(lines: LinesNow) -> Anchor:
    return Anchor(
        path=lines.path, path_encoded=lines.path_encoded, start_line=lines.start_line, end_line=lines.end_line
    )


def _read_again(lines: LinesNow) -> str:
    return reentry_command(lines.path, lines.start_line, lines.end_line, encoded=lines.path_encoded)
