"""The fleet flow: every zone of a fleet file investigated, each investigation one task, under one budget.

What is inside an investigation is not drawn here: a task runs all of its stages in its own process, so that other
processes and other machines can carry it. The drift flow draws one zone in full.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger, runtime, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.context import TagsContext
from prefect.futures import PrefectFuture
from prefect.states import Completed, Failed

from rtch.drift.investigation import failed, report_of
from rtch.entry import Options
from rtch.errors import RtchError
from rtch.fleets import read_fleet
from rtch.flows.asking import Asked, ask
from rtch.flows.drift_pages import fleet_rows
from rtch.flows.ending import GOOD, NAMES, NotClean, ended, told
from rtch.flows.launch import log_to_the_server_alone
from rtch.flows.own_run import own_run, tag, ui_url
from rtch.flows.pages import artifact_key, inline, visible
from rtch.flows.parameters import saved_name
from rtch.flows.runners import task_runner
from rtch.flows.showing import Progress, announce, show_report
from rtch.jobs import DirectRunner
from rtch.keys import zone_id
from rtch.models.fleet import Fleet, FleetZone
from rtch.models.vocab import Engine
from rtch.runner_names import asked_runner

BUG = 70
"""The exit code of what was not foreseen."""


def _flow_run_name() -> str:
    path = Path(str(runtime.flow_run.parameters["path"]))
    try:
        watched = read_fleet(path)
    except RtchError:
        return f"fleet {visible(saved_name(path.name))}"  # the flow itself will say what is wrong
    asked = sum(len(zone.intakes) for zone in watched.zones)
    return f"fleet {watched.name}: {len(watched.zones)} zones, {asked} questions"


@task(name="investigation", task_run_name="{label}", cache_policy=NO_CACHE, persist_result=False)
def investigation_task(
    label: str,  # noqa: ARG001  it names the task run
    reference: str,
    root: str,
    flow_run: tuple[str, str],
) -> State[Any]:
    """Ask one question of one zone, wherever this task is carried; its state is named after what came of it.

    Args:
        label: the task's name, zone and question.
        reference: path or name of the saved intake.
        root: the zone's root, absolute.
        flow_run: the flow run's id and address.
    """
    log_to_the_server_alone()  # this may be another process than the one that said so
    asked = ask(
        reference,
        Options(root=Path(root), cwd=Path(root)),
        lambda session: DirectRunner(session.limits.probe.workers),
        engine=Engine.DIRECT,
        flow_run=flow_run,
    )
    made = asked.investigation
    message = told(report_of([made]))
    if made.status in GOOD:
        return Completed(name=NAMES[made.status], message=message, data=asked)
    return Failed(name=NAMES[made.status], message=message, data=OneNotClean(asked))


class OneNotClean(NotClean):
    """An investigation that is not clean; it is kept."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(report_of([asked.investigation]))
        self.asked = asked

    def __reduce__(self) -> tuple[type[OneNotClean], tuple[Asked]]:  # type: ignore[override]
        """Travel between processes by what came of the question."""
        return OneNotClean, (self.asked,)


@flow(name="fleet", flow_run_name=_flow_run_name, persist_result=False)
def fleet(path: Path) -> State[Any]:
    """Investigate every zone of a fleet file, and say which have drifted.

    One that fails does not stop the others; where a process of its own is killed, what it was to carry has failed.

    Args:
        path: the fleet's file, absolute.

    Returns:
        A state named after the worst that came of a question, with the report of all of them.
    """
    watched = read_fleet(path)
    tag(["rtch", "drift", "fleet", watched.name])
    pairs = [(zone, reference) for zone in watched.zones for reference in zone.intakes]
    log = get_run_logger()
    log.info("%d zones, %d investigations, %d at once", len(watched.zones), len(pairs), watched.workers)
    progress = Progress(artifact_key("rtch-fleet-progress", watched.name), len(pairs))
    asked: list[Asked] = []
    for one in _investigated(watched, pairs):
        asked.append(one)
        show_report(one)
        announce(one)
        log.info("%s", told(report_of([one.investigation])))
        progress.step()
    report = report_of([one.investigation for one in asked])
    create_table_artifact(
        fleet_rows(asked, ui_url()), key=artifact_key("rtch-fleet", watched.name), description=inline(told(report))
    )
    return ended(report)


def _investigated(watched: Fleet, pairs: Sequence[tuple[FleetZone, str]]) -> Iterator[Asked]:
    """Yield what came of each investigation, in the order of the file, as they come to their ends."""
    with task_runner(asked_runner(watched.runner), watched.workers) as runner:
        with TagsContext(current_tags=set()):  # the flow run's tags are not for its tasks
            futures = [runner.submit(investigation_task, _parameters(*pair)) for pair in pairs]
        yield from map(_taken, pairs, futures)


def _parameters(zone: FleetZone, reference: str) -> dict[str, Any]:
    return {
        "label": f"{visible(zone_called(zone))}: {visible(saved_name(reference))}",
        "reference": reference,
        "root": zone.root,
        "flow_run": own_run(),
    }


def _taken(pair: tuple[FleetZone, str], future: PrefectFuture[Any]) -> Asked:
    """Return what came of an investigation, also where its task did not come to its end."""
    zone, reference = pair
    try:
        found = future.result(raise_on_failure=False)
    except Exception as error:  # noqa: BLE001  a process that was killed takes its whole pool along: each is told
        found = error
    if isinstance(found, OneNotClean):
        found = found.asked
    if not isinstance(found, Asked):
        made = failed(reference, Path(zone.root), f"its task did not come to its end: {found}", BUG)
        found = Asked(made, zone_id(Path(zone.root)), reference)
    if not zone.name:
        return found
    made = found.investigation.model_copy(update={"zone_name": zone.name})
    return Asked(made, found.zone, found.label)


def zone_called(zone: FleetZone) -> str:
    """Return what to call a zone."""
    return zone.name or Path(zone.root).name or "zone"
