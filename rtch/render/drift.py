"""A drift report for people: text for a terminal, and Markdown for a comment or a page."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rtch.escape import cell, inline, visible
from rtch.models.drift import BaselineState, DriftReport, DriftStatus, Finding, Investigation, Level, Place
from rtch.reentry import line_range


def as_json(report: DriftReport) -> str:
    """Return the record as JSON."""
    return json.dumps(report.model_dump(mode="json"), indent=2) + "\n"


def human(report: DriftReport) -> str:
    """Return text for a terminal, in which nothing of the tree can move a cursor."""
    return "\n\n".join("\n".join(map(visible, _human(one))) for one in report.investigations) + "\n"


def markdown(report: DriftReport) -> str:
    """Return Markdown in which nothing of the tree is markup."""
    return "\n\n".join("\n".join(_markdown(one)) for one in report.investigations) + "\n"


def where(place: Place) -> str:
    """Return ``path:L10-L12``, or the path alone."""
    if place.start_line is None:
        return place.path
    return f"{place.path}:{line_range(place.start_line, place.end_line or place.start_line)}"


def fails(found: Finding) -> bool:
    """Tell whether a finding counts and is more than a note."""
    return found.counts and found.level is not Level.NOTE


def standing(found: Finding) -> str:
    """Return what became of a finding: ``drifted``, ``note``, ``accepted``, ``suppressed`` or ``absent``."""
    if found.baseline_state is BaselineState.ABSENT:
        return "absent"
    if found.baseline_state is BaselineState.UNCHANGED:
        return "accepted"
    if found.set_aside:
        return "suppressed"
    return "drifted" if fails(found) else "note"


def counted(one: Investigation) -> str:
    """Return what was checked and what came of it, on one line."""
    n = one.counts
    looked = (
        f"{_n(n.chunks, 'chunk')}, {_n(n.surfaces, 'surface')}, {_n(n.references, 'reference')} in "
        f"{_n(n.documents, 'document')}, {_n(n.keys, 'key')} of {_n(n.truth_files, 'truth file')}"
    )
    return (
        f"checked {looked}: {n.drifted} drifted, {n.accepted} accepted, {n.suppressed} suppressed, "
        f"{_n(n.notes, 'note')}, {n.not_judged} not judged"
    )


def ending(one: Investigation) -> str:
    """Return why there is no answer, or empty text."""
    if one.status is DriftStatus.FAILED:
        return f"failed: {one.failure or 'no reason was given'}"
    return "nothing was compared: there was no baseline" if one.status is DriftStatus.BASELINE_TAKEN else ""


def _compared(one: Investigation) -> str:
    base = one.baseline
    if base is None or ending(one):
        return ""
    return f", compared with {base.packet_id} taken at {base.taken_at} by {base.taken_by} because {base.reason}"


def _human(one: Investigation) -> Iterator[str]:
    yield f"{one.saved} @ {one.zone_name}: {one.status}{_compared(one)}"
    if ending(one):
        yield f"  {ending(one)}"
    for found in filter(fails, one.findings):
        yield f"  {found.level} {found.kind} {where(found.at)}: {found.message}"
        for name, value in _details(found):
            yield f"    {name}: {value}"
    for found in one.findings:
        if not fails(found):
            yield f"  {standing(found)}: {found.message} ({found.finding_id}){_aside(found)}"
    for row in one.not_judged:
        yield f"  not judged: {row.what}: {row.why}"
    if not ending(one):
        yield f"  {counted(one)}"


def _markdown(one: Investigation) -> Iterator[str]:
    yield f"## {inline(one.saved)} @ {inline(one.zone_name)}: {str(one.status).replace('_', ' ')}"
    if one.baseline and not ending(one):
        base = one.baseline
        yield f"\nCompared with {inline(base.packet_id)} taken at {inline(base.taken_at)} by {inline(base.taken_by)}"
        yield f"because {inline(base.reason)}"
    if ending(one):
        yield f"\n{inline(ending(one))}"
        return
    failing = [found for found in one.findings if fails(found)]
    if failing:
        yield "\n| level | kind | where | what | certainty |\n| --- | --- | --- | --- | --- |"
        for found in failing:
            place, message = cell(where(found.at)), cell(found.message)
            yield f"| {found.level} | {found.kind} | {place} | {message} | {found.certainty} |"
    for found in failing:
        yield f"\n### {inline(where(found.at))}\n"
        for name, value in _details(found):
            yield f"- {name}: {inline(value)}"
    rest = [found for found in one.findings if not fails(found)]
    if rest or one.not_judged:
        yield ""
    for found in rest:
        yield f"- {standing(found)}: {inline(found.message + _aside(found))} {inline(found.finding_id)}"
    for row in one.not_judged:
        yield f"- not judged: {inline(row.what)}: {inline(row.why)}"
    yield f"\n{counted(one)}"


def _details(found: Finding) -> Iterator[tuple[str, str]]:
    if found.captured:
        yield "captured", found.captured
    if found.now:
        yield "now at", where(found.now)
    if found.found:
        yield "there now", found.found
    yield "certainty", found.certainty.value
    if found.since:
        yield "since", f"{found.since.id[:12]} {found.since.date} {found.since.author}".rstrip()
    if found.owners:
        yield "owners", ", ".join(found.owners)
    if found.next_command:
        yield "next", found.next_command
    yield "id", found.finding_id


def _aside(found: Finding) -> str:
    until = f" until {found.set_aside_until}" if found.set_aside_until else ""
    return f": {found.set_aside}{until}" if found.set_aside else ""


def _n(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
