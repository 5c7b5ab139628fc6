import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.stages.windows import SATURATION, STRUCTURAL, FileWindows, Row, Window, joined, narrowed, snapped


def row(line: int, term: str = "a", pull: float = 1.0, *, structural: bool = False) -> Row:
    return Row(line, term, pull, structural)


def spans(rows: list[Row], lines: int, size: int) -> list[tuple[int, int]]:
    """Take every window that is offered."""
    windows = FileWindows(rows, lines, size)
    taken: list[tuple[int, int]] = []
    while (best := windows.best()) is not None:
        windows.take(best.start, best.end)
        taken.append((best.start, best.end))
    return taken


def test_a_window_holds_the_most_valuable_hits() -> None:
    windows = FileWindows([row(10), row(100, "b", 5.0), row(105, "c", 2.0)], 200, 20)
    assert windows.best() == Window(7.0, 88, 107)


def test_of_equal_windows_a_mention_has_a_little_before_it_and_a_definition_less() -> None:
    assert FileWindows([row(100)], 200, 40).best() == Window(1.0, 88, 127)
    assert FileWindows([row(100, structural=True)], 200, 40).best() == Window(1.0 + STRUCTURAL, 97, 136)
    assert FileWindows([row(100)], 200, 10).best() == Window(1.0, 96, 105)
    assert FileWindows([row(2)], 200, 10).best() == Window(1.0, 1, 10)


def test_a_window_ends_with_the_file() -> None:
    assert FileWindows([row(5)], 6, 40).best() == Window(1.0, 1, 6)


def test_further_hits_of_a_term_add_less_and_structure_adds_once() -> None:
    pair = FileWindows([row(10), row(11)], 50, 40).best()
    named = FileWindows([row(10, structural=True), row(11, structural=True)], 50, 40).best()
    assert pair is not None
    assert named is not None
    assert pair.value == pytest.approx(2 * (SATURATION + 1) / (2 + SATURATION))
    assert named.value == pytest.approx(pair.value + STRUCTURAL)


def test_no_hit_no_window() -> None:
    assert FileWindows([], 100, 40).best() is None
    assert FileWindows([row(1)], 0, 40).best() is None
    assert FileWindows([row(300)], 100, 40).best() is None


def test_words_met_by_reading_add_value_and_are_no_evidence_by_themselves() -> None:
    part = Row(100, "b", 5.0, anchor=False, probed=False)
    assert FileWindows([part], 200, 40).best() is None
    best = FileWindows([part, row(90), row(10)], 200, 40).best()
    assert best is not None
    assert (best.value, best.start <= 90, best.end >= 100) == (6.0, True, True)


def test_a_term_met_by_reading_is_offered_like_a_hit() -> None:
    best = FileWindows([Row(100, "a", 2.0, probed=False)], 200, 40).best()
    assert best is not None
    assert (best.value, best.start <= 100 <= best.end) == (2.0, True)


def test_a_taken_span_is_not_offered_again() -> None:
    windows = FileWindows([row(10), row(30, pull=0.5)], 100, 40)
    windows.take(1, 20)
    assert windows.best() == Window(0.5, 21, 40)
    windows.take(25, 35)
    assert windows.best() is None


def test_a_window_makes_room_for_taken_spans_on_both_sides() -> None:
    windows = FileWindows([row(25)], 100, 40)
    windows.take(20, 23)
    windows.take(28, 60)
    assert windows.best() == Window(1.0, 24, 27)


def test_a_line_right_behind_two_taken_spans_is_still_offered() -> None:
    windows = FileWindows([row(50)], 100, 40)
    windows.take(48, 49)
    windows.take(45, 47)
    assert windows.best() == Window(1.0, 50, 86)


def test_room_around_a_span_ends_at_taken_ones() -> None:
    windows = FileWindows([row(50)], 100, 40)
    assert windows.free_around(40, 60) == (1, 100)
    windows.take(10, 20)
    windows.take(1, 5)
    windows.take(80, 90)
    windows.take(95, 100)
    assert windows.free_around(40, 60) == (21, 79)


