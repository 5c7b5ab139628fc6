"""A packet held against the tree as it is: one verdict a chunk, and no guess.

Each cited file is opened once. Chunks whose bytes stand where they stood need no more; what is asked of the object
store, of the symbols and of the listing is asked for the others alone. Text of the tree goes nowhere from here.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rtch.anchors import MAX_FILE_BYTES, FileNow, Lines, Unsure, same_text, stands, texts_of, told
from rtch.captured import Captured
from rtch.effective import has_rows, view_on
from rtch.errors import ZoneError
from rtch.models.verification import Verification
from rtch.models.vocab import ChunkVerdict, SkipReason
from rtch.packets import peek
from rtch.paths import shown
from rtch.reading import SkippedFile, open_regular
from rtch.reentry import path_bytes
from rtch.roots import readable_root
from rtch.tails import feeds_before
from rtch.text import is_binary

if TYPE_CHECKING:
    from rtch.models.chunk import Chunk
    from rtch.models.packet import Packet
    from rtch.renames import Renames, Sought

HELD_BYTES = 32 * 1024 * 1024
"""Of changed files that wait for the object store to be asked once for all of them."""


def verify(packet: Packet | str | os.PathLike[str], *, root: str | os.PathLike[str] | None = None) -> Verification:
    """Say of each chunk of a packet what became of it.

    Args:
        packet: a packet; or a file, an id or the beginning of an id.
        root: the zone root; that of the packet's run where it is None.

    Returns:
        Verdicts in the order of the chunks; the same tree gives the same verdicts.

    Raises:
        ZoneError: the root is not a folder that can be read.
        ArtifactError: there is no such packet, or it cannot be read.
    """
    if isinstance(packet, str | os.PathLike):
        packet = peek(packet if isinstance(packet, str) else Path(packet), roots=(Path(root or "."),))
    judge = _Judge(zone_of(packet, root), packet)
    return judge.verification()


def zone_of(packet: Packet, root: str | os.PathLike[str] | None) -> Path:
    """Return the zone that a packet is held against.

    Raises:
        ZoneError: it is not a folder that can be read.
    """
    if root is not None:
        return readable_root(Path(root))
    try:
        return readable_root(Path(packet.run.zone_root))
    except ZoneError as error:
        raise ZoneError(str(error), hint="name the tree with --root") from error


class _Waiting(NamedTuple):
    """A chunk whose bytes are nowhere in its file."""

    place: int
    chunk: Chunk
    file: FileNow


class _Judge:
    """One verification; rows are held by the chunk's place in the packet, for a damaged packet may repeat an id."""

    def __init__(self, root: Path, packet: Packet) -> None:
        self.packet = packet
        self.root = root
        self.captured = Captured(root)
        self.chunks: Sequence[Chunk] = packet.hydrated_chunks
        self.rows: dict[int, dict[str, object]] = {}
        """The fields of ``JudgedChunk``: validated all at once, which takes half the time."""
        self.waiting: list[_Waiting] = []
        self.held = 0
        self.gone: list[list[tuple[int, Chunk]]] = []

    def verification(self) -> Verification:
        """Judge every chunk."""
        files: dict[tuple[str, bool], list[tuple[int, Chunk]]] = {}
        for place, chunk in enumerate(self.chunks):
            files.setdefault((chunk.path, chunk.path_encoded), []).append((place, chunk))
        for (path, encoded), chunks in files.items():
            self._judge_file(path, encoded, chunks)
        self._judge_waiting()
        self._judge_gone()
        rows = tuple(self.rows[place] for place in sorted(self.rows))
        counts = Counter(str(row["verdict"]) for row in rows)
        return Verification.model_validate({"packet_id": self.packet.packet_id, "chunks": rows, "counts": dict(counts)})

    def _say(
        self, place: int, verdict: ChunkVerdict, detail: str = "", now: tuple[FileNow, Lines] | None = None
    ) -> None:
        chunk = self.chunks[place]
        lines = None
        if now is not None:
            file, (start, end) = now
            lines = {"path": file.path, "path_encoded": file.encoded, "start_line": start, "end_line": end}
        self.rows[place] = {
            "chunk_id": chunk.chunk_id,
            "verdict": verdict,
            "path": chunk.path,
            "path_encoded": chunk.path_encoded,
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
            "now": lines,
            "detail": detail,
        }

    # -- by hash -------------------------------------------------------------------------------

    def _judge_file(self, path: str, encoded: bool, chunks: Sequence[tuple[int, Chunk]]) -> None:  # noqa: FBT001  a pair
        sound = []
        no_path = "" if _is_path(path, encoded=encoded) else "the record is damaged: no path is written like that"
        for place, chunk in chunks:
            damage = no_path or _damage(chunk)
            if damage:
                self._say(place, ChunkVerdict.NOT_JUDGED, damage)
            else:
                sound.append((place, chunk))
        if not sound:
            return
        try:
            file = read_now(self.root, path, encoded=encoded)
        except SkippedFile as skipped:
            if skipped.reason is SkipReason.OVERSIZED and has_rows(path):
                sound = [one for one in sound if not self._stands_in_long(*one)]
            if skipped.reason is SkipReason.VANISHED:
                self.gone.append(sound)
                return
            verdict, detail = _unread(skipped)
            for place, _ in sound:
                self._say(place, verdict, detail)
            return
        for place, chunk in sound:
            self._judge_bytes(place, chunk, file)

    def _stands_in_long(self, place: int, chunk: Chunk) -> bool:
        """Say of rows of a long ledger, looked at by themselves, that they are as they were; tell whether they are."""
        name = path_bytes(chunk.path, encoded=chunk.path_encoded)
        try:
            with open_regular(os.fsencode(self.root), name, chunk.path) as file:
                data = file.pread(chunk.byte_start, chunk.byte_end - chunk.byte_start)
                same = hashlib.sha256(data).hexdigest() == chunk.text_sha256
                if not same or feeds_before(file, chunk.byte_start) != chunk.start_line - 1:
                    return False
        except SkippedFile:
            return False
        if (viewed := view_on(self.root, name)) is not None and viewed[0].mark(viewed[1]):
            return False
        there = FileNow(chunk.path, chunk.path_encoded, b"")
        self._say(place, ChunkVerdict.UNCHANGED, now=(there, Lines(chunk.start_line, chunk.end_line)))
        return True

    def _judge_bytes(self, place: int, chunk: Chunk, file: FileNow) -> None:
        if stands(file, chunk):
            self._say(place, ChunkVerdict.UNCHANGED, now=(file, Lines(chunk.start_line, chunk.end_line)))
            return
        if file.sha256 == chunk.file_sha256:
            self._say(place, ChunkVerdict.NOT_JUDGED, "the record is damaged: its lines are not those of its own file")
            return
        try:
            places = same_text(file, chunk)
        except Unsure as unsure:
            self._say(place, ChunkVerdict.NOT_JUDGED, str(unsure))
            return
        if len(places) == 1:
            by = places[0].start - chunk.start_line
            detail = f"{abs(by)} line{'s' if abs(by) > 1 else ''} {'down' if by > 0 else 'up'}"
            self._say(place, ChunkVerdict.MOVED, detail, (file, places[0]))
        elif places:
            self._say(place, ChunkVerdict.AMBIGUOUS, f"the same text is at {told(places)}")
        else:
            self.waiting.append(_Waiting(place, chunk, file))
            self.held += len(file.data)
            if self.held > HELD_BYTES:
                self._judge_waiting()

    # -- by line map, name and quote -------------------------------------------------------------

    def _judge_waiting(self) -> None:
        """Judge what was edited or taken out of its file, asking the object store once."""
        if not self.waiting:
            return
        from rtch.edits import judge_edit  # noqa: PLC0415  fuzzy matching and symbols, where there is an edit

        blobs = self.captured.blobs({one.chunk.blob_id for one in self.waiting})
        texts: dict[tuple[str, str], Sequence[str] | None] = {}
        for place, chunk, file in self.waiting:
            state = chunk.blob_id, chunk.file_sha256
            if state not in texts:
                texts[state] = _texts(blobs.get(chunk.blob_id), chunk)
            captured = texts[state]
            if captured is not None and chunk.end_line > len(captured):
                self._say(place, ChunkVerdict.NOT_JUDGED, "the record is damaged: its file never had so many lines")
                continue
            try:
                verdict, lines, detail = judge_edit(file, chunk, captured)
            except Unsure as unsure:
                self._say(place, ChunkVerdict.NOT_JUDGED, str(unsure))
                continue
            if verdict is ChunkVerdict.DELETED and captured is None and self.captured.doubt:
                verdict, detail = ChunkVerdict.NOT_JUDGED, f"no line is like it, and {self.captured.doubt}"
            self._say(place, verdict, detail, None if lines is None else (file, lines))
        self.waiting.clear()
        self.held = 0

    # -- by rename -------------------------------------------------------------------------------

    def _judge_gone(self) -> None:
        """Judge the chunks of files that are not there."""
        renames: Renames | None = None
        for chunks in self.gone:
            link = _link_on_the_way(self.root, chunks[0][1])
            if link:
                for place, _ in chunks:
                    self._say(place, ChunkVerdict.UNREADABLE, f"{SkipReason.SYMLINK}: {link} is a link")
                continue
            if renames is None:
                from rtch.renames import Renames  # noqa: PLC0415  lists the tree, where a file is gone

                renames = Renames(self.root, self.packet, self.captured)
            for (place, _), sought in zip(chunks, renames.seek([chunk for _, chunk in chunks]), strict=True):
                self._judge_sought(place, sought)

    def _judge_sought(self, place: int, sought: Sought) -> None:
        if len(sought.places) == 1:
            file, lines = sought.places[0]
            self._say(place, ChunkVerdict.RENAMED, "the file is gone", (file, lines))
        elif sought.places:
            paths = ", ".join(f"{one.file.path}:{told([one.lines])}" for one in sought.places[:3])
            rest = len(sought.places) - 3
            more = f" and {rest} more" if rest > 0 else ""
            self._say(place, ChunkVerdict.AMBIGUOUS, f"the file is gone, and the same text is at {paths}{more}")
        else:
            bound = f", {sought.left} more were not" if sought.left else ""
            detail = f"the file is gone; {sought.looked} others were looked into{bound}"
            self._say(place, ChunkVerdict.DELETED, detail)


