"""The packaged fanout budgets hold the specification's totals and starve no family."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import rtch
from rtch.limits import FanoutBudget, load_limits
from rtch.models.vocab import FanoutLevel, Origin, ProbeFamily


def budget(level: FanoutLevel) -> FanoutBudget:
    return load_limits().plan.fanout[level]


@pytest.mark.parametrize(
    ("level", "probes", "lines", "surfaces"),
    [
        (FanoutLevel.CONSERVATIVE, 5, 400, 10),
        (FanoutLevel.NORMAL, 12, 2000, 20),
        (FanoutLevel.WIDE, 25, 4000, 40),
    ],
)
def test_the_totals_are_the_specified_ones(level: Any, probes: Any, lines: Any, surfaces: Any) -> None:
    found = budget(level)
    assert (found.max_probes, found.read_budget_lines, found.surfaces) == (probes, lines, surfaces)


@pytest.mark.parametrize("level", FanoutLevel)
def test_every_family_has_a_quota_and_three_always_find_room(level: Any) -> None:
    found = budget(level)
    assert set(found.quotas) == set(ProbeFamily)
    largest, second, *_ = sorted(found.quotas.values(), reverse=True)
    assert largest <= found.max_probes / 2
    assert largest + second < found.max_probes
    assert sum(found.quotas.values()) > found.max_probes


def test_conservative_admits_the_specified_origins_and_the_others_all_but_noise() -> None:
    assert set(budget(FanoutLevel.CONSERVATIVE).origins) == {
        Origin.DURABLE_HANDLE, Origin.EXPLICIT_SEED, Origin.FILE_PATH, Origin.HEADING, Origin.CODE_SYMBOL,
        Origin.JSON_KEY, Origin.YAML_KEY, Origin.MANIFEST_KEY,
    }  # fmt: skip
    for level in (FanoutLevel.NORMAL, FanoutLevel.WIDE):
        assert set(budget(level).origins) == set(Origin) - {Origin.NOISE}


def test_every_total_has_its_unit_and_reason_beside_it() -> None:
    lines = (Path(rtch.__file__).parent / "config/fanout.yaml").read_text().splitlines()
    totals = [line for line in lines if re.match(r"  (max_probes|read_budget_lines|surfaces):", line)]
    assert len(totals) == 9
    assert all("#" in line for line in totals)
