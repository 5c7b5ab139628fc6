"""``rtch package``: a packet's chunks as a dump, and the command for a consolidator."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "package",
        help="write a packet's chunks as a dump for a consolidator",
        description="Write a packet's chunks as one text; print where it is, and the command for a consolidator.",
        allow_abbrev=False,
    )
    parser.add_argument("packet", metavar="PACKET", help="a file, an id, or at least 8 digits of an id")
    parser.add_argument("--root", type=Path, help="the zone root; default: that of the packet's run")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: dumps/ in rtch's data folder")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch import handoff, packets  # noqa: PLC0415  after the flags
    from rtch.cli.zones import packet_roots  # noqa: PLC0415

    packet = packets.peek(args.packet, roots=packet_roots(args.root))
    place = handoff.keep_dump(packet, args.output)
    left_out = handoff.targets_left_out(packet)
    told = {
        "packet_id": packet.packet_id,
        "dump_path": str(place),
        "argv": handoff.argv(packet, place, root=args.root),
        "left_out": left_out,
    }
    print(json.dumps(told, indent=2))
    if left_out:
        print(f"rtch: {handoff.complaint(left_out)}", file=sys.stderr)
    return 0
