"""Names and durable ids that the baseline knew as defined, that nothing defines now, and that documents still name.

A name is one that a cited chunk defined: long, and no word of plain language. It is gone where it stands in no file of
the tree but documents, logs and data, and no file or folder is called so.

An id counts only where a cited chunk defined it: as the first thing of a heading, or as the value of a key such as
``id`` in a row. It is gone where no line defines it so or begins with it, as a row of a table or list does, where it
stands in no code or data, and where no path bears it. Ids that the world defines (PEP, RFC, CVE, GHSA) and tics never
count.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rtch.limits import DriftLimits
from rtch.marks import MarkFinder
from rtch.mentions import prose_of, spans_of
from rtch.models.packet import Findings
from rtch.models.tree import Listing
from rtch.models.vocab import FileRole, SkipReason
from rtch.past import speaks_of_other_times
from rtch.reading import SkippedFile
from rtch.roles import role_of
from rtch.search import SearchOutcome, find_matches
from rtch.stages.desk import Desk
from rtch.text import decode

MAX_NAMES = 400
"""Names and ids of one baseline that are looked for."""
MAX_ROUNDS = 8
"""Searches for names that others may hide in files full of them; each takes four times the lines of the one before."""
MAX_ROWS = 200_000
"""Matches that one search keeps."""
_TELLING = re.compile(r"(?!__)(?:\w{14,80}|(?=\w{6,80}$)(?:\w+_\w+|\w*[a-z][A-Z]\w*|\w*[A-Z]{2}[a-z]\w*))$")
"""A name of two parts, or a long one: a plain word may be meant as such, or be another package's."""
_OF_AN_INTAKE = "enough_evidence_definition"
"""A key of every intake, and so of what holds one."""
_TEXT_ROLES = frozenset({FileRole.DOCUMENT, FileRole.CHANGELOG, FileRole.LEDGER, FileRole.DATA, FileRole.LOCK})
_WORLD = frozenset({"pep", "rfc", "cve", "ghsa", "tic", "packet"})
_OWN_KEY = r"""(?<![\w-])["']?(?:id|handle|slug)["']?\s*[:=]\s*["']?"""
"""What the baseline is taken to define an id by; that it is defined now, any key that may do so tells."""
_KEY = r"""["']?(?:[\w-]*[_-])?(?:id|handle|key|name|slug)["']?\s*[:=]\s*["']?"""
_MARKS = r"""[#|*+`"'\[({<_>=-][\s>#|*+`"'\[\](){}<_=-]*"""
_ENTRY = r"[)\]]?[ \t]*(?:[:|=\u2014\u2013]|-[ \t]|$)"
"""What follows an id that opens a line without a mark: of a sentence it is the subject, and no definition."""
_LONGEST_SPAN = 120
_Admits = Callable[[str, Sequence[str], str], bool]
"""Whether a name counts on a line: the name, the line's code spans, the line."""


class Named(NamedTuple):
    """A document's line that names what is gone."""

    path: str
    line: int
    name: str


class Vanished(NamedTuple):
    """What documents name that is gone; ``not_judged`` names or ids are not told of, for ``why``."""

    named: tuple[Named, ...] = ()
    not_judged: int = 0
    why: str = ""


def vanished_names(
    before: Findings, after: Findings, listing: Listing, limits: DriftLimits, desk: Desk, documents: Sequence[str]
) -> Vanished:
    """Return where documents name symbols that the baseline's chunks defined and nothing defines now."""
    held = set(_defined(after))
    stems = {path.rpartition("/")[2].partition(".")[0] for path in listing.paths}
    stems |= {part for path in listing.paths for part in path.split("/")[:-1]}
    wanted = sorted({name for name in _defined(before) if _TELLING.match(name)} - held - stems)
    search = _Search(desk, limits)
    sources = [path for path in listing.files() if role_of(path) not in _TEXT_ROLES]
    cited = {chunk.path for chunk in before.hydrated_chunks}
    missing = search.lacking(wanted[:MAX_NAMES], [path for path in sources if path in cited])
    missing = search.lacking(missing, search.without_answers(sources) if missing else ())
    return search.outcome(wanted, missing, documents, _names_it)


def vanished_ids(
    before: Findings, listing: Listing, limits: DriftLimits, desk: Desk, documents: Sequence[str]
) -> Vanished:
    """Return where documents refer to durable ids that the baseline's chunks defined and nothing defines now."""
    paths = "\n".join(listing.paths).lower()
    wanted = sorted(one for one in _defined_ids(before, limits) if one.lower() not in paths)
    search = _Search(desk, limits)
    texts = [
        path for path in listing.files() if role_of(path) in {FileRole.DOCUMENT, FileRole.CHANGELOG, FileRole.LEDGER}
    ]
    others = sorted({*listing.files()} - {*texts})
    missing = search.lacking(wanted[:MAX_NAMES], search.without_answers(others) if wanted else ())
    held: set[str] = set()
    if missing and not search.why_not:
        held = {
            row.name
            for row in search.lines(missing, texts, lambda name, _, line: defines_id(name, line), followed=False)
        }
    missing = [one for one in missing if one not in held]
    return search.outcome(wanted, missing, documents, lambda _, __, line: not _is_of_other_times(line))


def defines_id(name: str, line: str) -> bool:
    """Tell whether a line gives an id to what it is about: as a heading, row, item or entry of it, or by a key."""
    word = re.escape(name) + r"(?![\w-])"
    told = re.match(rf"\s*(?P<mark>{_MARKS})?{word}(?(mark)|{_ENTRY})", line)
    return told is not None or re.search(_KEY + word, line, re.IGNORECASE) is not None


def _defined(findings: Findings) -> Iterator[str]:
    for chunk in findings.hydrated_chunks:
        for path in (*chunk.defines, chunk.symbol_path):
            yield re.split(r"[.:#/]+", path)[-1]


