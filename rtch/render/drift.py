"""A drift report for people: text for a terminal, and Markdown for a comment or a page."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

from rtch.escape import cell, inline, visible
from rtch.models.drift import Anchor, BaselineState, DriftReport, DriftStatus, Finding, Investigation, Level, NotJudged
from rtch.reentry import line_range

_UNANSWERED = frozenset({DriftStatus.BASELINE_TAKEN, DriftStatus.FAILED})
_PACKET_CHARS = len("rtch_packet_") + 12
MOST_ON_A_PAGE = 200
"""Findings that a page tells of; a browser that has to lay out thousands does not."""
_COMMIT_CHARS = 12
_SIGNS = {"was": "-", "is": "+", "next": "next:"}


def as_json(report: DriftReport) -> str:
    """Return the record as JSON."""
    return json.dumps(report.model_dump(mode="json"), indent=2) + "\n"


def human(report: DriftReport) -> str:
    """Return text for a terminal, in which nothing of the tree can move a cursor."""
    parts = ["\n".join(map(visible, _human(one))) for one in report.investigations]
    return "\n\n".join([*parts, *_totals(report)]) + "\n"


def markdown(report: DriftReport) -> str:
    """Return Markdown in which nothing of the tree is markup."""
    parts = ["\n\n".join(_markdown(one)) for one in report.investigations]
    return "\n\n".join([*parts, *_totals(report)]) + "\n"


# What the faces have in common.


def where(place: Anchor) -> str:
    """Return ``path:L10-L12``, ``path:L10`` for one line as commands have it, or the path alone."""
    start, end = place.start_line, place.end_line
    if start is None:
        return place.path
    return f"{place.path}:{f'L{start}' if end in {None, start} else line_range(start, end)}"


def standing(one: Investigation, found: Finding) -> str:
    """Return what became of a finding: ``drifted``, ``note``, ``accepted``, ``suppressed`` or ``absent``."""
    if found.baseline_state is BaselineState.ABSENT:
        return "absent"
    if found.baseline_state is BaselineState.UNCHANGED:
        return "accepted"
    if found.set_aside:
        return "suppressed"
    return "drifted" if one.fails(found) else "note"


def aside(found: Finding) -> str:
    """Return for what reason, and until when, a finding is set aside; or empty text."""
    return ", until ".join(filter(None, (found.set_aside, found.set_aside_until)))


def ending(one: Investigation) -> str:
    """Return why there is no answer, or empty text."""
    if one.status is DriftStatus.FAILED:
        return f"failed: {one.failure or 'no reason was given'}"
    return "nothing was compared: this run took the baseline" if one.status is DriftStatus.BASELINE_TAKEN else ""


def looked(one: Investigation) -> bool:
    """Tell whether anything was checked."""
    n = one.counts
    return any((n.chunks, n.surfaces, n.documents, n.references, n.truth_files, n.keys))


def counted(one: Investigation) -> str:
    """Return what was checked and what came of it, on one line; of what has no answer, no word of drift."""
    n = one.counts
    outcome = [
        f"{n.drifted} drifted" if n.drifted or one.status not in _UNANSWERED else "",
        f"{n.accepted} accepted" if n.accepted else "",
        f"{n.suppressed} suppressed" if n.suppressed else "",
        _n(n.notes, "note") if n.notes else "",
        f"{n.not_judged} not judged" if n.not_judged else "",
    ]
    checked = (
        f"checked {_n(n.chunks, 'chunk')}, {_n(n.surfaces, 'surface')}, {_n(n.references, 'reference')} in "
        f"{_n(n.documents, 'document')}, {_n(n.keys, 'key')} of {_n(n.truth_files, 'truth file')}"
    )
    return ": ".join(filter(None, (checked, ", ".join(filter(None, outcome)))))


def details(found: Finding) -> Iterator[tuple[str, str]]:
    """Yield what is known of a finding besides its message, each by its name."""
    if not _names(found.message, where(found.at)):
        yield "at", where(found.at)
    if found.captured:
        yield "was", found.captured
    if found.found and found.found != found.captured:
        yield "is", found.found
    if found.now and where(found.now) != where(found.at):
        yield "now at", where(found.now)
    since = found.since
    if since:
        told = " ".join(filter(None, (since.id[:_COMMIT_CHARS], since.date, since.author)))
        yield "since", ": ".join(filter(None, (told, since.summary)))
    if found.owners:
        yield "owners", ", ".join(found.owners)
    if found.next_command:
        yield "next", found.next_command


def _names(message: str, place: str) -> bool:
    """Tell whether a message has a place, and not as a part of another one."""
    return re.search(rf"(?<![\w./-]){re.escape(place)}(?![\w/-]|\.\w)", message) is not None


def words(name: str) -> str:
    """Return a member of a closed set as people write it."""
    return name.replace("_", " ")


def _compared(one: Investigation) -> str:
    """Return what was compared with; empty where nothing was."""
    base = one.baseline
    if base is None or ending(one):
        return ""
    return (
        f"{base.packet_id[:_PACKET_CHARS]}, taken {base.taken_at} by {base.taken_by or 'nobody named'}: "
        f"{base.reason or 'no reason was given'}"
    )


def _told_at_length(one: Investigation, found: Finding) -> bool:
    """Tell of a finding that counts, unless it is a note that fails nothing."""
    return one.fails(found) or (found.counts and found.level is not Level.NOTE)


def _tail(one: Investigation, found: Finding) -> str:
    passes = () if one.fails(found) else ("below what fails",)
    return ", ".join((found.kind, found.certainty, found.finding_id, *passes))


def _totals(report: DriftReport) -> list[str]:
    """Return one line on all investigations, worst first; none where there is one alone."""
    of = Counter(one.status for one in report.investigations)
    if not of:
        return ["nothing was investigated"]
    if of.total() == 1:
        return []
    told = ", ".join(f"{of[status]} {words(status)}" for status in reversed(DriftStatus) if of[status])
    return [f"{of.total()} investigations: {told}"]


# For a terminal.


def _human(one: Investigation) -> Iterator[str]:
    yield f"{one.saved} @ {one.zone_name}: {words(one.status)}"
    compared = f"compared with {_compared(one)}" if _compared(one) else ""
    rest = [found for found in one.findings if not _told_at_length(one, found)]
    if ending(one):
        yield f"  {ending(one)}"
    if not (one.findings or one.not_judged or ending(one)):
        yield f"  {'; '.join(filter(None, (counted(one), compared)))}"
        return
    if compared:
        yield f"  {compared}"
    for found in one.findings:
        if _told_at_length(one, found):
            yield _row(found.level, found.message)
            for name, value in details(found):
                yield f"    {_SIGNS.get(name, name)} {value}"
            yield f"    {_tail(one, found)}"
    for found in rest:
        reason = aside(found)
        yield _row(standing(one, found), f"{found.message} ({found.finding_id}){f': {reason}' if reason else ''}")
    for row in one.not_judged:
        yield _row("not judged", f"{row.what}: {row.why}")
    if looked(one) or not ending(one):
        yield f"  {counted(one)}"


def _row(label: str, text: str) -> str:
    return f"  {label:<8} {text}"


# As Markdown: every text but our own is inline code, and each block is one item of what these yield.


def _markdown(one: Investigation) -> Iterator[str]:
    yield f"## {inline(one.saved)} @ {inline(one.zone_name)}: {words(one.status)}"
    if ending(one):
        yield f"No answer: {inline(ending(one))}"
    if _compared(one):
        yield f"Compared with {inline(_compared(one))}"
    every = [found for found in one.findings if _told_at_length(one, found)]
    long = every[:MOST_ON_A_PAGE]
    if long:
        yield "\n".join(["| level | kind | where | what |", "| --- | --- | --- | --- |", *map(_table_row, long)])
    if len(every) > len(long):
        yield f"and {_n(len(every) - len(long), 'finding')} more, which `rtch drift` tells of"
    for found in long:
        yield f"### {inline(where(found.at))}"
        yield "\n".join(f"- {name}: {inline(value)}" for name, value in _all_of(one, found))
    rest = [_aside_item(one, found) for found in one.findings if not _told_at_length(one, found)]
    rest += map(_not_judged_item, one.not_judged)
    if len(rest) > MOST_ON_A_PAGE:
        rest = [*rest[:MOST_ON_A_PAGE], f"- and {len(rest) - MOST_ON_A_PAGE} more"]
    if rest:
        yield "### Notes, what is set aside, and what was not judged"
        yield "\n".join(rest)
    if looked(one) or not ending(one):
        yield counted(one)


def _all_of(one: Investigation, found: Finding) -> Iterator[tuple[str, str]]:
    yield "what", found.message
    yield from (row for row in details(found) if row[0] != "at")
    yield "finding", _tail(one, found)


def _table_row(found: Finding) -> str:
    return f"| {found.level} | {found.kind} | {cell(where(found.at))} | {cell(found.message)} |"


def _aside_item(one: Investigation, found: Finding) -> str:
    reason = f": {inline(aside(found))}" if aside(found) else ""
    return f"- {standing(one, found)}: {inline(found.message)} ({inline(found.finding_id)}){reason}"


def _not_judged_item(row: NotJudged) -> str:
    return f"- not judged: {inline(row.what)}: {inline(row.why)}"


def _n(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
