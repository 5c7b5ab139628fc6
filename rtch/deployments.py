"""Deployments: flows that are run by the clock, as files describe them; found, checked, and made fit for any folder.

Here: everything that needs no Prefect, so that a mistake is told before a server is started. Who serves them is
``flows.schedule``.
"""

from __future__ import annotations

import os
import zoneinfo
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rtch import cron, home
from rtch.drift.questions import questions
from rtch.entry import Options, starting_folder
from rtch.errors import IntakeError
from rtch.fleets import below, placed, read_fleet
from rtch.intake_files import saved_intakes
from rtch.models.fleet import Deployment
from rtch.nearest import nearest_of
from rtch.workspace import find_root
from rtch.written_records import read_record

EXAMPLE = "docs/schedule.md"
DRIFT = "rtch.flows.drift.drift"
FLEET = "rtch.flows.fleet.fleet"
HYDRATE = "rtch.flows.hydrate.hydrate"
_PACKAGED = Path(__file__).parent / "config" / "deployments"
_SUFFIXES = ("", ".yaml", ".yml", ".json")


class DeploymentFile(NamedTuple):
    """A deployment, and where it lies."""

    deployment: Deployment
    path: Path
    packaged: bool = False


class Placing(NamedTuple):
    """What a command line puts in the place of a deployment's parameters."""

    root: Path | None = None
    saved: tuple[str, ...] = ()
    fleet: Path | None = None


def find_deployment(reference: str) -> DeploymentFile:
    """Return the deployment that a path or a name leads to: the user's own before those that come with rtch.

    Raises:
        IntakeError: there is none, or its file is wrong.
    """
    path = Path(reference)
    if path.is_file():
        return read_deployment(path)
    if os.sep not in reference and reference not in {"", ".", ".."}:
        for folder in _folders():
            for candidate in (folder / f"{reference}{suffix}" for suffix in _SUFFIXES):
                if candidate.is_file():
                    return read_deployment(candidate)
    names = [one.stem for one in deployment_paths()]
    near = nearest_of(reference, names)
    hint = f"did you mean {near}?" if near else f"known are {', '.join(names)}"
    raise IntakeError(f"there is no deployment {reference!r}: no such file, and none of that name", hint=hint)


def deployments() -> tuple[DeploymentFile, ...]:
    """Return the user's own deployments by name, then those that come with rtch.

    Raises:
        IntakeError: the file of one is wrong.
    """
    return tuple(read_deployment(path) for path in deployment_paths())


def all_ready(found: Sequence[DeploymentFile], placing: Placing) -> tuple[Deployment, ...]:
    """Return deployments that run in whatever folder, each with what of the command line its flow takes.

    Raises:
        IntakeError: as ``ready``; or no flow takes a flag, or two have one name.
        ZoneError: there is no readable root.
    """
    names = [one.deployment.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise IntakeError(f"two of the deployments are called {twice}", hint="serve one of them")
    flows = {one.deployment.flow for one in found}
    for flag, value, takers in (
        ("--root", placing.root, {DRIFT, HYDRATE}),
        ("--saved", placing.saved, {DRIFT}),
        ("--fleet", placing.fleet, {FLEET}),
    ):
        if value and not flows & takers:
            raise IntakeError(f"{flag} is given, and none of {', '.join(names)} takes it", hint="leave it out")
    return tuple(ready(one, placing) for one in found)


def ready(found: DeploymentFile, placing: Placing) -> Deployment:
    """Return a deployment that runs in whatever folder: its zone, questions and files as absolute paths.

    Args:
        found: as it was read.
        placing: what the command line says instead.

    Raises:
        IntakeError: a question or a fleet file is missing or wrong.
        ZoneError: there is no readable root.
    """
    one = found.deployment
    # Those that come with rtch lie where nobody keeps files of their own.
    folder = home.data_dir() if found.packaged else found.path.absolute().parent
    given = dict(one.parameters)
    if one.flow in {DRIFT, HYDRATE}:
        given["options"] = _options(given.get("options"), folder, placing.root, one.name)
    if one.flow == DRIFT:
        given |= _questions(given, folder, placing)
    if one.flow == FLEET:
        path = placing.fleet.absolute() if placing.fleet else below(folder, str(given.get("path", "")))
        read_fleet(path)
        given["path"] = str(path)
    return one.model_copy(update={"parameters": given})


def _options(written: Any, folder: Path, root: Path | None, name: str) -> dict[str, Any]:
    if not isinstance(written, dict | None):
        raise IntakeError(f"parameters.options of {name} is no mapping")
    options = dict(written or {})
    for field in ("root", "folder"):
        if options.get(field):
            options[field] = str(below(folder, str(options[field])))
    named = root.absolute() if root else Path(options["root"]) if options.get("root") else None
    options["root"] = str(find_root(starting_folder(Options(root=named)), named).root)
    return options


def _questions(given: dict[str, Any], folder: Path, placing: Placing) -> dict[str, Any]:
    if placing.saved:
        saved = [placed(Path.cwd(), one) for one in placing.saved]
    else:
        written = given.get("saved") or []
        if not isinstance(written, list) or not all(isinstance(one, str) for one in written):
            raise IntakeError("parameters.saved is no list of names")
        saved = [placed(folder, one) for one in written]
    if not saved and not any(not one.packaged for one in saved_intakes()):
        raise IntakeError(
            "no saved intake is named, and none is saved", hint="name one with --saved, or rtch intake new --save NAME"
        )
    questions(saved)
    if given.get("baseline"):
        return {"saved": saved, "baseline": str(below(folder, str(given["baseline"])))}
    return {"saved": saved}


def read_deployment(path: Path) -> DeploymentFile:
    """Return the deployment of a file.

    Raises:
        IntakeError: it cannot be read, or its clock is wrong; the message says what, where and the value.
    """
    deployment = read_record(path, Deployment, example=EXAMPLE)
    wrong = cron.complaint(deployment.cron)
    if wrong:
        raise IntakeError(f"{path}: cron {deployment.cron!r} is wrong: {wrong}")
    known = zoneinfo.available_timezones()
    if deployment.timezone not in known:
        near = nearest_of(deployment.timezone, sorted(known))
        raise IntakeError(
            f"{path}: timezone {deployment.timezone!r} is not known",
            hint=f"did you mean {near}?" if near else "write it as Europe/Vienna",
        )
    return DeploymentFile(deployment, path, packaged=path.parent == _PACKAGED)


def deployment_paths() -> list[Path]:
    """Return the files of the user's own deployments by name, then of those that come with rtch."""
    return [
        path
        for folder in _folders()
        for path in sorted(folder.glob("*"))
        if path.suffix in _SUFFIXES[1:] and path.is_file()
    ]


def _folders() -> tuple[Path, ...]:
    own = home.locations().data
    return (_PACKAGED,) if own is None else (own / "deployments", _PACKAGED)
