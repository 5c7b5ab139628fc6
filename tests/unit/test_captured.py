"""What the object store is asked for, and what it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import corpus
from making import plant

from rtch import captured
from rtch.captured import Captured
from rtch.git import blob_id

tree = corpus("tree")

FILES = {"a.py": b"a = 1\n", "sub/b.py": b"b = 2\r\n\0", "sub/empty": b"", "sub/w i.th": b"x" * 5000}
IDS = {name: blob_id(data) for name, data in FILES.items()}


def repository(root: Path, *more: str) -> str:
    """Commit the files and return the commit."""
    plant(root, FILES)
    tree.run_git(root, "init", "-q", *more)
    tree.run_git(root, "add", "-A")
    tree.run_git(root, "commit", "-q", "-m", "all")
    head = (root / ".git/HEAD").read_text().strip().removeprefix("ref: ")
    return (root / ".git" / head).read_text().strip()


@pytest.mark.parametrize("below", [".", "sub"])
def test_blobs_are_found_by_their_ids_alone(tmp_path: Path, below: str) -> None:
    repository(tmp_path)
    store = Captured(tmp_path / below)
    assert store.blobs(IDS.values()) == {IDS[name]: data for name, data in FILES.items()}
    assert store.blobs([IDS["a.py"], "0" * 40, "HEAD:a.py", "HEAD", "", f"{IDS['a.py']}\n", IDS["a.py"].upper()]) == {
        IDS["a.py"]: FILES["a.py"]
    }
    assert store.doubt == ""


def test_trees_and_commits_are_no_blobs(tmp_path: Path) -> None:
    assert Captured(tmp_path).blobs([repository(tmp_path)]) == {}


def test_ids_of_a_sha256_repository(tmp_path: Path) -> None:
    repository(tmp_path, "--object-format=sha256")
    name = blob_id(FILES["a.py"], "sha256")
    assert Captured(tmp_path).blobs([name, IDS["a.py"]]) == {name: FILES["a.py"]}


def test_what_is_read_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path)
    monkeypatch.setattr(captured, "MAX_FILE_BYTES", 100)
    assert IDS["sub/w i.th"] not in Captured(tmp_path).blobs(IDS.values())
    monkeypatch.setattr(captured, "MAX_ALL_BYTES", 10)
    assert sum(map(len, Captured(tmp_path).blobs(IDS.values()).values())) <= 10


def test_outside_git_there_is_nothing_and_no_doubt(tmp_path: Path) -> None:
    store = Captured(plant(tmp_path, FILES))
    assert (store.blobs(IDS.values()), store.absent_at("a" * 40, [b"a.py"]), store.doubt) == ({}, frozenset(), "")


def test_without_git_there_is_a_doubt_and_no_second_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    store = Captured(tmp_path)
    assert store.blobs(IDS.values()) == {}
    assert store.doubt == "git was not found on PATH; install git"
    monkeypatch.undo()
    assert store.blobs(IDS.values()) == {}


def test_out_of_time_is_a_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path)
    monkeypatch.setattr(captured, "TIMEOUT_S", 0.0)
    store = Captured(tmp_path)
    assert store.blobs(IDS.values()) == {}
    assert store.doubt == "git did not finish within 0 s"


def test_paths_that_a_commit_does_not_have(tmp_path: Path) -> None:
    commit = repository(tmp_path)
    asked = [b"b.py", b"w i.th", b"a.py", b"new missing", b"caf\xe9", b"b\nc"]
    assert Captured(tmp_path / "sub").absent_at(commit, asked) == {b"a.py", b"new missing", b"caf\xe9"}
    assert Captured(tmp_path).absent_at(commit, [b"sub/b.py", b"b.py"]) == {b"b.py"}


@pytest.mark.parametrize("commit", ["", "a" * 40, "HEAD", "HEAD\nHEAD"])
def test_of_an_unknown_commit_nothing_is_known(tmp_path: Path, commit: str) -> None:
    repository(tmp_path)
    assert Captured(tmp_path).absent_at(commit, [b"none", b"a.py"]) == frozenset()
