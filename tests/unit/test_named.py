import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import basket_of, cost_of, place, seed, term

sys.path.pop(0)

from rtch.models.basket import Basket, FrameRef, TermShape
from rtch.models.vocab import Origin
from rtch.named import FRAME, MODULE, NAMED_FILE, NAMED_PATH, QUOTED, SEEDS, TARGET, Named, Part, seed_rarity
from rtch.path_words import PathWords
from rtch.query import query_of

PATHS = ("a.py", "b.py", "c.py", "d.py", "e.py", "f.py")


def named(
    basket: Basket, counts: dict[str, dict[str, int]] | None = None, *, paths: tuple[str, ...] = PATHS
) -> dict[str, list[Part]]:
    cost = cost_of(counts or {}, terms=[one.term for one in basket.terms], searched=len(paths))
    return Named(PathWords(tuple(sorted(paths))), basket, query_of(basket), cost).parts()


def values(found: dict[str, list[Part]], name: str) -> dict[str, float]:
    """Return the files with a part of a name, and its value."""
    return {path: value for path, parts in found.items() for one, value, _ in parts if one == name}


# Seeds


def test_what_holds_a_seed_says_which() -> None:
    found = named(basket_of(seed("tide"), seed("ebb")), {"a.py": {"tide": 1}, "b.py": {"tide": 3, "ebb": 1}})
    assert {path: because for path, [(_, _, because)] in found.items()} == {
        "a.py": "holds tide",
        "b.py": "holds tide, ebb",
    }


def test_a_seed_in_a_name_or_path_counts_without_a_mention_and_once_with_one() -> None:
    known = seed("tide", places=(place("c.py", Origin.CODE_SYMBOL), place("a.py", Origin.CODE_SYMBOL)))
    found = named(basket_of(known), {"a.py": {"tide": 2}})
    assert found == {"a.py": [("seeds", SEEDS, "holds tide")], "c.py": [("seeds", SEEDS, "holds tide")]}


def test_a_seed_that_is_known_from_what_is_no_file_makes_none_of_it() -> None:
    folder = seed("lib", places=(place("lib", Origin.FILE_PATH, name="lib"),))
    assert "lib" not in named(basket_of(folder), paths=("lib/a.py", "b.py"))


def test_a_generic_seed_alone_leads_nowhere() -> None:
    alone, paired = seed("state", generic=True), seed("state", generic=True, pairs_with=("tide",))
    counts = {"a.py": {"state": 1}}
    assert [values(named(basket_of(one), counts), "seeds") for one in (alone, paired)] == [{}, {"a.py": SEEDS}]


def test_the_share_of_a_seed_falls_with_the_files_that_hold_it() -> None:
    basket = basket_of(seed("everywhere"), seed("half"), seed("one"), seed("none"))
    counts = {path: {"everywhere": 1} for path in PATHS}
    counts |= {path: {"everywhere": 1, "half": 1} for path in PATHS[:3]} | {"f.py": {"everywhere": 1, "one": 1}}
    found = seed_rarity(query_of(basket), cost_of(counts, terms=["none"]), 6)
    assert found["one"] == found["none"] == 1.0
    assert 1 > found["half"] > found["everywhere"] > 0


@pytest.mark.parametrize("total", [0, 1])
def test_the_smallest_trees_have_rare_seeds(total: int) -> None:
    assert seed_rarity(query_of(basket_of(seed("tide"))), cost_of({}), total) == {"tide": 1.0}


# Paths and names


def test_the_target_is_the_file_or_what_lies_in_the_folder() -> None:
    targets = [term(text, shape=TermShape.TARGET, weight=0.0) for text in ("lib", "a.py")]
    found = named(basket_of(*targets), paths=("a.py", "lib/b.py", "library/c.py", "x/a.py"))
    assert found == {
        "a.py": [("target", TARGET, "the known target")],
        "lib/b.py": [("target", TARGET, "lies in the known target")],
    }


@pytest.mark.parametrize(
    ("text", "path", "share"),
    [
        ("src/a.py", "src/a.py", 1.0),
        ("./src/a.py", "src/a.py", 1.0),
        (".github/ci.yml", ".github/ci.yml", 1.0),
        ("app/a.py", "src/app/a.py", 1.0),
        ("a.py", "src/a.py", 0.7),
        ("/home/me/app/a.py", "src/app/a.py", 0.6),
        ("b.py", "src/a.py", 0.0),
        ("apy", "src/a.py", 0.0),
    ],
)
def test_a_path_that_is_named_counts(text: str, path: str, share: float) -> None:
    found = named(basket_of(term(text, shape=TermShape.PATH)), paths=(path, "z.py"))
    assert values(found, "named_path").get(path, 0.0) == pytest.approx(NAMED_PATH * share)


@pytest.mark.parametrize("text", ["harbor-master", "HarborMaster", "app.harbor_master"])
def test_a_file_that_is_called_what_was_asked_for_counts(text: str) -> None:
    found = named(basket_of(seed(text)), paths=("lib/harbor_master.py", "lib/harbor.py", "lib/harbor_master/x.py"))
    assert values(found, "named_file") == {"lib/harbor_master.py": NAMED_FILE}


def test_frames_count_and_the_innermost_most() -> None:
    frames = tuple(
        FrameRef(path=path, line=1, depth=depth)
        for path, depth in (("/srv/app/a.py", 1), ("app/b.py", 2), ("x/c.py", 2))
    )
    found = named(Basket(terms=(), frames=frames), paths=("app/a.py", "app/b.py", "other/c.py"))
    assert values(found, "frame") == pytest.approx({"app/a.py": FRAME, "app/b.py": 0.625 * FRAME})


@pytest.mark.parametrize(
    ("name", "path", "share"),
    [
        ("app.util.text", "src/app/util/text.py", 1.0),
        ("app.util.text.clean", "src/app/util/text.py", 0.5 + 0.5 * 3 / 4),
        ("app::util::text", "src/app/util/text.rs", 1.0),
        ("app::text", "src/app/text/mod.rs", 1.0),
        ("app.util", "src/app/util/__init__.py", 1.0),
        ("Text.clean", "src/text.py", 0.8),
        ("other.thing", "src/app/util/text.py", 0.0),
    ],
)
def test_a_dotted_module_counts(name: str, path: str, share: float) -> None:
    found = named(basket_of(term(name, shape=TermShape.IDENTIFIER)), paths=(path, "z.py"))
    assert values(found, "module").get(path, 0.0) == pytest.approx(MODULE * share, abs=1e-6)


# Quotes


def test_quotes_count_by_their_share() -> None:
    quotes = [term(text, shape=TermShape.QUOTE) for text in ("no such tide", "it is late")]
    found = named(basket_of(*quotes), {"a.py": {"no such tide": 1, "it is late": 1}, "b.py": {"it is late": 4}})
    assert values(found, "quoted") == {"a.py": QUOTED, "b.py": QUOTED / 2}


def test_a_quote_that_was_not_counted_is_no_part_of_the_share() -> None:
    quotes = [term(text, shape=TermShape.QUOTE) for text in ("no such tide", "it is late")]
    basket = basket_of(*quotes)
    cost = cost_of({"a.py": {"it is late": 1}})
    found = Named(PathWords(PATHS), basket, query_of(basket), cost).parts()
    assert values(found, "quoted") == {"a.py": QUOTED}


@pytest.mark.parametrize("basket", [basket_of(), basket_of(term("tide")), basket_of(seed("tide", weight=0.0))])
def test_what_the_request_does_not_name_is_not_met(basket: Basket) -> None:
    assert named(basket, {"a.py": {"tide": 3}}) == {}
