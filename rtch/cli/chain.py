"""``rtch chain``: what the rungs above a path say."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtch.models.chain import Chain


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "chain",
        help="show what the rungs above a path say, lowest first",
        description="Show the doctrine of each rung around TARGET, lowest first. Exit 0 with a document, 1 with none.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "target", metavar="TARGET", type=Path, help="a file or folder; relative to --root, if that is given"
    )
    parser.add_argument("--root", type=Path, help="the zone root; default: that around TARGET")
    parser.add_argument("--no-parents", action="store_true", help="do not look for rung markers above the root")
    parser.add_argument("--format", choices=("markdown", "json"), default="markdown", help="default: markdown")
    parser.add_argument(
        "--max-chars-per-rung", type=_count, metavar="N",
        help="characters of a rung's documents, and as many of its ledgers (default: 12000); 0 tells of them alone",
    )  # fmt: skip
    parser.add_argument(
        "--with-memory", action="store_true", help="show your own memory of this zone, which lies outside of it"
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch.chain import Wish, asked_for_memory, chain  # noqa: PLC0415  after the flags
    from rtch.limits import load_limits, with_layout  # noqa: PLC0415

    wish = Wish(
        root=args.root,
        parents=not args.no_parents,
        max_chars=args.max_chars_per_rung,
        with_memory=asked_for_memory(flag=args.with_memory),
    )
    found = chain(args.target, wish, with_layout(load_limits()))
    sys.stdout.buffer.write((_json(found) if args.format == "json" else _markdown(found)).encode("utf-8"))
    if not any(rung.documents or rung.ledgers for rung in found.rungs):
        print("rtch: no rung around this path has a document", file=sys.stderr)
        return 1
    return 0


def _markdown(found: Chain) -> str:
    from rtch.render.chain import rendered_chain  # noqa: PLC0415

    return rendered_chain(found)


def _json(found: Chain) -> str:
    import json  # noqa: PLC0415

    return json.dumps(found.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


def _count(text: str) -> int:
    if text.isascii() and text.isdecimal() and len(text) <= len("1000000000"):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text} is no count of characters; give a whole number from 0 on")
