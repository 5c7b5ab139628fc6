"""One question on one tree: everything a run needs is gathered here, whichever engine runs it.

The clock, the environment and the working folder are looked at here and in ``entry``, and in no stage.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from rtch import grammars
from rtch.decisions import is_disposition
from rtch.entry import Entry, asks_for_memory, now, root_in_repository, run_record
from rtch.errors import BudgetError, IntakeError
from rtch.jobs import DirectRunner, Runner, settle
from rtch.keys import zone_id
from rtch.limits import Limits, recalled_limits, tightened, with_layout, with_tic_words
from rtch.models.intake import Intake
from rtch.models.packet import Findings, Packet
from rtch.models.plan import ProbePlan
from rtch.models.vocab import Engine
from rtch.models.zone import Capabilities, Surroundings
from rtch.outside import audit_place, memory_documents
from rtch.own_words import with_own_words
from rtch.packets import seal
from rtch.paths import shown
from rtch.pipeline import Planned, Run, hydrate, plan
from rtch.reading import SkippedFile
from rtch.refs import Ref
from rtch.rungs import cautions_above, rungs_above
from rtch.store import Store
from rtch.tics import zone_tic
from rtch.tool_versions import version_of_git, version_of_rg
from rtch.trees import TreeRef, tree_ref
from rtch.workspace import RootChoice, Workspace

ZONE_CONFIG = ".rtch.yaml"
_UNREADABLE = (ValueError, LookupError, AttributeError, TypeError, OverflowError, RecursionError)
"""What the YAML reader raises for dates and numbers that are none, and for what is nested without end."""


@dataclass(frozen=True, slots=True)
class Session:
    """An entered tree with all that the stages need."""

    entry: Entry
    tree: TreeRef
    limits: Limits
    surroundings: Surroundings

    @property
    def intake(self) -> Intake:
        """The request."""
        return self.entry.intake

    @property
    def workspace(self) -> Workspace:
        """The open tree."""
        return self.entry.workspace

    @property
    def choice(self) -> RootChoice:
        """The root and what made it one."""
        return self.entry.choice

    @property
    def store(self) -> Store:
        """The artifacts."""
        return self.entry.store

    def run_with(self, runner: Runner) -> Run:
        """Return a run of this session on an engine."""
        return Run(
            runner=runner,
            store=self.store,
            workspace=self.workspace,
            tree=self.tree,
            limits=self.limits,
            refresh=self.entry.options.refresh,
        )


def open_session(entry: Entry) -> Session:
    """Gather limits, tools and surroundings for an entered tree.

    Raises:
        IntakeError: the zone's own configuration is wrong.
        ToolError: rg is missing.
    """
    limits = _limits(entry.workspace, entry.store)
    return Session(
        entry=entry,
        tree=tree_ref(entry.workspace, entry.own_outputs),
        limits=limits,
        surroundings=_surroundings(entry, limits),
    )


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
    blobs = {chunk.path: chunk.blob_id for chunk in findings.hydrated_chunks}
    record = run_record(session.entry, engine, blobs, tuple(run.timings))
    record = record.model_copy(update={"flow_run_id": flow_run[0], "flow_run_url": flow_run[1]})
    root = session.choice.root
    packet = seal(findings, run=record, generated_at=now(), tic=zone_tic(root))
    session.store.remember_run(zone_id(root), shown(os.fsencode(root)), packet.packet_id, run.steps)
    if not is_disposition(packet.intake):
        return packet
    from rtch.complementing import with_complement  # noqa: PLC0415  few goals decide what becomes of an artifact

    return with_complement(packet, root)


def _limits(workspace: Workspace, store: Store) -> Limits:
    limits = with_own_words(with_tic_words(with_layout(recalled_limits(store))))
    if ZONE_CONFIG not in workspace.index:
        return limits
    import yaml  # noqa: PLC0415  most zones have no configuration

    try:
        data = workspace.read(ZONE_CONFIG, max_bytes=65_536).data
        return tightened(limits, yaml.safe_load(data), source=ZONE_CONFIG)
    except (yaml.YAMLError, SkippedFile, *_UNREADABLE) as error:
        complaint = str(error).partition("\n")[0] or type(error).__name__
        raise IntakeError(f"{ZONE_CONFIG} of the zone cannot be read: {complaint}") from error


def _surroundings(entry: Entry, limits: Limits) -> Surroundings:
    choice, workspace, store = entry.choice, entry.workspace, entry.store
    marker = limits.orient.root_marker
    return Surroundings(
        zone_root=root_in_repository(choice),
        root_marker=marker if marker in workspace.index else ("git" if workspace.vcs == "git" else "none"),
        vcs=workspace.vcs,
        rungs_above=rungs_above(choice.root, limits.orient) if entry.options.parents else (),
        cautions_above=cautions_above(choice.root, limits.orient) if entry.options.parents else (),
        audit_place=audit_place(choice.root, entry.options.allowed_roots),
        outside=memory_documents(choice.root, limits.survey.patterns) if asks_for_memory(entry.options) else (),
        capabilities=Capabilities(
            rg=version_of_rg(store), git=version_of_git(store), grammars=tuple(grammars.available())
        ),
    )
