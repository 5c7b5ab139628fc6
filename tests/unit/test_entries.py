"""Entries of Markdown ledgers that a later one of their id overtook."""

from __future__ import annotations

import hashlib

import pytest

from rtch.limits import load_limits
from rtch.own_words import load_rules
from rtch.stages.chunks import SourceFile
from rtch.stages.entries import Entries

RULES = load_rules()


def told(text: str) -> list[tuple[int, str, int, int]]:
    """Return which lines are overtaken: the line, the id, and the lines of the entry that counts."""
    data = text.encode()
    file = SourceFile(
        path="kiln-ledger/ledger.md", encoded=False, data=data, sha256=hashlib.sha256(data).hexdigest(),
        limits=load_limits().hydrate, object_format="sha1", may_parse=False,
    )  # fmt: skip
    found = Entries(file, RULES).overtaken(range(1, text.count("\n") + 1))
    return [(line, one.row.record_id, one.by.line, one.by.end) for line, one in found.items()]


@pytest.mark.parametrize(
    "heading",
    ["CPR-17 \u2014 Glaze", "CPR-17 - Glaze", "CPR-17: Glaze", "[CPR-17] \u2013 Glaze", "`CPR-17`", "CPR-17"],
)
def test_a_later_entry_of_the_same_id_overtakes_an_earlier_one(heading: str) -> None:
    text = (
        f"# Ledger\n\n## {heading}\n\nDip twice.\n\n## CPR-18 \u2014 Wick\n\nTrim.\n\n## CPR-17 \u2014 Glaze\n\nOnce.\n"
    )
    assert told(text) == [(line, "CPR-17", 11, 13) for line in (3, 4, 5, 6)]


def test_an_anchor_is_an_id() -> None:
    entry = '## Glaze before firing{0}\n<a id="glaze"></a>\n\nText.\n\n'
    assert told(entry.format("") + entry.format(", again")) == [(line, "#glaze", 6, 10) for line in range(1, 6)]


@pytest.mark.parametrize(
    "text",
    [
        "## Notes\n\na\n\n## Notes\n\nb\n",
        "## Glaze - once\n\na\n\n## Glaze - twice\n\nb\n",
        "## CPR-17 - Glaze\n\na\n\n### CPR-17: why\n\nb\n",
        "## CPR-17 Glaze\n\na\n\n## CPR-171 - Glaze\n\nb\n",
        "plain\n",
    ],
)
def test_equal_titles_and_parts_of_an_entry_overtake_nothing(text: str) -> None:
    assert told(text) == []


def test_a_terminal_entry_is_not_revived_by_a_pending_one() -> None:
    done = "## CPR-1 - a\n<!-- ledger-tags: rung=site | status=promoted -->\n\n"
    pending = "## CPR-1 - a\n\n**Status:** extracted\n\n"
    assert told(done + pending) == [(line, "CPR-1", 1, 3) for line in (4, 5, 6, 7)]
    assert told(pending + done) == [(line, "CPR-1", 5, 7) for line in (1, 2, 3, 4)]
