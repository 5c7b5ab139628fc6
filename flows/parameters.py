"""What the flows are called with: plain values, as a deployment or the UI gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from rtch.entry import Options, Refresh
from rtch.flows.pages import visible
from rtch.intake_io import build_intake
from rtch.models.base import canonical_json
from rtch.models.intake import Intake
from rtch.models.vocab import StageName

GOAL_CHARS = 60


class RunOptions(BaseModel):
    """How a run is carried out; nothing here changes what it finds.

    Not strict, unlike the records between stages: the UI and deployments send JSON.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path | None = Field(default=None, description="The zone root; without it, what is found from the folder.")
    folder: Path | None = Field(default=None, description="The folder to start from and to read paths against.")
    parents: bool = Field(default=True, description="Look for rung markers above the root.")
    cached: bool = Field(default=True, description="Use the artifact store.")
    refresh: list[StageName] = Field(default_factory=list, description="Stages to make again.")
    refresh_all: bool = Field(default=False, description="Make every stage again.")
    own_outputs: list[Path] = Field(default_factory=list, description="Paths in the zone that rtch itself writes.")

    @classmethod
    def of(cls, options: Options, folder: Path) -> RunOptions:
        """Return a session's options as parameters, with every path absolute."""
        return cls(
            root=None if options.root is None else folder / options.root,
            folder=folder,
            parents=options.parents,
            cached=options.cached,
            refresh=sorted(options.refresh.stages),
            refresh_all=options.refresh.everything,
            own_outputs=[folder / path for path in options.own_outputs],
        )

    def for_session(self) -> Options:
        """Return them as a session takes them."""
        return Options(
            root=self.root,
            cwd=self.folder,
            parents=self.parents,
            cached=self.cached,
            refresh=Refresh(everything=self.refresh_all, stages=frozenset(self.refresh)),
            own_outputs=tuple(self.own_outputs),
        )


def intake_values(intake: Intake) -> dict[str, Any]:
    """Return an intake as plain values, without those that are the default anyway."""
    return {"schema_version": intake.schema_version} | intake.model_dump(mode="json", exclude_defaults=True)


def intake_of(values: dict[str, Any]) -> Intake:
    """Read an intake from plain values: one of ours as it is, anything else as a person's request.

    Raises:
        IntakeError: a request is incomplete or contradicts itself.
    """
    if "schema_version" in values:
        return Intake.parse(canonical_json(values))
    return build_intake(values)


def run_name(values: dict[str, Any], options: RunOptions) -> str:
    """Return a flow run's name: the folder it looks at, and the beginning of the goal."""
    block = values.get("intent")
    goal = visible(str((block if isinstance(block, dict) else values).get("goal", "")))
    place = options.root or options.folder
    return (
        f"{zone_name(place) if place else 'zone'}: {goal if len(goal) <= GOAL_CHARS else goal[: GOAL_CHARS - 1] + '…'}"
    )


def zone_name(root: Path) -> str:
    """Return what to call a zone in names and tags."""
    return visible(root.name) or "zone"


def run_tags(intake: Intake, root: Path) -> list[str]:
    """Return the tags of a flow run."""
    return ["rtch", intake.target_profile.value, intake.fanout_level.value, zone_name(root)]
