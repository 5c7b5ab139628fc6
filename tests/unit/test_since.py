"""Since which commit something holds, in repositories of every shape."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from making import plant

from rtch import since
from rtch.models.drift import Commit
from rtch.since import UNCOMMITTED, History

TEXT = "one\ntwo\nthree\nfour\nfive\n"
ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
}


def git(folder: Path, *words: str, author: str = "Ada", at: int = 0) -> str:
    env = ENV | {"GIT_AUTHOR_NAME": author, "GIT_COMMITTER_DATE": f"{1_900_000_000 + at} +0200"}
    done = subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, check=True)
    return done.stdout.decode().strip()


class Repo:
    """A repository that counts its commits as time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.count = 0
        root.mkdir(parents=True)
        git(root, "init", "-q", "-b", "main", ".")

    def commit(self, files: dict[str, str | bytes] | None = None, *gone: str, message: str = "", **more: str) -> str:
        plant(self.root, files or {})
        for path in gone:
            (self.root / path).unlink()
        git(self.root, "add", "-A")
        self.count += 1
        git(self.root, "commit", "-q", "--allow-empty", "-m", message or f"no {self.count}", at=self.count, **more)
        return git(self.root, "rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


def of(commit: Commit | None) -> str | None:
    return None if commit is None else commit.id


def test_lines_are_told_by_the_newest_commit_that_touched_them(repo: Repo) -> None:
    first = repo.commit({"a.py": TEXT})
    second = repo.commit({"a.py": TEXT.replace("two", "2")})
    third = repo.commit({"a.py": "zero\n" + TEXT.replace("two", "2").replace("five", "5")})
    history = History(repo.root)
    assert of(history.changed("a.py", (2, 3))) == second
    assert of(history.changed("a.py", (4, 5))) == first
    assert of(history.changed("a.py", (2, 6))) == third
    assert of(history.changed("a.py", None)) == third
    assert history.doubt == ""


def test_lines_that_were_taken_out_touch_those_around_them(repo: Repo) -> None:
    repo.commit({"a.py": TEXT})
    second = repo.commit({"a.py": TEXT.replace("three\n", "")})
    assert of(History(repo.root).changed("a.py", (1, 4))) == second


def test_what_is_not_committed_is_told_as_such_and_other_lines_are_followed(repo: Repo) -> None:
    first = repo.commit({"a.py": TEXT})
    plant(repo.root, {"a.py": "new\n\n" + TEXT.replace("five", "5"), "b.py": TEXT})
    history = History(repo.root)
    assert history.changed("a.py", (7, 7)) is UNCOMMITTED
    assert history.changed("a.py", (1, 2)) is UNCOMMITTED
    assert history.changed("a.py", None) is UNCOMMITTED
    assert of(history.changed("a.py", (3, 5))) == first
    assert history.added("b.py") is UNCOMMITTED
    assert history.changed("b.py", (1, 1)) is UNCOMMITTED
    (repo.root / "a.py").unlink()
    assert history.removed("a.py") is UNCOMMITTED


def test_a_removal_a_rename_and_an_addition(repo: Repo) -> None:
    first = repo.commit({"a.py": TEXT, "c.py": "c\n" * 9, "d/e.py": "e\n"})
    second = repo.commit({}, "d/e.py")
    git(repo.root, "mv", "a.py", "b.py")
    third = repo.commit()
    repo.commit({"c.py": "d\n"})
    history = History(repo.root)
    assert of(history.removed("a.py")) == third
    assert of(history.added("b.py")) == third
    assert of(history.removed("d/e.py")) == second
    assert of(history.added("c.py")) == first
    assert history.removed("never") is None
    back = repo.commit({"a.py": TEXT})
    assert of(History(repo.root).added("a.py")) == back


def test_only_commits_after_the_baseline_are_told(repo: Repo) -> None:
    first = repo.commit({"a.py": TEXT})
    second = repo.commit({"b.py": TEXT})
    history = History(repo.root, after=first)
    assert history.changed("a.py", (1, 2)) is None
    assert history.added("a.py") is None
    assert of(history.added("b.py")) == second
    for unknown in ("0" * 40, "HEAD", "--all", git(repo.root, "rev-parse", "HEAD:a.py")):
        assert of(History(repo.root, after=unknown).added("a.py")) == first


ODD = ["-n", "--output=x", ":(glob)**", ":/x", "a b\tc", "a:b", "*", 'q"uote', "new\nline", "ä"]


@pytest.mark.parametrize("name", ODD)
def test_a_path_is_its_own_bytes_and_nothing_else(repo: Repo, name: str) -> None:
    repo.commit({"x": TEXT, "b": TEXT})
    second = repo.commit({name: TEXT})
    repo.commit({"x": "x\n", "b": "b\n"})
    fourth = repo.commit({}, name)
    git(repo.root, "reset", "-q", "--hard", "HEAD~1")
    history = History(repo.root)
    assert of(history.added(name)) == second
    assert of(history.changed(name, (1, 2))) == second
    assert of(history.changed(name, None)) == second
    git(repo.root, "reset", "-q", "--hard", fourth)
    assert of(History(repo.root).removed(name)) == fourth


def test_a_path_that_is_not_utf8(repo: Repo) -> None:
    Path(os.fsdecode(os.fsencode(repo.root) + b"/\xff%.py")).write_text(TEXT)
    first = repo.commit()
    history = History(repo.root)
    assert of(history.added("%FF%25.py", encoded=True)) == first
    assert of(history.changed("%FF%25.py", (1, 2), encoded=True)) == first


def test_a_zone_below_the_top_and_a_detached_head(repo: Repo) -> None:
    first = repo.commit({"sub/a.py": TEXT, "a.py": TEXT})
    repo.commit({"a.py": "a\n"})
    git(repo.root, "checkout", "-q", "--detach")
    assert of(History(repo.root / "sub").changed("a.py", (1, 2))) == first
    assert of(History(repo.root / "sub").added("a.py")) == first


def test_a_branch_that_was_merged_and_a_linked_work_tree(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": TEXT, "c.py": TEXT})
    git(repo.root, "checkout", "-q", "-b", "side")
    second = repo.commit({"b.py": TEXT, "a.py": TEXT.replace("two", "2")}, "c.py")
    git(repo.root, "checkout", "-q", "main")
    repo.commit({"other": "x\n"})
    git(repo.root, "merge", "-q", "--no-ff", "-m", "merge", "side", at=50, author="Ada")
    git(repo.root, "worktree", "add", "-q", "-b", "third", str(tmp_path / "linked"))
    for root in (repo.root, tmp_path / "linked"):
        history = History(root)
        asked = (history.removed("c.py"), history.added("b.py"), history.changed("a.py", (1, 3)))
        assert [of(one) for one in asked] == [second] * 3


def test_line_ends_that_git_writes_anew_are_no_change(repo: Repo) -> None:
    first = repo.commit({"a.py": TEXT})
    plant(repo.root, {"a.py": TEXT.replace("\n", "\r\n")})
    history = History(repo.root)
    assert of(history.changed("a.py", (1, 2))) == first
    assert of(history.changed("a.py", None)) == first


def test_a_commit_is_told_plainly(repo: Repo) -> None:
    repo.commit({"a.py": TEXT}, message="Say \x1b[31mred\u202e\n\nbody", author="A\x1bda")
    told = History(repo.root).added("a.py")
    assert told is not None
    assert told.date == "2030-03-17T17:46:41+00:00"
    assert (told.author, told.summary) == ("A da", "Say  [31mred")


def test_the_edge_of_a_shallow_clone_brought_nothing(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": TEXT})
    repo.commit({"b.py": TEXT})
    third = repo.commit({"c.py": TEXT})
    git(tmp_path, "clone", "-q", "--depth=2", f"file://{repo.root}", "clone")
    history = History(tmp_path / "clone")
    assert of(history.added("c.py")) == third
    assert history.added("a.py") is None
    assert history.changed("a.py", (1, 2)) is None
    assert history.doubt == ""


def test_without_git_or_without_a_commit(tmp_path: Path) -> None:
    plant(tmp_path / "plain", {"a": TEXT})
    history = History(tmp_path / "plain")
    assert (history.changed("a", (1, 1)), history.removed("b"), history.added("a"), history.doubt) == (
        (None,) * 3 + ("",)
    )
    empty = Repo(tmp_path / "empty")
    plant(empty.root, {"a": TEXT})
    assert History(empty.root).added("a") is UNCOMMITTED


def test_a_missing_git_is_a_doubt(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"a.py": TEXT})
    monkeypatch.setenv("PATH", "/nonexistent")
    history = History(repo.root)
    assert history.added("a.py") is None
    assert "git" in history.doubt


def test_time_that_is_spent_is_a_doubt(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"a.py": TEXT})
    monkeypatch.setattr(since, "ALL_S", 1e-9)
    history = History(repo.root)
    history.added("a.py")
    assert history.added("a.py") is None
    assert history.doubt


def test_nothing_of_the_repository_runs(repo: Repo, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    program.chmod(0o755)
    first = repo.commit({"a.py": TEXT, ".gitattributes": "*.py diff=evil filter=evil\n"})
    for key in ("diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "filter.evil.smudge",
                "core.fsmonitor", "core.pager", "gpg.program", "diff.external", "core.sshCommand"):  # fmt: skip
        git(repo.root, "config", key, str(program))
    git(repo.root, "config", "log.showSignature", "true")
    history = History(repo.root)
    assert of(history.changed("a.py", (1, 2))) == first
    assert of(history.changed("a.py", None)) == first
    assert of(history.added("a.py")) == first
    assert not mark.exists()