def _damage(chunk: Chunk) -> str:
    """Say why a record can be no chunk's; empty where it can."""
    lines = chunk.end_line - chunk.start_line + 1
    return "" if 1 <= lines <= chunk.byte_end - chunk.byte_start else "the record is damaged: its range holds no lines"


def _is_path(path: str, *, encoded: bool) -> bool:
    try:
        return b"\0" not in path_bytes(path, encoded=encoded)
    except UnicodeEncodeError:
        return False


def read_now(root: Path, path: str, *, encoded: bool) -> FileNow:
    """Return a cited file as it is.

    Raises:
        SkippedFile: it cannot be read as a text of the zone, or is held.
    """
    name = path_bytes(path, encoded=encoded)
    parts = name.split(b"/")
    if name.startswith(b"/") or not name or {b"", b".", b"..", b".git"} & set(parts):
        raise SkippedFile(SkipReason.OUTSIDE_ZONE, path, "it leads out of the tree")
    with open_regular(os.fsencode(root), name, path) as file:
        if file.row.size > MAX_FILE_BYTES:
            raise SkippedFile(SkipReason.OVERSIZED, path, f"{file.row.size} bytes, limit {MAX_FILE_BYTES}")
        data = file.pread(0, file.row.size)
        file.check_unchanged()
    if is_binary(data):
        raise SkippedFile(SkipReason.BINARY, path, "it holds NUL bytes")
    viewed = view_on(root, name)
    return FileNow(path, encoded, data if viewed is None else viewed[0].project(viewed[1], data))


def _unread(skipped: SkippedFile) -> tuple[ChunkVerdict, str]:
    detail = f"{skipped.reason}: {skipped.detail}" if skipped.detail else str(skipped.reason)
    changing = skipped.reason is SkipReason.CHANGED_DURING_RUN
    return ChunkVerdict.NOT_JUDGED if changing else ChunkVerdict.UNREADABLE, detail


def _link_on_the_way(root: Path, chunk: Chunk) -> str:
    """Return the first folder on the way to a path that has become a link; empty where there is none."""
    base = os.fsencode(root)
    *folders, _ = path_bytes(chunk.path, encoded=chunk.path_encoded).split(b"/")
    ways = accumulate(folders, lambda above, name: above + b"/" + name)
    return next((shown(way) for way in ways if os.path.islink(base + b"/" + way)), "")  # noqa: PTH114  bytes


def _texts(blob: bytes | None, chunk: Chunk) -> Sequence[str] | None:
    """Return the lines of the captured file, where the store has the very bytes."""
    if blob is None or FileNow(chunk.path, chunk.path_encoded, blob).sha256 != chunk.file_sha256:
        return None
    return texts_of(blob)
