"""``rtch packet list``: what there is, how warm it is, and what supersedes or pins it."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtch.escape import visible
from rtch.heat import Heat, Made, heat_of

if TYPE_CHECKING:
    from rtch.models.packet import Packet
    from rtch.packet_history import Entry

_SHOWN_DIGITS = 12
"""Of the id that supersedes: more than the eight that name it anywhere."""


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch import packet_history  # noqa: PLC0415  after the flags
    from rtch.cli.zones import packet_roots  # noqa: PLC0415

    found = packet_history.entries(roots=packet_roots(args.root))
    newer, pins = packet_history.superseding(found), packet_history.pins()
    if args.current:
        found = [one for one in found if one.packet_id not in newer]
    now = datetime.now(UTC)
    shown = found if args.all else found[: max(0, args.limit)]
    rows = [
        _row(one, now, args.ttl_days) | {"superseded_by": newer.get(one.packet_id), "pinned": pins.get(one.packet_id)}
        for one in shown
    ]
    if args.format == "json":
        print(json.dumps({"packets": rows, "total": len(found)}, indent=2))
        return 0
    for row in rows:
        print(
            "  ".join(part for part in (row["packet_id"], _marks(row), row["made"], row["zone"], row["goal"]) if part)
        )
    if len(found) > len(rows):
        print(f"rtch: {len(found) - len(rows)} older ones are not shown", file=sys.stderr)
    return 0


def _row(one: Entry, now: datetime, ttl_days: float) -> dict[str, Any]:
    """Describe a packet; one that cannot be read is listed all the same, with the reason."""
    made = datetime.fromtimestamp(one.mtime, UTC).isoformat(timespec="seconds")
    row: dict[str, Any] = {"packet_id": one.packet_id, "made": made, "path": str(one.path), "zone": "", "goal": ""}
    packet = one.packet
    if packet is None:
        return row | {"heat": Heat.NONE.value, "goal": f"({visible(one.trouble)})"}
    stamp = Made(packet.generated_at, packet.generated_at_tic, packet.ttl_tics)
    return row | {
        "heat": heat_of(stamp, now=now, tic=_tic_of(packet), ttl_days=ttl_days).value,
        "zone": visible(packet.run.zone_root),
        "goal": visible(packet.intake.goal)[:100],
    }


def _tic_of(packet: Packet) -> int | None:
    """Return the counter of a packet's zone, which only a packet that was made in tics is held against."""
    if packet.generated_at_tic is None:
        return None
    from rtch.tics import zone_tic  # noqa: PLC0415  most packets are of trees without

    return zone_tic(Path(packet.run.zone_root))


def _marks(row: dict[str, Any]) -> str:
    marks = [row["heat"]]
    if row["superseded_by"]:
        marks.append(f"superseded by {row['superseded_by'].rpartition('_')[2][:_SHOWN_DIGITS]}")
    if row["pinned"] is not None:
        marks.append(f"pinned: {visible(row['pinned'])}" if row["pinned"] else "pinned")
    return ", ".join(marks)
