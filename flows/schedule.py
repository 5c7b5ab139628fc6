"""Flows run by the clock: served by this process, or left on a work pool; and the automations that watch them.

Prefect is imported by the functions here and not by the module, as in ``launch``.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from rtch import server
from rtch.errors import IntakeError, ToolError
from rtch.flows.launch import client_of
from rtch.models.fleet import Deployment

AUTOMATIONS = Path(__file__).resolve().parents[1] / "config" / "automations"
SAFE = {"PYTHONSAFEPATH": "1"}
"""For a worker's processes: they must not import from their working folder."""

Say = Callable[[str], None]


def serve(deployments: Sequence[Deployment], *, limit: int, say: Say) -> None:
    """Run deployments by their clocks in processes of this one, until a signal ends it.

    Schedules go on when it ends: what falls due meanwhile is there as Late. When it is served again the last of it is
    made up for, and the others stay to be seen as Missed.

    Args:
        deployments: with absolute paths alone, for the processes' working folder is rtch's own.
        limit: flow runs at once.
        say: is told in words what is served, and where.

    Raises:
        ToolError: the server cannot be started or reached.
    """
    with _connected(say) as found:
        from prefect import serve as serve_all  # noqa: PLC0415  read with its settings in place

        made = [_made(one) for one in deployments]
        for one in made:
            # Said in so many words: one that was on a work pool would stay there.
            one.work_pool_name = one.work_queue_name = None
        for one, deployment in zip(made, deployments, strict=True):
            missed = _settle_missed(f"{one.flow_name}/{one.name}")
            if missed:
                say(f"{one.flow_name}/{one.name}: {missed} runs were missed, the last of them is made up for")
            say(f"serving {one.flow_name}/{one.name} ({deployment.cron} {deployment.timezone})")
        say(f"see {found.ui_url}/deployments; Ctrl-C ends it")
        serve_all(*made, pause_on_shutdown=False, print_starting_message=False, limit=limit)
    say("stopped; what falls due meanwhile is shown as Late")


def deploy(deployments: Sequence[Deployment], pool: str, *, say: Say) -> None:
    """Leave deployments on a work pool, whose workers have rtch installed and see the same paths.

    Args:
        deployments: with absolute paths alone, for a worker runs in a temporary folder.
        pool: the work pool's name.
        say: is told in words what was left, and where.

    Raises:
        IntakeError: there is no such work pool.
        ToolError: the server cannot be started or reached.
    """
    with _connected(say) as found:
        from prefect.client.orchestration import get_client  # noqa: PLC0415
        from prefect.exceptions import ObjectNotFound  # noqa: PLC0415

        try:
            with get_client(sync_client=True) as client:
                client.read_work_pool(pool)
        except ObjectNotFound as error:
            raise IntakeError(
                f"there is no work pool {pool!r} at {found.api_url}",
                hint=f"make it with PREFECT_API_URL={found.api_url} prefect work-pool create {pool} --type process",
            ) from error
        for deployment in deployments:
            made = _made(deployment)
            made.job_variables = {"env": dict(SAFE)}
            made.apply(work_pool_name=pool)
            say(f"{made.flow_name}/{made.name} is on {pool} ({deployment.cron} {deployment.timezone})")
        say(f"run it with PREFECT_API_URL={found.api_url} prefect worker start --pool {pool}")


def automate(*, say: Say) -> None:
    """Make the automations that come with rtch; one of the same name is left as it is, for it may have been edited.

    Raises:
        ToolError: the server cannot be started or reached.
    """
    with _connected(say) as found:
        from prefect.client.orchestration import get_client  # noqa: PLC0415
        from prefect.events.schemas.automations import AutomationCore  # noqa: PLC0415

        with get_client(sync_client=True) as client:
            for path in sorted(AUTOMATIONS.glob("*.yaml")):
                wanted = AutomationCore.model_validate(yaml.safe_load(path.read_bytes()))
                known = client.read_automations_by_name(wanted.name)
                if not known:
                    client.create_automation(wanted)
                say(f"automation {wanted.name!r} {'is there already' if known else f'made from {path}'}")
        say(f"see {found.ui_url}/automations")


