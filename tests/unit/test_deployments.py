"""Deployments: found, checked before anything is started, and fit for any working folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rtch import home
from rtch.cli.main import main
from rtch.deployments import Placing, all_ready, deployments, find_deployment, ready
from rtch.errors import IntakeError, RtchError

INTAKE = {
    "goal": "Where is the MooringPlan?",
    "target_profile": "code_path",
    "fanout_level": "conservative",
    "mutation_risk": "read_only",
    "expected_output": "hydration_packet",
    "enough_evidence_definition": "at least 1 surface",
    "explicit_seeds": ["MooringPlan"],
}
DRIFT = 'name: often\nflow: rtch.flows.drift.drift\ncron: "*/5 * * * *"\n'


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one saved intake, beside a zone that is the working folder."""
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    (home.intakes_dir() / "moor.json").write_text(json.dumps(INTAKE))
    (tmp_path / "zone" / "deep").mkdir(parents=True)
    (tmp_path / "zone" / ".ticzone").touch()
    monkeypatch.chdir(tmp_path / "zone" / "deep")
    return tmp_path


def written(place: Path, text: str = DRIFT) -> str:
    path = place / "often.yaml"
    path.write_text(text)
    return str(path)


def test_those_that_come_with_rtch_are_right() -> None:
    found = {one.deployment.name: one for one in deployments()}
    assert set(found) >= {"nightly-drift", "weekly-fleet"}
    assert all(one.packaged and one.deployment.description for one in found.values())


def test_ones_own_come_before_those_of_rtch(place: Path) -> None:
    own = place / "home" / "deployments"
    own.mkdir()
    (own / "nightly-drift.yaml").write_text(DRIFT)
    assert find_deployment("nightly-drift").deployment.name == "often"
    assert deployments()[0].path == own / "nightly-drift.yaml"


def test_the_zone_is_found_from_the_working_folder_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = ready(find_deployment("nightly-drift"), Placing())
    assert one.parameters == {"saved": [], "options": {"root": str(place / "zone")}}


def test_a_root_and_questions_of_the_command_line_win(place: Path) -> None:
    (place / "zone" / "deep" / "near.json").write_text(json.dumps(INTAKE))
    (place / "other").mkdir()
    path = written(place, DRIFT + "parameters: {saved: [moor], options: {root: zone, parents: false}}\n")
    assert ready(find_deployment(path), Placing()).parameters == {
        "saved": ["moor"],
        "options": {"root": str(place / "zone"), "parents": False},
    }
    placing = Placing(root=Path("../../other"), saved=("near.json", "moor"))
    assert ready(find_deployment(path), placing).parameters == {
        "saved": [str(place / "zone" / "deep" / "near.json"), "moor"],
        "options": {
            "root": str(place / "zone" / "deep" / "../../other").replace("zone/deep/../../", ""),
            "parents": False,
        },
    }


def test_files_of_a_deployment_are_read_from_its_folder(place: Path) -> None:
    (place / "near.json").write_text(json.dumps(INTAKE))
    path = written(place, DRIFT + "parameters: {saved: [near.json], baseline: b/near.baseline.yaml}\n")
    given = ready(find_deployment(path), Placing(root=place / "zone")).parameters
    assert given["saved"] == [str(place / "near.json")]
    assert given["baseline"] == str(place / "b" / "near.baseline.yaml")


def test_a_fleet_lies_in_the_data_folder_or_where_it_is_said(place: Path) -> None:
    with pytest.raises(IntakeError) as raised:
        ready(find_deployment("weekly-fleet"), Placing())
    assert str(raised.value) == f"{place}/home/fleet.yaml does not exist; docs/schedule.md shows one"
    fleet = place / "zone" / "fleet.yaml"
    fleet.write_text("zones: [{root: ., intakes: [moor]}]\n")
    one = ready(find_deployment("weekly-fleet"), Placing(fleet=Path("../fleet.yaml")))
    assert Path(one.parameters["path"]).samefile(fleet)
    assert Path(one.parameters["path"]).is_absolute()


