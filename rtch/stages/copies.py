"""Cited text in a second place: copied, or taken out of its file and put into another.

One pass of rg over the tree looks for one telling line of each chunk; what has it is held against the captured bytes.
The tree alone cannot say whether a second place is new. What the baseline knew of is left out here; whoever has git
asks it of each ``related`` place, or ``now``, and drops what was there: so no finding is more than likely.

Text that left its file and stands in several others is said to have moved to none of them: nothing tells which, nor
that it moved at all, as those may be as old as it was. That is known, and is nothing drifted beyond the edit that the
verdict on the chunk tells anyway; so no claim is made, and nothing counts as not judged.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rtch.anchors import FileNow, Lines, Unsure, same_text, stands
from rtch.errors import ToolError
from rtch.finding import excerpt, finding
from rtch.limits import DriftLimits
from rtch.models.chunk import Chunk
from rtch.models.drift import Anchor, Certainty, Checked, DriftCounts, DriftKind, Finding, NotJudged
from rtch.models.packet import Findings
from rtch.models.tree import Listing
from rtch.models.vocab import SkipReason
from rtch.reading import SkippedFile
from rtch.reentry import reentry_command
from rtch.roles import QUIET, is_generated_banner, role_of
from rtch.search import find_matches
from rtch.stages.desk import Desk

MIN_LINES = 3
"""Telling lines, each counted once; two alike lines stand in many trees by chance."""
MIN_CHARS = 120
"""Letters and digits of telling lines. Three lines of a common idiom (open, loop, close) have 60 to 90; what somebody
wrote for a purpose, and would copy, has more."""
MAX_PATTERN_CHARS = 160
LINES_PER_FILE = 1
"""A hit makes a candidate; where the text stands is told by its bytes."""
_IMPORT = re.compile(r"\s*(?:import|from|use|using|package|require|include|#\s*include|export\s.*\sfrom|@import)\b")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|<!--|%)")
_LICENCE = re.compile(r"licen[cs]ed?\b|copyright|SPDX-|warrant(?:y|ies)", re.IGNORECASE)


def copies(before: Findings, after: Findings, listing: Listing, limits: DriftLimits, desk: Desk) -> Checked:
    """Return a finding for each cited text that stands where it did not.

    Args:
        before: what the baseline has.
        after: what the same question gives now.
        listing: the tree as it is.
        limits: how far to look.
        desk: the tree's reader.
    """
    del after
    return _Search(before, listing, limits, desk).checked()


class _Asked(NamedTuple):
    """A cited chunk, and the line of it that is searched for."""

    chunk: Chunk
    pattern: str


class _Known:
    """What the baseline knew of other places."""

    def __init__(self, before: Findings) -> None:
        self._digests: dict[str, set[str]] = defaultdict(set)
        self._texts: dict[str, set[str]] = defaultdict(set)
        self._twins: dict[str, frozenset[str]] = {}
        for surface in before.selected_surfaces:
            self._twins[surface.path] = frozenset(surface.twins)
            for path in (surface.path, *surface.twins):
                self._digests[path].add(surface.sha256)
        for chunk in before.hydrated_chunks:
            self._digests[chunk.path].add(chunk.file_sha256)
            self._texts[chunk.path].add(chunk.text_sha256)
        alike = [one.path for one in before.skipped_surfaces if one.reason is SkipReason.DUPLICATE_CONTENT]
        self._alike = frozenset(alike)
        self._below = tuple(path.rpartition("** (")[0] for path in alike if "/** (" in path)

    def unchanged(self, file: FileNow) -> bool:
        """Tell whether a file has the bytes that the baseline saw, so that nothing in it is new."""
        return file.sha256 in self._digests.get(file.path, ())

    def had(self, chunk: Chunk, file: FileNow) -> bool:
        """Tell whether another file had a chunk's text, as far as the baseline knew."""
        path = file.path
        return (
            self.unchanged(file)
            or path in self._twins.get(chunk.path, ())
            or chunk.text_sha256 in self._texts.get(path, ())
            or path in self._alike
            or path.startswith(self._below)
        )


