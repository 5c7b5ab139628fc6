"""What an external consolidator is given: the selected surfaces as its targets, and where its dump goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtch.models.packet import Packet

CONSOLIDATOR = ("consolidate",)


def consolidator_argv(
    packet: Packet, dump_path: Path, *, consolidator: tuple[str, ...] = CONSOLIDATOR, root: Path | None = None
) -> tuple[str, ...]:
    """Return the command that packages the selected surfaces.

    Targets are absolute, so none can be taken for an option and the command runs from any folder; a path
    whose bytes are not UTF-8 is left out, for it cannot stand in a packet's JSON.

    Args:
        packet: the packet.
        dump_path: where the consolidator is to write.
        consolidator: the program and its first arguments.
        root: the zone root; that of the packet's run if none is given.
    """
    zone_root = (root or Path(packet.run.zone_root)).absolute()
    targets = [str(zone_root / surface.path) for surface in packet.selected_surfaces if not surface.path_encoded]
    return (
        *consolidator,
        "--base-dir",
        str(zone_root),
        "--output",
        str(dump_path.absolute()),
        "--rtch-packet-id",
        packet.packet_id,
        *(("--targets", *targets) if targets else ()),
    )
