import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import intake_of, probe_term

sys.path.pop(0)

from rtch.evidence import CLAIMING, ORDER, SUPPORTS, at_least, classify, is_weak, stands_beside, strongest
from rtch.models.plan import ProbeTerm
from rtch.models.vocab import ClaimAuthority, ConfidenceClass, Origin, Use

FULL = ClaimAuthority.CLAIM_SUPPORTING
SOURCED = (
    Origin.DURABLE_HANDLE,
    Origin.MANIFEST_KEY,
    Origin.EXPLICIT_SEED,
    Origin.LOCAL_SHAPE,
    Origin.FILE_PATH,
    Origin.HEADING,
    Origin.CODE_SYMBOL,
    Origin.JSON_KEY,
    Origin.YAML_KEY,
)


@pytest.mark.parametrize("origin", SOURCED)
def test_a_sourced_term_bears_a_hit_and_gives_evidence_when_it_is_read(origin: Origin) -> None:
    term = probe_term(origin=origin)
    assert classify(term, FULL, (), read=False, truth=True) is ConfidenceClass.SOURCE_BEARING_HIT
    assert classify(term, FULL, (), read=True, truth=False) is ConfidenceClass.HYDRATED_EVIDENCE


@pytest.mark.parametrize("origin", SOURCED)
def test_three_origins_support_claims_and_only_from_a_source_of_truth(origin: Origin) -> None:
    found = classify(probe_term(origin=origin), FULL, (), read=True, truth=True)
    claims = origin in {Origin.DURABLE_HANDLE, Origin.EXPLICIT_SEED, Origin.MANIFEST_KEY}
    assert found is (ConfidenceClass.CLAIM_SUPPORTING if claims else ConfidenceClass.HYDRATED_EVIDENCE)


@pytest.mark.parametrize("authority", [ClaimAuthority.WEAK, ClaimAuthority.SOURCE_BEARING])
def test_a_hit_supports_no_more_than_its_probe_may(authority: ClaimAuthority) -> None:
    assert classify(probe_term(), authority, (), read=True, truth=True) is ConfidenceClass.HYDRATED_EVIDENCE


@pytest.mark.parametrize("origin", [Origin.EXPLORATORY, Origin.NOISE])
def test_an_exploratory_term_is_weak(origin: Origin) -> None:
    term = probe_term(origin=origin, use=Use.EXPLORATORY)
    assert classify(term, FULL, ("settle",), read=True, truth=True) is ConfidenceClass.WEAK_HIT


@pytest.mark.parametrize(
    ("hitting", "found"),
    [
        ((), ConfidenceClass.WEAK_HIT),
        (("state",), ConfidenceClass.WEAK_HIT),
        (("settle",), ConfidenceClass.HYDRATED_EVIDENCE),
    ],
)
def test_a_generic_term_counts_with_a_pair_that_hits_and_supports_no_claim(
    hitting: tuple[str, ...], found: ConfidenceClass
) -> None:
    term = probe_term("state", generic=True, pairs_with=("settle", "other"))
    assert classify(term, FULL, hitting, read=True, truth=True) is found


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"use": Use.CAUTION}, ConfidenceClass.CAUTION_ONLY),
        ({"origin": Origin.CAUTION}, ConfidenceClass.CAUTION_ONLY),
        ({"use": Use.NEIGHBOR_ONLY}, ConfidenceClass.NEIGHBOR_ONLY),
        ({"origin": Origin.REF_NEIGHBORHOOD}, ConfidenceClass.NEIGHBOR_ONLY),
        ({"origin": Origin.CAUTION, "use": Use.NEIGHBOR_ONLY}, ConfidenceClass.CAUTION_ONLY),
    ],
)
def test_cautions_and_neighbours_stay_what_they_are(fields: dict[str, Any], found: ConfidenceClass) -> None:
    assert classify(probe_term(**fields), FULL, ("settle",), read=True, truth=True) is found


@pytest.mark.parametrize(
    ("path", "beside"),
    [
        ("docs/a.md", True),
        ("docs", True),
        ("docs2/a.md", False),
        ("lib/b.py", True),
        ("lib/b.pyi", False),
        ("a", False),
    ],
)
def test_a_neighbour_is_what_was_named_and_what_lies_in_it(path: str, beside: bool) -> None:  # noqa: FBT001
    intake = intake_of(known_neighbor_surfaces=("docs/", "./lib/b.py", "a"), known_target="a")
    assert stands_beside(path, intake) is beside


def test_whatever_hits_a_neighbour_supports_adjacency_alone() -> None:
    found = classify(probe_term(), FULL, (), read=True, truth=True, beside=True)
    caution = classify(probe_term(use=Use.CAUTION), FULL, (), read=True, truth=True, beside=True)
    assert (found, caution) == (ConfidenceClass.NEIGHBOR_ONLY, ConfidenceClass.CAUTION_ONLY)


def every_case() -> list[tuple[ProbeTerm, ClaimAuthority, tuple[str, ...], bool, bool]]:
    terms = [
        probe_term(origin=origin, use=use, generic=generic, pairs_with=pairs)
        for origin, use, generic, pairs in product(Origin, Use, (False, True), ((), ("other",)))
    ]
    rest = product(ClaimAuthority, ((), ("other",)), (False, True), (False, True))
    return [(term, *more) for term, more in product(terms, list(rest))]


def test_nothing_supports_a_claim_that_the_table_does_not_name() -> None:
    for term, authority, hitting, read, truth in every_case():
        if classify(term, authority, hitting, read=read, truth=truth) is ConfidenceClass.CLAIM_SUPPORTING:
            assert (term.origin in CLAIMING, term.generic, authority, read, truth) == (True, False, FULL, True, True)


def test_nothing_unread_is_evidence() -> None:
    unread = {classify(t, a, h, read=False, truth=truth) for t, a, h, read, truth in every_case() if not read}
    assert unread.isdisjoint({ConfidenceClass.HYDRATED_EVIDENCE, ConfidenceClass.CLAIM_SUPPORTING})


def test_reading_and_truth_never_weaken_a_hit() -> None:
    for term, authority, hitting, _, _ in every_case():
        steps = [(False, False), (True, False), (True, True)]
        classes = [classify(term, authority, hitting, read=read, truth=truth) for read, truth in steps]
        assert sorted(classes, key=ORDER.__getitem__) == classes


def test_a_term_is_weak_where_it_is_generic_or_exploratory_and_alone() -> None:
    assert [
        is_weak(probe_term(), ()),
        is_weak(probe_term(generic=True), ()),
        is_weak(probe_term(generic=True, pairs_with=("a",)), ("b",)),
        is_weak(probe_term(generic=True, pairs_with=("a",)), ("a",)),
        is_weak(probe_term(origin=Origin.EXPLORATORY), ("settle",)),
    ] == [False, True, True, False, True]


def test_every_class_has_an_order_and_says_what_it_supports() -> None:
    assert set(ORDER) == set(SUPPORTS) == set(ConfidenceClass)
    assert len(set(ORDER.values())) == len(ORDER)


def test_the_strongest_class_is_the_one_that_supports_most() -> None:
    assert strongest(list(ConfidenceClass)) is ConfidenceClass.CLAIM_SUPPORTING
    assert strongest([ConfidenceClass.CAUTION_ONLY, ConfidenceClass.WEAK_HIT]) is ConfidenceClass.WEAK_HIT
    assert at_least(ConfidenceClass.HYDRATED_EVIDENCE, ConfidenceClass.HYDRATED_EVIDENCE)
    assert not at_least(ConfidenceClass.WEAK_HIT, ConfidenceClass.SOURCE_BEARING_HIT)
