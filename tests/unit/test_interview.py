"""The interview: six fields, legal levels only, clean ends."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from rtch import interview
from rtch.errors import IntakeError
from rtch.field_guide import MEANINGS
from rtch.intake_io import parse_intake
from rtch.models.intake import Intake
from rtch.models.vocab import (
    Dialect,
    ExpectedOutput,
    FanoutLevel,
    Investigation,
    MutationRisk,
    Scope,
    TargetProfile,
)


class Person:
    """Answers in turn, and remembers what was asked; then the input ends."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.asked.append(prompt)
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)


def test_defaults_and_free_text_make_an_intake() -> None:
    intake = interview.hold(Person("find it", "", "", "", "", "3 surfaces", ""))
    assert intake.goal == "find it"
    assert intake.enough_evidence_definition == "3 surfaces"
    assert (intake.target_profile, intake.fanout_level) == (TargetProfile.MIXED, FanoutLevel.CONSERVATIVE)
    assert (intake.mutation_risk, intake.expected_output) == (MutationRisk.READ_ONLY, ExpectedOutput.HYDRATION_PACKET)
    assert intake.explicit_seeds == ()


def test_words_are_chosen_by_number_or_name_and_seeds_by_commas() -> None:
    intake = interview.hold(Person("g", "3", "LOW_MUTATION", "single_chunk", "2", "1 chunk", " a, b c ,,"))
    assert intake.target_profile is TargetProfile.CODE_PATH
    assert intake.mutation_risk is MutationRisk.LOW_MUTATION
    assert intake.expected_output is ExpectedOutput.SINGLE_CHUNK
    assert intake.fanout_level is FanoutLevel.NORMAL
    assert intake.explicit_seeds == ("a", "b c")


def test_a_wrong_word_or_blank_sentence_is_asked_again() -> None:
    person = Person("", " ", "g", "nope", "9", "mixed", "", "", "", "x", "")
    assert interview.hold(person).target_profile is TargetProfile.MIXED
    assert any("nope is none of doctrine_chain" in prompt for prompt in person.asked)


def test_only_legal_levels_are_offered() -> None:
    person = Person("g", "mixed", "high_mutation", "", "wide", "", "x", "")
    intake = interview.hold(person)
    assert intake.fanout_level is FanoutLevel.CONSERVATIVE
    assert any("wide is none of conservative" in prompt for prompt in person.asked)


def test_every_question_tells_what_its_words_mean() -> None:
    person = Person("g", "", "", "", "", "x", "")
    interview.hold(person)
    asked = "\n".join(person.asked)
    for profile in TargetProfile:
        assert profile.value in asked
        assert MEANINGS[profile] in asked


def test_what_is_known_is_not_asked_for() -> None:
    known = {
        "goal": "g",
        "target_profile": "mixed",
        "mutation_risk": "read_only",
        "expected_output": "hydration_packet",
    }
    person = Person("normal", "x", "")
    answers = interview.answers(person, known | {"investigation": "drift"})
    assert (answers["fanout_level"], len(person.asked)) == ("normal", 3)
    assert "wide" in person.asked[0]


def test_a_wrong_known_word_is_left_for_the_check() -> None:
    answers = interview.answers(Person("wide", "x", ""), {
        "goal": "g", "target_profile": "nope", "mutation_risk": "read_only", "expected_output": "hydration_packet",
    })  # fmt: skip
    assert answers["fanout_level"] == "wide"


@pytest.mark.parametrize("answered", range(7))
def test_the_end_of_input_breaks_off(answered: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        interview.hold(Person(*["x", "", "", "", "", "x", ""][:answered]))


def test_what_cannot_be_an_intake_is_refused() -> None:
    with pytest.raises(IntakeError, match=r"explicit_seeds\[0\] has 500 characters"):
        interview.hold(Person("g", "", "", "", "", "x", "y" * 500))


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Intake:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return interview.hold(Person("g", "", "", "", "", "3 surfaces", ""))


def test_it_is_saved_by_name_or_path_and_never_over_another(done: Intake, tmp_path: Path) -> None:
    said: list[str] = []
    interview.offer_to_save(Person("mine"), said.append, done)
    kept = tmp_path / "home/intakes/mine.yaml"
    assert said == [f"saved as {kept}"]
    assert parse_intake(kept.read_bytes(), name="F") == done
    said.clear()
    interview.offer_to_save(Person("mine", "here.yaml"), said.append, done)
    assert said == [f"{kept} exists already; choose another name", "saved as here.yaml"]
    assert Path("here.yaml").is_file()


@pytest.mark.parametrize("answers", [[], [""]])
def test_it_need_not_be_saved(done: Intake, tmp_path: Path, answers: Any) -> None:
    interview.offer_to_save(Person(*answers), lambda _line: pytest.fail("nothing was saved"), done)
    assert not (tmp_path / "home/intakes").exists()


def test_the_terminal_is_asked_on_stderr() -> None:
    stderr = io.StringIO()
    ask = interview.ask_on_terminal(io.StringIO(" yes \n"), stderr)
    assert ask("really? ") == "yes"
    with pytest.raises(EOFError):
        ask("again? ")
    assert stderr.getvalue() == "really? again? \n"


def test_every_word_of_the_closed_sets_has_a_meaning() -> None:
    sets = (TargetProfile, FanoutLevel, MutationRisk, ExpectedOutput, Scope, Investigation, Dialect)
    assert len(MEANINGS) == sum(len(words) for words in sets)
    assert all(MEANINGS[word] for words in sets for word in words)
