"""The only caller of rg: many literals over many files in one pass.

rg is given lstat-checked regular files by name, no configuration and no ignore rules, and treats
all of them as plain bytes. What it cannot judge is judged here: a file with hits that is binary is
reported and not hit, a UTF-16 or UTF-32 file is searched by its decoded text, and a file that was
swapped meanwhile is dropped. The result does not depend on threads or on the order of arguments.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, groupby
from pathlib import Path
from typing import NamedTuple

from rtch.errors import ToolError
from rtch.models.vocab import EntryKind, SkipReason
from rtch.process import Ending, clean_env, find_program, run, stream
from rtch.reading import SkippedFile
from rtch.text import HEAD_BYTES, LineIndex, is_binary, wide_encoding
from rtch.workspace import Workspace

ARGUMENT_BYTES = 768 * 1024
"""Names a call: the kernel's limit for arguments and environment is 2 MiB at least on Linux, 1 MiB on macOS."""
MATCHES_PER_LINE = 32
"""Matches of one line that are kept; a minified file would fill the whole budget."""
MAX_WIDE_BYTES = 64 << 20
"""UTF-16 and UTF-32 text that one search decodes."""
BIG_FILE_BYTES = 16 << 20
"""Larger files are asked for a NUL before the search, not after it."""
VERSION_TIMEOUT_S = 5.0

_OPTIONS = (
    *("--no-config", "--no-ignore", "--hidden", "--no-mmap", "--no-heading", "--color=never", "--no-stats"),
    *("--text", "--encoding=none", "--null", "--with-filename", "--line-number", "--byte-offset", "--only-matching"),
)
_WIDE_BOMS = r"(?-u:\xFF\xFE|\xFE\xFF)"
"""Found at the beginning of a UTF-16 file; the UTF-32 BOMs contain these two."""
_BOM_TEXTS = (b"\xff\xfe", b"\xfe\xff")
_ROW = re.compile(rb"([^\0]*)\0(\d+):(\d+):([^\n]*)\n")
"""A name cannot hold a NUL and a match cannot hold LF, so no name and no text can forge a row."""
_COMPLAINT = re.compile(r"rg: (.*): ([^:]*\(os error (\d+)\))\Z", re.DOTALL)


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


