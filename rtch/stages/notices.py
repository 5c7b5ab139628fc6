"""New marks of deprecation and supersession on cited surfaces.

A file that has the captured bytes has no new mark. In one that has not, a mark is new where it stands in or right
above the cited lines and was not captured there, or in a document that was looked into and bore none. What says so of
the file, or at the head of a definition or class around the cited lines, may be new where the text there has grown by
as much as the mark: a finding that is possible. Other marks that had room to come are not about what was cited, and
are counted as not judged.
Files that are gone are the business of the verdicts.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rtch.anchors import FileNow, Lines, Unsure, same_text, stands
from rtch.deprecation import Mark, marks_of_code, marks_of_document
from rtch.edits import judge_edit, named_region
from rtch.finding import excerpt, finding
from rtch.limits import DriftLimits
from rtch.marks import MarkFinder
from rtch.models.chunk import Chunk
from rtch.models.drift import Anchor, Certainty, Checked, DriftKind, Finding, NotJudged
from rtch.models.features import Symbol
from rtch.models.packet import Findings
from rtch.models.tree import Listing
from rtch.models.vocab import CautionFlag, EntryKind, FileRole
from rtch.reading import SkippedFile
from rtch.reentry import reentry_command
from rtch.roles import role_of
from rtch.stages.desk import Desk
from rtch.stages.features import look_into
from rtch.structure import is_document, sections
from rtch.symbols import code_features
from rtch.text import decode

HEAD_LINES = 30
"""Lines at the beginning of a file, up to its first definition or second heading, that speak for all of it."""
ABOVE_LINES = 12
"""Lines of comments and annotations above a definition, and of its head below, that are taken as its own."""
_PAST = frozenset({FileRole.CHANGELOG, FileRole.LEDGER, FileRole.LOCK})
"""What only grows: it tells of other things and of the past."""
_BELONGS = re.compile(r"\s*(?:$|[#@/*;%\[\-'\"<)\]}]|--|\"\"\")")
"""A line above a definition that may be part of its comment or annotations."""


def notices(before: Findings, after: Findings, listing: Listing, limits: DriftLimits, desk: Desk) -> Checked:
    """Return a finding for each mark that a cited surface bears and did not.

    Args:
        before: what the baseline has.
        after: what the same question gives now.
        listing: the tree as it is.
        limits: how far to look.
        desk: the tree's reader.
    """
    del after
    kinds = dict(zip(listing.paths, listing.kinds, strict=True))
    finder = MarkFinder(limits.survey.patterns)
    found: list[Finding] = []
    left: list[NotJudged] = []
    for path, surface in _cited(before).items():
        if kinds.get(path) is not EntryKind.FILE or role_of(path) in _PAST:
            continue
        try:
            file = desk.workspace.read(path, max_bytes=limits.survey.max_file_bytes)
            if file.sha256 in surface.digests:
                continue
            seen = _Seen(surface, FileNow(path, surface.encoded, file.data), listing)
            found += seen.in_document(limits, desk) if is_document(path) else seen.in_code(finder, limits)
        except SkippedFile as skipped:
            left.append(NotJudged(what=path, why=f"its marks of deprecation: {skipped.detail or skipped.reason}"))
            continue
        if seen.unknown:
            why = f"{seen.unknown} marks of deprecation stand away from what was cited, and may be old"
            left.append(NotJudged(what=path, why=why))
    cut = max(0, len(found) - limits.max_findings)
    if cut:
        left.append(NotJudged(what="notices", why=f"{cut} more marks were found than are kept"))
    return Checked(findings=tuple(found[: limits.max_findings]), findings_cut=cut, not_judged=tuple(left))


class _Surface(NamedTuple):
    """A cited path with what the baseline has of it; ``first_mark`` is the line of its first known mark, 0 for none."""

    path: str
    encoded: bool
    chunks: tuple[Chunk, ...]
    digests: frozenset[str]
    first_mark: int


def _cited(before: Findings) -> dict[str, _Surface]:
    digests: dict[str, set[str]] = {}
    encoded: dict[str, bool] = {}
    for one in before.selected_surfaces:
        digests.setdefault(one.path, set()).add(one.sha256)
        encoded[one.path] = one.path_encoded
    for chunk in before.hydrated_chunks:
        digests.setdefault(chunk.path, set()).add(chunk.file_sha256)
        encoded[chunk.path] = chunk.path_encoded
    marked = {one.path: one.line or 1 for one in before.caution_map if one.flag is CautionFlag.DEPRECATED}
    return {
        path: _Surface(
            path,
            encoded[path],
            tuple(chunk for chunk in before.hydrated_chunks if chunk.path == path),
            frozenset(digests[path]),
            marked.get(path, 0),
        )
        for path in sorted(digests)
    }


class _Judged(NamedTuple):
    """A mark that is new, or may be: what it is about, by which name, and how sure that is."""

    mark: Mark
    about: str
    certainty: Certainty
    chunk_id: str = ""


class _Seen:
    """One cited file as it is now."""

    def __init__(self, surface: _Surface, file: FileNow, listing: Listing) -> None:
        self.surface = surface
        self.file = file
        self.listing = listing
        self.unknown = 0
        """Marks of which nothing tells whether they are new."""
        self.exact = [(chunk, place) for chunk in surface.chunks if (place := _place(file, chunk)) is not None]
        """Where cited lines are now."""
        self.sure = {chunk.chunk_id for chunk, _ in self.exact}
        lost = ((chunk, named_region(file, chunk)) for chunk in surface.chunks if chunk.chunk_id not in self.sure)
        self.places = [*self.exact, *((chunk, place) for chunk, place in lost if place is not None)]
        """The same, or else the lines around what they were of."""
        self.captured = {_plain(line) for chunk in surface.chunks for line in _captured_lines(chunk)}

    # -- documents -----------------------------------------------------------------------------

    def in_document(self, limits: DriftLimits, desk: Desk) -> list[Finding]:
        """Return what a document says of itself, of a section, or in the cited lines."""
        looked = look_into([self.surface.path], limits.survey, desk).features
        texts = decode(self.file.data).text.split("\n")
        headings = looked[0].headings if looked else ()
        reach = sections(headings, len(texts))
        inner = [one.line for one in headings[1:]]
        head = min([HEAD_LINES, *(line - 1 for line in inner[:1])])
        first = self.surface.first_mark
        judged = []
        markers = looked[0].markers if looked else ()
        known = {one.line for one in markers}  # of which the baseline would have had one, if they had been there
        for mark in marks_of_document(texts, markers):
            if self._is_captured(mark):
                continue
            around = [one for one in reach if one.start_line <= mark.line <= one.end_line]
            about = " > ".join(around[-1].path) if around and mark.line > head else ""
            chunk = self._cites(mark.line)
            if chunk is not None:
                certainty = self._certainty(mark, chunk, about)
            elif not mark.plain or (mark.line not in known and self._had_no_room(mark)):
                continue
            elif first and mark.line >= first:
                self.unknown += 1
                continue
            else:
                covers = mark.line <= head or any(
                    one.start_line <= place.start <= one.end_line for one in around[-1:] for _, place in self.places
                )
                certainty = Certainty.LIKELY if covers else Certainty.POSSIBLE
            judged.append(_Judged(mark, about, certainty, chunk or ""))
        return self._findings(judged)

    # -- code ----------------------------------------------------------------------------------

    def in_code(self, finder: MarkFinder, limits: DriftLimits) -> list[Finding]:
        """Return what stands in or above the cited lines, and what says so of all that is around them."""
        text = decode(self.file.data).text
        texts = text.split("\n")
        features = limits.survey.features
        symbols = code_features(self.surface.path, self.file.data, features).symbols
        first = _above(texts, symbols[0].line) if symbols else len(texts) + 1
        judged = []
        for mark in marks_of_code(self.surface.path, text, finder, features):
            if self._is_captured(mark):
                continue
            owner = _owner(texts, symbols, mark.line)
            about = "" if owner is None else ".".join(filter(None, (owner.container, owner.name)))
            chunk = self._cites(mark.line) or self._cites_below(texts, mark.line, owner)
            if chunk is not None:
                judged.append(_Judged(mark, about, self._certainty(mark, chunk, about), chunk))
            elif mark.plain and not self._had_no_room(mark):
                around = mark.line < min(first, HEAD_LINES + 1) if owner is None else self._is_around(owner, mark.line)
                if around and self._grown(mark.line) is not None:
                    judged.append(_Judged(mark, about, Certainty.POSSIBLE))
                else:
                    self.unknown += 1
        return self._findings(judged)

    def _cites_below(self, texts: Sequence[str], line: int, owner: Symbol | None) -> str | None:
        """Return the chunk that a mark stands right above, or above the definition of, and in lines that are new."""
        for chunk, place in self.places:
            if line >= place.start or _is_end_of(chunk.quote.prefix, texts[place.start - 2]):
                continue
            of_cited = owner is not None and line < owner.line and place.start <= owner.line <= place.end
            if of_cited or _above(texts, place.start) <= line:
                return chunk.chunk_id
        return None

    def _is_around(self, owner: Symbol, line: int) -> bool:
        """Tell whether cited lines are of a definition, or of one inside it, and a line is at its head."""
        if line > owner.line + ABOVE_LINES:
            return False
        dotted = f"{owner.container}.{owner.name}" if owner.container else owner.name
        cited = {name for chunk in self.surface.chunks for name in (chunk.symbol_path, *chunk.defines) if name}
        return any(f".{name}.".find(f".{dotted}.") >= 0 for name in cited)

    # -- both ----------------------------------------------------------------------------------

    def _certainty(self, mark: Mark, chunk_id: str, about: str) -> Certainty:
        """Return how sure a mark in or above the lines of a chunk is.

        Only where the lines themselves are found, or the head of what the mark is about was among them, were all of
        these lines captured.
        """
        captured = chunk_id in self.sure or any(
            about in chunk.defines for chunk in self.surface.chunks if chunk.chunk_id == chunk_id
        )
        return Certainty.LIKELY if mark.plain and captured else Certainty.POSSIBLE

    def _had_no_room(self, mark: Mark) -> bool:
        """Tell whether what stands around a mark has grown by less than it, so that it was there."""
        grown = self._grown(mark.line)
        return grown is not None and grown < len(mark.text.encode())

    def _grown(self, line: int) -> int | None:
        """Return by how many bytes the text between the cited lines above and below a line has grown.

        The file's beginning is as good as cited lines above; without any below it is None.
        """
        below = min((one for one in self.exact if one[1].start > line), key=lambda one: one[1].start, default=None)
        if below is None:
            return None
        above = [one for one in self.exact if one[1].end < line and one[0].byte_end <= below[0].byte_start]
        end, was = max(((place.end, chunk.byte_end) for chunk, place in above), default=(0, 0))
        now = self.file.index.span(below[1].start, below[1].start).start
        return now - (self.file.index.span(end, end).end if end else 0) - (below[0].byte_start - was)

    def _is_captured(self, mark: Mark) -> bool:
        return all(_plain(line) in self.captured for line in mark.text.split("\n"))

    def _cites(self, line: int) -> str | None:
        return next((chunk.chunk_id for chunk, place in self.places if place.start <= line <= place.end), None)

    def _findings(self, judged: Iterable[_Judged]) -> list[Finding]:
        """Return one finding for all that is said of one thing."""
        groups: dict[str, list[_Judged]] = {}
        for one in judged:
            groups.setdefault(one.about, []).append(one)
        return [self._finding(group) for group in groups.values()]

    def _finding(self, group: Sequence[_Judged]) -> Finding:
        path, encoded = self.surface.path, self.surface.encoded
        best = max(group, key=lambda one: (one.certainty is Certainty.LIKELY, bool(one.mark.successor), -one.mark.line))
        mark = best.mark
        successor = excerpt(mark.successor)
        superseded = any(one.mark.superseded for one in group)
        said = "superseded" if superseded else "deprecated"
        what = excerpt(best.about).replace("\n", " ") or "the file"
        message = f"{path}:L{mark.line} marks {what} as {said}" + (f" by {successor}" if successor else "")
        if not best.chunk_id and best.certainty is Certainty.POSSIBLE:
            message += ", away from the cited lines"
        related = _existing(path, mark.successor, self.listing)
        return finding(
            DriftKind.SUPERSEDED if superseded else DriftKind.DEPRECATED,
            subject=(path, best.about),
            state=tuple(sorted({_plain(one.mark.text) for one in group})),
            message=message,
            at=Anchor(path=path, path_encoded=encoded, start_line=mark.line, end_line=mark.line),
            certainty=best.certainty,
            found=excerpt(" ".join(mark.text.split())),
            chunk_id=best.chunk_id,
            related=() if related is None else (Anchor(path=related),),
            next_command=reentry_command(path, mark.line, mark.line, encoded=encoded),
        )


def _place(file: FileNow, chunk: Chunk) -> Lines | None:
    """Return where cited lines are now; None where nothing tells."""
    try:
        if stands(file, chunk):
            return Lines(chunk.start_line, chunk.end_line)
        same = same_text(file, chunk)
        if same:
            return same[0] if len(same) == 1 else None
        return judge_edit(file, chunk, None).lines
    except Unsure:
        return None


def _captured_lines(chunk: Chunk) -> Iterator[str]:
    yield from chunk.text.split("\n")
    yield from (chunk.quote.prefix, chunk.quote.suffix)


def _plain(line: str) -> str:
    return " ".join(line.split()).casefold()


def _is_end_of(prefix: str, line: str) -> bool:
    """Tell whether what was captured right before a chunk is a line, or the end of a long one."""
    return bool(prefix.strip()) and line.rstrip("\r").endswith(prefix)


def _above(texts: Sequence[str], line: int) -> int:
    """Return where the comments and annotations right above a line begin; the line itself where there are none."""
    start = line
    while start > 1 and line - start < ABOVE_LINES and texts[start - 2].strip() and _BELONGS.match(texts[start - 2]):
        start -= 1
    return start


def _owner(texts: Sequence[str], symbols: Sequence[Symbol], line: int) -> Symbol | None:
    """Return the definition that a line stands right above, or else the one around it, told by indentation."""
    below = next((one for one in symbols if one.line > line), None)
    if below is not None and _above(texts, below.line) <= line:
        return below
    indent = _indent(texts[line - 1])
    above = (one for one in reversed(symbols) if one.line <= line)
    near = next((one for one in above if one.line == line or _indent(texts[one.line - 1]) < indent), None)
    if near is None:
        return None
    least = _indent(texts[near.line - 1])
    ended = any(_indent(text) <= least and not _BELONGS.match(text) for text in texts[near.line : line - 1])
    return None if ended else near


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _existing(path: str, name: str, listing: Listing) -> str | None:
    """Return the file of the tree that takes the place, if it is named by its path from here or from the root."""
    plain = name.split("#", maxsplit=1)[0].split("?", maxsplit=1)[0]
    if "." not in plain and "/" not in plain:
        return None
    tries = {posixpath.normpath(posixpath.join(posixpath.dirname(path), plain)), posixpath.normpath(plain.lstrip("/"))}
    return next((one for one in listing.files() if one in tries and one != path), None)
