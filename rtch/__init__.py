"""rtch: an intent goes in, a bounded evidence packet of a source tree comes out.

    from rtch import Intake, hydrate, verify
    packet = hydrate(intake, root="path/to/tree")
    verify(packet).counts

Nothing is imported until it is asked for; Prefect only where a flow is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rtch.api import hydrate as hydrate
    from rtch.models.intake import Intake as Intake
    from rtch.models.packet import Packet as Packet
    from rtch.probing import run_probe as run_probe
    from rtch.rehydration import rehydrate as rehydrate
    from rtch.verification import verify as verify

__all__ = ["Intake", "Packet", "hydrate", "rehydrate", "run_probe", "verify"]

_HOMES = {
    "hydrate": "rtch.api",
    "verify": "rtch.verification",
    "rehydrate": "rtch.rehydration",
    "run_probe": "rtch.probing",
    "Intake": "rtch.models.intake",
    "Packet": "rtch.models.packet",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module rtch has no attribute {name}")
    from importlib import import_module  # noqa: PLC0415  the package itself imports nothing

    return getattr(import_module(_HOMES[name]), name)
