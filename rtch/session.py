"""One question on one tree: everything a run needs is gathered here, whichever engine runs it.

The clock, the environment and the working folder are looked at in this module and in no stage.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rtch import grammars, home
from rtch.errors import BudgetError, IntakeError, ToolError
from rtch.git import git_version
from rtch.keys import zone_id
from rtch.limits import Limits, load_limits, tightened
from rtch.models.intake import Intake
from rtch.models.packet import Findings, Packet, RunRecord
from rtch.models.plan import ProbePlan
from rtch.models.vocab import Engine
from rtch.models.zone import Capabilities, Surroundings
from rtch.packets import seal
from rtch.pipeline import DirectRunner, Planned, Refresh, Run, Runner, hydrate, plan, settle
from rtch.reading import SkippedFile
from rtch.refs import Ref
from rtch.rungs import rungs_above
from rtch.search import rg_version
from rtch.store import MemoryStore, Store, open_store
from rtch.trees import TreeRef, tree_ref
from rtch.version import VERSION
from rtch.workspace import RootChoice, Workspace, find_root, open_workspace

ZONE_CONFIG = ".rtch.yaml"


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is carried out; nothing here changes what it finds."""

    root: Path | None = None
    cwd: Path | None = None
    """Where the caller stands; None is the working folder of this process."""
    parents: bool = True
    cached: bool = True
    refresh: Refresh = field(default_factory=Refresh)
    own_outputs: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """An intake on an open tree, ready to be run."""

    intake: Intake
    choice: RootChoice
    workspace: Workspace
    tree: TreeRef
    limits: Limits
    surroundings: Surroundings
    store: Store
    refresh: Refresh
    cwd: Path

    def run_with(self, runner: Runner) -> Run:
        """Return a run of this session on an engine."""
        return Run(
            runner=runner,
            store=self.store,
            workspace=self.workspace,
            tree=self.tree,
            limits=self.limits,
            refresh=self.refresh,
        )


def open_session(intake: Intake, options: Options) -> Session:
    """Choose the root, list the tree once, and gather limits, tools and the store.

    Raises:
        ZoneError: there is no readable root.
        IntakeError: the zone's own configuration is wrong.
    """
    cwd = options.cwd or working_folder()
    choice = find_root(cwd, options.root)
    own = (*options.own_outputs, home.data_dir(), home.cache_dir())
    workspace = open_workspace(choice.root, own_outputs=own)
    limits = _limits(workspace)
    store: Store = open_store(home.cache_dir() / "store") if options.cached else MemoryStore()
    return Session(
        intake=_located(intake, workspace, cwd),
        choice=choice,
        workspace=workspace,
        tree=tree_ref(workspace, own),
        limits=limits,
        surroundings=_surroundings(choice, workspace, limits, parents=options.parents),
        store=store,
        refresh=options.refresh,
        cwd=cwd,
    )


