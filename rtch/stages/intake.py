"""Stage 1: the intake becomes the accepted intake, with its digest, its checks and the rules it is bound by."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from rtch.criteria import compile_halting
from rtch.errors import IntakeError
from rtch.legality import constraint_stack, violation
from rtch.models.intake import AcceptedIntake, Intake

if TYPE_CHECKING:
    from rtch.limits import IntakeLimits
    from rtch.stages.desk import Desk


def intake(request: Intake, limits: IntakeLimits | None = None, desk: Desk | None = None) -> AcceptedIntake:  # noqa: ARG001  every stage is called alike
    """Accept a request: its level is legal, and its halting definition is compiled.

    Pure: neither the tree nor a limit changes the result, so that ``rtch intake check`` shows what a run will do.

    Raises:
        IntakeError: the level is not legal (the message names the one that is), or the halting definition
            contradicts the request.
    """
    if sentence := violation(request):
        raise IntakeError(sentence)
    return AcceptedIntake(
        intake=request,
        intake_digest=hashlib.sha256(request.canonical()).hexdigest(),
        halting=compile_halting(request),
        constraint_stack=constraint_stack(request),
    )
