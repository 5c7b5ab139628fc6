"""Which files are read, best first, and what each of them holds.

Probes lead to files by their hits. The files that rank best are read whether or not a probe that
ran was sent to them, for the judge ends a search when there is enough and not when the best is in:
what is found on them is found by reading.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from rtch.evidence import ORDER, classify, stands_beside, strongest
from rtch.limits import HydrateLimits
from rtch.masking import secret_name
from rtch.models.basket import Term
from rtch.models.chunk import SkippedSurface
from rtch.models.intake import Intake
from rtch.models.plan import Candidate, Hit, Probe, ProbePlan, ProbeResult, ProbeTerm, ScorePart
from rtch.models.vocab import ClaimAuthority, ConfidenceClass, FileRole, SkipReason
from rtch.reading import SkippedFile
from rtch.roles import role_of
from rtch.stages.bearing import Bearing, Mark
from rtch.stages.chunks import SourceFile
from rtch.tails import TAIL_BYTES, is_long, read_tail
from rtch.workspace import Workspace

_UNRANKED = 0.01
"""The score, as a share of the best, of a file that was hit without having been ranked."""


Arrange = Callable[[list[str], int], list[str]]
"""Of paths by rank, and the most that are taken."""


class Found(NamedTuple):
    """One hit with the probe and term that lead to it."""

    hit: Hit
    term: ProbeTerm
    probe_id: str
    authority: ClaimAuthority


class Taken(NamedTuple):
    """A file that was read to be hydrated: the probes' hits, and the request's words on its lines."""

    file: SourceFile
    found: list[Found]
    marks: list[Mark]
    candidate: Candidate
    share: float


class Judging:
    """What a hit is worth in this run."""

    def __init__(self, intake: Intake, hitting: frozenset[str]) -> None:
        """Take the request, and every term that hits somewhere in the zone."""
        self._intake = intake
        self._hitting = hitting

    def of_hit(self, found: Found, *, read: bool, truth: bool) -> ConfidenceClass:
        """Return the class of a probe's hit."""
        return self._of(found.term, found.authority, found.hit.path, read=read, truth=truth)

    def of_mark(self, term: Term, path: str) -> ConfidenceClass:
        """Return the class of a term met by reading: it says what a hydrated hit says, and supports no claim."""
        return self._of(term, ClaimAuthority.SOURCE_BEARING, path, read=True, truth=False)

    def _of(
        self, term: ProbeTerm | Term, authority: ClaimAuthority, path: str, *, read: bool, truth: bool
    ) -> ConfidenceClass:
        beside = stands_beside(path, self._intake)
        return classify(term, authority, self._hitting, read=read, truth=truth, beside=beside)


