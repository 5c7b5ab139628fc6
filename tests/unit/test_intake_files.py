"""Where intakes are found, read and kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from rtch import intake_files
from rtch.errors import ArtifactError, IntakeError
from rtch.intake_io import build_intake, parse_intake
from rtch.models.vocab import FanoutLevel, TargetProfile
from rtch.plain_data import MAX_BYTES
from rtch.stages.intake import intake as accept


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a working folder of their own."""
    place = tmp_path / "home"
    (place / "intakes").mkdir(parents=True)
    monkeypatch.setenv("RTCH_HOME", str(place))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return place


def refusal(call: Any, *args: Any) -> str:
    with pytest.raises(IntakeError) as caught:
        call(*args)
    return str(caught.value)


# --- finding -------------------------------------------------------------------------------------------------------


def test_a_path_comes_before_a_name(home: Path) -> None:
    (home / "intakes/a.yaml").write_text("saved")
    Path("a.yaml").write_text("here")
    assert intake_files.find_saved("a.yaml").path == Path("a.yaml")
    assert intake_files.find_saved("a").path == home / "intakes/a.yaml"


@pytest.mark.parametrize("name", ["nightly.yaml", "nightly.yml", "nightly.json", "nightly"])
def test_a_saved_name_is_found_with_or_without_its_ending(home: Path, name: str) -> None:
    (home / "intakes" / name).write_text("x")
    assert intake_files.find_saved("nightly") == ("nightly", home / "intakes" / name, False)


def test_the_users_own_comes_before_the_packaged(home: Path) -> None:
    name = "how-stages-are-cached"
    packaged = intake_files.find_saved(name)
    assert packaged.packaged
    (home / f"intakes/{name}.yaml").write_text("x")
    assert intake_files.find_saved(name) == (name, home / f"intakes/{name}.yaml", False)


def test_a_folder_of_the_same_name_is_not_in_the_way(home: Path) -> None:
    (home / "intakes/docs.yaml").write_text("x")
    Path("docs").mkdir()
    assert intake_files.find_saved("docs").path == home / "intakes/docs.yaml"


@pytest.mark.parametrize("reference", ["../home/intakes/x", "a/b", "", ".", "..", "x" * 5000, "a\0b"])
def test_what_leads_nowhere_is_refused_in_a_sentence(reference: Any) -> None:
    assert refusal(intake_files.find_saved, reference)


def test_a_name_never_leads_out_of_the_folder(home: Path) -> None:
    (home / "outside.yaml").write_text("x")
    assert "no such file, and no saved one" in refusal(intake_files.find_saved, "../outside")


def test_a_near_name_is_offered(home: Path) -> None:
    (home / "intakes/nightly.yaml").write_text("x")
    assert refusal(intake_files.find_saved, "nihgtly") == (
        "there is no intake 'nihgtly': no such file, and no saved one of that name; did you mean nightly?"
    )


def test_saved_intakes_leave_baselines_out(home: Path) -> None:
    for name in ("b.yaml", "a.json", "a.baseline.yaml", "notes.txt", "sub.yaml"):
        target = home / "intakes" / name
        if name == "sub.yaml":
            target.mkdir()
        else:
            target.write_text("x")
    mine = [saved.name for saved in intake_files.saved_intakes() if not saved.packaged]
    assert mine == ["a", "b"]


def test_without_any_home_the_packaged_ones_are_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RTCH_HOME", "HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert any(saved.packaged for saved in intake_files.saved_intakes())


# --- what comes with rtch ------------------------------------------------------------------------------------------


def test_the_five_examples_are_valid_and_can_be_satisfied() -> None:
    loaded = {
        example.name: parse_intake(intake_files.read_source(example.path), name=example.name)
        for example in intake_files.examples()
    }
    assert list(loaded) == ["10.1", "10.2", "10.3", "10.4", "10.5"]
    assert [intake.target_profile for intake in loaded.values()] == [
        TargetProfile.DOCTRINE_CHAIN,
        TargetProfile.AUDIT_HISTORY,
        TargetProfile.CODE_PATH,
        TargetProfile.MANIFEST_REGISTRY,
        TargetProfile.VAGUE_INTENT,
    ]
    assert "queue_state_compile" in loaded["10.3"].explicit_seeds
    assert loaded["10.4"].fanout_level is FanoutLevel.WIDE
    for intake in loaded.values():
        halting = accept(intake).halting
        assert halting.compiled
        assert halting.not_machine_checked == ()


