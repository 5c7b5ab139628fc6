"""Both engines in one warm process: prints seconds a run as JSON, for ``prefect_rows``.

    python -P tests/bench/warm.py ROOT REPEAT SEED

Each is asked the same question again, and then a new one each time: neither engine has met its wording.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rtch import Intake, hydrate
from rtch.flows.launch import run_flow
from rtch.flows.parameters import RunOptions, intake_values
from rtch.models.vocab import ExpectedOutput, FanoutLevel, MutationRisk, TargetProfile

ROOT, REPEAT, SEED = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
VERBS = ("stored", "checked", "sorted", "counted", "printed", "parsed", "loaded")
THINGS = ("caller", "test", "setting", "page", "limit")


def intake(goal: str) -> Intake:
    """Return a request that differs from others in its goal alone."""
    return Intake(
        goal=goal,
        target_profile=TargetProfile.CODE_PATH,
        fanout_level=FanoutLevel.CONSERVATIVE,
        mutation_risk=MutationRisk.READ_ONLY,
        expected_output=ExpectedOutput.HYDRATION_PACKET,
        enough_evidence_definition="at least 2 surfaces",
        explicit_seeds=(SEED,),
    )


def wordings() -> Iterator[str]:
    """Yield goals without end, each another."""
    number = 0
    while True:
        verb, thing = VERBS[number % len(VERBS)], THINGS[number % len(THINGS)]
        number += 1
        yield f"Where is the {thing} of {SEED} {verb}, and what is case {number} of it"


def seconds(once: Callable[[], object]) -> float:
    """Return how long one run took."""
    started = time.perf_counter()
    once()
    return time.perf_counter() - started


def direct(goal: str) -> float:
    """Ask in this process."""
    return seconds(lambda: hydrate(intake(goal), root=ROOT))


def prefect(goal: str) -> float:
    """Ask as a flow."""
    parameters = {"intake": intake_values(intake(goal)), "options": RunOptions(root=ROOT, folder=ROOT)}
    return seconds(lambda: run_flow("rtch.flows.hydrate", parameters))


def main() -> None:
    """Ask in turns, after one of each that is not counted."""
    same = itertools.repeat(f"Where is {SEED} defined and who calls it")
    told = {}
    for name, goals in (("same intake", same), ("new intake", wordings())):
        _, *counted = [(direct(next(goals)), prefect(next(goals))) for _ in range(REPEAT + 1)]
        told[f"direct, {name}"] = [one for one, _ in counted]
        told[f"prefect, {name}"] = [other for _, other in counted]
        told[f"prefect over direct, {name}"] = [other - one for one, other in counted]
    print(json.dumps(told))


if __name__ == "__main__":
    main()
