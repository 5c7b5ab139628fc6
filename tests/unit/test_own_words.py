"""A user's own words for ledgers and ids, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtch import home
from rtch.errors import IntakeError
from rtch.limits import load_limits
from rtch.marks import MarkFinder
from rtch.own_words import load_rules, own_bytes, with_own_words


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path))
    place = home.locations().data
    assert place is not None
    place.mkdir(parents=True, exist_ok=True)
    return place


def test_without_a_file_the_packaged_words_are_in_force(data: Path) -> None:
    assert data.is_dir()
    assert own_bytes() == b""
    assert with_own_words(load_limits()) is load_limits()
    assert load_rules() == load_limits().hydrate.ledgers


def test_a_file_takes_the_place_of_the_packaged_words_name_by_name(data: Path) -> None:
    (data / "ledgers.yaml").write_text("id_fields: [key]\nterminal: [closed]\n")
    (data / "patterns.yaml").write_text("durable_ids:\n  - {name: kiln, prefix: KLN, joiner: ':', body: digits}\n")
    limits = with_own_words(load_limits())
    assert limits.hydrate.ledgers == load_rules()
    assert (load_rules().id_fields, load_rules().terminal) == (("key",), ("closed",))
    assert load_rules().pending == load_limits().hydrate.ledgers.pending
    assert limits.drift.survey.patterns == limits.survey.patterns
    assert [one.id for one in MarkFinder(limits.survey.patterns).find("KLN:7 CPR-17", limits.survey.features).ids] == [
        "KLN:7"
    ]
    assert own_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "- a",
        "id_fields: 7",
        "id_fields: [7]",
        "unknown: [a]",
        "a: [",
        "id_fields: [2024-99-99]",
        "x" * 70_000,
        "max_receipts: 0",
    ],
)
def test_a_wrong_file_is_one_sentence(data: Path, text: str) -> None:
    (data / "ledgers.yaml").write_text(text)
    with pytest.raises(IntakeError, match=r"ledgers\.yaml") as refused:
        load_rules()
    assert "\n" not in str(refused.value)


def test_a_folder_in_its_place_is_told_of(data: Path) -> None:
    (data / "ledgers.yaml").mkdir()
    with pytest.raises(IntakeError, match="cannot be read"):
        with_own_words(load_limits())
