"""``rtch up``, ``rtch down`` and ``rtch status``: the local Prefect server and its UI."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING

from rtch.errors import ToolError

if TYPE_CHECKING:
    from rtch.server import Server


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the three commands."""
    up = subparsers.add_parser(
        "up",
        help="start the local Prefect server and its UI",
        description="Start a Prefect server with its UI on loopback, in the background; say where when it answers.",
    )
    up.add_argument(
        "--timeout", type=_seconds, default=120.0, metavar="SECONDS", help="how long to wait for it (default: 120)"
    )
    down = subparsers.add_parser(
        "down",
        help="stop the local Prefect server",
        description="Stop the server that rtch started. That none runs is no error.",
    )
    status = subparsers.add_parser(
        "status",
        help="tell whether the local Prefect server is up",
        description="Tell where the server is. Exit 0: it answers. Exit 1: it does not.",
    )
    for parser in (up, status):
        parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    up.set_defaults(func=run, action="up")
    down.set_defaults(func=run, action="down")
    status.set_defaults(func=run, action="status")


def run(args: argparse.Namespace) -> int:
    """Run one of the three; the address goes to stdout, what happened to stderr."""
    match args.action:
        case "up":
            return _up(args.timeout, args.format)
        case "down":
            return _down()
        case _:
            return _status(args.format)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds between 0 and 86400")
    return value


def _up(timeout_s: float, form: str) -> int:
    from rtch import server as servers  # noqa: PLC0415  pydantic is loaded by the command that needs it

    try:
        server, started = servers.bring_up(timeout_s)
    except ToolError as error:
        if error.stderr:
            _say(error.stderr)
        raise
    _say(f"rtch: {'started' if started else 'already up'}, pid {server.pid}, home {server.home}")
    _print(server, "up", form)
    return 0


def _down() -> int:
    from rtch import server as servers  # noqa: PLC0415  pydantic is loaded by the command that needs it

    _say("rtch: the Prefect server is stopped" if servers.down() else "rtch: no Prefect server of rtch's is running")
    return 0


def _status(form: str) -> int:
    from rtch import server as servers  # noqa: PLC0415  pydantic is loaded by the command that needs it

    configured = os.environ.get("PREFECT_API_URL", "").strip()
    if configured:
        _say(f"rtch: PREFECT_API_URL is set, so runs go to {configured}")
    server = servers.current()
    if server is None:
        _print(None, "down", form)
        return 1
    up = servers.answers(server)
    _print(server, "up" if up else "starting", form)
    return 0 if up else 1


def _print(server: Server | None, state: str, form: str) -> None:
    if form == "json":
        record = {} if server is None else server.model_dump(mode="json")
        print(json.dumps({"state": state, "up": state == "up"} | record, indent=2))
    elif server is None:
        print("down")
    elif state == "up":
        print(f"up  {server.ui_url}  (pid {server.pid}, API {server.api_url})")
    else:
        print(f"{state}  pid {server.pid} does not answer on port {server.port} yet")


def _say(text: str) -> None:
    print(text, file=sys.stderr)
