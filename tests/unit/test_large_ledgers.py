"""Ids that a request names, in ledgers whose structure is left out because of their size."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import plant
from making import basket_of, cost_of, limits_with, seed

from rtch import tails
from rtch.models.features import DurableId
from rtch.stages.desk import Desk
from rtch.stages.large_ledgers import ids_of_large
from rtch.store import MemoryStore
from rtch.tails import read_tail
from rtch.workspace import open_workspace

ROW = '{{"id": "{0}"}}\n'
IDS = ["cpr_wick_tic7", "cpr_wick_tic71", "CPR_WICK_TIC7", *(f"cpr_other_{number}_tic7" for number in range(60))]


@pytest.mark.parametrize("long", [False, True])
def test_an_id_is_found_by_itself_and_at_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, long: bool
) -> None:
    if long:
        monkeypatch.setattr(tails, "TAIL_BYTES", 1000)
    rows = "".join(map(ROW.format, [*IDS, *IDS]))
    plant(tmp_path, {"a.jsonl": rows, "b.md": rows, "c.jsonl": rows})
    desk = Desk(open_workspace(tmp_path), MemoryStore())
    basket = basket_of(seed("cpr_wick_tic7"), seed("wick"))
    cost = cost_of({"a.jsonl": {"cpr_wick_tic7": 4, "wick": 6}, "b.md": {"cpr_wick_tic7": 4}, "c.jsonl": {"wick": 6}})
    (found,) = ids_of_large(["a.jsonl", "b.md", "c.jsonl", "d.jsonl"], basket, cost, limits_with().survey, desk)
    first = read_tail(desk.workspace, "a.jsonl").first_line if long else 1
    everywhere = [DurableId(IDS[0], 1), DurableId(IDS[0], len(IDS) + 1)]
    assert [one for one in found.ids if one.id == IDS[0]] == [one for one in everywhere if one.line >= first]
    assert found.path == "a.jsonl"
    assert not any("71" in one.id for one in found.ids)
