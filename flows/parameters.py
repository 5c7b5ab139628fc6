"""What the flows are called with: plain values, as a deployment or the UI gives them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from rtch.drift.investigation import Wishes
from rtch.entry import Options, Refresh
from rtch.flows.pages import visible
from rtch.intake_io import build_intake
from rtch.models.base import canonical_json
from rtch.models.baseline import Suppression
from rtch.models.drift import Level
from rtch.models.intake import Intake
from rtch.models.vocab import StageName

GOAL_CHARS = 60
MOST_TAGGED = 20
"""Questions that are tags; a page of runs shows them all with each run."""


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
    allowed_roots: list[Path] = Field(default_factory=list, description="Folders outside the zone for audit logs.")
    with_memory: bool = Field(default=False, description="Tell of the user's memory of the zone.")
    runner: str = Field(default="", description="What carries the tasks: a name, or a Dask scheduler's address.")

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
            allowed_roots=[folder / path for path in options.allowed_roots],
            with_memory=options.with_memory,
            runner=options.runner,
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
            allowed_roots=tuple(self.allowed_roots),
            with_memory=self.with_memory,
            runner=self.runner,
        )


class DriftWishes(BaseModel):
    """What is wanted of an investigation besides looking; a deployment says nothing of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fail_on: Level = Field(default=Level.WARNING, description="The least that counts as drift.")
    accept: str = Field(default="", description="Accept what is found, for this reason.")
    only: list[str] = Field(default_factory=list, description="Accept these findings alone.")
    suppress: dict[str, Any] | None = Field(default=None, description="A suppression, as a baseline holds it.")
    by: str = Field(default="", description="Who asks.")

    @classmethod
    def of(cls, wishes: Wishes) -> DriftWishes:
        """Return an investigation's wishes as parameters."""
        suppress = None if wishes.suppress is None else wishes.suppress.model_dump(mode="json")
        return cls(
            fail_on=wishes.fail_on, accept=wishes.accept, only=list(wishes.only), suppress=suppress, by=wishes.by
        )

    def for_investigation(self) -> Wishes:
        """Return them as an investigation takes them."""
        return Wishes(
            fail_on=self.fail_on,
            accept=self.accept,
            only=tuple(self.only),
            suppress=None if self.suppress is None else Suppression.parse(canonical_json(self.suppress)),
            by=self.by,
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
    return _named(options, str((block if isinstance(block, dict) else values).get("goal", "")))


def drift_run_name(saved: Sequence[str], options: RunOptions) -> str:
    """Return the name of a drift flow's run: the folder it looks at, and the questions."""
    return _named(options, f"drift of {', '.join(map(saved_name, saved))}")


def _named(options: RunOptions, what: str) -> str:
    place, text = options.root or options.folder, visible(what)
    return (
        f"{zone_name(place) if place else 'zone'}: {text if len(text) <= GOAL_CHARS else text[: GOAL_CHARS - 1] + '…'}"
    )


def saved_name(reference: str) -> str:
    """Return what to call a saved intake in names and tags: its file's name without the ending."""
    name = visible(reference.rpartition("/")[2])
    return name.removesuffix(".yaml").removesuffix(".yml").removesuffix(".json") or "question"


def zone_name(root: Path) -> str:
    """Return what to call a zone in names and tags."""
    return visible(root.name) or "zone"


def run_tags(intake: Intake, root: Path) -> list[str]:
    """Return the tags of a flow run."""
    return ["rtch", intake.target_profile.value, intake.fanout_level.value, zone_name(root)]


def drift_tags(saved: Sequence[str], root: Path) -> list[str]:
    """Return the tags of a drift flow's run: its zone and the first of its questions among them."""
    return list(dict.fromkeys(["rtch", "drift", zone_name(root), *map(saved_name, saved[:MOST_TAGGED])]))
