"""Flows on a Dask cluster of their own: jobs travel to processes that open tree and store themselves."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from driving import Ask, Rtch, hold_to_the_laws, plant, same_part
from machines import Api
from scheduling import EDITED, Harbour

if TYPE_CHECKING:
    from rtch.server import Server

pytestmark = pytest.mark.services


def test_dask_gives_the_direct_packet(prefect_server: Server, tmp_path: Path) -> None:
    assert importlib.util.find_spec("prefect_dask"), "prefect-dask is missing: run tests/services/install.sh"
    root = plant(tmp_path / "zone", {"a.py": "def harpoon():\n    pass\n", "b.py": "from a import harpoon\n"})
    rtch = Rtch(plant(tmp_path / "home", {}), {"PREFECT_API_URL": prefect_server.api_url, "RTCH_RUNNER": "dask"})
    ask = Ask("Where is harpoon defined", ["harpoon"])
    direct = rtch.hydrate(root, ask, "--no-cache")
    flags = (*ask.flags(), "--root", str(root), "--format", "json", "--engine", "prefect")
    ran = rtch.run("hydrate", *flags, timeout=240)
    assert ran.code == 0, ran.err
    packet = ran.packet
    hold_to_the_laws(packet, root)
    assert same_part(packet) == same_part(direct)
    assert packet["run"]["engine"] == "prefect"
    threads = rtch.with_environment(RTCH_RUNNER="").hydrate(root, ask, "--engine", "prefect")
    api = Api(prefect_server.api_url)
    assert api.edges(packet) == api.edges(threads)
    assert [api.states(one) for one in (packet, threads)] == [{"Completed"}, {"Cached"}]


def test_a_fleet_is_carried_by_dask(prefect_server: Server, tmp_path: Path) -> None:
    harbour = Harbour(tmp_path, prefect_server)
    saved = harbour.save("mooring")
    zones = [harbour.zone(name) for name in ("quay", "pier")]
    fleet = {"zones": [{"root": str(zone), "intakes": [saved]} for zone in zones], "runner": "dask"}
    (tmp_path / "fleet.json").write_text(json.dumps(fleet))
    first, _ = harbour.run(fleet=str(tmp_path / "fleet.json"))
    (zones[1] / "mooring.py").write_text(EDITED)
    second, run = harbour.run(fleet=str(tmp_path / "fleet.json"))
    told = [[one["status"] for one in report["investigations"]] for report in (first, second)]
    assert told == [["baseline_taken", "baseline_taken"], ["clean", "drift"]]
    assert harbour.tasks(run, 2) == {"quay: mooring": "Clean", "pier: mooring": "Drift"}
