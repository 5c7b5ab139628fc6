"""``rtch packet``: the packets there are, one of them, how two differ, and which of them stay."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

from rtch.cli.show import add_show_flags, add_ttl_flag

_MODULES = {
    "list": "rtch.cli.packet_list",
    "show": "rtch.cli.show",
    "diff": "rtch.cli.packet_diff",
    "pin": "rtch.cli.packet_keep",
    "unpin": "rtch.cli.packet_keep",
    "prune": "rtch.cli.packet_keep",
}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and what it does."""
    parser = subparsers.add_parser("packet", help="list, show, compare, pin and prune packets", allow_abbrev=False)
    parser.set_defaults(func=run)
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list", help="packets that were kept or remembered, newest first", allow_abbrev=False)
    _add_root(listing)
    listing.add_argument("--limit", type=int, default=20, metavar="N", help="at most N (default: 20)")
    listing.add_argument("--current", action="store_true", help="leave out what a newer packet supersedes")
    listing.add_argument("--all", action="store_true", help="list all there are, whatever --limit says")
    listing.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    add_ttl_flag(listing)
    add_show_flags(verbs.add_parser("show", help="as rtch show", allow_abbrev=False))
    verbs.add_parser("schema", help="the packet's JSON Schema", allow_abbrev=False)
    _add_diff(verbs)
    _add_keeping(verbs)


def _add_diff(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    diff = verbs.add_parser(
        "diff",
        help="how two packets differ",
        description="Say how two packets differ. Exit 0 if they say the same, 1 if not, 6 if one is unreadable.",
        allow_abbrev=False,
    )
    for name in ("before", "after"):
        diff.add_argument(name, metavar=name.upper(), help="a file, an id, or at least 8 digits of an id")
    _add_root(diff)
    diff.add_argument("--format", choices=("human", "json", "markdown"), default="human", help="default: human")


def _add_keeping(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    pin = verbs.add_parser("pin", help="keep a packet from being forgotten or pruned", allow_abbrev=False)
    pin.add_argument("--why", default="", metavar="TEXT", help="shown where packets are listed")
    unpin = verbs.add_parser("unpin", help="let it be pruned again; it stays until then", allow_abbrev=False)
    for one in (pin, unpin):
        one.add_argument("packet", metavar="PACKET", help="a file, an id, or at least 8 digits of an id")
    prune = verbs.add_parser(
        "prune",
        help="remove remembered packets that newer ones supersede",
        description="Remove remembered packets that a newer one of the same question supersedes. Pinned ones stay.",
        allow_abbrev=False,
    )
    prune.add_argument("--keep", type=_amount, default=0, metavar="N", help="the newest N stay in any case")
    prune.add_argument("--older-than", type=float, default=0.0, metavar="DAYS", help="only those made so long ago")
    prune.add_argument(
        "--persisted", action="store_true", help="also those kept for good, in a zone only where --root names it"
    )
    prune.add_argument("--dry-run", action="store_true", help="say what would go, and remove nothing")
    for one in (pin, unpin, prune):
        _add_root(one)


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=Path, help="look through this zone's packets as well")


def _amount(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of packets")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.verb == "schema":
        return _schema()
    code: int = import_module(_MODULES[args.verb]).run(args)
    return code


def _schema() -> int:
    from rtch.models.packet import ShownPacket  # noqa: PLC0415

    json.dump(ShownPacket.model_json_schema(), sys.stdout, indent=2)
    print()
    return 0
