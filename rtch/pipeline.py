"""The stages in order, written once, over a runner.

What flows between stages are references to artifacts, never the artifacts: a cached run decodes
almost nothing. A ``Runner`` is all that differs between engines. The key of a job is made here
and nowhere else.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, cast, overload

from rtch.entry import Refresh
from rtch.errors import Dangling
from rtch.history import Step
from rtch.keys import KeyParts, NamedDigest, key_parts, logic_digest
from rtch.limits import Limits
from rtch.models.base import Record
from rtch.models.basket import Basket
from rtch.models.chunk import Hydration
from rtch.models.intake import AcceptedIntake, Intake
from rtch.models.inventory import ShapeInventory
from rtch.models.packet import Findings
from rtch.models.plan import CostEstimate, Probe, ProbePlan, ProbeResult, WaveVerdict
from rtch.models.run import StageTiming
from rtch.models.tree import Listing
from rtch.models.vocab import StageName
from rtch.models.zone import Surroundings, ZoneDescriptor
from rtch.refs import Ref
from rtch.rungs import marker_paths
from rtch.stages.desk import Desk
from rtch.store import Store, open_store
from rtch.trees import TreeRef, workspace_of
from rtch.workspace import Workspace

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
T = TypeVar("T")
M = TypeVar("M", bound=Record)
Ins = TypeVar("Ins")


Reads = Sequence[str] | None
"""Paths whose bytes a stage reads, so that its key holds their state; None is the whole tree."""


class Group(Ref[tuple[M, ...]]):
    """References to the results of one mapped stage, in the order of what was mapped."""

    __slots__ = ("members",)

    members: tuple[Ref[M], ...]

    def __init__(self, members: Sequence[Ref[M]]) -> None:
        digests = tuple(member.digest for member in members)
        super().__init__("Group", hashlib.sha256("".join(digests).encode()).hexdigest(), digests)
        object.__setattr__(self, "members", tuple(members))

    def __reduce__(self) -> tuple[Any, ...]:
        return Group, (self.members,)


class Stage(Generic[Ins, M]):
    """A stage: its name, its artifact's model and its own limits.

    ``Ins`` is the tuple of its inputs' models in the order of the function's parameters; it holds
    the pipeline to handing each stage what it asks for. The function bears the stage's name, in the
    module of that name, and is imported when it runs: a cached run needs none of them.
    """

    __slots__ = ("limits_of", "model", "name")

    def __init__(self, name: StageName, model: type[M], limits_of: Callable[[Limits], Record]) -> None:
        self.name = name
        self.model = model
        self.limits_of = limits_of

    @property
    def function(self) -> Callable[..., M]:
        """The stage's function: (inputs, limits, desk) to its artifact."""
        found: Callable[..., M] = getattr(import_module(f"rtch.stages.{self.name}"), self.name)
        return found


Results = tuple[ProbeResult, ...]

INTAKE: Stage[tuple[Intake], AcceptedIntake] = Stage(StageName.INTAKE, AcceptedIntake, lambda limits: limits.intake)
ORIENT: Stage[tuple[Listing, Surroundings], ZoneDescriptor] = Stage(
    StageName.ORIENT, ZoneDescriptor, lambda limits: limits.orient
)
SCOUT: Stage[tuple[Listing], ShapeInventory] = Stage(StageName.SCOUT, ShapeInventory, lambda limits: limits.scout)
BASKET: Stage[tuple[AcceptedIntake, Listing, ZoneDescriptor, ShapeInventory], Basket] = Stage(
    StageName.BASKET, Basket, lambda limits: limits.basket
)
COST: Stage[tuple[Listing, Basket], CostEstimate] = Stage(StageName.COST, CostEstimate, lambda limits: limits.cost)
PLAN: Stage[tuple[AcceptedIntake, Listing, ZoneDescriptor, ShapeInventory, Basket, CostEstimate], ProbePlan] = Stage(
    StageName.PLAN, ProbePlan, lambda limits: limits.plan
)
PROBE: Stage[tuple[Probe], ProbeResult] = Stage(StageName.PROBE, ProbeResult, lambda limits: limits.probe)
JUDGE: Stage[tuple[AcceptedIntake, ProbePlan, Results], WaveVerdict] = Stage(
    StageName.JUDGE, WaveVerdict, lambda limits: limits.judge
)
HYDRATE: Stage[tuple[AcceptedIntake, ZoneDescriptor, ProbePlan, Results], Hydration] = Stage(
    StageName.HYDRATE, Hydration, lambda limits: limits.hydrate
)
PACKET: Stage[tuple[AcceptedIntake, ZoneDescriptor, ShapeInventory, ProbePlan, Results, Hydration], Findings] = Stage(
    StageName.PACKET, Findings, lambda limits: limits.packet
)

