"""``rtch packet``: the packets there are, one of them, and the schema of all."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rtch.cli.show import add_show_flags
from rtch.cli.show import run as show


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and what it does."""
    parser = subparsers.add_parser("packet", help="list packets, print one, or print the schema", allow_abbrev=False)
    parser.set_defaults(func=run)
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list", help="packets that were kept or remembered, newest first", allow_abbrev=False)
    listing.add_argument("--root", type=Path, help="look through this zone's packets as well")
    listing.add_argument("--limit", type=int, default=20, metavar="N", help="at most N (default: 20)")
    listing.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    add_show_flags(verbs.add_parser("show", help="as rtch show", allow_abbrev=False))
    verbs.add_parser("schema", help="the packet's JSON Schema", allow_abbrev=False)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.verb == "show":
        return show(args)
    return _schema() if args.verb == "schema" else _list(args)


def _schema() -> int:
    from rtch.models.packet import ShownPacket  # noqa: PLC0415

    print(json.dumps(ShownPacket.model_json_schema(), indent=2))
    return 0


def _list(args: argparse.Namespace) -> int:
    from rtch import packets  # noqa: PLC0415
    from rtch.cli.zones import packet_roots  # noqa: PLC0415

    found = packets.listed(roots=packet_roots(args.root))
    rows = [_row(one) for one in found[: max(0, args.limit)]]
    if args.format == "json":
        print(json.dumps({"packets": rows, "total": len(found)}, indent=2))
        return 0
    for row in rows:
        print("  ".join(str(row[name]) for name in ("packet_id", "made", "zone", "goal") if row[name]))
    if len(found) > len(rows):
        print(f"rtch: {len(found) - len(rows)} older ones are not shown", file=sys.stderr)
    return 0


def _row(one: Any) -> dict[str, Any]:
    """Describe a packet; one that cannot be read is listed all the same, with the reason."""
    from rtch import packets  # noqa: PLC0415
    from rtch.errors import ArtifactError  # noqa: PLC0415
    from rtch.escape import visible  # noqa: PLC0415

    made = datetime.fromtimestamp(one.mtime, UTC).isoformat(timespec="seconds")
    row: dict[str, Any] = {"packet_id": one.packet_id, "made": made, "path": str(one.path), "zone": "", "goal": ""}
    try:
        packet = packets.peek(one.path)
    except ArtifactError as error:
        return row | {"goal": f"({error})"}
    return row | {"zone": visible(packet.run.zone_root), "goal": visible(packet.intake.goal)[:100]}