@dataclass(frozen=True)
class Literals:
    """Literal patterns as one expression that misses none of them on any line.

    Alternatives are tried longest first, and two literals that can overlap (``resolve_zone``,
    ``zone_root``) have their union as a further alternative. So each literal lies in some match on
    each of its lines; ``within`` tells which ones a match holds.
    """

    patterns: tuple[str, ...]
    ignore_case: bool = False

    def expressions(self) -> list[str]:
        """Return rg's alternatives, with the Latin-1 form of literals that are not ASCII."""
        unions = {union for a in self.patterns for b in self.patterns for union in _unions(a, b)}
        ordered = sorted({*self.patterns, *unions}, key=lambda text: (-len(text.encode()), text))
        found = [_quoted(text) for text in ordered]
        found += [form for text in ordered for form in _latin(text, ignore_case=self.ignore_case)]
        return found

    @cached_property
    def _folded(self) -> tuple[str, ...]:
        return tuple(map(self._fold, self.patterns))

    @cached_property
    def _known(self) -> dict[bytes, tuple[int, ...]]:
        return {}

    def within(self, text: bytes) -> tuple[int, ...]:
        """Return the indices of the patterns that occur in a match's text."""
        known = self._known.get(text)
        if known is None:
            try:
                whole = self._fold(text.decode())
            except UnicodeDecodeError:
                whole = self._fold(text.decode("latin-1"))
            known = tuple(i for i, pattern in enumerate(self._folded) if pattern in whole)
            self._known[text] = known
        return known

    def _fold(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text


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
    if any("\n" in pattern or "\0" in pattern for pattern in patterns):
        raise ToolError("a search pattern holds a line end or a NUL", argv=("rg",))
    usable = [pattern for pattern in patterns if pattern]
    job = _Job(ws, max_lines_per_file, time.monotonic() + timeout_s)
    job.admit(paths)
    if usable:
        expressions = Literals(tuple(usable), ignore_case).expressions() if fixed else list(usable)
        job.search(expressions, ignore_case=ignore_case)
    return job.outcome(max_rows)


@dataclass(slots=True)
class _Job:
    """One search under way."""

    ws: Workspace
    max_lines: int
    deadline: float
    wanted: dict[bytes, str] = field(default_factory=dict)
    rows: dict[str, list[Match]] = field(default_factory=dict)
    wide: list[str] = field(default_factory=list)
    skipped: dict[str, NotSearched] = field(default_factory=dict)
    truncated: set[str] = field(default_factory=set)
    timed_out: bool = False

    def admit(self, paths: Iterable[str]) -> None:
        """Take the regular files among some paths, and report the others."""
        ws = self.ws
        for path in sorted(set(paths)):
            i = ws.index.get(path)
            kind = EntryKind.ABSENT if i is None else ws.listing.kinds[i]
            if kind is not EntryKind.FILE:
                reason = SkipReason.NOT_FOUND if kind is EntryKind.ABSENT else SkipReason.NOT_REGULAR
                self._skip(path, reason, str(kind))
            elif ws.size(path) <= BIG_FILE_BYTES or self._is_text(path):
                self.wanted[ws.name_of(path)] = path

    def search(self, expressions: list[str], *, ignore_case: bool) -> None:
        """Run rg over batches of names, then over the text of wide files."""
        options = [rg_program(), *_OPTIONS, *(["--ignore-case"] if ignore_case else [])]
        for expression in (*expressions, _WIDE_BOMS):
            options += ["--regexp", expression]
        limit = f"--max-count={self.max_lines + 1}"
        for batch in _batches(list(self.wanted)):
            for name, line, offset, text in self._run([*options, limit, "--", *batch], None):
                self._take(name, line, offset, text)
        self._judge()
        if self.wide:
            self._search_wide(options)

    def _run(self, argv: list[str | bytes], data: bytes | None) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.timed_out = True
            return
        ending = Ending()
        rest = b""
        try:
            cwd = bytes(self.ws.root)
            with contextlib.closing(
                stream(argv, cwd=cwd, env=clean_env(), timeout_s=left, ending=ending, input=data)
            ) as output:
                for block in output:
                    rest += block
                    end = 0
                    for row in _ROW.finditer(rest):
                        yield row.groups()  # type: ignore[misc]
                        end = row.end()
                    rest = rest[end:]
        except ToolError as error:
            if not error.timed_out:
                raise
            self.timed_out = True
            return
        if ending.returncode not in (0, 1):
            self._complaints(ending.stderr_tail)

    def _complaints(self, stderr: str) -> None:
        """Turn rg's complaints into skipped files; one that names no file ends the search."""
        for piece in re.split(r"\n(?=rg: )", stderr.strip("\n")):
            match = _COMPLAINT.match(piece)
            path = self._complained(match.group(1)) if match else None
            if match is None or path is None:
                raise ToolError(f"rg failed: {piece.strip()[:400]}", argv=("rg",), stderr=piece)
            reason = SkipReason.VANISHED if match.group(3) == "2" else SkipReason.UNREADABLE
            self._skip(path, reason, match.group(2))

    def _complained(self, text: str) -> str | None:
        name = text.encode("utf-8", "surrogateescape")
        return self.wanted.get(name)

    def _take(self, name: bytes, line: bytes, offset: bytes, text: bytes) -> None:
        path = self.wanted.get(name.removeprefix(b"./"))
        if path is None:
            raise ToolError("rg answered about a file that it was not asked for", argv=("rg",))
        self.rows.setdefault(path, []).append(Match(path, int(line), int(offset), text))

    def _judge(self) -> None:
        """Drop what rg could not judge: byte order marks, wide and binary files."""
        for path in sorted(self.rows):
            found = self.rows[path]
            if found[0].byte_offset <= 2 and found[0].text in _BOM_TEXTS and self._is_wide(path):
                self.wide.append(path)
                del self.rows[path]
                continue
            kept = [row for row in found if row.text not in _BOM_TEXTS]
            if kept and self._is_text(path):
                self.rows[path] = self._limited(path, kept)
            else:
                del self.rows[path]

    def _limited(self, path: str, rows: list[Match]) -> list[Match]:
        """Cut a file's rows to the line limit and the limit within a line."""
        kept: list[Match] = []
        for lines, (_, group) in enumerate(groupby(rows, key=lambda row: row.line)):
            here = list(group)
            if lines == self.max_lines:
                self.truncated.add(path)
                break
            if len(here) > MATCHES_PER_LINE:
                self.truncated.add(path)
            kept += here[:MATCHES_PER_LINE]
        return kept

    def _head(self, path: str) -> bytes | None:
        try:
            with self.ws.open(path) as file:
                return file.pread(0, HEAD_BYTES)
        except SkippedFile as skipped:
            self._skip(path, skipped.reason, skipped.detail)
            return None

    def _is_wide(self, path: str) -> bool:
        head = self._head(path)
        return head is not None and wide_encoding(head) is not None

    def _is_text(self, path: str) -> bool:
        head = self._head(path)
        if head is None:
            return False
        if is_binary(head):
            self._skip(path, SkipReason.BINARY, f"a NUL in the first {HEAD_BYTES} bytes")
            return False
        return True

    def _search_wide(self, options: list[str]) -> None:
        """Search UTF-16 and UTF-32 files by their text, all in one pass over standard input."""
        texts: list[_Wide] = []
        left = MAX_WIDE_BYTES
        for path in self.wide:
            try:
                file = self.ws.read(path, max_bytes=left)
            except SkippedFile as skipped:
                self._skip(path, skipped.reason, skipped.detail)
                continue
            left -= file.size
            texts.append(_Wide.of(path, file.data))
        starts = [0, *accumulate(len(wide.text) for wide in texts)]
        data = b"".join(wide.text for wide in texts)
        for _, _, offset_text, text in self._run([*options, "--", "-"], data):
            at = int(offset_text)
            i = bisect_right(starts, at) - 1
            wide = texts[i]
            offset = wide.offset_of(at - starts[i])
            row = Match(wide.path, wide.lines.line_of(offset), offset, text)
            self.rows.setdefault(wide.path, []).append(row)
        for wide in texts:
            if rows := self.rows.get(wide.path):
                self.rows[wide.path] = self._limited(wide.path, rows)

    def _skip(self, path: str, reason: SkipReason, detail: str) -> None:
        self.skipped.setdefault(path, NotSearched(path, reason, detail))

    def outcome(self, max_rows: int) -> SearchOutcome:
        """Put everything in order and keep at most ``max_rows``."""
        each = _share([len(rows) for rows in self.rows.values()], max_rows)
        matches: list[Match] = []
        for path in sorted(self.rows):
            rows = sorted(self.rows[path])
            room = min(each, max_rows - len(matches))
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


@dataclass(frozen=True, slots=True)
class _Wide:
    """A UTF-16 or UTF-32 file as UTF-8, with the way back to its own offsets."""

    path: str
    text: bytes
    codec: str
    unit: int
    lines: LineIndex

    @classmethod
    def of(cls, path: str, data: bytes) -> _Wide:
        codec = wide_encoding(data)
        assert codec is not None
        unit = 4 if codec.startswith("utf-32") else 2
        # The BOM is decoded with the rest, so that offsets map without a correction.
        text = data.decode(codec, "replace")
        ending = "" if text.endswith("\n") else "\n"
        return cls(path, (text + ending).encode(), codec, unit, LineIndex(data, codec))

    def offset_of(self, offset: int) -> int:
        return len(self.text[:offset].decode().encode(self.codec))


def _share(sizes: list[int], limit: int) -> int:
    """Return the most rows a file may keep so that all of them keep at most ``limit``; 1 at least."""
    if sum(sizes) <= limit:
        return max(sizes, default=0)
    low, high = 1, max(sizes)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, middle) for size in sizes) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def _batches(names: list[bytes]) -> Iterator[list[bytes]]:
    """Yield names in calls that fit the kernel's limit; a leading dash is made harmless by ``./``."""
    batch: list[bytes] = []
    size = 0
    for name in names:
        # A pointer goes with each argument.
        size += len(name) + 9
        if size > ARGUMENT_BYTES and batch:
            yield batch
            batch, size = [], len(name) + 9
        batch.append(b"./" + name if name == b"-" else name)
    if batch:
        yield batch


