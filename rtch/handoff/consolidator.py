"""What an external consolidator is given: the selected surfaces as its targets, and where its dump goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rtch.reentry import path_bytes

if TYPE_CHECKING:
    from rtch.models.chunk import Surface
    from rtch.models.packet import Packet

CONSOLIDATOR = ("consolidate",)


def consolidator_argv(
    packet: Packet, dump_path: Path, *, consolidator: tuple[str, ...] = CONSOLIDATOR, root: Path | None = None
) -> tuple[str, ...]:
    """Return the command that packages the selected surfaces.

    Targets are absolute, so none can be taken for an option and the command runs from any folder. What it
    writes lies beside the dump and not over it. Those of ``targets_left_out`` are none of its targets.

    Args:
        packet: the packet.
        dump_path: rtch's own dump.
        consolidator: the program and its first arguments.
        root: the zone root; that of the packet's run if none is given.
    """
    zone_root = (root or Path(packet.run.zone_root)).absolute()
    paths = [_argument(surface) for surface in packet.selected_surfaces]
    targets = [str(zone_root / path) for path in paths if path is not None]
    dump = dump_path.absolute()
    return (
        *consolidator,
        "--base-dir",
        str(zone_root),
        "--output",
        str(dump.with_name(f"{dump.stem}.consolidated{dump.suffix}")),
        "--rtch-packet-id",
        packet.packet_id,
        *(("--targets", *targets) if targets else ()),
    )


def targets_left_out(packet: Packet) -> tuple[str, ...]:
    """Return the selected surfaces that no command line in JSON can name, by rank, percent-encoded.

    Their bytes are not UTF-8; ``rtch read --encoded`` reads them, and the dump holds their chunks.
    """
    return tuple(surface.path for surface in packet.selected_surfaces if _argument(surface) is None)


def _argument(surface: Surface) -> str | None:
    try:
        return path_bytes(surface.path, encoded=surface.path_encoded).decode()
    except UnicodeDecodeError:
        return None
