"""What a good file lends to its neighbours: to what it imports, and to what imports it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rtch.imports import Imports
from rtch.named import Part

LENT = 0.1
LENT_UP_TO = 0.8
"""What an import lends stops short of the lender: a neighbour is no better known than what it stands beside."""
LENDERS = 300
"""Files, best first, whose imports are followed."""


def lend(scored: dict[str, list[Part]], paths: Sequence[str], references: Mapping[str, Sequence[str]]) -> None:
    """Add to each file the most that one neighbour lends it.

    Args:
        scored: the parts of each file; what is lent is added.
        paths: every file of the zone.
        references: what a file imports or includes, as it is written there.
    """
    totals = {path: math.fsum(value for _, value, _ in found) for path, found in scored.items()}
    lent: dict[str, Part] = {}

    def offer(lender: str, borrower: str, name: str, because: str) -> None:
        room = LENT_UP_TO * totals[lender] - totals.get(borrower, 0.0)
        value = min(LENT * totals[lender], room)
        if value > lent.get(borrower, ("", 0.0, ""))[1]:
            lent[borrower] = (name, value, because)

    resolver = Imports(paths)
    for path in sorted(totals, key=lambda one: (-totals[one], one))[:LENDERS]:
        for target in resolver.targets(path, references.get(path, ())):
            if target != path:
                offer(path, target, "imported", f"imported by {path}")
                if target in totals:
                    offer(target, path, "imports", f"imports {target}")
    for path, part in lent.items():
        scored.setdefault(path, []).append(part)
