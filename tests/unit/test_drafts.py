import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import basket_of, cost_of, intake_of, limits_with, place, seed, survey_of, term, zone_of

sys.path.pop(0)

from rtch.models.basket import FrameRef, Term, TermShape
from rtch.models.inventory import MarkedFile
from rtch.models.plan import Candidate, ScorePart
from rtch.models.vocab import (
    ClaimAuthority,
    ExpectedOutput,
    FanoutLevel,
    FileRole,
    MarkerKind,
    Origin,
    ProbeFamily,
    ProbeType,
    TargetProfile,
    Use,
)
from rtch.models.zone import Registry, Rung, RungKind, TruthFile
from rtch.stages.drafts import SEED_PULL, Draft, Field, drafts_for

PLAN = limits_with().plan
PATHS = ("a.py", "b.py", "c.py", "d/e.md", "d/f.md")


def draft(*terms: Term, counts: dict[str, dict[str, int]] | None = None, **more: Any) -> list[Draft]:
    """Draft probes for terms that each hit in every file, unless other counts are given."""
    everywhere = {path: {one.term: 1 for one in terms} for path in PATHS}
    intake = intake_of(**more.pop("intake", {}))
    made = Field(
        intake=intake,
        zone=more.pop("zone", zone_of()),
        survey=survey_of(marked=more.pop("marked", ())),
        basket=basket_of(*terms).model_copy(update={"frames": more.pop("frames", ())}),
        cost=cost_of(everywhere if counts is None else counts, searched=10),
        paths=PATHS,
        ranked=more.pop("ranked", ()),
        allowed=more.pop("allowed", None),
    )
    return drafts_for(made, PLAN.fanout[intake.fanout_level], PLAN)


def known(text: str, origin: Origin, **fields: Any) -> Term:
    """Return a goal word that the tree knows from a.py."""
    return term(text, **{"origin": origin, "use": Use.LOCATE, "places": (place("a.py", origin, line=3),)} | fields)


def score(path: str, value: float, name: str = "text.body") -> Candidate:
    return Candidate(path=path, score=value, parts=(ScorePart(name=name, value=value),))


@pytest.mark.parametrize(
    ("one", "family", "wave", "authority"),
    [
        (seed("s"), ProbeFamily.EXPLICIT_SEED, 1, ClaimAuthority.CLAIM_SUPPORTING),
        (known("CPR-1", Origin.DURABLE_HANDLE), ProbeFamily.DURABLE_HANDLE, 1, ClaimAuthority.CLAIM_SUPPORTING),
        (known("w", Origin.CODE_SYMBOL), ProbeFamily.CODE_SYMBOL, 2, ClaimAuthority.SOURCE_BEARING),
        (known("w", Origin.HEADING), ProbeFamily.HEADING, 2, ClaimAuthority.SOURCE_BEARING),
        (known("w", Origin.JSON_KEY), ProbeFamily.STRUCTURED_KEY, 2, ClaimAuthority.CLAIM_SUPPORTING),
        (known("w", Origin.YAML_KEY), ProbeFamily.STRUCTURED_KEY, 2, ClaimAuthority.CLAIM_SUPPORTING),
        (known("w", Origin.MANIFEST_KEY), ProbeFamily.STRUCTURED_KEY, 2, ClaimAuthority.CLAIM_SUPPORTING),
        (known("w", Origin.FILE_PATH), ProbeFamily.FILE_INVENTORY, 2, ClaimAuthority.SOURCE_BEARING),
        (term("log", origin=Origin.LOCAL_SHAPE), ProbeFamily.FILE_INVENTORY, 2, ClaimAuthority.SOURCE_BEARING),
        (term("tic 4", shape=TermShape.MOMENT), ProbeFamily.TEMPORAL, 1, ClaimAuthority.SOURCE_BEARING),
        (term("w"), ProbeFamily.EXPLICIT_SEED, 3, ClaimAuthority.WEAK),
        (term("w", origin=Origin.CAUTION, use=Use.CAUTION), ProbeFamily.CAUTION, 1, ClaimAuthority.WEAK),
    ],
)
def test_each_term_is_looked_for_by_the_family_of_its_origin(
    one: Term, family: ProbeFamily, wave: int, authority: ClaimAuthority
) -> None:
    first = next(made for made in draft(one) if made.family is not ProbeFamily.REFERENCE)
    assert (first.family, first.wave, first.authority, first.texts) == (family, wave, authority, (one.term,))


