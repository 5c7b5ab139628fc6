"""What a change makes again, and what it leaves: stage by stage, on a small tree, in this process."""

import hashlib
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import intake_of, limits_with, plant, settle_down

sys.path.pop(0)

from rtch import jobs, pipeline, session
from rtch.entry import Options, Refresh, enter
from rtch.limits import Limits
from rtch.models.intake import EnoughEvidence, Intake
from rtch.models.packet import Packet
from rtch.models.vocab import StageName
from rtch.session import open_session, run_direct
from rtch.stages import features
from rtch.store import Store, close_stores

FILES: dict[str, str | bytes] = {
    "README.md": "# Harbour\n\nThe source of truth for `settle`.\n",
    "docs/tides.md": "# Tides\n\nHow `settle` and `ebb_flow` meet.\n\n## Ebb\n\nwater\n",
    "src/settle.py": "from src.flow import ebb_flow\n\n\ndef settle(row):\n    return ebb_flow(row) + 1\n",
    "src/flow.py": "def ebb_flow(row):\n    return 2\n",
    "src/apart.py": "def apart(row):\n    return 3\n",
    "config.yaml": "settle: 1\nother: 2\n",
}
INTAKE = intake_of(
    goal="How does settle use ebb_flow among the tides",
    explicit_seeds=("settle", "ebb_flow"),
    enough_evidence=EnoughEvidence(min_surfaces=90),
)
EVERY = {"intake", "orient", "scout", "basket", "cost", "survey", "plan", "probe", "judge", "hydrate", "packet"}


class Zone:
    """A tree that is asked the same question again and again, each time as by a new process."""

    def __init__(self, folder: Path, files: dict[str, str | bytes] | None = None) -> None:
        self.root = plant(folder / "zone", FILES if files is None else files)
        self.home = folder / "home"

    def ask(self, intake: Intake = INTAKE, *, refresh: Refresh | None = None, cached: bool = True) -> Packet:
        close_stores()
        settle_down(self.root)
        return run_direct(self.open(intake, Options(root=self.root, cached=cached, refresh=refresh or Refresh())))

    def open(self, intake: Intake, options: Options) -> session.Session:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RTCH_HOME", str(self.home))
            return open_session(enter(intake, options))

    def store(self) -> Store:
        return self.open(INTAKE, Options(root=self.root)).store

    def replace(self, path: str, old: str, new: str) -> None:
        target = self.root / path
        text = target.read_text()
        assert old in text
        target.write_text(text.replace(old, new))


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    close_stores()


@pytest.fixture
def zone(tmp_path: Path) -> Zone:
    return Zone(tmp_path)


@pytest.fixture
def warm(zone: Zone) -> Zone:
    """A zone whose question has been answered once."""
    zone.ask()
    return zone


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Zone:
    """A warm zone for tests that leave its tree as it is, and its store whole."""
    zone = Zone(tmp_path_factory.mktemp("steady"))
    zone.ask()
    return zone


def made(packet: Packet) -> set[str]:
    """Return the stages that ran; a mapped one where any of its jobs did."""
    return {timing.stage.value for timing in packet.run.stages if not timing.cached}


def ran(packet: Packet, stage: StageName) -> list[bool]:
    return [not timing.cached for timing in packet.run.stages if timing.stage is stage]


def same_part(packet: Packet) -> dict[str, Any]:
    plain = packet.model_dump(mode="json")
    return {name: value for name, value in plain.items() if name not in {"run", "generated_at", "generated_at_tic"}}


# Nothing changed


def test_the_first_run_makes_every_stage_and_the_second_none(zone: Zone) -> None:
    cold, again = zone.ask(), zone.ask()
    assert (made(cold), made(again)) == (EVERY, set())
    assert same_part(again) == same_part(cold)


def test_without_a_store_the_packet_is_the_same_and_nothing_is_kept(zone: Zone) -> None:
    packet = zone.ask(cached=False)
    assert not zone.home.exists()
    assert same_part(zone.ask()) == same_part(packet)


def test_a_copy_made_in_the_opposite_order_gives_the_same_packet(zone: Zone, tmp_path: Path) -> None:
    copy = Zone(tmp_path / "copy", dict(reversed(FILES.items())))
    assert same_part(copy.ask()) == same_part(zone.ask())


