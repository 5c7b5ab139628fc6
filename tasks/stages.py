"""One Prefect task a stage: its name, its retries and an outer time limit; no logic and no keys.

What a stage does and when it is in the store is ``pipeline``'s business. Nothing is persisted by
Prefect: a task returns a reference into rtch's own store.
"""

from __future__ import annotations

from typing import Any, TypedDict, cast

from prefect import Task, task
from prefect.cache_policies import NO_CACHE, CachePolicy
from prefect.client.schemas.objects import State, TaskRun
from prefect.states import Completed

from rtch.errors import ToolError
from rtch.jobs import Job, Outcome, perform
from rtch.models.vocab import StageName

# No task has a time limit: a thread cannot be interrupted, so the limits are those of the rg and git calls.


def carry(job: Job) -> Outcome:
    """Run a job's stage, or find its artifact; a find ends in a state that the UI calls Cached.

    Prefect takes a returned state as it is, and futures unwrap its data; hence the cast. Its own
    cache would show a find only from the second Prefect run on, and would be a second truth.
    """
    outcome = perform(job)
    if not outcome.cached:
        return outcome
    state: Any = Completed(name="Cached", message="the artifact was in the store", data=outcome)
    return cast("Outcome", state)


def failed_by_a_tool(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    """Tell whether to try again: a program may fail for a passing reason, a pure function never does."""
    return isinstance(state.result(raise_on_failure=False), ToolError)


class _Common(TypedDict):
    cache_policy: CachePolicy
    persist_result: bool
    task_run_name: str


# No tags: for each task that has one, Prefect asks the server for a slot of that tag's limit, which
# doubles the cost of a run that finds everything in the store.
COMMON: _Common = {"cache_policy": NO_CACHE, "persist_result": False, "task_run_name": "{job.label}"}


@task(name="intake", **COMMON)
def intake_task(job: Job) -> Outcome:
    """Accept the intake and compile its halting definition."""
    return carry(job)


@task(
    name="orient",
    retries=1,
    retry_condition_fn=failed_by_a_tool,
    **COMMON,
)
def orient_task(job: Job) -> Outcome:
    """Describe the zone."""
    return carry(job)


@task(name="scout", **COMMON)
def scout_task(job: Job) -> Outcome:
    """Take the inventory of the zone's shapes."""
    return carry(job)


@task(name="basket", **COMMON)
def basket_task(job: Job) -> Outcome:
    """Turn the goal into typed terms."""
    return carry(job)


@task(
    name="cost",
    retries=1,
    retry_condition_fn=failed_by_a_tool,
    **COMMON,
)
def cost_task(job: Job) -> Outcome:
    """Count every term over the zone once."""
    return carry(job)


@task(name="survey", **COMMON)
def survey_task(job: Job) -> Outcome:
    """Look into the files that the question may be about."""
    return carry(job)


@task(name="plan", **COMMON)
def plan_task(job: Job) -> Outcome:
    """Declare the probes before any of them runs."""
    return carry(job)


@task(
    name="probe",
    retries=1,
    retry_condition_fn=failed_by_a_tool,
    **COMMON,
)
def probe_task(job: Job) -> Outcome:
    """Run one declared search."""
    return carry(job)


@task(name="judge", **COMMON)
def judge_task(job: Job) -> Outcome:
    """Tell between two waves whether the criteria hold."""
    return carry(job)


@task(name="hydrate", **COMMON)
def hydrate_task(job: Job) -> Outcome:
    """Read the chunks around the hits."""
    return carry(job)


@task(name="packet", **COMMON)
def packet_task(job: Job) -> Outcome:
    """Put the findings together."""
    return carry(job)


@task(
    name="copies",
    retries=1,
    retry_condition_fn=failed_by_a_tool,
    **COMMON,
)
def copies_task(job: Job) -> Outcome:
    """Look for second places of cited text."""
    return carry(job)


@task(name="notices", **COMMON)
def notices_task(job: Job) -> Outcome:
    """Look for new marks of deprecation on cited surfaces."""
    return carry(job)


@task(
    name="references",
    retries=1,
    retry_condition_fn=failed_by_a_tool,
    **COMMON,
)
def references_task(job: Job) -> Outcome:
    """Follow what documents refer to."""
    return carry(job)


@task(name="contradictions", **COMMON)
def contradictions_task(job: Job) -> Outcome:
    """Compare what truth files state."""
    return carry(job)


TASKS: dict[StageName, Task[[Job], Outcome]] = {
    StageName.INTAKE: intake_task,
    StageName.ORIENT: orient_task,
    StageName.SCOUT: scout_task,
    StageName.BASKET: basket_task,
    StageName.COST: cost_task,
    StageName.SURVEY: survey_task,
    StageName.PLAN: plan_task,
    StageName.PROBE: probe_task,
    StageName.JUDGE: judge_task,
    StageName.HYDRATE: hydrate_task,
    StageName.PACKET: packet_task,
    StageName.COPIES: copies_task,
    StageName.NOTICES: notices_task,
    StageName.REFERENCES: references_task,
    StageName.CONTRADICTIONS: contradictions_task,
}
