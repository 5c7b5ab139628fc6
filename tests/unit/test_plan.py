import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import (
    basket_of,
    cost_of,
    desk_of,
    intake_of,
    limits_with,
    listing_of,
    place,
    seed,
    survey_of,
    term,
    zone_of,
)

sys.path.pop(0)

from rtch.models.basket import Basket, Term, TermShape
from rtch.models.inventory import FileFacts, Survey, UnreadFile
from rtch.models.plan import CostEstimate, DroppedProbe, ProbePlan, Unreached
from rtch.models.vocab import CautionFlag, FanoutLevel, Origin, ProbeFamily, Scope, SkipReason, TargetProfile, Use
from rtch.models.zone import Capabilities
from rtch.query import query_of
from rtch.stages.intake import intake as accept
from rtch.stages.plan import plan

KINDS = (Origin.CODE_SYMBOL, Origin.HEADING, Origin.JSON_KEY, Origin.FILE_PATH, Origin.DURABLE_HANDLE)


class Planner:
    """Plans with literal inputs: what is not given is as plain as can be."""

    def __init__(self, root: Path) -> None:
        self.desk = desk_of(root)

    def __call__(
        self,
        basket: Basket,
        counts: dict[str, dict[str, int]],
        *,
        facts: tuple[FileFacts, ...] = (),
        numbers: dict[str, Any] | None = None,
        cost: dict[str, Any] | None = None,
        zone: dict[str, Any] | None = None,
        survey: dict[str, Any] | None = None,
        size: int = 1000,
        **intake: Any,
    ) -> ProbePlan:
        estimate: CostEstimate = cost_of(counts, terms=[one.term for one in basket.terms], searched=50)
        return plan(
            accept(intake_of(**intake)),
            listing_of(*counts, size=size),
            zone_of(**zone or {}),
            surveyed(basket, counts, facts, **survey or {}),
            estimate.model_copy(update=cost or {}),
            limits_with(plan=numbers or {}).plan,
            self.desk,
        )


def surveyed(
    basket: Basket, counts: dict[str, dict[str, int]], facts: tuple[FileFacts, ...] = (), **fields: Any
) -> Survey:
    """Return a survey that has looked into every file that holds a term; what is not given shows nothing."""
    shown = {fact.path: fact for fact in facts}
    files = tuple(shown.get(path) or FileFacts(path) for path in sorted({*counts, *shown}))
    rarity = tuple((token, 1.0) for token in sorted(query_of(basket).weights))
    return survey_of(basket, **{"files": files, "rarity": rarity} | fields)


@pytest.fixture
def make(tmp_path: Path) -> Planner:
    return Planner(tmp_path)


def known(text: str, origin: Origin) -> Term:
    return term(text, origin=origin, use=Use.LOCATE, places=(place("f0.py", origin),))


def files(number: int, *terms: str) -> dict[str, dict[str, int]]:
    return {f"f{i}.py": dict.fromkeys(terms, 1) for i in range(number)}


def everything(number: int) -> list[Term]:
    """Return many terms of many families."""
    words = [known(f"{origin}{i}", origin) for origin in KINDS for i in range(number)]
    return [*words, *[seed(f"seed{i}") for i in range(number)], *[term(f"loose{i}") for i in range(number)]]


@pytest.mark.parametrize(("level", "most"), [(FanoutLevel.CONSERVATIVE, 5), (FanoutLevel.NORMAL, 12)])
def test_a_plan_declares_no_more_probes_than_its_level(make: Planner, level: FanoutLevel, most: int) -> None:
    terms = everything(9)
    made = make(basket_of(*terms), files(3, *[one.term for one in terms]), fanout_level=level)
    assert (len(made.probes), made.remaining_probes, made.max_probes) == (most, 0, most)


def test_no_family_starves_the_others(make: Planner) -> None:
    terms = everything(9)
    made = make(basket_of(*terms), files(3, *[one.term for one in terms]), fanout_level=FanoutLevel.CONSERVATIVE)
    assert len({probe.family for probe in made.probes}) == 5


def test_probes_are_declared_wave_by_wave_and_numbered_as_they_come(make: Planner) -> None:
    terms = everything(2)
    made = make(basket_of(*terms), files(3, *[one.term for one in terms]))
    waves = [probe.wave for probe in made.probes]
    assert waves == sorted(waves)
    numbers = [probe.probe_id for probe in (*made.probes, *made.next_legal_probes)]
    assert numbers[: len(waves)] == [f"rtch_probe_{i}" for i in range(1, len(waves) + 1)]
    assert len(set(numbers)) == len(numbers)


def test_what_was_not_declared_is_recorded_and_would_be_legal_next(make: Planner) -> None:
    terms = [seed(f"seed{i:02}") for i in range(12)]
    made = make(basket_of(*terms), files(3, *[one.term for one in terms]), fanout_level=FanoutLevel.CONSERVATIVE)
    assert [probe.input_terms for probe in made.probes] == [
        ("seed00", "seed01", "seed02", "seed03"),
        ("seed04", "seed05", "seed06", "seed07"),
    ]
    assert [one.input_terms for one in made.dropped] == [("seed08", "seed09", "seed10", "seed11")]
    assert [probe.input_terms for probe in made.next_legal_probes] == [one.input_terms for one in made.dropped]


