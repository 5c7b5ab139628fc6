import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import candidate, hit_of, limits_with, probe_term, seed

sys.path.pop(0)

from rtch.limits import HydrateLimits
from rtch.models.vocab import ClaimAuthority
from rtch.stages.bearing import Mark
from rtch.stages.chunks import SourceFile
from rtch.stages.selecting import Found, Taken
from rtch.stages.spending import FLOOR, REST_WINDOWS, Spend, Spending

TERM = seed("settle")
WINDOW, GLIMPSE = 40, 12


def limits(**numbers: int) -> HydrateLimits:
    """Return limits without structure: nothing is parsed."""
    plain = {"window_lines": WINDOW, "glimpse_lines": GLIMPSE, "max_parse_bytes": 1, "parse_budget_bytes": 1}
    return limits_with(hydrate=plain | numbers).hydrate


def found(line: int, *, pull: float = 1.0, structural: bool = False) -> Found:
    hit = hit_of("a.txt", line, structural=structural)
    return Found(hit, probe_term(pull=pull), "rtch_probe_1", ClaimAuthority.CLAIM_SUPPORTING)


def met(line: int, *, pull: float = 1.0, whole: bool = True, token: str = "settle") -> Mark:
    return Mark(line, token, pull, TERM if whole else None)


def taken(
    lines: int | str, hits: Sequence[Found] = (), marks: Sequence[Mark] = (), *, path: str = "a.txt", share: float = 1.0
) -> Taken:
    """Return a file as selection hands it over; of a number, that many lines."""
    data = (lines if isinstance(lines, str) else "x\n" * lines).encode()
    digest = hashlib.sha256(data).hexdigest()
    file = SourceFile(path, False, data, digest, limits(), "sha1", may_parse=False)  # noqa: FBT003
    return Taken(file, list(hits), list(marks), candidate(path), share)


def spent(
    files: Sequence[Taken], budget: int = 2000, *, whole: str | None = None, **numbers: int
) -> list[tuple[int, int, int]]:
    """Return (place, first line, last line) of each span, best first."""
    return [(one.place, one.start, one.end) for one in spending(files, budget, whole=whole, **numbers)[1]]


def spending(
    files: Sequence[Taken], budget: int = 2000, *, whole: str | None = None, **numbers: int
) -> tuple[Spending, list[Spend]]:
    made = Spending(files, limits(**numbers), budget)
    return made, made.spans(whole)


# The first windows


def test_the_best_surfaces_get_a_window_and_the_others_a_glimpse() -> None:
    files = [taken(600, [found(300)], path=f"{i}.txt", share=0.1) for i in range(3)]
    assert spent(files, full_windows=2) == [(0, 288, 327), (1, 288, 327), (2, 295, 306)]


def test_of_a_surface_the_best_window_comes_first() -> None:
    assert spent([taken(600, [found(100), found(300, pull=3.0)])], 40) == [(0, 288, 327)]


def test_a_surface_that_was_read_alone_gets_its_window_too() -> None:
    (span,) = spent([taken(600, [], [met(300)])])
    assert span[1] <= 300 <= span[2]


def test_a_surface_without_a_hit_in_it_gets_none() -> None:
    assert spent([taken(600, [], [met(300, whole=False)]), taken("", [found(1)])]) == []


# The rest of the budget


def test_the_rest_goes_to_the_worthiest_windows_wherever_they_lie() -> None:
    first = taken(2000, [found(100), found(500, pull=0.9), found(900, pull=0.5)], path="a.txt")
    second = taken(2000, [found(100), found(500, pull=0.9), found(900)], path="b.txt", share=0.8)
    order = spent([first, second], 40 * 4)
    assert [(place, start) for place, start, _ in order] == [(0, 88), (0, 488), (1, 88), (1, 888)]


def test_a_window_of_hardly_any_worth_is_left_unread() -> None:
    pulls = (1.0, FLOOR * 1.1, FLOOR * 0.9)
    made, spans = spending([taken(2000, [found(100 + 300 * i, pull=pull) for i, pull in enumerate(pulls)])])
    assert [one.start for one in spans] == [88, 388]
    assert made.left == 2000 - 80


def test_each_surface_has_its_first_window_however_little_it_is_worth() -> None:
    assert len(spent([taken(600, [found(300)]), taken(600, [found(300)], path="b.txt", share=0.01)])) == 2


def test_the_windows_of_a_file_are_bounded() -> None:
    assert len(spent([taken(2000, [found(line) for line in range(1, 2000, 100)])], chunks_per_file=3)) == 3


@pytest.mark.parametrize("budget", [1, 2, 39, 40, 41, 79, 80, 81])
def test_a_budget_is_spent_to_the_line_and_no_further(budget: int) -> None:
    made, spans = spending([taken(2000, [found(line) for line in (300, 700, 1100)])], budget)
    assert sum(one.end - one.start + 1 for one in spans) == budget
    assert made.left == 0
    assert all(any(one.start <= line <= one.end for line in (300, 700, 1100)) for one in spans)


def test_what_little_is_left_of_a_budget_goes_to_the_definition() -> None:
    assert spent([taken(600, [found(300), found(320, structural=True)])], 3) == [(0, 318, 320)]


# Whole files


@pytest.mark.parametrize(
    ("lines", "at", "numbers", "budget", "whole"),
    [
        (150, (20, 130), {}, 2000, True),
        (200, (20, 130), {}, 2000, False),
        (150, (20, 130), {"whole_file_lines": 149}, 2000, False),
        (150, (20, 130), {}, 149, False),
        (150, (20, 130), {}, 150, True),
        (150, (20, 30), {}, 2000, False),
    ],
    ids=["short", "too much is left of it", "too long", "too little budget", "just enough", "one window"],
)
def test_a_short_file_is_read_to_its_end_with_its_second_window(
    lines: int, at: tuple[int, int], numbers: dict[str, Any], budget: int, *, whole: bool
) -> None:
    spans = spent([taken(lines, [found(line) for line in at])], budget, **numbers)
    assert (spans == [(0, 1, lines)]) is whole