def test_an_example_is_found_by_number_or_profile() -> None:
    assert intake_files.find_example("10.3") == intake_files.find_example("code_path")
    assert refusal(intake_files.find_example, "10.6") == (
        "there is no example 10.6; examples are 10.1, 10.2, 10.3, 10.4, 10.5, also by their target_profile"
    )


def test_every_preset_makes_a_goal_into_an_intake_that_can_be_satisfied() -> None:
    presets = intake_files.presets()
    assert {preset.name for preset in presets} >= {
        "audit", "before-editing", "before-risky-change", "explain-config", "investigate", "locate-code",
    }  # fmt: skip
    for preset in presets:
        assert preset.description.endswith(".")
        halting = accept(build_intake({"goal": "x"}, preset=preset)).halting
        assert halting.compiled, preset.name
        assert halting.not_machine_checked == (), preset.name


def test_a_preset_is_found_by_name() -> None:
    assert intake_files.find_preset("audit").name == "audit"
    assert refusal(intake_files.find_preset, "audits") == "there is no preset audits; did you mean audit?"
    assert refusal(intake_files.find_preset, "../presets/audit").startswith("there is no preset ../presets/audit; ")


def test_every_packaged_intake_is_valid() -> None:
    for saved in intake_files.saved_intakes():
        assert accept(parse_intake(intake_files.read_source(saved.path), name=saved.name)).halting.compiled


# --- reading -------------------------------------------------------------------------------------------------------


def test_what_is_no_readable_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo("fifo")
    Path("large").write_bytes(b"x" * (MAX_BYTES + 1))
    Path("gone").symlink_to("nowhere")
    assert refusal(intake_files.read_source, Path("absent")) == "absent does not exist"
    assert refusal(intake_files.read_source, Path("gone")) == "gone does not exist"
    assert refusal(intake_files.read_source, tmp_path) == f"{tmp_path} is a folder; name a file in it"
    assert refusal(intake_files.read_source, Path("fifo")) == "fifo is no regular file; give - to read standard input"
    assert refusal(intake_files.read_source, Path("/dev/null")).startswith("/dev/null is no regular file")
    assert refusal(intake_files.read_source, Path("large")) == (
        f"large is larger than {MAX_BYTES} bytes; an intake is a page of text"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_refused() -> None:
    Path("locked").write_text("x")
    Path("locked").chmod(0)
    assert refusal(intake_files.read_source, Path("locked")) == "locked cannot be read: Permission denied"


def test_what_a_shell_hands_over_as_a_file_is_read() -> None:
    read, write = os.pipe()
    os.write(write, b"goal: x\n")
    os.close(write)
    try:
        assert intake_files.read_source(Path(f"/dev/fd/{read}")) == b"goal: x\n"
    finally:
        os.close(read)


# --- keeping -------------------------------------------------------------------------------------------------------


def test_a_saved_intake_is_found_again_and_never_overwritten(home: Path) -> None:
    path = intake_files.save("goal: x\n", "my question")
    assert path == home / "intakes/my question.yaml"
    assert intake_files.find_saved("my question").path == path
    assert refusal(intake_files.save, "other", "my question") == f"{path} exists already; choose another name"
    assert path.read_text() == "goal: x\n"


@pytest.mark.parametrize("name", ["../x", "a/b", "", "-x", ".hidden", "a\nb", "x.baseline"])
def test_a_name_that_is_no_name_is_refused(home: Path, name: str) -> None:
    assert refusal(intake_files.save, "x", name).endswith(
        "is no name for an intake; use letters, digits, dots, dashes and spaces"
    )
    assert list((home / "intakes").iterdir()) == []


def test_a_place_that_cannot_be_written_is_told() -> None:
    with pytest.raises(ArtifactError) as caught:
        intake_files.write_new("x", Path("no/such/folder.yaml"))
    assert str(caught.value) == "no/such/folder.yaml cannot be written: No such file or directory"