def test_what_the_level_shuts_out_is_recorded(make: Planner) -> None:
    terms = (
        term("loose"),
        term("old", origin=Origin.CAUTION, use=Use.CAUTION),
        term("docs", origin=Origin.REF_NEIGHBORHOOD, use=Use.NEIGHBOR_ONLY),
        seed("s"),
    )
    made = make(basket_of(*terms), files(1, "loose", "old", "s"), fanout_level=FanoutLevel.CONSERVATIVE)
    assert made.dropped == (
        DroppedProbe(
            family=ProbeFamily.REFERENCE, input_terms=("docs",), why="conservative admits no ref_neighborhood term"
        ),
        DroppedProbe(family=ProbeFamily.CAUTION, input_terms=("old",), why="conservative admits no caution term"),
        DroppedProbe(
            family=ProbeFamily.EXPLICIT_SEED, input_terms=("loose",), why="conservative admits no exploratory term"
        ),
    )
    assert make(basket_of(*terms), files(1, "loose", "old", "s")).dropped == ()


# The cost rule


def test_a_target_set_is_cut_to_its_files_and_the_rest_would_be_legal_next(make: Planner) -> None:
    made = make(basket_of(seed("s")), files(7, "s"), numbers={"target_files": 3})
    assert [len(probe.target_set) for probe in (*made.probes, *made.next_legal_probes)] == [3, 3]
    assert [probe.targets_cut for probe in (*made.probes, *made.next_legal_probes)] == [4, 4]
    assert set(made.probes[0].target_set).isdisjoint(made.next_legal_probes[0].target_set)


def test_a_target_set_is_cut_to_its_lines(make: Planner) -> None:
    numbers = {"target_lines": 60, "bytes_per_line": 50}
    made = make(basket_of(seed("s")), files(7, "s"), numbers=numbers)
    assert [(probe.predicted_files, probe.predicted_lines, probe.predicted_bytes) for probe in made.probes] == [
        (2, 42, 2000)
    ]
    assert (made.predicted_files, made.predicted_lines, made.predicted_bytes) == (2, 42, 2000)


def test_a_file_too_long_for_the_rest_leaves_room_for_shorter_ones(make: Planner) -> None:
    counts = {"a.py": {"s": 9, "t": 9}, "b.py": {"s": 1}, "c.py": {"s": 1}}
    listing = listing_of(*counts).model_copy(update={"sizes": (100_000, 1000, 1000)})
    basket, limits = basket_of(seed("s")), limits_with(plan={"target_lines": 1000}).plan
    cost = cost_of(counts, terms=["s"], searched=50)
    made = plan(accept(intake_of()), listing, zone_of(), surveyed(basket, counts), cost, limits, make.desk)
    assert [probe.target_set for probe in made.probes] == [("b.py", "c.py")]
    assert [probe.target_set for probe in made.next_legal_probes] == [("a.py",)]


def test_what_cannot_be_cut_is_no_probe_and_is_told(make: Planner) -> None:
    made = make(basket_of(seed("s")), files(2, "s"), size=10_000_000)
    assert made.probes == ()
    assert [probe.target_set for probe in made.next_legal_probes] == [("f0.py",)]


def test_wide_takes_more_files_and_any_length(make: Planner) -> None:
    wide: dict[str, Any] = {"fanout_level": FanoutLevel.WIDE, "target_profile": TargetProfile.VAGUE_INTENT}
    made = make(basket_of(seed("s")), files(5, "s"), size=10_000_000, numbers={"wide_target_files": 4}, **wide)
    assert [len(probe.target_set) for probe in made.probes] == [4]


def test_target_sets_stand_in_the_order_of_paths(make: Planner) -> None:
    made = make(basket_of(seed("s")), files(12, "s"))
    assert made.probes[0].target_set == tuple(sorted(made.probes[0].target_set))


# Scope


def test_what_lies_out_of_scope_is_not_probed_and_would_be_legal_next(make: Planner) -> None:
    counts = {
        path: {"s": 1, "lib/a.py": 1} for path in ("lib/a.py", "lib/a_test.py", "lib/b.py", "far/c.py", "far/d.py")
    }
    facts = (FileFacts("lib/a.py", references=("far.c",)),)
    terms = basket_of(seed("lib/a.py"), seed("s"))

    def targets(scope: Scope) -> tuple[set[str], set[str]]:
        made = make(terms, counts, facts=facts, scope=scope)
        assert {probe.scope for probe in made.probes} == {scope.value}
        inside = {path for probe in made.probes for path in probe.target_set}
        assert {one.path for one in made.candidates} <= inside
        return inside, {path for probe in made.next_legal_probes for path in probe.target_set}

    assert targets(Scope.NARROW) == ({"lib/a.py", "lib/a_test.py"}, {"lib/b.py", "far/c.py", "far/d.py"})
    assert targets(Scope.ADJACENT) == ({"lib/a.py", "lib/a_test.py", "lib/b.py", "far/c.py"}, {"far/d.py"})
    assert targets(Scope.BROAD) == (set(counts), set())


