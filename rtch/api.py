"""rtch from Python."""

from __future__ import annotations

import os
from pathlib import Path

from rtch.models.intake import Intake
from rtch.models.packet import Packet


def hydrate(intake: Intake, *, root: str | os.PathLike[str] | None = None, cached: bool = True) -> Packet:
    """Turn an intake into an evidence packet, in this process.

    Args:
        intake: the request.
        root: the zone root; the nearest ``.ticzone``, git toplevel or working folder where it is None.
        cached: whether the artifact store is used.

    Raises:
        ZoneError: there is no readable root.
        BudgetError: the cost rule left no probe.
        ToolError: rg is missing or fails.
    """
    from rtch.entry import Options, enter  # noqa: PLC0415  models alone need neither git nor a store
    from rtch.session import open_session, run_direct  # noqa: PLC0415

    entry = enter(intake, Options(root=None if root is None else Path(root), cached=cached))
    return run_direct(open_session(entry))
