"""``rtch packet pin``, ``unpin`` and ``prune``: which packets stay."""

from __future__ import annotations

import argparse
import math
import sys
from datetime import UTC, datetime

from rtch.errors import IntakeError
from rtch.escape import visible


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch import packet_history  # noqa: PLC0415  after the flags
    from rtch.cli.zones import packet_roots  # noqa: PLC0415

    roots = packet_roots(args.root)
    if args.verb == "pin":
        print(f"pinned {packet_history.pin(args.packet, why=args.why, now=datetime.now(UTC), roots=roots)}")
        return 0
    if args.verb == "unpin":
        print(f"unpinned {packet_history.unpin(args.packet, roots=roots)}")
        return 0
    if math.isnan(args.older_than):
        raise IntakeError("--older-than nan is no number of days", hint="give one such as 30")
    wanted = packet_history.Prune(
        keep=args.keep,
        older_than_days=args.older_than,
        persisted=args.persisted,
        zone=roots[0] if args.root is not None else None,
    )
    doomed = packet_history.prunable(wanted, now=datetime.now(UTC), roots=roots)
    verb = "would remove" if args.dry_run else "remove"
    for one in doomed:
        print(f"{verb} {visible(one.path)}: {one.why}")
    sys.stdout.flush()
    removed = 0 if args.dry_run else packet_history.remove(doomed)
    print(f"rtch: {removed} packet files removed", file=sys.stderr)
    return 0
