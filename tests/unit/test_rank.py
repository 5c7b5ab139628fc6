import math
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import basket_of, cost_of, place, seed, term

sys.path.pop(0)

from rtch.bodies import Bodies
from rtch.lending import LENT
from rtch.limits import load_limits
from rtch.models.basket import Basket, Term, TermShape
from rtch.models.features import FileFeatures, Heading, Reference, Symbol
from rtch.models.inventory import FileFacts
from rtch.models.plan import Candidate, CostEstimate
from rtch.models.vocab import FileRole, Origin, SymbolKind, TargetProfile
from rtch.named import SEEDS, TARGET
from rtch.path_words import PathWords
from rtch.query import query_of
from rtch.rank import DEFINES, DEFINES_SEED, Ranker, Shortlist, facts_of, shortlist

NEUTRAL = dict.fromkeys(FileRole, 1.0)
PATHS = ("a.py", "b.py", "c.py", "d.py", "e.py", "f.py")


def counted(
    basket: Basket, counts: dict[str, dict[str, int]], *, searched: int, sizes: dict[str, int] | None = None
) -> CostEstimate:
    cost = cost_of(counts, terms=[one.term for one in basket.terms], searched=searched)
    return cost.model_copy(update={"sizes": tuple((sizes or {}).get(path, 1000) for path in cost.paths)})


def ranker_of(
    basket: Basket,
    counts: dict[str, dict[str, int]] | None = None,
    *,
    features: tuple[FileFeatures, ...] = (),
    paths: tuple[str, ...] = PATHS,
    sizes: dict[str, int] | None = None,
) -> Ranker:
    """Return a ranker that has looked into every file: those without features show nothing."""
    words, query = PathWords(tuple(sorted(paths))), query_of(basket)
    cost = counted(basket, counts or {}, searched=len(paths), sizes=sizes)
    found = {fact.path: fact for fact in facts_of(features, query)}
    shown: dict[str, set[str]] = {}
    for fact in found.values():
        for token, _ in (*fact.definitions, *fact.headings):
            shown.setdefault(token, set()).add(fact.path)
    files = [found.get(path) or FileFacts(path) for path in words.paths]
    return Ranker(words, basket, cost, files, Bodies(words, basket, query, cost).rarity(shown))


def ranked(
    *args: Any, priors: dict[FileRole, float] | None = None, detailed: int = 100, **named: Any
) -> list[Candidate]:
    return list(ranker_of(*args, **named).candidates(priors or NEUTRAL, detailed))


def order(*args: Any, **named: Any) -> list[str]:
    return [one.path for one in ranked(*args, **named)]


def part(found: list[Candidate], path: str, name: str) -> tuple[float, str]:
    """Return a named part of a file's score, 0 where there is none."""
    parts = {one.name: one for candidate in found if candidate.path == path for one in candidate.parts}
    return (parts[name].value, parts[name].because) if name in parts else (0.0, "")


def code(path: str, *names: str, imports: tuple[str, ...] = ()) -> FileFeatures:
    symbols = tuple(Symbol(name, SymbolKind.FUNCTION, i) for i, name in enumerate(names, start=1))
    references = tuple(Reference(name, 1) for name in imports)
    return FileFeatures(path=path, role=FileRole.CODE, symbols=symbols, references=references)


# Seeds lead


def test_two_seeds_stand_before_several_mentions_of_one() -> None:
    counts = {"a.py": {"tide": 3}, "b.py": {"tide": 1, "ebb": 1}, "c.py": {"ebb": 1}}
    assert order(basket_of(seed("tide"), seed("ebb")), counts)[0] == "b.py"


def test_seeds_stand_before_goal_words() -> None:
    words = [term(f"word{i}") for i in range(3)]
    counts = {"a.py": {one.term: 3 for one in words}, "b.py": {"tide": 1}}
    found = ranked(basket_of(seed("tide"), *words), counts)
    assert (found[0].path, part(found, "b.py", "seeds")) == ("b.py", (SEEDS, "holds tide"))


def test_a_seed_in_a_path_or_name_counts_without_a_mention() -> None:
    known = seed("tide", places=(place("c.py", Origin.CODE_SYMBOL),))
    assert part(ranked(basket_of(known), {}), "c.py", "seeds") == (SEEDS, "holds tide")


