"""Durable ids in text: whole, in their own letters, and nothing that only looks like one."""

from __future__ import annotations

import pytest

from rtch.limits import load_limits
from rtch.marks import MarkFinder
from rtch.spelling import SpellingSet

SURVEY = load_limits().survey
FINDER = MarkFinder(SURVEY.patterns)


def _ids(text: str) -> list[str]:
    return [one.id for one in FINDER.find(text, SURVEY.features).ids]


@pytest.mark.parametrize(
    "text", ["static 12", "tic-tac", "tic-tac-toe", "tactic-12", "rustic_12", "tics 12", "tic 12b", "tic"]
)
def test_what_only_looks_like_a_tic_is_none(text: str) -> None:
    assert _ids(text) == []


@pytest.mark.parametrize("text", ["tic 7", "Tic-412", "tic_1234", "TIC12345", "tic 7284519"])
def test_a_tic_has_a_number_of_any_length(text: str) -> None:
    assert _ids(f"seen at {text}, and later") == [text]


@pytest.mark.parametrize(
    "text",
    ["CPR_Foo_bar", "cpr_kiln_note_3_tic133", "CogPR-12", "OAVPLT-77", "sig_kiln_draught_e8bc163c82ee",
     "rc_one_two_tic230", "ent_clerk", "INV-4"],
)  # fmt: skip
def test_an_id_is_kept_as_it_is_written(text: str) -> None:
    assert _ids(f'{{"id": "{text}"}}') == [text]


@pytest.mark.parametrize(
    ("term", "holds", "lacks"),
    [
        ("tic 412", ["tic 412", "Tic-412", "tic412"], ["tic 4123", "static 412"]),
        ("OAVPLT-77", ["OAVPLT-77", "oavplt-77", "OAVPLT_77"], ["OAVPLT-777"]),
        ("cpr_glaze_tic19", ["cpr_glaze_tic19", "CPR_Glaze_tic19"], ["cpr_glaze_tic198"]),
    ],
)
def test_a_number_is_found_whole(term: str, holds: list[str], lacks: list[str]) -> None:
    spellings = SpellingSet([term])
    assert all(spellings.terms_in(text.encode()) == (0,) for text in holds)
    assert all(spellings.terms_in(text.encode()) == () for text in lacks)
