"""``rtch show``: a packet in one of its formats, with the reasons for its ranking."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.heat import TTL_DAYS

if TYPE_CHECKING:
    from rtch.models.packet import Packet

FORMATS = ("yaml", "json", "markdown", "surfaces", "plan")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "show",
        help="show a packet",
        description="Show a packet that was kept or remembered. --explain and --why-not print their answer alone.",
        allow_abbrev=False,
    )
    add_show_flags(parser)
    parser.set_defaults(func=run)


def add_show_flags(parser: argparse.ArgumentParser) -> None:
    """Add what showing a packet takes, here and under ``rtch packet show``."""
    parser.add_argument("packet", metavar="PACKET", help="a file, an id, or at least 8 digits of an id")
    parser.add_argument("--root", type=Path, help="look through this zone's packets as well")
    parser.add_argument("--format", choices=FORMATS, default="yaml", help="default: yaml")
    parser.add_argument("--max-chars", type=int, metavar="N", help="leave out what does not fit, and say so")
    parser.add_argument("--explain", action="store_true", help="the score parts of each selected surface")
    parser.add_argument("--why-not", metavar="PATH", help="what the packet knows of a path that is not selected")
    add_ttl_flag(parser)


def add_ttl_flag(parser: argparse.ArgumentParser) -> None:
    """Add the days by which heat is told."""
    parser.add_argument(
        "--ttl-days",
        type=float,
        default=TTL_DAYS,
        metavar="DAYS",
        help=f"how long a packet is active where no tics are counted (default: {TTL_DAYS:g})",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch import packets, render  # noqa: PLC0415  after the flags
    from rtch.cli.zones import packet_roots  # noqa: PLC0415

    packet = packets.peek(args.packet, roots=packet_roots(args.root))
    _say_heat(packet, args.ttl_days)
    _say_corrected(packet, args)
    if args.explain or args.why_not:
        answers = [render.explain(packet)] if args.explain else []
        answers += [render.why_not(packet, args.why_not)] if args.why_not else []
        text = "\n".join(answers) + "\n"
    else:
        text = render.rendered(packet, args.format, max_chars=args.max_chars)
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    return 0


def _say_heat(packet: Packet, ttl_days: float) -> None:
    """Say on stderr, in one line, what age leaves of a packet that is not active."""
    from datetime import UTC, datetime  # noqa: PLC0415

    from rtch.escape import visible  # noqa: PLC0415
    from rtch.heat import Heat, Made, heat_of  # noqa: PLC0415

    made = Made(packet.generated_at, packet.generated_at_tic, packet.ttl_tics)
    heat = heat_of(made, now=datetime.now(UTC), ttl_days=ttl_days)
    if heat is not Heat.ACTIVE:
        said = f"{heat}: made {visible(packet.generated_at)[:40]}, and active for {ttl_days:g} days"
        print(f"rtch: {said}; rtch verify tells what still stands", file=sys.stderr)


def _say_corrected(packet: Packet, args: argparse.Namespace) -> None:
    """Say on stderr, in one line, that rows of ledgers in a packet were corrected since."""
    from rtch.effective import has_rows  # noqa: PLC0415

    ledgers = {chunk.chunk_id: chunk.path for chunk in packet.hydrated_chunks if has_rows(chunk.path)}
    if not ledgers:
        return
    from rtch.escape import visible  # noqa: PLC0415
    from rtch.handoff.material import material_of, root_of  # noqa: PLC0415  only where a ledger is shown

    untold = material_of(packet, root_of(packet, args.root)).untold
    if untold:
        first, why = next(iter(untold.items()))
        more = f", and {len(untold) - 1} more of its chunks are like that" if len(untold) > 1 else ""
        said = f"{visible(first)[:40]}, {visible(ledgers.get(first, ''))[:200]}: {visible(why)[:300]}{more}"
        print(f"rtch: {said}; rtch rehydrate {visible(args.packet)} tells what still stands", file=sys.stderr)
