"""The page on halting shows what the grammar does."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from rtch.criteria import compile_halting
from rtch.halting_grammar import read_sentence
from rtch.intake_io import build_intake
from rtch.models.vocab import CriterionKind

PAGE = (Path(__file__).resolve().parents[2] / "docs/halting.md").read_text(encoding="utf-8")
REQUEST: dict[str, object] = {
    "goal": "g", "target_profile": "mixed", "fanout_level": "normal", "mutation_risk": "read_only",
    "expected_output": "hydration_packet", "enough_evidence_definition": "x", "explicit_seeds": ["s"],
}  # fmt: skip


def examples() -> list[tuple[str, str]]:
    """Return each example of the table with the kind that its row names."""
    rows = re.findall(r"^\| (`.*?) \| `(\w+)`.*\|$", PAGE, re.MULTILINE)
    code = re.compile(r"(?<!`)(`{1,2})(?!`) ?(.+?) ?\1(?!`)")
    return [(example[1].strip(), kind) for cell, kind in rows for example in code.findall(cell)]


def test_every_example_of_the_table_becomes_its_kind() -> None:
    found = examples()
    assert len(found) > 30
    wrong = []
    for sentence, kind in found:
        intake = build_intake(REQUEST | {"enough_evidence_definition": sentence, "known_target": "k.py"})
        kinds = {criterion.kind.value for criterion in compile_halting(intake).compiled}
        if kinds != {kind}:
            wrong.append((sentence, kind, kinds))
    assert wrong == []
    assert {kind for _, kind in found} == {kind.value for kind in CriterionKind}


def test_the_block_on_the_page_is_a_valid_one() -> None:
    block = re.search(r"```yaml\n(enough_evidence:.*?)```", PAGE, re.DOTALL)
    assert block is not None
    intake = build_intake(REQUEST | yaml.safe_load(block[1]))
    assert [criterion.kind for criterion in compile_halting(intake).compiled] == [
        CriterionKind.MIN_SURFACES,
        CriterionKind.MIN_CLASS,
        CriterionKind.REQUIRED_TERM,
        CriterionKind.REQUIRED_PATH,
        CriterionKind.PER_SEED_COVERAGE,
    ]


def test_the_words_said_to_be_left_to_people_are() -> None:
    for sentence in (
        "three test files",
        "we know why `foo` fails",
        "3 files that mention `x`",
        "a or b",
        "several files",
    ):
        assert not all(clause.whole for clause in read_sentence(sentence))
