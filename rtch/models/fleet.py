"""What is watched on a schedule: a fleet of zones with their questions, and deployments."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from rtch.models.base import Record

Name = Annotated[str, Field(pattern=r"^\w[\w. -]{0,99}$")]


class FleetZone(Record):
    """A zone, and the saved intakes that are asked of it."""

    root: Annotated[str, Field(min_length=1)]
    """A folder; a relative one is read from the folder of the fleet's file."""
    name: str = ""
    """What to call it; the folder's own name where it is empty."""
    intakes: Annotated[tuple[str, ...], Field(min_length=1)]
    """Names or paths."""


class Fleet(Record):
    """Many zones that are investigated in one run."""

    schema_version: Literal["rtch.fleet/1"] = "rtch.fleet/1"
    name: Name = "fleet"
    zones: Annotated[tuple[FleetZone, ...], Field(min_length=1)]
    workers: Annotated[int, Field(ge=1, le=256)] = 2
    """Investigations at once: the budget of the whole run."""
    runner: str = ""
    """What carries them: a name of ``config/runners.yaml``, or the address of a Dask scheduler."""


class Collision(StrEnum):
    """What becomes of a run that falls due while as many as may be are under way."""

    ENQUEUE = "enqueue"
    CANCEL_NEW = "cancel_new"


class Deployment(Record):
    """A flow that is run by the clock."""

    schema_version: Literal["rtch.deployment/1"] = "rtch.deployment/1"
    name: Name
    flow: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$")]
    """The module path of the flow, such as ``rtch.flows.drift.drift``."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Of the flow; relative paths among them are read from the folder of the deployment's file."""
    cron: str
    timezone: str = "UTC"
    concurrency_limit: Annotated[int, Field(ge=1)] = 1
    """Runs of this deployment at once."""
    collision_strategy: Collision = Collision.CANCEL_NEW
    tags: tuple[str, ...] = ()
    description: str = ""
