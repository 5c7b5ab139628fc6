"""The table of what holds a zone's behaviour names tests that exist, and a test for each row."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent.parent
TABLE = TESTS / "zone_coverage.md"
NAMED = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


def test_each_row_names_tests_that_exist() -> None:
    files = {path.name: path.read_text() for path in TESTS.rglob("test_*.py")}
    rows = [
        line for line in TABLE.read_text().split("\n") if re.match(r"\| (?!---|asked|behaviour \||failure \|)", line)
    ]
    assert len(rows) > 50
    assert [row for row in rows if not NAMED.search(row)] == []
    missing = [
        f"{file}::{name}"
        for file, name in NAMED.findall(TABLE.read_text())
        if f"def {name}(" not in files.get(file, "")
    ]
    assert missing == []
