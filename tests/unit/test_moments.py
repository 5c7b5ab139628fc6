"""Times that a request names, and the texts that are of such a time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.moments import moment_of, moments_in


@pytest.mark.parametrize(
    ("request_", "called"),
    [
        ("at tic 412 or Tic-9, on 2024-05-06", ["tic 412", "Tic-9", "2024-05-06"]),
        ("tics 200 to 206 and then", ["tic 200-206"]),
        ("between tic 200 and tic 206", ["tic 200-206"]),
        ("between tics 98 and 1206", ["tic 98-1206"]),
        ("tic 200 and tic 206", ["tic 200", "tic 206"]),
        ("tics 1, 2 and 3", ["tic 1", "tic 2", "tic 3"]),
        ("since tic 220", ["tic 220-"]),
        ("after tic 9", ["tic 10-"]),
        ("before tic 12", ["tic -11"]),
        ("up to tic 12", ["tic -12"]),
        ("2025-02-20..2025-02-26", ["2025-02-20..2025-02-26"]),
        ("from 2025-02-20 to 2025-03-02", ["2025-02-20..2025-03-02"]),
        ("since 2025-02-20", ["2025-02-20.."]),
        ("until 2025-02-20", ["..2025-02-20"]),
        ("tic 206 to 3 people", ["tic 206"]),
        ("tic 123456789012", ["tic 123456789012"]),
        ("static 12, arctic-4, tic " + "9" * 5000, []),
    ],
)
def test_the_times_of_a_request(request_: str, called: list[str]) -> None:
    found = list(moments_in(request_))
    assert [one.called for one in found] == called
    assert all(moment_of(one.called) for one in found)


@pytest.mark.parametrize(
    ("term", "text", "holds"),
    [
        ("tic 206", '"tic": 206', True),
        ("tic 206", '"review_tic": "206"', True),
        ("tic 206", '"global_counter_after": 206', True),
        ("tic 206", '"global_counter_before": 206', False),
        ("tic 206", '"domain_counter_after": 206', False),
        ("tic 206", "born_tic=206 |", True),
        ("tic 206", "cpr_seal_tic206", True),
        ("tic 206", "session_lessons_tic_206_b.md", True),
        ("tic 206", "tic-206.json", True),
        ("tic 206", "static 206", False),
        ("tic 206", "tic 2060", False),
        ("tic 206", "tic 1206", False),
        ("tic 2025", '"tic": "2025-02-26T09:00:00Z"', False),
        ("tic 1412", "Tic 1412", True),
        ("tic 200-206", "tic 199", False),
        ("tic 998-", "tic 1000", True),
        ("tic -12", "tic 13", False),
        ("2025-02-26", '"2025-02-26T09:00:00Z"', True),
        ("2025-02-26", "reviews/2025-02-26.jsonl", True),
        ("2025-02-26", "12025-02-26", False),
        ("2025-02-26", "2025-02-260", False),
        ("2025-02-26..2025-03-02", "2025-03-03", False),
    ],
)
def test_what_is_of_a_time(term: str, text: str, holds: bool) -> None:  # noqa: FBT001
    moment = moment_of(term)
    assert moment is not None
    assert moment.holds(text) is holds
    sought = re.search(moment.pattern, text, re.IGNORECASE)
    assert (sought is not None and moment.holds(sought.group())) is holds


@given(st.integers(0, 12_000), st.integers(0, 12_000), st.integers(0, 13_000))
def test_a_range_holds_its_numbers_and_no_other(one: int, other: int, number: int) -> None:
    low, high = sorted((one, other))
    moment = moment_of(f"tic {low}-{high}")
    assert moment is not None
    assert moment.holds(f"tic {number}") is (low <= number <= high)


@given(st.dates(), st.dates(), st.dates())
def test_a_range_of_days_holds_them_and_no_other(one: object, other: object, day: object) -> None:
    low, high = sorted((str(one), str(other)))
    moment = moment_of(f"{low}..{high}")
    assert moment is not None
    assert moment.holds(str(day)) is (low <= str(day) <= high)
