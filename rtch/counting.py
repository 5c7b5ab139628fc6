"""How often terms stand in files, in one pass of rg that tells no places: a third of the time of one that does.

rg writes what matched, a file after the other. Where that is not enough to count by, the file is looked at
again by itself: one that holds a NUL and may be binary, one with a match so long that it says nothing of
where its term stands, one that only its byte order mark tells from binary.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from rtch.collector import paused_collector
from rtch.errors import ToolError
from rtch.rg_calls import NotSearched, RgCalls
from rtch.spelling import SpellingSet
from rtch.sweep import LONG_BYTES, MAX_ROUNDS, lacking, sweep
from rtch.workspace import Workspace

_OPTIONS = ("--heading", "--with-filename", "--no-line-number", "--only-matching", "--ignore-case")
_FOUND = rb'binary file matches \(found "\\0" byte around offset \d+\)'
_NOTICE = re.compile(rb"(.*?): " + _FOUND + rb"\n\n", re.DOTALL)
"""What rg says in place of the matches of a file that holds a NUL, and of those behind a late one."""
_COUNT = re.compile(rb"([^\0]*)\0(\d+)\n")
_SIGN = b": binary file matches (found "
_LATE = re.compile(rb"^.*: " + _FOUND + rb"$", re.MULTILINE)


class Counts(NamedTuple):
    """What was counted, and how far the pass got.

    Attributes:
        files: the files in which some term stands, in order: index of the term to how often.
        searched: files that were searched to their end or to their limit.
        timed_out: whether the time limit ended it; ``files`` then lacks an unknown part.
        skipped: what was not searched: unreadable, vanished, and binary files that have hits.
    """

    files: dict[str, dict[int, int]]
    searched: list[str]
    timed_out: bool
    skipped: dict[str, NotSearched]


def count_terms(
    ws: Workspace, paths: Iterable[str], spellings: SpellingSet, *, max_lines_per_file: int, timeout_s: float
) -> Counts:
    """Count terms in files of a workspace.

    Args:
        ws: the open zone.
        paths: what to search.
        spellings: the terms.
        max_lines_per_file: matching lines that one search takes of one file; where it took so many, the terms
            that have no match yet are searched for by themselves (``sweep``).
        timeout_s: seconds for everything.

    Raises:
        ToolError: rg is missing or refuses the patterns.
    """
    calls = RgCalls(ws, time.monotonic() + timeout_s)
    calls.admit(paths)
    with paused_collector():
        found = _pass(calls, list(calls.wanted), spellings, max_lines_per_file)
    return Counts({path: found[path] for path in sorted(found)}, calls.searched(), calls.timed_out, calls.skipped)


def _pass(
    calls: RgCalls, wanted: Sequence[bytes], spellings: SpellingSet, max_lines: int, rounds: int = MAX_ROUNDS
) -> dict[str, dict[int, int]]:
    """Count in some files, and once more, for what is still missing, in those whose matches were cut."""
    patterns = [part for pattern in spellings.patterns() for part in ("--regexp", pattern)]
    options = [*_OPTIONS, f"--max-count={max_lines}", *patterns]
    found: dict[str, dict[int, int]] = {}
    full: list[bytes] = []
    # A line end in a name would look like the end of the matches before it.
    again = {calls.wanted[name] for name in wanted if b"\n" in name}
    for blocks in calls.over_names(options, [name for name in wanted if b"\n" not in name] if again else wanted):
        for name, texts in _files(blocks):
            path = calls.wanted.get(name)
            if path is None:
                raise ToolError("rg answered about a file that it was not asked for", argv=("rg",))
            lines = _countable(texts)
            if lines is None:
                again.add(path)
                continue
            counts = spellings.count(lines)
            if counts:
                found[path] = counts
            if len(lines) >= max_lines:
                full.append(name)
    unseen = (path for path in map(calls.wanted.__getitem__, wanted) if path not in found)
    again |= {path for path in unseen if calls.ws.is_utf32(path)}
    if rounds == MAX_ROUNDS:
        again |= calls.texts
    if again:
        _look_again(calls, again, spellings, found, max_lines)
    flooded = _cut(calls, full, patterns, max_lines) if full and rounds else {}
    held = {path: found.get(path, {}) for path in flooded}
    for missing, files in lacking(held, spellings).items():
        terms = SpellingSet(spellings.spellings[i].term for i in missing)
        for path, counts in _pass(calls, [flooded[path] for path in files], terms, max_lines, rounds - 1).items():
            found.setdefault(path, {}).update({missing[i]: count for i, count in counts.items()})
    return found


def _cut(calls: RgCalls, full: Sequence[bytes], patterns: Sequence[str], max_lines: int) -> dict[str, bytes]:
    """Return, of files with many matches, those with more matching lines than were taken; by path, with their names."""
    options = ["--count", "--with-filename", "--ignore-case", f"--max-count={max_lines + 1}", *patterns]
    rows = (row for blocks in calls.over_names(options, full) for row in _COUNT.findall(b"".join(blocks)))
    return {calls.wanted[name]: name for name, lines in rows if int(lines) > max_lines and name in calls.wanted}


def _files(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield each file that rg tells of, with what matched in it; None where it only says that something did."""
    name, rest = b"", b""
    for piece in _pieces(blocks):
        texts, _, after = piece.partition(b"\n\n") if name else (b"", b"", piece)
        if name:
            yield name, texts.removesuffix(b"\n")
        rest = after
        while notice := _NOTICE.match(rest):
            yield notice.group(1), None
            rest = rest[notice.end() :]
        name = rest
    if notice := _NOTICE.match(rest + b"\n"):
        yield notice.group(1), None


def _pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what stands between one name's NUL and the next: matches, and the next name."""
    parts: list[bytes] = []
    for block in blocks:
        first, *others = block.split(b"\0")
        parts.append(first)
        for other in others:
            yield b"".join(parts)
            parts = [other]
    yield b"".join(parts)


def _countable(texts: bytes | None) -> list[bytes] | None:
    """Return a file's matches, or None where the file must be looked at by itself."""
    if texts is None or (_SIGN in texts and _LATE.search(texts)):
        return None
    lines = texts.split(b"\n")
    return None if max(map(len, lines)) > LONG_BYTES else lines


def _look_again(
    calls: RgCalls, again: set[str], spellings: SpellingSet, found: dict[str, dict[int, int]], max_lines: int
) -> None:
    """Count in some files by where each match stands."""
    left = calls.deadline - time.monotonic()
    if left <= 0:
        calls.timed_out = True
        return
    rows = len(again) * max_lines * 8
    outcome = sweep(calls.ws, again, spellings, max_lines_per_file=max_lines, timeout_s=left, max_rows=rows)
    for path, matches in groupby(outcome.matches, key=itemgetter(0)):
        counts = spellings.count(match.text for match in matches)
        if counts:
            found[path] = counts
    calls.timed_out |= outcome.timed_out
    for row in outcome.skipped:
        calls.skip(row.path, row.reason, row.detail)
