"""``rtch package``: a packet as a dump, and a consolidator told its targets, or run."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rtch.cli import handing


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "package",
        help="write a packet's chunks as a dump for a consolidator",
        description="Write a packet as one text; print where both are, and the command for a consolidator. "
        "Exit 5 if a consolidator was run and did not succeed: the dump is there all the same.",
        allow_abbrev=False,
    )
    parser.add_argument("packet", metavar="PACKET", help="a file, an id, or at least 8 digits of an id")
    parser.add_argument("--root", type=Path, help="the zone root; default: that of the packet's run")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: dumps/ in rtch's data folder")
    handing.add_handoff_flags(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch import handoff, packets  # noqa: PLC0415  after the flags
    from rtch.cli.zones import packet_roots  # noqa: PLC0415
    from rtch.documents import model_of  # noqa: PLC0415

    place = packets.find(args.packet, roots=packet_roots(args.root))
    packet = model_of(packets.peek(place))
    consolidator = handing.consolidator_of(args, args.root or Path(packet.run.zone_root))
    packet = handoff.hand_over(
        packet, args.output, root=args.root, whole_files=args.whole_files, consolidator=consolidator
    )
    record = packet.run.handoff
    assert record is not None
    told = {"packet_id": packet.packet_id, "packet_path": str(place.absolute()), **record.model_dump(mode="json")}
    if packet.run.complement is not None:
        told["complement"] = packet.run.complement.model_dump(mode="json")
    print(json.dumps(told, indent=2))
    sys.stdout.flush()
    handing.tell(record)
    return handing.FAILED if record.failure else 0