class _Search:
    """The cited chunks of one baseline looked for in one tree."""

    def __init__(self, before: Findings, listing: Listing, limits: DriftLimits, desk: Desk) -> None:
        self._limits, self._desk = limits, desk
        self._end = time.monotonic() + limits.timeout_s
        self._encoded = frozenset(listing.paths[i] for i in listing.encoded)
        self._files = tuple(listing.files())
        self._known = _Known(before)
        there = frozenset(self._files)
        quiet = {chunk.path for chunk in before.hydrated_chunks if role_of(chunk.path) in QUIET}
        cited = [chunk for chunk in before.hydrated_chunks if chunk.path in there and chunk.path not in quiet]
        self._asked = [_Asked(chunk, pattern) for chunk in cited if (pattern := _telling_line(chunk))]
        self._left: list[NotJudged] = []

    def checked(self) -> Checked:
        """Look, and say what was found."""
        if not self._asked:
            return Checked()
        places = self._places(self._candidates())
        whole = not self._left
        found: list[Finding] = []
        copied: dict[tuple[str, str], list[tuple[Chunk, Lines]]] = defaultdict(list)
        own = {path: self._read(path) for path in dict.fromkeys(asked.chunk.path for asked in self._asked)}
        judged = 0
        for chunk, _ in self._asked:
            file = own[chunk.path]
            if file is None:
                continue
            try:
                here = _own_places(file, chunk)
            except Unsure as unsure:
                self._left.append(NotJudged(what=chunk.chunk_id, why=f"copies of it: {unsure}"))
                continue
            judged += 1
            others = places.get(chunk.chunk_id, [])
            if here:
                for path, lines in others:
                    copied[chunk.path, path].append((chunk, lines))
                if len(here) > 1 and not self._known.unchanged(file):
                    copied[chunk.path, chunk.path].append((chunk, here[1]))
            elif len(others) == 1:
                found.append(self._relocated(chunk, *others[0], whole=whole))
        found += [self._duplicated(path, rows) for (_, path), rows in copied.items()]
        cut = max(0, len(found) - self._limits.max_findings)
        if cut:
            self._left.append(NotJudged(what="copies", why=f"{cut} more second places were found than are kept"))
        return Checked(
            findings=tuple(found[: self._limits.max_findings]),
            findings_cut=cut,
            counts=DriftCounts(not_judged=len(self._left)),
            not_judged=tuple(self._left),
        )

    # -- looking -------------------------------------------------------------------------------

    def _candidates(self) -> list[str]:
        """Return the files that have a telling line, in order."""
        paths = [path for path in self._files if role_of(path) not in QUIET]
        try:
            outcome = find_matches(
                self._desk.workspace,
                paths,
                list(dict.fromkeys(asked.pattern for asked in self._asked)),
                max_lines_per_file=LINES_PER_FILE,
                timeout_s=self._limits.timeout_s,
                max_rows=len(paths) * LINES_PER_FILE + 1,
            )
        except ToolError as error:
            self._desk.distrust()
            self._left.append(NotJudged(what="copies", why=str(error)))
            return []
        if outcome.timed_out:
            self._desk.distrust()
            self._left.append(NotJudged(what="copies", why=f"the search took {self._limits.timeout_s:g} s"))
        self._left += [
            NotJudged(what=row.path, why=f"copies in it: {row.detail or row.reason}")
            for row in outcome.skipped
            if row.reason is not SkipReason.BINARY
        ]
        found = list(dict.fromkeys(match.path for match in outcome.matches))
        own = {asked.chunk.path for asked in self._asked}
        cited = [path for path in found if path in own]
        others = [path for path in found if path not in own]
        past = len(others) - self._limits.max_copies
        if past > 0:
            why = f"{past} more files have a line of cited text than are compared"
            self._left.append(NotJudged(what="copies", why=why))
        return sorted(cited + others[: self._limits.max_copies])

    def _places(self, paths: Sequence[str]) -> Mapping[str, list[tuple[str, Lines]]]:
        """Return the other files that have each chunk's text, and where, but for those that had it before."""
        found: dict[str, list[tuple[str, Lines]]] = defaultdict(list)
        for number, path in enumerate(paths):
            if time.monotonic() > self._end:
                self._desk.distrust()
                why = f"{len(paths) - number} files were not compared within {self._limits.timeout_s:g} s"
                self._left.append(NotJudged(what="copies", why=why))
                break
            file = self._read(path)
            if file is None or is_generated_banner(file.data):
                continue
            text = None if file.encoding == "utf-8" else self._desk.workspace.decode(file.data).text
            for chunk, pattern in self._asked:
                held = pattern.encode() in file.data if text is None else pattern in text
                if path == chunk.path or not held or self._known.had(chunk, file):
                    continue
                try:
                    same = same_text(file, chunk)
                except Unsure as unsure:
                    self._left.append(NotJudged(what=chunk.chunk_id, why=f"a copy of it in {path}: {unsure}"))
                    continue
                if same:
                    found[chunk.chunk_id].append((path, same[0]))
        return found

    def _read(self, path: str) -> FileNow | None:
        try:
            data = self._desk.workspace.read(path, max_bytes=self._limits.max_copy_bytes).data
        except SkippedFile as skipped:
            if skipped.reason is not SkipReason.BINARY:
                why = f"copies in it: {skipped.detail or skipped.reason}"
                self._left.append(NotJudged(what=path, why=why))
            return None
        return FileNow(path, path in self._encoded, data)

    # -- saying --------------------------------------------------------------------------------

    def _place(self, path: str, lines: Lines) -> Anchor:
        encoded = path in self._encoded
        return Anchor(path=path, path_encoded=encoded, start_line=lines.start, end_line=lines.end)

    def _relocated(self, chunk: Chunk, path: str, lines: Lines, *, whole: bool) -> Finding:
        """Return the finding; that there is no third place is known where the whole tree was compared."""
        now = self._place(path, lines)
        return finding(
            DriftKind.RELOCATED,
            subject=(chunk.path, chunk.line_range, chunk.text_sha256),
            state=(path, chunk.text_sha256),
            message=f"{chunk.path}:{chunk.line_range} is in {path}:L{lines.start}-L{lines.end} now",
            at=_captured_place(chunk),
            certainty=Certainty.LIKELY if whole else Certainty.POSSIBLE,
            captured=excerpt(chunk.text),
            now=now,
            found=excerpt(chunk.text),
            chunk_id=chunk.chunk_id,
            next_command=reentry_command(path, lines.start, lines.end, encoded=now.path_encoded),
        )

    def _duplicated(self, path: str, rows: Sequence[tuple[Chunk, Lines]]) -> Finding:
        """Return one finding for all chunks of a file that stand in one other."""
        first, lines = rows[0]
        second = f"{path}:L{lines.start}-L{lines.end}"
        if len(rows) == 1:
            message = f"{first.path}:{first.line_range} stands in {second} as well"
        else:
            of_file = sum(asked.chunk.path == first.path for asked in self._asked)
            told = f"the {of_file}" if of_file == len(rows) else f"{len(rows)} of the {of_file}"
            again = "again" if path == first.path else "as well"
            message = f"{path} has {told} cited chunks of {first.path} {again}"
        return finding(
            DriftKind.DUPLICATED,
            subject=(first.path, path),
            state=tuple(sorted({chunk.text_sha256 for chunk, _ in rows})),
            message=message,
            at=_captured_place(first),
            certainty=Certainty.POSSIBLE if path == first.path else Certainty.LIKELY,
            captured=excerpt(first.text),
            found=excerpt(first.text),
            chunk_id=first.chunk_id if len(rows) == 1 else "",
            related=tuple(self._place(path, place) for _, place in rows),
            next_command=reentry_command(path, lines.start, lines.end, encoded=path in self._encoded),
        )


