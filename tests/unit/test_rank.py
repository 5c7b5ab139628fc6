import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import basket_of, cost_of, place, seed, term

sys.path.pop(0)

from rtch.lending import LENT
from rtch.models.basket import Basket, FrameRef, Term, TermShape
from rtch.models.features import FileFeatures, Heading, Reference, Symbol
from rtch.models.inventory import FeatureShard
from rtch.models.plan import Candidate
from rtch.models.vocab import FileRole, Origin, SymbolKind
from rtch.rank import (
    DEFINES,
    DEFINES_SEED,
    FRAME,
    MODULE,
    NAMED_FILE,
    NAMED_PATH,
    QUOTED,
    SEEDS,
    TARGET,
    Ranker,
    facts_of,
    query_of,
)

NEUTRAL = dict.fromkeys(FileRole, 1.0)
PATHS = ("a.py", "b.py", "c.py", "d.py", "e.py", "f.py")


def ranked(
    basket: Basket,
    counts: dict[str, dict[str, int]] | None = None,
    *,
    features: tuple[FileFeatures, ...] = (),
    paths: tuple[str, ...] = PATHS,
    priors: dict[FileRole, float] | None = None,
    detailed: int = 100,
    sizes: dict[str, int] | None = None,
) -> list[Candidate]:
    cost = cost_of(counts or {}, terms=[one.term for one in basket.terms], searched=len(paths))
    files = tuple(file.model_copy(update={"size_bytes": (sizes or {}).get(file.path, 1000)}) for file in cost.files)
    facts = facts_of([FeatureShard(files=features)], query_of(basket))
    ranker = Ranker(paths, basket, cost.model_copy(update={"files": files}), facts)
    return list(ranker.candidates(priors or NEUTRAL, detailed))


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


def test_a_file_that_is_called_what_was_asked_for_counts() -> None:
    found = ranked(basket_of(seed("harbor-master")), {}, paths=("lib/harbor_master.py", "lib/harbor.py"))
    assert [part(found, path, "named_file")[0] for path in ("lib/harbor_master.py", "lib/harbor.py")] == [NAMED_FILE, 0]


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


def test_files_in_a_target_folder_stand_first() -> None:
    target = term("lib", shape=TermShape.TARGET, weight=0.0)
    found = ranked(basket_of(target), {}, paths=("lib/a.py", "library/b.py"))
    assert [(one.path, part(found, one.path, "target")) for one in found] == [
        ("lib/a.py", (TARGET, "lies in the known target"))
    ]


@pytest.mark.parametrize(
    ("named", "path", "share"),
    [
        ("src/a.py", "src/a.py", 1.0),
        ("./src/a.py", "src/a.py", 1.0),
        (".github/ci.yml", ".github/ci.yml", 1.0),
        ("app/a.py", "src/app/a.py", 1.0),
        ("a.py", "src/a.py", 0.7),
        ("/home/me/app/a.py", "src/app/a.py", 0.6),
        ("b.py", "src/a.py", 0.0),
    ],
)
def test_a_path_that_is_named_counts(named: str, path: str, share: float) -> None:
    found = ranked(basket_of(term(named, shape=TermShape.PATH)), {}, paths=(path, "z.py"))
    assert part(found, path, "named_path")[0] == pytest.approx(NAMED_PATH * share)


def test_exact_definitions_of_what_is_asked_for_count_and_rare_ones_more() -> None:
    features = (code("a.py", "settle", "tide"), code("b.py", "tide"), code("c.py", "_settle_all"))
    found = ranked(basket_of(seed("settle"), term("x.tide", shape=TermShape.IDENTIFIER)), {}, features=features)
    value, because = part(found, "a.py", "defines")
    assert value == pytest.approx(DEFINES + DEFINES_SEED)
    assert because == "defines settle, tide"
    assert 0 < part(found, "b.py", "defines")[0] < DEFINES
    assert part(found, "c.py", "defines")[0] == 0.0


def test_frames_count_and_the_innermost_most() -> None:
    frames = tuple(
        FrameRef(path=path, line=1, depth=depth)
        for path, depth in (("/srv/app/a.py", 1), ("app/b.py", 2), ("x/c.py", 2))
    )
    basket = basket_of().model_copy(update={"frames": frames})
    found = ranked(basket, {}, paths=("app/a.py", "app/b.py", "other/c.py"))
    values = [part(found, path, "frame")[0] for path in ("app/a.py", "app/b.py", "other/c.py")]
    assert values == pytest.approx([FRAME, 0.625 * FRAME, 0.0])


@pytest.mark.parametrize(
    ("name", "path", "share"),
    [
        ("app.util.text", "src/app/util/text.py", 1.0),
        ("app.util.text.clean", "src/app/util/text.py", 0.5 + 0.5 * 3 / 4),
        ("app.util", "src/app/util/__init__.py", 1.0),
        ("Text.clean", "src/text.py", 0.8),
        ("other.thing", "src/app/util/text.py", 0.0),
    ],
)
def test_a_dotted_module_counts(name: str, path: str, share: float) -> None:
    found = ranked(basket_of(term(name, shape=TermShape.IDENTIFIER)), {}, paths=(path, "z.py"))
    assert part(found, path, "module")[0] == pytest.approx(MODULE * share, abs=1e-6)


def test_quotes_count_by_their_share() -> None:
    quotes = [term(text, shape=TermShape.QUOTE) for text in ("no such tide", "it is late")]
    found = ranked(basket_of(*quotes), {"a.py": {"no such tide": 1, "it is late": 1}, "b.py": {"it is late": 4}})
    assert [part(found, path, "quoted")[0] for path in ("a.py", "b.py")] == [QUOTED, QUOTED / 2]


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