def test_a_generic_seed_alone_leads_nowhere() -> None:
    alone, paired = seed("state", generic=True), seed("state", generic=True, pairs_with=("tide",))
    counts = {"a.py": {"state": 1}}
    assert [part(ranked(basket_of(one), counts), "a.py", "seeds")[0] for one in (alone, paired)] == [0.0, SEEDS]


def test_rare_seeds_count_more() -> None:
    counts = {path: {"common": 1} for path in PATHS} | {"a.py": {"rare": 1}, "b.py": {"common": 1}}
    found = ranked(basket_of(seed("common"), seed("rare")), counts)
    assert part(found, "a.py", "seeds")[0] > part(found, "b.py", "seeds")[0] > 0


# Text


def test_more_and_rarer_words_score_higher() -> None:
    counts = {"a.py": {"common": 1}, "b.py": {"common": 2}, "c.py": {"rare": 1}, "d.py": {"common": 1}}
    assert order(basket_of(term("common"), term("rare")), counts) == ["c.py", "b.py", "a.py", "d.py"]


def test_a_long_file_is_discounted() -> None:
    counts = {"a.py": {"tide": 2}, "b.py": {"tide": 2}}
    assert order(basket_of(term("tide")), counts, sizes={"a.py": 90_000, "b.py": 900}) == ["b.py", "a.py"]


def test_the_best_text_scores_one_and_its_fields_say_where() -> None:
    found = ranked(
        basket_of(term("tide")),
        {"tide.py": {"tide": 3}},
        paths=("tide.py", "b.py"),
        features=(code("tide.py", "ebb_tide"),),
    )
    names = {one.name: one.value for one in found[0].parts}
    assert set(names) == {"text.body", "text.path", "text.definitions", "size"}
    assert sum(value for name, value in names.items() if name != "size") == pytest.approx(1.0, abs=1e-5)


def test_of_two_files_with_the_same_words_the_larger_stands_first() -> None:
    counts = {"a.py": {"tide": 1}, "b.py": {"tide": 1}}
    found = ranked(basket_of(seed("tide")), counts, sizes={"a.py": 900, "b.py": 1000})
    assert part(found, "b.py", "size")[0] > part(found, "a.py", "size")[0] > 0


def test_a_rare_seed_leads_and_one_that_stands_everywhere_hardly_does() -> None:
    paths = tuple(f"{letter}{number}.py" for letter in "abcdefgh" for number in range(10))
    rare, common = seed("tide"), seed("state")
    counts: dict[str, dict[str, int]] = {path: {"state": 1} for path in paths[:60]} | {"h9.py": {"tide": 1}}
    found = ranked(basket_of(rare, common), counts, paths=paths)
    assert found[0].path == "h9.py"
    assert part(found, "h9.py", "seeds")[0] > 50 * part(found, "a0.py", "seeds")[0] > 0


def test_a_seed_that_is_a_folder_makes_no_candidate_of_it() -> None:
    folder = seed("lib", places=(place("lib", Origin.FILE_PATH, name="lib"),))
    found = ranked(basket_of(folder), {}, paths=("lib/a.py", "b.py"))
    assert {one.path for one in found} <= {"lib/a.py", "b.py"}


def test_inflections_and_parts_of_names_count() -> None:
    features = (
        code("a.py", "TideTables"),
        FileFeatures(path="b.py", role=FileRole.DOCUMENT, headings=(Heading(1, "Tides", 1),)),
    )
    found = ranked(basket_of(term("tide")), {}, features=features)
    assert [part(found, "a.py", "text.definitions")[0] > 0, part(found, "b.py", "text.headings")[0] > 0] == [True, True]


def test_neighbouring_words_count_where_they_are_written_as_one() -> None:
    found = ranked(
        basket_of(term("work tree", shape=TermShape.JOINED)), {"b.py": {"work tree": 1}}, paths=("worktree.py", "b.py")
    )
    assert {one.path for one in found} == {"worktree.py", "b.py"}


def test_words_without_weight_score_nothing() -> None:
    assert ranked(basket_of(term("tide", weight=0.0)), {"a.py": {"tide": 3}}) == []


# What is named outright


def test_the_known_target_stands_first_whatever_its_role() -> None:
    target = term("tests/x.py", shape=TermShape.TARGET, weight=0.0)
    paths = ("tests/x.py", "a.py")
    priors = NEUTRAL | {FileRole.TEST: 0.1}
    found = ranked(basket_of(target, seed("tide")), {"a.py": {"tide": 9}}, paths=paths, priors=priors)
    assert (found[0].path, part(found, "tests/x.py", "target")) == ("tests/x.py", (TARGET, "the known target"))


