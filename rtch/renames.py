"""Where the text of a file that is gone is now: the listing of the tree, and a bounded look into what may hold it.

Candidates are files that the packet does not know to have been there: those whose blob in git's index is the captured
one, those of the same name, those that are new since the packet's commit, and, to be compared as a whole, those of
the same size or kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rtch import home
from rtch.anchors import MAX_FILE_BYTES, FileNow, Lines, same_text, stands
from rtch.captured import Captured
from rtch.errors import ToolError
from rtch.masking import secret_name
from rtch.models.vocab import SkipReason
from rtch.reading import SkippedFile
from rtch.workspace import open_workspace
from rtch.zone_marker import declared_packets

if TYPE_CHECKING:
    from rtch.models.chunk import Chunk
    from rtch.models.packet import Packet

MAX_FILES = 64
"""Files that are looked into for one that is gone."""
MAX_BYTES = 64 * 1024 * 1024
"""Bytes that are read for all of them."""
MAX_ASKED = 5000
"""Paths of which it is asked whether the packet's commit had them."""
_ABSENT = frozenset({SkipReason.NOT_FOUND, SkipReason.VANISHED, SkipReason.BROKEN_LINK})


class Found(NamedTuple):
    """A place that has a chunk's bytes."""

    file: FileNow
    lines: Lines


class Sought(NamedTuple):
    """What was found of a chunk, and how many files were looked into, and how many more might have been."""

    places: tuple[Found, ...]
    looked: int
    left: int


class Renames:
    """One search for all files that are gone; the tree is listed once, and each candidate is read once."""

    def __init__(self, root: Path, packet: Packet, captured: Captured) -> None:
        """List the tree.

        Args:
            root: the zone root.
            packet: what the packet knows was there is no candidate.
            captured: the object store.
        """
        own = (*(place for place in home.locations() if place is not None), *declared_packets(root))
        self._tree = open_workspace(root, own_outputs=own)
        self._encoded = {self._tree.listing.paths[i] for i in self._tree.listing.encoded}
        self._commit: str = packet.run.commit
        self._captured = captured
        known = _known(packet)
        self._files = [path for path in self._tree.listing.files() if path not in known]
        self._read: dict[str, FileNow | None] = {}
        self._bytes = 0

    def seek(self, chunks: Sequence[Chunk]) -> list[Sought]:
        """Return where the bytes of each chunk of one gone file are: in the very file elsewhere, or else in any."""
        first = chunks[0]
        may_hold = list(dict.fromkeys(self._may_hold(first)))
        least = max(chunk.byte_end for chunk in chunks)
        others = (path for path in self._may_be(first) if path not in may_hold and self._tree.size(path) >= least)
        candidates = list(dict.fromkeys((*may_hold, *others)))
        files = {path: file for path in candidates[:MAX_FILES] if (file := self._open(path)) is not None}
        left = len(candidates) - len(files)
        same = [file for file in files.values() if file.sha256 == first.file_sha256]
        sought = []
        for chunk in chunks:
            places = [Found(file, Lines(chunk.start_line, chunk.end_line)) for file in same if stands(file, chunk)]
            if not places:
                holding = (files[path] for path in may_hold if path in files)
                places = [Found(file, lines) for file in holding for lines in same_text(file, chunk)]
            sought.append(Sought(tuple(places), len(files), left))
        return sought

    def _may_hold(self, chunk: Chunk) -> Iterator[str]:
        """Yield files that may have come from one that is gone, also where they were edited since."""
        yield from self._by_blob.get(chunk.blob_id, ())
        yield from self._by_name.get(_name(chunk.path), ())
        yield from (path for path in self._new if _ending(path) == _ending(chunk.path))

    def _may_be(self, chunk: Chunk) -> Iterator[str]:
        """Yield files that may be the very file, by its size where it is known."""
        captured = self._captured.blobs([chunk.blob_id]).get(chunk.blob_id)
        for path in self._files:
            if self._tree.size(path) == len(captured) if captured is not None else _ending(path) == _ending(chunk.path):
                yield path

    @cached_property
    def _indexed(self) -> dict[str, str]:
        """What git's index says of the files."""
        try:
            return self._tree.index_blob_ids(self._files)
        except ToolError:
            return {}

    @cached_property
    def _by_blob(self) -> dict[str, list[str]]:
        return _grouped((blob, path) for path, blob in self._indexed.items())

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        return _grouped((_name(path), path) for path in self._files)

    @cached_property
    def _new(self) -> list[str]:
        """Files that were not there: not in the index, or not in the packet's commit."""
        asked = {self._tree.name_of(path): path for path in islice(self._indexed, MAX_ASKED)}
        absent = {asked[name] for name in self._captured.absent_at(self._commit, list(asked))}
        return [path for path in self._files if path not in self._indexed or path in absent]

    def _open(self, path: str) -> FileNow | None:
        """Return a candidate's bytes; None where it cannot be read, or no more may be."""
        if path not in self._read:
            self._read[path] = None if secret_name(path) else self._opened(path)
        return self._read[path]

    def _opened(self, path: str) -> FileNow | None:
        try:
            data = self._tree.read(path, max_bytes=min(MAX_FILE_BYTES, MAX_BYTES - self._bytes)).data
        except SkippedFile:
            return None
        self._bytes += len(data)
        return FileNow(path, path in self._encoded, data)


def _known(packet: Packet) -> frozenset[str]:
    """Return the paths that a packet saw."""
    return frozenset(
        (
            *(chunk.path for chunk in packet.hydrated_chunks),
            *(path for surface in packet.selected_surfaces for path in (surface.path, *surface.twins)),
            *(one.path for one in packet.skipped_surfaces if one.reason not in _ABSENT),
            *(path for outcome in packet.probe_plan.probes for path in outcome.probe.target_set),
        )
    )


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for key, path in pairs:
        groups[key].append(path)
    return groups


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _ending(path: str) -> str:
    name = _name(path)
    return name.rpartition(".")[2] if "." in name else ""
