"""``rtch verify``: what became of each chunk of a packet, and a new packet with what is still there."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtch.models.packet import Packet
    from rtch.models.verification import JudgedChunk, Verification

_STDIN = "-"
_CHANGED = 1
_COULD_NOT_JUDGE = 7


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "verify",
        help="say of each chunk of a packet what became of it",
        description="Hold a packet's chunks against the tree as it is. Exit 0 if all are unchanged or moved, 1 if any"
        " changed, 7 if none changed that could be judged and some could not.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "packet", metavar="PACKET", help="a file, an id, at least 8 digits of an id, or - for standard input"
    )
    parser.add_argument("--root", type=Path, help="the zone root; default: that of the packet's run")
    parser.add_argument("--format", choices=("human", "json"), default="human", help="default: human")
    parser.add_argument(
        "--reanchor", action="store_true", help="make a packet with the chunks that are still there, where they are now"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write that packet there as well (.json or YAML)")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch.errors import IntakeError  # noqa: PLC0415  after the flags

    if args.output is not None and not args.reanchor:
        raise IntakeError("--output says where the new packet goes, and none is made", hint="give --reanchor as well")
    from rtch.verification import verify  # noqa: PLC0415  after the flags

    packet = _packet(args)
    verification = verify(packet, root=args.root)
    if args.reanchor:
        made = _reanchored(packet, verification, args)
        verification = verification.model_copy(update={"reanchored_as": made.packet_id})
    _print(verification, args.format)
    if verification.changed:
        return _CHANGED
    return _COULD_NOT_JUDGE if verification.unjudged else 0


def _packet(args: argparse.Namespace) -> Packet:
    from rtch import packets  # noqa: PLC0415

    if args.packet != _STDIN:
        from rtch.cli.zones import packet_roots  # noqa: PLC0415

        return packets.peek(args.packet, roots=packet_roots(args.root))
    from rtch.errors import ArtifactError  # noqa: PLC0415
    from rtch.packet_files import MAX_PACKET_BYTES  # noqa: PLC0415

    data = sys.stdin.buffer.read(MAX_PACKET_BYTES + 1)
    if len(data) > MAX_PACKET_BYTES:
        raise ArtifactError(f"standard input is larger than a packet can be ({MAX_PACKET_BYTES} bytes)")
    return packets.parsed_from(data, "standard input")


def _reanchored(packet: Packet, verification: Verification, args: argparse.Namespace) -> Packet:
    """Make, remember and write the new packet; it is not lost as long as one of the two succeeds."""
    from rtch import packets, render  # noqa: PLC0415
    from rtch.cli.hydrate import emit  # noqa: PLC0415
    from rtch.documents import model_of  # noqa: PLC0415
    from rtch.errors import ArtifactError  # noqa: PLC0415
    from rtch.reanchoring import reanchored  # noqa: PLC0415
    from rtch.verification import zone_of  # noqa: PLC0415

    made = reanchored(model_of(packet), verification, zone_of(packet, args.root))
    if args.output is not None:
        emit(render.rendered(made, "json" if args.output.suffix == ".json" else "yaml"), args.output)
    try:
        packets.remember(made)
    except ArtifactError as error:
        if args.output is None:
            raise
        print(f"rtch: the packet is not remembered: {error}", file=sys.stderr)
    kept, all_of_them = len(made.hydrated_chunks), len(verification.chunks)
    print(f"rtch: {made.packet_id} has {kept} of {all_of_them} chunks where they are now", file=sys.stderr)
    return made


def _print(verification: Verification, form: str) -> None:
    if form == "json":
        import json  # noqa: PLC0415

        print(json.dumps(verification.model_dump(mode="json"), indent=2))
        return
    from rtch.escape import visible  # noqa: PLC0415

    for chunk in verification.chunks:
        print(visible(_line(chunk)))
    print(_counted(verification))


def _line(chunk: JudgedChunk) -> str:
    from rtch.reentry import line_range  # noqa: PLC0415

    was = f"{chunk.path}:{line_range(chunk.start_line, chunk.end_line)}"
    goes = ""
    if chunk.now is not None and (chunk.now.path, chunk.now.start_line) != (chunk.path, chunk.start_line):
        same_file = chunk.now.path == chunk.path
        goes = f" -> {'' if same_file else f'{chunk.now.path}:'}{line_range(chunk.now.start_line, chunk.now.end_line)}"
    detail = f" ({chunk.detail})" if chunk.detail else ""
    return f"{chunk.verdict.value:<10}  {chunk.chunk_id}  {was}{goes}{detail}"


def _counted(verification: Verification) -> str:
    """Return how many chunks were held against the tree, and what came of it."""
    total = len(verification.chunks)
    if not total:
        return f"0 chunks: {verification.packet_id} has none that could be held against the tree"
    counts = verification.counts.model_dump()
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    return f"{total} chunk{'s' if total > 1 else ''}: {told}"
