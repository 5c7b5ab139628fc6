"""What an investigation says: a saved question held against the baseline that was accepted for it.

The closed sets are here and not in ``vocab``, for nothing before a packet has a use for them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from rtch.models.base import Count, Digest, LineNumber, Record
from rtch.models.vocab import ChunkVerdict


class DriftKind(StrEnum):
    """What has become otherwise; the first eight are of cited lines."""

    MOVED = "moved"
    """The captured bytes stand at other lines of their file."""
    EDITED = "edited"
    DELETED = "deleted"
    RENAMED = "renamed"
    """The file is gone, and its text stands in one that was not there."""
    RELOCATED = "relocated"
    """The file is there without the text, which stands in another file now."""
    AMBIGUOUS = "ambiguous"
    DUPLICATED = "duplicated"
    """The cited text stands in a second place, where it did not."""
    DEPRECATED = "deprecated"
    """A cited surface bears a mark of deprecation that it did not."""
    SUPERSEDED = "superseded"
    """The same of a mark that names, or implies, what takes its place."""
    SURFACE_ENTERED = "surface_entered"
    SURFACE_LEFT = "surface_left"
    RANK_CHANGED = "rank_changed"
    ANSWER_CHANGED = "answer_changed"
    """Whether the criteria hold, or why the run halted, is otherwise."""
    DANGLING_REFERENCE = "dangling_reference"
    """A document names a path, symbol, durable id or link that is not there."""
    CONTRADICTION = "contradiction"
    """Truth files state different values of one key."""


class Level(StrEnum):
    """How much a finding weighs, in SARIF's words."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def weight(self) -> int:
        """A number that is greater where the level weighs more."""
        return {Level.NOTE: 0, Level.WARNING: 1, Level.ERROR: 2}[self]


class Certainty(StrEnum):
    """By what a finding was made."""

    CERTAIN = "certain"
    """By digests, or by the listing of the tree: nothing was estimated."""
    LIKELY = "likely"
    """By one place alone that is alike, or by one name."""
    POSSIBLE = "possible"
    """By words; a person has to look."""


class BaselineState(StrEnum):
    """What the baseline says of a finding, in SARIF's words."""

    NEW = "new"
    UNCHANGED = "unchanged"
    """It was accepted as it is."""
    UPDATED = "updated"
    """It was accepted, and what is there now is otherwise again."""
    ABSENT = "absent"
    """It was accepted, and is no more."""


class DriftStatus(StrEnum):
    """What came of one investigation, worst last."""

    CLEAN = "clean"
    """Something was compared, and nothing new was found."""
    BASELINE_TAKEN = "baseline_taken"
    """There was nothing to compare with: no statement about drift is made."""
    NOT_JUDGED = "not_judged"
    """Nothing new was found, and something could not be judged."""
    DRIFT = "drift"
    FAILED = "failed"
    """The investigation did not come to its end."""


class Anchor(Record):
    """A path, and lines of it where lines are meant."""

    path: str
    path_encoded: bool = False
    start_line: LineNumber | None = None
    end_line: LineNumber | None = None


class Commit(Record):
    """A commit, as git tells of it."""

    id: str
    date: str
    """ISO 8601."""
    author: str = ""
    summary: str = ""