@pytest.mark.parametrize(
    ("window", "anchors", "starts", "ends", "bounds", "expected"),
    [
        ((10, 49), (20, 30), [], [], (1, 100, 12), (10, 49)),
        ((10, 49), (20, 30), [15], [], (1, 100, 12), (15, 54)),
        ((10, 49), (20, 30), [5, 12], [], (1, 100, 12), (12, 51)),
        ((10, 49), (20, 30), [8, 12], [], (1, 100, 12), (8, 47)),
        ((10, 49), (20, 30), [21], [], (1, 100, 12), (10, 49)),
        ((20, 59), (30, 40), [7], [], (1, 100, 12), (20, 59)),
        ((20, 59), (30, 40), [9], [], (10, 100, 12), (20, 59)),
        ((10, 49), (20, 30), [], [45], (1, 100, 12), (10, 45)),
        ((10, 49), (20, 30), [], [36], (1, 100, 12), (10, 49)),
        ((10, 49), (20, 46), [], [45], (1, 100, 12), (10, 49)),
        ((10, 49), (20, 30), [5], [42], (1, 47, 12), (5, 42)),
        ((10, 49), (10, 49), [5], [42], (1, 100, 12), (10, 49)),
    ],
    ids=[
        "no structure",
        "start",
        "nearest start",
        "of equal ones the first",
        "never past a hit",
        "too far",
        "never into a taken span",
        "end",
        "end too far",
        "never before a hit",
        "both",
        "hits at both edges",
    ],
)
def test_edges_move_to_structure_that_is_near(  # noqa: PLR0917  a table's columns
    window: tuple[int, int],
    anchors: tuple[int, int],
    starts: list[int],
    ends: list[int],
    bounds: tuple[int, int, int],
    expected: tuple[int, int],
) -> None:
    assert snapped(Window(1.0, *window), anchors, starts, ends, bounds) == expected


@pytest.mark.parametrize(
    ("span", "anchors", "bounds", "expected"),
    [
        ((40, 79), (50, 60), (1, 200, 12), (40, 79)),
        ((10, 49), (20, 30), (1, 200, 12), (1, 40)),
        ((13, 52), (20, 30), (1, 200, 12), (1, 40)),
        ((14, 53), (20, 30), (1, 200, 12), (14, 53)),
        ((10, 49), (20, 41), (1, 200, 12), (10, 49)),
        ((150, 189), (170, 180), (1, 200, 12), (161, 200)),
        ((149, 188), (170, 180), (1, 200, 12), (161, 200)),
        ((148, 187), (170, 180), (1, 200, 12), (148, 187)),
        ((150, 189), (160, 180), (1, 200, 12), (150, 189)),
        ((10, 49), (20, 30), (5, 52, 12), (5, 44)),
        ((10, 49), (20, 41), (5, 52, 12), (5, 44)),
        ((10, 49), (20, 45), (5, 52, 12), (13, 52)),
        ((10, 30), (20, 25), (5, 32, 12), (5, 32)),
        ((5, 44), (5, 44), (5, 44, 12), (5, 44)),
    ],
    ids=[
        "nothing is near",
        "up",
        "as far as it may",
        "too far up",
        "never past a hit",
        "down",
        "as far down as it may",
        "too far down",
        "never past a hit above",
        "up before down",
        "up with all its hits",
        "down where up would lose a hit",
        "a gap that holds no whole span",
        "no room",
    ],
)
def test_a_span_meets_what_was_read_beside_it(
    span: tuple[int, int], anchors: tuple[int, int], bounds: tuple[int, int, int], expected: tuple[int, int]
) -> None:
    assert joined(span, anchors, 40, bounds) == expected


@pytest.mark.parametrize(
    ("span", "line", "size", "expected"),
    [
        ((10, 49), 20, 1, (20, 20)),
        ((10, 49), 20, 2, (19, 20)),
        ((10, 49), 20, 10, (17, 26)),
        ((10, 49), 11, 10, (10, 19)),
        ((10, 49), 49, 10, (40, 49)),
        ((10, 49), 48, 39, (11, 49)),
    ],
)
def test_what_a_budget_leaves_of_a_span_holds_the_line(
    span: tuple[int, int], line: int, size: int, expected: tuple[int, int]
) -> None:
    assert narrowed(span, line, size) == expected


rows = st.lists(
    st.builds(
        Row,
        st.integers(1, 60),
        st.sampled_from("abc"),
        st.sampled_from([0.001, 0.5, 1.0, 3.0]),
        st.booleans(),
    ),
    max_size=12,
)


