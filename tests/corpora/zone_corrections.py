"""Corrections for a governance zone: rows of envelope v1, their receipts, and the ways in which they go wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

LEDGER = "audit-logs/corrections/corrections.jsonl"
RECEIPT = "audit-logs/corrections/receipts/first.json"
OLD_TEXT = "Evidence is read before a claim is made of it"
"""What the generated zone says in the first row of ``PROMOTED_ID``."""
NEW_TEXT = "Evidence is weighed twice, and then a claim is made of it"


def correction(record_id: str, surface: str, patch: Mapping[str, object], **more: object) -> dict[str, object]:
    """Return an authorised correction of one row."""
    return {
        "schema_version": 1, "type": "record_correction", "correction_id": "rc_kiln_reading_tic230",
        "target_record_id": record_id, "target_surface": surface, "literal_correction": "the reading was wrong",
        "reason": "seen at the bench", "effective_at": "2025-03-01T08:00:00Z", "effective_tic": 230,
        "consequence_class": "operational", "lifecycle_state": "authorized", "receipt_path": RECEIPT,
        "patch": dict(patch), "supersedes": [], "reversible": True,
        "source": {"repository": "lantern/federation", "commit": "0" * 40, "surface": surface},
        "authority": {"author_id": "ent_clerk", "authority_class": "maintainer", "authorization_ref": "review 230"},
    } | more  # fmt: skip


def append(root: Path, path: str, *rows: Mapping[str, object] | bytes) -> None:
    """Append rows, or raw bytes, to a ledger."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("ab") as file:
        for row in rows:
            file.write(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n")


IDS = ("rc_kiln_reading_tic230", "rc_other", "rc_0", "rc_1", "rc_2", "rc_half_\ud800")


def receipt(root: Path, path: str = RECEIPT, *, corrections: Sequence[str] = IDS) -> None:
    """Write the receipt of corrections that tests make."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    told = {"type": "migration_receipt", "by": "ent_clerk", "corrections": list(corrections)}
    (root / path).write_text(f"{json.dumps(told)}\n")