def test_noise_and_what_hits_nowhere_are_not_probed() -> None:
    assert draft(term("n", origin=Origin.NOISE, use=Use.EXCLUDE)) == []
    assert draft(seed("s"), known("w", Origin.HEADING), counts={}) == []


@pytest.mark.parametrize("origin", [Origin.EXPLORATORY, Origin.CAUTION, Origin.LOCAL_SHAPE])
def test_conservative_probes_sourced_terms_alone(origin: Origin) -> None:
    assert draft(term("w", origin=origin), intake={"fanout_level": FanoutLevel.CONSERVATIVE}) == []


def test_targets_are_the_files_that_hold_a_term_best_first() -> None:
    counts = {"a.py": {"s": 1}, "b.py": {"s": 1}, "c.py": {"s": 2}, "d/e.md": {"other": 1}}
    (made,) = draft(seed("s"), counts=counts, ranked=(score("b.py", 2.0), score("c.py", 1.0)))
    assert made.targets == ("b.py", "c.py", "a.py")


def test_targets_lie_in_scope() -> None:
    (made,) = draft(seed("s"), allowed=frozenset({"c.py", "d/e.md"}))
    assert made.targets == ("c.py", "d/e.md")


def test_terms_share_probes_within_the_quota_and_the_order_of_seeds_is_nothing() -> None:
    seeds = [seed(f"s{i}") for i in range(12)]
    forwards, backwards = draft(*seeds), draft(*reversed(seeds))
    assert [made.texts for made in forwards] == [made.texts for made in backwards]
    assert [len(made.terms) for made in forwards] == [3, 3, 3, 3]


def test_a_probe_carries_no_more_terms_than_its_limit() -> None:
    drafts = draft(*[seed(f"s{i:02}") for i in range(30)])
    assert [len(made.terms) for made in drafts] == [4] * 7 + [2]


def test_rare_seeds_come_first() -> None:
    counts = {path: {"common": 1} for path in PATHS} | {"a.py": {"common": 1, "rare": 1}}
    assert [made.texts for made in draft(seed("common"), seed("rare"), counts=counts)] == [("rare",), ("common",)]


def test_a_probe_term_carries_what_bounds_its_hits() -> None:
    places = (
        place("a.py", Origin.HEADING, line=3),
        place("b.py", Origin.CODE_SYMBOL, line=5),
        place("gone.py", Origin.CODE_SYMBOL),
    )
    word = known("w", Origin.CODE_SYMBOL, places=places, generic=True, pairs_with=("s",), variants=("ws",))
    found = {made.family: made.terms[0] for made in draft(word)}
    assert found[ProbeFamily.CODE_SYMBOL].places == (("b.py", 5),)
    assert found[ProbeFamily.HEADING].places == (("a.py", 3),)
    carried = found[ProbeFamily.CODE_SYMBOL]
    assert (carried.origin, carried.use, carried.generic) == (Origin.CODE_SYMBOL, Use.LOCATE, True)
    assert (carried.pairs_with, carried.spellings) == (("s",), ("w", "ws"))


def test_rare_terms_and_seeds_pull_most() -> None:
    counts = {path: {"common": 1, "seed": 1} for path in PATHS} | {"a.py": {"rare": 1}}
    made = draft(
        known("common", Origin.HEADING), known("rare", Origin.HEADING), seed("seed", weight=1.0), counts=counts
    )
    pull = {one.term: one.pull for found in made for one in found.terms}
    assert pull["rare"] > pull["common"] > 0
    assert pull["seed"] == pytest.approx(pull["common"] * (1.0 + SEED_PULL), abs=1e-5)