@given(rows, st.integers(1, 60), st.integers(1, 20))
def test_windows_hold_every_hit_once_within_the_file_and_never_overlap(found: list[Row], lines: int, size: int) -> None:
    taken = spans(found, lines, size)
    covered = [line for start, end in taken for line in range(start, end + 1)]
    assert len(covered) == len(set(covered))
    assert all(1 <= line <= lines for line in covered)
    assert all(end - start < size for start, end in taken)
    assert {one.line for one in found if one.anchor and one.line <= lines} <= set(covered)


@given(rows, st.permutations(range(12)))
def test_the_order_of_hits_does_not_matter(found: list[Row], order: list[int]) -> None:
    assert spans([found[i] for i in order if i < len(found)], 60, 10) == spans(found, 60, 10)


@given(st.integers(1, 50), st.integers(1, 30), st.data())
def test_a_snapped_window_keeps_its_hits_its_size_and_its_room(start: int, size: int, data: st.DataObject) -> None:
    end = start + size - 1
    first = data.draw(st.integers(start, end))
    last = data.draw(st.integers(first, end))
    low, high = data.draw(st.integers(1, start)), data.draw(st.integers(end, 100))
    edges = st.lists(st.integers(1, 100), max_size=6, unique=True).map(sorted)
    new = snapped(Window(1.0, start, end), (first, last), data.draw(edges), data.draw(edges), (low, high, 12))
    assert low <= new[0] <= first <= last <= new[1] <= high
    assert new[1] - new[0] < size


@given(st.integers(1, 50), st.integers(1, 30), st.data())
def test_a_joined_span_keeps_its_hits_its_room_and_its_limit(start: int, length: int, data: st.DataObject) -> None:
    end = start + length - 1
    first = data.draw(st.integers(start, end))
    last = data.draw(st.integers(first, end))
    low, high = data.draw(st.integers(1, start)), data.draw(st.integers(end, 100))
    size = data.draw(st.integers(length, 40))
    new = joined((start, end), (first, last), size, (low, high, data.draw(st.integers(0, 20))))
    assert low <= new[0] <= first <= last <= new[1] <= high
    assert new[1] - new[0] < size
    assert new == (start, end) or new[0] == low or new[1] == high


reading = st.builds(
    Row,
    st.integers(1, 60),
    st.sampled_from("abc"),
    st.sampled_from([0.001, 0.5, 1.0, 3.0]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(reading, max_size=12), st.integers(1, 60), st.integers(1, 20))
def test_a_window_always_holds_what_can_stand_for_a_chunk(found: list[Row], lines: int, size: int) -> None:
    taken = spans(found, lines, size)
    anchors = {one.line for one in found if one.anchor and one.line <= lines}
    assert all(any(start <= line <= end for line in anchors) for start, end in taken)
    assert {line for line in anchors if any(start <= line <= end for start, end in taken)} == anchors


@given(st.integers(1, 50), st.integers(2, 30), st.data())
def test_a_narrowed_span_lies_in_the_span(start: int, size: int, data: st.DataObject) -> None:
    end = start + size - 1
    line, less = data.draw(st.integers(start, end)), data.draw(st.integers(1, size - 1))
    new = narrowed((start, end), line, less)
    assert start <= new[0] <= line <= new[1] <= end
    assert new[1] - new[0] + 1 == less


def test_the_head_of_a_file_is_read_before_a_span_of_the_same_words() -> None:
    same = [Row(line, "tide", 1.0) for line in (20, 200)]
    windows = FileWindows([*same, Row(1, "\0head", 0.7, anchor=False, probed=False)], 400, 40)
    best = windows.best()
    assert best is not None
    assert (best.start, best.value) == (1, 1.7)


ROWS = st.builds(
    Row,
    st.integers(1, 60),
    st.sampled_from("abc"),
    st.sampled_from([0.1, 0.7, 1.3]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(ROWS, max_size=25), st.integers(1, 12))
def test_the_best_window_is_the_best_of_all_that_are_tried(rows: list[Row], size: int) -> None:
    windows = FileWindows(rows, 60, size)
    offers = [windows._offer(start) for start in windows._starts()]
    best = min((offer for offer in offers if offer is not None), default=None)
    assert windows.best() == (None if best is None else best.window)
