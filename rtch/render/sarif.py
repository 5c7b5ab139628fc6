"""A drift report as SARIF 2.1.0: a run for each investigation, within the bounds of those who take such files."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from rtch.escape import visible
from rtch.finding import LEVELS
from rtch.models.drift import (
    Anchor,
    Certainty,
    DriftKind,
    DriftReport,
    DriftStatus,
    Finding,
    Investigation,
    Level,
)
from rtch.reentry import path_bytes
from rtch.render.drift import aside, ending, standing, words

MOST_RUNS = 20
"""In a file; GitHub refuses one with more."""
MOST_RESULTS = 5_000
"""In a file; GitHub shows no more of a run, refuses one of 25,000, and a file above 10 MB compressed."""
MOST_NOTIFICATIONS = 100
"""Of what was not judged, in a run; one more counts the rest."""
MOST_RELATED = 100
"""Places of a result besides its own; GitHub shows no more."""
MOST_CHARS = 1_000
"""Of any text."""

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_BASE = "ZONE"
_SEMANTIC = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?", re.ASCII)
_LINK_OR_PLACEHOLDER = re.compile(r"(?<=\])(?=\()|(?<=\{)(?=\d)")
_RANKS = {Certainty.CERTAIN: 100.0, Certainty.LIKELY: 60.0, Certainty.POSSIBLE: 30.0}
_SAYS = {
    DriftKind.MOVED: "The cited lines stand at other lines of their file.",
    DriftKind.EDITED: "The cited lines are edited.",
    DriftKind.DELETED: "The cited lines are gone.",
    DriftKind.RENAMED: "The cited file is gone, and its text stands in one that was not there.",
    DriftKind.RELOCATED: "The cited text stands in another file.",
    DriftKind.AMBIGUOUS: "The cited text stands in several places, and none is the one.",
    DriftKind.DUPLICATED: "The cited text stands in a second place.",
    DriftKind.DEPRECATED: "What is cited bears a mark of deprecation that it did not.",
    DriftKind.SUPERSEDED: "What is cited bears a mark that something takes its place.",
    DriftKind.SURFACE_ENTERED: "The answer names a file that it did not.",
    DriftKind.SURFACE_LEFT: "The answer names a file no more.",
    DriftKind.RANK_CHANGED: "The answer names its files in another order.",
    DriftKind.ANSWER_CHANGED: "The criteria hold, or do not, otherwise than they did.",
    DriftKind.DANGLING_REFERENCE: "A document names what is not there.",
    DriftKind.CONTRADICTION: "Truth files state different values of one key.",
}
_REMEDY = "What is right as it is: rtch drift SAVED --accept REASON --only ID."


def sarif(report: DriftReport) -> str:
    """Return the same bytes for the same report.

    Bounds: ``MOST_RUNS``, ``MOST_RESULTS`` and the others; what is left out is counted in a notification.
    """
    every, worst = report.investigations, list(DriftStatus)[::-1]
    ranked = sorted(range(len(every)), key=lambda i: worst.index(every[i].status))
    kept = [every[i] for i in sorted(ranked[:MOST_RUNS])]
    shares = _shares([len(one.findings) for one in kept], MOST_RESULTS)
    driver = _driver(report.rtch_version)
    runs = [
        _run(one, share, name, driver) for one, share, name in zip(kept, shares, _automation_ids(kept), strict=True)
    ]
    left_out = len(every) - len(kept)
    if left_out:
        why = f"{left_out} of {len(every)} investigations are left out of this file, which may hold {MOST_RUNS}"
        runs[0]["invocations"][0]["toolExecutionNotifications"].insert(0, _notification(Level.ERROR, why))
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": runs}, indent=2, sort_keys=True) + "\n"


def _driver(version: str) -> dict[str, Any]:
    return _given(
        name="rtch",
        version=_text(version) or "unknown",
        semanticVersion=version if _SEMANTIC.fullmatch(version) else "",
    )


def _run(one: Investigation, share: int, automation_id: str, driver: dict[str, Any]) -> dict[str, Any]:
    first = sorted(one.findings, key=lambda found: (not one.fails(found), not found.counts))[:share]
    kinds = sorted({found.kind for found in first})
    return {
        "tool": {"driver": driver | {"rules": [_rule(kind) for kind in kinds]}},
        "automationDetails": _given(id=automation_id, description=_given(text=_message(one.goal))),
        "originalUriBaseIds": {_BASE: {"uri": _root_uri(one.zone_root)}},
        "invocations": [
            {
                "executionSuccessful": one.status is not DriftStatus.FAILED,
                "exitCode": one.exit_code,
                "toolExecutionNotifications": list(_notifications(one, len(one.findings) - len(first))),
            }
        ],
        "results": [_result(one, found, kinds.index(found.kind)) for found in first],
        "properties": _given(
            status=one.status.value,
            baselinePacket=_text(one.baseline.packet_id) if one.baseline else "",
            packet=_text(one.packet_id),
            commit=_text(one.commit),
        ),
    }


def _notifications(one: Investigation, left_out: int) -> Iterator[dict[str, Any]]:
    if ending(one):
        yield _notification(Level.ERROR if one.status is DriftStatus.FAILED else Level.NOTE, ending(one))
    if left_out:
        yield _notification(Level.WARNING, f"{left_out} of {len(one.findings)} findings are left out of this file")
    for row in one.not_judged[:MOST_NOTIFICATIONS]:
        yield _notification(Level.WARNING, f"not judged: {row.what}: {row.why}")
    more = len(one.not_judged) - MOST_NOTIFICATIONS
    if more > 0:
        yield _notification(Level.WARNING, f"not judged: {more} more")


def _notification(level: Level, text: str) -> dict[str, Any]:
    return {"level": level.value, "message": {"text": _message(text)}}


def _rule(kind: DriftKind) -> dict[str, Any]:
    return {
        "id": kind.value,
        "shortDescription": {"text": words(kind)},
        "fullDescription": {"text": _SAYS[kind]},
        "help": {"text": f"{_SAYS[kind]} {_REMEDY}"},
        "defaultConfiguration": {"level": LEVELS[kind].value},
    }


def _result(one: Investigation, found: Finding, rule: int) -> dict[str, Any]:
    since = found.since
    related = _unlike([_location(place) for place in (*((found.at,) if found.now else ()), *found.related)])
    suppressed = standing(one, found) in {"accepted", "suppressed"}
    return {
        "ruleId": found.kind.value,
        "ruleIndex": rule,
        "level": found.level.value,
        "message": {"text": _message(found.message) or found.kind.value},
        "locations": [_location(found.now or found.at, found.found if found.now else found.captured)],
        "partialFingerprints": {"rtchFindingId/v1": _text(found.finding_id), "rtchState/v1": found.state},
        "baselineState": found.baseline_state.value,
        "rank": _RANKS[found.certainty],
        "properties": _given(
            certainty=found.certainty.value,
            verdict=found.verdict.value if found.verdict else "",
            owners=[_text(owner) for owner in found.owners if owner],
            since={name: _text(text) for name, text in since.model_dump().items() if text} if since else {},
            nextCommand=_text(found.next_command),
            chunkId=_text(found.chunk_id),
            relatedLeftOut=max(0, len(related) - MOST_RELATED),
        ),
    } | _given(
        relatedLocations=related[:MOST_RELATED],
        suppressions=[_suppression(found)] if suppressed else [],
    )


def _suppression(found: Finding) -> dict[str, str]:
    return {"kind": "external", "status": "accepted", "justification": _text(aside(found)) or "no reason was given"}


def _location(place: Anchor, snippet: str = "") -> dict[str, Any]:
    uri = quote(_bytes(place.path, encoded=place.path_encoded), safe="/")
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri, "uriBaseId": _BASE}}
    if place.start_line is not None:
        physical["region"] = {"startLine": place.start_line, "endLine": place.end_line or place.start_line} | _given(
            snippet=_given(text=_text(snippet))
        )
    return {"physicalLocation": physical}


def _unlike(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without those that are as an earlier one: the standard takes these lists for sets."""
    return list({json.dumps(row, sort_keys=True): row for row in rows}.values())


