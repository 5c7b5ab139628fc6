import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import basket_of, seed, term

sys.path.pop(0)

from rtch.models.basket import TermShape
from rtch.query import query_of, tokens_counted


def test_a_word_weighs_as_its_token_and_a_name_as_itself_and_its_parts() -> None:
    query = query_of(basket_of(term("tides", weight=1.0), seed("settle_tide", weight=0.5)))
    assert query.weights == {"tide": 1.5, "settletide": 0.5, "settl": 0.5}


def test_two_words_written_as_one_weigh_as_that_one() -> None:
    query = query_of(basket_of(term("work trees", shape=TermShape.JOINED)))
    assert query.weights == {"worktrees": 1.0, "worktr": 1.0}


def test_seeds_and_identifiers_are_names_by_their_last_part_and_words_are_none() -> None:
    query = query_of(basket_of(seed("app.Settle"), term("std::io::read_all", shape=TermShape.IDENTIFIER), term("tide")))
    assert query.names == {"settle": 0.5, "readall": 1.0}
    assert [one.term for one in query.seeds] == ["app.Settle"]


def test_terms_without_weight_are_not_of_the_request() -> None:
    query = query_of(basket_of(seed("settle", weight=0.0), term("lib/", shape=TermShape.TARGET, weight=0.0)))
    assert query == ({}, {}, (), (), {})


def test_each_token_is_told_as_it_stood_in_the_request() -> None:
    query = query_of(basket_of(seed("settleTides"), term("queries")))
    assert {token: query.spoken[token] for token in query.weights} == {
        "settletides": "settleTides",
        "settl": "settle",
        "tide": "tides",
        "query": "queries",
    }


@pytest.mark.parametrize(
    ("text", "shape", "found"),
    [
        ("Tides", TermShape.WORD, ("tide",)),
        ("settle_tides", TermShape.SEED, ("settletides",)),
        ("settleTides", TermShape.SEED, ("settletides",)),
        ("settle-tides", TermShape.WORD, ("settletides",)),
        ("utf8", TermShape.WORD, ("utf8",)),
        ("app.settle", TermShape.IDENTIFIER, ("settle",)),
        ("work trees", TermShape.JOINED, ("worktrees", "worktr")),
    ],
)
def test_a_hit_of_a_term_counts_for_its_tokens(text: str, shape: TermShape, found: tuple[str, ...]) -> None:
    assert tokens_counted(text, shape) == found


@pytest.mark.parametrize("shape", [TermShape.MOMENT, TermShape.SEED])
def test_a_time_is_one_token_and_not_its_name_and_its_number(shape: TermShape) -> None:
    assert query_of(basket_of(term("tic 4", shape=shape, weight=1.0))).weights == {"tic4": 1.0}