STAGES: dict[StageName, Stage[Any, Any]] = {
    stage.name: stage for stage in (INTAKE, ORIENT, SCOUT, BASKET, COST, PLAN, PROBE, JUDGE, HYDRATE, PACKET)
}


class Job:
    """One stage on given inputs.

    A plain class with slots: Prefect walks dataclasses, models and containers in a task's
    parameters, looking for other tasks' results, and would find false edges.
    """

    __slots__ = ("after", "inputs", "label", "limits", "parts", "refresh", "stage", "store", "tree")

    def __init__(  # noqa: PLR0913  what an engine must carry, made in one place
        self,
        *,
        parts: KeyParts,
        inputs: tuple[Ref[Any], ...],
        limits: Record,
        tree: TreeRef,
        store: str,
        refresh: bool,
        label: str,
        after: tuple[Ref[Any], ...] = (),
    ) -> None:
        self.stage = parts.stage
        self.parts = parts
        self.inputs = inputs
        self.limits = limits
        self.tree = tree
        self.store = store
        self.refresh = refresh
        self.label = label
        self.after = after
        """What the job follows from without reading it: it shows as an edge and is no part of the key."""

    @property
    def key(self) -> str:
        """The stage key, under which the result is kept."""
        return self.parts.key


class Outcome(NamedTuple):
    """What an engine made of a job."""

    ref: Ref[Any]
    cached: bool
    wall_ms: float


class Runner(Protocol):
    """All that differs between engines."""

    def one(self, job: Job) -> Outcome:
        """Run one job."""

    def many(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Run independent jobs, in parallel where the engine can; results in the jobs' order."""


_in_memory: dict[str, Store] = {}
_lock = threading.Lock()


def store_name(store: Store) -> str:
    """Return the text by which ``store_of`` finds a store again: its folder, or a name within this process."""
    if store.folder:
        return store.folder
    name = f"memory:{id(store)}"
    with _lock:
        _in_memory[name] = store
    return name


def store_of(name: str) -> Store:
    """Return the store behind a name, opening its folder in a process that has not done so."""
    with _lock:
        known = _in_memory.get(name)
    return known if known is not None else open_store(Path(name))


def lookup(job: Job) -> Ref[Any] | None:
    """Return what the store has for a job's key, with all that it refers to; None when refreshing."""
    return None if job.refresh else store_of(job.store).get_stage(job.key)


def execute(job: Job) -> Ref[Any]:
    """Run a job's stage and keep what it made.

    The artifact is kept under its key only where every file was read as it was when it was
    listed and every search came to its end; else the key would claim what was not seen.
    """
    store = store_of(job.store)
    desk = Desk(workspace_of(job.tree), store)
    made = STAGES[job.stage].function(*(load(store, ref) for ref in job.inputs), job.limits, desk)
    ref = store.put(made, parts=desk.shelved)
    if desk.trustworthy:
        store.set_stage(job.key, ref, job.parts)
    return ref


def perform(job: Job) -> Outcome:
    """Look a job up, else execute it."""
    start = time.perf_counter()
    found = lookup(job)
    ref = execute(job) if found is None else found
    return Outcome(ref, found is not None, (time.perf_counter() - start) * 1000)


def load(store: Store, ref: Ref[T]) -> T:
    """Return the artifact behind a reference, or the tuple of them behind a group.

    Raises:
        Dangling: one of them is missing or damaged.
    """
    if isinstance(ref, Group):
        return cast("T", tuple(store.read(member) for member in ref.members))
    return cast("T", store.read(cast("Ref[Record]", ref)))


class DirectRunner:
    """Calls the stages in this process; probes share a pool of threads, for each waits on rg."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def one(self, job: Job) -> Outcome:
        """Run one job."""
        return perform(job)

    def many(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Run independent jobs; results in the jobs' order."""
        if len(jobs) < 2 or self.workers < 2:
            return [perform(job) for job in jobs]
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  a cached run needs none

        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(perform, jobs))


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
        self._store_name = store_name(store)
        self._whole_tree = ""

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
        self, stage: Stage[tuple[A, B, C, D], M], a: Ref[A], b: Ref[B], c: Ref[C], d: Ref[D], /, *, reads: Reads = ()
    ) -> Ref[M]: ...
    @overload
    def stage(
        self,
        stage: Stage[tuple[A, B, C, D, E, F], M],
        a: Ref[A],
        b: Ref[B],
        c: Ref[C],
        d: Ref[D],
        e: Ref[E],
        f: Ref[F],
        /,
        *,
        reads: Reads = (),
    ) -> Ref[M]: ...
    def stage(self, stage: Stage[Any, M], *inputs: Ref[Any], reads: Reads = ()) -> Ref[M]:
        """Run a stage on its inputs.

        Args:
            stage: which.
            inputs: references, in the order of the stage's parameters.
            reads: paths whose bytes the stage reads; None is the whole tree.
        """
        job = self._job(stage, inputs, reads, stage.name.value)
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

    def _job(
        self,
        stage: Stage[Any, M],
        inputs: tuple[Ref[Any], ...],
        reads: Reads,
        label: str,
        after: tuple[Ref[Any], ...] = (),
    ) -> Job:
        limits = stage.limits_of(self.limits)
        named = [NamedDigest(name=ref.kind, digest=ref.digest) for ref in inputs]
        parts = key_parts(stage.name, logic_digest(), named, limits, self._state(reads))
        return Job(
            parts=parts,
            inputs=inputs,
            limits=limits,
            tree=self.tree,
            store=self._store_name,
            refresh=self.refresh.covers(stage.name),
            label=label,
            after=after,
        )

    def _state(self, reads: Reads) -> str:
        if reads is None:
            self._whole_tree = self._whole_tree or self.workspace.state()
            return self._whole_tree
        return self.workspace.state(reads) if reads else ""

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
    plan: Ref[ProbePlan]


