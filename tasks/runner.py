"""The Prefect runner: submits the tasks of the stages and tells the edges between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from prefect.futures import PrefectFuture, wait
from prefect.task_runners import TaskRunner

from rtch.jobs import Group, Job, Outcome
from rtch.tasks.stages import TASKS


def _silent(_job: Job, _outcome: Outcome) -> None:
    """Report nothing."""


class PrefectRunner:
    """Runs jobs as tasks of the flow run that is under way.

    Which task made which artifact is known here by digest, so each edge is told as a future and
    Prefect has none to guess. Jobs and outcomes are kept as long as the runner lives: Prefect
    remembers results by their address in memory, and an address must not be used again meanwhile.
    """

    def __init__(
        self,
        workers: int,
        report: Callable[[Job, Outcome], None] = _silent,
        carrier: TaskRunner[PrefectFuture[Any]] | None = None,
    ) -> None:
        """Start with no task known.

        Args:
            workers: how many tasks may be under way at once.
            report: told of each job that ended well, in the order of the jobs.
            carrier: a started task runner; None is the flow's own.
        """
        self._workers = workers
        self._report = report
        self._carrier = carrier
        self._makers: dict[str, PrefectFuture[Outcome]] = {}
        self._kept: list[tuple[Job, Outcome]] = []

    def one(self, job: Job) -> Outcome:
        """Run one job."""
        return self.many([job])[0]

    def many(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Run independent jobs in parallel; results in the jobs' order."""
        futures: list[PrefectFuture[Outcome]] = []
        for place, job in enumerate(jobs):
            if place >= self._workers:
                futures[place - self._workers].wait()
            futures.append(self._submit(job))
        # One that fails must not leave the others running into whatever comes next.
        wait(list(futures))
        return [self._take(job, future) for job, future in zip(jobs, futures, strict=True)]

    def _submit(self, job: Job) -> PrefectFuture[Outcome]:
        task, upstream = TASKS[job.stage], list(self._upstream(job))
        if self._carrier is None:
            return task.submit(job, return_state=False, wait_for=upstream)
        return self._carrier.submit(task, {"job": job}, wait_for=upstream)

    def _upstream(self, job: Job) -> Iterator[PrefectFuture[Outcome]]:
        refs = (*job.inputs, *job.after)
        single = (one for ref in refs for one in (ref.members if isinstance(ref, Group) else (ref,)))
        digests = dict.fromkeys(one.digest for one in single)
        return (self._makers[digest] for digest in digests if digest in self._makers)

    def _take(self, job: Job, future: PrefectFuture[Outcome]) -> Outcome:
        outcome = future.result()
        self._kept.append((job, outcome))
        self._makers[outcome.ref.digest] = future
        self._report(job, outcome)
        return outcome
