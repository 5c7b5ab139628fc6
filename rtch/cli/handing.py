"""The flags of a handoff, and what is said of one: shared by the commands that make a dump."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtch.handoff.consolidator import Consolidator
    from rtch.models.run import HandoffRecord

FAILED = 5
"""The exit code where a consolidator did not succeed; packet and dump are there all the same."""


def add_handoff_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say what goes into a dump and which consolidator is run."""
    parser.add_argument(
        "--whole-files",
        action="store_true",
        help="dump the selected surfaces whole, as they are now, and not in chunks",
    )
    parser.add_argument(
        "--consolidate-command", metavar="COMMAND",
        help="run this consolidator on the surfaces; default: consolidate_command of config.yaml in rtch's data folder",
    )  # fmt: skip
    parser.add_argument(
        "--consolidate-timeout", type=float, metavar="SECONDS", help="how long it may take (default: 120)"
    )


def given(args: argparse.Namespace) -> str:
    """Return the first handoff flag that was given; empty where none was."""
    flags = {
        "--whole-files": args.whole_files,
        "--consolidate-command": args.consolidate_command is not None,
        "--consolidate-timeout": args.consolidate_timeout is not None,
    }
    return next((name for name, was_given in flags.items() if was_given), "")


def consolidator_of(args: argparse.Namespace, zone: Path) -> Consolidator | None:
    """Return the consolidator that the command line or the user's own configuration names.

    Args:
        args: with the flags.
        zone: the zone root, in which no configuration may lie.

    Raises:
        IntakeError: it is named wrongly.
    """
    from rtch import home  # noqa: PLC0415
    from rtch.errors import IntakeError  # noqa: PLC0415
    from rtch.handoff.consolidator import (  # noqa: PLC0415
        TIMEOUT_S,
        consolidator_configured,
        consolidator_named,
    )

    timeout_s = TIMEOUT_S if args.consolidate_timeout is None else args.consolidate_timeout
    if not 0 < timeout_s < 1e6:
        raise IntakeError(f"--consolidate-timeout {timeout_s:g} is no number of seconds above 0")
    if args.consolidate_command is not None:
        return consolidator_named(args.consolidate_command, Path.cwd(), timeout_s)
    return consolidator_configured(home.data_dir(), zone, timeout_s)


def tell(record: HandoffRecord) -> None:
    """Say on stderr what became of a handoff, beyond the dump's path."""
    from rtch import handoff  # noqa: PLC0415

    told = [handoff.complaint(record.left_out)]
    if record.withheld:
        told.append(f"{len(record.withheld)} surfaces are no targets: {'; '.join(record.withheld)}")
    if record.consolidated_path:
        told.append(f"consolidated at {record.consolidated_path}")
    told.append(record.failure)
    for one in filter(None, told):
        from rtch.escape import visible  # noqa: PLC0415

        print(f"rtch: {visible(one)}", file=sys.stderr)
