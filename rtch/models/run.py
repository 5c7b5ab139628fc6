"""The record of a run: whatever of a packet is no function of tree, intake and configuration."""

from __future__ import annotations

from pydantic import Field

from rtch.models.base import Record
from rtch.models.complement import Complement
from rtch.models.vocab import Engine, StageName


class StageTiming(Record):
    """How a stage came about in this run."""

    stage: StageName
    key: str
    cached: bool
    wall_ms: float


class HandoffRecord(Record):
    """What became of the packet's packaging."""

    dump_path: str
    argv: tuple[str, ...]
    exit_code: int | None
    """Of the consolidator; None where none was run, or it did not come to its end."""
    left_out: tuple[str, ...] = ()
    """Selected surfaces that ``argv`` does not name, percent-encoded: their path bytes are not UTF-8."""
    withheld: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Surfaces that ``argv`` does not name for another reason, such as a correction of their rows, each with why."""
    consolidated_path: str = Field(default="", exclude_if=lambda value: not value)
    """What the consolidator wrote, where it succeeded."""
    failure: str = Field(default="", exclude_if=lambda value: not value)
    """Why the consolidator did not succeed, in one sentence."""


class RunRecord(Record):
    """Whatever is no function of tree, intake and configuration; never part of the packet's id."""

    rtch_version: str
    engine: Engine
    zone_root: str
    repo_root: str
    cwd: str
    commit: str = ""
    branch: str = ""
    index_differs: tuple[str, ...] = ()
    """Hydrated paths whose bytes are not those in git's index."""
    stages: tuple[StageTiming, ...] = ()
    """Empty where nothing had changed since the last direct run, so that no stage had to be asked."""
    flow_run_id: str = ""
    flow_run_url: str = ""
    persisted_at: str = ""
    handoff: HandoffRecord | None = None
    complement: Complement | None = Field(default=None, exclude_if=lambda value: value is None)
    """Where the goal decides what becomes of an artifact: what stands around that artifact."""