class Selection:
    """The files of one hydration: those taken, those skipped, and why."""

    def __init__(self, intake: Intake, plan: ProbePlan, limits: HydrateLimits, workspace: Workspace) -> None:
        self.skipped: list[SkippedSurface] = []
        self.twins: dict[str, list[str]] = defaultdict(list)
        self.cap_reached = False
        self._intake = intake
        self._plan = plan
        self._limits = limits
        self._workspace = workspace
        self._bearing = Bearing(plan)
        self._parse_left = limits.parse_budget_bytes
        self._encoded = {workspace.listing.paths[i] for i in workspace.listing.encoded}

    def take(
        self, by_path: dict[str, list[Found]], judging: Judging, arrange: Arrange = lambda order, _cap: order
    ) -> list[Taken]:
        """Read the best files, up to the surface cap; equal bytes are one surface, but no ledger is one with a copy.

        Args:
            by_path: the hits of each file.
            judging: what a hit is worth.
            arrange: what is done with the order by rank, given it and the cap.
        """
        cap = self._plan.surface_cap
        ranked = {one.path: one for one in self._plan.candidates}
        best = max((one.score for one in ranked.values()), default=1.0) or 1.0
        least = round(_UNRANKED * best, 6)
        met = {path: by_path.get(path, []) for path in (*by_path, *(one.path for one in self._plan.candidates[:cap]))}
        # A few places for what was named beside the target or must not be assumed, so that it is seen at all.
        behind = {path for path, found in met.items() if self._stands_back(path, found, judging)}
        kept_back = min(cap // 10, len(behind & by_path.keys()))
        order = arrange(sorted(met, key=lambda path: (path in behind, -_score(ranked, path), path)), cap)
        taken: list[Taken] = []
        seen: dict[tuple[str, bool], str] = {}
        for path in order:
            found = met[path]
            if len(taken) >= cap - (0 if path in behind else kept_back):
                if found:
                    self.cap_reached = True
                    self._skip(path, SkipReason.SURFACE_CAP, f"ranked below the first {cap}")
                continue
            file = self._read(path, hit=bool(found))
            if file is None:
                continue
            marks = self.marks(file)
            if not found and not any(mark.term for mark in marks):
                continue
            # A ledger's rows have a standing, which the same rows elsewhere have not.
            first = seen.setdefault((file.sha256, role_of(path) is FileRole.LEDGER), path)
            if first != path:
                self.twins[first].append(path)
                self._skip(path, SkipReason.DUPLICATE_CONTENT, f"the same bytes as {first}")
                continue
            candidate = ranked.get(path) or Candidate(
                path=path, score=least, parts=(ScorePart(name="hit", value=least, because="hit"),)
            )
            taken.append(Taken(file, _inside(file, found), marks, candidate, min(1.0, candidate.score / best)))
        return taken

    def read(self, path: str) -> SourceFile | None:
        """Return a file that no hit leads to, or None where it is not to be shown."""
        return self._read(path, hit=True)

    def marks(self, file: SourceFile) -> list[Mark]:
        """Return the request's words on the lines of a file."""
        marks = self._bearing.marks(file.decoded.text)
        before = file.first_line - 1
        return [mark._replace(line=mark.line + before) for mark in marks] if before else marks

    def column(self, line: str, token: str) -> int:
        """Return where in a line the first word with a token begins, in characters."""
        return self._bearing.column(line, token)

    def _stands_back(self, path: str, found: Sequence[Found], judging: Judging) -> bool:
        """Put neighbours and cautions behind every target."""
        if not found:
            return stands_beside(path, self._intake)
        classes = [judging.of_hit(one, read=False, truth=False) for one in found]
        return ORDER[strongest(classes)] <= ORDER[ConfidenceClass.NEIGHBOR_ONLY]

    def _read(self, path: str, *, hit: bool) -> SourceFile | None:
        reason = secret_name(path)
        if reason is not None:
            if hit:
                self._skip(path, SkipReason.SECRET, reason)
            return None
        try:
            if self._limits.max_file_bytes >= TAIL_BYTES and is_long(self._workspace, path):
                return self._end_of(path)
            read = self._workspace.read(path, max_bytes=self._limits.max_file_bytes)
        except SkippedFile as skipped:
            self._skip(path, skipped.reason, skipped.detail)
            return None
        may_parse = len(read.data) <= min(self._parse_left, self._limits.max_parse_bytes)
        if may_parse:
            self._parse_left -= len(read.data)
        return self._source(path, read.data, read.sha256, may_parse=may_parse)

    def _end_of(self, path: str) -> SourceFile:
        """Return the end of a long ledger."""
        tail = read_tail(self._workspace, path)
        end = self._source(path, tail.data, tail.sha256, may_parse=False)
        return replace(end, first_line=tail.first_line, byte_start=tail.byte_start, whole_blob_id=tail.blob_id)

    def _source(self, path: str, data: bytes, sha256: str, *, may_parse: bool) -> SourceFile:
        return SourceFile(
            path=path,
            encoded=path in self._encoded,
            data=data,
            sha256=sha256,
            limits=self._limits,
            object_format=self._workspace.object_format,
            may_parse=may_parse,
        )

    def _skip(self, path: str, reason: SkipReason, detail: str) -> None:
        self.skipped.append(SkippedSurface(path=path, reason=reason, detail=detail))


def gathered(plan: ProbePlan, results: Iterable[ProbeResult]) -> dict[str, list[Found]]:
    """Return the hits of all probes by path."""
    probes: dict[str, Probe] = {probe.probe_id: probe for probe in plan.probes}
    by_path: dict[str, list[Found]] = defaultdict(list)
    for result in results:
        probe = probes[result.probe_id]
        terms = {term.term: term for term in probe.terms}
        for hit in result.hits:
            by_path[hit.path].append(Found(hit, terms[hit.term], probe.probe_id, probe.claim_authority))
    return by_path


def _score(ranked: dict[str, Candidate], path: str) -> float:
    return ranked[path].score if path in ranked else 0.0


def _inside(file: SourceFile, found: list[Found]) -> list[Found]:
    """Return the hits that lie in the file; a line named beyond its end stands for its first."""
    kept = [one for one in found if file.first_line <= one.hit.line <= len(file.lines)]
    return kept or [one._replace(hit=one.hit.model_copy(update={"line": file.first_line})) for one in found[:1]]