def working_folder() -> Path:
    """Return the working folder, or the root folder where it has been deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.sep)


def run_direct(session: Session) -> Packet:
    """Run every stage in this process and return the packet.

    Raises:
        BudgetError: the cost rule left no probe.
        ToolError: rg is missing or fails.
    """
    run = session.run_with(DirectRunner(session.limits.probe.workers))
    return sealed(session, run, findings_of(session, run), Engine.DIRECT)


def findings_of(session: Session, run: Run) -> Findings:
    """Run the pipeline, making again whatever the store turns out to have lost.

    Raises:
        BudgetError: no probe could be cut to what the fanout level allows.
    """

    def make() -> Ref[Findings]:
        run.steps.clear()
        run.timings.clear()
        return hydrate(run, session.intake, session.surroundings)

    _, findings = settle(make, session.store)
    if not findings.probe_plan.probes and findings.next_legal_probes:
        level = findings.fanout_level_used
        raise BudgetError(
            f"no probe is left at {level}: every target set is above the cost rule",
            hint="narrow the seeds or the scope",
        )
    return findings


def plan_of(session: Session) -> ProbePlan:
    """Run stages 1 to 5 and return the declared probes."""
    run = session.run_with(DirectRunner(session.limits.probe.workers))

    def make() -> Ref[ProbePlan]:
        planned: Planned = plan(run, session.intake, session.surroundings)
        return planned.plan

    return settle(make, session.store)[1]


def sealed(
    session: Session, run: Run, findings: Findings, engine: Engine, *, flow_run: tuple[str, str] = ("", "")
) -> Packet:
    """Return the packet of some findings, with the record of this run, and remember its keys.

    Args:
        session: what was run.
        run: the run, with the timing of each stage.
        findings: stage 7's artifact.
        engine: what ran the stages.
        flow_run: a Prefect flow run's id and address.
    """
    head = session.workspace.head
    record = RunRecord(
        rtch_version=VERSION,
        engine=engine,
        zone_root=str(session.choice.root),
        repo_root=str(session.choice.repo_root or ""),
        cwd=str(session.cwd),
        commit=(head.commit if head else None) or "",
        branch=(head.branch if head else None) or "",
        index_differs=_index_differs(session.workspace, findings),
        stages=tuple(run.timings),
        flow_run_id=flow_run[0],
        flow_run_url=flow_run[1],
    )
    packet = seal(findings, run=record, generated_at=datetime.now(UTC).isoformat(timespec="seconds"), tic=None)
    session.store.remember_run(zone_id(session.choice.root), str(session.choice.root), packet.packet_id, run.steps)
    return packet


def _index_differs(workspace: Workspace, findings: Findings) -> tuple[str, ...]:
    blobs = {chunk.path: chunk.blob_id for chunk in findings.hydrated_chunks}
    index = workspace.index_blob_ids(blobs)
    return tuple(sorted(path for path, blob in index.items() if blob != blobs[path]))


def _limits(workspace: Workspace) -> Limits:
    limits = load_limits()
    if ZONE_CONFIG not in workspace.index:
        return limits
    import yaml  # noqa: PLC0415  most zones have no configuration

    try:
        data = workspace.read(ZONE_CONFIG, max_bytes=65_536).data
        return tightened(limits, yaml.safe_load(data), source=ZONE_CONFIG)
    except (yaml.YAMLError, SkippedFile, UnicodeDecodeError) as error:
        raise IntakeError(f"{ZONE_CONFIG} of the zone cannot be read: {str(error).splitlines()[0]}") from error


def _located(intake: Intake, workspace: Workspace, cwd: Path) -> Intake:
    """Return the intake with its target as a zone path; one that leads nowhere stays as it was written."""
    if intake.known_target is None:
        return intake
    try:
        path = workspace.locate(intake.known_target, cwd)
    except SkippedFile:
        return intake
    return intake.model_copy(update={"known_target": path})


def _surroundings(choice: RootChoice, workspace: Workspace, limits: Limits, *, parents: bool) -> Surroundings:
    inside = choice.repo_root is not None and choice.root.is_relative_to(choice.repo_root)
    relative = choice.root.relative_to(choice.repo_root).as_posix() if inside and choice.repo_root else "."
    return Surroundings(
        zone_root=relative,
        root_marker=".ticzone" if ".ticzone" in workspace.index else ("git" if workspace.vcs == "git" else "none"),
        vcs=workspace.vcs,
        rungs_above=rungs_above(choice.root, limits.orient) if parents else (),
        capabilities=Capabilities(rg=rg_version(), git=_git(), grammars=tuple(grammars.available())),
    )


def _git() -> str:
    try:
        return git_version()
    except ToolError:
        return ""


def refresh_of(values: Sequence[str]) -> Refresh:
    """Read ``--refresh`` values: an empty one is everything, others name stages.

    Raises:
        IntakeError: no stage bears that name.
    """
    from rtch.models.vocab import StageName  # noqa: PLC0415

    names = {stage.value for stage in StageName}
    for value in values:
        if value and value not in names:
            raise IntakeError(f"--refresh={value} names no stage", hint="known are " + ", ".join(sorted(names)))
    return Refresh(everything="" in values, stages=frozenset(StageName(value) for value in values if value))
