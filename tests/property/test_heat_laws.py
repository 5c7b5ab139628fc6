"""Laws of heat: it only cools, and it has an answer to everything."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from rtch.heat import Heat, Made, heat_of

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ORDER = (Heat.ACTIVE, Heat.RESTORED_WITH_CAVEAT, Heat.CAUTION_ONLY)
days = st.integers(0, 3650)


def by_days(age: float, ttl: float) -> Heat:
    return heat_of(Made((NOW - timedelta(days=age)).isoformat(), None, 30), now=NOW, ttl_days=ttl)


@given(days, days, st.integers(1, 400))
def test_older_is_never_warmer_by_days(one: int, more: int, ttl: int) -> None:
    assert ORDER.index(by_days(one, ttl)) <= ORDER.index(by_days(one + more, ttl))


@given(days, days, days, st.integers(1, 400))
def test_older_is_never_warmer_by_tics(tic: int, one: int, more: int, ttl: int) -> None:
    made = Made("no time", tic, ttl)
    younger, older = heat_of(made, now=NOW, tic=tic + one), heat_of(made, now=NOW, tic=tic + one + more)
    assert ORDER.index(younger) <= ORDER.index(older)


@given(st.text(), st.none() | st.integers(), st.integers(), st.none() | st.integers(), st.floats())
def test_everything_has_a_heat(text: str, made: int | None, ttl: int, tic: int | None, ttl_days: float) -> None:
    assert heat_of(Made(text, made, ttl), now=NOW, tic=tic, ttl_days=ttl_days) in Heat


@given(st.datetimes(), st.floats())
def test_every_time_has_a_heat(moment: datetime, ttl_days: float) -> None:
    assert heat_of(Made(moment.isoformat(), None, 30), now=NOW, ttl_days=ttl_days) in ORDER


def test_boundaries_belong_to_the_warmer_side() -> None:
    assert [by_days(age, 10) for age in (-5, 0, 10, 10.01, 20, 20.01)] == [
        Heat.ACTIVE, Heat.ACTIVE, Heat.ACTIVE, Heat.RESTORED_WITH_CAVEAT, Heat.RESTORED_WITH_CAVEAT, Heat.CAUTION_ONLY,
    ]  # fmt: skip


def test_counter_that_was_set_back_leaves_it_to_days() -> None:
    made = Made((NOW - timedelta(days=100)).isoformat(), 50, 30)
    assert heat_of(made, now=NOW, tic=60) is Heat.ACTIVE
    assert heat_of(made, now=NOW, tic=49) is Heat.CAUTION_ONLY


def test_no_time_has_no_heat() -> None:
    assert heat_of(Made("yesterday", None, 30), now=NOW) is Heat.NONE
