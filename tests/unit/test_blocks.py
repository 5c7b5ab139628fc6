"""Blocks of a named time or id: rows of a ledger, sections of a document, and nothing between them."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import candidate, hit_of, limits_with, probe_term

sys.path.pop(0)

from rtch.models.vocab import ClaimAuthority, Origin
from rtch.stages.blocks import BlockWindows, merged, named_blocks
from rtch.stages.chunks import SourceFile
from rtch.stages.selecting import Found, Taken
from rtch.stages.windows import Row

MEMORY = "# Memory\n\n## Lessons (tic 4)\n\none\n\n### More\n\nof tic 5\n\n## Lessons (tic 5)\n\ntwo\n"
ROWS = '{"tic": 4}\n' * 6


def taken(path: str, text: str, *hits: tuple[str, int, Origin]) -> Taken:
    limits = limits_with(hydrate={"max_parse_bytes": 1, "parse_budget_bytes": 1}).hydrate
    data = text.encode()
    file = SourceFile(path, False, data, hashlib.sha256(data).hexdigest(), limits, "sha1", may_parse=False)  # noqa: FBT003
    found = [
        Found(hit_of(path, line, name), probe_term(name, origin=origin), "rtch_probe_1", ClaimAuthority.WEAK)
        for name, line, origin in hits
    ]
    return Taken(file, found, [], candidate(path), 1.0)


ID, SEED = Origin.DURABLE_HANDLE, Origin.EXPLICIT_SEED


@pytest.mark.parametrize(
    ("path", "text", "hits", "blocks"),
    [
        ("a.jsonl", ROWS, [("tic 4", 2, ID), ("tic 4", 3, ID), ("tic 4", 6, ID)], [(2, 3), (6, 6)]),
        ("a.jsonl", ROWS, [("tic 4", 2, ID), ("cpr_seal", 5, ID), ("seed", 1, SEED)], [(2, 2)]),
        ("a.jsonl", ROWS, [("cpr_seal", 5, ID), ("word", 1, Origin.EXPLORATORY)], [(5, 5)]),
        ("a.jsonl", ROWS, [("cpr_seal", 5, ID), ("seed", 1, SEED)], []),
        ("a.jsonl", ROWS, [("seed", 1, SEED)], []),
        ("a.md", MEMORY, [("tic 4", 3, ID)], [(3, 10)]),
        ("a.md", MEMORY, [("tic 5", 9, ID)], [(7, 10)]),
        ("a.md", MEMORY, [("tic 5", 9, ID), ("tic 5", 11, ID)], [(7, 13)]),
        ("a.md", MEMORY, [("cpr_seal", 5, ID)], []),
        ("a.py", "x = 1\n" * 3, [("tic 4", 2, ID)], []),
    ],
)
def test_blocks(path: str, text: str, hits: list[tuple[str, int, Origin]], blocks: list[tuple[int, int]]) -> None:
    assert named_blocks(taken(path, text, *hits)) == blocks


def test_spans_that_touch_are_one() -> None:
    assert merged([(5, 6), (1, 2), (3, 3), (9, 9), (5, 7)]) == [(1, 3), (5, 7), (9, 9)]


def test_a_long_block_is_cut_into_windows_and_one_without_a_hit_is_none() -> None:
    windows = BlockWindows([Row(1, "a", 1.0), Row(7, "a", 2.0)], [(1, 9)], 3)
    spans = []
    while (best := windows.best()) is not None:
        spans.append((best.start, best.end))
        windows.take(best.start, best.end)
    assert spans == [(7, 9), (1, 3)]
