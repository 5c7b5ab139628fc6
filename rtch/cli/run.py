"""``rtch run``: a saved intake as a Prefect flow, on the server that is up, configured or started for it."""

from __future__ import annotations

import argparse

from rtch.cli import hydrate
from rtch.cli.flags import add_intake_flags
from rtch.models.vocab import Engine


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "run",
        help="run a saved intake as a Prefect flow",
        description="Run a saved intake as a Prefect flow, print the packet, and say on stderr where its run is.",
        allow_abbrev=False,
    )
    add_intake_flags(parser)
    hydrate.add_run_flags(parser)
    parser.add_argument(
        "--runner", default="", metavar="NAME",
        help="what carries the tasks: threads, processes, dask, or a Dask scheduler's address; default: RTCH_RUNNER",
    )  # fmt: skip
    parser.set_defaults(func=hydrate.run, engine=Engine.PREFECT.value)
