"""A fleet's file: which zones are watched, with which questions."""

from __future__ import annotations

import os
from pathlib import Path

from rtch.errors import IntakeError
from rtch.models.fleet import Fleet
from rtch.runner_names import asked_runner, runner_named
from rtch.written_records import read_record

EXAMPLE = "docs/schedule.md"


def read_fleet(path: Path) -> Fleet:
    """Return the fleet of a file, with every root and every intake that is a file beside it as an absolute path.

    Whether the roots are there is found out by each investigation: one that is gone must not stop the others.

    Raises:
        IntakeError: the file cannot be read, or is no fleet; the message says what, where and the value.
        ToolError: a package that its runner needs is not installed.
    """
    fleet = read_record(path, Fleet, example=EXAMPLE)
    runner_named(asked_runner(fleet.runner))
    folder = path.absolute().parent
    zones = tuple(
        zone.model_copy(
            update={
                "root": str(below(folder, zone.root)),
                "intakes": tuple(placed(folder, one) for one in zone.intakes),
            }
        )
        for zone in fleet.zones
    )
    pairs = [(zone.root, one) for zone in zones for one in zone.intakes]
    twice = next((pair for pair in pairs if pairs.count(pair) > 1), None)
    if twice is not None:
        raise IntakeError(f"{path} asks {twice[1]} of {twice[0]} twice", hint="keep one")
    return fleet.model_copy(update={"zones": zones})


def placed(folder: Path, reference: str) -> str:
    """Return a reference to a file of a folder as its path, and a name as it is."""
    path = below(folder, reference)
    return str(path) if path.is_file() else reference


def below(folder: Path, written: str) -> Path:
    """Return a path that a file says, read from a folder; ``~`` is the user's home."""
    # Not Path.expanduser, which raises where there is no home.
    return Path(os.path.normpath(folder / os.path.expanduser(written)))  # noqa: PTH111
