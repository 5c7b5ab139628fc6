"""The drift and fleet flows: states that never look clean, what is left in the UI, one that fails among others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scheduling import EDITED, Harbour

if TYPE_CHECKING:
    from rtch.server import Server

pytestmark = pytest.mark.prefect
STAGES = {"intake", "orient", "scout", "basket", "cost", "survey", "plan", "hydrate", "packet"}
CHECKS = {"copies", "notices", "references", "contradictions"}


@pytest.fixture
def harbour(tmp_path: Path, prefect_server: Server) -> Harbour:
    return Harbour(tmp_path, prefect_server)


def test_a_question_drifts_in_sight_of_everybody(harbour: Harbour) -> None:
    root, saved = harbour.zone("marina"), harbour.save("mooring")
    report, run = harbour.run(saved=[saved], root=str(root))
    assert [one["status"] for one in report["investigations"]] == ["baseline_taken"]
    told = harbour.flow_run(run)
    assert (told["name"], told["state_type"], told["state_name"]) == (
        "marina: drift of mooring",
        "COMPLETED",
        "BaselineTaken",
    )
    assert set(told["tags"]) == {"rtch", "drift", "marina", "mooring"}
    assert set(harbour.tasks(run, 14)) >= STAGES | CHECKS
    first_keys = set(harbour.artifacts(run))

    report, run = harbour.run(saved=[saved], root=str(root))
    assert (report["exit_code"], harbour.flow_run(run)["state_name"]) == (0, "Clean")
    assert set(harbour.tasks(run, 14).values()) == {"Cached"}
    assert [one["event"] for one in harbour.events(run, 1)] == ["rtch.drift.clean"]

    (root / "mooring.py").write_text(EDITED)
    report, run = harbour.run(saved=[saved], root=str(root))
    assert report["exit_code"] == 1
    told = harbour.flow_run(run)
    assert (told["state_type"], told["state_name"]) == ("FAILED", "Drift")
    assert told["state"]["message"] == "1 drift; mooring @ marina: 1 drifted"

    (made,) = report["investigations"]
    artifacts = harbour.artifacts(run)
    assert set(artifacts) == first_keys, "the UI keeps one history a key"
    kinds = {key.rsplit("-marina", 1)[0]: one["type"] for key, one in artifacts.items()}
    assert kinds == {
        "rtch-drift": "markdown",
        "rtch-drift-history": "markdown",  # what Prefect makes of a link
        "rtch-drift-progress": "progress",
        "rtch-findings": "table",
    }
    by_kind = {key.rsplit("-marina", 1)[0]: one for key, one in artifacts.items()}
    assert by_kind["rtch-drift-progress"]["data"] == 100
    rows = json.loads(by_kind["rtch-findings"]["data"])
    assert [row["id"] for row in rows] == [f"`{one['finding_id']}`" for one in made["findings"]]
    assert (
        f"{harbour.server.ui_url}/artifacts/key/{by_kind['rtch-drift']['key']}" in by_kind["rtch-drift-history"]["data"]
    )

    (event,) = harbour.events(run, 1)
    assert event["event"] == "rtch.drift.detected"
    assert event["resource"]["prefect.resource.id"].startswith("rtch.zone.")
    assert (event["resource"]["rtch.saved"], event["resource"]["prefect.resource.name"]) == ("mooring", "marina")
    assert event["payload"]["findings"] == [one["finding_id"] for one in made["findings"] if one["set_aside"] == ""]
    assert event["payload"]["packet_id"] == made["packet_id"]
    assert made["flow_run_id"] == run

    report, run = harbour.run(saved=[saved], root=str(root), accept="berths are here to stay")
    assert harbour.flow_run(run)["state_name"] == "Clean"


def test_a_question_that_fails_does_not_stop_the_next(harbour: Harbour) -> None:
    root, saved = harbour.zone("quay"), harbour.save("mooring")
    report, run = harbour.run(saved=["lost", saved], root=str(root))
    assert [(one["saved"], one["status"]) for one in report["investigations"]] == [
        ("lost", "failed"),
        ("mooring", "baseline_taken"),
    ]
    told = harbour.flow_run(run)
    assert (told["name"], told["state_type"], told["state_name"]) == (
        "quay: drift of lost, mooring",
        "FAILED",
        "Failed",
    )
    assert [one["event"] for one in harbour.events(run, 2)] == ["rtch.drift.failed", "rtch.drift.baseline_taken"]
    assert report["exit_code"] == 2


def test_a_fleet_keeps_its_report_where_a_zone_fails(harbour: Harbour) -> None:
    east, _west = harbour.zone("east"), harbour.zone("west")
    harbour.save("mooring")
    fleet = harbour.folder / "fleet.yaml"
    fleet.write_text(
        "name: two harbours\nworkers: 2\nzones:\n"
        "  - {root: east, intakes: [mooring]}\n"
        "  - {root: gone, name: the lost one, intakes: [mooring]}\n"
        "  - {root: west, intakes: [mooring, nobody]}\n"
    )
    report, run = harbour.run(fleet=str(fleet))
    assert [(one["zone_name"], one["saved"], one["status"]) for one in report["investigations"]] == [
        ("east", "mooring", "baseline_taken"),
        ("the lost one", "mooring", "failed"),
        ("west", "mooring", "baseline_taken"),
        ("west", "nobody", "failed"),
    ]
    (east / "mooring.py").write_text(EDITED)
    report, run = harbour.run(fleet=str(fleet))
    assert [one["status"] for one in report["investigations"]] == ["drift", "failed", "clean", "failed"]
    told = harbour.flow_run(run)
    assert told["name"] == "fleet two harbours: 3 zones, 4 questions"
    assert (told["state_type"], told["state_name"]) == ("FAILED", "Failed")
    assert set(told["tags"]) == {"rtch", "drift", "fleet", "two harbours"}
    assert harbour.tasks(run, 4) == {
        "east: mooring": "Drift",
        "the lost one: mooring": "Failed",
        "west: mooring": "Clean",
        "west: nobody": "Failed",
    }
    events = {(one["resource"]["prefect.resource.name"], one["event"]) for one in harbour.events(run, 4)}
    assert events == {
        ("east", "rtch.drift.detected"),
        ("the lost one", "rtch.drift.failed"),
        ("west", "rtch.drift.clean"),
        ("west", "rtch.drift.failed"),
    }
    artifacts = harbour.artifacts(run)
    rows = json.loads(artifacts["rtch-fleet-two-harbours"]["data"])
    assert [row["status"] for row in rows] == ["drift", "failed", "clean", "failed"]
    assert sorted(one["type"] for one in artifacts.values()) == [*["markdown"] * 4, "progress", "table"]
