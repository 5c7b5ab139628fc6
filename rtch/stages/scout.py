"""Stage 3: the tree's shape, file by file, before any question is asked.

Features are derived once for each file's content and kept in shards of a few hundred files. A
note beside the shards says from which state of each file they were derived, so that one changed
file is looked at again alone. Documents and data files are read; definitions in code are taken by
pattern from one search over the code files.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Sequence

from rtch.limits import ScoutLimits
from rtch.models.inventory import (
    DirectoryShape,
    FileProblem,
    MarkedFile,
    RoleCount,
    Scan,
    ShapeInventory,
    UnreadFile,
)
from rtch.models.tree import Listing
from rtch.models.vocab import EntryKind, SkipReason
from rtch.roles import role_of
from rtch.stages.desk import Desk
from rtch.stages.features import ShardSummary, derive_shards, is_document
from rtch.symbols import is_code


def scout(listing: Listing, limits: ScoutLimits, desk: Desk) -> ShapeInventory:
    """Take in directories, roles and the features of every document, data and code file.

    Returns:
        The inventory; its shards are artifacts of their own, in the order of their number.
    Bounds: documents above ``limits.max_file_bytes`` are left out and listed; one search of at most
        ``limits.timeout_s`` seconds over the code files.
    """
    files = [
        (path, size)
        for path, kind, size in zip(listing.paths, listing.kinds, listing.sizes, strict=True)
        if kind is EntryKind.FILE
    ]
    readable = [(path, size) for path, size in files if 0 < size <= limits.max_file_bytes]
    documents = [(path, size) for path, size in readable if is_document(path)]
    code = [(path, size) for path, size in readable if is_code(path)]
    summaries = derive_shards([path for path, _ in documents], [path for path, _ in code], limits, desk)
    directories, cut = _directories(files, limits.max_directories)
    return ShapeInventory(
        directories=directories,
        directories_cut=cut,
        roles=_roles(files),
        scans=_scans(files, documents, code, summaries),
        shards=tuple(summary.shard for summary in summaries),
        unread=_unread(files, summaries, limits),
        problems=_merged((one for summary in summaries for one in summary.problems), limits.max_problems),
        marked=_marked(summaries, limits.max_marked),
    )


def _directories(files: Sequence[tuple[str, int]], most: int) -> tuple[tuple[DirectoryShape, ...], int]:
    here: Counter[str] = Counter()
    below: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for path, length in files:
        folder = posixpath.dirname(path)
        here[folder] += 1
        while True:
            below[folder] += 1
            size[folder] += length
            if not folder:
                break
            folder = posixpath.dirname(folder)
    shallow = sorted(below, key=lambda folder: (folder.count("/") + bool(folder), folder))
    rows = [
        DirectoryShape(path=folder or ".", files=here[folder], files_below=below[folder], size_bytes=size[folder])
        for folder in sorted(shallow[:most])
    ]
    return tuple(rows), max(0, len(shallow) - most)


def _roles(files: Iterable[tuple[str, int]]) -> tuple[RoleCount, ...]:
    count: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for path, length in files:
        role = role_of(path)
        count[role] += 1
        size[role] += length
    return tuple(
        RoleCount(role=role_, files=count[role_], size_bytes=size[role_])
        for role_ in sorted({role_of(path) for path, _ in files})
    )


_SCANS = (
    ("headings", "section titles by the rules of their notation", "headings"),
    ("structured_keys", "keys of front matter, JSON, YAML and TOML", "keys"),
    ("durable_ids", "registered handles by the configured patterns", "ids"),
    ("markers", "source-of-truth, deprecation, session and tic phrases", "markers"),
)


def _scans(
    files: Sequence[tuple[str, int]],
    documents: Sequence[tuple[str, int]],
    code: Sequence[tuple[str, int]],
    summaries: Sequence[ShardSummary],
) -> tuple[Scan, ...]:
    total = sum(size for _, size in files)
    read = sum(size for _, size in documents)
    found = {name: sum(getattr(one, name) for one in summaries) for _, _, name in _SCANS}
    listed = Scan(
        name="files",
        pattern="every regular file of the listing",
        files_touched=len(files),
        bytes_read=0,
        hits=len(files),
        note=f"{total} bytes in all",
    )
    documented = [
        Scan(
            name=name,
            pattern=pattern,
            files_touched=len(documents),
            bytes_read=read,
            hits=found[field],
            truncated=any(one.truncated for one in summaries),
        )
        for name, pattern, field in _SCANS
    ]
    coded = [
        Scan(
            name=name,
            pattern=pattern,
            files_touched=len(code),
            bytes_read=sum(size for _, size in code),
            hits=sum(getattr(one, field) for one in summaries),
            truncated=any(one.code_truncated for one in summaries),
        )
        for name, pattern, field in (
            ("code_symbols", "definition lines of the known languages", "symbols"),
            ("references", "imports, includes and relative links", "references"),
        )
    ]
    return (listed, *documented, *coded)


def _unread(
    files: Iterable[tuple[str, int]], summaries: Iterable[ShardSummary], limits: ScoutLimits
) -> tuple[UnreadFile, ...]:
    large = (
        UnreadFile(path=path, reason=SkipReason.OVERSIZED, detail=f"{size} bytes, its structure was left out")
        for path, size in files
        if size > limits.max_file_bytes and (is_document(path) or is_code(path))
    )
    met = (one for summary in summaries for one in summary.unread)
    return tuple(sorted((*large, *met), key=lambda one: one.path)[: limits.max_unread])


def _merged(problems: Iterable[FileProblem], most: int) -> tuple[FileProblem, ...]:
    return tuple(sorted(problems, key=lambda one: (one.path, one.line, one.flag, one.detail))[:most])


def _marked(summaries: Iterable[ShardSummary], most: int) -> tuple[MarkedFile, ...]:
    marked = (one for summary in summaries for one in summary.marked)
    return tuple(sorted(marked, key=lambda one: (one.path, one.kind))[:most])
