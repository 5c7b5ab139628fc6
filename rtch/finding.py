"""How a finding is made: its level by its kind, its id by what was captured, its state by what is there now."""

from __future__ import annotations

import hashlib
from typing import Any

from rtch.masking import mask
from rtch.models.base import canonical_json
from rtch.models.drift import Anchor, Certainty, DriftKind, Finding, Level

LEVELS = {
    DriftKind.MOVED: Level.NOTE,
    DriftKind.EDITED: Level.WARNING,
    DriftKind.DELETED: Level.ERROR,
    DriftKind.RENAMED: Level.WARNING,
    DriftKind.RELOCATED: Level.WARNING,
    DriftKind.AMBIGUOUS: Level.ERROR,
    DriftKind.DUPLICATED: Level.WARNING,
    DriftKind.DEPRECATED: Level.WARNING,
    DriftKind.SUPERSEDED: Level.WARNING,
    DriftKind.SURFACE_ENTERED: Level.WARNING,
    DriftKind.SURFACE_LEFT: Level.WARNING,
    DriftKind.RANK_CHANGED: Level.NOTE,
    DriftKind.ANSWER_CHANGED: Level.WARNING,
    DriftKind.DANGLING_REFERENCE: Level.WARNING,
    DriftKind.CONTRADICTION: Level.WARNING,
}
"""Errors are what an answer must not be built on any more; notes change nothing that was cited, and never fail."""
EXCERPT_CHARS = 160


def finding(  # noqa: PLR0913  what every finding says
    kind: DriftKind,
    *,
    subject: tuple[str, ...],
    state: tuple[str, ...],
    message: str,
    at: Anchor,
    certainty: Certainty = Certainty.CERTAIN,
    **more: Any,
) -> Finding:
    """Return a finding.

    Args:
        kind: what it is about.
        subject: what names it in every run: paths, captured lines and their digest, a key; no lines of now, no
            number that a packet gave, and no root.
        state: what is there now: digests, values, paths.
        message: one sentence.
        at: the anchor.
        certainty: by what it was made.
        more: other fields of ``Finding``.
    """
    return Finding(
        finding_id=f"drift_{_digest(kind.value, *subject)[:16]}",
        state=_digest(*state),
        kind=kind,
        level=LEVELS[kind],
        certainty=certainty,
        message=message,
        at=at,
        **more,
    )


def excerpt(text: str) -> str:
    """Return the first line of a text that says something, masked and cut to ``EXCERPT_CHARS``."""
    line = next((line.strip() for line in mask(text).text.split("\n") if line.strip()), "")
    return line if len(line) <= EXCERPT_CHARS else f"{line[: EXCERPT_CHARS - 1]}…"


def _digest(*parts: str) -> str:
    return hashlib.sha256(canonical_json(parts)).hexdigest()
