"""Cron expressions: what is wrong is said, and what we take Prefect takes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtch.cron import complaint

RIGHT = (
    "* * * * *",
    "0 3 * * *",
    "0 3 * * MON-FRI",
    "*/15 0-6/2 1,15 jan,feb 0",
    "10/5 * * * *",
    "0 0 * * 5-7",
    "0 0 29 2 *",
    "0 0 31 2 mon",
    "@daily",
)
FIELDS = "minute, hour, day of the month, month, day of the week"
WRONG = {
    "": f"it has 0 fields, and cron has five: {FIELDS}",
    "0 3 * *": f"it has 4 fields, and cron has five: {FIELDS}",
    "0 0 3 * * *": f"it has 6 fields, and cron has five: {FIELDS}",
    "61 * * * *": "61 is no minute from 0 to 59",
    "* 24 * * *": "24 is no hour from 0 to 23",
    "* * 0 * *": "0 is no day of the month from 1 to 31",
    "* * * foo *": "foo is no month from 1 to 12",
    "* * * * 8": "8 is no day of the week from 0 to 7",
    "*/0 * * * *": "*/0 is no minute from 0 to 59",
    "5-1 * * * *": "5-1 is no minute from 0 to 59",
    "1,,2 * * * *": "1,,2 is no minute from 0 to 59",
    "٣ * * * *": "٣ is no minute from 0 to 59",
    "@never": "@never is no shorthand; known are @hourly, @daily, @weekly, @monthly, @yearly",
    "0 0 31 2,4 *": "its day never comes: no such month is that long",
    "0 0 30 2 *": "its day never comes: no such month is that long",
}


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_is_taken(text: str) -> None:
    assert complaint(text) == ""


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said(text: str) -> None:
    assert complaint(text) == WRONG[text]


def part(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high).map(str)
    two = st.tuples(st.integers(low, high), st.integers(low, high)).map(lambda pair: f"{min(pair)}-{max(pair)}")
    step = st.integers(1, 9).map(lambda every: f"*/{every}")
    return st.lists(number | two | step | st.just("*"), min_size=1, max_size=3).map(",".join)


@given(st.tuples(part(0, 59), part(0, 23), part(1, 28), part(1, 12), part(0, 7)).map(" ".join))
@settings(max_examples=60, deadline=None)
def test_what_is_taken_is_taken_by_prefect_too(text: str) -> None:
    from prefect.client.schemas.schedules import CronSchedule  # noqa: PLC0415  a second and a half

    assert complaint(text) == ""
    assert CronSchedule(cron=text).cron == text
