"""``rtch intake`` and the flags it shares, as a user meets them."""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

import jsonschema
import pytest
import yaml

from rtch.cli import flags
from rtch.cli.main import main
from rtch.errors import IntakeError
from rtch.intake_io import build_intake, parse_intake
from rtch.models.intake import Intake
from rtch.models.vocab import Dialect, FanoutLevel, Scope

FIELDS: dict[str, Any] = {
    "goal": "Where is a key made",
    "target_profile": "code_path",
    "fanout_level": "normal",
    "mutation_risk": "read_only",
    "expected_output": "hydration_packet",
    "enough_evidence_definition": "at least 3 surfaces and the docs agree",
}
FLAGS = [
    "--goal", FIELDS["goal"], "--profile", "code_path", "--fanout", "normal", "--risk", "read_only",
    "--output-kind", "hydration_packet", "--enough", FIELDS["enough_evidence_definition"],
]  # fmt: skip


class Run(Protocol):
    """Runs rtch in this process and gives back exit code, stdout and stderr."""

    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class Terminal(io.TextIOWrapper):
    """Standard input of a person who types these lines."""

    def __init__(self, text: str) -> None:
        super().__init__(io.BytesIO(text.encode()), encoding="utf-8")

    def isatty(self) -> bool:
        return True


def piped(text: str | bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode() if isinstance(text, str) else text), encoding="utf-8")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a working folder of their own, and nobody at the keyboard."""
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setattr(sys, "stdin", piped(""))
    return work


@pytest.fixture
def ran(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run rtch in this process; give back exit code, stdout and stderr."""

    def run(*argv: str) -> tuple[int, str, str]:
        try:
            code = main(argv)
        except SystemExit as error:
            code = int(error.code or 0)
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def asked(*argv: str, stdin: io.TextIOWrapper | None = None) -> Intake:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    flags.add_intake_flags(parser)
    return flags.intake_from_args(parser.parse_args(argv), stdin or piped(""))


# --- the flags -----------------------------------------------------------------------------------------------------


def test_flags_alone_are_a_request() -> None:
    assert asked(*FLAGS) == build_intake(FIELDS)


def test_every_flag_reaches_its_field() -> None:
    intake = asked(
        *FLAGS, "--seed=--help", "--seed", "b", "--known-target=src/a.py", "--neighbor=n.py", "--forbid=-x",
        "--scope=narrow", "--investigation=drift", "--read-budget=70",
    )  # fmt: skip
    assert intake == build_intake(
        FIELDS
        | {
            "explicit_seeds": ["--help", "b"],
            "known_target": "src/a.py",
            "known_neighbor_surfaces": ["n.py"],
            "forbidden_assumptions": ["-x"],
            "scope": "narrow",
            "investigation": "drift",
            "read_budget": 70,
        }
    )


def test_flags_win_over_the_file_and_replace_its_lists() -> None:
    Path("i.yaml").write_text(yaml.safe_dump(FIELDS | {"explicit_seeds": ["a", "b"], "read_budget": 3}))
    intake = asked("i.yaml", "--goal=other", "--seed=c")
    assert (intake.goal, intake.explicit_seeds, intake.read_budget) == ("other", ("c",), 3)


def test_file_flag_and_stdin_are_the_same_request() -> None:
    Path("i.json").write_text(json.dumps(FIELDS))
    assert asked("i.json") == asked("--intake", "i.json") == asked("-", stdin=piped("\ufeff" + json.dumps(FIELDS)))


def test_a_saved_and_a_worked_intake_are_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "home/intakes").mkdir(parents=True)
    (tmp_path / "home/intakes/mine.yaml").write_text(yaml.safe_dump(FIELDS))
    assert asked("mine") == build_intake(FIELDS)
    assert asked("--example", "10.3").explicit_seeds == ("queue_state_compile",)
    assert asked("--example=10.3", "--fanout=conservative").fanout_level is FanoutLevel.CONSERVATIVE


def test_the_sidecar_vocabulary_has_the_same_flags() -> None:
    intake = asked(
        "--dialect=sidecar", "--goal=g", "--profile=broad", "--fanout=moderate", "--risk=read_only", "--seed=x"
    )
    assert (intake.dialect, intake.scope, intake.surface_cap) == (Dialect.SIDECAR, Scope.BROAD, 7)


