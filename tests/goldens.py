"""Texts that are kept as files, byte for byte."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
ACCEPT = "ACCEPT_GOLDEN"


def same_as_golden(name: str, text: str) -> None:
    """Compare with a file below ``golden``; ``ACCEPT_GOLDEN=1`` writes it."""
    place = GOLDEN / name
    if os.environ.get(ACCEPT):
        place.write_text(text, encoding="utf-8", newline="")
    expected = place.read_bytes().decode()
    diff = "\n".join(difflib.unified_diff(expected.split("\n"), text.split("\n"), "golden", "now", lineterm=""))
    assert text == expected, f"{diff}\n{ACCEPT}=1 with this test accepts it"
