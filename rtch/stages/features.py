"""Scout's work file by file: shards of features, and the note that saves deriving them again.

The note is a hint. It is used only where it was left by the same logic and limits, a file's
features only where the file's state is the noted one, and a shard only where the store still has it.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from rtch.errors import Dangling
from rtch.keys import logic_digest, zone_id
from rtch.limits import ScoutLimits
from rtch.models.base import Count, Digest, Record
from rtch.models.features import FileFeatures
from rtch.models.inventory import FeatureShard, FileProblem, MarkedFile, UnreadFile
from rtch.models.vocab import SkipReason
from rtch.reading import SkippedFile
from rtch.roles import role_of
from rtch.search import SearchOutcome, find_matches
from rtch.stages.desk import Desk
from rtch.structure import document_features, is_document
from rtch.symbols import code_scans, from_lines

__all__ = ["ShardSummary", "derive_shards", "is_document"]


class ShardSummary(Record):
    """What the inventory needs of a shard without opening it."""

    shard: Digest
    headings: Count
    keys: Count
    ids: Count
    markers: Count
    symbols: Count
    references: Count
    truncated: bool
    code_truncated: bool
    problems: tuple[FileProblem, ...]
    marked: tuple[MarkedFile, ...]
    unread: tuple[UnreadFile, ...]


class NotedShard(Record):
    """A shard and the state of each file that went into it, in columns; a hash is empty where none was taken."""

    summary: ShardSummary
    paths: tuple[str, ...]
    tokens: tuple[str, ...]
    hashes: tuple[str, ...]


class ScoutNote(Record):
    """What an earlier run derived on this zone, and by which logic and limits."""

    basis: str
    shards: tuple[NotedShard, ...]


class _Derived:
    """Features of files that are not as noted: what was read, searched, or could not be."""

    def __init__(self) -> None:
        self.features: dict[str, FileFeatures] = {}
        self.hashes: dict[str, str] = {}
        self.unread: dict[str, UnreadFile] = {}
        self.code_truncated: set[str] = set()


def derive_shards(
    documents: Sequence[str], code: Sequence[str], limits: ScoutLimits, desk: Desk
) -> tuple[ShardSummary, ...]:
    """Return the summaries of all shards, deriving features only for files that are not as noted.

    A file's shard is told by its path alone, so adding a file leaves the other shards alone.
    """
    count = _shard_count(len(documents) + len(code), limits.shard_files)
    basis = f"{logic_digest()} {zlib.crc32(limits.canonical()):08x} {count}"
    name = f"scout/{zone_id(desk.workspace.root)}"
    note = _read_note(desk.note(name), basis, count)
    members: list[list[str]] = [[] for _ in range(count)]
    for path in sorted({*documents, *code}):
        members[zlib.crc32(path.encode()) % count].append(path)
    stale = [_differs(note, place, paths, desk) for place, paths in enumerate(members)]
    if not any(stale) and note is not None:
        for shard in note.shards:
            desk.keep(shard.summary.shard)
        return tuple(shard.summary for shard in note.shards)
    derived = _derive(
        note, [m if s else [] for m, s in zip(members, stale, strict=True)], (set(documents), limits), desk
    )
    shards = []
    for place, paths in enumerate(members):
        if not stale[place] and note is not None:
            desk.keep(note.shards[place].summary.shard)
            shards.append(note.shards[place])
        else:
            shards.append(_shard(paths, derived, limits, desk))
    if desk.trustworthy:
        desk.leave(name, ScoutNote(basis=basis, shards=tuple(shards)).canonical())
    return tuple(shard.summary for shard in shards)


def _shard_count(files: int, per_shard: int) -> int:
    count = 1
    while count * per_shard < files:
        count *= 2
    return count


def _read_note(data: bytes | None, basis: str, count: int) -> ScoutNote | None:
    if data is None:
        return None
    try:
        note = ScoutNote.parse(data)
    except ValidationError:
        return None
    whole = all(len(one.paths) == len(one.tokens) == len(one.hashes) for one in note.shards)
    return note if note.basis == basis and len(note.shards) == count and whole else None


def _differs(note: ScoutNote | None, place: int, paths: Sequence[str], desk: Desk) -> bool:
    if note is None or not desk.has(note.shards[place].summary.shard):
        return True
    shard = note.shards[place]
    return tuple(paths) != shard.paths or tuple(map(desk.workspace.token, paths)) != shard.tokens


def _derive(
    note: ScoutNote | None, members: Sequence[Sequence[str]], how: tuple[set[str], ScoutLimits], desk: Desk
) -> _Derived:
    documents, limits = how
    derived = _Derived()
    to_search: list[str] = []
    for place, paths in enumerate(members):
        before = _noted(note, place, desk) if paths else {}
        for path in paths:
            token, digest, features = before.get(path, ("", "", None))
            if features is not None and token == desk.workspace.token(path):
                derived.features[path], derived.hashes[path] = features, digest
            elif path in documents:
                _read(path, (digest, features), limits, (derived, desk))
            else:
                to_search.append(path)
    if to_search:
        _search(to_search, limits, derived, desk)
    return derived


def _noted(note: ScoutNote | None, place: int, desk: Desk) -> dict[str, tuple[str, str, FileFeatures | None]]:
    if note is None:
        return {}
    shard = note.shards[place]
    try:
        features = {one.path: one for one in next(desk.shards([shard.summary.shard])).files}
    except Dangling:
        return {}
    unread = {one.path for one in shard.summary.unread}
    return {
        path: (token, digest, features.get(path) or FileFeatures(path=path, role=role_of(path)))
        for path, token, digest in zip(shard.paths, shard.tokens, shard.hashes, strict=True)
        if path not in unread
    }


def _read(path: str, known: tuple[str, FileFeatures | None], limits: ScoutLimits, into: tuple[_Derived, Desk]) -> None:
    derived, desk = into
    digest, features = known
    try:
        file = desk.workspace.read(path, max_bytes=limits.max_file_bytes)
    except SkippedFile as skipped:
        derived.unread[path] = UnreadFile(path=path, reason=skipped.reason, detail=skipped.detail)
        return
    derived.hashes[path] = file.sha256
    if features is None or file.sha256 != digest:
        features = document_features(path, file.data, limits.features, patterns=limits.patterns)
    derived.features[path] = features


def _search(paths: Sequence[str], limits: ScoutLimits, derived: _Derived, desk: Desk) -> None:
    """Take definitions and imports by pattern, one search a language."""
    for scan in code_scans(paths):
        outcome = find_matches(
            desk.workspace,
            scan.paths,
            (scan.pattern,),
            fixed=False,
            ignore_case=False,
            max_lines_per_file=limits.max_lines_per_file,
            timeout_s=limits.timeout_s,
            max_rows=limits.max_rows,
        )
        rows: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
        for match in outcome.matches:
            rows[match.path].append((match.line, match.text))
        for path in scan.paths:
            symbols, references = from_lines(path, rows.get(path, ()))
            cut = path in outcome.truncated
            derived.features[path] = FileFeatures(
                path=path, role=role_of(path), symbols=symbols, references=references, truncated=cut
            )
        derived.code_truncated |= set(outcome.truncated)
        _note_unsearched(outcome, [path for path in scan.paths if path not in rows], derived, desk)


def _note_unsearched(outcome: SearchOutcome, silent: Sequence[str], derived: _Derived, desk: Desk) -> None:
    for path, reason, detail in outcome.skipped:
        derived.unread[path] = UnreadFile(path=path, reason=reason, detail=detail)
    if outcome.timed_out:
        desk.distrust()
        detail = "the definition scan ran out of time"
        for path in silent:
            derived.unread.setdefault(path, UnreadFile(path=path, reason=SkipReason.TIMEOUT, detail=detail))


def _shard(paths: Sequence[str], derived: _Derived, limits: ScoutLimits, desk: Desk) -> NotedShard:
    files = [derived.features[path] for path in paths if path in derived.features]
    shard = desk.shelve(FeatureShard(files=tuple(one for one in files if _says_something(one))))
    summary = ShardSummary(
        shard=shard,
        headings=sum(len(one.headings) for one in files),
        keys=sum(len(one.keys) for one in files),
        ids=sum(len(one.ids) for one in files),
        markers=sum(len(one.markers) for one in files),
        symbols=sum(len(one.symbols) for one in files),
        references=sum(len(one.references) for one in files),
        truncated=any(one.truncated for one in files if is_document(one.path)),
        code_truncated=any(path in derived.code_truncated for path in paths),
        problems=tuple(_problems(files))[: limits.max_problems],
        marked=tuple(_marked(files))[: limits.max_marked],
        unread=tuple(derived.unread[path] for path in paths if path in derived.unread)[: limits.max_unread],
    )
    return NotedShard(
        summary=summary,
        paths=tuple(paths),
        tokens=tuple(map(desk.workspace.token, paths)),
        hashes=tuple(derived.hashes.get(path, "") for path in paths),
    )


def _says_something(one: FileFeatures) -> bool:
    return bool(one.headings or one.keys or one.symbols or one.ids or one.markers or one.references or one.problems)


def _problems(files: Iterable[FileFeatures]) -> Iterable[FileProblem]:
    for one in files:
        for problem in one.problems:
            yield FileProblem(path=one.path, flag=problem.flag, line=problem.line, detail=problem.detail)


def _marked(files: Iterable[FileFeatures]) -> Iterable[MarkedFile]:
    for one in files:
        for kind in sorted({marker.kind for marker in one.markers}):
            lines = tuple(sorted({marker.line for marker in one.markers if marker.kind is kind}))
            yield MarkedFile(path=one.path, kind=kind, lines=lines[:20])
