import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import desk_of, intake_of, inventory_of, limits_with, listing_of, zone_of

sys.path.pop(0)

from rtch.models.basket import Basket, FrameRef, Place, Term, TermShape
from rtch.models.features import DurableId, FileFeatures, Heading, Key, Symbol
from rtch.models.inventory import FeatureShard
from rtch.models.vocab import FileRole, KeyKind, Origin, SymbolKind, Use
from rtch.models.zone import Registry
from rtch.stages.basket import basket, variants
from rtch.stages.grounding import TRUST, Grounding
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
PATHS = ("docs/guide.md", "src/queue.py", "data.yaml", "table.json", "registry.json", "pier/mast.py")
ZONE = zone_of(registries=(Registry(path="registry.json", role=FileRole.CONFIG, why="by name"),))


@pytest.fixture
def fill(tmp_path: Path) -> Any:
    desk = desk_of(tmp_path)
    inventory = inventory_of(
        shards=(desk.shelve(FeatureShard(files=FEATURES[:2])), desk.shelve(FeatureShard(files=FEATURES[2:])))
    )

    def make(numbers: dict[str, Any] | None = None, **fields: Any) -> Basket:
        limits = limits_with(basket=numbers or {}).basket
        return basket(accept(intake_of(**fields)), listing_of(*PATHS), ZONE, inventory, limits, desk)

    return make


def by_text(terms: Iterable[Term]) -> dict[str, Term]:
    return {term.term: term for term in terms}


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


def test_a_goal_word_that_is_a_seed_is_one_term(fill: Any) -> None:
    found = fill(goal="where is QueueCompiler", explicit_seeds=("queue_compiler", "queue_compiler")).terms
    assert [term.term for term in found] == ["queue_compiler"]


def test_target_neighbours_and_assumptions_are_terms(fill: Any) -> None:
    found = by_text(
        fill(
            goal="x",
            known_target="src/queue.py",
            known_neighbor_surfaces=("docs",),
            forbidden_assumptions=("old tide",),
        ).terms
    )
    assert {text: (term.shape, term.origin, term.use, term.weight) for text, term in found.items()} == {
        "src/queue.py": (TermShape.TARGET, Origin.FILE_PATH, Use.HYDRATE, 0.0),
        "docs": (TermShape.NEIGHBOR, Origin.REF_NEIGHBORHOOD, Use.NEIGHBOR_ONLY, 0.0),
        "old tide": (TermShape.ASSUMPTION, Origin.CAUTION, Use.CAUTION, 0.0),
    }


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


def test_what_is_cut_is_counted_and_seeds_come_first(fill: Any) -> None:
    found = fill({"max_terms": 2}, goal="kelp reef", explicit_seeds=("s1",), forbidden_assumptions=("no",))
    assert ([term.term for term in found.terms], found.terms_cut) == (["s1", "no"], 3)


def test_stop_words_are_noise_and_frames_are_kept(fill: Any) -> None:
    found = fill(goal='Fix the harbour\nFile "src/queue.py", line 3')
    assert found.noise == ("fix", "the")
    assert found.frames == (FrameRef(path="src/queue.py", line=3, depth=1),)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("caching", ("cach",)),
        ("row", ()),
        ("query", ("quer",)),
        ("QueueCompiler", ("queue_compiler", "queue-compiler")),
        ("queue-compiler", ("queue_compiler", "queuecompiler")),
        ("work tree", ("work_tre", "work-tre", "worktre")),
        ("tic 412", ("tic_412", "tic-412", "tic412")),
        ("std::io::Read", ("Read",)),
        ("no such table", ()),
        ("foo.py", ()),
    ],
)
def test_variants_are_the_other_spellings_that_are_searched(text: str, found: tuple[str, ...]) -> None:
    assert tuple(one for one in variants(text, 6) if " " not in one) == found


def test_variants_are_bounded() -> None:
    assert variants("QueueCompiler", 1) == ("queue_compiler",)


# Grounding


def test_shapes_take_turns_so_that_many_paths_do_not_hide_the_definition() -> None:
    known = Grounding(["tide"], (), 3)
    known.paths([f"a{i}/tide.py" for i in range(50)])
    symbol = Symbol("Tide", SymbolKind.CLASS, 7)
    known.shard(FeatureShard(files=(FileFeatures(path="z.py", role=FileRole.CODE, symbols=(symbol,)),)))
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
    known.shard(FeatureShard(files=(FileFeatures(path="z.py", role=FileRole.CODE, symbols=symbols),)))
    assert known.places("tide") == ((Place(path="z.py", line=9, shape=Origin.CODE_SYMBOL, name="tide"),), 1)


def test_a_folder_is_a_place_once_and_a_file_with_and_without_its_ending() -> None:
    known = Grounding(["tide", "tide.py", "deep"], (), 12)
    known.paths(["tide/deep/a.py", "tide/deep/b.py", "tide/tide.py"])
    assert [place.path for place in known.places("tide")[0]] == ["tide", "tide/tide.py"]
    assert [place.path for place in known.places("tide.py")[0]] == ["tide/tide.py"]
    assert [place.path for place in known.places("deep")[0]] == ["tide/deep"]
    assert known.places("absent") == ((), 0)


def test_a_named_path_is_found_by_its_end_and_a_folder_within() -> None:
    known = Grounding(["b/c.py", "a/b/", "/x/"], (), 12)
    known.paths(["a/b/c.py", "a/b/d.py", "bb/c.py", "x"])
    assert [[place.path for place in known.places(text)[0]] for text in ("b/c.py", "a/b/")] == [["a/b/c.py"], ["a/b"]]


def test_a_long_name_is_clipped() -> None:
    known = Grounding(["tide"], (), 12)
    heading = Heading(1, "tide " + "x" * 400, 1)
    known.shard(FeatureShard(files=(FileFeatures(path="a.md", role=FileRole.DOCUMENT, headings=(heading,)),)))
    assert [len(place.name) for place in known.places("tide")[0]] == [200]
