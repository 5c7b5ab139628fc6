import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import basket_of, cost_of, seed, term

sys.path.pop(0)

from rtch.bodies import BODY, K1, PATH, Bodies, saturated, share_of
from rtch.models.basket import Basket, TermShape
from rtch.path_words import PathWords
from rtch.query import query_of

PATHS = ("a.md", "b.md", "c.md", "d.md", "tide/e.md", "tide/tide.md")


def bodies(
    basket: Basket,
    counts: dict[str, dict[str, int]],
    *,
    sizes: dict[str, int] | None = None,
    paths: tuple[str, ...] = PATHS,
) -> Bodies:
    cost = cost_of(counts, terms=[one.term for one in basket.terms], searched=len(paths))
    cost = cost.model_copy(update={"sizes": tuple((sizes or {}).get(path, 1000) for path in cost.paths)})
    return Bodies(PathWords(paths), basket, query_of(basket), cost)


def rarity(files: int) -> float:
    return math.log(1 + (len(PATHS) - files + 0.5) / (files + 0.5))


def test_more_mentions_count_more_and_never_more_than_saturation_allows() -> None:
    values = [saturated(amount) for amount in (0.0, 1.0, 2.0, 100.0, 1e9)]
    assert values == sorted(values)
    assert (values[0], values[1]) == (0.0, 1.0)
    assert values[-1] == pytest.approx(K1 + 1)


def test_a_mention_counts_for_the_weight_in_a_file_of_the_mean_size_and_less_in_a_longer_one() -> None:
    assert [share_of(2.0, size, 100) for size in (100, 300)] == [2.0, 1.0]


def test_text_and_path_bear_words_by_field() -> None:
    found = bodies(basket_of(term("tides")), {"a.md": {"tides": 3}, "tide/tide.md": {"tides": 1}})
    assert found.of("a.md") == {"tide": {"body": 3 * BODY}}
    assert found.of("tide/tide.md") == {"tide": {"body": BODY, "path": 2 * PATH}}
    assert found.of("tide/e.md") == {"tide": {"path": PATH}}
    assert found.of("b.md") == found.of("elsewhere.md") == {}


def test_a_mention_in_a_long_file_counts_less() -> None:
    counts = {"a.md": {"ebb": 1}, "b.md": {"ebb": 1}}
    found = bodies(basket_of(term("ebb")), counts, sizes={"a.md": 100, "b.md": 900})
    assert [found.of(path)["ebb"]["body"] for path in counts] == [share_of(BODY, size, 500) for size in (100, 900)]


def test_several_terms_of_one_token_count_as_the_one_that_stands_most_often() -> None:
    counts = {"a.md": {"tide": 2, "tides": 5}, "b.md": {"tide": 4}, "c.md": {"tides": 1}}
    found = bodies(basket_of(seed("tide"), term("tides")), counts)
    assert [found.of(path)["tide"]["body"] / BODY for path in counts] == [5, 4, 1]


def test_a_qualified_name_counts_as_its_last_part_and_two_words_as_one() -> None:
    basket = basket_of(term("app.settle_row", shape=TermShape.IDENTIFIER), term("ebb tide", shape=TermShape.JOINED))
    found = bodies(basket, {"a.md": {"app.settle_row": 1, "ebb tide": 2}})
    assert {token: row["body"] / BODY for token, row in found.of("a.md").items()} == {
        "settlerow": 1,
        "ebbtide": 2,
        "ebbtid": 2,
    }


def test_words_without_weight_are_not_of_the_request() -> None:
    found = bodies(basket_of(term("ebb", weight=0.0)), {"a.md": {"ebb": 3}})
    assert (found.rarity(), found.scores({}), found.of("a.md")) == ({}, {}, {})


def test_a_word_is_the_rarer_the_fewer_files_bear_it_in_text_or_path() -> None:
    counts = {"a.md": {"tide": 1, "ebb": 1}, "tide/e.md": {"tide": 1}}
    found = bodies(basket_of(term("tide"), term("ebb"), term("absent")), counts)
    assert found.rarity() == {"ebb": rarity(1), "tide": rarity(3)}


def test_files_whose_names_show_a_word_are_counted_once() -> None:
    counts = {"a.md": {"ebb": 1}}
    found = bodies(basket_of(term("ebb"), term("tide")), counts)
    shown = {"ebb": {"a.md", "b.md"}, "flow": {"c.md"}, "tide": {"tide/e.md"}}
    assert found.rarity(shown) == {"ebb": rarity(2), "flow": rarity(1), "tide": rarity(2)}


def test_scores_are_what_the_fields_of_each_file_are_worth() -> None:
    basket = basket_of(seed("tide", weight=0.5), term("ebb"))
    counts = {"a.md": {"tide": 2}, "b.md": {"tide": 1, "ebb": 3}, "tide/e.md": {"tide": 4}}
    found, weights = bodies(basket, counts, sizes={"b.md": 9000}), query_of(basket).weights
    worth = {
        path: math.fsum(
            weights[token] * found.rarity()[token] * saturated(math.fsum(fields.values()))
            for token, fields in found.of(path).items()
        )
        for path in PATHS
    }
    assert found.scores(weights) == pytest.approx({path: value for path, value in worth.items() if value})


def test_nothing_counted_in_an_empty_tree_is_worth_nothing() -> None:
    found = bodies(basket_of(term("tide")), {}, paths=())
    assert (found.rarity(), found.scores({"tide": 1.0}), found.of("a.md")) == ({}, {}, {})
