"""``rtch rehydrate``: a packet taken up again, and what of it may still be claimed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtch.models.packet import Packet
    from rtch.models.rehydration import RehydratedChunk, Rehydration

_EXITS = {"refreshed": 0, "drift_detected": 1, "superseded": 1, "failed": 7, "held": 7}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "rehydrate",
        help="say what became of a packet, and what of it may still be claimed",
        description="Hold a packet against the tree, the zone's corrections and newer packets of its question. Where "
        "all stands and lines moved, a packet with the lines of now is made. Exit 0 if it is refreshed, 1 if drift is "
        "detected or a newer one supersedes it, 7 if it is held or could not be judged. The packet is never changed.",
        allow_abbrev=False,
    )
    parser.add_argument("packet", metavar="PACKET", help="a file, an id, or at least 8 digits of an id")
    parser.add_argument("--root", type=Path, help="the zone root; default: that of the packet's run")
    parser.add_argument("--format", choices=("human", "json"), default="human", help="default: human")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write the new packet there as well (.json or YAML)"
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch import packets  # noqa: PLC0415  after the flags
    from rtch.cli.zones import packet_roots  # noqa: PLC0415
    from rtch.rehydration import rehydrate  # noqa: PLC0415

    roots = packet_roots(args.root)
    packet = packets.peek(args.packet, roots=roots)
    found = rehydrate(packet, root=args.root, roots=roots)
    if found.packet is not None:
        _keep(found.packet, args.output)
    _print(found.rehydration, args.format)
    if args.output is not None and found.packet is None:
        _say(f"nothing is written to {args.output}: no packet was made")
    return _EXITS[found.rehydration.outcome.value]


def _keep(made: Packet, output: Path | None) -> None:
    """Remember and write the new packet; it is not lost as long as one of the two succeeds."""
    from rtch import packets, render  # noqa: PLC0415
    from rtch.cli.hydrate import emit  # noqa: PLC0415
    from rtch.errors import ArtifactError  # noqa: PLC0415

    if output is not None:
        emit(render.rendered(made, "json" if output.suffix == ".json" else "yaml"), output)
    try:
        packets.remember(made)
    except ArtifactError as error:
        if output is None:
            raise
        _say(f"the packet is not remembered: {error}")
    _say(f"{made.packet_id} has the chunks where they are now, parent {made.parent_packet_id}")


def _print(rehydration: Rehydration, form: str) -> None:
    if form == "json":
        import json  # noqa: PLC0415

        print(json.dumps(rehydration.model_dump(mode="json"), indent=2))
        return
    from rtch.escape import visible  # noqa: PLC0415

    for chunk in rehydration.chunks:
        print(visible(_line(chunk)))
    print(visible(f"{rehydration.outcome}: {rehydration.because}; claim force {rehydration.claim_force}"))


def _line(chunk: RehydratedChunk) -> str:
    from rtch.reentry import line_range  # noqa: PLC0415

    was = f"{chunk.path}:{line_range(chunk.start_line, chunk.end_line)}"
    goes = ""
    if chunk.now is not None and (chunk.now.path, chunk.now.start_line) != (chunk.path, chunk.start_line):
        there = "" if chunk.now.path == chunk.path else f"{chunk.now.path}:"
        goes = f" -> {there}{line_range(chunk.now.start_line, chunk.now.end_line)}"
    detail = f" ({chunk.detail})" if chunk.detail else ""
    return f"{chunk.claim_force.value:<20}  {chunk.verdict.value:<10}  {chunk.chunk_id}  {was}{goes}{detail}"


def _say(text: str) -> None:
    from rtch.escape import visible  # noqa: PLC0415

    print(f"rtch: {visible(text)}", file=sys.stderr)