def _settle_missed(name: str) -> int:
    """End the runs of a deployment that fell due while nobody served it, but the last; return how many fell due.

    Prefect would run all of them, one after another, and each would look at the same tree.
    """
    from datetime import UTC, datetime  # noqa: PLC0415

    from prefect.client.orchestration import get_client  # noqa: PLC0415
    from prefect.client.schemas import filters  # noqa: PLC0415
    from prefect.client.schemas.objects import StateType  # noqa: PLC0415
    from prefect.client.schemas.sorting import FlowRunSort  # noqa: PLC0415
    from prefect.exceptions import ObjectNotFound  # noqa: PLC0415
    from prefect.states import Cancelled  # noqa: PLC0415

    with get_client(sync_client=True) as client:
        try:
            deployment = client.read_deployment_by_name(name)
        except ObjectNotFound:
            return 0
        wanted = filters.FlowRunFilter(
            deployment_id=filters.FlowRunFilterDeploymentId(any_=[deployment.id]),
            state=filters.FlowRunFilterState(type=filters.FlowRunFilterStateType(any_=[StateType.SCHEDULED])),
            expected_start_time=filters.FlowRunFilterExpectedStartTime(before_=datetime.now(UTC)),
        )
        total = 0
        while found := client.read_flow_runs(
            flow_run_filter=wanted, sort=FlowRunSort.EXPECTED_START_TIME_DESC, offset=1
        ):
            total += len(found)
            for run in found:
                state: Any = Cancelled(name="Missed", message="nobody served it when it was due")
                client.set_flow_run_state(run.id, state, force=True)
        return total + 1 if total else 0


@contextmanager
def _connected(say: Say) -> Iterator[server.Server]:
    """Be a client of the server that is up, configured or started for it, and so be every process started here."""
    found, started = server.ensure()
    if started:
        say(f"started a Prefect server, which rtch down stops: {found.ui_url}")
    with client_of(found, for_children=True):
        import httpx  # noqa: PLC0415  comes with Prefect
        from prefect.deployments.runner import DeploymentApplyError  # noqa: PLC0415
        from prefect.exceptions import PrefectException  # noqa: PLC0415

        try:
            yield found
        except (httpx.HTTPError, PrefectException, DeploymentApplyError) as error:
            raise ToolError(
                f"the Prefect API at {found.api_url} did not take it: {error}", hint="see rtch status"
            ) from error


def _made(deployment: Deployment) -> Any:
    """Return a deployment as Prefect takes it, by module path.

    Raises:
        IntakeError: the module path leads to no flow, or the flow does not take the parameters.
    """
    from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy  # noqa: PLC0415
    from prefect.client.schemas.schedules import CronSchedule  # noqa: PLC0415
    from prefect.exceptions import ParameterTypeError  # noqa: PLC0415
    from prefect.types.entrypoint import EntrypointType  # noqa: PLC0415

    flow = _flow_of(deployment)
    logging.getLogger("prefect.flows").setLevel(logging.CRITICAL)  # it says the same, with all values
    try:
        flow.validate_parameters(dict(deployment.parameters))
    except (ParameterTypeError, TypeError) as error:
        told = " ".join(str(error).split())
        raise IntakeError(f"{deployment.flow} does not take the parameters of {deployment.name}: {told}") from error
    return flow.to_deployment(
        name=deployment.name,
        schedule=CronSchedule(cron=deployment.cron, timezone=deployment.timezone),
        parameters=dict(deployment.parameters),
        concurrency_limit=ConcurrencyLimitConfig(
            limit=deployment.concurrency_limit,
            collision_strategy=ConcurrencyLimitStrategy[deployment.collision_strategy.name],
        ),
        tags=list(dict.fromkeys(("rtch", *deployment.tags))),
        description=deployment.description,
        entrypoint_type=EntrypointType.MODULE_PATH,
    )


def _flow_of(deployment: Deployment) -> Any:
    module, _, name = deployment.flow.rpartition(".")
    try:
        flow = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise IntakeError(f"{deployment.flow} of {deployment.name} cannot be imported: {error}") from error
    if not hasattr(flow, "to_deployment"):
        raise IntakeError(f"{deployment.flow} of {deployment.name} is no flow")
    return flow
