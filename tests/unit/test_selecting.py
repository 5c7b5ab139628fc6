import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import (
    basket_of,
    candidate,
    desk_of,
    hit_of,
    intake_of,
    limits_with,
    plan_of,
    plant,
    probe_of,
    probe_term,
    result_of,
    seed,
    term,
    zone_of,
)

sys.path.pop(0)

from rtch.models.basket import Term
from rtch.models.chunk import Hydration
from rtch.models.plan import Hit, ProbePlan, ProbeTerm
from rtch.models.vocab import ConfidenceClass, Origin, Use
from rtch.models.zone import TruthFile
from rtch.stages.hydrate import READING, hydrate
from rtch.stages.intake import intake as accept
from rtch.stages.selecting import Judging, Selection, Taken, gathered
from rtch.words import text_tokens

Files = dict[str, str | bytes]
EVERY_ORIGIN = tuple(Origin)
LIMITS = limits_with(hydrate={"max_parse_bytes": 1, "parse_budget_bytes": 1}).hydrate


def plan_for(
    *ranked: str, hits: Iterable[Hit] = (), terms: tuple[Term, ...] = (), told: ProbeTerm | None = None, **fields: Any
) -> ProbePlan:
    """Return a plan that ranks files in this order, whose one probe reaches what was hit."""
    asked = terms or (seed("settle"),)
    probe = probe_of(*{hit.path for hit in hits}, terms=(told or probe_term("settle"),))
    plain: dict[str, Any] = {
        "probes": (probe,),
        "candidates": tuple(candidate(path, 1.0 - i / 100) for i, path in enumerate(ranked)),
        "basket": basket_of(*asked),
        "pulls": tuple((token, 1.0) for token in sorted({token for one in asked for token in text_tokens(one.term)})),
        "admitted": EVERY_ORIGIN,
    }
    return plan_of(**plain | fields)