class Finding(Record):
    """One thing that drifted.

    ``finding_id`` names the same finding in every run: it follows from the kind and from what was captured, never
    from line numbers of now. ``state`` follows from what is there now: it tells whether an accepted finding is still
    as it was accepted.
    """

    finding_id: str
    """``drift_`` and 16 hexadecimal digits."""
    state: Digest
    kind: DriftKind
    level: Level
    certainty: Certainty
    message: str
    """One sentence."""
    at: Anchor
    """The anchor, as it was captured; for what was never captured, where it is now."""
    captured: str = ""
    """A line of what was there, masked; empty where nothing was captured."""
    now: Anchor | None = None
    """Where it is now, where that is known."""
    found: str = ""
    """A line of what is there now, masked."""
    verdict: ChunkVerdict | None = None
    """The verdict on a cited chunk."""
    chunk_id: str = ""
    related: tuple[Anchor, ...] = ()
    names: str = ""
    """What a dangling reference names, as it is written."""
    since: Commit | None = None
    """The first commit that has it so, where git can tell; None also where it is in no commit yet."""
    next_command: str = ""
    """What to run to look at it; to be run in the zone root."""
    owners: tuple[str, ...] = ()
    """By CODEOWNERS."""
    baseline_state: BaselineState = BaselineState.NEW
    set_aside: str = ""
    """Why it does not count: the reason it was accepted or suppressed for."""
    set_aside_until: str = ""
    """The day on which a suppression ends, ISO 8601."""

    @property
    def counts(self) -> bool:
        """Whether it is new drift that nobody accepted or suppressed."""
        return self.baseline_state in {BaselineState.NEW, BaselineState.UPDATED} and not self.set_aside


class NotJudged(Record):
    """Something of which nothing is known."""

    what: str
    """A chunk id, a path, or what kind of check."""
    why: str


class DriftCounts(Record):
    """How much was looked at, so that nothing found is told from nothing looked at."""

    chunks: Count = 0
    """Cited chunks that have a verdict."""
    surfaces: Count = 0
    """Surfaces of the baseline and of now, compared by rank."""
    documents: Count = 0
    """Documents whose references were followed."""
    references: Count = 0
    """References that were followed."""
    truth_files: Count = 0
    keys: Count = 0
    """Keys that at least two truth files state."""
    drifted: Count = 0
    """Findings that count."""
    accepted: Count = 0
    suppressed: Count = 0
    notes: Count = 0
    """Findings below the level that fails."""
    not_judged: Count = 0


class Checked(Record):
    """What one check found, before anything is known of baselines, owners and commits."""

    schema_version: Literal["rtch.checked/1"] = "rtch.checked/1"
    findings: tuple[Finding, ...] = ()
    findings_cut: Count = 0
    """Further ones, of which nobody can say whether they are new: the investigation is then not judged."""
    counts: DriftCounts = DriftCounts()
    not_judged: tuple[NotJudged, ...] = ()


class BaselineRef(Record):
    """What was compared with."""

    packet_id: str
    taken_at: str
    taken_by: str
    reason: str
    place: str
    """The file."""


class Investigation(Record):
    """One saved question on one zone, held against its baseline."""

    schema_version: Literal["rtch.drift/1"] = "rtch.drift/1"
    saved: str
    """The name of the intake."""
    goal: str
    zone_name: str
    zone_root: str
    status: DriftStatus
    fail_on: Level = Level.WARNING
    """The least level that counts as drift."""
    baseline: BaselineRef | None
    packet_id: str = ""
    """The packet of now."""
    commit: str = ""
    findings: tuple[Finding, ...] = ()
    """By level, then by kind and path; ``absent`` ones last."""
    counts: DriftCounts = DriftCounts()
    not_judged: tuple[NotJudged, ...] = ()
    failure: str = ""
    """Why it did not come to its end."""
    exit_code: Count = 0
    """What this investigation alone would end with."""
    started_at: str
    wall_ms: float = 0.0
    flow_run_id: str = ""
    flow_run_url: str = ""

    def fails(self, found: Finding) -> bool:
        """Tell whether a finding is one of those that ``counts.drifted`` counts."""
        return found.counts and found.level.weight >= self.fail_on.weight


class DriftReport(Record):
    """All investigations of one call, in the order in which they were asked for."""

    schema_version: Literal["rtch.drift_report/1"] = "rtch.drift_report/1"
    rtch_version: str
    investigations: tuple[Investigation, ...]
    exit_code: Count
    """1 if any drifted; else that of the worst failure; else 7 if something could not be judged; else 0."""
