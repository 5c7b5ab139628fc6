import json
from pathlib import Path
from typing import Any

import pytest

from rtch import limits
from rtch.errors import IntakeError
from rtch.limits import Limits, config_yaml, load_limits, parse_limits, recalled_limits, tightened
from rtch.models.vocab import FanoutLevel, FileRole, Origin, ProbeFamily, TargetProfile
from rtch.store import MemoryStore

LIMITS = load_limits()
STAGES = {"hydrate", "orient", "plan", "scout", "survey"}


def tighten(values: object) -> Limits:
    return tightened(LIMITS, values, source=".rtch.yaml")


def refusal(values: object) -> str:
    with pytest.raises(IntakeError) as caught:
        tighten(values)
    return str(caught.value)


def test_the_packaged_numbers_are_read_once_and_are_those_of_the_specification() -> None:
    assert load_limits() is LIMITS
    assert {level: budget.max_probes for level, budget in LIMITS.plan.fanout.items()} == {
        FanoutLevel.CONSERVATIVE: 5,
        FanoutLevel.NORMAL: 12,
        FanoutLevel.WIDE: 25,
    }
    assert [budget.read_budget_lines for budget in LIMITS.plan.fanout.values()] == [400, 2000, 4000]
    assert [budget.surfaces for budget in LIMITS.plan.fanout.values()] == [10, 20, 40]
    assert (LIMITS.plan.target_files, LIMITS.plan.target_lines) == (100, 50_000)
    assert (LIMITS.hydrate.window_lines, LIMITS.hydrate.whole_file_lines, LIMITS.hydrate.whole_target_lines) == (
        40,
        200,
        500,
    )


def test_conservative_admits_sourced_terms_alone() -> None:
    assert set(LIMITS.plan.fanout[FanoutLevel.CONSERVATIVE].origins) == {
        Origin.DURABLE_HANDLE,
        Origin.EXPLICIT_SEED,
        Origin.FILE_PATH,
        Origin.HEADING,
        Origin.CODE_SYMBOL,
        Origin.JSON_KEY,
        Origin.YAML_KEY,
        Origin.MANIFEST_KEY,
    }


def test_every_level_has_a_quota_for_every_family_and_no_family_takes_all() -> None:
    for budget in LIMITS.plan.fanout.values():
        assert set(budget.quotas) == set(ProbeFamily)
        assert max(budget.quotas.values()) <= budget.max_probes / 2


def test_every_profile_has_a_prior_for_every_role() -> None:
    assert {profile: set(priors) for profile, priors in LIMITS.plan.priors.items()} == {
        profile: set(FileRole) for profile in TargetProfile
    }
    assert LIMITS.survey.priors == LIMITS.plan.priors, "files are chosen as they are ranked"


def test_limits_round_trip() -> None:
    assert parse_limits(json.loads(LIMITS.canonical())) == LIMITS


def test_a_value_that_does_not_fit_is_named() -> None:
    values = json.loads(LIMITS.canonical())
    values["hydrate"]["window_lines"] = 0
    with pytest.raises(IntakeError, match=r"^configuration value hydrate\.window_lines is wrong: "):
        parse_limits(values)


def test_the_configuration_is_plain_values() -> None:
    assert config_yaml("words.yaml")["generic_share"] == LIMITS.basket.words.generic_share


@pytest.mark.parametrize("values", [None, {}, {"limits": None, "generic": None, "stop": []}])
def test_an_empty_zone_configuration_changes_nothing(values: object) -> None:
    assert tighten(values) == LIMITS


def test_a_zone_adds_words() -> None:
    words = tighten({"generic": ["Kiln", " "], "stop": ["Glaze"]})
    assert words.basket.words == words.survey.words == words.plan.words
    assert words.plan.words.generic == (*LIMITS.plan.words.generic, "kiln")
    assert words.plan.words.stop.split()[-1] == "glaze"


def test_a_zone_lowers_numbers_and_leaves_the_other_stages_alone() -> None:
    hydrate = {"window_lines": 20, "glimpse_lines": 6}
    found = tighten({"limits": {"hydrate": hydrate, "cost": {"timeout_s": 5}, "survey": {"max_places": 4}}})
    assert (found.hydrate.window_lines, found.hydrate.glimpse_lines) == (20, 6)
    assert (found.cost.timeout_s, found.survey.max_places) == (5.0, 4)
    same = {"hydrate": LIMITS.hydrate, "cost": LIMITS.cost, "survey": LIMITS.survey}
    assert found.model_copy(update=same) == LIMITS


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1], ".rtch.yaml must be a mapping of generic, stop and limits"),
        ({"wide": 1}, ".rtch.yaml has the unknown key wide; known are generic, stop and limits"),
        ({"generic": "kiln"}, ".rtch.yaml: generic must be a list of words; generic: [word, other]"),
        ({"stop": [1]}, ".rtch.yaml: stop must be a list of words; stop: [word, other]"),
        (
            {"limits": [1]},
            ".rtch.yaml: limits must be a mapping of stages; limits: {hydrate: {window_lines: 20}}",
        ),
    ],
)
def test_what_has_no_meaning_is_refused(values: object, message: str) -> None:
    assert refusal(values) == message


@pytest.mark.parametrize(
    ("stage", "numbers"),
    [
        ("hydrate", {"window_lines": 41}),
        ("hydrate", {"window_lines": 0}),
        ("hydrate", {"window_lines": -1}),
        ("hydrate", {"window_lines": True}),
        ("hydrate", {"window_lines": "20"}),
        ("hydrate", {"window_lines": None}),
        ("hydrate", {"glimpse_lines": float("nan")}),
        ("hydrate", {"window": 3}),
        ("orient", {"truth_names": ["x"]}),
        ("plan", {"fanout": {}}),
        ("plan", {"words": 1}),
        ("survey", {"max_places": 13}),
        ("survey", {"priors": {}}),
        ("survey", {"features": {"max_symbols": 1}}),
        ("scout", {"max_files": 1}),
        ("judge", {"x": 1}),
        ("words", {"generic_share": 0.1}),
        (1, {"x": 1}),
        ("hydrate", 3),
        ("hydrate", {"window_lines": 1.5}),
    ],
)
def test_a_zone_can_neither_widen_nor_replace(stage: Any, numbers: object) -> None:
    where = [str(stage), *(numbers if isinstance(numbers, dict) and stage in STAGES else ())]
    assert f"{'.'.join(where)} is " in refusal({"limits": {stage: numbers}})


def test_limits_are_recalled_without_reading_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    assert recalled_limits(store) == LIMITS
    monkeypatch.setattr(limits, "load_limits", forbidden)
    assert recalled_limits(store) == LIMITS
    with pytest.raises(AssertionError):
        recalled_limits(MemoryStore())


def test_limits_of_other_files_are_not_recalled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = MemoryStore()
    recalled_limits(store)
    for path in limits.CONFIG.glob("*.yaml"):
        (tmp_path / path.name).write_bytes(path.read_bytes().replace(b"max_terms: 60", b"max_terms: 59"))
    monkeypatch.setattr(limits, "CONFIG", tmp_path)
    load_limits.cache_clear()
    try:
        assert recalled_limits(store).basket.max_terms == 59
    finally:
        load_limits.cache_clear()


def test_limits_that_cannot_be_read_are_read_anew() -> None:
    store = MemoryStore()
    recalled_limits(store)
    (name,) = (entry.key[2:] for entry in store._rows.entries())
    store.set_blob(name, b"{}")
    assert recalled_limits(store) == LIMITS


def forbidden() -> Limits:
    raise AssertionError("YAML is read")
