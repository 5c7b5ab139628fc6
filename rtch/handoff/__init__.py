"""Packaging a packet for the next tool: the dump is written here, a consolidator is told its targets and run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.escape import visible
from rtch.handoff.consolidator import Consolidator, targets_left_out
from rtch.handoff.consolidator import consolidator_argv as argv

if TYPE_CHECKING:
    from rtch.handoff.material import Material
    from rtch.models.packet import Packet

__all__ = ["argv", "complaint", "hand_over", "keep_dump", "targets_left_out"]


def hand_over(
    packet: Packet,
    output: Path | None = None,
    *,
    root: Path | None = None,
    whole_files: bool = False,
    consolidator: Consolidator | None = None,
) -> Packet:
    """Write the packet's dump, run a consolidator if there is one, and return the packet with the record of both.

    A consolidator's failure stands in the record and is not raised: neither packet nor dump depends on it.

    Args:
        packet: the packet, as its model.
        output: the dump's file; None is ``dumps`` in rtch's data folder.
        root: the zone root; that of the packet's run if none is given.
        whole_files: write the selected surfaces whole, as they are now.
        consolidator: what to run.

    Raises:
        ArtifactError: the dump cannot be written.
    """
    from rtch.complementing import with_complement  # noqa: PLC0415
    from rtch.handoff.consolidator import Consolidated, run_consolidator  # noqa: PLC0415
    from rtch.handoff.material import material_of, root_of  # noqa: PLC0415
    from rtch.models.run import HandoffRecord  # noqa: PLC0415

    place = root_of(packet, root)
    packet = with_complement(packet, place)
    material = material_of(packet, place, whole_files=whole_files)
    dump = keep_dump(packet, output, material)
    words = {} if consolidator is None else {"consolidator": consolidator.words}
    command = argv(packet, dump, root=root, without=material.no_targets, **words)
    done = Consolidated(None) if consolidator is None else run_consolidator(command, consolidator, dump)
    record = HandoffRecord(
        dump_path=str(dump),
        argv=command,
        exit_code=done.exit_code,
        left_out=targets_left_out(packet),
        withheld=tuple(f"{path}: {why}" for path, why in material.no_targets.items()),
        consolidated_path=done.output,
        failure=done.failure,
    )
    return packet.model_copy(update={"run": packet.run.model_copy(update={"handoff": record})})


def complaint(left_out: Sequence[str]) -> str:
    """Return what is to be said of targets that were left out of the command; empty where there are none."""
    if not left_out:
        return ""
    return (
        f"{len(left_out)} selected surfaces are no targets of the command, for their path bytes are not UTF-8: "
        f"{visible(', '.join(left_out))}; the dump has their chunks, rtch read --encoded reads them"
    )


def keep_dump(packet: Packet, output: Path | None = None, material: Material | None = None) -> Path:
    """Write the packet's dump, over an older one, and return its path.

    Raises:
        ArtifactError: the dump cannot be written.
    """
    from rtch.handoff.dump import write_dump  # noqa: PLC0415
    from rtch.packet_files import replace_file  # noqa: PLC0415

    place = (output or _default_place(packet)).absolute()
    replace_file(place, write_dump(packet, material).text.encode("utf-8", "surrogatepass"))
    return place


def _default_place(packet: Packet) -> Path:
    from rtch import home  # noqa: PLC0415

    return home.private_dir(home.data_dir() / "dumps") / f"{packet.packet_id}.md"
