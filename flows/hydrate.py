"""The hydrate flow: an intake and a zone become a packet, each stage a task."""

from __future__ import annotations

import hashlib
from typing import Any

from prefect import flow, get_run_logger, runtime
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.context import TagsContext
from prefect.utilities.annotations import quote

from rtch import packets
from rtch.entry import enter, leave
from rtch.flows.own_run import own_run, tag
from rtch.flows.pages import artifact_key, packet_page, surface_rows
from rtch.flows.parameters import RunOptions, intake_of, run_name, run_tags, zone_name
from rtch.flows.runners import carried_by, task_runner
from rtch.jobs import Job, Outcome
from rtch.limits import load_limits
from rtch.models.packet import Packet
from rtch.models.vocab import Engine
from rtch.pipeline import Run
from rtch.session import findings_of, open_session, sealed
from rtch.tasks.runner import PrefectRunner


def _flow_run_name() -> str:
    parameters = runtime.flow_run.parameters
    return run_name(parameters["intake"], RunOptions.model_validate(parameters.get("options") or {}))


@flow(
    name="hydrate",
    flow_run_name=_flow_run_name,
    persist_result=False,
    task_runner=task_runner("", load_limits().probe.workers),
)
def hydrate(intake: dict[str, Any], options: RunOptions | None = None) -> quote:
    """Turn an intake into an evidence packet.

    Args:
        intake: the fields of an intake, in either vocabulary.
        options: where to look, and what to make again.

    Returns:
        The packet, which is in rtch's store too; quoted, for Prefect looks for futures in all that is not: 80 ms.
    """
    options = options or RunOptions()
    session = open_session(enter(intake_of(intake), options.for_session()))
    tag(run_tags(session.intake, session.choice.root))
    log = get_run_logger()
    log.info(
        "zone %s: %d paths listed by %s",
        session.choice.root,
        len(session.workspace.listing),
        session.workspace.listed_by,
    )

    told: list[str] = []

    def report(job: Job, outcome: Outcome) -> None:
        told.append(f"{job.label}: {'cached' if outcome.cached else 'computed'} in {outcome.wall_ms:.0f} ms")

    workers = session.limits.probe.workers
    try:
        # The flow run's tags are not for its tasks.
        with TagsContext(current_tags=set()), carried_by(options.runner, workers) as carrier:
            run = session.run_with(PrefectRunner(workers, report, carrier))
            findings = findings_of(session, run)
    finally:
        log.info("%s", "\n".join(told))  # one record: each costs a quarter of a task
    packet = sealed(session, run, findings, Engine.PREFECT, flow_run=own_run())
    packets.remember(packet)
    _tell(packet, run)
    _show(packet, zone_name(session.choice.root))
    leave(session.entry)
    return quote(packet)


def _tell(packet: Packet, run: Run) -> None:
    """Write the counts to the flow run's log."""
    cached = sum(timing.cached for timing in run.timings)
    outcomes = [outcome for outcome in packet.probe_plan.probes if outcome.ran]
    get_run_logger().info(
        "%s: %d of %d stages cached; %d terms, %d of %d probes ran, %d hits, %d chunks on %d surfaces, "
        "%d of %d lines read, %d surfaces skipped",
        packet.halting_reason,
        cached,
        len(run.timings),
        len(packet.candidate_basket.terms),
        len(outcomes),
        len(packet.probe_plan.probes),
        sum(outcome.hit_count for outcome in outcomes),
        len(packet.hydrated_chunks),
        len(packet.selected_surfaces),
        packet.read_budget.consumed,
        packet.read_budget.total,
        sum(skipped.count for skipped in packet.skipped_surfaces),
    )


def _show(packet: Packet, zone: str) -> None:
    """Leave a page and a table in the UI; here and not in a task, for a cached task has no body."""
    which = hashlib.sha256(packet.intake.canonical()).hexdigest()[:8]
    create_markdown_artifact(
        packet_page(packet), key=artifact_key("rtch-packet", zone, which), description=f"Packet {packet.packet_id}"
    )
    create_table_artifact(
        surface_rows(packet),
        key=artifact_key("rtch-surfaces", zone, which),
        description="Selected surfaces, best first",
    )
