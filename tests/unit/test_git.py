"""What git is asked, and what it must never be asked."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rtch.errors import ToolError
from rtch.git import blob_id, find_repository, find_toplevel, git_version, head_of, private_git
from rtch.models.vocab import CautionFlag
from rtch.repository import RepositoryRefused, alternate_list, printable, unopened_folders

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)

    def call(folder: Path, *words: str) -> str:
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1"}
        argv = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
        done = subprocess.run(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        return done.stdout.decode()

    return call


@pytest.fixture
def repo(tmp_path: Path, git: Git) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", ".")
    (folder / "a").write_text("x\n")
    (folder / "sub").mkdir()
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    return folder


def test_the_toplevel_is_found_from_below_and_not_from_outside(repo: Path, tmp_path: Path) -> None:
    assert find_toplevel(repo / "sub") == repo
    assert find_toplevel(tmp_path) is None
    assert find_toplevel(repo / ".git") is None


def test_a_ceiling_keeps_the_search_below_it(repo: Path) -> None:
    assert find_repository(repo / "sub", ceiling=repo) is None
    assert find_repository(repo / "sub") is not None


def test_a_linked_worktree_shares_what_is_common(repo: Path, git: Git, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    found = find_repository(tmp_path / "side")
    assert found is not None
    assert (found.top, found.common_dir) == (tmp_path / "side", repo / ".git")
    assert found.git_dir != found.common_dir
    assert head_of(found).branch == "side"


def test_a_bare_repository_has_no_work_tree(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    assert find_repository(tmp_path / "bare") is None


def test_a_missing_commit_is_not_fetched_by_the_head_probe(repo: Path, git: Git, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    git(repo, "config", "extensions.partialClone", "evil")
    git(repo, "config", "remote.evil.url", f"ext::touch {marker}")
    git(repo, "config", "remote.evil.promisor", "true")
    git(repo, "config", "protocol.ext.allow", "always")
    (repo / ".git" / "HEAD").write_text("1" * 40 + "\n")
    found = find_repository(repo)
    assert found is not None
    assert head_of(found).commit == "1" * 40
    assert not marker.exists()


def test_a_fifo_in_place_of_a_config_ends_at_the_time_limit(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / ".git" / "config").unlink()
    os.mkfifo(repo / ".git" / "config")
    monkeypatch.setattr("rtch.git.PROBE_TIMEOUT_S", 0.5)
    with pytest.raises(ToolError) as caught:
        find_repository(repo)
    assert caught.value.timed_out


def test_a_repository_that_git_cannot_read_is_refused_with_its_reason(repo: Path) -> None:
    (repo / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 99\n")
    with pytest.raises(RepositoryRefused) as caught:
        find_repository(repo)
    assert caught.value.flag is CautionFlag.TOOL_FAILED
    assert "99" in caught.value.detail


def test_the_private_git_dir_is_private_and_removed(repo: Path) -> None:
    found = find_repository(repo)
    with private_git(found, repo) as git:
        folder = Path(git._env["GIT_DIR"])
        assert folder.stat().st_mode & 0o777 == 0o700
        assert not folder.is_relative_to(repo)
        assert git.tracked().names() == [b"a"]
        assert git.tracked().blob_ids([b"a", b"b"]) == {b"a": blob_id(b"x\n")}
    assert not folder.exists()


def test_the_private_git_dir_never_lies_in_the_tree(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(repo / "sub"))
    with private_git(None, repo) as git:
        assert not Path(git._env["GIT_DIR"]).is_relative_to(repo)


def test_a_fifo_among_the_copied_files_is_left_out(repo: Path) -> None:
    exclude = repo / ".git" / "info" / "exclude"
    exclude.unlink(missing_ok=True)
    os.mkfifo(exclude)
    with private_git(find_repository(repo), repo) as git:
        assert git.tracked().names() == [b"a"]


def test_git_tells_its_version_or_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert git_version()[0].isdigit()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError) as caught:
        git_version()
    assert str(caught.value) == "git was not found on PATH; install git"


def test_words_of_a_foreign_tree_are_one_harmless_line() -> None:
    assert printable("a\x1b[31m\nb\udce9") == "a\ufffd[31m\ufffdb?"


def test_lists_separated_by_colons_are_quoted() -> None:
    assert alternate_list(Path("/a/b")) == "/a/b"
    assert alternate_list(Path('/a:b/"c\\d')) == '"/a:b/\\"c\\\\d"'


def test_folders_are_told_from_complaints() -> None:
    lines = ["warning: could not open directory 'a/b/': Permission denied", "fatal: something else"]
    assert unopened_folders(lines) == ["a/b"]
