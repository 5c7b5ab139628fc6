"""Finding edited text again by what it quotes, and never choosing between equals."""

from __future__ import annotations

from pathlib import Path

import pytest
from citing import cited
from making import plant

from rtch.anchors import Lines
from rtch.models.chunk import Chunk
from rtch.quotes import ALIKE, NEAR, alike, find_quote, quote_of

BEFORE = ["import sys", "", "def open_gate(river, level):", "    return river.raise_to(level)", ""]
BODY = [
    "def settle(route, ledger):",
    "    total = route.total()",
    "    for berth in route.berths:",
    "        ledger.charge(berth, total)",
    "    return ledger.close(total)",
]
AFTER = ["", "def close_gate(river):", "    river.lower()", ""]
OTHER = [
    "class Harbour(Base):",
    '    """Holds berths."""',
    "    name: str",
    "    def __init__(self, name):",
    "        self.name = name.strip()",
]


def chunk_of(tmp_path: Path, lines: list[str], start: int, end: int) -> Chunk:
    return cited(plant(tmp_path, {"a.py": "\n".join(lines) + "\n"}), "a.py", start, end)


def settle(tmp_path: Path) -> Chunk:
    return chunk_of(tmp_path, [*BEFORE, *BODY, *AFTER], 6, 10)


def found(chunk: Chunk, now: list[str]) -> list[tuple[int, int, bool]]:
    return [(*one.lines, one.sure) for one in find_quote(now, quote_of(chunk))]


def renamed(lines: list[str], old: str, new: str) -> list[str]:
    return [line.replace(old, new) for line in lines]


@pytest.mark.parametrize(
    ("body", "end"),
    [
        (renamed(BODY, "berth", "quay"), 10),
        (renamed(renamed(BODY, "route", "path"), "ledger", "book"), 10),
        ([*BODY[:2], "    log.info(total)", *BODY[2:]], 11),
        ([BODY[0], *BODY[2:]], 9),
        (["def settle_all(routes, ledger):", *BODY[1:]], 10),
        ([*BODY[:-1], "    ledger.close()"], 10),
        ([f"    {line}" for line in BODY], 10),
    ],
    ids=["a word", "two words", "a line more", "a line less", "the first line", "the last line", "indented"],
)
def test_an_edit_is_found_with_its_edges(tmp_path: Path, body: list[str], end: int) -> None:
    assert found(settle(tmp_path), [*BEFORE, *body, *AFTER]) == [(6, end, True)]


def test_an_edit_is_found_wherever_it_went(tmp_path: Path) -> None:
    edited = renamed(BODY, "total", "sum")
    assert found(settle(tmp_path), [*OTHER, "", *BEFORE, *AFTER, *edited]) == [(16, 20, True)]


def test_no_line_needs_to_be_as_it_was(tmp_path: Path) -> None:
    edited = [f"{line}  # {n}" for n, line in enumerate(renamed(BODY, "total", "sum"))]
    assert found(settle(tmp_path), [*OTHER, *edited, *OTHER]) == [(6, 10, True)]


@pytest.mark.parametrize("now", [OTHER, [*BEFORE, *OTHER, *AFTER], [""], ["}"] * 50, []])
def test_what_is_not_like_it_is_not_found(tmp_path: Path, now: list[str]) -> None:
    assert found(settle(tmp_path), now) == []


def test_equals_are_all_told(tmp_path: Path) -> None:
    edited = renamed(BODY, "total", "sum")
    now = [*OTHER, "", *edited, "", *OTHER, "", *edited, "", *OTHER]
    assert sorted(found(settle(tmp_path), now)) == [(7, 11, True), (19, 23, True)]
    assert len(found(settle(tmp_path), [*OTHER, "", *edited, "", *renamed(edited, "charge", "charged")])) == 2


def test_one_that_is_clearly_better_is_taken(tmp_path: Path) -> None:
    near, far = renamed(BODY, "total", "sum"), renamed(renamed(BODY, "ledger", "a"), "route", "many_things_to_do")
    places = find_quote([*OTHER, *far, *OTHER, *near], quote_of(settle(tmp_path)))
    assert [one.lines for one in places] == [Lines(16, 20)]
    assert places[0].alike > ALIKE + NEAR


def test_lines_around_it_tell_equals_apart(tmp_path: Path) -> None:
    around = [["def first_of_all():", "    x = 1", "    y = 2", ""], ["class Quay:", "    x = 1", "    y = 2", ""]]
    chunk = chunk_of(tmp_path, [*around[0], *around[1]], 6, 7)
    edited = [[one[0], "    x = 100", "    y = 2", ""] for one in around]
    assert found(chunk, [*OTHER, *edited[0], *edited[1]]) == [(11, 12, True)]


def test_only_the_lines_within_are_looked_at(tmp_path: Path) -> None:
    edited = renamed(BODY, "total", "sum")
    now = [*edited, "", *OTHER, "", *edited]
    places = find_quote(now, quote_of(settle(tmp_path)), within=Lines(8, len(now)))
    assert [one.lines for one in places] == [Lines(13, 17)]


def test_one_line_is_found_by_what_surrounds_it(tmp_path: Path) -> None:
    lines = ["alpha: first", "beta: second", "limit: 40", "gamma: third"]
    chunk = chunk_of(tmp_path, lines, 3, 3)
    assert found(chunk, ["zero: none", *lines[:2], "limit: 45", lines[3]]) == [(4, 4, True)]


def test_edges_that_are_gone_are_not_made_up(tmp_path: Path) -> None:
    now = ["x = 1", "y = 2", "# a comment on nothing", *BODY[1:-1], "raise Unknown", "z = 3"]
    places = find_quote(now, quote_of(settle(tmp_path)), enough=50)
    assert [one.sure for one in places] == [False]


def test_a_secret_is_compared_masked(tmp_path: Path) -> None:
    secret = 'token = "ghp_' + "a1B2c3D4e5F6" * 3 + '"'
    chunk = chunk_of(tmp_path, ["# keys", secret, "timeout_in_seconds = 30", "# end"], 2, 3)
    assert chunk.masked
    assert found(chunk, [*OTHER, "# keys", secret, "timeout_in_seconds = 31", "# end"]) == [(7, 8, True)]


def test_many_equal_lines_and_long_ones_cost_little(tmp_path: Path) -> None:
    chunk = settle(tmp_path)
    now = ["    return ledger.close(total)", "x" * 1_000_000, ""] * 3000
    assert [one for one in find_quote(now, quote_of(chunk)) if one.alike > 90] == []


def test_likeness_is_a_share_of_what_both_have() -> None:
    assert alike(["one", "two"], ["  one", "two\t"]) == 100
    assert alike(["abcd"], ["wxyz"]) == 0
    many = [f"line {n} of a long text that is compared by lines" for n in range(1000)]
    assert alike(many, [*many[:500], *(["new"] * 500)]) == 50
