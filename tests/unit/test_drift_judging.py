"""Which findings count, and in which order; what a changed order of surfaces is told as."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import combinations
from typing import Any

import drift_samples
import pytest
import samples as sample
from hypothesis import given
from hypothesis import strategies as st

from rtch.drift.compared import _longest_growing, compared
from rtch.drift.judging import added, counted, holds, judged, status_of
from rtch.models.baseline import Baseline, Suppression
from rtch.models.drift import BaselineState, DriftCounts, DriftKind, DriftStatus, Level
from rtch.models.packet import Packet
from rtch.models.vocab import HaltingReason

TODAY = date(2030, 1, 15)


def suppression(**given_: object) -> Suppression:
    plain = {"until": "2030-02-01", "reason": "r", "by": "ada", "at": "", "finding_id": "", "kind": None, "paths": ""}
    return Suppression.model_validate(plain | given_)


def baseline(*rows: Suppression) -> Baseline:
    return Baseline(
        saved="q", zone_root="/z", taken_at="", taken_by="", reason="", packet=sample.packet(), suppressions=rows
    )


@pytest.mark.parametrize(
    ("paths", "path", "found"),
    [
        ("src/pay.py", "src/pay.py", True),
        ("src/*", "src/pay.py", True),
        ("*", "src/pay.py", False),
        ("**", "src/pay.py", True),
        ("**/pay.py", "src/pay.py", True),
        ("**/pay.py", "pay.py", True),
        ("src/**", "src/a/b/pay.py", True),
        ("src/p?y.py", "src/pay.py", True),
        ("src/[a-z]ay.py", "src/pay.py", False),
    ],
)
def test_a_glob_selects_paths(paths: str, path: str, *, found: bool) -> None:
    one = drift_samples.edited().model_copy(update={"at": drift_samples.edited().at.model_copy(update={"path": path})})
    assert holds(suppression(paths=paths), one, TODAY) is found


def test_a_suppression_holds_through_its_last_day_and_selects_by_all_that_it_says() -> None:
    one = drift_samples.edited()
    assert holds(suppression(finding_id=one.finding_id, until="2030-01-15"), one, TODAY)
    assert not holds(suppression(finding_id=one.finding_id, until="2030-01-14"), one, TODAY)
    assert holds(suppression(kind=DriftKind.EDITED, paths="src/**"), one, TODAY)
    assert not holds(suppression(kind=DriftKind.MOVED, paths="src/**"), one, TODAY)


def test_what_was_accepted_is_absent_only_where_everything_was_looked_at() -> None:
    row = drift_samples.others()[1]
    kept = baseline().model_copy(update={"accepted": (row,)})
    assert [one.baseline_state for one in judged((), kept, today=TODAY, complete=True)] == [BaselineState.ABSENT]
    assert judged((), kept, today=TODAY, complete=False) == ()


def test_errors_come_first_and_counts_add_up() -> None:
    found = judged(
        (drift_samples.moved(), drift_samples.edited(), drift_samples.deleted()), baseline(), today=TODAY, complete=True
    )
    assert [one.level for one in found] == [Level.ERROR, Level.WARNING, Level.NOTE]
    for fail_on, failing in ((Level.ERROR, 1), (Level.WARNING, 2), (Level.NOTE, 3)):
        counts = counted(found, DriftCounts(chunks=3), not_judged=0, fail_on=fail_on)
        assert (counts.drifted, counts.notes, counts.chunks) == (failing, 3 - failing, 3)


def test_a_finding_of_two_checks_is_there_once() -> None:
    one = drift_samples.edited()
    assert len(judged((one, one), baseline(), today=TODAY, complete=True)) == 1


@pytest.mark.parametrize(
    ("drifted", "taken", "blind", "status"),
    [
        (0, False, False, DriftStatus.CLEAN),
        (0, False, True, DriftStatus.NOT_JUDGED),
        (2, False, True, DriftStatus.DRIFT),
        (0, True, False, DriftStatus.BASELINE_TAKEN),
    ],
)
def test_a_status_says_what_came_of_it(drifted: int, *, taken: bool, blind: bool, status: DriftStatus) -> None:
    assert status_of(DriftCounts(drifted=drifted), taken=taken, blind=blind) is status


@given(st.lists(st.builds(DriftCounts, chunks=st.integers(0, 9), keys=st.integers(0, 9)), max_size=4))
def test_counts_are_added(parts: list[DriftCounts]) -> None:
    total = added(parts)
    assert (total.chunks, total.keys) == (sum(one.chunks for one in parts), sum(one.keys for one in parts))


def longest(ranks: Sequence[int]) -> int:
    """Return the length of a longest growing sequence, by trying all."""
    for size in range(len(ranks), 0, -1):
        if any(list(one) == sorted(one) for one in combinations(ranks, size)):
            return size
    return 0


@given(st.permutations(range(7)))
def test_the_fewest_that_moved_are_told(ranks: list[int]) -> None:
    kept = sorted(_longest_growing(ranks))
    assert [ranks[place] for place in kept] == sorted(ranks[place] for place in kept)
    assert len(kept) == longest(ranks)


def packet_of(*paths: str, **changes: Any) -> Packet:
    surfaces = tuple(sample.surface(path=path, rank=rank) for rank, path in enumerate(paths, start=1))
    return sample.packet(selected_surfaces=surfaces, **changes)


def test_one_that_moved_up_is_one_finding() -> None:
    before, after = packet_of("a", "b", "c", "d"), packet_of("d", "a", "b", "c")
    (moved,) = compared(before, after, explained=())
    assert (moved.kind, moved.at.path, moved.level) == (DriftKind.RANK_CHANGED, "d", Level.NOTE)
    assert moved.message == "d was 4 of 4 and is 1 of 4"


def test_one_that_has_its_rank_is_not_told_as_moved() -> None:
    before, after = packet_of("a", "b", "c", "d"), packet_of("c", "b", "a", "d")
    assert [one.message for one in compared(before, after, explained=())] == ["a was 1 of 4 and is 3 of 4"]


def test_what_enters_or_leaves_in_the_lower_half_is_a_note() -> None:
    before, after = packet_of("a", "b", "c", "d"), packet_of("n", "a", "b", "m")
    levels = {(one.kind.value, one.at.path): one.level for one in compared(before, after, explained=())}
    assert levels == {
        ("surface_entered", "n"): Level.WARNING,
        ("surface_entered", "m"): Level.NOTE,
        ("surface_left", "c"): Level.NOTE,
        ("surface_left", "d"): Level.NOTE,
    }


def test_what_another_finding_tells_of_is_not_told_again() -> None:
    assert compared(packet_of("a", "b"), packet_of("a", "c"), explained={"b", "c"}) == ()


def test_an_answer_that_became_worse_is_told() -> None:
    worse = packet_of("a", halting_reason=HaltingReason.BUDGET_EXHAUSTED)
    better = packet_of("a", halting_reason=HaltingReason.SATISFIED)
    (found,) = compared(better, worse, explained=())
    assert (found.kind, found.level) == (DriftKind.ANSWER_CHANGED, Level.WARNING)
    (again,) = compared(worse, better, explained=())
    assert again.level is Level.NOTE