class Selector:
    """Selects among literal files."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(self, files: Files, plan: ProbePlan, *hits: Hit, **intake: Any) -> tuple[Selection, list[Taken]]:
        desk = desk_of(self.root, files)
        found = gathered(plan, (result_of(*hits),))
        asked = intake_of(**intake)
        selection = Selection(asked, plan, LIMITS, desk.workspace)
        return selection, selection.take(found, Judging(asked, frozenset({hit.term for hit in hits})))

    def hydrated(self, files: Files, plan: ProbePlan, *hits: Hit, zone: Any = None, **intake: Any) -> Hydration:
        desk = desk_of(self.root, files)
        results = (result_of(*hits),)
        return hydrate(accept(intake_of(**intake)), zone or zone_of(), plan, results, LIMITS, desk)


@pytest.fixture
def select(tmp_path: Path) -> Selector:
    return Selector(tmp_path / "zone")


def paths(taken: list[Taken]) -> list[str]:
    return [one.file.path for one in taken]


def skipped(selection: Selection) -> dict[str, str]:
    return {row.path: str(row.reason) for row in selection.skipped}


# Which files are read


def test_what_was_hit_is_read_best_first_and_what_was_hit_unranked_last(select: Selector) -> None:
    files: Files = {path: f"{path} settle\n" for path in ("a.txt", "b.txt", "c.txt")}
    hits = [hit_of(path, 1) for path in files]
    _, taken = select(files, plan_for("b.txt", "a.txt", hits=hits), *hits)
    assert [(one.file.path, one.candidate.score) for one in taken] == [("b.txt", 1.0), ("a.txt", 0.99), ("c.txt", 0.01)]
    assert [one.share for one in taken] == [1.0, 0.99, 0.01]


def test_a_ranked_file_that_no_probe_hit_is_read_where_it_bears_a_term(select: Selector) -> None:
    selection, taken = select({"a.txt": "x\nSettle it\n", "b.txt": "nothing\n"}, plan_for("a.txt", "b.txt"))
    assert [(one.file.path, one.found, [mark.line for mark in one.marks]) for one in taken] == [("a.txt", [], [2])]
    assert skipped(selection) == {}


def test_a_part_of_a_name_alone_is_no_reason_to_read_a_file(select: Selector) -> None:
    name = seed("settle_route")
    pulls = (("route", 1.0), ("settl", 1.0), ("settleroute", 1.0))
    _, taken = select(
        {"a.txt": "settle the route\n", "b.txt": "settleRoute()\n"},
        plan_for("a.txt", "b.txt", terms=(name,), pulls=pulls),
    )
    assert paths(taken) == ["b.txt"]


def test_ranked_files_past_the_cap_are_read_only_where_they_were_hit(select: Selector) -> None:
    files: Files = {path: f"{path} settle\n" for path in ("a.txt", "b.txt", "c.txt")}
    hits = [hit_of("c.txt", 1)]
    selection, taken = select(files, plan_for("a.txt", "b.txt", "c.txt", hits=hits, surface_cap=1), *hits)
    assert (paths(taken), skipped(selection), selection.cap_reached) == (["a.txt"], {"c.txt": "surface_cap"}, True)
    selection, taken = select(files, plan_for("a.txt", "b.txt", "c.txt", surface_cap=1))
    assert (paths(taken), skipped(selection), selection.cap_reached) == (["a.txt"], {}, False)


@pytest.mark.parametrize("origin", [Origin.EXPLORATORY, Origin.EXPLICIT_SEED])
def test_a_term_of_an_origin_that_the_level_does_not_admit_is_not_read(select: Selector, origin: Origin) -> None:
    terms = (term("settle", origin=origin),)
    _, taken = select({"a.txt": "settle\n"}, plan_for("a.txt", terms=terms, admitted=(Origin.EXPLICIT_SEED,)))
    assert bool(taken) is (origin is Origin.EXPLICIT_SEED)


# What cannot be read


def test_a_candidate_of_a_secret_name_is_left_in_silence_unless_it_was_hit(select: Selector) -> None:
    selection, taken = select({".env": "settle\n"}, plan_for(".env"))
    assert (taken, skipped(selection)) == ([], {})
    selection, taken = select({".env": "settle\n"}, plan_for(".env", hits=[hit_of(".env", 1)]), hit_of(".env", 1))
    assert (taken, skipped(selection)) == ([], {".env": "secret"})


def test_a_candidate_that_cannot_be_read_is_told(select: Selector) -> None:
    plan = plan_for("gone.txt", "blob.bin", "a.txt")
    selection, taken = select({"blob.bin": b"settle\0", "a.txt": "settle\n"}, plan)
    assert (paths(taken), skipped(selection)) == (["a.txt"], {"gone.txt": "not_found", "blob.bin": "binary"})


def test_a_hit_beyond_the_end_of_a_file_stands_for_its_first_line(select: Selector) -> None:
    hits = [hit_of("a.txt", 9), hit_of("b.txt", 9), hit_of("b.txt", 2)]
    _, taken = select({"a.txt": "settle\n", "b.txt": "x\nsettle\n"}, plan_for("a.txt", "b.txt", hits=hits), *hits)
    assert [[found.hit.line for found in one.found] for one in taken] == [[1], [2]]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", None),
        (b"\xef\xbb\xbf", None),
        (b"\xff\xfe", None),
        (b"settle", [1]),
        (b"\xef\xbb\xbfsettle", [1]),
        (b"x\r\nsettle\r\n", [2]),
        (b"x\rsettle\r", [1]),
        ("\ufeffx\r\nsettle".encode("utf-16-be"), [2]),
        ("\ufeffx\nsettle".encode("utf-32-le"), [2]),
        (b"\xffsettle \xe4\n", [1]),
        (b"x " * 100_000 + b"settle", [1]),
    ],
    ids=["empty", "BOM", "UTF-16 BOM", "no end", "BOM and text", "CRLF", "CR", "UTF-16", "UTF-32", "Latin-1", "huge"],
)
def test_files_as_odd_as_they_come_are_read_by_their_text(
    select: Selector, data: bytes, lines: list[int] | None
) -> None:
    found = select.hydrated({"a.txt": data}, plan_for("a.txt"))
    assert ([hit.line for chunk in found.chunks for hit in chunk.hits] or None) == lines
    hit = hit_of("a.txt", 1)
    hit_too = select.hydrated({"a.txt": data}, plan_for("a.txt", hits=[hit]), hit)
    assert bool(hit_too.chunks) is (data != b"")


# Twins and places


def test_equal_bytes_are_one_surface_whether_hit_or_read(select: Selector) -> None:
    hits = [hit_of("c.txt", 1)]
    plan = plan_for("b.txt", "a.txt", "c.txt", hits=hits)
    selection, taken = select({"a.txt": "settle\n", "b.txt": "settle\n", "c.txt": "settle\n"}, plan, *hits)
    assert (paths(taken), dict(selection.twins)) == (["b.txt"], {"b.txt": ["a.txt", "c.txt"]})


def test_a_ledger_is_no_twin_of_a_copy_of_it(select: Selector) -> None:
    ledger, copy, other = "audit-logs/queue.jsonl", "backup.txt", "spare.txt"
    hits = [hit_of(copy, 1)]
    tree: dict[str, str | bytes] = dict.fromkeys((ledger, copy, other), '{"id": "settle"}\n')
    selection, taken = select(tree, plan_for(copy, ledger, other, hits=hits), *hits)
    assert (paths(taken), dict(selection.twins)) == ([copy, ledger], {copy: [other]})


def test_a_few_places_are_kept_for_neighbours_and_cautions(select: Selector) -> None:
    files: Files = {"near/a.txt": "settle\n", **{f"{i:02}.txt": f"{i} settle\n" for i in range(20)}}
    hits = [hit_of(path, 1) for path in files]
    plan = plan_for("near/a.txt", *sorted(files)[:20], hits=hits, surface_cap=10)
    selection, taken = select(files, plan, *hits, known_neighbor_surfaces=("near",))
    assert paths(taken) == [*sorted(files)[:9], "near/a.txt"]
    assert len(skipped(selection)) == 11


def test_a_neighbour_that_was_only_read_stands_behind_every_target_too(select: Selector) -> None:
    files: Files = {"near/a.txt": "settle\n", "b.txt": "settle it\n"}
    found = select.hydrated(files, plan_for("near/a.txt", "b.txt"), known_neighbor_surfaces=("near",))
    assert [(one.path, one.confidence_class) for one in found.surfaces] == [
        ("b.txt", ConfidenceClass.HYDRATED_EVIDENCE),
        ("near/a.txt", ConfidenceClass.NEIGHBOR_ONLY),
    ]


def test_no_place_is_kept_for_a_neighbour_that_was_not_hit(select: Selector) -> None:
    files: Files = {"near/a.txt": "nothing\n", **{f"{i:02}.txt": f"{i} settle\n" for i in range(10)}}
    plan = plan_for(*sorted(files), surface_cap=11)
    _, taken = select(files, plan, known_neighbor_surfaces=("near",))
    assert len(taken) == 10


# What is met by reading


def test_what_reading_meets_says_so_and_supports_no_claim(select: Selector) -> None:
    zone = zone_of(truth_files=(TruthFile(path="a.txt", why="named"),))
    found = select.hydrated({"a.txt": "x\nsettle\n", "b.txt": "settle!\n"}, plan_for("a.txt", "b.txt"), zone=zone)
    rows = [(hit.probe_id, hit.term, hit.line) for chunk in found.chunks for hit in chunk.hits]
    assert rows == [(READING, "settle", 2), (READING, "settle", 1)]
    assert {one.confidence_class for one in found.chunks} == {ConfidenceClass.HYDRATED_EVIDENCE}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ConfidenceClass.HYDRATED_EVIDENCE),
        ({"generic": True}, ConfidenceClass.WEAK_HIT),
        ({"origin": Origin.EXPLORATORY, "use": Use.EXPLORATORY}, ConfidenceClass.WEAK_HIT),
        ({"use": Use.PRESSURE}, ConfidenceClass.HIT),
        ({"origin": Origin.DURABLE_HANDLE}, ConfidenceClass.HYDRATED_EVIDENCE),
    ],
)
def test_a_term_met_by_reading_is_worth_no_more_than_it_may_be(
    select: Selector, fields: dict[str, Any], expected: ConfidenceClass
) -> None:
    found = select.hydrated({"a.txt": "settle\n"}, plan_for("a.txt", terms=(seed("settle", **fields),)))
    assert [one.confidence_class for one in found.chunks] == [expected]


def test_a_probe_s_hit_speaks_for_its_term_where_both_found_it(select: Selector) -> None:
    hits = [hit_of("a.txt", 2)]
    plan = plan_for("a.txt", hits=hits, terms=(seed("settle"), seed("ebb")))
    found = select.hydrated({"a.txt": "settle\nsettle\nebb\nebb\n"}, plan, *hits)
    assert [(hit.probe_id, hit.term, hit.line) for hit in found.chunks[0].hits] == [
        ("rtch_probe_1", "settle", 2),
        (READING, "ebb", 3),
    ]


# Laws

LINES = ("settle\n", "settle the ebb\r\n", "x\n", "ebb\n", "\u00e4 Settle\n", "\n", "def settle():\n", "settle")
NAMES = ("a.txt", "b.py", "c/d.md", ".env", "near/e.txt")
trees = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(LINES), max_size=60).map("".join), max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(trees, st.permutations(NAMES), st.integers(1, 90), st.integers(1, 5), st.data())
def test_hydration_keeps_its_bounds_and_the_order_of_hits_does_not_matter(  # noqa: PLR0917  strategies
    tmp_path_factory: pytest.TempPathFactory,
    tree: dict[str, str],
    order: list[str],
    budget: int,
    cap: int,
    data: st.DataObject,
) -> None:
    places = [(path, line) for path, text in sorted(tree.items()) for line in range(1, text.count("\n") + 2)]
    hits = [hit_of(*one) for one in data.draw(st.lists(st.sampled_from(places), max_size=6))] if places else []
    terms = (seed("settle"), term("ebb"))
    plan = plan_for(*order, hits=hits, terms=terms, read_budget_lines=budget, surface_cap=cap)
    root = plant(tmp_path_factory.mktemp("zone"), tree)
    select = Selector(root)
    found = select.hydrated({}, plan, *hits, known_neighbor_surfaces=("near",))
    read = [(one.path, line) for one in found.chunks for line in range(one.start_line, one.end_line + 1)]
    assert len(read) == len(set(read)) == found.lines_consumed <= budget
    assert len(found.surfaces) <= cap
    assert all(one.hits for one in found.chunks)
    assert ".env" not in {one.path for one in found.surfaces}
    shuffled = data.draw(st.permutations(hits))
    assert select.hydrated({}, plan, *shuffled, known_neighbor_surfaces=("near",)) == found