def test_a_preset_is_filled_in_by_an_explicit_choice() -> None:
    intake = asked("--preset", "locate-code", "--goal", "g")
    assert intake.notes[0] == "target_profile was filled by preset locate-code: code_path"


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["a", "--intake", "b"], "INTAKE and --intake are given together; give one of them"),
        (["--example=10.1", "-"], "INTAKE and --example are given together; give one of them"),
        ([*FLAGS, "--read-budget=1e3"], "the request: read_budget must be a whole number, found '1e3'"),
        ([*FLAGS, "--read-budget=-5"], "the request: read_budget must be at least 1, found -5"),
        (["--preset=nope"], "there is no preset nope; presets are "),
        ([*FLAGS, "--seed=a\udcff"], "the request: explicit_seeds[0] holds bytes or escapes that are no UTF-8 text"),
    ],
)
def test_a_wrong_command_line_is_refused(argv: list[str], sentence: str) -> None:
    with pytest.raises(IntakeError) as caught:
        asked(*argv)
    assert str(caught.value).startswith(sentence)


def test_without_anything_the_missing_fields_are_named() -> None:
    with pytest.raises(IntakeError) as caught:
        asked()
    assert all(name in str(caught.value) for name in FIELDS)


def test_a_person_is_asked_and_offered_to_save(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    intake = asked(stdin=Terminal("g\n\n\n\n\n3 surfaces\n\nmine\n"))
    assert intake.goal == "g"
    kept = tmp_path / "home/intakes/mine.yaml"
    assert parse_intake(kept.read_bytes(), name="F") == intake
    told = capsys.readouterr()
    assert told.out == ""
    assert f"rtch: saved as {kept}" in told.err


def test_a_person_who_leaves_is_let_go(monkeypatch: pytest.MonkeyPatch, ran: Run) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("g\n"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    code, out, err = ran("intake", "new")
    assert (code, out) == (130, "")
    assert err.endswith("rtch: interrupted\n")


# --- check ---------------------------------------------------------------------------------------------------------


def test_check_shows_digest_levels_and_criteria(ran: Run) -> None:
    Path("i.yaml").write_text(yaml.safe_dump(FIELDS))
    code, out, err = ran("intake", "check", "i.yaml")
    report = yaml.safe_load(out)
    assert (code, err) == (0, "")
    assert report["intake"] == FIELDS
    assert report["fanout"] == {"level": "normal", "legal": ["conservative", "normal"]}
    assert report["criteria"] == {
        "compiled": [{"kind": "min_surfaces", "expected": "at least 3 surfaces", "source": "sentence"}],
        "not_machine_checked": ["the docs agree"],
    }
    assert len(report["intake_digest"]) == 64
    assert report["disposition"] is False
    assert json.loads(ran("intake", "check", "i.yaml", "--format", "json")[1]) == report


def test_check_puts_the_constraints_first(ran: Run) -> None:
    code, out, _ = ran("intake", "check", "--preset", "before-risky-change", "--goal", "g")
    assert code == 0
    assert out.startswith("constraint_stack:\n- 'Source files are not changed")


def test_check_says_when_nothing_can_be_checked(ran: Run) -> None:
    code, _, err = ran("intake", "check", *FLAGS[:-1], "until we understand it")
    assert code == 0
    assert err == "rtch: nothing of the halting definition can be checked, so it is never satisfied\n"


def test_check_refuses_with_exit_2_and_nothing_on_stdout(ran: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ran("intake", "check") == (
        2, "", "rtch: there is no intake to check; give a file, a saved name, - or flags\n",
    )  # fmt: skip
    monkeypatch.setattr(sys, "stdin", piped(json.dumps(FIELDS | {"fanout_level": "wide"})))
    code, out, err = ran("intake", "check", "-")
    assert (code, out) == (2, "")
    assert err.startswith("rtch: standard input: fanout_level wide is not legal: ")
    assert err.endswith("the highest legal level is normal\n")


# --- new, list, schema ---------------------------------------------------------------------------------------------


def test_new_writes_what_check_reads(ran: Run, tmp_path: Path) -> None:
    code, out, _ = ran("intake", "new", *FLAGS, "--seed=no")
    assert code == 0
    assert parse_intake(out.encode(), name="F") == build_intake(FIELDS | {"explicit_seeds": ["no"]})
    assert ran("intake", "new", *FLAGS, "--output", "o.yaml") == (0, "", "rtch: written to o.yaml\n")
    assert ran("intake", "new", *FLAGS, "--output", "o.yaml")[0] == 2
    assert ran("intake", "new", *FLAGS, "--save", "mine")[0] == 0
    assert (tmp_path / "home/intakes/mine.yaml").read_text() == Path("o.yaml").read_text()


def test_new_names_what_is_missing_when_nobody_can_be_asked(ran: Run) -> None:
    code, out, err = ran("intake", "new", "--goal", "g")
    assert (code, out) == (2, "")
    assert "target_profile is missing" in err


def test_new_asks_only_for_what_is_missing(ran: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("my goal\n\n"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    code, out, err = ran("intake", "new", "--preset", "audit")
    assert code == 0, err
    intake = parse_intake(out.encode(), name="F")
    assert intake.goal == "my goal"
    assert "target_profile was filled by preset audit: audit_history" in intake.notes
    assert "goal was filled" not in out


def test_list_shows_all_four_kinds(ran: Run, tmp_path: Path) -> None:
    folder = tmp_path / "home/intakes"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text('goal: "a\\e[31mb"\n')
    (folder / "side.yaml").write_text("intent: {goal: side goal}\n")
    (folder / "broken.yaml").write_text("[")
    code, out, _ = ran("intake", "list")
    assert code == 0
    assert "\x1b" not in out
    rows = json.loads(ran("intake", "list", "--format", "json")[1])
    assert [(row["name"], row["about"]) for row in rows["saved"]][1:] == [("mine", "a [31mb"), ("side", "side goal")]
    assert rows["saved"][0]["about"].startswith("unreadable: broken.yaml")
    assert {row["name"] for row in rows["examples"]} == {"10.1", "10.2", "10.3", "10.4", "10.5"}
    assert any(row["name"] == "audit" for row in rows["presets"])
    assert all(row["name"] in out for kind in rows.values() for row in kind)


@pytest.fixture
def schema(ran: Run) -> dict[str, Any]:
    code, out, _ = ran("intake", "schema")
    assert code == 0
    loaded: dict[str, Any] = json.loads(out)
    return loaded


def valid(schema: dict[str, Any], value: object) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def test_the_schema_is_one_and_holds_its_own_examples(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == "urn:rtch:schema:intake:1"
    assert len(schema["examples"]) == 6
    for example in schema["examples"]:
        assert valid(schema, example)
        build_intake(example)


def test_the_schema_tells_what_each_field_and_word_means(schema: dict[str, Any]) -> None:
    tactical = schema["$defs"]["Tactical"]["properties"]
    assert set(tactical) == set(Intake.model_fields)
    assert all(field["description"] for field in tactical.values())
    words = schema["$defs"]["FanoutLevel"]["oneOf"]
    assert [word["const"] for word in words] == ["conservative", "normal", "wide"]
    assert all(word["description"] for word in words)


@pytest.mark.parametrize(
    "wrong",
    [
        {"goal": 7},
        {"goal": ""},
        {"fanout_level": "wide"},
        {"fanout_level": "moderate"},
        {"mutation_risk": "high_mutation"},
        {"target_profile": "doctrine_chain", "expected_output": "claim_evidence"},
        {"read_budget": 0},
        {"explicit_seeds": "a"},
        {"unknown": 1},
        {"enough_evidence": {"min_surfaces": 0}},
        {"intent": {}},
    ],
)
def test_the_schema_refuses_what_rtch_refuses(schema: dict[str, Any], wrong: Any) -> None:
    with pytest.raises(IntakeError):
        build_intake(FIELDS | wrong)
    assert valid(schema, FIELDS)
    assert not valid(schema, FIELDS | wrong)


# --- cost ----------------------------------------------------------------------------------------------------------


def test_checking_loads_none_of_the_heavy_libraries() -> None:
    Path("i.yaml").write_text(yaml.safe_dump(FIELDS))
    code = (
        "import sys\nfrom rtch.cli.main import main\ncode = main(['intake', 'check', 'i.yaml'])\n"
        "heavy = {'prefect', 'mcp', 'diskcache', 'tree_sitter', 'markdown_it', 'sqlite3', 'asyncio'}\n"
        "heavy &= set(sys.modules)\n"
        "print('heavy', sorted(heavy))\nsys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.endswith("heavy []\n")


@pytest.mark.parametrize("action", ["new", "check", "list", "schema"])
def test_help_loads_no_models(action: Any) -> None:
    code = (
        "import sys\nfrom rtch.cli.main import main\n"
        f"try:\n    main(['intake', '{action}', '--help'])\nexcept SystemExit:\n    pass\n"
        "print('heavy', sorted({'pydantic', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.endswith("heavy []\n")
