"""Both engines in one warm process: prints seconds a run as JSON, for ``run.py``.

python -P tests/bench/warm.py ROOT REPEAT SEED
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rtch import Intake, hydrate
from rtch.flows.launch import run_flow
from rtch.flows.parameters import RunOptions, intake_values
from rtch.models.vocab import ExpectedOutput, FanoutLevel, MutationRisk, TargetProfile


def seconds(repeat: int, once: Callable[[], object]) -> list[float]:
    """Return how long each run took, after one that is not counted."""
    once()
    found = []
    for _ in range(repeat):
        started = time.perf_counter()
        once()
        found.append(time.perf_counter() - started)
    return found


def main() -> None:
    """Measure the same intake on the same tree with both engines."""
    root, repeat, seed = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    intake = Intake(
        goal=f"Where is {seed} defined and who calls it",
        target_profile=TargetProfile.CODE_PATH,
        fanout_level=FanoutLevel.CONSERVATIVE,
        mutation_risk=MutationRisk.READ_ONLY,
        expected_output=ExpectedOutput.HYDRATION_PACKET,
        enough_evidence_definition="at least 2 surfaces",
        explicit_seeds=(seed,),
    )
    parameters = {"intake": intake_values(intake), "options": RunOptions(root=root, folder=root)}
    flow = seconds(repeat, lambda: run_flow("rtch.flows.hydrate", parameters))
    direct = seconds(repeat, lambda: hydrate(intake, root=root))
    over = [one - other for one, other in zip(flow, direct, strict=True)]
    print(json.dumps({"direct": direct, "prefect": flow, "prefect over direct": over}))


if __name__ == "__main__":
    main()
