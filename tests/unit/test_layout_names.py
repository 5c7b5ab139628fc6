"""How another organisation's names come into force, and that a layout of any shape is refused in a sentence."""

import json
import os
from pathlib import Path

import pytest

from rtch.errors import IntakeError
from rtch.layout import PACKAGED, VARIABLE, layout, layout_bytes, layout_file, packaged_layout
from rtch.limits import load_limits, with_layout
from rtch.models.zone import RungKind


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(VARIABLE, raising=False)
    (tmp_path / "home").mkdir()


def test_without_a_file_of_the_user_the_packaged_names_hold() -> None:
    assert layout() is packaged_layout()
    assert with_layout(load_limits()) is load_limits()
    assert set(json.loads(PACKAGED.read_bytes())) - {"_"} == set(type(layout()).__slots__)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("layout.json", '{"root_marker": ".hall", "markers": {".hall": "site", ".guild": "federation"}}'),
        ("layout.yaml", "root_marker: .hall\nmarkers: {.hall: site, .guild: federation}\n"),
    ],
)
def test_a_file_of_the_user_takes_the_place_of_names_one_by_one(tmp_path: Path, name: str, text: str) -> None:
    before = layout_bytes()
    (tmp_path / "home" / name).write_text(text)
    assert layout_bytes() != before
    assert layout().markers == {".hall": "site", ".guild": "federation"}
    assert layout().documents == packaged_layout().documents
    orient = with_layout(load_limits()).orient
    assert (orient.root_marker, orient.markers) == (".hall", {".hall": RungKind.SITE, ".guild": RungKind.FEDERATION})
    assert orient.truth_names == load_limits().orient.truth_names


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    place = tmp_path / "home/layout.json"
    place.write_text('{"documents": ["ONE.md"]}')
    assert layout().documents == ("ONE.md",)
    place.write_text('{"documents": ["ONE.md", "TWO.md"]}')
    assert layout().documents == ("ONE.md", "TWO.md")


def test_the_environment_names_a_file_before_the_home_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home/layout.json").write_text('{"documents": ["ONE.md"]}')
    (tmp_path / "other.yaml").write_text("documents: [TWO.md]\n")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "other.yaml"))
    assert layout_file() == tmp_path / "other.yaml"
    assert layout().documents == ("TWO.md",)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[1]", "must be a mapping of names"),
        ("{", "cannot be read"),
        ("a: [", "cannot be read"),
        ("[" * 9000, "cannot be read"),
        ("documents: 2024-99-99", "cannot be read"),
        ("document: [A.md]", "has the unknown key document; did you mean documents?"),
        ("documents: A.md", "documents must be a list of names"),
        ("documents: [a/b.md]", "documents must be a list of names"),
        ("ignore_files: ['..']", "ignore_files must be a list of names"),
        ("ledgers: [3]", "ledgers must be a list of paths"),
        ("markers: {.x: kingdom}", "markers must give each file name one of site, domain, estate, federation"),
        ("markers: [.x]", "markers must give each file name one of"),
        ("root_marker: a/b", "root_marker must be the name of a file"),
        ("with_memory: 1", "with_memory must be true or false"),
        ("#" * 70_000, "is larger than 65536 bytes"),
    ],
)
def test_a_layout_of_another_shape_is_refused_in_a_sentence(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "home/layout.yaml").write_text(text)
    with pytest.raises(IntakeError) as raised:
        layout()
    assert complaint in str(raised.value)
    assert len(str(raised.value)) < 600


def test_a_named_file_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.json"))
    with pytest.raises(IntakeError, match="cannot be read"):
        layout()


@pytest.mark.skipif(os.geteuid() == 0, reason="everything can be looked into by root")
def test_a_data_folder_that_cannot_be_looked_into_has_no_layout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    monkeypatch.setenv("RTCH_HOME", str(closed / "home"))
    assert layout_file() is None
