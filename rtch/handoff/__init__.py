"""Packaging a packet for the next tool: the dump is written here, a consolidator's command is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.escape import visible
from rtch.handoff.consolidator import consolidator_argv as argv
from rtch.handoff.consolidator import targets_left_out

if TYPE_CHECKING:
    from rtch.models.packet import Packet

__all__ = ["argv", "complaint", "hand_over", "keep_dump", "targets_left_out"]


def hand_over(packet: Packet, output: Path | None = None) -> Packet:
    """Write the packet's dump and return the packet with the record of it.

    Args:
        packet: the packet.
        output: the dump's file; None is ``dumps`` in rtch's data folder.

    Raises:
        ArtifactError: the dump cannot be written.
    """
    from rtch.models.run import HandoffRecord  # noqa: PLC0415

    place = keep_dump(packet, output)
    left_out = targets_left_out(packet)
    record = HandoffRecord(dump_path=str(place), argv=argv(packet, place), exit_code=None, left_out=left_out)
    return packet.model_copy(update={"run": packet.run.model_copy(update={"handoff": record})})


def complaint(left_out: Sequence[str]) -> str:
    """Return what is to be said of targets that were left out of the command; empty where there are none."""
    if not left_out:
        return ""
    return (
        f"{len(left_out)} selected surfaces are no targets of the command, for their path bytes are not UTF-8: "
        f"{visible(', '.join(left_out))}; the dump has their chunks, rtch read --encoded reads them"
    )


def keep_dump(packet: Packet, output: Path | None = None) -> Path:
    """Write the packet's dump, over an older one, and return its path.

    Raises:
        ArtifactError: the dump cannot be written.
    """
    from rtch.handoff.dump import write_dump  # noqa: PLC0415
    from rtch.packet_files import replace_file  # noqa: PLC0415

    place = (output or _default_place(packet)).absolute()
    replace_file(place, write_dump(packet).text.encode("utf-8", "surrogatepass"))
    return place


def _default_place(packet: Packet) -> Path:
    from rtch import home  # noqa: PLC0415

    return home.private_dir(home.data_dir() / "dumps") / f"{packet.packet_id}.md"
