"""A drift report as SARIF 2.1.0."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from rtch.escape import visible
from rtch.models.drift import BaselineState, Certainty, DriftReport, DriftStatus, Finding, Level, Place
from rtch.reentry import path_bytes
from rtch.render.drift import ending, standing

_SEMANTIC = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
_RANKS = {Certainty.CERTAIN: 100.0, Certainty.LIKELY: 60.0, Certainty.POSSIBLE: 30.0}
_WEIGHT = {Level.NOTE: 0, Level.WARNING: 1, Level.ERROR: 2}


def sarif(report: DriftReport) -> str:
    """Return one run with all investigations; the same bytes for the same report."""
    runs = report.investigations
    roots = sorted({one.zone_root for one in runs})
    bases = {root: "ZONE" if n == 0 else f"ZONE{n + 1}" for n, root in enumerate(roots)}
    every = [found for one in runs for found in one.findings]
    kinds = sorted({found.kind for found in every})
    notes = [
        {"level": "error" if why.startswith("failed") else "warning", "message": {"text": visible(why)}}
        for one in runs
        for why in (ending(one), *(f"not judged: {row.what}: {row.why}" for row in one.not_judged))
        if why
    ]
    driver: dict[str, Any] = {
        "name": "rtch",
        "version": visible(report.rtch_version) or "unknown",
        "rules": [_rule(kind.value, [found.level for found in every if found.kind is kind]) for kind in kinds],
    }
    if _SEMANTIC.fullmatch(report.rtch_version):
        driver["semanticVersion"] = report.rtch_version
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "rtch/drift/"},
        "originalUriBaseIds": {base: {"uri": _root_uri(root)} for root, base in bases.items()},
        "invocations": [
            {
                "executionSuccessful": all(one.status is not DriftStatus.FAILED for one in runs),
                "toolExecutionNotifications": notes,
            }
        ],
        "results": [
            _result(found, kinds.index(found.kind), bases[one.zone_root]) for one in runs for found in one.findings
        ],
    }
    whole = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(whole, indent=2, sort_keys=True) + "\n"


def _rule(name: str, levels: list[Level]) -> dict[str, Any]:
    words = name.replace("_", " ")
    return {
        "id": name,
        "shortDescription": {"text": words},
        "fullDescription": {"text": f"What was cited or named has drifted from its baseline: {words}."},
        "defaultConfiguration": {"level": max(levels, key=_WEIGHT.__getitem__).value},
    }


def _result(found: Finding, rule: int, base: str) -> dict[str, Any]:
    since = found.since
    row: dict[str, Any] = {
        "ruleId": found.kind.value,
        "ruleIndex": rule,
        "level": found.level.value,
        "message": {"text": visible(found.message) or found.kind.value},
        "locations": [_location(found.now or found.at, base, found.found if found.now else found.captured)],
        "partialFingerprints": {"rtchFindingId/v1": found.finding_id, "rtchState/v1": found.state},
        "baselineState": found.baseline_state.value,
        "rank": _RANKS[found.certainty],
        "properties": {
            "certainty": found.certainty.value,
            "verdict": found.verdict.value if found.verdict else "",
            "owners": [visible(owner) for owner in found.owners],
            "since": visible(f"{since.id} {since.date} {since.author}") if since else "",
            "nextCommand": visible(found.next_command),
            "chunkId": visible(found.chunk_id),
        },
    }
    places = (*((found.at,) if found.now else ()), *found.related)
    if places:
        row["relatedLocations"] = [_location(place, base) for place in places]
    if found.baseline_state is not BaselineState.ABSENT and standing(found) in {"accepted", "suppressed"}:
        reason = visible(found.set_aside) or "accepted"
        row["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    return row


def _location(place: Place, base: str, snippet: str = "") -> dict[str, Any]:
    uri = quote(_bytes(place.path, encoded=place.path_encoded), safe="/")
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri, "uriBaseId": base}}
    if place.start_line is not None:
        region: dict[str, Any] = {"startLine": place.start_line, "endLine": place.end_line or place.start_line}
        if snippet:
            region["snippet"] = {"text": visible(snippet)}
        physical["region"] = region
    return {"physicalLocation": physical}


def _root_uri(root: str) -> str:
    return f"file:///{quote(_bytes(root.strip('/'), encoded=False), safe='/')}/".replace("////", "///")


def _bytes(path: str, *, encoded: bool) -> bytes:
    try:
        return path_bytes(path, encoded=encoded)
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")
