"""Where patterns stand: many literals over many files in one pass of rg.

All files are treated as text. What rg cannot judge is judged here: a file with hits that is binary is
reported and not hit, a UTF-16 file is searched by its decoded text so that offsets are the file's
own, and a file that was swapped meanwhile is dropped. The result does not depend on threads or on
the order of arguments. UTF-32 looks binary to rg; a file with its byte order mark is searched by its text as well,
and so is a ledger whose view is not what the disk holds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import eq, itemgetter
from typing import NamedTuple

from rtch.collector import paused_collector
from rtch.errors import ToolError
from rtch.literals import Literals
from rtch.models.vocab import SkipReason
from rtch.reading import SkippedFile
from rtch.rg_calls import NotSearched, RgCalls
from rtch.rg_rows import ROW, Row, complete_bytes, fair_share, rows_of_first_lines
from rtch.tails import is_long, read_tail
from rtch.text import HeadKind
from rtch.wide import WideText
from rtch.workspace import Workspace

MATCHES_PER_LINE = 32
"""Matches of one line that are kept; a minified file would fill the whole budget."""
MAX_TEXT_BYTES = 4096
"""What is kept of a match; an expression may match a line of megabytes."""
MAX_WIDE_BYTES = 32 << 20
"""UTF-16 and UTF-32 text that one search decodes, and text of ledgers with corrected rows."""
_OPTIONS = ("--text", "--no-heading", "--with-filename", "--line-number", "--byte-offset", "--only-matching")
_BOM_BYTES = 3
_match = tuple.__new__
"""A NamedTuple without the call of its own constructor: a third of the time for 100,000 rows."""


class Match(NamedTuple):
    """One place where a pattern matched: line from 1, offset in the file's bytes.

    ``text`` is what matched; in a UTF-16 or UTF-32 file it is given in UTF-8.
    """

    path: str
    line: int
    byte_offset: int
    text: bytes


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What a search found, and how far it got.

    Attributes:
        matches: by path, line, offset.
        files_searched: files that were searched to their end or to their limit.
        bytes_searched: their sizes.
        truncated: paths that have more matches than are given.
        timed_out: whether the time limit ended it; ``matches`` then lacks an unknown part.
        skipped: what was not searched: unreadable, vanished, and binary files that have hits.
    """

    matches: tuple[Match, ...]
    files_searched: int
    bytes_searched: int
    truncated: tuple[str, ...] = ()
    timed_out: bool = False
    skipped: tuple[NotSearched, ...] = ()


def find_matches(  # noqa: PLR0913  a stage's own limits, each spelled out
    ws: Workspace,
    paths: Iterable[str],
    patterns: Sequence[str],
    *,
    fixed: bool = True,
    ignore_case: bool = False,
    max_lines_per_file: int,
    timeout_s: float,
    max_rows: int,
) -> SearchOutcome:
    """Search files of a workspace for patterns in one pass.

    Args:
        ws: the open zone.
        paths: zone paths; those that are no regular files of the listing are reported.
        patterns: literals without line ends; expressions in rg's syntax when not ``fixed``.
        fixed: whether the patterns are literals. See ``Literals`` for what a match then holds.
        ignore_case: Unicode simple case folding.
        max_lines_per_file: matching lines that are taken of one file.
        timeout_s: seconds for everything.
        max_rows: matches that are kept; past it each file keeps the same number of first ones.

    Raises:
        ToolError: rg is missing or refuses the patterns. A time limit is no error here.
    """
    usable = [pattern for pattern in patterns if pattern]
    if any(set(pattern) & {"\n", "\0"} for pattern in usable):
        raise ToolError("a search pattern holds a line end or a NUL", argv=("rg",))
    if any("\ud800" <= char <= "\udfff" for pattern in usable for char in pattern):
        raise ToolError("a search pattern is not valid Unicode", argv=("rg",))
    expressions = Literals(tuple(usable), ignore_case).expressions() if fixed else usable
    job = _Job(RgCalls(ws, time.monotonic() + timeout_s), max_lines_per_file, max_rows)
    job.calls.admit(paths)
    with paused_collector():
        if expressions:
            job.search(expressions, ignore_case=ignore_case)
        return job.outcome()


