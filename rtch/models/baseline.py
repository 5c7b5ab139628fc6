"""What was accepted of a saved question on a zone: records that people read, and commit if they like."""

from __future__ import annotations

from typing import Literal

from rtch.models.base import Count, Digest, Record
from rtch.models.drift import DriftCounts, DriftKind, DriftStatus
from rtch.models.packet import Packet


class Accepted(Record):
    """A finding that somebody accepted as it was."""

    finding_id: str
    state: Digest
    kind: DriftKind
    path: str
    message: str
    reason: str
    by: str
    at: str


class Suppression(Record):
    """What shall not count until a day: one finding, or all that are of a kind or below a path.

    Every part that is given has to match; at least one is.
    """

    finding_id: str = ""
    kind: DriftKind | None = None
    paths: str = ""
    """A glob in which ``**`` crosses folders."""
    until: str
    """The last day on which it holds, ISO 8601 (UTC)."""
    reason: str
    by: str
    at: str


class BaselineHead(Record):
    """What a baseline says before its packet."""

    schema_version: Literal["rtch.baseline/1"] = "rtch.baseline/1"
    saved: str
    zone_root: str
    taken_at: str
    taken_by: str
    reason: str
    accepted: tuple[Accepted, ...] = ()
    suppressions: tuple[Suppression, ...] = ()


class Baseline(BaselineHead):
    """The packet that a saved question is compared with, whole, and what was accepted since."""

    packet: Packet


class HistoryRow(Record):
    """One run, kept for good: also one that failed, for a missing run is no clean one."""

    schema_version: Literal["rtch.drift_history/1"] = "rtch.drift_history/1"
    at: str
    saved: str
    zone_root: str
    status: DriftStatus
    packet_id: str = ""
    baseline_packet_id: str = ""
    commit: str = ""
    counts: DriftCounts = DriftCounts()
    new: tuple[str, ...] = ()
    """The ids of findings that count."""
    failure: str = ""
    exit_code: Count = 0
    flow_run_id: str = ""
    wall_ms: float = 0.0
