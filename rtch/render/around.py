"""What stands around an artifact, as a table: the same in a packet for people and in a dump."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rtch.escape import cell

if TYPE_CHECKING:
    from rtch.models.complement import RelationalSurface


def relational_surface(around: RelationalSurface) -> Iterator[str]:
    """Yield a section of Markdown: who is served, what to compare with, who looks after it, what is not known."""
    yield "## Relational Surface"
    yield ""
    yield "| Relation | Path | What |"
    yield "|---|---|---|"
    yield f"| artifact | {cell(around.artifact)} | |"
    for one in around.served_party:
        yield f"| served party | {cell(f'{one.path}:L{one.line}' if one.line else one.path)} | {cell(one.why)} |"
    if around.served_party_cut:
        yield f"| served party | {around.served_party_cut} more | |"
    for one in around.comparison_targets:
        yield f"| comparison or merge target | {cell(one.path)} | {cell(one.why)} |"
    for kept in around.maintenance:
        touched = f"last touched {kept.last_touched or 'unknown'} {kept.commit[:12]} {kept.summary}".strip()
        owners = f"owners {', '.join(kept.owners)}" if kept.owners else "no owner is named"
        yield f"| maintenance | {cell(kept.path)} | {cell(f'{touched}; {owners}')} |"
    for public in around.publication:
        what = " ".join(filter(None, (public.status, public.name, public.version, public.says)))
        yield f"| publish status | {cell(public.manifest)} | {cell(what)} |"
    for why in around.unknown:
        yield f"| unknown | | {cell(why)} |"
    yield ""
