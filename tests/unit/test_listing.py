"""What belongs to a tree: git's rules in all layers, and what a listing says of odd entries."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rtch import sight
from rtch.models.vocab import CautionFlag, EntryKind
from rtch.workspace import Workspace, open_workspace

Git = Callable[..., str]
ACTING = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, so that no ignore file of the machine plays a part."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def git(home: Path) -> Git:
    def call(folder: Path, *words: str) -> str:
        done = subprocess.run(
            ["git", *ACTING, *words],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()

    return call


@pytest.fixture
def repo(tmp_path: Path, git: Git) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", ".")
    return folder


def put(folder: Path, name: str, text: str = "x\n") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def files(ws: Workspace) -> list[str]:
    return list(ws.listing.files())


def flags(ws: Workspace) -> set[CautionFlag]:
    return {note.flag for note in ws.listing.notes}


def every_byte(folder: Path) -> dict[str, str]:
    """The content and mtime of every file, git's own ones too."""
    return {
        str(path.relative_to(folder)): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


# -- ignore rules ------------------------------------------------------------------------------


def test_tracked_and_untracked_files_belong_and_ignored_ones_do_not(repo: Path, git: Git) -> None:
    put(repo, "tracked.py")
    git(repo, "add", ".")
    put(repo, "fresh.py")
    put(repo, ".gitignore", "*.log\n/out/\n")
    put(repo, "a.log")
    put(repo, "out/deep/x.py")
    put(repo, "sub/out/kept.py")
    ws = open_workspace(repo)
    assert files(ws) == [".gitignore", "fresh.py", "sub/out/kept.py", "tracked.py"]
    assert (ws.vcs, ws.listed_by, ws.listing.notes) == ("git", "git", ())


def test_a_tracked_file_stays_though_a_rule_hides_it(repo: Path, git: Git) -> None:
    put(repo, "src/kept.c")
    git(repo, "add", ".")
    put(repo, ".gitignore", "*\n!*.h\n")
    put(repo, "src/gone.c")
    assert files(open_workspace(repo)) == ["src/kept.c"]


def test_a_negation_below_an_ignored_glob_is_judged_as_git_judges_it(repo: Path, git: Git) -> None:
    put(repo, ".gitignore", "/src/*/*\n!/src/*/debian\n")
    put(repo, "src/pkg/debian/control")
    put(repo, "src/pkg/other/file")
    expected = git(repo, "ls-files", "-co", "--exclude-standard").split()
    assert files(open_workspace(repo)) == sorted(expected) == [".gitignore", "src/pkg/debian/control"]


def test_info_exclude_counts(repo: Path) -> None:
    put(repo, ".git/info/exclude", "secret/\n")
    put(repo, "secret/a")
    put(repo, "b")
    assert files(open_workspace(repo)) == ["b"]


def test_the_users_ignore_file_counts_at_its_default_place(repo: Path, home: Path) -> None:
    put(home, ".config/git/ignore", "*.swp\n")
    put(repo, "a.swp")
    put(repo, "b")
    assert files(open_workspace(repo)) == ["b"]


def test_the_users_ignore_file_counts_below_xdg_config_home(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "xdg/git/ignore", "*.swp\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    put(repo, "a.swp")
    put(repo, "b")
    assert files(open_workspace(repo)) == ["b"]


@pytest.mark.parametrize("scope", ["user", "repository"])
def test_a_named_excludes_file_counts_and_replaces_the_default(repo: Path, home: Path, git: Git, scope: str) -> None:
    put(home, ".config/git/ignore", "*.swp\n")
    put(home, "my rules", "*.tmp\n")
    where = [] if scope == "repository" else ["--global"]
    git(repo, "config", *where, "core.excludesFile", "~/my rules")
    for name in ("a.swp", "b.tmp", "c"):
        put(repo, name)
    assert files(open_workspace(repo)) == ["a.swp", "c"]


def test_the_parents_rules_count_below_them(repo: Path, git: Git) -> None:
    put(repo, ".gitignore", "**/bar/*\n")
    put(repo, "foo/bar/hidden")
    put(repo, "foo/seen")
    assert files(open_workspace(repo / "foo")) == ["seen"]


def test_the_listing_does_not_depend_on_the_working_folder(
    repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(repo, "a/b")
    put(repo, "c")
    git(repo, "add", ".")
    first = open_workspace(repo).listing
    monkeypatch.chdir(repo / "a")
    assert open_workspace(repo).listing == first


def test_a_root_that_its_repository_ignores_is_listed_for_itself(repo: Path, git: Git) -> None:
    put(repo, ".gitignore", "vendor/\n")
    put(repo, "vendor/pkg/a.py")
    put(repo, "vendor/pkg/.gitignore", "*.log\n")
    put(repo, "vendor/pkg/b.log")
    git(repo, "add", ".")
    assert files(open_workspace(repo / "vendor" / "pkg")) == [".gitignore", "a.py"]


def test_ticignore_hides_tracked_files_too(repo: Path, git: Git) -> None:
    put(repo, "secret/needle.txt")
    put(repo, "deep/.ticignore", "*.key\n")
    put(repo, "deep/a.key")
    put(repo, "deep/a.txt")
    put(repo, ".ticignore", "secret/\n")
    git(repo, "add", ".")
    put(repo, "deep/b.key")
    assert files(open_workspace(repo)) == [".ticignore", "deep/.ticignore", "deep/a.txt"]


def test_environment_of_a_calling_hook_is_not_inherited(
    repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put(repo, "a")
    git(repo, "add", ".")
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path / "rules"))
    put(tmp_path, "rules", "b\n")
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    put(repo, "b")
    assert files(open_workspace(repo)) == ["a", "b"]
    assert not (tmp_path / "trace").exists()


# -- shapes of repositories ----------------------------------------------------------------------


def test_outside_git_the_same_rules_hold(tmp_path: Path, home: Path) -> None:
    tree = tmp_path / "tree"
    put(home, ".config/git/ignore", "*.swp\n")
    put(tree, ".gitignore", "*.log\n")
    put(tree, "a.log")
    put(tree, "a.swp")
    put(tree, "sub/b")
    ws = open_workspace(tree)
    assert files(ws) == [".gitignore", "sub/b"]
    assert (ws.vcs, ws.listed_by, ws.head) == ("none", "git", None)


def test_a_parent_folder_named_build_hides_nothing(tmp_path: Path, git: Git) -> None:
    tree = tmp_path / "build" / "dist" / "tree"
    put(tree, "a.py")
    put(tmp_path, ".gitignore", "build/\n")
    assert files(open_workspace(tree)) == ["a.py"]


def test_a_linked_worktree_is_listed_by_its_own_index(repo: Path, git: Git, tmp_path: Path) -> None:
    put(repo, "a")
    put(repo, ".git/info/exclude", "*.log\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "one")
    git(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    put(tmp_path / "side", "b")
    put(tmp_path / "side", "c.log")
    put(repo, "only-here")
    ws = open_workspace(tmp_path / "side")
    assert files(ws) == ["a", "b"]
    assert ws.head is not None
    assert ws.head.branch == "side"
    assert ws.head.commit == git(repo, "rev-parse", "HEAD").strip()


def test_a_submodule_is_one_entry_and_is_not_entered(repo: Path, git: Git, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q", ".")
    put(inner, "x")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "x")
    git(repo, "submodule", "--quiet", "add", str(inner), "mod")
    put(repo, "after")
    ws = open_workspace(repo)
    assert ws.listing.paths == (".gitmodules", "after", "mod")
    assert ws.kind("mod") is EntryKind.SUBMODULE
    git(repo, "commit", "-q", "-m", "with mod")
    git(tmp_path, "clone", "-q", str(repo), "copy")
    assert open_workspace(tmp_path / "copy").kind("mod") is EntryKind.SUBMODULE


def test_a_submodule_as_root_is_a_repository_of_its_own(repo: Path, git: Git, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q", ".")
    put(inner, "x")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "x")
    git(repo, "submodule", "--quiet", "add", str(inner), "mod")
    ws = open_workspace(repo / "mod")
    assert files(ws) == ["x"]
    assert ws.listing.notes == ()


def test_a_nested_repository_is_listed_by_its_own_rules(repo: Path, git: Git) -> None:
    nested = repo / "nested"
    nested.mkdir()
    git(nested, "init", "-q", ".")
    put(nested, ".gitignore", "*.log\n")
    put(nested, "in")
    put(nested, "a.log")
    git(nested, "add", "in")
    put(repo, "a.log")
    ws = open_workspace(repo)
    assert files(ws) == ["a.log", "nested/.gitignore", "nested/in"]
    assert ws.index_blob_ids(["nested/in", "a.log"]) == {"nested/in": git(nested, "hash-object", "in").strip()}


def test_a_folder_of_repositories_lists_each(tmp_path: Path, git: Git) -> None:
    tree = tmp_path / "tree"
    for name in ("one", "two"):
        put(tree, f"{name}/f")
        git(tree / name, "init", "-q", ".")
        git(tree / name, "add", ".")
    put(tree, "top")
    assert files(open_workspace(tree)) == ["one/f", "top", "two/f"]


def test_a_repository_without_commits_and_a_detached_one(repo: Path, git: Git) -> None:
    put(repo, "a")
    ws = open_workspace(repo)
    assert (files(ws), ws.head) == (["a"], ws.head)
    assert ws.head is not None
    assert (ws.head.commit, ws.head.branch) == (None, "main")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "one")
    git(repo, "checkout", "-q", "--detach")
    ws = open_workspace(repo)
    assert ws.head is not None
    assert ws.head.branch is None
    assert ws.head.commit == git(repo, "rev-parse", "HEAD").strip()


def test_sha256_split_and_unmerged_indexes_are_read(tmp_path: Path, git: Git) -> None:
    for options, extra in ((["--object-format=sha256"], []), ([], ["update-index", "--split-index"])):
        tree = tmp_path / f"tree{len(options)}"
        tree.mkdir()
        git(tree, "init", "-q", *options, ".")
        put(tree, "a")
        git(tree, "add", ".")
        if extra:
            git(tree, *extra)
        put(tree, "b")
        git(tree, "add", "b")
        ws = open_workspace(tree)
        assert (files(ws), ws.listing.notes) == (["a", "b"], ())
        assert ws.index_blob_ids(["a"]) == {"a": git(tree, "hash-object", "a").strip()}


def test_an_unmerged_path_is_listed_once(repo: Path, git: Git) -> None:
    put(repo, "a", "base\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "base")
    git(repo, "checkout", "-q", "-b", "side")
    put(repo, "a", "side\n")
    git(repo, "commit", "-qam", "side")
    git(repo, "checkout", "-q", "main")
    put(repo, "a", "main\n")
    git(repo, "commit", "-qam", "main")
    with pytest.raises(subprocess.CalledProcessError):
        git(repo, "merge", "-q", "side")
    ws = open_workspace(repo)
    assert ws.listing.paths == ("a",)
    assert ws.index_blob_ids(["a"]) == {}


def test_a_sparse_checkout_names_what_is_absent(repo: Path, git: Git) -> None:
    put(repo, "in/a")
    put(repo, "out/b")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "one")
    git(repo, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
    ws = open_workspace(repo)
    assert ws.listing.paths == ("in/a", "out/b")
    assert ws.kind("out/b") is EntryKind.ABSENT
    assert ws.listing.notes == ()


def test_a_tracked_file_that_was_deleted_is_absent(repo: Path, git: Git) -> None:
    put(repo, "a")
    put(repo, "b")
    git(repo, "add", ".")
    (repo / "a").unlink()
    ws = open_workspace(repo)
    assert [(p, str(k)) for p, k in zip(ws.listing.paths, ws.listing.kinds, strict=True)] == [
        ("a", "absent"),
        ("b", "file"),
    ]


def test_what_lies_behind_a_link_to_a_folder_is_not_the_trees(repo: Path, git: Git, tmp_path: Path) -> None:
    put(repo, "d/deep/f")
    git(repo, "add", ".")
    put(tmp_path, "outside/deep/f", "SECRET\n")
    shutil.rmtree(repo / "d")
    (repo / "d").symlink_to(tmp_path / "outside")
    ws = open_workspace(repo)
    assert ws.kind("d/deep/f") is EntryKind.ABSENT
    assert ws.kind("d") is EntryKind.SYMLINK


# -- what git will not do, and what must not run ---------------------------------------------------


def test_nothing_of_a_hostile_repository_runs_and_nothing_of_it_is_written(
    repo: Path, git: Git, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\necho ran >> '{marker}'\ncat\n")
    script.chmod(0o755)
    put(repo, "a.py", "text\n")
    put(repo, ".gitattributes", "*.py filter=evil diff=evil\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "one")
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process"):
        git(repo, "config", key, str(script))
    for key in ("diff.evil.textconv", "diff.evil.command", "core.pager", "core.sshCommand", "gpg.program"):
        git(repo, "config", key, str(script))
    git(repo, "config", "core.hooksPath", str(tmp_path / "hooks"))
    git(repo, "config", "include.path", str(tmp_path / "more"))
    put(tmp_path, "more", f"[core]\n\tfsmonitor = {script}\n")
    (tmp_path / "hooks").mkdir()
    for hook in ("post-index-change", "post-checkout", "pre-commit"):
        shutil.copy(script, tmp_path / "hooks" / hook)
        shutil.copy(script, repo / ".git" / "hooks" / hook)
    put(repo, "a.py", "changed\n")
    before = every_byte(repo)
    ws = open_workspace(repo)
    assert ws.head is not None
    assert ws.state()
    assert files(ws) == [".gitattributes", "a.py"]
    assert not marker.exists()
    assert every_byte(repo) == before
    time.sleep(2 * sight.RACY_NS / 1e9)
    memory = open_workspace(repo, memory=b"").memory()
    git(repo, "update-index", "--force-remove", "a.py")
    git(repo, "update-index", "--add", "a.py")  # the index has other bytes, and names the same
    marker.unlink()
    before = every_byte(repo)
    ws = open_workspace(repo, memory=memory)
    assert ws.recalled
    assert set(ws.index_blob_ids(ws.listing.paths)) == {".gitattributes", "a.py"}
    assert ws.memory()
    assert not marker.exists()
    assert every_byte(repo) == before


def test_a_split_index_keeps_its_time_stamp(repo: Path, git: Git) -> None:
    put(repo, "a")
    git(repo, "add", ".")
    git(repo, "update-index", "--split-index")
    shared = next((repo / ".git").glob("sharedindex.*"))
    os.utime(shared, ns=(10**18, 10**18))
    open_workspace(repo)
    assert shared.stat().st_mtime_ns == 10**18


def test_a_list_of_untracked_files_in_the_index_is_not_believed(repo: Path, git: Git) -> None:
    put(repo, "a")
    git(repo, "add", ".")
    git(repo, "config", "core.untrackedCache", "true")
    git(repo, "update-index", "--untracked-cache")
    git(repo, "status")
    put(repo, "fresh")
    assert files(open_workspace(repo)) == ["a", "fresh"]


def test_a_work_tree_declared_elsewhere_is_refused(repo: Path, git: Git, tmp_path: Path) -> None:
    put(tmp_path, "elsewhere/secret")
    put(repo, "a")
    git(repo, "config", "core.worktree", str(tmp_path / "elsewhere"))
    ws = open_workspace(repo)
    assert files(ws) == ["a"]
    assert ws.vcs == "none"
    assert flags(ws) == {CautionFlag.REPOSITORY_REFUSED}


def test_a_broken_config_is_reported_and_the_tree_is_listed(repo: Path) -> None:
    put(repo, "a")
    put(repo, ".git/config", "[core\nnonsense")
    ws = open_workspace(repo)
    assert files(ws) == ["a"]
    assert flags(ws) == {CautionFlag.TOOL_FAILED}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_repository_of_another_user_is_reported_and_listed(repo: Path, git: Git) -> None:
    put(repo, "a")
    git(repo, "add", ".")
    put(repo, ".gitignore", "*.log\n")
    put(repo, "b.log")
    for path in (repo, repo / ".git"):
        os.chown(path, 12345, 12345)
    ws = open_workspace(repo)
    assert files(ws) == [".gitignore", "a"]
    assert ws.vcs == "none"
    assert [note.flag for note in ws.listing.notes] == [CautionFlag.REPOSITORY_REFUSED]


def test_without_git_the_tree_is_walked_and_that_is_said(
    repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put(repo, "a")
    put(repo, ".gitignore", "b\n")
    put(repo, "b")
    os.mkfifo(repo / "pipe")
    git(repo, "add", ".gitignore", "a")
    monkeypatch.setenv("PATH", str(tmp_path))
    ws = open_workspace(repo)
    assert ws.listing.paths == (".gitignore", "a", "b", "pipe")
    assert ws.kind("pipe") is EntryKind.FIFO
    assert (ws.listed_by, ws.head) == ("walk", None)
    assert CautionFlag.IGNORE_RULES_UNAVAILABLE in flags(ws)
    assert CautionFlag.TOOL_FAILED in flags(ws)


def test_a_fifo_as_ignore_file_ends_in_a_reported_walk(repo: Path, git: Git) -> None:
    put(repo, "a")
    git(repo, "add", ".")
    put(repo, "sub/b")
    os.mkfifo(repo / "sub" / ".gitignore")
    begin = time.monotonic()
    ws = open_workspace(repo)
    assert time.monotonic() - begin < 10
    assert ws.listing.paths == ("a", "sub/.gitignore", "sub/b")
    assert ws.kind("sub/.gitignore") is EntryKind.FIFO
    details = {note.detail for note in ws.listing.notes}
    assert "sub/.gitignore is no regular file, and git would wait for it" in details
    assert flags(ws) >= {CautionFlag.TOOL_FAILED, CautionFlag.IGNORE_RULES_UNAVAILABLE}
    assert open_workspace(repo, timeout_s=0.3).listing.paths == ws.listing.paths


def test_a_fifo_as_ignore_file_above_the_root_is_named_too(repo: Path, git: Git) -> None:
    put(repo, "sub/a")
    git(repo, "add", ".")
    os.mkfifo(repo / ".gitignore")
    begin = time.monotonic()
    ws = open_workspace(repo / "sub")
    assert time.monotonic() - begin < 10
    assert ws.listing.paths == ("a",)
    assert "../.gitignore is no regular file, and git would wait for it" in {n.detail for n in ws.listing.notes}


def test_a_fifo_among_the_ticignore_files_is_named_and_git_still_lists(repo: Path, git: Git) -> None:
    put(repo, ".gitignore", "b\n")
    put(repo, "b")
    put(repo, ".ticignore", "c\n")
    put(repo, "sub/a")
    os.mkfifo(repo / "sub" / ".ticignore")
    begin = time.monotonic()
    ws = open_workspace(repo)
    assert time.monotonic() - begin < 10
    assert files(ws) == [".gitignore", ".ticignore", "sub/a"]
    detail = ".ticignore was not applied: sub/.ticignore is no regular file, and git would wait for it"
    assert detail in {note.detail for note in ws.listing.notes}


def test_a_fifo_that_git_does_not_open_changes_nothing(repo: Path, git: Git) -> None:
    put(repo, ".gitignore", "b\n")
    put(repo, "b")
    put(repo, "sub/a")
    os.mkfifo(repo / "sub" / ".gitattributes")
    ws = open_workspace(repo)
    assert files(ws) == [".gitignore", "sub/a"]
    assert flags(ws) == set()


def test_an_index_that_cannot_be_read_is_no_empty_index(repo: Path, git: Git) -> None:
    put(repo, "a")
    git(repo, "add", ".")
    put(repo, ".git/index", "garbage")
    ws = open_workspace(repo)
    assert files(ws) == ["a"]
    assert ws.listed_by == "walk"
    assert flags(ws) >= {CautionFlag.TOOL_FAILED, CautionFlag.IGNORE_RULES_UNAVAILABLE}