@dataclass(slots=True)
class _Job:
    """One search under way."""

    calls: RgCalls
    max_lines: int
    max_rows: int
    rows: dict[str, list[Match]] = field(default_factory=dict)
    held: int = 0
    wide: set[str] = field(default_factory=set)
    truncated: set[str] = field(default_factory=set)

    def search(self, expressions: Sequence[str], *, ignore_case: bool) -> None:
        """Run rg over batches of names, then over the text of UTF-16 and UTF-32 files."""
        calls = self.calls
        options = [*_OPTIONS, *(["--ignore-case"] if ignore_case else [])]
        for expression in expressions:
            options += ["--regexp", expression]
        limit = f"--max-count={self.max_lines + 1}"
        for blocks in calls.over_names([*options, limit], list(calls.wanted)):
            last = b""
            pending: list[Row] = []
            for rows in _rows(blocks):
                # rg writes a file's rows together, but a block may end in the midst of them.
                for name, group in groupby(rows, itemgetter(0)):
                    if name != last:
                        self._take(last, pending)
                        last, pending = name, []
                    pending.extend(group)
            self._take(last, pending)
        self.wide |= calls.texts
        if not calls.timed_out:
            unseen = (path for path in calls.wanted.values() if path not in self.rows)
            self.wide |= {path for path in unseen if calls.ws.is_utf32(path)}
        if self.wide:
            self._search_wide(options)

    def _take(self, name: bytes, rows: list[Row]) -> None:
        """Judge one file's rows and keep them."""
        if not rows:
            return
        path = self.calls.wanted.get(name)
        if path is None:
            raise ToolError("rg answered about a file that it was not asked for", argv=("rg",))
        head = self.calls.head(path)
        if head is HeadKind.WIDE:
            self.wide.add(path)
        elif head is not None:
            # rg leaves out the UTF-8 byte order mark when it counts.
            shift = _BOM_BYTES if head is HeadKind.BOM else 0
            lines = [int(row[1]) for row in rows]
            self._keep(path, lines, [(int(row[2]) + shift, row[3][:MAX_TEXT_BYTES]) for row in rows])

    def _keep(self, path: str, lines: list[int], places: list[tuple[int, bytes]]) -> None:
        """Keep a file's matches, cut to the line limit and the limit within a line."""
        kept = rows_of_first_lines(lines, self.max_lines)
        if kept < len(lines):
            self.truncated.add(path)
        matches = [_match(Match, (path, line, *place)) for line, place in zip(lines[:kept], places, strict=False)]
        if any(map(eq, lines, lines[MATCHES_PER_LINE:kept])):
            self.truncated.add(path)
            grouped = groupby(matches, itemgetter(1))
            matches = [match for _, group in grouped for match in islice(group, MATCHES_PER_LINE)]
        self.rows[path] = matches
        self.held += len(matches)
        if self.held > 2 * self.max_rows:
            self._prune()

    def _prune(self) -> None:
        """Drop what the final cut would drop anyway: more files only make it harder."""
        each = fair_share([len(rows) for rows in self.rows.values()], self.max_rows)
        for path, rows in self.rows.items():
            if len(rows) > each:
                self.truncated.add(path)
                del rows[each:]
        self.held = sum(map(len, self.rows.values()))

    def _search_wide(self, options: list[str]) -> None:
        """Search UTF-16 and UTF-32 files by their text, all of them in one pass over standard input."""
        files: list[tuple[str, bytes, int, int]] = []
        left = MAX_WIDE_BYTES
        for path in sorted(self.wide):
            try:
                file = self._text_of(path, left)
            except SkippedFile as skipped:
                self.calls.skip(path, skipped.reason, skipped.detail)
                continue
            left -= len(file[1])
            files.append(file)
        text = WideText(files)
        found: dict[str, tuple[list[int], list[tuple[int, bytes]]]] = {}
        for rows in _rows(self.calls.blocks([*options, "--", "-"], text.utf8)):
            for _, _, offset, matched in rows:
                path, line, place = text.place(int(offset))
                lines, places = found.setdefault(path, ([], []))
                lines.append(line)
                places.append((place, matched[:MAX_TEXT_BYTES]))
        for path, (lines, places) in found.items():
            self._keep(path, lines, places)

    def _text_of(self, path: str, left: int) -> tuple[str, bytes, int, int]:
        """Return a file's bytes and where they begin; of a long ledger its end, and what stands before is reported."""
        ws = self.calls.ws
        if not is_long(ws, path):
            return path, ws.read(path, max_bytes=left).data, 1, 0
        tail = read_tail(ws, path)
        if len(tail.data) > left:
            raise SkippedFile(SkipReason.OVERSIZED, path, f"not searched: {MAX_WIDE_BYTES} bytes of others were")
        self.calls.skip(path, SkipReason.OVERSIZED, f"{ws.size(path)} bytes, {tail.unread}")
        return path, tail.data, tail.first_line, tail.byte_start

    def outcome(self) -> SearchOutcome:
        """Put everything in order and keep at most ``max_rows``."""
        each = fair_share([len(rows) for rows in self.rows.values()], self.max_rows)
        matches: list[Match] = []
        for path in sorted(self.rows):
            rows = self.rows[path]
            room = min(each, self.max_rows - len(matches))
            if len(rows) > room:
                self.truncated.add(path)
            matches += rows[:room]
        calls = self.calls
        searched = calls.searched()
        return SearchOutcome(
            matches=tuple(matches),
            files_searched=len(searched),
            bytes_searched=sum(map(calls.ws.size, searched)),
            truncated=tuple(sorted(self.truncated)),
            timed_out=calls.timed_out,
            skipped=tuple(calls.skipped[path] for path in sorted(calls.skipped)),
        )


def _rows(blocks: Iterable[bytes]) -> Iterator[list[Row]]:
    """Yield the rows that are whole, block by block."""
    pieces: list[bytes] = []
    for block in blocks:
        pieces.append(block)
        if b"\n" not in block:
            continue  # a row longer than a block; joined once, when it is whole
        whole = b"".join(pieces)
        end = complete_bytes(whole)
        yield ROW.findall(whole, 0, end)
        pieces = [whole[end:]]
