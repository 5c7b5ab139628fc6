"""The stages in order, written once, over a runner. The key of a job is made here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar, overload

from rtch.decisions import is_disposition
from rtch.entry import Refresh, named_state
from rtch.history import Step
from rtch.jobs import Group, Job, Outcome, Runner, Stage, load
from rtch.keys import NamedDigest, key_parts, logic_digest, state_rows
from rtch.limits import Limits
from rtch.models.base import Record
from rtch.models.basket import Basket, TimeOrigin
from rtch.models.chunk import Hydration
from rtch.models.drift import Checked
from rtch.models.intake import AcceptedIntake, Intake
from rtch.models.inventory import ShapeInventory, Survey
from rtch.models.packet import Findings
from rtch.models.plan import CostEstimate, Probe, ProbePlan, ProbeResult, WaveVerdict
from rtch.models.run import StageTiming
from rtch.models.tree import Listing
from rtch.models.vocab import HaltingReason, StageName
from rtch.models.zone import Surroundings, ZoneDescriptor
from rtch.refs import Ref
from rtch.relative_times import origin_of
from rtch.rungs import documents_of, marker_paths
from rtch.store import Store
from rtch.trees import TreeRef
from rtch.workspace import Workspace

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")
M = TypeVar("M", bound=Record)


Reads = Sequence[str] | None
"""Paths whose bytes a stage reads, so that its key holds their state; None is the whole tree."""


Results = tuple[ProbeResult, ...]

INTAKE: Stage[tuple[Intake], AcceptedIntake] = Stage(StageName.INTAKE, AcceptedIntake, lambda limits: limits.intake)
ORIENT: Stage[tuple[Listing, Surroundings], ZoneDescriptor] = Stage(
    StageName.ORIENT, ZoneDescriptor, lambda limits: limits.orient
)
SCOUT: Stage[tuple[Listing], ShapeInventory] = Stage(StageName.SCOUT, ShapeInventory, lambda limits: limits.scout)
BASKET: Stage[tuple[AcceptedIntake, TimeOrigin], Basket] = Stage(StageName.BASKET, Basket, lambda limits: limits.basket)
COST: Stage[tuple[Listing, Basket], CostEstimate] = Stage(StageName.COST, CostEstimate, lambda limits: limits.cost)
SURVEY: Stage[tuple[AcceptedIntake, Listing, ZoneDescriptor, Basket, CostEstimate], Survey] = Stage(
    StageName.SURVEY, Survey, lambda limits: limits.survey
)
PLAN: Stage[tuple[AcceptedIntake, Listing, ZoneDescriptor, Survey, CostEstimate], ProbePlan] = Stage(
    StageName.PLAN, ProbePlan, lambda limits: limits.plan
)
PROBE: Stage[tuple[Probe], ProbeResult] = Stage(StageName.PROBE, ProbeResult, lambda limits: limits.probe)
JUDGE: Stage[tuple[AcceptedIntake, ProbePlan, Results], WaveVerdict] = Stage(
    StageName.JUDGE, WaveVerdict, lambda limits: limits.judge
)
HYDRATE: Stage[tuple[AcceptedIntake, ZoneDescriptor, ProbePlan, Results], Hydration] = Stage(
    StageName.HYDRATE, Hydration, lambda limits: limits.hydrate
)
PACKET: Stage[
    tuple[AcceptedIntake, ZoneDescriptor, ShapeInventory, Survey, ProbePlan, Results, Hydration], Findings
] = Stage(StageName.PACKET, Findings, lambda limits: limits.packet)

Check = Stage[tuple[Findings, Findings, Listing], Checked]
"""Of an investigation: the findings that are the baseline, those of now, and the tree."""

COPIES: Check = Stage(StageName.COPIES, Checked, lambda limits: limits.drift)
NOTICES: Check = Stage(StageName.NOTICES, Checked, lambda limits: limits.drift)
REFERENCES: Check = Stage(StageName.REFERENCES, Checked, lambda limits: limits.drift)
CONTRADICTIONS: Check = Stage(StageName.CONTRADICTIONS, Checked, lambda limits: limits.drift)
CHECKS = (COPIES, NOTICES, REFERENCES, CONTRADICTIONS)

STAGES: dict[StageName, Stage[Any, Any]] = {
    stage.name: stage
    for stage in (INTAKE, ORIENT, SCOUT, BASKET, COST, SURVEY, PLAN, PROBE, JUDGE, HYDRATE, PACKET, *CHECKS)
}


MOST_TOLD = 10_000
"""Files of which single ones can be named in words of why; more rows would cost more than the answer is worth."""


class Run:
    """One run of the pipeline on one tree: makes keys and jobs, and hands them to a runner."""

    def __init__(  # noqa: PLR0913  what a run is made of
        self,
        *,
        runner: Runner,
        store: Store,
        workspace: Workspace,
        tree: TreeRef,
        limits: Limits,
        refresh: Refresh | None = None,
    ) -> None:
        self.runner = runner
        self.store = store
        self.workspace = workspace
        self.tree = tree
        self.limits = limits
        self.refresh = refresh or Refresh()
        self.steps: list[Step] = []
        self.timings: list[StageTiming] = []
        self._whole_tree: tuple[str, str] = ("", "")

    def put(self, record: M) -> Ref[M]:
        """Keep a record and return its reference."""
        return self.store.put(record)

    @overload
    def stage(self, stage: Stage[tuple[A], M], a: Ref[A], /, *, reads: Reads = ()) -> Ref[M]: ...
    @overload
    def stage(self, stage: Stage[tuple[A, B], M], a: Ref[A], b: Ref[B], /, *, reads: Reads = ()) -> Ref[M]: ...
    @overload
    def stage(
        self, stage: Stage[tuple[A, B, C], M], a: Ref[A], b: Ref[B], c: Ref[C], /, *, reads: Reads = ()
    ) -> Ref[M]: ...
    @overload
    def stage(
        self,
        stage: Stage[tuple[A, B, C, D], M],
        a: Ref[A],
        b: Ref[B],
        c: Ref[C],
        d: Ref[D],
        /,
        *,
        reads: Reads = (),
        more: str = "",
    ) -> Ref[M]: ...
    @overload
    def stage(
        self,
        stage: Stage[tuple[A, B, C, D, E], M],
        a: Ref[A],
        b: Ref[B],
        c: Ref[C],
        d: Ref[D],
        e: Ref[E],
        /,
        *,
        reads: Reads = (),
        more: str = "",
    ) -> Ref[M]: ...
    @overload
    def stage(
        self,
        stage: Stage[tuple[A, B, C, D, E, F, G], M],
        a: Ref[A],
        b: Ref[B],
        c: Ref[C],
        d: Ref[D],
        e: Ref[E],
        f: Ref[F],
        g: Ref[G],
        /,
        *,
        reads: Reads = (),
        more: str = "",
    ) -> Ref[M]: ...
    def stage(self, stage: Stage[Any, M], *inputs: Ref[Any], reads: Reads = (), more: str = "") -> Ref[M]:
        """Run a stage on its inputs.

        Args:
            stage: which.
            inputs: references, in the order of the stage's parameters.
            reads: paths whose bytes the stage reads; None is the whole tree.
            more: what else of the disk the stage looks at, as a digest.
        """
        job = self._job(stage, inputs, reads, stage.name.value, more=more)
        return self._note([job], [self.runner.one(job)])[0]

    def map(
        self,
        stage: Stage[tuple[A], M],
        items: Sequence[tuple[Ref[A], Sequence[str], str]],
        *,
        after: tuple[Ref[Any], ...] = (),
    ) -> list[Ref[M]]:
        """Run a stage once for each of independent inputs: (reference, paths read, label).

        Args:
            stage: which.
            items: what to run it on.
            after: what decided that these are run.
        """
        jobs = [self._job(stage, (ref,), reads, label, after) for ref, reads, label in items]
        return self._note(jobs, self.runner.many(jobs)) if jobs else []

    def _job(  # noqa: PLR0913  what a job is made of
        self,
        stage: Stage[Any, M],
        inputs: tuple[Ref[Any], ...],
        reads: Reads,
        label: str,
        after: tuple[Ref[Any], ...] = (),
        *,
        more: str = "",
    ) -> Job:
        limits = stage.limits_of(self.limits)
        named = [NamedDigest(name=ref.kind, digest=ref.digest) for ref in inputs]
        state, rows = self._state(stage.name, reads)
        state = f"{state} {more}" if more else state
        parts = key_parts(stage.name, logic_digest(), named, limits, state).model_copy(update={"state_ref": rows})
        return Job(
            parts=parts,
            kind=stage.model.__name__,
            inputs=inputs,
            limits=limits,
            tree=self.tree,
            store=self.store.folder,
            refresh=self.refresh.covers(stage.name),
            label=label,
            after=after,
        )

    def _state(self, stage: StageName, reads: Reads) -> tuple[str, str]:
        """Return the state of what a stage reads, and the digest of its rows, for words of why."""
        if reads is None:
            if not self._whole_tree[0]:
                rows = self._rows(self.workspace.listing.paths)
                self._whole_tree = (self.workspace.state(), rows)
            return self._whole_tree
        if not reads:
            return "", ""
        return self.workspace.state(reads), "" if stage is StageName.PROBE else self._rows(reads)

    def _rows(self, paths: Sequence[str]) -> str:
        if len(paths) > MOST_TOLD:
            return ""
        return self.store.put_bytes(state_rows((path, self.workspace.token(path)) for path in paths))

    def _note(self, jobs: Sequence[Job], outcomes: Sequence[Outcome]) -> list[Ref[Any]]:
        for job, outcome in zip(jobs, outcomes, strict=True):
            self.steps.append(Step(parts=job.parts, hit=outcome.cached))
            timing = StageTiming(stage=job.stage, key=job.key, cached=outcome.cached, wall_ms=round(outcome.wall_ms, 3))
            self.timings.append(timing)
        return [outcome.ref for outcome in outcomes]


class Planned(NamedTuple):
    """What is known when every probe is declared and none has run."""

    asked: Ref[AcceptedIntake]
    zone: Ref[ZoneDescriptor]
    inventory: Ref[ShapeInventory]
    survey: Ref[Survey]
    plan: Ref[ProbePlan]


def plan(run: Run, intake: Intake, surroundings: Surroundings) -> Planned:
    """Stages 1 to 5: from the intake to the declared probes."""
    asked = run.stage(INTAKE, run.put(intake))
    listing = run.workspace.listing
    tree = run.put(listing)
    markers = marker_paths(listing, run.limits.orient.markers)
    zone = run.stage(ORIENT, tree, run.put(surroundings), reads=markers)
    inventory = run.stage(SCOUT, tree)
    terms = run.stage(BASKET, asked, run.put(_counted_from(intake, run)))
    cost_ = run.stage(COST, tree, terms, reads=None)
    # The words of a decision are no part of the intake; what is decided adds to the basket.
    decides = "decides" if is_disposition(intake) else ""
    survey = run.stage(SURVEY, asked, tree, zone, terms, cost_, reads=None, more=decides)
    probes = run.stage(PLAN, asked, tree, zone, survey, cost_)
    return Planned(asked, zone, inventory, survey, probes)


def hydrate(run: Run, intake: Intake, surroundings: Surroundings) -> Ref[Findings]:
    """Stages 1 to 7: from the intake to the findings of a packet."""
    asked, zone, inventory, survey, planned = plan(run, intake, surroundings)
    declared = load(run.store, planned)
    reads = tuple(sorted({*paths_read(declared), *_spoken(run, zone)}))
    looked_at = f"{named_state(intake, run.workspace)} {run.workspace.object_format}"
    for results, is_last in _probe_in_waves(run, asked, planned, declared):
        evidence = run.stage(HYDRATE, asked, zone, planned, results, reads=reads, more=looked_at)
        findings = run.stage(PACKET, asked, zone, inventory, survey, planned, results, evidence)
        # What is read may hold less than its hits promised: a plan with waves left is not spent.
        if is_last or load(run.store, findings).halting_reason is HaltingReason.SATISFIED:
            break
    return findings


def _counted_from(intake: Intake, run: Run) -> TimeOrigin:
    last = origin_of(intake.goal, run.workspace.root)
    return TimeOrigin() if last is None else TimeOrigin(tic=last.number, date=last.date)


def _spoken(run: Run, zone: Ref[ZoneDescriptor]) -> Iterator[str]:
    """Yield what the rungs of the zone say: an index leads to its ledger, and a chain to its documents."""
    if marker_paths(run.workspace.listing, run.limits.orient.markers):
        rungs = load(run.store, zone).rungs
        yield from (path for path in documents_of(rungs) if path in run.workspace.index)


def paths_read(declared: ProbePlan) -> tuple[str, ...]:
    """Return every path whose bytes hydration may read: what any probe looks at, and what ranks best."""
    aimed = {path for probe in declared.probes for path in probe.target_set}
    return tuple(sorted(aimed | {one.path for one in declared.candidates[: declared.surface_cap]}))


def _probe_in_waves(
    run: Run, asked: Ref[AcceptedIntake], planned: Ref[ProbePlan], declared: ProbePlan
) -> Iterator[tuple[Ref[Results], bool]]:
    """Run the probes wave by wave.

    Yields:
        What was found so far, wherever the criteria hold on its hits, and at last what all found; and whether
        that is so.
    """
    found: list[Ref[ProbeResult]] = []
    after: tuple[Ref[Any], ...] = (planned,)
    waves = sorted({probe.wave for probe in declared.probes})
    for wave in waves[:-1]:
        found += _probed(run, declared, wave, after)
        verdict = run.stage(JUDGE, asked, planned, Group(found))
        after = (planned, verdict)
        if load(run.store, verdict).satisfied:
            yield Group(found), False
    for wave in waves[-1:]:
        found += _probed(run, declared, wave, after)
    yield Group(found), True


def _probed(run: Run, declared: ProbePlan, wave: int, after: tuple[Ref[Any], ...]) -> list[Ref[ProbeResult]]:
    probes = [probe for probe in declared.probes if probe.wave == wave]
    labels = [f"{probe.probe_id.removeprefix('rtch_')} {probe.family}" for probe in probes]
    items = [(run.put(probe), probe.target_set, label) for probe, label in zip(probes, labels, strict=True)]
    return run.map(PROBE, items, after=after)
