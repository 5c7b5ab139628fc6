"""What a search would cost, and the probes that are declared before any of them runs."""

from __future__ import annotations

from typing import Literal, NamedTuple, Self

from pydantic import model_validator

from rtch.models.base import Count, LineNumber, Record
from rtch.models.basket import Basket
from rtch.models.vocab import (
    CautionFlag,
    ClaimAuthority,
    FanoutLevel,
    Origin,
    ProbeFamily,
    ProbeType,
    SkipReason,
    Use,
)


class TermHits(NamedTuple):
    """Where one term stands: indices of files, ascending, and how often it stands in each."""

    files: tuple[Count, ...] = ()
    counts: tuple[Count, ...] = ()


class Unreached(Record):
    """A file that no declared probe reaches, and why; ``path`` may be ``dir/** (n)``, and ``count`` adds up."""

    path: str
    reason: SkipReason
    detail: str
    count: Count = 1


class CostEstimate(Record):
    """The cost dry run: one counting pass over the zone with every term of the basket.

    In columns, for a word of the request may stand in all of 100,000 files: one index names one file in
    ``paths`` and ``sizes``, and in every term's hits.
    """

    schema_version: Literal["rtch.cost/2"] = "rtch.cost/2"
    terms: tuple[str, ...]
    paths: tuple[str, ...]
    """Files with at least one hit, sorted."""
    sizes: tuple[Count, ...]
    hits: tuple[TermHits, ...]
    """A term each."""
    lines: tuple[tuple[Count, Count], ...] = ()
    """(index, lines) of files whose size alone would make them too long for any target set."""
    files_searched: Count
    bytes_searched: Count
    timed_out: bool = False
    unsearched: tuple[Unreached, ...] = ()
    """By path: not looked into because of name or size, unreadable, or with hits that do not count."""

    @model_validator(mode="after")
    def _columns_agree(self) -> Self:
        if len(self.sizes) != len(self.paths) or len(self.hits) != len(self.terms):
            raise ValueError("the columns of a cost estimate differ in length")
        if any(len(hits.files) != len(hits.counts) for hits in self.hits):
            raise ValueError("a term's files and counts differ in length")
        if any(hits.files and hits.files[-1] >= len(self.paths) for hits in self.hits):
            raise ValueError("a term stands in a file that is not there")
        return self

    def files_with(self, term: str) -> int:
        """Return the number of files that hold a term; 0 for one that was not counted."""
        return len(self.hits_of(term).files)

    def hits_of(self, term: str) -> TermHits:
        """Return where a term stands; nowhere if it was not counted."""
        return self.hits[self.terms.index(term)] if term in self.terms else TermHits()


class ProbeTerm(Record):
    """A term as a probe searches it, with the origin and use that bound what a hit is worth."""

    term: str
    spellings: tuple[str, ...]
    origin: Origin
    use: Use
    pull: float
    """What its first hit adds to a window of lines: its share in the request times its rarity here."""
    generic: bool = False
    pairs_with: tuple[str, ...] = ()
    places: tuple[tuple[str, LineNumber], ...] = ()
    """Lines at which the inventory knows the structure that the probe is after."""


class Probe(Record):
    """One declared, bounded search."""

    probe_id: str
    family: ProbeFamily
    type: ProbeType
    wave: Count
    purpose: str
    input_terms: tuple[str, ...]
    terms: tuple[ProbeTerm, ...]
    target_set: tuple[str, ...]
    targets_cut: Count = 0
    scope: str
    expected_signal: str
    limitation: str
    claim_authority: ClaimAuthority
    predicted_files: Count
    predicted_bytes: Count
    predicted_lines: Count
    read_budget_lines: Count
    termination: str


class ScorePart(Record):
    """One named share of a surface's score."""

    name: str
    value: float
    because: str = ""


class Candidate(Record):
    """A file with its score before any probe has run."""

    path: str
    score: float
    parts: tuple[ScorePart, ...]


class DroppedProbe(Record):
    """A probe that was thought of and not declared."""

    family: ProbeFamily
    input_terms: tuple[str, ...]
    why: str


class PlanCaution(Record):
    """What planning had to cut or could not know."""

    flag: CautionFlag
    path: str
    note: str


class ProbePlan(Record):
    """Stage 5's artifact: all probes, before any runs."""

    schema_version: Literal["rtch.plan/1"] = "rtch.plan/1"
    plan_id: str
    fanout_level: FanoutLevel
    max_probes: Count
    probes: tuple[Probe, ...]
    remaining_probes: Count
    dropped: tuple[DroppedProbe, ...] = ()
    next_legal_probes: tuple[Probe, ...] = ()
    next_legal_probes_cut: Count = 0
    """Further ones, of which the level admits no more here."""
    predicted_files: Count
    predicted_bytes: Count
    predicted_lines: Count
    read_budget_lines: Count
    surface_cap: Count
    basket: Basket
    """The basket as the dry run's counts settled it."""
    candidates: tuple[Candidate, ...] = ()
    pulls: tuple[tuple[str, float], ...] = ()
    """What the first line that bears a word of the request adds to a window, a token; rare ones more."""
    admitted: tuple[Origin, ...] = ()
    """Origins of the terms that this level looks for."""
    unreached: tuple[Unreached, ...] = ()
    """What no search has looked into, and what holds a term and lies in no declared probe's target set."""
    cautions: tuple[PlanCaution, ...] = ()


class Hit(Record):
    """A place where a probe matched."""

    path: str
    line: LineNumber
    byte_offset: Count
    """Of the match, from the start of the file."""
    term: str
    matched: str
    structural: bool = False
    """Whether the inventory knows a definition, heading, key or id of that name at that line."""


class ProbeResult(Record):
    """What one probe found and what it did not look at."""

    probe_id: str
    hits: tuple[Hit, ...]
    """By path, then line; at most the probe's limit."""
    files_searched: Count
    bytes_searched: Count
    hit_count: Count
    truncated: bool = False
    timed_out: bool = False
    errors: tuple[str, ...] = ()


class WaveVerdict(Record):
    """Whether the criteria hold after a wave, so that the next need not run."""

    wave: Count
    satisfied: bool
    because: str