def test_exact_definitions_of_what_is_asked_for_count_and_rare_ones_more() -> None:
    features = (code("a.py", "settle", "tide"), code("b.py", "tide"), code("c.py", "_settle_all"))
    found = ranked(basket_of(seed("settle"), term("x.tide", shape=TermShape.IDENTIFIER)), {}, features=features)
    value, because = part(found, "a.py", "defines")
    assert value == pytest.approx(DEFINES + DEFINES_SEED)
    assert because == "defines settle, tide"
    assert 0 < part(found, "b.py", "defines")[0] < DEFINES
    assert part(found, "c.py", "defines")[0] == 0.0


# Neighbours and priors


def test_what_a_good_file_imports_is_lent_a_share() -> None:
    features = (code("a.py", imports=("lib.util",)), code("b.py", imports=("lib.util",)))
    counts = {"a.py": {"tide": 9}, "b.py": {"tide": 1}}
    found = ranked(basket_of(seed("tide")), counts, paths=(*PATHS, "lib/util.py"), features=features)
    value, because = part(found, "lib/util.py", "imported")
    assert value == pytest.approx(LENT * found[0].score, abs=1e-5)
    assert because == "imported by a.py"


def test_a_file_lends_nothing_to_itself() -> None:
    features = (code("lib/util.py", imports=("lib.util",)),)
    found = ranked(basket_of(seed("tide")), {"lib/util.py": {"tide": 1}}, paths=("lib/util.py",), features=features)
    assert part(found, "lib/util.py", "imported")[0] == 0.0


def test_roles_rank_down_and_nothing_vanishes() -> None:
    counts = {path: {"tide": 1} for path in ("a.py", "tests/test_a.py", "uv.lock")}
    priors = NEUTRAL | {FileRole.TEST: 0.3, FileRole.LOCK: 0.05}
    found = ranked(basket_of(seed("tide")), counts, paths=tuple(counts), priors=priors)
    assert [one.path for one in found] == ["a.py", "tests/test_a.py", "uv.lock"]
    assert part(found, "uv.lock", "role")[1].startswith("lock x 0.05 under this profile, ")


# The list


def test_ties_stand_by_path_and_the_first_say_why() -> None:
    counts = {path: {"tide": 1} for path in reversed(PATHS)}
    found = ranked(basket_of(seed("tide")), counts, detailed=2)
    assert [(one.path, bool(one.parts)) for one in found] == [(path, path in {"a.py", "b.py"}) for path in PATHS]


def test_a_score_is_the_sum_of_its_parts() -> None:
    counts = {"a.py": {"tide": 2, "ebb": 1}, "b.py": {"ebb": 5}}
    found = ranked(basket_of(seed("tide"), term("ebb")), counts, features=(code("a.py", "tide"),))
    assert [one.score for one in found] == [pytest.approx(sum(p.value for p in one.parts), abs=1e-6) for one in found]


@pytest.mark.parametrize("terms", [(), (term("absent"),)])
def test_nothing_asked_or_found_ranks_nothing(terms: tuple[Term, ...]) -> None:
    assert ranked(basket_of(*terms), {}) == []


def test_what_draws_a_line_is_the_share_of_a_word_times_its_rarity() -> None:
    basket = basket_of(seed("tide"), term("ebb", weight=1.0), term("absent"))
    ranker = ranker_of(basket, {"a.py": {"tide": 1, "ebb": 1}, "b.py": {"ebb": 1}})
    rare, common = math.log(1 + 5.5 / 1.5), math.log(1 + 4.5 / 2.5)
    assert ranker.pulls() == (("ebb", round(common, 6)), ("tide", round(0.5 * rare, 6)))


def test_a_word_that_only_the_names_in_a_file_bear_is_not_taken_for_one_that_nothing_bears() -> None:
    ranker = ranker_of(basket_of(term("tide")), features=(code("a.py", "TideTable"),))
    assert [name for name, _ in ranker.pulls()] == ["tide"]


# What is kept of a file that was looked into