def _unions(first: str, second: str) -> Iterator[str]:
    """Yield the texts in which the end of one literal is the beginning of the other."""
    for size in range(1, min(len(first), len(second))):
        if first.endswith(second[:size]):
            yield first + second[size:]


def _quoted(text: str) -> str:
    """Escape what is special in rg's syntax, and nothing else: a backslash before ``<`` is an assertion there."""
    return re.sub(r"[\\.+*?()|\[\]{}^$#&~-]", r"\\\g<0>", text)


def _latin(text: str, *, ignore_case: bool) -> Iterator[str]:
    """Yield a literal as Latin-1 bytes, for files in that encoding; ASCII literals need none."""
    if text.isascii():
        return
    try:
        pieces = [_latin_char(char, ignore_case=ignore_case) for char in text]
    except UnicodeEncodeError:
        return
    yield "(?-u:" + "".join(pieces) + ")"


def _latin_char(char: str, *, ignore_case: bool) -> str:
    if char.isascii():
        return _quoted(char)
    forms = {char.encode("latin-1")}
    if ignore_case:
        for other in (char.lower(), char.upper()):
            with contextlib.suppress(UnicodeEncodeError):
                forms.add(other.encode("latin-1"))
    return "(?:" + "|".join(f"\\x{form[0]:02X}" for form in sorted(forms) if len(form) == 1) + ")"