def test_words_that_are_not_generic_come_first_and_then_by_weight() -> None:
    words = [term("g", generic=True, weight=9.0), term("light", weight=0.5), term("heavy", weight=2.0)]
    assert [made.texts for made in draft(*words)] == [("heavy",), ("light",), ("g",)]


@pytest.mark.parametrize("profile", TargetProfile)
def test_a_time_that_is_named_is_looked_for_before_words(profile: TargetProfile) -> None:
    words = [seed("s"), known("h", Origin.HEADING), term("tic 4", shape=TermShape.MOMENT)]
    assert draft(*words, intake={"target_profile": profile})[0].family is ProbeFamily.TEMPORAL


def test_the_family_that_a_profile_is_after_comes_first_in_its_wave() -> None:
    words = [known("c", Origin.CODE_SYMBOL), known("h", Origin.HEADING), known("k", Origin.JSON_KEY)]
    first = {profile: draft(*words, intake={"target_profile": profile})[0].family for profile in TargetProfile}
    assert first == {
        TargetProfile.CODE_PATH: ProbeFamily.CODE_SYMBOL,
        TargetProfile.DOCTRINE_CHAIN: ProbeFamily.HEADING,
        TargetProfile.AUDIT_HISTORY: ProbeFamily.CODE_SYMBOL,
        TargetProfile.MANIFEST_REGISTRY: ProbeFamily.STRUCTURED_KEY,
        TargetProfile.VAGUE_INTENT: ProbeFamily.HEADING,
        TargetProfile.MIXED: ProbeFamily.CODE_SYMBOL,
    }


# Paths


@pytest.mark.parametrize(
    ("named", "targets"),
    [
        (term("a.py", shape=TermShape.TARGET, origin=Origin.FILE_PATH), ("a.py",)),
        (term("./a.py", shape=TermShape.PATH, origin=Origin.FILE_PATH), ("a.py",)),
        (term("e.md", shape=TermShape.PATH, origin=Origin.FILE_PATH), ("d/e.md",)),
        (seed("d/e.md"), ("d/e.md",)),
    ],
)
def test_named_paths_are_confirmed(named: Term, targets: tuple[str, ...]) -> None:
    (made,) = draft(named, counts={})
    assert (made.family, made.type, made.targets) == (ProbeFamily.FILE_INVENTORY, ProbeType.GLOB, targets)
    assert made.terms[0].places == tuple((path, 1) for path in targets)


def test_a_path_that_is_one_is_not_taken_for_the_end_of_others() -> None:
    target = term("e.md", shape=TermShape.TARGET, origin=Origin.FILE_PATH)
    made = Field(
        intake=intake_of(known_target="e.md"),
        zone=zone_of(),
        survey=survey_of(),
        basket=basket_of(target),
        cost=cost_of({}),
        paths=("d/e.md", "e.md"),
        ranked=(),
        allowed=None,
    )
    assert [one.targets for one in drafts_for(made, PLAN.fanout[FanoutLevel.NORMAL], PLAN)] == [("e.md",)]


def test_files_in_a_stack_trace_are_confirmed() -> None:
    frames = (FrameRef(path="/somewhere/b.py", line=7, depth=1),)
    (made,) = draft(counts={}, ranked=(score("b.py", 1.0, "frame"), score("c.py", 0.5)), frames=frames)
    assert (made.family, made.targets, made.texts) == (ProbeFamily.FILE_INVENTORY, ("b.py",), ("b.py",))
    assert made.terms[0].places == (("b.py", 7),)


