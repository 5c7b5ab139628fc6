"""Jobs: one stage on given inputs, carried out by whichever engine, looked up before it is executed.

What flows between stages are references to artifacts, never the artifacts: a cached run decodes
almost nothing. A ``Runner`` is all that differs between engines.
"""

from __future__ import annotations

import hashlib
import socket
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, cast

from rtch.errors import ArtifactError, Dangling
from rtch.keys import KeyParts, logic_digest
from rtch.limits import Limits
from rtch.models.base import Record
from rtch.models.vocab import StageName
from rtch.refs import Ref
from rtch.stages.desk import Desk
from rtch.store import Store, open_store
from rtch.trees import TreeRef, workspace_of
from rtch.turns import folder_of, turn

T = TypeVar("T")
M = TypeVar("M", bound=Record)
Ins = TypeVar("Ins")


class Group(Ref[tuple[M, ...]]):
    """References to the results of one mapped stage, in the order of what was mapped."""

    __slots__ = ("members",)

    members: tuple[Ref[M], ...]

    def __init__(self, members: Sequence[Ref[M]]) -> None:
        digests = "".join(member.digest for member in members)
        super().__init__("Group", hashlib.sha256(digests.encode()).hexdigest())
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


def function_of(name: StageName) -> Callable[..., Any]:
    """Return a stage's function, (inputs, limits, desk) to its artifact: it bears the stage's name, in its module."""
    found: Callable[..., Any] = getattr(import_module(f"rtch.stages.{name}"), name)
    return found


class Job:
    """One stage on given inputs.

    A plain class with slots: Prefect walks dataclasses, models and containers in a task's
    parameters, looking for other tasks' results, and would find false edges.
    """

    __slots__ = ("after", "inputs", "kind", "label", "limits", "parts", "refresh", "stage", "store", "tree")

    def __init__(  # noqa: PLR0913  what an engine must carry, made in one place
        self,
        *,
        parts: KeyParts,
        kind: str,
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
        self.kind = kind
        """The model of what the stage makes; a stored row that leads to another one is no result of it."""
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


def lookup(job: Job) -> Ref[Any] | None:
    """Return what the store has for a job's key; None when refreshing."""
    return None if job.refresh else open_store(job.store).get_stage(job.key, job.kind)


def execute(job: Job) -> Ref[Any]:
    """Run a job's stage and keep what it made.

    The artifact is kept under its key only where every file was read as it was when it was
    listed and every search came to its end; else the key would claim what was not seen.

    Raises:
        ArtifactError: the job was made by another version, so that its key would claim what this one does.
    """
    if job.parts.logic != logic_digest():
        raise ArtifactError(
            f"{socket.gethostname()} has not the rtch and Python of the process that asked for {job.label}",
            hint="give every host the same versions, and start its workers again",
        )
    store = open_store(job.store)
    desk = Desk(workspace_of(job.tree, store), store)
    made = function_of(job.stage)(*(load(store, ref) for ref in job.inputs), job.limits, desk)
    ref = store.put(made)
    if desk.trustworthy:
        store.set_stage(job.key, ref, job.parts)
    return ref


def perform(job: Job) -> Outcome:
    """Look a job up, else execute it; of several processes that miss it one does, and the others find it then."""
    start = time.perf_counter()
    found = lookup(job)
    if found is None:
        with turn(folder_of(job.store), job.key):
            found = lookup(job)
            ref = execute(job) if found is None else found
    else:
        ref = found
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