def test_flags_are_for_whichever_takes_them(place: Path) -> None:
    fleet = place / "fleet.yaml"
    fleet.write_text("zones: [{root: zone, intakes: [moor]}]\n")
    found = [find_deployment(name) for name in ("nightly-drift", "weekly-fleet")]
    night, week = all_ready(found, Placing(root=place / "zone", saved=("moor",), fleet=fleet))
    assert night.parameters == {"saved": ["moor"], "options": {"root": str(place / "zone")}}
    assert week.parameters == {"path": str(fleet)}


WRONG = {
    DRIFT.replace("*/5", "61"): "{path}: cron '61 * * * *' is wrong: 61 is no minute from 0 to 59",
    DRIFT + "timezone: Europe/Wien\n": "{path}: timezone 'Europe/Wien' is not known; did you mean Europe/Vienna?",
    DRIFT
    + "timezone: ../../etc/passwd\n": "{path}: timezone '../../etc/passwd' is not known; write it as Europe/Vienna",
    DRIFT.replace("rtch.flows.drift.drift", "drift.py:drift"): "{path}: flow cannot be 'drift.py:drift'; name it by its"
    " module path, such as rtch.flows.drift.drift",
    DRIFT + "zone: UTC\n": "{path}: zone is no field; did you mean timezone?",
    DRIFT
    + "collision_strategy: wait\n": "{path}: collision_strategy must be one of 'enqueue' or 'cancel_new', found 'wait'",
    DRIFT + "parameters: {saved: [moors]}\n": "there is no intake 'moors': no such file, and no saved one of that name;"
    " did you mean moor?",
    DRIFT + "parameters: {saved: moor}\n": "parameters.saved is no list of names",
    DRIFT
    + "parameters: {options: {root: gone}}\n": "the root {folder}/gone cannot be opened: No such file or directory",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_before_anything_is_started(
    text: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(place, text)
    with pytest.raises(RtchError) as raised:
        ready(find_deployment(path), Placing())
    said = WRONG[text].replace("{path}", path).replace("{folder}", str(place))
    assert str(raised.value) == said
    assert main(("serve", path)) == raised.value.exit_code
    assert capsys.readouterr().err == f"rtch: {said}\n"
    assert not home.server_file().exists()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((), "no deployment is named, and there is none of your own; name one of nightly-drift, weekly-fleet"),
        (
            ("nightly",),
            "there is no deployment 'nightly': no such file, and none of that name; did you mean nightly-drift?",
        ),
        (
            ("weekly-fleet", "--root", "."),
            "--root is given, and none of weekly-fleet takes it; leave it out",
        ),
        (("nightly-drift", "nightly-drift"), "two of the deployments are called nightly-drift; serve one of them"),
    ],
)
def test_a_command_line_that_cannot_be_meant(
    argv: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("serve", *argv)) == 2
    assert capsys.readouterr().err == f"rtch: {said}\n"


def test_a_night_without_any_question_is_refused(place: Path) -> None:
    (place / "home" / "intakes" / "moor.json").unlink()
    with pytest.raises(IntakeError) as raised:
        ready(find_deployment("nightly-drift"), Placing())
    assert str(raised.value) == (
        "no saved intake is named, and none is saved; name one with --saved, or rtch intake new --save NAME"
    )


def test_the_list_names_clock_and_flow(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = place / "home" / "deployments"
    own.mkdir()
    (own / "often.yaml").write_text(DRIFT)
    assert main(("serve", "--list")) == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == f"often          */5 * * * * UTC  rtch.flows.drift.drift:  ({own}/often.yaml)"
    assert lines[1].startswith("nightly-drift  0 3 * * * UTC    rtch.flows.drift.drift: Asks saved questions again")


def test_a_file_that_is_no_deployment_hides_no_other(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = place / "home" / "deployments"
    own.mkdir()
    (own / "moor.json").write_text("{}")
    (own / "often.yaml").write_text(DRIFT)
    assert main(("serve", "--list")) == 2
    told = capsys.readouterr()
    assert [line.split(" ")[0] for line in told.out.split("\n")] == ["often", "nightly-drift", "weekly-fleet", ""]
    assert told.err.startswith(f"rtch: {own}/moor.json has 3 problems:\n- name is missing\n")
    assert main(("serve",)) == 2, "what shall be served is served whole or not at all"
