import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import basket_of, desk_of, intake_of, limits_with, place, seed, term

sys.path.pop(0)

from rtch.models.basket import Basket, Place, Term, TermShape, TimeOrigin
from rtch.models.features import DurableId, FileFeatures, Heading, Key, Symbol
from rtch.models.vocab import FileRole, KeyKind, Origin, SymbolKind, Use
from rtch.path_words import PathWords
from rtch.stages.basket import basket
from rtch.stages.grounding import TRUST, Grounding, grounded, names_wanted
from rtch.stages.intake import intake as accept

FEATURES = (
    FileFeatures(
        path="docs/guide.md",
        role=FileRole.DOCUMENT,
        headings=(Heading(1, "The Harbour", 1), Heading(2, "Caches of rows", 9)),
        ids=(DurableId("CPR-17", 4), DurableId("cpr_lamp_order", 5)),
    ),
    FileFeatures(
        path="src/queue.py",
        role=FileRole.CODE,
        symbols=(Symbol("QueueCompiler", SymbolKind.CLASS, 3), Symbol("settle", SymbolKind.FUNCTION, 8)),
    ),
    FileFeatures(path="data.yaml", role=FileRole.CONFIG, keys=(Key("tide", "tide", KeyKind.YAML, 2),)),
    FileFeatures(path="table.json", role=FileRole.DATA, keys=(Key("ebb_flow", "a.ebb_flow", KeyKind.JSON, 1),)),
    FileFeatures(path="registry.json", role=FileRole.CONFIG, keys=(Key("berth", "berth", KeyKind.JSON, 1),)),
)
PATHS = ("data.yaml", "docs/guide.md", "pier/mast.py", "registry.json", "src/queue.py", "table.json")
GENERIC = frozenset(limits_with().survey.words.generic)


@pytest.fixture
def fill(tmp_path: Path) -> Any:
    """Return a basket grounded in the tree above; ``fields`` are the intake's."""

    def make(**fields: Any) -> Basket:
        asked = basket(accept(intake_of(**fields)), TimeOrigin(), limits_with().basket, desk_of(tmp_path))
        known = Grounding(names_wanted(asked), ("registry.json",), 12)
        known.paths(PathWords(PATHS))
        for one in FEATURES:
            known.file(one)
        return grounded(asked, known, GENERIC)

    return make


def by_text(terms: Iterable[Term]) -> dict[str, Term]:
    return {term.term: term for term in terms}


def in_paths(wanted: Iterable[str], paths: Iterable[str], max_places: int = 12) -> Grounding:
    known = Grounding(wanted, (), max_places)
    known.paths(PathWords(sorted(paths)))
    return known


@pytest.mark.parametrize(
    ("word", "origin", "use"),
    [
        ("harbour", Origin.HEADING, Use.LOCATE),
        ("caching", Origin.HEADING, Use.LOCATE),
        ("QueueCompiler", Origin.CODE_SYMBOL, Use.LOCATE),
        ("queue_compiler", Origin.CODE_SYMBOL, Use.LOCATE),
        ("x.settle", Origin.CODE_SYMBOL, Use.LOCATE),
        ("queue", Origin.FILE_PATH, Use.LOCATE),
        ("pier", Origin.FILE_PATH, Use.LOCATE),
        ("src/queue.py", Origin.FILE_PATH, Use.LOCATE),
        ("./docs/guide.md", Origin.FILE_PATH, Use.LOCATE),
        ("nowhere/queue.py", Origin.EXPLORATORY, Use.EXPLORATORY),
        ("tides", Origin.YAML_KEY, Use.LOCATE),
        ("ebb_flow", Origin.JSON_KEY, Use.LOCATE),
        ("berth", Origin.MANIFEST_KEY, Use.HYDRATE),
        ("cpr_lamp_order", Origin.DURABLE_HANDLE, Use.HYDRATE),
        ("changelog", Origin.LOCAL_SHAPE, Use.LOCATE),
        ("unheard", Origin.EXPLORATORY, Use.EXPLORATORY),
    ],
)
def test_a_goal_word_takes_the_origin_that_the_tree_knows_it_by(fill: Any, word: str, origin: Origin, use: Use) -> None:
    found = by_text(fill(goal=f"about {word}").terms)[word]
    assert (found.origin, found.use, found.generic) == (origin, use, False)


