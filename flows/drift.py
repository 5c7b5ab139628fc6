"""The drift flow: saved questions of one zone asked again, each stage, probe and check a task of one flow run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger, runtime
from prefect.client.schemas.objects import State
from prefect.context import TagsContext

from rtch.drift.investigation import report_of
from rtch.errors import IntakeError
from rtch.flows.asking import Asked, ask, zone_of
from rtch.flows.ending import ended, outcome
from rtch.flows.own_run import own_run, tag
from rtch.flows.pages import artifact_key, visible
from rtch.flows.parameters import DriftWishes, RunOptions, drift_run_name, drift_tags, zone_name
from rtch.flows.runners import Worded, carried_by, task_runner
from rtch.flows.showing import Progress, announce, show
from rtch.intake_files import saved_intakes
from rtch.limits import load_limits
from rtch.models.vocab import Engine
from rtch.session import Session
from rtch.tasks.runner import PrefectRunner

WORKERS = load_limits().probe.workers


def _flow_run_name() -> str:
    parameters = runtime.flow_run.parameters
    return drift_run_name(parameters["saved"] or ["all"], RunOptions.model_validate(parameters.get("options") or {}))


@flow(
    name="drift",
    flow_run_name=_flow_run_name,
    persist_result=False,
    task_runner=task_runner("", WORKERS),
)
def drift(
    saved: list[str],
    baseline: Path | None = None,
    options: RunOptions | None = None,
    wishes: DriftWishes | None = None,
) -> State[Any]:
    """Ask saved questions of a zone again, and say what has drifted from their baselines.

    Args:
        saved: paths or names of saved intakes; none are all that the user has saved.
        baseline: the baseline's file, for one question alone.
        options: where to look, and what to make again.
        wishes: what to accept or suppress, and what counts.

    Returns:
        A state named after the worst that came of a question, with the report.
    """
    options = options or RunOptions()
    entered, wanted = options.for_session(), (wishes or DriftWishes()).for_investigation()
    references = saved or [one.name for one in saved_intakes() if not one.packaged]
    if not references:
        raise IntakeError("no saved intake is named, and none is saved", hint="rtch intake new --save NAME saves one")
    root = zone_of(entered)
    tag(drift_tags(references, root))
    log = get_run_logger()
    progress = Progress(artifact_key("rtch-drift-progress", zone_name(root)), len(references))
    asked: list[Asked] = []
    with carried_by(options.runner, WORKERS) as carrier:
        # Kept until the flow ends: Prefect remembers results by their address in memory.
        runners: list[PrefectRunner] = []

        def runner_of(session: Session) -> Worded:
            runners.append(PrefectRunner(session.limits.probe.workers, carrier=carrier))
            return Worded(runners[-1], options.runner)

        for reference in references:
            with TagsContext(current_tags=set()):  # the flow run's tags are not for its tasks
                one = ask(
                    reference,
                    entered,
                    runner_of,
                    engine=Engine.PREFECT,
                    flow_run=own_run(),
                    baseline=baseline,
                    wishes=wanted,
                )
            asked.append(one)
            show(one)
            announce(one)
            made = one.investigation
            log.info("%s: %s, in %.0f ms", visible(made.saved), visible(outcome(made)), made.wall_ms)
            progress.step()
    return ended(report_of([one.investigation for one in asked]))
