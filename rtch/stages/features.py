"""What files show, each looked into once for as long as its bytes stay the same.

Two kinds of note save the work. One says which sha256 a path's bytes had in which state, so that an
unchanged file is not opened; the other holds the features of some bytes, whatever path they lie under:
a touched file, a fresh clone or another branch finds them again. Both are hints: without them
everything is read anew, with the same result.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rtch.keys import logic_digest, zone_id
from rtch.languages import language_of
from rtch.limits import SurveyLimits
from rtch.models.features import (
    DurableId,
    FileFeatures,
    Heading,
    Key,
    Marker,
    Problem,
    Reference,
    Symbol,
)
from rtch.models.inventory import UnreadFile
from rtch.models.vocab import CautionFlag, FileRole, KeyKind, MarkerKind, SymbolKind
from rtch.reading import SkippedFile
from rtch.roles import role_of
from rtch.stages.desk import Desk
from rtch.structure import document_features, notation_of
from rtch.symbols import code_features

SHA256_CHARS = 64
BATCH = 50
"""Files held at once, so that their notes are asked for together."""


class Looked(NamedTuple):
    """The features of files, by path, and the files that could not be looked into."""

    features: tuple[FileFeatures, ...]
    unread: tuple[UnreadFile, ...]


def look_into(paths: Sequence[str], limits: SurveyLimits, desk: Desk) -> Looked:
    """Return the features of documents, data and code files.

    Args:
        paths: sorted files whose notation or language is known.
        limits: how much of a file is looked at and kept.
        desk: the tree, and the notes of earlier runs.
    """
    names = _Names(limits, desk)
    hashes = names.hashes(paths, desk)
    found = names.features(hashes, desk)
    unread: list[UnreadFile] = []
    seen: dict[str, str] = {}
    fresh: dict[str, FileFeatures] = {}
    missing = [path for path in paths if path not in found]
    for start in range(0, len(missing), BATCH):
        data: dict[str, bytes] = {}
        for path in missing[start : start + BATCH]:
            try:
                file = desk.workspace.read(path, max_bytes=limits.max_file_bytes)
            except SkippedFile as skipped:
                unread.append(UnreadFile(path=path, reason=skipped.reason, detail=skipped.detail))
                continue
            data[path] = file.data
            if hashes.get(path) != file.sha256:
                hashes[path] = seen[path] = file.sha256
        found |= names.features({path: hashes[path] for path in data if path in seen}, desk)
        for path, whole in data.items():
            if path not in found:
                found[path] = fresh[path] = _derive(path, whole, limits)
    names.leave(seen, {path: (hashes[path], one) for path, one in fresh.items()}, desk)
    return Looked(tuple(found[path] for path in sorted(found)), tuple(unread))


def _derive(path: str, data: bytes, limits: SurveyLimits) -> FileFeatures:
    if notation_of(path) is None:
        return code_features(path, data, limits.features)
    return document_features(path, data, limits.features, patterns=limits.patterns)


class _Names:
    """The names under which notes are left, and what they hold."""

    def __init__(self, limits: SurveyLimits, desk: Desk) -> None:
        self._basis = f"{logic_digest()} {zlib.crc32(limits.canonical()):08x}"
        self._zone = zone_id(desk.workspace.root)

    def _seen(self, path: str) -> str:
        return f"seen/{self._zone}/{_short(path)}"

    def _features(self, path: str, digest: str) -> str:
        """Name the features of some bytes: they depend on how the bytes are read, which a path's name tells."""
        reader = notation_of(path) or language_of(path)
        kind = "" if reader is None else reader.name
        return f"features/{_short(f'{self._basis} {kind} {role_of(path) is FileRole.LOCK} {digest}')}"

    def hashes(self, paths: Iterable[str], desk: Desk) -> dict[str, str]:
        """Return the sha256 of the files that are in the state in which an earlier run read them."""
        tokens = {path: desk.workspace.token(path) for path in paths}
        hashes = {path: token[7:] for path, token in tokens.items() if token.startswith("sha256:")}
        names = {path: self._seen(path) for path in tokens.keys() - hashes.keys()}
        notes = desk.notes(names.values())
        for path, name in names.items():
            note = notes.get(name, b"").decode("ascii", "replace")
            if note[SHA256_CHARS:] == tokens[path]:
                hashes[path] = note[:SHA256_CHARS]
        return hashes

    def features(self, hashes: dict[str, str], desk: Desk) -> dict[str, FileFeatures]:
        """Return the features that are noted for files of some hashes."""
        names = {path: self._features(path, digest) for path, digest in hashes.items()}
        notes = desk.notes(names.values())
        found: dict[str, FileFeatures] = {}
        for path, name in names.items():
            note = notes.get(name)
            if note is not None and (known := _unpacked(path, note)) is not None:
                found[path] = known
        return found

    def leave(self, seen: dict[str, str], fresh: dict[str, tuple[str, FileFeatures]], desk: Desk) -> None:
        """Note what was read, if it was read as it was listed."""
        if not desk.trustworthy:
            return
        notes = {
            self._seen(path): f"{digest}{token}".encode()
            for path, digest in seen.items()
            if (token := desk.workspace.token(path)).startswith("stat:")
        }
        notes |= {self._features(path, digest): _packed(one) for path, (digest, one) in fresh.items()}
        desk.leave(notes)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _packed(one: FileFeatures) -> bytes:
    """Write features as rows of plain values; path and role are the reader's to tell."""
    columns = (one.headings, one.keys, one.symbols, one.ids, one.markers, one.references, one.problems)
    return json.dumps([*columns, one.truncated], ensure_ascii=False, separators=(",", ":")).encode()


def _unpacked(path: str, note: bytes) -> FileFeatures | None:
    """Read what ``_packed`` wrote; None where it is something else."""
    try:
        headings, keys, symbols, ids, markers, references, problems, truncated = json.loads(note)
        return FileFeatures.model_construct(
            path=path,
            role=role_of(path),
            headings=tuple(Heading(*row) for row in headings),
            keys=tuple(Key(name, dotted, _KEYS[kind], line) for name, dotted, kind, line in keys),
            symbols=tuple(Symbol(name, _SYMBOLS[kind], line, inside) for name, kind, line, inside in symbols),
            ids=tuple(DurableId(*row) for row in ids),
            markers=tuple(Marker(_MARKERS[kind], phrase, line) for kind, phrase, line in markers),
            references=tuple(Reference(*row) for row in references),
            problems=tuple(Problem(CautionFlag(flag), line, detail) for flag, line, detail in problems),
            truncated=bool(truncated),
        )
    except (ValueError, TypeError, KeyError):
        return None


_KEYS = {kind.value: kind for kind in KeyKind}
_SYMBOLS = {kind.value: kind for kind in SymbolKind}
_MARKERS = {kind.value: kind for kind in MarkerKind}
