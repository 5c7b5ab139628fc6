"""How ``rtch drift`` writes what it found, and the runs there were."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.escape import visible

if TYPE_CHECKING:
    from rtch.models.baseline import HistoryRow
    from rtch.models.drift import DriftReport


def rendered(report: DriftReport, form: str) -> str:
    """Return a report in one of the formats of the command."""
    if form == "sarif":
        from rtch.render.sarif import sarif  # noqa: PLC0415

        return sarif(report)
    if form == "junit":
        from rtch.render.junit import junit  # noqa: PLC0415

        return junit(report)
    from rtch.render import drift  # noqa: PLC0415

    return {"json": drift.as_json, "markdown": drift.markdown}.get(form, drift.human)(report)


def timeline(saved: str, root: Path, rows: Sequence[HistoryRow], form: str) -> str:
    """Return the runs of a question on a zone, oldest first."""
    if form == "json":
        return "".join(json.dumps(row.model_dump(mode="json"), ensure_ascii=False) + "\n" for row in rows)
    lines = [f"{visible(saved)} @ {visible(root)}: {len(rows)} run{'' if len(rows) == 1 else 's'}"]
    lines += [f"  {row.at}  {row.status.value:<14}  {_told(row)}" for row in rows]
    return "\n".join(lines) + "\n"


def _told(row: HistoryRow) -> str:
    if row.failure:
        return visible(row.failure)
    counts = row.counts
    new = f": {', '.join(row.new[:3])}{' ...' if len(row.new) > 3 else ''}" if row.new else ""
    commit = f"  at {row.commit[:10]}" if row.commit else ""
    return f"{counts.drifted} drifted, {counts.accepted} accepted, {counts.chunks} chunks{commit}{new}"