def test_neighbours_are_confirmed_with_what_lies_in_them() -> None:
    neighbor = {"shape": TermShape.NEIGHBOR, "origin": Origin.REF_NEIGHBORHOOD, "use": Use.NEIGHBOR_ONLY}
    (made,) = draft(term("d/", **neighbor), term("./a.py", **neighbor), term("gone", **neighbor), counts={})
    assert (made.family, made.type, made.wave) == (ProbeFamily.REFERENCE, ProbeType.GLOB, 2)
    assert made.targets == ("a.py", "d/e.md", "d/f.md")
    assert draft(term("gone", **neighbor), counts={}) == []


# Backlinks and standing


def test_mentions_of_an_id_are_looked_for_outside_its_own_file() -> None:
    handle = known("CPR-1", Origin.DURABLE_HANDLE)
    _, mentions = draft(handle)
    assert (mentions.family, mentions.targets) == (ProbeFamily.REFERENCE, ("b.py", "c.py", "d/e.md", "d/f.md"))
    assert mentions.authority is ClaimAuthority.WEAK
    assert len(draft(handle, counts={"a.py": {"CPR-1": 2}})) == 1


@pytest.mark.parametrize(
    ("intake", "drafted"),
    [
        ({"target_profile": TargetProfile.DOCTRINE_CHAIN}, True),
        ({"target_profile": TargetProfile.CODE_PATH}, False),
        ({"expected_output": ExpectedOutput.CLAIM_EVIDENCE}, True),
        ({"expected_output": ExpectedOutput.CLAIM_EVIDENCE, "fanout_level": FanoutLevel.CONSERVATIVE}, False),
    ],
)
def test_claims_of_authority_are_looked_for_where_they_matter(intake: dict[str, Any], drafted: bool) -> None:  # noqa: FBT001
    marked = (
        MarkedFile(path="a.py", kind=MarkerKind.SOURCE_OF_TRUTH, lines=(1,)),
        MarkedFile(path="b.py", kind=MarkerKind.DEPRECATION, lines=(1,)),
        MarkedFile(path="c.py", kind=MarkerKind.SOURCE_OF_TRUTH, lines=(1,)),
    )
    ranked = (score("b.py", 2.0), score("a.py", 1.0))
    found = draft(counts={}, intake=intake, marked=marked, ranked=ranked)
    assert [(made.family, made.targets) for made in found] == (
        [(ProbeFamily.SOURCE_OF_TRUTH, ("a.py",))] if drafted else []
    )


@pytest.mark.parametrize(
    ("profile", "goal", "use"),
    [
        (TargetProfile.MANIFEST_REGISTRY, "which registries", Use.LOCATE),
        (TargetProfile.MANIFEST_REGISTRY, "what is new", Use.PRESSURE),
        (TargetProfile.DOCTRINE_CHAIN, "what is new", Use.PRESSURE),
        (TargetProfile.AUDIT_HISTORY, "what is new", Use.PRESSURE),
        (TargetProfile.CODE_PATH, "which registries", None),
    ],
)
def test_what_a_profile_is_about_is_confirmed_whatever_the_goal_says(
    profile: TargetProfile, goal: str, use: Use | None
) -> None:
    zone = zone_of(
        registries=(Registry(path="a.py", role=FileRole.CONFIG, why="by name"),),
        rungs=(Rung(kind=RungKind.SITE, name="", path=".", marker=".site-root", documents=("b.py", "../up.md")),),
        truth_files=(TruthFile(path="c.py", why="a ledger"), TruthFile(path="d/e.md", why="a name")),
    )
    words = [term(word, weight=1.0) for word in goal.split()]
    made = draft(*words, counts={}, zone=zone, intake={"target_profile": profile})
    paths = {
        TargetProfile.MANIFEST_REGISTRY: ("a.py",),
        TargetProfile.DOCTRINE_CHAIN: ("b.py",),
        TargetProfile.AUDIT_HISTORY: ("c.py",),
    }
    expected = [] if use is None else [(ProbeType.GLOB, paths[profile], (use,))]
    assert [(one.type, one.targets, tuple(found.use for found in one.terms)) for one in made] == expected