def plan(run: Run, intake: Intake, surroundings: Surroundings) -> Planned:
    """Stages 1 to 5: from the intake to the declared probes."""
    asked = run.stage(INTAKE, run.put(intake))
    listing = run.workspace.listing
    tree = run.put(listing)
    zone = run.stage(ORIENT, tree, run.put(surroundings), reads=marker_paths(listing))
    inventory = run.stage(SCOUT, tree, reads=None)
    terms = run.stage(BASKET, asked, tree, zone, inventory)
    cost_ = run.stage(COST, tree, terms, reads=None)
    probes = run.stage(PLAN, asked, tree, zone, inventory, terms, cost_)
    return Planned(asked, zone, inventory, probes)


def hydrate(run: Run, intake: Intake, surroundings: Surroundings) -> Ref[Findings]:
    """Stages 1 to 7: from the intake to the findings of a packet."""
    asked, zone, inventory, planned = plan(run, intake, surroundings)
    declared = load(run.store, planned)
    results = _probe_in_waves(run, asked, planned, declared)
    evidence = run.stage(HYDRATE, asked, zone, planned, results, reads=paths_read(declared))
    return run.stage(PACKET, asked, zone, inventory, planned, results, evidence)


def paths_read(declared: ProbePlan) -> tuple[str, ...]:
    """Return every path whose bytes hydration may read: what any probe looks at."""
    return tuple(sorted({path for probe in declared.probes for path in probe.target_set}))


def _probe_in_waves(run: Run, asked: Ref[AcceptedIntake], planned: Ref[ProbePlan], declared: ProbePlan) -> Ref[Results]:
    """Run the probes wave by wave, until the criteria hold between two of them or none is left."""
    found: list[Ref[ProbeResult]] = []
    after: tuple[Ref[Any], ...] = (planned,)
    waves = sorted({probe.wave for probe in declared.probes})
    for place, wave in enumerate(waves, start=1):
        probes = [probe for probe in declared.probes if probe.wave == wave]
        labels = [f"{probe.probe_id.removeprefix('rtch_')} {probe.family}" for probe in probes]
        items = [(run.put(probe), probe.target_set, label) for probe, label in zip(probes, labels, strict=True)]
        found += run.map(PROBE, items, after=after)
        if place < len(waves):
            verdict = run.stage(JUDGE, asked, planned, Group(found))
            if load(run.store, verdict).satisfied:
                break
            after = (planned, verdict)
    return Group(found)


def settle(make: Callable[[], Ref[M]], store: Store) -> tuple[Ref[M], M]:
    """Run ``make`` until the artifact it names can be read, forgetting what is found damaged on the way.

    Each damaged artifact is forgotten once, so the loop ends; its stage then runs again, and
    everything downstream finds its key.

    Raises:
        Dangling: an artifact was damaged again right after it was made.
    """
    forgotten: set[str] = set()
    while True:
        try:
            ref = make()
            return ref, load(store, ref)
        except Dangling as gone:
            if gone.digest in forgotten:
                raise
            forgotten.add(gone.digest)
            store.forget(gone.digest)
