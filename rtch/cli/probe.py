"""``rtch probe``: one of a packet's next legal probes, run as it is; its hits make a child packet."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtch.models.packet import Packet
    from rtch.probing import Probed

FORMATS = ("yaml", "json", "markdown", "surfaces")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "probe",
        help="run one of a packet's next legal probes, and make a child packet of its hits",
        description="Run the N-th of a packet's next legal probes as it is declared. The child packet has the chunks "
        "that still stand and those of its hits. Exit 0 with a new chunk, and it is remembered; 1 with none, and it is "
        "shown and not kept.",
        allow_abbrev=False,
    )
    parser.add_argument("packet", metavar="PACKET", help="a file, an id, or at least 8 digits of an id")
    parser.add_argument(
        "number", metavar="N", type=int, nargs="?", help="which probe, from 1; without it they are listed"
    )
    parser.add_argument("--root", type=Path, help="the zone root; default: that of the packet's run")
    parser.add_argument(
        "--read-budget", type=int, default=0, metavar="LINES", help="lines more than are left of the packet's budget"
    )
    parser.add_argument("--format", choices=FORMATS, default="yaml", help="how the packet is printed (default: yaml)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the packet there and not to stdout")
    parser.add_argument("--max-chars", type=int, metavar="N", help="leave out what does not fit, and say so")
    parser.add_argument("--persist", action="store_true", help="keep the packet for good, and say where")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch import packets  # noqa: PLC0415  after the flags
    from rtch.cli.zones import packet_roots  # noqa: PLC0415

    packet = packets.peek(args.packet, roots=packet_roots(args.root))
    if args.number is None:
        return _listed(packet)
    from rtch import render  # noqa: PLC0415
    from rtch.cli.hydrate import emit, working  # noqa: PLC0415
    from rtch.errors import IntakeError  # noqa: PLC0415
    from rtch.probing import run_probe  # noqa: PLC0415

    if args.read_budget < 0:
        raise IntakeError(f"--read-budget {args.read_budget} is no number of lines")
    with working("probing"):
        done = run_probe(packet, args.number, root=args.root, more_lines=args.read_budget)
    child = done.packet
    if done.chunk_count:
        child = _kept(child, persist=args.persist)
    emit(render.rendered(child, args.format, max_chars=args.max_chars), args.output)
    sys.stdout.flush()
    _say(f"{child.packet_id}: {done.hit_count} hits, {done.chunk_count} new chunks, parent {child.parent_packet_id}")
    if done.chunk_count:
        return 0
    _say(f"the packet is not kept: {_why_nothing_new(done)}")
    if done.hit_count and not packet.read_budget.remaining + args.read_budget:
        _say("the packet's read budget is spent; --read-budget LINES reads on")
    return 1


def _kept(child: Packet, *, persist: bool) -> Packet:
    """Remember a packet, and keep it for good where that is asked for."""
    from rtch import packets  # noqa: PLC0415
    from rtch.errors import ArtifactError  # noqa: PLC0415

    if persist:
        child = packets.persist(child)
        _say(f"kept at {child.run.persisted_at}")
    try:
        packets.remember(child)
    except ArtifactError as error:  # the answer is not less true where it cannot be kept
        _say(f"the packet is not remembered: {error}")
    return child


def _why_nothing_new(done: Probed) -> str:
    """Return what became of the hits of a probe that brought no chunk."""
    if not done.hit_count:
        return "the probe hits nothing"
    told = []
    if done.shown_by:
        most = 5
        more = f" and {len(done.shown_by) - most} more" if len(done.shown_by) > most else ""
        told.append(f"its parent shows hits already in {', '.join(done.shown_by[:most])}{more}")
    if done.unread_count:
        told.append(f"{done.unread_count} hits are in no chunk")
    return "; ".join(told)


def _listed(packet: Packet) -> int:
    """Print the probes there are, one a line; 1 where there is none."""
    from rtch.escape import visible  # noqa: PLC0415

    for number, probe in enumerate(packet.next_legal_probes, start=1):
        words = ", ".join(probe.input_terms)
        print(visible(f"{number}  {probe.family}  {words}  ({probe.predicted_files} files: {probe.purpose})"))
    return 0 if packet.next_legal_probes else 1


def _say(text: str) -> None:
    from rtch.escape import visible  # noqa: PLC0415

    print(f"rtch: {visible(text)}", file=sys.stderr)
