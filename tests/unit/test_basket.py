import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import desk_of, intake_of, limits_with

sys.path.pop(0)

from rtch.models.basket import Basket, FrameRef, Term, TermShape, TimeOrigin
from rtch.models.vocab import Origin, Use
from rtch.stages.basket import basket, variants
from rtch.stages.intake import intake as accept


@pytest.fixture
def fill(tmp_path: Path) -> Any:
    desk = desk_of(tmp_path)

    def make(numbers: dict[str, Any] | None = None, **fields: Any) -> Basket:
        return basket(accept(intake_of(**fields)), TimeOrigin(), limits_with(basket=numbers or {}).basket, desk)

    return make


def by_text(terms: Iterable[Term]) -> dict[str, Term]:
    return {term.term: term for term in terms}


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("harbour", TermShape.WORD),
        ("QueueCompiler", TermShape.IDENTIFIER),
        ("queue_compiler", TermShape.IDENTIFIER),
        ("src/queue.py", TermShape.PATH),
        ('"no such table"', TermShape.QUOTE),
        ("state", TermShape.WORD),
        ("changelog", TermShape.WORD),
    ],
)
def test_a_goal_word_is_exploratory_until_the_tree_is_asked(fill: Any, word: str, shape: TermShape) -> None:
    found = by_text(fill(goal=f"about {word}").terms)[word.strip('"')]
    assert (found.shape, found.origin, found.use) == (shape, Origin.EXPLORATORY, Use.EXPLORATORY)
    assert (found.generic, found.pairs_with, found.places, found.places_cut) == (False, (), (), 0)
    assert found.weight > 0


def test_a_seed_is_explicit_whatever_it_is(fill: Any) -> None:
    seeds = ("settle", "CPR-17", "state", "src/queue.py")
    found = fill(goal="x", explicit_seeds=(*seeds, "settle")).terms
    assert [(term.term, term.shape, term.origin, term.use) for term in found] == [
        (seed, TermShape.SEED, Origin.EXPLICIT_SEED, Use.HYDRATE) for seed in seeds
    ]


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


def test_seeds_come_first_and_goal_words_by_weight(fill: Any) -> None:
    found = fill(goal="unheard `kelp_reef` `kelp_reef`", explicit_seeds=("zeta", "alpha"), known_target="src").terms
    assert [term.term for term in found] == ["zeta", "alpha", "src", "kelp_reef", "unheard"]


def test_what_is_cut_is_counted_and_seeds_come_first(fill: Any) -> None:
    found = fill({"max_terms": 2}, goal="kelp reef", explicit_seeds=("s1",), forbidden_assumptions=("no",))
    assert ([term.term for term in found.terms], found.terms_cut) == (["s1", "no"], 3)


def test_stop_words_are_noise_and_frames_are_kept(fill: Any) -> None:
    found = fill(goal='Fix the harbour\nFile "src/queue.py", line 3')
    assert found.noise == ("fix", "the")
    assert found.frames == (FrameRef(path="src/queue.py", line=3, depth=1),)


def test_a_basket_round_trips(fill: Any) -> None:
    found = fill(goal='Fix the harbour\nFile "src/queue.py", line 3', explicit_seeds=("CPR-17",))
    assert Basket.parse(found.canonical()) == found


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
