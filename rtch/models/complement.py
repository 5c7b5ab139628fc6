"""What stands around an artifact whose keeping is to be decided, for the closure check of ``/complement``."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from rtch.models.base import Count, LineNumber, Record


class Criterion(StrEnum):
    """A part of the relational surface."""

    SERVED_PARTY = "served_party"
    COMPARISON_TARGET = "comparison_target"
    LAST_TOUCHED = "last_touched"
    OWNER = "owner"
    PUBLISH_STATUS = "publish_status"


class Related(Record):
    """A surface that stands in a relation to the artifact."""

    path: str
    path_encoded: bool = False
    line: LineNumber | None = None
    why: str
    re_entry_command: str


class Maintenance(Record):
    """Who looks after a path, and since when nobody has."""

    path: str
    last_touched: str = ""
    """ISO 8601; empty where it is not known or in no commit."""
    commit: str = ""
    summary: str = ""
    owners: tuple[str, ...] = ()
    owners_from: str = ""
    """The CODEOWNERS file that says so."""


class Publication(Record):
    """What a package manifest says of being published."""

    manifest: str
    status: Literal["private", "publishable", "unsaid"]
    name: str = ""
    version: str = ""
    says: str = ""
    """The words of the manifest that the status follows from."""


class RelationalSurface(Record):
    """An artifact's relations; each list by how near, and cut ones are counted."""

    artifact: str
    served_party: tuple[Related, ...]
    """Surfaces that name the artifact: whoever would miss it."""
    served_party_cut: Count = 0
    comparison_targets: tuple[Related, ...]
    """What it would be merged with or held against."""
    maintenance: tuple[Maintenance, ...]
    publication: tuple[Publication, ...]
    unknown: tuple[str, ...] = ()
    """What could not be told, and why."""


class Complement(Record):
    """The block that the closure check takes; what is decided there is null here."""

    timestamp: str
    tic: int | None
    mode: Literal["origin-shape"] = "origin-shape"
    """The decision has not landed: the check is of its shape at the origin."""
    decision: None = None
    centroid: str
    active_ray: str
    complement_candidate: str
    scope: str
    structural_criteria_met: tuple[Criterion, ...]
    structural_criteria_open: tuple[Criterion, ...]
    user_response: None = None
    outcome: None = None
    relational_surface: RelationalSurface
