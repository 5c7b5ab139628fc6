"""What every command says when it is called wrongly, or when its answer cannot be kept or written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rtch.cli.main import _columns, main

REQUEST = ("--preset", "locate-code", "--goal", "Where is harpoon", "--seed", "harpoon")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    (tmp_path / "zone").mkdir()
    (tmp_path / "zone" / "a.py").write_text("def harpoon():\n    return 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (("hydrate", "--output-kin=x"), "--output-kin=x is no argument of rtch hydrate, did you mean --output-kind?"),
        (("show", "a", "b", "c"), "b c is no argument of rtch show"),
        (("hydrate", "--max-chars", "many"), "argument --max-chars: invalid int value: 'many'"),
        (("show",), "the following arguments are required: PACKET"),
        (("up", "--timeout", "soon"), "argument --timeout: 'soon' is no number of seconds between 0 and 86400"),
        (("up", "--timeout", "nan"), "argument --timeout: 'nan' is no number of seconds between 0 and 86400"),
    ],
)
def test_a_wrong_call_is_one_sentence(capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(argv)
    told = f"rtch: {sentence}; rtch {argv[0]} --help tells what there is\n"
    assert (left.value.code, capsys.readouterr()) == (2, ("", told))


@pytest.mark.parametrize("argv", [("hydrate", *REQUEST, "--root"), ("packet", "list", "--root")])
def test_a_root_that_is_not_there_is_one_sentence(capsys: pytest.CaptureFixture[str], argv: tuple[str, ...]) -> None:
    assert main((*argv, "absent")) == 3
    assert capsys.readouterr().err.endswith(" cannot be opened: No such file or directory\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("argv", [("intake", "schema"), ("hydrate", *REQUEST, "--root", "zone")])
def test_a_full_disk_is_no_bug(argv: tuple[str, ...]) -> None:
    code = "import sys; from rtch.cli.main import main; sys.exit(main(sys.argv[1:]))"
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-c", code, *argv], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ran.returncode == 6
    assert ran.stderr == "rtch: the result cannot be written: No space left on device; make room for it\n"


def test_an_answer_that_cannot_be_remembered_is_given_all_the_same(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "file" / "home"))
    assert main(("hydrate", *REQUEST, "--root", "zone", "--no-cache", "--format", "json")) == 0
    out, err = capsysbinary.readouterr()
    assert [one["path"] for one in json.loads(out)["selected_surfaces"]] == ["a.py"]
    assert b"rtch: the packet is not remembered: " in err


def test_what_has_no_schema_is_called_no_packet(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = tmp_path / "i.yaml"
    place.write_text("goal: x\n")
    assert main(("show", str(place))) == 6
    assert capsys.readouterr().err == f"rtch: {place} is no packet: it has no schema_version\n"


@pytest.mark.parametrize(("columns", "widest"), [("60", 60), ("200", 200), ("", 80), ("0", 80), ("wide", 80)])
def test_help_is_as_wide_as_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str, widest: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    _columns.cache_clear()
    with pytest.raises(SystemExit):
        main(("hydrate", "--help"))
    widths = [len(line) for line in capsys.readouterr().out.splitlines()]
    _columns.cache_clear()
    assert widest - 30 < max(widths) <= widest
