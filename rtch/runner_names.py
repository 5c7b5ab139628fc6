"""What carries the tasks of a flow, by name: threads, processes, a Dask cluster; or by a scheduler's address.

Here: everything that needs no Prefect, so that a wrong name is told before a server is started.
"""

from __future__ import annotations

import importlib.util
import os
from typing import Any, NamedTuple

from rtch.errors import IntakeError, ToolError
from rtch.limits import config_yaml
from rtch.nearest import nearest_of

VARIABLE = "RTCH_RUNNER"
AT = "dask_at"
ADDRESS = "tcp://HOST:8786"


class RunnerName(NamedTuple):
    """A task runner that was asked for."""

    name: str
    """A name of ``config/runners.yaml``."""
    address: str
    """Of the scheduler, for ``dask_at``."""
    options: dict[str, Any]
    """What the file says of it."""


def asked_runner(asked: str = "") -> str:
    """Return what was asked for: by a flag or parameter, else by the environment, else nothing."""
    return asked or os.environ.get(VARIABLE, "")


def runner_named(asked: str = "", address: str = "") -> RunnerName:
    """Return the runner of a name; nothing is the one that the configuration has as default.

    Args:
        asked: a name, or the address of a Dask scheduler.
        address: the scheduler's, where a name is asked for.

    Raises:
        IntakeError: there is no runner of that name, or an address is missing or of no use.
        ToolError: a package that it needs is not installed.
    """
    config = config_yaml("runners.yaml")
    known: dict[str, dict[str, Any]] = config["runners"]
    name, at = (AT, asked) if "://" in asked else (asked or config["default"], address)
    if name not in known:
        near = nearest_of(name, list(known))
        hint = f"did you mean {near}?" if near else f"known are {', '.join(known)}, or {ADDRESS}"
        raise IntakeError(f"there is no task runner {name!r}", hint=hint)
    if (name == AT) != bool(at):
        if at:
            raise IntakeError(f"the task runner {name} takes no address, and {at} is given", hint="leave it out")
        raise IntakeError(f"{AT} is asked for without a scheduler's address", hint=f"write {ADDRESS} in its place")
    if name.startswith("dask") and importlib.util.find_spec("prefect_dask") is None:
        raise ToolError(f"the task runner {name} needs prefect-dask", hint="pip install 'rtch[dask]'")
    return RunnerName(name, at, known[name])
