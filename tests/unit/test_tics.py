"""The counter of a zone's tics: the last row that counts, in whichever file of the newest it is."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from driving import plant

from rtch.heat import Heat, Made, heat_of
from rtch.tics import TAIL_BYTES, zone_tic


def tic(count: int, **more: object) -> str:
    return json.dumps({"type": "tic", "count_mode": "counted", "global_counter_after": count} | more) + "\n"


@pytest.fixture
def zone(tmp_path: Path) -> Path:
    return plant(tmp_path / "zone", {".ticzone": "{}", "audit-logs/tics/2025-02-01.jsonl": tic(1) + tic(2)})


def test_a_tree_without_a_counter_has_none(tmp_path: Path) -> None:
    assert zone_tic(plant(tmp_path, {"a.py": ""})) is None
    assert zone_tic(plant(tmp_path, {"audit-logs/x.jsonl": tic(3)})) is None


def test_the_newest_file_counts(zone: Path) -> None:
    assert zone_tic(zone) == 2
    plant(zone, {"audit-logs/tics/2025-02-02.jsonl": tic(3) + tic(4)})
    assert zone_tic(zone) == 4


@pytest.mark.parametrize(
    "tail",
    ['{"type": "tic", "global_co', "[]\n", "null\n", "\xff\n", tic(9, count_mode="ignored"), tic(9, type="note"),
     tic(0), tic(9, global_counter_after=True), tic(9, global_counter_after="9"), "[" * 2000, ""],
)  # fmt: skip
def test_a_row_that_is_torn_or_does_not_count_is_passed_over(zone: Path, tail: str) -> None:
    place = zone / "audit-logs/tics/2025-02-01.jsonl"
    place.write_text(place.read_text() + tail)
    assert zone_tic(zone) == 2


def test_a_day_whose_rows_do_not_count_leaves_the_day_before(zone: Path) -> None:
    plant(zone, {"audit-logs/tics/2025-02-02.jsonl": tic(9, count_mode="ignored")})
    assert zone_tic(zone) == 2


def test_a_domain_counts_by_its_own_where_there_is_no_other(tmp_path: Path) -> None:
    row = json.dumps({"type": "tic", "domain_counter_after": 7})
    assert zone_tic(plant(tmp_path, {"audit-logs/tics/1.jsonl": row})) == 7


def test_the_folder_that_the_marker_names_counts(tmp_path: Path) -> None:
    files = {".ticzone": '{"audit_logs_path": "logs"}', "logs/tics/1.jsonl": tic(5), "audit-logs/tics/1.jsonl": tic(9)}
    assert zone_tic(plant(tmp_path, files)) == 5


def test_links_are_not_followed_and_only_the_end_is_read(zone: Path, tmp_path: Path) -> None:
    outside = plant(tmp_path / "out", {"t.jsonl": tic(99)})
    (zone / "audit-logs/tics/2026.jsonl").symlink_to(outside / "t.jsonl")
    plant(zone, {"audit-logs/tics/2025-03-01.jsonl": "x" * (4 * TAIL_BYTES) + "\n" + tic(12)})
    assert zone_tic(zone) == 12


def test_heat_is_told_in_tics_where_there_are_some() -> None:
    made = Made("2001-01-01T00:00:00+00:00", 100, 30)
    now = datetime(2030, 1, 1, tzinfo=UTC)
    assert [heat_of(made, now=now, tic=100 + age) for age in (30, 31, 60, 61)] == [
        Heat.ACTIVE,
        Heat.RESTORED_WITH_CAVEAT,
        Heat.RESTORED_WITH_CAVEAT,
        Heat.CAUTION_ONLY,
    ]
