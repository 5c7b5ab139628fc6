"""Task runners by name: what carries the tasks of a flow, in its process, in others or on other machines."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any, cast

from prefect.futures import PrefectFuture
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner, ThreadPoolTaskRunner

from rtch.errors import ArtifactError, Dangling, ToolError, ZoneError
from rtch.jobs import Job, Outcome, Runner
from rtch.runner_names import AT, asked_runner, runner_named

Runs = TaskRunner[PrefectFuture[Any]]
AGAIN = "run it again: what was made is in the store"


def task_runner(name: str, workers: int, address: str = "") -> Runs:
    """Return a task runner that is not started yet.

    Args:
        name: of ``config/runners.yaml``, or the address of a Dask scheduler; nothing is the default.
        workers: tasks at once; a cluster that is there has its own number.
        address: the scheduler's, where the name is ``dask_at``.

    Raises:
        IntakeError: there is no such runner.
        ToolError: a package that it needs is not installed.
    """
    found = runner_named(name, address)
    made: Any
    if found.name == "threads":
        made = ThreadPoolTaskRunner(max_workers=workers)
    elif found.name == "processes":
        # More of them than cores would only import Prefect once more.
        made = ProcessPoolTaskRunner(max_workers=min(workers, os.cpu_count() or 1))
    else:
        dask = importlib.import_module("prefect_dask")
        if found.name == AT:
            made = dask.DaskTaskRunner(address=found.address)
        else:
            count = min(workers, os.cpu_count() or 1)
            made = dask.DaskTaskRunner(cluster_kwargs={"n_workers": count, "processes": True} | found.options)
    return cast("Runs", made)


@contextmanager
def carried_by(asked: str, workers: int) -> Iterator[Runs | None]:
    """Start what is asked to carry the tasks of the flow run that is under way; None is the flow's own runner.

    Args:
        asked: by a parameter of the flow; the environment is asked where it says nothing.
        workers: tasks at once.

    Raises:
        ArtifactError: a worker elsewhere has another store than this process.
        ToolError: a process that carried a task was killed, or a scheduler cannot be reached.
        ZoneError: a worker elsewhere has another tree.
    """
    name = asked_runner(asked)
    if not name:
        yield None
        return
    with in_words(name), task_runner(name, workers) as started:
        yield started


class Worded:
    """A runner whose carriers' failures are errors of rtch's own, so that whoever asked can tell of them and go on."""

    def __init__(self, runner: Runner, asked: str) -> None:
        self._runner, self._name = runner, asked_runner(asked)

    def one(self, job: Job) -> Outcome:
        """Run one job."""
        with in_words(self._name):
            return self._runner.one(job)

    def many(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Run independent jobs in parallel; results in the jobs' order."""
        with in_words(self._name):
            return self._runner.many(jobs)


@contextmanager
def in_words(name: str) -> Iterator[None]:
    """Say in one sentence what goes wrong with what carries tasks.

    Args:
        name: of the runner; nothing is the flow's own, with which nothing of the kind goes wrong.

    Raises:
        ArtifactError: a worker elsewhere has another store than this process.
        ToolError: a process that carried a task was killed, or a scheduler cannot be reached.
        ZoneError: a worker elsewhere has another tree.
    """
    try:
        yield
    except _killed() as error:
        told = str(error).rstrip(".")
        raise ToolError(f"a process that carried a task was killed: {told}", hint=AGAIN) from error
    except OSError as error:
        if not _elsewhere(name):
            raise
        raise ToolError(f"the Dask scheduler at {name} cannot be reached: {error}", hint="is it running?") from error
    except ZoneError as error:
        if not _elsewhere(name):
            raise
        raise ZoneError(error.args[0], hint="run it again; all hosts need the zone in one shared folder") from error
    except Dangling as gone:
        if not _elsewhere(name):
            raise
        raise ArtifactError(
            f"{gone}: the workers at {name} do not share it",
            hint="give every host one store, as in RTCH_STORE=file:///shared/rtch",
        ) from gone


def _elsewhere(name: str) -> bool:
    return bool(name) and runner_named(name).name == AT


def _killed() -> tuple[type[Exception], ...]:
    """Return what is raised where a process that carries tasks goes; Dask tries three workers first."""
    dask = sys.modules.get("distributed.scheduler")
    return (BrokenExecutor,) if dask is None else (BrokenExecutor, dask.KilledWorker)
