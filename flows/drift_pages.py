"""What the Prefect UI is told of an investigation: tables, and the event that automations wait for.

Every cell is rendered as markdown, so text of a tree or an intake is escaped as on the other pages.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rtch.flows.asking import Asked
from rtch.flows.ending import outcome
from rtch.flows.pages import artifact_key, code, inline
from rtch.models.drift import DriftStatus, Finding, Investigation, NotJudged
from rtch.render.drift import where

MOST_ROWS = 500
"""Of one table; the page that shows it lays out each."""
MOST_IDS = 200
"""Findings that an event names; all of them are counted."""
EVENTS = {
    DriftStatus.CLEAN: "rtch.drift.clean",
    DriftStatus.BASELINE_TAKEN: "rtch.drift.baseline_taken",
    DriftStatus.NOT_JUDGED: "rtch.drift.not_judged",
    DriftStatus.DRIFT: "rtch.drift.detected",
    DriftStatus.FAILED: "rtch.drift.failed",
}

Row = dict[str, str | int | float]


def key_of(what: str, asked: Asked) -> str:
    """Return an artifact's key, the same in every run of a question on a zone."""
    which = hashlib.sha256(f"{asked.zone}\0{asked.label}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    made = asked.investigation
    # Not the zone's name: a fleet may call it otherwise.
    return artifact_key(what, made.zone_root.rpartition("/")[2], made.saved, which)


def finding_rows(made: Investigation) -> list[Row]:
    """Return a row for each finding, those that count first, then one for all that was not judged.

    Bounds: ``MOST_ROWS`` and one that counts the rest.
    """
    rows = [_failed(made.failure)] if made.status is DriftStatus.FAILED else []
    rows += [_finding(one) for one in sorted(made.findings, key=lambda one: not one.counts)]
    rows += [_not_judged(one) for one in made.not_judged]
    return _cut(rows)


def fleet_rows(asked: Sequence[Asked], page: str) -> list[Row]:
    """Return a row for each investigation of a fleet.

    Args:
        asked: what came of each.
        page: the address of the UI, for links to what each left there; empty leaves them out.
    """
    return _cut([_investigation(one, page) for one in asked])


def event_of(asked: Asked) -> dict[str, Any]:
    """Return the event that tells what came of an investigation, as ``emit_event`` takes it."""
    made = asked.investigation
    new = [one for one in made.findings if one.counts]
    return {
        "event": EVENTS[made.status],
        "resource": {
            "prefect.resource.id": f"rtch.zone.{asked.zone}",
            "prefect.resource.name": made.zone_name or "zone",
            "rtch.saved": made.saved,
            "rtch.question": asked.label,
        },
        "payload": {
            "saved": made.saved,
            "zone": made.zone_name,
            "zone_root": made.zone_root,
            "status": made.status.value,
            "counts": made.counts.model_dump(mode="json"),
            "levels": dict(sorted(Counter(one.level.value for one in new).items())),
            "findings": [one.finding_id for one in new[:MOST_IDS]],
            "packet_id": made.packet_id,
            "baseline_packet_id": "" if made.baseline is None else made.baseline.packet_id,
            "commit": made.commit,
            "failure": made.failure,
            "exit_code": made.exit_code,
        },
    }


def history_page(ui_url: str, key: str) -> str:
    """Return where the UI shows every artifact that was left under a key."""
    return f"{ui_url}/artifacts/key/{key}"


def _finding(one: Finding) -> Row:
    return {
        "level": one.level.value,
        "kind": one.kind.value,
        "where": code(where(one.at)),
        "what": inline(one.message),
        "state": one.baseline_state.value if one.counts else f"{one.baseline_state.value}: {inline(one.set_aside)}",
        "since": "" if one.since is None else inline(f"{one.since.id[:10]} {one.since.summary}".rstrip()),
        "owner": inline(" ".join(one.owners)),
        "look": code(one.next_command) if one.next_command else "",
        "id": code(one.finding_id),
    }


def _failed(why: str) -> Row:
    return _bare("failed", "the investigation did not come to its end", "", why)


def _not_judged(one: NotJudged) -> Row:
    return _bare("not judged", "", one.what, one.why)


def _bare(level: str, kind: str, where: str, what: str) -> Row:
    row: Row = dict.fromkeys(("level", "kind", "where", "what", "state", "since", "owner", "look", "id"), "")
    return row | {"level": level, "kind": kind, "where": code(where) if where else "", "what": inline(what)}


def _investigation(asked: Asked, page: str) -> Row:
    made = asked.investigation
    name = inline(made.saved)
    return {
        "zone": inline(made.zone_name),
        "question": f"[{name}]({history_page(page, key_of('rtch-drift', asked))})" if page else name,
        "status": made.status.value,
        "drifted": made.counts.drifted,
        "accepted": made.counts.accepted + made.counts.suppressed,
        "not judged": made.counts.not_judged,
        "checked": f"{made.counts.chunks} chunks, {made.counts.surfaces} surfaces",
        "outcome": inline(outcome(made)),
        "seconds": round(made.wall_ms / 1000, 2),
        "root": code(made.zone_root),
    }


def _cut(rows: list[Row]) -> list[Row]:
    left = len(rows) - MOST_ROWS
    if left <= 0:
        return rows
    more: Row = dict.fromkeys(rows[0], "")
    return [*rows[:MOST_ROWS], more | {next(iter(more)): f"{left} more rows are in the report and not here"}]
