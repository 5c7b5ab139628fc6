"""``rtch serve``: flows run by the clock, served by this process or left on a work pool."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.errors import IntakeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtch.models.fleet import Deployment


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "serve",
        help="run drift and other flows by the clock",
        description="Serve deployments until a signal ends it, or leave them on a work pool. Without a name, your own"
        " ones in the folder deployments of rtch's data folder.",
        allow_abbrev=False,
    )
    parser.add_argument("deployments", nargs="*", metavar="DEPLOYMENT", help="path or name of a deployment")
    parser.add_argument("--root", type=Path, help="the zone root; default: as the deployment says, else as rtch drift")
    parser.add_argument(
        "--saved", action="append", default=[], metavar="SAVED", help="a question of a drift deployment (repeatable)"
    )
    parser.add_argument("--fleet", type=Path, metavar="FILE", help="the fleet file of a fleet deployment")
    parser.add_argument("--limit", type=_count, default=1, metavar="N", help="flow runs at once (default: 1)")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--pool", metavar="NAME", help="leave them on a work pool, and do not serve them")
    instead.add_argument("--list", action="store_true", help="list the deployments there are, and serve none")
    instead.add_argument(
        "--automations", action="store_true", help="make the automations that come with rtch, and serve nothing"
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Run the command; what happens is told on stderr."""
    if args.list:
        return _list()
    if args.automations:
        from rtch.flows.schedule import automate  # noqa: PLC0415  Prefect, where it is asked for

        automate(say=_say)
        return 0
    ready = _ready(args)
    from rtch.flows import schedule  # noqa: PLC0415

    if args.pool:
        schedule.deploy(ready, args.pool, say=_say)
    else:
        schedule.serve(ready, limit=args.limit, say=_say)
    return 0


def _ready(args: argparse.Namespace) -> Sequence[Deployment]:
    from rtch.deployments import Placing, all_ready, deployments, find_deployment  # noqa: PLC0415  help needs them not

    found = (
        [find_deployment(one) for one in args.deployments]
        if args.deployments
        else [one for one in deployments() if not one.packaged]
    )
    if not found:
        known = ", ".join(one.deployment.name for one in deployments())
        raise IntakeError("no deployment is named, and there is none of your own", hint=f"name one of {known}")
    return all_ready(found, Placing(args.root, tuple(args.saved), args.fleet))


def _list() -> int:
    from rtch.deployments import deployment_paths, read_deployment  # noqa: PLC0415
    from rtch.escape import visible  # noqa: PLC0415

    rows, code = [], 0
    for path in deployment_paths():
        try:
            one = read_deployment(path)
        except IntakeError as error:
            _say(visible(error, lines=True))  # the others are there all the same
            code = error.exit_code
            continue
        rows.append((visible(one.deployment.name), visible(f"{one.deployment.cron} {one.deployment.timezone}"), one))
    widths = [max(len(row[place]) for row in rows) for place in (0, 1)]
    for name, clock, one in rows:
        where = "comes with rtch" if one.packaged else str(one.path)
        text = visible(f"{one.deployment.flow}: {one.deployment.description} ({where})")
        print(f"{name.ljust(widths[0])}  {clock.ljust(widths[1])}  {text}")
    return code


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 256:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 256")
    return int(text)


def _say(text: str) -> None:
    print(f"rtch: {text}", file=sys.stderr, flush=True)