def _captured_place(chunk: Chunk) -> Anchor:
    return Anchor(
        path=chunk.path, path_encoded=chunk.path_encoded, start_line=chunk.start_line, end_line=chunk.end_line
    )


def _own_places(file: FileNow, chunk: Chunk) -> list[Lines]:
    """Return where a chunk stands in its own file, its old place first, and none that overlaps that one."""
    same = list(same_text(file, chunk))
    old = Lines(chunk.start_line, chunk.end_line)
    first = old if stands(file, chunk) else same[0] if same else None
    return [] if first is None else [first, *(one for one in same if not one.overlaps(first))]


def _telling_line(chunk: Chunk) -> str:
    """Return the longest telling line of a chunk, without its indentation; nothing where the chunk is too plain.

    Imports and the words of a licence are alike in many files that have nothing to do with each other, and so are lines
    without a letter. A line that is masked or clipped is not what the file has.
    """
    hidden = {one.line for one in chunk.masked} | {one.line for one in chunk.clipped}
    telling = dict.fromkeys(_telling(chunk.text.split("\n"), chunk.start_line, hidden))
    if len(telling) < MIN_LINES or sum(len(re.findall(r"\w", line)) for line in telling) < MIN_CHARS:
        return ""
    return max(telling, key=len)[:MAX_PATTERN_CHARS]


def _telling(texts: Sequence[str], start: int, hidden: set[int]) -> Iterator[str]:
    licensed = any(_LICENCE.search(text) for text in texts)
    for number, text in enumerate(texts, start):
        plain = text.strip()
        if number in hidden or not re.search(r"[^\W\d_]", plain) or _IMPORT.match(text):
            continue
        if "\ufffd" in plain or "\0" in plain or "\r" in plain or (licensed and _COMMENT.match(text)):
            continue
        yield plain