def _defined_ids(before: Findings, limits: DriftLimits) -> set[str]:
    patterns = limits.survey.patterns
    of_the_world = tuple(shape for shape in patterns.durable_ids if shape.name in _WORLD)
    finder = MarkFinder(patterns)
    others = MarkFinder(patterns.model_copy(update={"durable_ids": of_the_world}))
    found: set[str] = set()
    for chunk in before.hydrated_chunks:
        if not finder.find(chunk.text, limits.survey.features).ids:
            continue
        for line in chunk.text.split("\n"):
            heading = line.lstrip().startswith(("#", "="))
            foreign = {one.id for one in others.find(line, limits.survey.features).ids}
            for one in finder.find(line, limits.survey.features).ids:
                if one.id in foreign:
                    continue
                word = re.escape(one.id) + r"(?![\w-])"
                by_key = re.search(_OWN_KEY + word, line, re.IGNORECASE) is not None
                if by_key or (heading and re.match(r"[\s#=`*\[]+" + word, line)):
                    found.add(one.id)
    return found


def _names_it(name: str, codes: Sequence[str], prose: str) -> bool:
    """Tell whether a line names a symbol: in a code span, or with brackets behind it."""
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    if _is_of_other_times(prose):
        return False
    told = (code for code in codes if len(code) <= _LONGEST_SPAN and "/" not in code)
    return any(map(word.search, told)) or re.search(rf"(?<![\w./-]){re.escape(name)}\(", prose) is not None


def _is_of_other_times(line: str) -> bool:
    return speaks_of_other_times(re.sub(r"`+[^`]*`+", " ", line))


class _Search:
    """Searches of one check, within its time."""

    def __init__(self, desk: Desk, limits: DriftLimits) -> None:
        self._desk = desk
        self._limits = limits
        self._end = time.monotonic() + limits.timeout_s
        self.timed_out = False
        self.unread: list[str] = []

    @property
    def why_not(self) -> str:
        """Why it is not known that something stands nowhere; empty where it is."""
        if self.timed_out:
            return "the search ran out of time"
        if self.unread:
            return f"{len(self.unread)} files could not be searched, {self.unread[0]} among them"
        return ""

    def without_answers(self, paths: Sequence[str]) -> list[str]:
        """Return some paths without saved intakes, packets and baselines: they quote what was, and define nothing."""
        plain = [path for path in paths if path.endswith((".yaml", ".yml", ".json"))]
        quoting = {match.path for match in self._find([_OF_AN_INTAKE], plain, 1).matches}
        return [path for path in paths if path not in quoting]

    def lacking(self, names: Sequence[str], paths: Sequence[str]) -> list[str]:
        """Return the names that stand in none of some files; what was found is not searched for again."""
        left, files = list(names), list(paths)
        lines = self._limits.survey.max_places
        for _ in range(MAX_ROUNDS):
            if not left or not files or self.timed_out:
                break
            outcome = self._find(left, files, lines)
            seen = {match.text.decode("utf-8", "replace") for match in outcome.matches}
            left = [name for name in left if name not in seen]
            files = list(outcome.truncated)
            lines *= 4
        else:
            self.timed_out = True
        return left

    def lines(self, names: Sequence[str], paths: Sequence[str], admits: _Admits, *, followed: bool) -> Iterator[Named]:
        """Yield each document's first line that names one of some names and is admitted.

        Args:
            names: what is looked for.
            paths: the documents.
            admits: which lines count.
            followed: whether only lines of text count, as for references, and not those of code or comments.
        """
        if not names or not paths:
            return
        outcome = self._find(names, paths, self._limits.survey.max_places)
        hits: dict[str, set[str]] = {}
        for match in outcome.matches:
            hits.setdefault(match.path, set()).add(match.text.decode("utf-8", "replace"))
        for path in outcome.truncated:
            hits[path] = set(names)
        for path in sorted(hits):
            try:
                data = self._desk.workspace.read(path, max_bytes=self._limits.max_document_bytes).data
            except SkippedFile:
                continue
            text = decode(data).text
            lines = [*prose_of(path, text)] if followed else [*enumerate(text.split("\n"), 1)]
            codes: dict[int, list[str]] = {}
            for span in spans_of(path, text):
                codes.setdefault(span.line, []).append(span.code)
            for name in sorted(hits[path]):
                for number, line in lines:
                    if name in line and admits(name, codes.get(number, ()), line):
                        yield Named(path, number, name)
                        break

    def outcome(
        self, wanted: Sequence[str], missing: Sequence[str], documents: Sequence[str], admits: _Admits
    ) -> Vanished:
        """Return where the missing ones are named, unless it is not known that they are missing."""
        named = () if self.why_not else tuple(self.lines(missing, documents, admits, followed=True))
        if missing and self.why_not:
            return Vanished((), len(missing), self.why_not)
        past = max(0, len(wanted) - MAX_NAMES)
        return Vanished(named, past, f"no more than {MAX_NAMES} are looked for" if past else "")

    def _find(self, names: Sequence[str], paths: Sequence[str], lines: int) -> SearchOutcome:
        left = self._end - time.monotonic()
        outcome = find_matches(
            self._desk.workspace,
            paths,
            [rf"\b{_escaped(name)}\b" for name in names],
            fixed=False,
            max_lines_per_file=lines,
            timeout_s=left,
            max_rows=MAX_ROWS,
        )
        self.timed_out |= outcome.timed_out
        self.unread += [row.path for row in outcome.skipped if row.reason is not SkipReason.BINARY]
        if outcome.timed_out:
            self._desk.distrust()
        return outcome


def _escaped(name: str) -> str:
    return re.sub(r"([^\w])", r"\\\1", name)
