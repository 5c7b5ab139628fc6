"""A short interview: on a terminal, the six required fields are asked for one by one.

Questions go to stderr, so that stdout stays the result. A wrong word is asked for again. The end of input breaks
off as an interrupt does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from rtch.errors import RtchError
from rtch.field_guide import FIELDS, MEANINGS, Field
from rtch.intake_files import looks_like_path, save, write_new
from rtch.intake_io import build_intake, dump_intake
from rtch.legality import LEVELS, ceiling
from rtch.models.intake import Intake
from rtch.models.vocab import ExpectedOutput, Investigation, MutationRisk, TargetProfile

Ask = Callable[[str], str]
"""Shows a prompt and returns one line of answer; raises EOFError at the end of input."""
Say = Callable[[str], object]
"""Shows a line."""

_ORDER = ("goal", "target_profile", "mutation_risk", "expected_output", "fanout_level", "enough_evidence_definition")
"""The level comes after what it depends on, so that only legal ones are offered."""


def hold(ask: Ask) -> Intake:
    """Ask for the required fields and for seeds, and return the intake.

    Raises:
        KeyboardInterrupt: the person broke off, or the input ended.
    """
    return build_intake(answers(ask, {}), name="the interview")


def missing(known: Mapping[str, object]) -> tuple[str, ...]:
    """Return the required fields that are not known yet, in the order they are asked for."""
    return tuple(name for name in _ORDER if name not in known)


def answers(ask: Ask, known: Mapping[str, object]) -> dict[str, object]:
    """Ask for what is missing, and return it with what is known.

    Args:
        ask: how to ask.
        known: fields that are not asked for; a word that is wrong is left for the check.

    Raises:
        KeyboardInterrupt: the person broke off, or the input ended.
    """
    given: dict[str, object] = dict(known)
    try:
        for name in missing(known):
            given[name] = _answer(ask, FIELDS[name], given)
        if "explicit_seeds" not in given:
            given |= _seeds(ask)
    except EOFError:
        raise KeyboardInterrupt from None
    return given


def offer_to_save(ask: Ask, say: Say, intake: Intake) -> None:
    """Ask under which name to keep the intake, until it is kept or the answer is nothing."""
    while target := _line(ask, "save it as a name or path, or nothing to go on: "):
        try:
            text = dump_intake(intake)
            path = write_new(text, Path(target)) if looks_like_path(target) else save(text, target)
        except RtchError as error:
            say(str(error))
        else:
            say(f"saved as {path}")
            return


def ask_on_terminal(stdin: TextIO, stderr: TextIO) -> Ask:
    """Return a way of asking that prompts on stderr; ``input`` would prompt on stdout."""

    def ask(prompt: str) -> str:
        stderr.write(prompt)
        stderr.flush()
        line = stdin.readline()
        if not line:
            stderr.write("\n")
            raise EOFError
        return line.strip()

    return ask


def _answer(ask: Ask, field: Field, given: Mapping[str, object]) -> str:
    words = _choices(field, given)
    if not words:
        return _sentence(ask, field)
    default = field.default.value if field.default and field.default.value in words else words[0]
    prompt = f"{field.name}: {field.says}\n"
    assert field.words is not None
    prompt += "".join(
        f"  {number}. {word}  {MEANINGS[field.words(word)]}\n" for number, word in enumerate(words, start=1)
    )
    while True:
        answer = ask(f"{prompt}[{default}] ").strip().lower()
        if not answer:
            return default
        if answer.isdecimal() and 1 <= int(answer) <= len(words):
            return words[int(answer) - 1]
        if answer in words:
            return answer
        prompt = f"  {answer} is none of {', '.join(words)}\n"


def _choices(field: Field, given: Mapping[str, object]) -> list[str]:
    if field.words is None:
        return []
    words = [member.value for member in field.words]
    if field.name != "fanout_level":
        return words
    try:
        top = ceiling(
            TargetProfile(str(given["target_profile"])),
            MutationRisk(str(given["mutation_risk"])),
            ExpectedOutput(str(given["expected_output"])),
            Investigation(str(given["investigation"])) if "investigation" in given else None,
        )
    except ValueError:  # a flag holds no known word, which the check will tell
        return words
    return [level.value for level in LEVELS[: LEVELS.index(top.level) + 1]]


def _sentence(ask: Ask, field: Field) -> str:
    prompt = f"{field.name}: {field.says}, such as '{field.example}'\n> "
    while not (answer := ask(prompt).strip()):
        prompt = "> "
    return answer


def _seeds(ask: Ask) -> dict[str, object]:
    field = FIELDS["explicit_seeds"]
    answer = ask(f"{field.name}: {field.says}, with commas between them, or nothing\n> ")
    seeds = [seed.strip() for seed in answer.split(",") if seed.strip()]
    return {field.name: seeds} if seeds else {}


def _line(ask: Ask, prompt: str) -> str:
    """Return an answer that may as well be nothing; the end of input is nothing."""
    try:
        return ask(prompt).strip()
    except EOFError:
        return ""
