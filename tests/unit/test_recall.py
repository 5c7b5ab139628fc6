"""A remembered list is never stale: after any change it equals the list that git makes."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rtch import recall, sight
from rtch.memory import Memory
from rtch.models.vocab import EntryKind
from rtch.reading import SkippedFile
from rtch.workspace import Workspace, open_workspace

Git = Callable[..., None]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def git(home: Path) -> Git:
    def call(folder: Path, *words: str) -> None:
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
        argv = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
        subprocess.run(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)

    return call


@pytest.fixture
def tree(tmp_path: Path, git: Git) -> Path:
    """A repository with every kind of folder: listed, ignored, empty, with ignored files alone."""
    folder = tmp_path / "tree"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", ".")
    put(folder, "src/pkg/a.py")
    put(folder, "src/b.py")
    put(folder, ".gitignore", "*.log\n/out/\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    put(folder, "fresh/c.py")
    put(folder, "out/deep/x.o")
    put(folder, "logs/a.log")
    put(folder, "cache/.gitignore", "*\n")
    put(folder, "cache/v/1")
    (folder / "empty" / "inner").mkdir(parents=True)
    settle()
    return folder


def put(folder: Path, name: str, text: str = "x\n") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def settle() -> None:
    time.sleep(2 * sight.RACY_NS / 1e9)


def memory_of(tree: Path) -> bytes:
    data = open_workspace(tree, memory=b"").memory()
    assert data is not None
    return data


def look(tree: Path, data: bytes) -> Workspace:
    """Open a tree by its memory, and hold that git would list the same."""
    ws = open_workspace(tree, memory=data)
    fresh = open_workspace(tree)
    assert ws.listing == fresh.listing
    assert ws.state() == fresh.state()
    assert not fresh.recalled
    return ws


def test_an_unchanged_tree_is_recalled_without_asking_git(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = memory_of(tree)
    monkeypatch.setattr("rtch.git.PrivateGit._ask", None)
    ws = open_workspace(tree, memory=data)
    assert ws.recalled
    assert ws.memory() is None
    assert {".gitignore", "fresh/c.py", "src/b.py", "src/pkg/a.py"} <= set(ws.listing.files())


def test_the_recalled_tree_is_the_listed_tree(tree: Path) -> None:
    ws = look(tree, memory_of(tree))
    assert ws.recalled
    assert ws.index_blob_ids(ws.listing.paths) == open_workspace(tree).index_blob_ids(ws.listing.paths)
    assert set(ws.index_blob_ids(ws.listing.paths)) == {".gitignore", "src/b.py", "src/pkg/a.py"}


def edit_in_place(tree: Path) -> None:
    put(tree, "src/b.py", "changed\n")


def save_by_renaming(tree: Path) -> None:
    put(tree, "src/b.py~", "changed\n")
    (tree / "src" / "b.py~").rename(tree / "src" / "b.py")


def touch_a_folder(tree: Path) -> None:
    put(tree, "src/tmp")
    (tree / "src" / "tmp").unlink()


def new_object_file(tree: Path) -> None:
    put(tree, "out/deep/y.o")
    put(tree, "cache/v/2")


def new_socket_file(tree: Path) -> None:
    os.mkfifo(tree / "out" / "deep" / "fifo")


@pytest.mark.parametrize("change", [edit_in_place, save_by_renaming, touch_a_folder, new_object_file, new_socket_file])
def test_what_does_not_change_the_list_leaves_it_recalled(tree: Path, change: Callable[[Path], None]) -> None:
    data = memory_of(tree)
    change(tree)
    assert look(tree, data).recalled


def test_a_folder_that_changed_and_changed_back_is_settled_in_the_memory(tree: Path) -> None:
    data = memory_of(tree)
    save_by_renaming(tree)
    settle()
    ws = look(tree, data)
    renewed = ws.memory()
    assert ws.recalled
    assert renewed is not None
    assert renewed != data
    again = look(tree, renewed)
    assert (again.recalled, again.memory()) == (True, None)


STAGED: dict[str, list[tuple[str, ...]]] = {
    "an edit staged": [("add", "src/b.py")],
    "an edit committed": [("commit", "-q", "-a", "-m", "two")],
    "an edit taken back": [("checkout", "-q", "--", "src/b.py")],
    "another commit checked out": [("commit", "-q", "-a", "-m", "two"), ("checkout", "-q", "HEAD~1")],
}


@pytest.mark.parametrize("name", STAGED)
def test_an_index_that_names_the_same_leaves_the_list_recalled(tree: Path, git: Git, name: str) -> None:
    data = memory_of(tree)
    index = (tree / ".git" / "index").read_bytes()
    put(tree, "src/b.py", "changed\n")
    for words in STAGED[name]:
        git(tree, *words)
    assert (tree / ".git" / "index").read_bytes() != index
    settle()
    ws = look(tree, data)
    renewed = ws.memory()
    assert ws.recalled
    assert renewed is not None
    assert look(tree, renewed).memory() is None


def folder_moved_behind_a_link(tree: Path) -> None:
    (tree / "src").rename(tree.parent / "moved")
    (tree / "src").symlink_to(tree.parent / "moved")


def folder_deleted(tree: Path) -> None:
    shutil.rmtree(tree / "src")


def file_deleted(tree: Path) -> None:
    (tree / "src" / "b.py").unlink()


def file_made_a_fifo(tree: Path) -> None:
    file_deleted(tree)
    os.mkfifo(tree / "src" / "b.py")


@pytest.mark.parametrize("state", [folder_moved_behind_a_link, folder_deleted, file_deleted, file_made_a_fifo])
def test_tracked_paths_that_are_not_there_are_recalled_as_absent(tree: Path, state: Callable[[Path], None]) -> None:
    whole = memory_of(tree)
    state(tree)
    settle()
    data = memory_of(tree)
    assert not look(tree, whole).recalled
    ws = look(tree, data)
    assert ws.recalled
    assert ws.token("src/b.py") in {"absent", "fifo"}
    with pytest.raises(SkippedFile):
        ws.read("src/b.py", max_bytes=9)


def test_a_submodule_is_recalled_as_one(tree: Path, git: Git) -> None:
    git(tree.parent, "init", "-q", "other")
    put(tree.parent / "other", "x")
    git(tree.parent / "other", "add", ".")
    git(tree.parent / "other", "commit", "-q", "-m", "x")
    git(tree, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../other", "sub")
    settle()
    ws = look(tree, memory_of(tree))
    assert ws.recalled
    assert ws.kind("sub") is EntryKind.SUBMODULE


def test_names_of_every_kind_are_recalled_in_order(tree: Path, git: Git) -> None:
    for name in ("README.md", "readme.md", "z a", "caf\u00e9"):
        put(tree, name)
    (tree / os.fsdecode(b"odd\xff")).write_text("x")
    git(tree, "add", "z a", "README.md")
    (tree / "link").symlink_to("README.md")
    put(tree, ".ticignore", "/z a\n")
    settle()
    ws = look(tree, memory_of(tree))
    assert ws.recalled
    assert "z a" not in ws.index
    assert [note.path for note in ws.listing.notes] == ["README.md"]


def folder_became_a_link(tree: Path) -> None:
    (tree / "src").rename(tree.parent / "moved")
    (tree / "src").symlink_to(tree.parent / "moved")


def file_became_a_folder(tree: Path) -> None:
    (tree / "src" / "b.py").unlink()
    put(tree, "src/b.py/inner")


CHANGES: dict[str, Callable[[Path], object]] = {
    "new file": lambda tree: write(tree, "src/new.py"),
    "new file at the root": lambda tree: write(tree, "new.py"),
    "new file in an empty folder": lambda tree: write(tree, "empty/inner/new.py"),
    "new file beside ignored ones": lambda tree: write(tree, "logs/new.py"),
    "new folder": lambda tree: write(tree, "brand/new/x.py"),
    "untracked file gone": lambda tree: remove(tree / "fresh" / "c.py"),
    "folder gone": lambda tree: remove(tree / "src" / "pkg"),
    "folder renamed": lambda tree: (tree / "fresh").rename(tree / "stale"),
    "file became a folder": file_became_a_folder,
    "folder became a link": folder_became_a_link,
    "untracked file became a fifo": lambda tree: fifo(tree / "fresh" / "c.py"),
    "tracked file became a fifo": lambda tree: fifo(tree / "src" / "b.py"),
    "rules edited in place": lambda tree: write(tree, ".gitignore", "*.py\n/out/\n"),
    "rules gone": lambda tree: remove(tree / ".gitignore"),
    "rules of an unlisted folder edited": lambda tree: write(tree, "cache/.gitignore", "\n"),
    "new rules below": lambda tree: write(tree, "src/.gitignore", "*.py\n"),
    "info/exclude": lambda tree: write(tree, ".git/info/exclude", "fresh/\n"),
    "the user's rules": lambda tree: write(tree.parent, "home/.config/git/ignore", "fresh/\n"),
    "an ignore file of ours": lambda tree: write(tree, ".ticignore", "src/\n"),
    "no repository any more": lambda tree: remove(tree / ".git"),
}
CALLS = {
    "the user's setting": ("config", "--global", "core.excludesFile", "~/rules"),
    "the repository's setting": ("config", "core.excludesFile", "~/rules"),
    "added to the index": ("add", "fresh"),
    "forced into the index": ("add", "-f", "logs/a.log"),
    "taken from the index": ("rm", "-q", "--cached", "src/b.py"),
    "nested repository": ("init", "-q", "fresh"),
}


def write(folder: Path, name: str, text: str = "x\n") -> bool:
    put(folder, name, text)
    return True


def fifo(path: Path) -> bool:
    path.unlink()
    os.mkfifo(path)
    return True


def remove(path: Path) -> bool:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    return True


@pytest.mark.parametrize("name", CHANGES)
def test_no_change_is_missed(tree: Path, name: str) -> None:
    data = memory_of(tree)
    CHANGES[name](tree)
    assert not look(tree, data).recalled


@pytest.mark.parametrize("name", CALLS)
def test_no_call_of_git_is_missed(tree: Path, git: Git, home: Path, name: str) -> None:
    put(home, "rules", "fresh/\n")
    data = memory_of(tree)
    git(tree, *CALLS[name])
    assert not look(tree, data).recalled


def test_an_edit_of_an_ignore_file_of_ours_is_not_missed(tree: Path) -> None:
    put(tree, ".ticignore", "fresh/\n")
    settle()
    data = memory_of(tree)
    assert "fresh/c.py" not in look(tree, data).index
    put(tree, ".ticignore", "srcs/\n")
    assert "fresh/c.py" in look(tree, data).index


def test_rules_between_the_top_and_a_root_below_it_are_watched(tree: Path) -> None:
    data = memory_of(tree / "src" / "pkg")
    assert look(tree / "src" / "pkg", data).recalled
    put(tree, "src/.gitignore", "pkg/new\n")
    put(tree, "src/pkg/new")
    ws = look(tree / "src" / "pkg", data)
    assert not ws.recalled
    assert "new" not in ws.index


def test_outside_git_a_list_is_recalled_too(tmp_path: Path, home: Path) -> None:
    tree = tmp_path / "plain"
    put(tree, "a/b")
    settle()
    data = memory_of(tree)
    assert look(tree, data).recalled
    put(tree, "a/c")
    assert not look(tree, data).recalled


def test_own_outputs_do_not_disturb_the_memory(tree: Path) -> None:
    data = open_workspace(tree, memory=b"", own_outputs=(tree / "out.yaml",)).memory()
    assert data is not None
    put(tree, "out.yaml")
    ws = open_workspace(tree, memory=data, own_outputs=(tree / "out.yaml",))
    assert ws.recalled
    assert not open_workspace(tree, memory=data).recalled


@pytest.mark.parametrize("first", ["schema_version: rtch.baseline/1\n", "schema_version: rtch.baselime/1\n"])
def test_a_file_that_becomes_a_baseline_where_it_lies_is_noticed(tree: Path, first: str) -> None:
    put(tree, "q.baseline.yaml", first)
    settle()
    data = memory_of(tree)
    is_one = "baseline/" in first
    ws = look(tree, data)
    assert ws.recalled
    assert ("q.baseline.yaml" not in ws.index) is is_one
    with (tree / "q.baseline.yaml").open("r+") as file:
        file.write(first.replace("line/", "lime/") if is_one else first.replace("lime/", "line/"))
    ws = look(tree, data)
    assert ("q.baseline.yaml" in ws.index) is is_one


def test_a_fresh_change_is_not_remembered_as_the_state_of_the_list(tree: Path) -> None:
    ws = open_workspace(tree, memory=b"")
    put(tree, "src/during.py")
    settle()
    assert ws.memory() is None


@pytest.mark.parametrize("kind", ["nested", "half a repository", "walked"])
def test_what_is_not_the_whole_truth_is_not_remembered(
    tree: Path, git: Git, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "nested":
        git(tree, "init", "-q", "fresh")
    elif kind == "walked":
        monkeypatch.setenv("PATH", str(tree))
    else:
        (tree / "src" / ".git").mkdir()
    settle()
    assert open_workspace(tree, memory=b"").memory() is None


def test_too_many_unlisted_folders_are_not_watched(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "MAX_UNLISTED", 3)
    assert open_workspace(tree, memory=b"").memory() is None


@pytest.mark.parametrize("cut", [0, 1, 10, 200, -1, -8])
def test_a_damaged_memory_is_forgotten(tree: Path, cut: int) -> None:
    data = memory_of(tree)
    assert Memory.decode(data) is not None
    assert Memory.decode(data[:cut]) is None
    assert not look(tree, data[:cut]).recalled
    head = b'{"version": 2, "distinct": 1, "sizes": '
    for wrong in (b"{}\n", b"[]\n", b"\xff\n", head + b'"x"}\n', head + b"[1]}\nx", head + b"[-1, 1]}\n"):
        assert Memory.decode(wrong) is None


def test_the_memory_of_another_root_is_forgotten(tree: Path, tmp_path: Path) -> None:
    data = memory_of(tree)
    shutil.copytree(tree, tmp_path / "copy", symlinks=True)
    assert not look(tmp_path / "copy", data).recalled


def test_without_memory_nothing_is_kept(tree: Path) -> None:
    assert open_workspace(tree).memory() is None