# The tree changed


def test_an_edit_outside_every_target_set_is_only_looked_at(warm: Zone) -> None:
    warm.replace("src/apart.py", "return 3", "return 4")
    assert made(warm.ask()) == {"cost", "survey"}


def test_an_edit_that_changes_no_feature_keeps_the_plan(warm: Zone) -> None:
    warm.replace("src/flow.py", "return 2", "return 9")
    packet = warm.ask()
    assert made(packet) == {"cost", "survey", "probe", "hydrate", "packet"}
    touched = ["src/flow.py" in outcome.probe.target_set for outcome in packet.probe_plan.probes]
    assert ran(packet, StageName.PROBE) == touched
    assert set(touched) == {True, False}


def test_a_new_definition_makes_everything_but_the_request_again(warm: Zone) -> None:
    warm.replace("src/apart.py", "def apart", "def settle_apart")
    assert made(warm.ask()) == EVERY - {"intake", "basket"}


def test_a_touched_file_is_looked_at_and_changes_nothing(zone: Zone) -> None:
    before = zone.ask()
    os.utime(zone.root / "src/flow.py", (1, 1))
    after = zone.ask()
    assert made(after) == {"cost", "survey", "probe", "hydrate"}
    assert same_part(after) == same_part(before)


def test_a_change_that_is_taken_back_finds_the_first_packet(zone: Zone) -> None:
    before = zone.ask()
    zone.replace("src/flow.py", "return 2", "return 9")
    between = zone.ask()
    zone.replace("src/flow.py", "return 9", "return 2")
    after = zone.ask()
    assert (before.packet_id == after.packet_id, before.packet_id == between.packet_id) == (True, False)
    assert made(after) & {"basket", "plan", "packet"} == set()


def test_a_file_that_changes_under_way_is_not_kept_as_it_was_listed(zone: Zone) -> None:
    settle_down(zone.root)
    opened = zone.open(INTAKE, Options(root=zone.root))
    zone.replace("src/flow.py", "return 2", "return 9")
    run_direct(opened)
    packet = zone.ask()
    assert {"cost", "survey", "hydrate"} <= made(packet)
    assert any("return 9" in chunk.text for chunk in packet.hydrated_chunks)


def test_a_moved_tree_finds_what_depends_on_its_bytes_alone(warm: Zone, tmp_path: Path) -> None:
    before = warm.ask()
    warm.root = shutil.copytree(warm.root, tmp_path / "moved", copy_function=shutil.copy2)
    after = warm.ask()
    assert same_part(after) == same_part(before)
    assert made(after) & {"intake", "basket", "plan", "judge", "packet"} == set()


# The question changed


def test_another_question_on_the_same_tree_keeps_zone_and_inventory(steady: Zone) -> None:
    other = intake_of(goal="Where do tides stand", enough_evidence_definition="3 surfaces", explicit_seeds=("water",))
    assert EVERY - made(steady.ask(other)) - {"judge"} == {"orient", "scout"}


def test_another_halting_definition_keeps_what_was_counted(steady: Zone) -> None:
    other = INTAKE.model_copy(update={"enough_evidence": EnoughEvidence(min_surfaces=91)})
    packet = steady.ask(other)
    assert EVERY - made(packet) == {"orient", "scout", "cost", "probe"}


# The configuration changed


