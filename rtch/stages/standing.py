"""Whether a file is a source of truth where it was hit.

It is one by what orient found (truth files, manifests, registries, rung documents, ledgers), or by its
own authoritative phrase near the hit. Every other file may be right and is not declared to be; nor is a test,
an example, or what was vendored or generated, whatever it says of itself.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from rtch.models.vocab import FileRole, MarkerKind
from rtch.models.zone import ZoneDescriptor
from rtch.roles import QUIET, role_of
from rtch.stages.chunks import SourceFile
from rtch.structure import document_features


class Standing:
    """Tells sources of truth in one zone."""

    def __init__(self, zone: ZoneDescriptor, phrase_lines: int, held: Collection[str] = ()) -> None:
        """Take the zone, how near a phrase must stand, and the paths that are held and so support no claim."""
        self._held = held
        self._paths = (
            {one.path for one in zone.truth_files}
            | {one.path for one in zone.registries}
            | {path for rung in zone.rungs for path in rung.documents}
        )
        self._ledgers = {path for rung in zone.rungs for path in rung.ledgers}
        self._near = phrase_lines
        self._phrases = lru_cache(maxsize=64)(_phrase_lines)

    def is_ledger(self, path: str) -> bool:
        """Tell whether a file is a rung's ledger, by where it lies."""
        return path in self._ledgers

    def is_truth(self, file: SourceFile, line: int) -> bool:
        """Tell whether a file is a source of truth at a line."""
        role = role_of(file.path)
        if role in QUIET or file.path in self._held:
            return False
        if file.path in self._paths or role is FileRole.LEDGER:
            return True
        return any(abs(line - phrase) <= self._near for phrase in self._phrases(file))


def _phrase_lines(file: SourceFile) -> tuple[int, ...]:
    features = document_features(file.path, file.data)
    before = file.first_line - 1
    return tuple(before + marker.line for marker in features.markers if marker.kind is MarkerKind.SOURCE_OF_TRUTH)