def test_three_windows_at_most_are_read_to_complete_a_file() -> None:
    most = WINDOW + REST_WINDOWS * WINDOW
    assert spent([taken(most, [found(20), found(150)])]) == [(0, 1, most)]
    assert len(spent([taken(most + 1, [found(20), found(150)])])) == 2


def test_a_file_behind_the_best_is_not_completed() -> None:
    files = [taken(150, [found(20), found(130)], path=f"{i}.txt") for i in range(2)]
    assert [one for one in spent(files, full_windows=1) if one[0] == 0] == [(0, 1, 150)]
    assert len([one for one in spent(files, full_windows=1) if one[0] == 1]) == 2


def test_a_completed_file_costs_each_line_once() -> None:
    made, spans = spending([taken(150, [found(20), found(130)])])
    assert (len(spans), made.left) == (1, 2000 - 150)


def test_the_target_is_read_from_end_to_end_and_stands_first() -> None:
    files = [taken(600, [found(300, pull=9.0)]), taken(450, [found(3)], path="t.txt", share=0.5)]
    assert spent(files, whole="t.txt") == [(1, 1, 450), (0, 288, 327)]


def test_the_whole_target_takes_nothing_from_the_worth_of_other_windows() -> None:
    files = [taken(450, [found(3)], path="t.txt"), taken(2000, [found(300), found(900)], path="a.txt", share=0.1)]
    assert spent(files, whole="t.txt") == [(0, 1, 450), (1, 288, 327), (1, 888, 927)]


def test_a_target_that_the_budget_does_not_hold_is_read_around_its_hit() -> None:
    assert spent([taken(450, [found(300)], path="t.txt")], 10, whole="t.txt") == [(0, 297, 306)]


# What a window may be made of


@pytest.mark.parametrize("text", ["settle", "\n", "settle\r\n" * 3, "\ufeffsettle", "x" * 100_000, "a\rb\rsettle"])
def test_odd_files_have_windows_within_them(text: str) -> None:
    file = taken(text, [found(1)])
    for place, start, end in spent([file]):
        assert (place, start) == (0, 1)
        assert end <= len(file.file.lines)


def test_the_gap_between_two_spans_is_not_left_out() -> None:
    made, spans = spending([taken(2000, [found(300), found(345)])])
    assert [(one.start, one.end) for one in spans] == [(288, 327), (328, 367)]
    assert made.left == 2000 - 80


# Laws

files_of_lines = st.builds(
    lambda lines, hits, marks, share: (lines, hits, marks, share),
    st.integers(0, 260),
    st.lists(st.tuples(st.integers(1, 260), st.sampled_from([0.0, 0.01, 1.0, 3.0]), st.booleans()), max_size=6),
    st.lists(st.tuples(st.integers(1, 260), st.sampled_from([0.01, 1.0, 3.0]), st.booleans()), max_size=8),
    st.sampled_from([0.0, 0.05, 0.5, 1.0]),
)


def built(rows: Sequence[tuple[Any, ...]], *, backwards: bool = False) -> list[Taken]:
    step = -1 if backwards else 1
    return [
        taken(
            lines,
            [found(line, pull=pull, structural=structural) for line, pull, structural in hits][::step],
            [met(line, pull=pull, whole=whole, token=f"t{line % 3}") for line, pull, whole in marks][::step],
            path=f"{i}.txt",
            share=share,
        )
        for i, (lines, hits, marks, share) in enumerate(rows)
    ]


@given(
    st.lists(files_of_lines, max_size=4),
    st.integers(1, 400),
    st.fixed_dictionaries(
        {
            "window_lines": st.integers(12, 40),
            "glimpse_lines": st.integers(1, 12),
            "stretch_lines": st.integers(1, 12),
            "full_windows": st.integers(1, 3),
            "chunks_per_file": st.integers(1, 4),
            "whole_file_lines": st.integers(1, 260),
        }
    ),
    st.sampled_from([None, "0.txt", "1.txt"]),
)
def test_spans_lie_apart_within_their_files_the_limits_and_the_budget(
    rows: list[tuple[Any, ...]], budget: int, numbers: dict[str, Any], whole: str | None
) -> None:
    files = built(rows)
    whole = next((one.file.path for one in files if one.file.path == whole and len(one.file.lines)), None)
    made, spans = spending(files, budget, whole=whole, **numbers)
    covered = [(one.place, line) for one in spans for line in range(one.start, one.end + 1)]
    assert len(covered) == len(set(covered)) == budget - made.left <= budget
    assert [one.worth for one in spans] == sorted((one.worth for one in spans), reverse=True)
    for place, file in enumerate(files):
        own = [one for one in spans if one.place == place]
        anchors = {one.hit.line for one in file.found} | {mark.line for mark in file.marks if mark.term}
        total = len(file.file.lines)
        assert len(own) <= numbers["chunks_per_file"]
        for span in own:
            is_whole = (span.start, span.end) == (1, total) and total <= numbers["whole_file_lines"]
            assert 1 <= span.start <= span.end <= total
            assert span.end - span.start < numbers["window_lines"] or is_whole or file.file.path == whole
            assert file.file.path == whole or any(span.start <= line <= span.end for line in anchors)
    backwards = spending(built(rows, backwards=True), budget, whole=whole, **numbers)[1]
    assert spans == backwards