def test_a_word_remembers_where_the_tree_knows_it_from(fill: Any) -> None:
    assert by_text(fill(goal="caching").terms)["caching"].places == (
        Place(path="docs/guide.md", line=9, shape=Origin.HEADING, name="Caches of rows"),
    )


def test_a_seed_stays_a_seed_unless_it_is_a_registered_id_as_written(fill: Any) -> None:
    seeds = ("settle", "CPR-17", "cpr-17", "unheard")
    found = by_text(fill(goal="x", explicit_seeds=seeds).terms)
    assert [found[seed].origin for seed in seeds] == [
        Origin.EXPLICIT_SEED,
        Origin.DURABLE_HANDLE,
        Origin.EXPLICIT_SEED,
        Origin.EXPLICIT_SEED,
    ]
    assert {found[seed].use for seed in seeds} == {Use.HYDRATE}


def test_target_neighbours_and_assumptions_are_not_looked_for(fill: Any) -> None:
    asked = {"known_target": "src/queue.py", "known_neighbor_surfaces": ("docs",), "forbidden_assumptions": ("tide",)}
    found = by_text(fill(goal="x", **asked).terms)
    assert {text: (found[text].origin, found[text].places) for text in ("src/queue.py", "docs", "tide")} == {
        "src/queue.py": (Origin.FILE_PATH, ()),
        "docs": (Origin.REF_NEIGHBORHOOD, ()),
        "tide": (Origin.CAUTION, ()),
    }


def test_all_but_terms_stays_as_it_was() -> None:
    asked = Basket(terms=(term("tide"),), noise=("the",), terms_cut=4)
    found = grounded(asked, in_paths(["tide"], ["tide.py"]), GENERIC)
    assert found.model_copy(update={"terms": asked.terms}) == asked
    assert found.terms[0].places == (Place(path="tide.py", shape=Origin.FILE_PATH, name="tide"),)


def test_names_are_wanted_whole_and_by_their_last_part() -> None:
    shapes = [TermShape.NEIGHBOR, TermShape.TARGET, TermShape.ASSUMPTION, TermShape.FRAME, TermShape.PHRASE]
    others = [term(f"not{i}", shape=shape) for i, shape in enumerate(shapes)]
    assert names_wanted(basket_of(seed("app.Settle"), term("tide"), *others)) == [
        "app.Settle",
        "Settle",
        "tide",
        "tide",
    ]


# Generic words


def test_a_generic_word_alone_is_exploratory(fill: Any) -> None:
    found = fill(goal="the unheard states", explicit_seeds=("handlers",)).terms
    assert [(term.term, term.origin, term.generic, term.pairs_with) for term in found if term.generic] == [
        ("handlers", Origin.EXPLORATORY, True, ()),
        ("states", Origin.EXPLORATORY, True, ()),
    ]


@pytest.mark.parametrize(
    ("fields", "pair"),
    [
        ({"goal": "state of settle"}, "settle"),
        ({"goal": "state", "explicit_seeds": ("unheard",)}, "unheard"),
        ({"goal": "state of the changelog"}, "changelog"),
    ],
    ids=["known word", "seed", "local shape"],
)
def test_a_generic_word_is_paired_with_what_stands_strong_beside_it(
    fill: Any, fields: dict[str, Any], pair: str
) -> None:
    found = by_text(fill(**fields).terms)["state"]
    assert (found.generic, found.pairs_with, found.use) == (True, (pair,), Use.EXPLORATORY)


@pytest.mark.parametrize("field", ["forbidden_assumptions", "known_neighbor_surfaces"])
def test_cautions_and_neighbours_strengthen_nothing(fill: Any, field: str) -> None:
    found = by_text(fill(goal="state", **{field: ("settle",)}).terms)["state"]
    assert found.pairs_with == ()


def test_terms_stand_by_trust_and_then_as_they_stood_in_the_request(fill: Any) -> None:
    found = fill(goal="unheard settle harbour berth", explicit_seeds=("zeta", "CPR-17", "alpha")).terms
    origins = [TRUST[term.origin] for term in found]
    assert origins == sorted(origins)
    assert [term.term for term in found if term.origin is Origin.EXPLICIT_SEED] == ["zeta", "alpha"]


