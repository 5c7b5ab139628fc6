import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import basket_of, plan_of, seed, term

sys.path.pop(0)

from rtch.models.basket import Term, TermShape
from rtch.models.vocab import Origin, Use
from rtch.stages import bearing as module
from rtch.stages.bearing import LONGEST_WORD, Bearing, Mark, whole_forms
from rtch.words import IDENTIFIER, text_tokens, tokens

EVERY_ORIGIN = tuple(Origin)


def bearing(*terms: Term, pulls: dict[str, float] | None = None, **plan: Any) -> Bearing:
    """Return what hydration reads of some terms; each token of them pulls 1 unless told otherwise."""
    known = pulls or dict.fromkeys((token for one in terms for token in text_tokens(one.term)), 1.0)
    fields: dict[str, Any] = {"pulls": tuple(sorted(known.items())), "admitted": EVERY_ORIGIN} | plan
    return Bearing(plan_of(basket=basket_of(*terms), **fields))


def places(found: list[Mark]) -> list[tuple[int, str, bool]]:
    return [(mark.line, mark.token, mark.term is not None) for mark in found]


# Which lines bear a word


def test_a_line_bears_each_token_once_and_lines_are_in_order() -> None:
    found = bearing(seed("tide"), term("ebb"), pulls={"tide": 2.0, "ebb": 0.5}).marks("tide Tides ebb\nnone\ntide\n")
    assert [mark[:3] for mark in found] == [(1, "ebb", 0.5), (1, "tide", 2.0), (3, "tide", 2.0)]


@pytest.mark.parametrize(
    "spelled", ["HarmonyEngine", "harmony_engine", "harmonyEngine", "_harmony_engine", "HARMONY_ENGINE"]
)
def test_a_name_is_met_in_every_spelling(spelled: str) -> None:
    found = bearing(seed("HarmonyEngine")).marks(f"x {spelled}(1)")
    assert places(found) == [(1, "engin", False), (1, "harmony", False), (1, "harmonyengine", True)]


def test_a_name_in_two_words_is_met_as_its_parts() -> None:
    assert places(bearing(seed("HarmonyEngine")).marks("harmony-engine")) == [
        (1, "engin", False),
        (1, "harmony", False),
    ]


def test_two_words_of_a_goal_are_met_as_one() -> None:
    pair = term("work tree", shape=TermShape.JOINED)
    assert set(whole_forms(pair)) == {"worktree", "worktr"}
    assert places(bearing(pair, pulls={"worktree": 1.0, "worktr": 1.0}).marks("a worktree\nWorkTree")) == [
        (1, "worktr", True),
        (2, "worktree", True),
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("tide", [1]),
        ("", []),
        ("\n\n", []),
        ("x\r\ntide\r\n", [2]),
        ("x\rtide\ry\ntide", [1, 2]),
        ("x\u2028tide\x0c\nx\n", [1]),
        ("\0tide\0\ntide\0", [1, 2]),
        ("untide\ntidewater\n", []),
    ],
    ids=["no end", "empty", "empty lines", "CRLF", "lone CR", "other line ends", "NUL", "parts of words"],
)
def test_lines_end_with_lf_alone(text: str, lines: list[int]) -> None:
    assert [mark.line for mark in bearing(seed("tide")).marks(text)] == lines


@pytest.mark.parametrize(("length", "met"), [(LONGEST_WORD - 1, True), (LONGEST_WORD, False)])
def test_a_word_that_is_too_long_is_data(length: int, *, met: bool) -> None:
    word = "tide_" + "x" * (length - 5)
    assert bool(bearing(seed("tide")).marks(word)) is met


def test_a_huge_line_of_words_that_never_return_is_not_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KNOWN_WORDS", 100)
    reader = bearing(seed("tide"))
    assert places(reader.marks("tide " + " ".join(f"x{i:x}" for i in range(5000)) + " tide")) == [(1, "tide", True)]
    assert len(reader._known) <= 100


# Which terms stand for evidence


@pytest.mark.parametrize(
    ("fields", "is_term"),
    [
        ({}, True),
        ({"shape": TermShape.IDENTIFIER}, True),
        ({"shape": TermShape.WORD}, True),
        ({"shape": TermShape.QUOTE}, False),
        ({"shape": TermShape.PATH}, False),
        ({"shape": TermShape.NEIGHBOR, "use": Use.NEIGHBOR_ONLY}, False),
        ({"use": Use.CAUTION}, False),
        ({"use": Use.EXCLUDE}, False),
        ({"use": Use.NEIGHBOR_ONLY}, False),
        ({"use": Use.PRESSURE}, True),
        ({"origin": Origin.EXPLORATORY}, False),
    ],
)
def test_only_what_was_said_and_may_be_looked_for_is_a_term(fields: dict[str, Any], *, is_term: bool) -> None:
    reader = bearing(seed("tide", **fields), admitted=(Origin.EXPLICIT_SEED,))
    assert places(reader.marks("tide")) == [(1, "tide", is_term)]


def test_of_two_terms_of_one_form_the_more_trusted_stands() -> None:
    first, second = seed("tide"), term("tides")
    (mark,) = bearing(first, second).marks("tides")
    assert mark.term == first


def test_a_token_that_pulls_nothing_is_no_mark() -> None:
    assert bearing(seed("tide"), pulls={"ebb": 1.0}).marks("tide ebb") == [Mark(1, "ebb", 1.0, None)]
    assert bearing(seed("tide"), pulls={"none": 1.0}).marks("tide") == []
    assert Bearing(plan_of(basket=basket_of(seed("tide")))).marks("tide") == []


# Where in a line


@pytest.mark.parametrize(
    ("line", "token", "column"),
    [
        ("tide", "tide", 0),
        ("  x = ebb(tides)\r", "tide", 10),
        ("untide tide", "tide", 7),
        ("\u00e4\U0001f600 tide", "tide", 3),
        ("call HarmonyTide tide", "tide", 5),
        ("nothing", "tide", 0),
    ],
)
def test_a_column_is_where_the_first_word_with_the_token_begins(line: str, token: str, column: int) -> None:
    assert bearing(seed("tide")).column(line, token) == column


WORDS = (
    "tide",
    "Tides",
    "tide_table",
    "TideTable",
    "t_ide",
    "ebb",
    "EBB",
    "x1",
    "\u00e4ebb",
    "_",
    "-",
    "\r",
    "\0",
    " ",
)
texts = st.lists(st.sampled_from((*WORDS, "\n", " ")), max_size=30).map("".join)


@given(texts, st.permutations(["tide table", "ebb", "TideTable"]))
def test_marks_are_the_tokens_of_each_line(text: str, asked: list[str]) -> None:
    reader = bearing(*(seed(one) for one in asked))
    wanted = {token for one in asked for token in text_tokens(one)}
    expected = [(n, sorted(wanted & set(text_tokens(line)))) for n, line in enumerate(text.split("\n"), 1)]
    assert [mark[:2] for mark in reader.marks(text)] == [(n, token) for n, found in expected for token in found]


@given(texts)
def test_a_column_of_a_mark_begins_a_word_with_its_token(text: str) -> None:
    reader = bearing(seed("tide"), seed("TideTable"))
    lines = text.split("\n")
    for mark in reader.marks(text):
        line = lines[mark.line - 1]
        at = reader.column(line, mark.token)
        word = next(iter(IDENTIFIER.finditer(line, at)))
        assert word.start() == at
        assert mark.token in tokens(word.group())