def _automation_ids(kept: Sequence[Investigation]) -> list[str]:
    """Return what tells each analysis from the others, the same in every report.

    Zones of one name in one report are told apart by a digest of their roots; one that is asked twice, by a number.
    """
    names = Counter((one.zone_name, one.saved) for one in kept)
    ids: list[str] = []
    for one in kept:
        zone, saved = (quote(_text(name), safe="") or "-" for name in (one.zone_name, one.saved))
        if names[one.zone_name, one.saved] > 1:
            zone += f"-{hashlib.sha256(one.zone_root.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
        forms = (f"rtch/drift/{zone}/{saved}{n}/" for n in ("", *map("-{}".format, range(2, len(kept) + 2))))
        ids.append(next(form for form in forms if form not in ids))
    return ids


def _shares(sizes: Sequence[int], total: int) -> list[int]:
    """Return how much of each fits into a total: the small ones whole, the others as much as each other."""
    shares = list(sizes)
    for n, i in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[i] = min(sizes[i], total // (len(sizes) - n))
        total -= shares[i]
    return shares


def _given(**members: Any) -> dict[str, Any]:
    """Return the members that say something."""
    return {name: value for name, value in members.items() if value}


def _message(text: str) -> str:
    """Return text in which nothing is a link or waits for an argument, as ``[a](b)`` and ``{0}`` of a message do."""
    return _text(_LINK_OR_PLACEHOLDER.sub(" ", text))


def _text(text: str) -> str:
    shown = visible(text[: MOST_CHARS + 1])
    return shown if len(shown) <= MOST_CHARS else f"{shown[: MOST_CHARS - 1]}…"


def _root_uri(root: str) -> str:
    path = quote(_bytes(root.strip("/"), encoded=False), safe="/")
    return f"file:///{path}/" if path else "file:///"


def _bytes(path: str, *, encoded: bool) -> bytes:
    try:
        return path_bytes(path, encoded=encoded)
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")
