"""The record of a run: whatever of a packet is no function of tree, intake and configuration."""

from __future__ import annotations

from rtch.models.base import Record
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
    left_out: tuple[str, ...] = ()
    """Selected surfaces that ``argv`` does not name, percent-encoded: their path bytes are not UTF-8."""


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