# Budgets and what could not be known


def test_budgets_are_the_levels_unless_the_intake_sets_them(make: Planner) -> None:
    plain = make(basket_of(), {})
    asked = make(basket_of(), {}, read_budget=7, surface_cap=3)
    assert (plain.read_budget_lines, plain.surface_cap) == (2000, 20)
    assert (asked.read_budget_lines, asked.surface_cap) == (7, 3)


def test_a_request_without_terms_has_no_probes(make: Planner) -> None:
    made = make(basket_of(), files(3))
    assert (made.probes, made.dropped, made.next_legal_probes, made.candidates) == ((), (), (), ())


@pytest.mark.parametrize(
    ("cost", "zone", "flags"),
    [
        ({}, {}, []),
        ({"timed_out": True}, {}, [CautionFlag.TIMEOUT]),
        ({}, {"capabilities": Capabilities(rg="14.1.0", git="")}, [CautionFlag.TOOL_FAILED]),
    ],
)
def test_what_planning_could_not_know_is_a_caution(
    make: Planner, cost: dict[str, Any], zone: dict[str, Any], flags: list[CautionFlag]
) -> None:
    assert [one.flag for one in make(basket_of(), {}, cost=cost, zone=zone).cautions] == flags


def test_what_no_search_looked_into_and_what_turned_out_to_be_no_text_is_told_once_by_path(make: Planner) -> None:
    def unread(path: str, reason: SkipReason) -> UnreadFile:
        return UnreadFile(path=path, reason=reason, detail=f"{reason}, seen when it was looked into")

    survey = {
        "unread": (
            unread("a.bin", SkipReason.BINARY),
            unread("b.bin", SkipReason.BINARY),
            unread("c.py", SkipReason.OVERSIZED),
        )
    }
    searched = (
        Unreached(path=".env", reason=SkipReason.SECRET, detail="not searched"),
        Unreached(path="b.bin", reason=SkipReason.BINARY, detail="not searched"),
    )
    made = make(basket_of(), {}, survey=survey, cost={"unsearched": searched})
    assert [(one.path, one.reason, one.detail) for one in made.unreached] == [
        (".env", SkipReason.SECRET, "not searched"),
        ("a.bin", SkipReason.BINARY, "binary, seen when it was looked into"),
        ("b.bin", SkipReason.BINARY, "not searched"),
    ]


def test_a_file_that_holds_a_term_and_no_declared_probe_reaches_is_told(make: Planner) -> None:
    made = make(basket_of(seed("s")), files(4, "s"), numbers={"target_files": 3})
    assert [(one.path, one.reason) for one in made.unreached] == [("f3.py", SkipReason.TARGET_CUT)]


# The survey


def test_files_that_were_not_looked_into_are_targets_and_no_candidates(make: Planner) -> None:
    made = make(basket_of(seed("s")), files(3, "s"), survey={"files": (FileFacts("f1.py"),)})
    assert [one.path for one in made.candidates] == ["f1.py"]
    assert [probe.target_set for probe in made.probes] == [("f0.py", "f1.py", "f2.py")]


def test_files_that_were_looked_into_come_first_where_not_all_fit(make: Planner) -> None:
    survey = {"files": (FileFacts("f2.py"),)}
    made = make(basket_of(seed("s")), files(3, "s"), survey=survey, numbers={"target_files": 1})
    assert [probe.target_set for probe in made.probes] == [("f2.py",)]


def test_what_a_line_is_worth_follows_from_the_rarity_that_the_survey_told(make: Planner) -> None:
    survey = {"rarity": (("tide", 2.0),)}
    made = make(basket_of(seed("tide"), term("ebb")), {"a.py": {"tide": 1, "ebb": 1}}, survey=survey)
    assert made.pulls == (("tide", 1.0),)


def test_the_basket_is_the_one_that_the_counts_settled(make: Planner) -> None:
    state = term("state", generic=True, why_generic="listed as generic")
    made = make(basket_of(state, seed("s")), files(2, "state", "s"))
    assert made.basket.terms[0].pairs_with == ("s",)


def test_the_plan_is_named_by_its_probes(make: Planner) -> None:
    one, same, other = (make(basket_of(seed(text)), files(2, "s", "t")) for text in ("s", "s", "t"))
    assert one.plan_id == same.plan_id != other.plan_id
    assert one.plan_id.startswith("rtch_plan_")


def test_candidates_are_cut_to_their_limit(make: Planner) -> None:
    made = make(basket_of(seed("s")), files(9, "s"), numbers={"max_candidates": 4})
    assert len(made.candidates) == 4


def test_a_plan_round_trips(make: Planner) -> None:
    terms = everything(2)
    made = make(basket_of(*terms, term("a.py", shape=TermShape.PATH)), files(3, *[one.term for one in terms]))
    assert ProbePlan.parse(made.canonical()) == made
