"""Fleet files: roots and questions as absolute paths, and what is wrong in sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtch.errors import IntakeError
from rtch.fleets import read_fleet
from rtch.models.fleet import Fleet, FleetZone


def written(folder: Path, text: str) -> Path:
    path = folder / "fleet.yaml"
    path.write_text(text)
    return path


def test_roots_and_questions_are_read_from_the_files_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pay.yaml").write_text("goal: x\n")
    path = written(
        tmp_path,
        "name: shops\nworkers: 3\nzones:\n  - {root: ../east, intakes: [pay.yaml, stock]}\n"
        "  - {root: /srv/west, name: the west, intakes: [stock]}\n",
    )
    monkeypatch.chdir("/")
    assert read_fleet(path) == Fleet(
        name="shops",
        workers=3,
        zones=(
            FleetZone(root=str(tmp_path.parent / "east"), intakes=(str(tmp_path / "pay.yaml"), "stock")),
            FleetZone(root="/srv/west", name="the west", intakes=("stock",)),
        ),
    )


def test_a_home_in_a_root_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    path = written(tmp_path, "zones: [{root: ~/code, intakes: [stock]}]\n")
    assert read_fleet(path).zones[0].root == "/home/ada/code"


WRONG = {
    "": "is empty; docs/schedule.md shows one",
    "zones: []": ": zones is an empty list",
    "workers: 2": ": zones is missing",
    "zones: [{root: a}]": ": zones[0].intakes is missing",
    "zones: [{root: a, intakes: []}]": ": zones[0].intakes is an empty list",
    "zones: [{root: '', intakes: [q]}]": ": zones[0].root is blank",
    "zones: [{root: a, intake: [q]}]": " has 2 problems:\n- zones[0].intakes is missing\n"
    "- zones[0].intake is no field; did you mean intakes?",
    "zones: {root: a}": ": zones must be a list, found a mapping",
    "zones: [a]": ": zones[0] must be a mapping, found 'a'",
    "zones: [{root: a, intakes: q}]": ": zones[0].intakes must be a list, found 'q'",
    "zones: [{root: a, intakes: [q]}]\nworkers: 0": ": workers must be at least 1, found 0",
    "zones: [{root: a, intakes: [q]}]\nworkers: many": ": workers must be a whole number, found 'many'",
    "zones: [{root: a, intakes: [q]}]\nname: a/b": ": name cannot be 'a/b';"
    " use letters, digits, dots, dashes and spaces",
    "zones: [{root: a, intakes: [q]}, {root: ./a, intakes: [q]}]": " asks q of {folder}/a twice; keep one",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(IntakeError) as raised:
        read_fleet(path)
    said = WRONG[text].replace("{folder}", str(tmp_path))
    assert str(raised.value) == (f"{path} {said}" if text == "" else f"{path}{said}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(IntakeError) as raised:
        read_fleet(tmp_path / "no.yaml")
    assert str(raised.value) == f"{tmp_path}/no.yaml does not exist; docs/schedule.md shows one"
