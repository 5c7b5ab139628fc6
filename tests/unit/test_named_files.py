"""A seed that names a file means the file; a profile lists what it is about even where the goal's words are not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from making import intake_of, plant

sys.path.pop(0)

from rtch.entry import Options, enter
from rtch.models.vocab import TargetProfile
from rtch.session import open_session, run_direct

TREE = {
    "logs/queue.jsonl": '{"id": "a"}\n',
    "tools/press_rows.py": "def squeeze():\n    return 1\n",
    "notes/about.md": "The queue.jsonl is read by press_rows.\n",
    "kiln/actor-registry.json": '{"actors": []}\n',
}


@pytest.mark.parametrize(("seed", "path"), [("queue.jsonl", "logs/queue.jsonl"), ("press_rows", "tools/press_rows.py")])
def test_a_seed_that_names_a_file_selects_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: str, path: str
) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    plant(tmp_path / "tree", TREE)
    intake = intake_of(goal="What became of it", explicit_seeds=(seed,))

    packet = run_direct(open_session(enter(intake, Options(root=tmp_path / "tree", cached=False))))

    assert {surface.path for surface in packet.selected_surfaces} == {path, "notes/about.md"}


def test_a_manifest_question_lists_the_registries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    plant(tmp_path / "tree", TREE)
    intake = intake_of(goal="Which of them govern what", target_profile=TargetProfile.MANIFEST_REGISTRY)

    packet = run_direct(open_session(enter(intake, Options(root=tmp_path / "tree", cached=False))))

    assert [surface.path for surface in packet.selected_surfaces] == ["kiln/actor-registry.json"]
