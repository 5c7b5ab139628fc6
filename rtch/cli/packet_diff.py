"""``rtch packet diff``: how two packets differ."""

from __future__ import annotations

import argparse
import sys


def run(args: argparse.Namespace) -> int:
    """Run the command; exit 0 if the packets say the same, else 1."""
    from rtch import packets  # noqa: PLC0415  after the flags
    from rtch.cli.zones import packet_roots  # noqa: PLC0415
    from rtch.packet_diff import diff  # noqa: PLC0415
    from rtch.render import diff as render  # noqa: PLC0415

    roots = packet_roots(args.root)
    made = diff(packets.peek(args.before, roots=roots), packets.peek(args.after, roots=roots))
    if args.format == "json":
        text = made.model_dump_json(indent=2) + "\n"
    else:
        text = render.to_human(made) if args.format == "human" else render.to_markdown(made)
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    return 0 if made.same else 1
