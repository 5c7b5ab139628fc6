"""``rtch drift`` on the command line: what it asks for, what it refuses, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driving import plant

from rtch.cli.main import main

ASKED = """\
goal: Where is settle defined?
target_profile: code_path
fanout_level: normal
mutation_risk: read_only
expected_output: hydration_packet
enough_evidence_definition: at least 1 surface
explicit_seeds: [settle]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RTCH_ENGINE", "direct")
    plant(tmp_path, {"asked/q.yaml": ASKED, "zone/a.py": "def settle(route):\n    return route.total()\n"})
    monkeypatch.chdir(tmp_path / "zone")
    return tmp_path


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--accept", " "), "--accept has no reason; say in words why it is right as it is"),
        (("--only", "drift_x"), "--only selects what is accepted or suppressed; give --accept or --suppress too"),
        (("--until", "2999-01-01"), "--until is of a suppression, and none is asked for; give --suppress REASON"),
        (("--suppress", "r", "--kind", "moved"), "a suppression has to end; give --until with its last day"),
        (("--suppress", "r", "--until", "2999-01-01"), "a suppression selects one finding, a kind or paths"),
        (("--suppress", "r", "--accept", "r"), "--accept and --suppress are given together; give one of them"),
        (("--suppress", "r", "--until", "soon", "--kind", "moved"), "--until soon is no day; write it as 2031-01-31"),
        (("--suppress", "r", "--until", "2001-01-01", "--kind", "moved"), "--until 2001-01-01 is over"),
        (("--suppress", "r", "--until", "2999-01-01", "--kind", "x"), "--kind x is no kind of finding; known are "),
        (("../asked/q.yaml", "--baseline", "b.yaml"), "--baseline names one file for 2 questions; ask them one by one"),
        (("--fail-on", "never"), "argument --fail-on: invalid choice"),
        (("--fleet", "f.yaml"), "SAVED is given with --fleet; a fleet's file says what is asked, and where"),
    ],
)
def test_wrong_flags_are_refused_in_one_sentence(
    flags: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["drift", "../asked/q.yaml", *flags])
    except SystemExit as stop:
        code = int(str(stop.code))
    assert code == 2
    assert complaint in capsys.readouterr().err


def test_an_unknown_intake_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drift", "nothing"]) == 2
    assert "there is no intake 'nothing'" in capsys.readouterr().err


def test_without_a_name_all_saved_ones_are_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drift"]) == 2
    assert "no saved intake is named, and none is saved; rtch intake new --save NAME" in capsys.readouterr().err
    plant(folder, {"home/intakes/mine.yaml": ASKED})
    assert main(["drift", "--format", "json"]) == 7
    assert [one["saved"] for one in json.loads(capsys.readouterr().out)["investigations"]] == ["mine"]


def test_a_fleet_is_not_asked_of_the_direct_engine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drift", "--fleet", "f.yaml"]) == 2
    assert "a fleet runs as a Prefect flow" in capsys.readouterr().err


def test_codes_and_formats(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["drift", "../asked/q.yaml"]
    assert main([*asked, "--accept", "as it is"]) == 0
    assert main(asked) == 0
    (folder / "zone/a.py").write_text("def settle(route, day):\n    return route.total(day)\n")
    capsys.readouterr()
    assert main([*asked, "--format", "json"]) == 1
    (made,) = json.loads(capsys.readouterr().out)["investigations"]
    assert (made["status"], made["baseline"]["reason"]) == ("drift", "as it is")
    for form, beginning in (("human", "q @ "), ("markdown", "#"), ("sarif", "{"), ("junit", "<?xml")):
        assert main([*asked, "--format", form, "--output", str(folder / form)]) == 1
        assert (folder / form).read_text().startswith(beginning)
    assert capsys.readouterr().out == ""


def test_the_history_lists_runs_and_runs_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["drift", "../asked/q.yaml"])
    capsys.readouterr()
    assert main(["drift", "../asked/q.yaml", "--history"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"q @ {folder / 'zone'}: 1 run"
    assert "baseline_taken" in told[1]


def test_the_report_may_be_written_into_the_zone_and_is_no_part_of_it(folder: Path) -> None:
    asked = ["drift", "../asked/q.yaml", "--format", "json", "--output", "settle-report.json"]
    assert main(asked) == 7
    assert main(asked) == 0
    assert main(asked) == 0
