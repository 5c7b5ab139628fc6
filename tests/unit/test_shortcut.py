"""The same question on the same tree is answered by what was kept, with the record of the run at hand."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import intake_of, plant, settle_down

sys.path.pop(0)

from rtch.documents import document_of
from rtch.entry import Options, enter, leave
from rtch.git import PrivateGit
from rtch.shortcut import hydrate_direct
from rtch.store import close_stores

Ask = Callable[[], tuple[str, ...]]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = plant(tmp_path / "zone", {"a.py": "def settle():\n    return 1\n"})
    git(root, "init", "-q", ".")
    git(root, "add", ".")
    return root


@pytest.fixture
def ask(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask, as a new process would, and return of which files the index has other bytes."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))

    def call() -> tuple[str, ...]:
        settle_down(tree)
        entry = enter(intake_of(goal="settle"), Options(root=tree))
        packet = hydrate_direct(entry)
        leave(entry)
        close_stores()
        return tuple(document_of(packet)["run"]["index_differs"])

    return call


def git(folder: Path, *words: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *words], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def test_what_the_index_has_other_bytes_of_is_told_anew_where_the_index_is_another(tree: Path, ask: Ask) -> None:
    (tree / "a.py").write_text("def settle():\n    return 2\n")
    assert (ask(), ask(), ask()) == (("a.py",),) * 3
    git(tree, "add", ".")
    assert (ask(), ask()) == ((), ())


def test_git_is_not_asked_about_an_index_that_is_the_same(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ask(), ask()
    monkeypatch.setattr(PrivateGit, "_ask", None)
    assert ask() == first[1]
