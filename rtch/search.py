"""The only caller of rg: many literals over many files in one pass.

rg is given lstat-checked regular files by name, no configuration and no ignore rules, and treats
all of them as text. What it cannot judge is judged here: a file with hits that is binary is
reported and not hit, a UTF-16 file is searched by its decoded text so that offsets are the file's
own, and a file that was swapped meanwhile is dropped. The result does not depend on threads or on
the order of arguments. UTF-32 looks binary to rg; a file with its byte order mark is searched by its text as well.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import eq, itemgetter
from pathlib import Path
from typing import NamedTuple

from rtch.collector import paused_collector
from rtch.errors import ToolError
from rtch.literals import Literals
from rtch.models.vocab import EntryKind, SkipReason
from rtch.process import Ending, clean_env, find_program, run, stream
from rtch.reading import SkippedFile
from rtch.rg_rows import ROW, Row, batches, complete_bytes, fair_share, rows_of_first_lines
from rtch.text import HEAD_BYTES, HeadKind
from rtch.wide import WideText
from rtch.workspace import Workspace

MATCHES_PER_LINE = 32
"""Matches of one line that are kept; a minified file would fill the whole budget."""
MAX_TEXT_BYTES = 4096
"""What is kept of a match; an expression may match a line of megabytes."""
MAX_WIDE_BYTES = 32 << 20
"""UTF-16 and UTF-32 text that one search decodes."""
BIG_FILE_BYTES = 16 << 20
"""Larger files are asked for a NUL before the search and not after it."""
VERSION_TIMEOUT_S = 5.0

_OPTIONS = (
    *("--no-config", "--no-ignore", "--hidden", "--no-mmap", "--no-heading", "--color=never", "--no-stats"),
    *("--text", "--null", "--with-filename", "--line-number", "--byte-offset", "--only-matching"),
)
_COMPLAINT = re.compile(r"rg: (.*?): (?:IO error .*)?([^:]*\(os error (\d+)\))\Z", re.DOTALL)
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


class NotSearched(NamedTuple):
    """A file that was to be searched and was not, or whose hits do not count."""

    path: str
    reason: SkipReason
    detail: str


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


def rg_program() -> str:
    """Return rg's absolute path: the one installed beside the interpreter, then PATH.

    Raises:
        ToolError: there is none.
    """
    found = find_program("rg", beside=Path(sys.executable).parent)
    if found is None:
        raise ToolError(
            "rg was not found beside the interpreter or on PATH",
            argv=("rg",),
            hint="install ripgrep, for instance with: pip install ripgrep",
        )
    return found


def rg_version() -> str:
    """Return rg's version number.

    Raises:
        ToolError: rg is missing or fails.
    """
    done = run(
        [rg_program(), "--no-config", "--version"],
        cwd=b"/",
        env=clean_env(),
        timeout_s=VERSION_TIMEOUT_S,
        max_output_bytes=1 << 16,
    )
    match = re.match(rb"ripgrep (\d+(\.\d+)+)", done.stdout)
    if match is None:
        raise ToolError("rg does not tell its version", argv=("rg", "--version"))
    return match.group(1).decode()


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
    job = _Job(ws, max_lines_per_file, max_rows, time.monotonic() + timeout_s)
    job.admit(paths)
    with paused_collector():
        if expressions:
            job.search(expressions, ignore_case=ignore_case)
        return job.outcome()


@dataclass(slots=True)
class _Job:
    """One search under way."""

    ws: Workspace
    max_lines: int
    max_rows: int
    deadline: float
    wanted: dict[bytes, str] = field(default_factory=dict)
    rows: dict[str, list[Match]] = field(default_factory=dict)
    held: int = 0
    wide: set[str] = field(default_factory=set)
    skipped: dict[str, NotSearched] = field(default_factory=dict)
    truncated: set[str] = field(default_factory=set)
    timed_out: bool = False

    def admit(self, paths: Iterable[str]) -> None:
        """Take the regular files among some paths, and report the others."""
        ws = self.ws
        for path in sorted(set(paths)):
            i = ws.index.get(path, -1)
            kind = EntryKind.ABSENT if i < 0 else ws.listing.kinds[i]
            if kind is not EntryKind.FILE:
                reason = SkipReason.NOT_FOUND if kind is EntryKind.ABSENT else SkipReason.NOT_REGULAR
                self._skip(path, reason, str(kind))
            elif ws.listing.sizes[i] <= BIG_FILE_BYTES or self._head(path) is not None:
                name = ws.name_of(path)
                # "-" alone is standard input to rg, wherever it stands.
                self.wanted[b"./-" if name == b"-" else name] = path

    def search(self, expressions: Sequence[str], *, ignore_case: bool) -> None:
        """Run rg over batches of names, then over the text of UTF-16 and UTF-32 files."""
        options = [rg_program(), *_OPTIONS, *(["--ignore-case"] if ignore_case else [])]
        for expression in expressions:
            options += ["--regexp", expression]
        limit = f"--max-count={self.max_lines + 1}"
        for batch in batches(list(self.wanted)):
            last = b""
            pending: list[Row] = []
            for rows in self._run([*options, limit, "--", *batch], None):
                # rg writes a file's rows together, but a block may end in the midst of them.
                for name, group in groupby(rows, itemgetter(0)):
                    if name != last:
                        self._take(last, pending)
                        last, pending = name, []
                    pending.extend(group)
            self._take(last, pending)
        if not self.timed_out:
            self.wide |= {path for path in self.wanted.values() if path not in self.rows and self.ws.is_utf32(path)}
        if self.wide:
            self._search_wide(options)

    def _run(self, argv: list[str | bytes], data: bytes | None) -> Iterator[list[Row]]:
        """Yield rg's rows in blocks."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.timed_out = True
            return
        ending = Ending()
        pieces: list[bytes] = []
        cwd = bytes(self.ws.root)
        output = stream(argv, cwd=cwd, env=clean_env(), timeout_s=left, ending=ending, input=data)
        try:
            with contextlib.closing(output):
                for block in output:
                    pieces.append(block)
                    if b"\n" not in block:
                        continue  # a row longer than a block; joined once, when it is whole
                    whole = b"".join(pieces)
                    end = complete_bytes(whole)
                    yield ROW.findall(whole, 0, end)
                    pieces = [whole[end:]]
        except ToolError as error:
            if not error.timed_out:
                raise
            self.timed_out = True
            return
        if ending.returncode not in (0, 1):
            self._complaints(ending.stderr_tail)

    def _complaints(self, stderr: str) -> None:
        """Turn rg's complaints into skipped files; one that names no file ends the search."""
        complaint = ""
        for piece in re.split(r"\n(?=rg: )", stderr.strip("\n")):
            # A name may hold what looks like the beginning of the next complaint.
            complaint = f"{complaint}\n{piece}" if complaint else piece
            match = _COMPLAINT.match(complaint)
            path = None if match is None else self.wanted.get(os.fsencode(match.group(1)))
            if match is not None and path is not None:
                reason = SkipReason.VANISHED if match.group(3) == "2" else SkipReason.UNREADABLE
                self._skip(path, reason, match.group(2))
                complaint = ""
        if complaint:
            raise ToolError(f"rg failed: {complaint.strip()[:400]}", argv=("rg",), stderr=complaint)

    def _take(self, name: bytes, rows: list[Row]) -> None:
        """Judge one file's rows and keep them."""
        if not rows:
            return
        path = self.wanted.get(name)
        if path is None:
            raise ToolError("rg answered about a file that it was not asked for", argv=("rg",))
        head = self._head(path)
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

    def _head(self, path: str) -> HeadKind | None:
        """Return what a file's beginning says; None, and reported, where its rows do not count."""
        try:
            head = self.ws.head_kind(path)
        except SkippedFile as skipped:
            self._skip(path, skipped.reason, skipped.detail)
            return None
        if head is HeadKind.BINARY:
            self._skip(path, SkipReason.BINARY, f"a NUL in the first {HEAD_BYTES} bytes")
            return None
        return head

    def _search_wide(self, options: list[str]) -> None:
        """Search UTF-16 and UTF-32 files by their text, all of them in one pass over standard input."""
        files: list[tuple[str, bytes]] = []
        left = MAX_WIDE_BYTES
        for path in sorted(self.wide):
            try:
                file = self.ws.read(path, max_bytes=left)
            except SkippedFile as skipped:
                self._skip(path, skipped.reason, skipped.detail)
                continue
            left -= file.size
            files.append((path, file.data))
        text = WideText(files)
        found: dict[str, tuple[list[int], list[tuple[int, bytes]]]] = {}
        for rows in self._run([*options, "--", "-"], text.utf8):
            for _, _, offset, matched in rows:
                path, line, place = text.place(int(offset))
                lines, places = found.setdefault(path, ([], []))
                lines.append(line)
                places.append((place, matched[:MAX_TEXT_BYTES]))
        for path, (lines, places) in found.items():
            self._keep(path, lines, places)

    def _skip(self, path: str, reason: SkipReason, detail: str) -> None:
        self.skipped.setdefault(path, NotSearched(path, reason, detail))

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
        unsearched = {path for path, row in self.skipped.items() if row.reason is not SkipReason.BINARY}
        searched = [path for path in self.wanted.values() if path not in unsearched]
        return SearchOutcome(
            matches=tuple(matches),
            files_searched=len(searched),
            bytes_searched=sum(map(self.ws.size, searched)),
            truncated=tuple(sorted(self.truncated)),
            timed_out=self.timed_out,
            skipped=tuple(self.skipped[path] for path in sorted(self.skipped)),
        )
