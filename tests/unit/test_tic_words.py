"""A user's own words for tics: what they change, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driving import plant

from rtch import home
from rtch.errors import IntakeError
from rtch.limits import load_limits, with_tic_words
from rtch.moments import moment_of, moments_in
from rtch.tic_words import VARIABLE, packaged_words, tic_digest, tic_words
from rtch.tics import last_tic, zone_tic


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    place = home.locations().data
    assert place is not None
    place.mkdir(parents=True)
    return place


def test_without_a_file_the_packaged_words_are_in_force(data: Path) -> None:
    assert data.is_dir()
    assert tic_words() is packaged_words()
    assert with_tic_words(load_limits()) is load_limits()


def test_own_words_take_the_place_of_the_packaged_ones_name_by_name(data: Path, tmp_path: Path) -> None:
    (data / "tics.yaml").write_text("words: [round, rounds]\nfolder: rounds\nrow: {kind: round}\n")
    assert [one.called for one in moments_in("rounds 3 to 5, tic 7")] == ["round 3-5"]
    assert moment_of("tic 7") is None
    moment = moment_of("round 3-5")
    assert moment is not None
    assert moment.holds('{"round": 4}')
    row = json.dumps({"kind": "round", "global_counter_after": 8, "tic": "2025-03-02T08:00:00Z"})
    zone = plant(tmp_path / "zone", {".ticzone": "{}", "audit-logs/rounds/2025-03-01.jsonl": row})
    assert last_tic(zone) == (8, "2025-03-02")
    (data / "tics.yaml").unlink()
    assert zone_tic(zone) is None
    assert [one.called for one in moments_in("rounds 3 to 5, tic 7")] == ["tic 7"]


def test_words_change_the_keys_of_every_stage_that_tells_times(data: Path) -> None:
    before = load_limits()
    (data / "tics.json").write_text('{"words": ["round"]}')
    after = with_tic_words(before)
    for stage in ("basket", "cost", "survey", "plan", "probe", "hydrate"):
        assert getattr(after, stage) != getattr(before, stage)
        assert getattr(after, stage).tic_words == tic_digest(tic_words())
    assert after.drift.survey == after.survey


def test_the_variable_names_the_file(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data / "tics.json").write_text('{"words": ["round"]}')
    named = tmp_path / "mine.json"
    named.write_text('{"words": ["lap"]}')
    monkeypatch.setenv(VARIABLE, str(named))
    assert tic_words().words == ("lap",)
    named.unlink()
    with pytest.raises(IntakeError, match="cannot be read"):
        tic_words()


@pytest.mark.parametrize(
    "text",
    ["- a", "words: tic", "words: []", "wrods: [a]", "words: [7]", "a: [", "folder: ../x", "folder: /x", "row: [a]",
     "row: {a: [1]}", "counters: [2024-99-99]", "x" * 70_000],
)  # fmt: skip
def test_a_wrong_file_is_one_sentence(data: Path, text: str) -> None:
    (data / "tics.yaml").write_text(text)
    with pytest.raises(IntakeError, match=r"tics\.yaml") as refused:
        tic_words()
    assert "\n" not in str(refused.value)
