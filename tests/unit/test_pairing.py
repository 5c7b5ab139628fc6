import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import basket_of, cost_of, seed, term

sys.path.pop(0)

from rtch.limits import Words
from rtch.models.basket import Basket, GenericWarning, Term, TermShape
from rtch.models.vocab import Origin, Use
from rtch.pairing import generic_warnings, settled

WORDS = Words(generic=("state",), generic_share=0.5, generic_min_files=4, stop="the")
STATE = term("state", generic=True, why_generic="listed as generic")


def known(text: str, **fields: Any) -> Term:
    return term(text, **{"origin": Origin.HEADING, "use": Use.LOCATE} | fields)


def settle(basket: Basket, counts: dict[str, int], searched: int = 10) -> dict[str, Term]:
    """Settle a basket where each term hits in so many files."""
    files = {
        f"f{i}.py": {text: 1 for text, n in counts.items() if i < n} for i in range(max(counts.values(), default=0))
    }
    cost = cost_of(files, terms=[one.term for one in basket.terms], searched=searched)
    return {one.term: one for one in settled(basket, cost, WORDS).terms}


def test_a_generic_term_is_paired_with_what_hits() -> None:
    found = settle(basket_of(STATE, known("queue"), known("absent")), {"state": 3, "queue": 1})
    assert found["state"].pairs_with == ("queue",)


def test_a_generic_term_alone_is_exploratory() -> None:
    paired = STATE.model_copy(update={"pairs_with": ("absent",), "origin": Origin.HEADING, "use": Use.LOCATE})
    found = settle(basket_of(paired, known("absent")), {"state": 3})["state"]
    assert (found.pairs_with, found.origin, found.use) == ((), Origin.EXPLORATORY, Use.EXPLORATORY)


@pytest.mark.parametrize(
    "other",
    [
        term("queue"),
        known("queue", origin=Origin.CAUTION),
        known("queue", origin=Origin.REF_NEIGHBORHOOD),
        known("queue", origin=Origin.NOISE),
        known("queue", weight=0.0),
        known("queue", generic=True),
    ],
    ids=["exploratory", "caution", "neighbour", "noise", "weightless", "generic"],
)
def test_a_weak_term_strengthens_nothing(other: Term) -> None:
    paired = STATE.model_copy(update={"pairs_with": ("queue",)})
    assert settle(basket_of(paired, other), {"state": 3, "queue": 2})["state"].pairs_with == ()


def test_a_word_found_generic_by_its_counts_strengthens_nothing() -> None:
    paired = STATE.model_copy(update={"pairs_with": ("queue",)})
    found = settle(basket_of(paired, known("queue")), {"state": 3, "queue": 9})
    assert (found["queue"].generic, found["state"].pairs_with) == (True, ())


def test_pairs_are_bounded_and_in_the_order_of_the_basket() -> None:
    strong = [known(f"queue{i}") for i in range(12)]
    found = settle(basket_of(STATE, *strong), {one.term: 1 for one in strong[2:]} | {"state": 1})
    assert found["state"].pairs_with == tuple(f"queue{i}" for i in range(2, 10))


@pytest.mark.parametrize(("files", "searched", "generic"), [(5, 10, False), (6, 10, True), (3, 3, False), (4, 4, True)])
def test_a_word_in_too_many_files_is_generic_here(files: int, searched: int, generic: bool) -> None:  # noqa: FBT001
    found = settle(basket_of(known("queue")), {"queue": files}, searched)["queue"]
    assert (found.generic, found.why_generic) == (generic, f"in {files} of {searched} files" if generic else "")


@pytest.mark.parametrize("shape", [TermShape.SEED, TermShape.IDENTIFIER, TermShape.PATH, TermShape.QUOTE])
def test_what_is_named_is_never_generic_by_its_counts(shape: TermShape) -> None:
    assert not settle(basket_of(known("queue", shape=shape)), {"queue": 10})["queue"].generic


def test_a_term_listed_as_generic_keeps_its_reason() -> None:
    assert settle(basket_of(STATE), {"state": 10})["state"].why_generic == "listed as generic"


def test_terms_that_are_not_generic_stay_as_they_are() -> None:
    basket = basket_of(seed("queue"), known("row"), term("x"))
    assert tuple(settle(basket, {"queue": 1}).values()) == basket.terms


def test_a_term_that_was_not_counted_hits_nothing() -> None:
    basket = basket_of(STATE, known("queue"))
    cost = cost_of({"a.py": {"state": 1}}, searched=10)
    assert settled(basket, cost, WORDS).terms[0].pairs_with == ()


def test_generic_terms_that_stand_alone_are_warned_of() -> None:
    paired = STATE.model_copy(update={"term": "site", "pairs_with": ("queue",)})
    assert generic_warnings([STATE, paired, term("x")]) == (
        GenericWarning(
            term="state",
            warning="state is generic (listed as generic) and nothing strong that hits stands beside it",
        ),
    )