@pytest.mark.parametrize(
    ("stage", "numbers"),
    [
        ("orient", {"max_parents": 11}),
        ("scout", {"max_directories": 1999}),
        ("basket", {"max_variants": 99}),
        ("cost", {"count_lines_bytes": 1_000_001}),
        ("survey", {"max_unread": 499}),
        ("plan", {"max_candidates": 99}),
        ("probe", {"max_hits": 3999}),
        ("hydrate", {"max_skipped_rows": 199}),
        ("packet", {"max_questions": 39}),
    ],
)
def test_a_number_of_one_stage_makes_that_stage_again_and_no_other(
    steady: Zone, stage: str, numbers: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_limits(monkeypatch, limits_with(**{stage: numbers}))
    assert made(steady.ask()) == {stage}


def test_a_number_that_changes_the_result_makes_what_follows_again(
    steady: Zone, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_limits(monkeypatch, limits_with(hydrate={"whole_file_lines": 1, "window_lines": 2, "stretch_lines": 1}))
    assert made(steady.ask()) == {"hydrate", "packet"}


def test_a_changed_logic_makes_everything_again(zone: Zone, monkeypatch: pytest.MonkeyPatch) -> None:
    before = zone.ask()
    for module in (pipeline, jobs, features):
        monkeypatch.setattr(module, "logic_digest", lambda: hashlib.sha256(b"other").hexdigest())
    after = zone.ask()
    assert (made(after), same_part(after)) == (EVERY, same_part(before))


def with_limits(monkeypatch: pytest.MonkeyPatch, limits: Limits) -> None:
    monkeypatch.setattr(session, "recalled_limits", lambda _store: limits)


# What was asked to be made again


@pytest.mark.parametrize(
    ("refresh", "again"),
    [
        (Refresh(stages=frozenset({StageName.SCOUT})), {"scout"}),
        (Refresh(stages=frozenset({StageName.PROBE, StageName.PACKET})), {"probe", "packet"}),
        (Refresh(everything=True), EVERY),
    ],
)
def test_refreshing_makes_what_was_named_and_finds_the_same(steady: Zone, refresh: Refresh, again: set[str]) -> None:
    before = steady.ask()
    after = steady.ask(refresh=refresh)
    assert (made(after), same_part(after)) == (again, same_part(before))


# What happened to the store


def damaged(store: Store, kind: str, change: Callable[[bytes], bytes | None]) -> int:
    """Change every row of a kind; return how many there are."""
    keys = [entry.key for entry in store._rows.entries() if entry.key.startswith(kind)]
    for key in keys:
        changed = change(store._rows.get(key) or b"")
        if changed is None:
            store._rows.delete([key])
        else:
            store._rows.put(key, changed)
    return len(keys)


DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "deleted": lambda data: None,
    "empty": lambda data: b"",
    "torn": lambda data: data[: len(data) // 2],
    "flipped": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:] if len(data) > 9 else b"?",
    "planted": lambda data: b'{"kind":"Findings","planted":true}\n{}',
}


@pytest.mark.parametrize(
    ("kind", "how"),
    [*product(("a/", "k/"), DAMAGE), *product(("b/", "z/", "r/"), ("torn", "planted"))],
)
def test_a_damaged_store_costs_time_and_nothing_else(
    steady: Zone, kind: str, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = steady.ask(refresh=Refresh(stages=frozenset({StageName.SCOUT})))  # leaves a note
    store = steady.store()
    assert damaged(store, kind, DAMAGE[how])
    with caplog.at_level(logging.WARNING, "rtch"):
        after = steady.ask()
    assert same_part(after) == same_part(before)
    if kind in {"a/", "k/"}:
        assert bool(caplog.records) is (how != "deleted")
    assert made(steady.ask()) == set()


@pytest.mark.parametrize("stage", sorted(EVERY - {"judge"}))
def test_one_missing_artifact_is_made_again(steady: Zone, stage: str) -> None:
    before = steady.ask()
    store = steady.store()
    (timing, *_) = [timing for timing in before.run.stages if timing.stage == stage]
    ref = store.get_stage(timing.key)
    assert ref is not None
    store._rows.delete([f"a/{ref.digest}", f"k/{timing.key}"])
    after = steady.ask()
    assert (made(after), same_part(after)) == ({stage}, same_part(before))


def test_an_artifact_of_another_model_is_not_taken_for_what_it_is_not(
    steady: Zone, caplog: pytest.LogCaptureFixture
) -> None:
    before = steady.ask()
    store = steady.store()
    keys = {timing.stage: timing.key for timing in before.run.stages}
    packet, scout = (store._rows.get(f"k/{keys[stage]}") for stage in (StageName.PACKET, StageName.SCOUT))
    assert packet is not None
    assert scout is not None
    store._rows.put(f"k/{keys[StageName.PACKET]}", scout)
    with caplog.at_level(logging.WARNING, "rtch"):
        assert same_part(steady.ask()) == same_part(before)
    assert [record.getMessage().split(" ", 6)[-1] for record in caplog.records] == [
        "leads to no Findings and is dropped"
    ]