def test_facts_count_what_meets_the_words_of_the_request() -> None:
    file = FileFeatures(
        path="a.py",
        role=FileRole.CODE,
        symbols=tuple(
            Symbol(name, SymbolKind.FUNCTION, 1) for name in ("settle", "settleRoute", "settle_tides", "other")
        ),
        headings=(Heading(1, "Tides settled", 1), Heading(2, "Other", 2)),
        references=(Reference("lib.util", 1),),
    )
    (fact,) = facts_of([file], query_of(basket_of(seed("settle_route"), term("tide"))))
    assert fact == FileFacts(
        path="a.py",
        definitions=(("rout", 1), ("settl", 3), ("settleroute", 1), ("tide", 1)),
        headings=(("settl", 1), ("tide", 1)),
        defined=("settleroute",),
        definition_count=4,
        heading_count=2,
        references=("lib.util",),
    )


def test_files_that_show_nothing_of_the_request_still_show_how_much_there_is() -> None:
    (fact,) = facts_of([code("a.py", "one", "two", imports=("b",))], query_of(basket_of(term("tide"))))
    assert fact == FileFacts("a.py", definition_count=2, references=("b",))


# The shortlist


def listed(
    basket: Basket,
    counts: dict[str, dict[str, int]],
    *,
    most: int,
    paths: tuple[str, ...] = PATHS,
    priors: dict[FileRole, float] | None = None,
) -> Shortlist:
    words = PathWords(tuple(sorted(paths)))
    return shortlist(words, basket, counted(basket, counts, searched=len(paths)), priors or NEUTRAL, most)


def test_the_shortlist_is_every_file_that_bears_a_word_or_is_named_where_they_fit() -> None:
    counts = {"e.py": {"tide": 1}, "b.py": {"tide": 1}}
    basket = basket_of(seed("tide"), term("ebb.md", shape=TermShape.PATH))
    found = listed(basket, counts, most=3, paths=(*PATHS, "d/ebb.md"))
    assert (found.paths, found.beyond) == (("b.py", "d/ebb.md", "e.py"), 0)


def test_the_best_are_kept_and_the_rest_are_counted() -> None:
    counts = {path: {"tide": count} for path, count in zip(PATHS, (1, 5, 2, 9, 1, 3), strict=True)}
    found = listed(basket_of(term("tide")), counts, most=2)
    assert (found.paths, found.beyond) == (("b.py", "d.py"), 4)


def test_of_files_that_bear_as_much_the_first_by_path_are_kept() -> None:
    found = listed(basket_of(term("tide")), {path: {"tide": 1} for path in PATHS}, most=2)
    assert (found.paths, found.beyond) == (("a.py", "b.py"), 4)


def test_the_role_of_a_file_counts_where_not_all_fit() -> None:
    counts = {"tests/test_a.py": {"tide": 2}, "z.py": {"tide": 1}}
    priors = NEUTRAL | {FileRole.TEST: 0.3}
    found = listed(basket_of(term("tide")), counts, most=1, paths=tuple(counts), priors=priors)
    assert (found.paths, found.beyond) == (("z.py",), 1)


def test_what_is_named_stands_before_what_the_text_says() -> None:
    counts = {"a.py": {"tide": 1}, "b.py": {"loud": 40, "noise": 40}}
    basket = basket_of(seed("tide"), term("loud"), term("noise"))
    assert listed(basket, counts, most=1).paths == ("a.py",)


@pytest.mark.parametrize("profile", TargetProfile)
def test_the_known_target_is_looked_into_whatever_its_role(profile: TargetProfile) -> None:
    target = term("lib/uv.lock", shape=TermShape.TARGET, weight=0.0)
    basket, counts = basket_of(target, seed("tide")), {"a.py": {"tide": 3}}
    priors = load_limits().survey.priors[profile]
    assert listed(basket, counts, most=1, paths=(*PATHS, "lib/uv.lock"), priors=priors).paths == ("lib/uv.lock",)


@pytest.mark.parametrize("terms", [(), (term("absent"),)])
def test_nothing_asked_or_found_lists_nothing(terms: tuple[Term, ...]) -> None:
    found = listed(basket_of(*terms), {}, most=3)
    assert (found.paths, found.beyond) == ((), 0)


def test_the_whole_score_of_what_is_listed_is_the_same_however_many_are_left_out() -> None:
    counts = {path: {"tide": 9 - i} for i, path in enumerate(PATHS)}
    basket = basket_of(seed("tide"))
    found = listed(basket, counts, most=2)
    files = [FileFacts(path) for path in found.paths]
    words = PathWords(PATHS)
    few = Ranker(words, basket, counted(basket, counts, searched=6), files, found.bodies.rarity())
    assert list(few.candidates(NEUTRAL, 9)) == ranked(basket, counts)[:2]
