"""What differs between two packets, for people: as lines, or as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rtch.escape import inline, visible

if TYPE_CHECKING:
    from rtch.models.packet_diff import ChangedChunk, ChangedValue, PacketDiff, PlacedChunk

_SHOWN_DIGITS = 12
"""Of a digest: enough to tell two of one packet apart."""


def to_human(diff: PacketDiff) -> str:
    """Return the differences as lines below a title a kind; one line where there are none."""
    if diff.same:
        return f"the same: {diff.before}\n"
    lines = [f"before {diff.before}", f"after  {diff.after}"]
    for title, rows in _sections(diff):
        lines += ["", f"{title}:", *(f"  {row}" for row in rows)]
    return "\n".join(lines) + "\n"


def to_markdown(diff: PacketDiff) -> str:
    """Return the same as a Markdown page, what comes from the tree in inline code."""
    lines = ["# Packet diff", "", f"- before: `{diff.before}`", f"- after: `{diff.after}`"]
    if diff.same:
        lines += ["", "The packets are the same."]
    for title, rows in _sections(diff):
        lines += ["", f"## {title.capitalize()}", "", *(f"- {inline(row)}" for row in rows)]
    return "\n".join(lines) + "\n"


def _sections(diff: PacketDiff) -> Iterator[tuple[str, list[str]]]:
    sections = (
        ("surfaces entered", [f"{visible(row.path)} (rank {row.rank})" for row in diff.surfaces_entered]),
        ("surfaces left", [f"{visible(row.path)} (rank {row.rank})" for row in diff.surfaces_left]),
        (
            "surfaces moved",
            [f"{visible(row.path)} (rank {row.rank_before} -> {row.rank_after})" for row in diff.surfaces_moved],
        ),
        ("chunks added", [_span(row) for row in diff.chunks_added]),
        ("chunks removed", [_span(row) for row in diff.chunks_removed]),
        ("chunks with other text", [_span(row) for row in diff.chunks_changed]),
        ("criteria", [_value(row) for row in diff.criteria]),
        ("halting", [_value(row) for row in diff.halting]),
        ("state of the tree", [_value(row, digits=_SHOWN_DIGITS) for row in diff.state]),
        ("fields that differ", [visible(name) for name in diff.fields]),
    )
    yield from ((title, rows) for title, rows in sections if rows)


def _span(row: PlacedChunk | ChangedChunk) -> str:
    return f"{visible(row.path)}:L{row.start_line}-L{row.end_line}"


def _value(row: ChangedValue, *, digits: int | None = None) -> str:
    before, after = ("none" if side is None else visible(side[:digits]) for side in (row.before, row.after))
    return f"{visible(row.name)}: {before} -> {after}"