# Places


def test_shapes_take_turns_so_that_many_paths_do_not_hide_the_definition() -> None:
    known = in_paths(["tide"], [f"a{i}/tide.py" for i in range(50)], 3)
    symbol = Symbol("Tide", SymbolKind.CLASS, 7)
    known.file(FileFeatures(path="z.py", role=FileRole.CODE, symbols=(symbol,)))
    places, cut = known.places("tide")
    assert [(place.path, place.shape) for place in places] == [
        ("a0/tide.py", Origin.FILE_PATH),
        ("a1/tide.py", Origin.FILE_PATH),
        ("z.py", Origin.CODE_SYMBOL),
    ]
    assert cut == 48


def test_the_exact_name_comes_before_its_inflections() -> None:
    known = Grounding(["tide"], (), 1)
    symbols = (Symbol("tides", SymbolKind.FUNCTION, 1), Symbol("tide", SymbolKind.FUNCTION, 9))
    known.file(FileFeatures(path="z.py", role=FileRole.CODE, symbols=symbols))
    assert known.places("tide") == ((Place(path="z.py", line=9, shape=Origin.CODE_SYMBOL, name="tide"),), 1)


def test_a_folder_is_a_place_once_and_a_file_with_and_without_its_ending() -> None:
    known = in_paths(["tide", "tide.py", "deep"], ["tide/deep/a.py", "tide/deep/b.py", "tide/tide.py"])
    assert [place.path for place in known.places("tide")[0]] == ["tide", "tide/tide.py"]
    assert [place.path for place in known.places("tide.py")[0]] == ["tide/tide.py"]
    assert [place.path for place in known.places("deep")[0]] == ["tide/deep"]
    assert known.places("absent") == ((), 0)


def test_a_named_path_is_found_by_its_end_and_a_folder_within() -> None:
    known = in_paths(["b/c.py", "a/b/", "/x/"], ["a/b/c.py", "a/b/d.py", "bb/c.py", "x"])
    assert [[place.path for place in known.places(text)[0]] for text in ("b/c.py", "a/b/")] == [["a/b/c.py"], ["a/b"]]


def test_a_long_name_is_clipped() -> None:
    known = Grounding(["tide"], (), 12)
    heading = Heading(1, "tide " + "x" * 400, 1)
    known.file(FileFeatures(path="a.md", role=FileRole.DOCUMENT, headings=(heading,)))
    assert [len(place.name) for place in known.places("tide")[0]] == [200]


def test_a_term_of_separators_alone_is_known_from_nowhere() -> None:
    known = in_paths(["->", "__", "__/__", "settle"], ["__/settle.py", "_/-.py", "a/__/__/settle.py"])
    known.file(FileFeatures(path="z.py", role=FileRole.CODE, symbols=(Symbol("__", SymbolKind.FUNCTION, 1),)))
    assert [known.places(text)[0] for text in ("->", "__", "__/__")] == [(), (), ()]
    found = ("__/settle.py", "a/__/__/settle.py")
    assert known.places("settle")[0] == tuple(place(one, Origin.FILE_PATH, line=None, name="settle") for one in found)


NAMES = st.lists(st.sampled_from(["Tide", "tides", "tide_pool", "TidePool", "caché", "ΟΔΟΣ", "a\nb", "İz", "__", "x"]))


@given(st.lists(NAMES.filter(bool).map("/".join), max_size=6), NAMES)
@example(["__/__/Tide"], [])
def test_the_paths_that_are_looked_at_are_all_that_bear_a_name(paths: list[str], wanted: list[str]) -> None:
    ordered = sorted({f"{path}.py" for path in paths})
    wanted = [*wanted, *(path.rpartition("/")[0] for path in ordered)]
    quick, slow = in_paths(wanted, ordered), Grounding(wanted, (), 12)
    slow.paths(_AllPaths(ordered))
    assert [quick.places(text) for text in wanted] == [slow.places(text) for text in wanted]


class _AllPaths(PathWords):
    """Paths of which each is looked at, whatever it bears."""

    def holding_any(self, pieces: Iterable[str]) -> list[str]:
        return list(self.paths)
