"""Times that a goal names by where it stands, and what they are counted from."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import plant

from rtch.moments import moments_in
from rtch.relative_times import absolute, origin_of
from rtch.tics import LastTic

LAST = LastTic(231, "2025-03-07")


@pytest.mark.parametrize(
    ("goal", "called"),
    [
        ("what happened in the last 5 tics", ["tic 227-231"]),
        ("what happened in the last five tics", ["tic 227-231"]),
        ("in the previous 5 tics", ["tic 226-230"]),
        ("since the last tic", ["tic 231-"]),
        ("the current tic, the latest tic", ["tic 231", "tic 231"]),
        ("the previous tic", ["tic 230"]),
        ("three tics ago", ["tic 228"]),
        ("past 900 tics", ["tic 1-231"]),
        ("yesterday", ["2025-03-06"]),
        ("last week", ["2025-03-01..2025-03-07"]),
        ("in the past 3 days", ["2025-03-05..2025-03-07"]),
        ("2 weeks ago", ["2025-02-21"]),
        ("since 2 days ago", ["2025-03-05.."]),
        ("the previous week", ["2025-02-28..2025-03-06"]),
        ("last\nmonth", ["2025-02-06..2025-03-07"]),
        ("as of tic 200, the last 2 tics", ["tic 200", "tic 199-200"]),
        ("as of 2024-01-02, yesterday", ["2024-01-02", "2024-01-01"]),
        ("since tic 220", ["tic 220-"]),
        ("the last tic 220", ["tic 220"]),
        ("the blast tics, the last statics, weekly, past daylight", []),
    ],
)
def test_a_relative_time_is_counted_from_the_last_tic(goal: str, called: list[str]) -> None:
    assert [one.called for one in moments_in(absolute(goal, LAST).text)] == called


@pytest.mark.parametrize(
    ("goal", "last", "because"),
    [
        ("the last 5 tics", None, "the zone counts no tic"),
        ("yesterday's review", None, "the clock is not asked"),
        ("yesterday", LastTic(3, ""), "the clock is not asked"),
        ("yesterday", LastTic(3, "2025-13-45"), "no day"),
        ("as of 0001-01-01, yesterday", LAST, "no day"),
        ("9 tics ago", LastTic(3, ""), "no such tic before tic 3"),
    ],
)
def test_what_cannot_be_counted_stays_words_and_is_told(goal: str, last: LastTic | None, because: str) -> None:
    reading = absolute(goal, last)
    assert reading.text == goal
    assert [one.called for one in reading.times] == [""]
    assert because in reading.times[0].because


def test_the_origin_is_looked_up_only_for_goals_that_need_it(tmp_path: Path) -> None:
    row = '{"type": "tic", "tic": "2025-03-02T09:00:00Z", "global_counter_after": 7}\n'
    zone = plant(tmp_path, {".ticzone": "{}", "audit-logs/tics/2025-03-01.jsonl": row})
    assert origin_of("what changed in the last 2 tics", zone) == (7, "2025-03-02")
    assert origin_of("what changed in tic 2", zone) is None
    plant(tmp_path, {"audit-logs/tics/2025-03-03.jsonl": '{"type": "tic", "global_counter_after": 8}\n'})
    assert origin_of("yesterday", zone) == (8, "2025-03-03")
