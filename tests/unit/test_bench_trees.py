"""The trees that the bench measures: the same everywhere, with a past, kept between runs and put back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from driving import corpus, plant

sys.path.insert(0, str(Path(__file__).parent.parent / "bench"))  # tests are no package: these lie beside their program

import seeds
import trees

sys.path.pop(0)

tree = corpus("tree")
text = sys.modules["tree_text"]
FILES = 60
TIP = "e24385b88c163be500a095f454b446322b265350"


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("past") / "tree"
    tree.build(root, files=FILES, past=True)
    return root


class TestPast:
    def test_its_last_commit_is_the_tree_and_the_same_everywhere(self, past: Path) -> None:
        assert git(past, "status", "--porcelain=v2") == ""
        assert len(git(past, "ls-files").splitlines()) == FILES
        assert git(past, "rev-parse", "main").strip() == TIP

    def test_the_files_are_those_of_the_tree_without_a_past(self, past: Path, tmp_path: Path) -> None:
        tree.build(tmp_path, files=FILES)
        files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
        assert {path: (past / path).read_bytes() for path in files} == {
            path: (tmp_path / path).read_bytes() for path in files
        }
        assert len(files) == FILES

    def test_it_has_authors_and_files_that_came_and_grew(self, past: Path) -> None:
        assert len(git(past, "log", "--format=%H", "main").splitlines()) == tree.history.COMMITS
        assert len(set(git(past, "log", "--format=%an").splitlines())) >= 3
        kinds = Counter(line[0] for line in git(past, "log", "--format=", "--name-status", "main").splitlines() if line)
        assert kinds["A"] == FILES
        assert kinds["M"] >= 1

    def test_the_other_branch_has_other_files_and_other_contents(self, past: Path) -> None:
        changed = git(past, "diff", "--name-status", "main", tree.history.BRANCH).splitlines()
        assert {line[0] for line in changed} == {"D", "M"}

    def test_it_lies_in_one_pack(self, past: Path) -> None:
        told = dict(line.split(": ") for line in git(past, "count-objects", "-v").splitlines())
        assert (told["count"], told["packs"]) == ("0", "1")


@pytest.mark.parametrize("language", text.LANGUAGES, ids=lambda language: language.suffix)
def test_a_folder_of_a_large_tree_is_no_larger_than_one_of_a_small_tree(language: object) -> None:
    folders = Counter(tree._path(language, "x", number)[0].rpartition("/")[0] for number in range(40_000))
    folders.pop("spec", None)
    assert max(folders.values()) <= 60


class TestKept:
    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("RTCH_BENCH_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(trees, "SETTLE_S", 0.0)

    def test_a_tree_is_made_once_and_put_back(self, tmp_path: Path) -> None:
        said: list[str] = []
        with trees.generated(FILES, tmp_path, said.append) as first:
            (first.root / tree.DEFINITION).write_text("# gone\n")
            (first.root / "new.py").write_text("")
            trees.switch(first, first.branch)
        with trees.generated(FILES, tmp_path, said.append) as second:
            assert git(second.root, "status", "--porcelain=v2", "--branch").splitlines()[1] == "# branch.head main"
            assert git(second.root, "status", "--porcelain=v2") == ""
            assert trees.counted(second.listing) == second.files == FILES
        assert second == first
        assert second.seeds[0] == tree.SYMBOL
        assert len(said) == 1

    def test_another_generator_makes_it_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        said: list[str] = []
        with trees.generated(FILES, tmp_path, said.append):
            pass
        monkeypatch.setattr(trees, "stamp_of", lambda arguments: "another")
        with trees.generated(FILES, tmp_path, said.append):
            pass
        assert len(said) == 2

    def test_a_tree_half_made_is_made_again(self, tmp_path: Path) -> None:
        half = plant(tmp_path / "cache/trees" / str(FILES) / "tree", {"a.py": ""})
        with trees.generated(FILES, tmp_path, print) as known:
            assert known.root == half
            assert not (half / "a.py").exists()


class TestOfYours:
    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trees, "SETTLE_S", 0.0)

    def test_a_small_one_is_copied(self, tmp_path: Path) -> None:
        root = plant(tmp_path / "yours", {"a.py": "def fold_tide(): ...\n", "b.py": "fold_tide()\n"})
        with trees.of_yours(root, "", tmp_path) as known:
            assert (known.editable, known.git, known.files, known.seeds) == (True, False, 2, ("fold_tide",))
            assert not known.root.is_relative_to(root)

    def test_a_large_one_is_read_where_it_lies(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trees, "COPIED_BYTES", 10)
        root = plant(tmp_path / "yours", {"a.py": "def fold_tide(): ...\n"})
        with trees.of_yours(root, "tide", tmp_path) as known:
            assert (known.editable, known.root, known.seeds[0]) == (False, root, "tide")

    def test_one_that_shares_its_repository_is_not_copied(self, past: Path, tmp_path: Path) -> None:
        git(past, "worktree", "add", "-q", str(tmp_path / "beside"), tree.history.BRANCH)
        with trees.of_yours(tmp_path / "beside", "", tmp_path) as known:
            assert (known.editable, known.git) == (False, True)

    @pytest.mark.parametrize("files", [{}, {"a.py": "x = 1\n"}, {"a.bin": b"\0fold_tide"}])
    def test_a_tree_without_a_name_needs_one(self, files: dict[str, str | bytes], tmp_path: Path) -> None:
        root = plant(tmp_path / "yours", files)
        with pytest.raises(trees.BenchError, match=r"no name was found in .* name one with --seed or SEED="):
            trees.of_yours(root, "", tmp_path).__enter__()


class TestSeeds:
    def test_rare_names_that_are_defined_once_and_used_come_first(self) -> None:
        files = [
            ("a.py", b"def fold_tide(): ...\ndef moor_barge(): fold_tide()\nclass Harbor: ...\n"),
            ("b.go", b"func (s *Ship) RaiseAnchor() {}\nfunc dropAnchor() { RaiseAnchor(); RaiseAnchor() }\n"),
            ("test_c.py", b"def probe_tide(): fold_tide()\n"),
            ("d.py", b"def twice_made(): ...\n"),
            ("e.py", b"def twice_made(): ...\n"),
        ]
        # dropAnchor and moor_barge stand only where they are defined.
        assert seeds.names(files, 9) == ["RaiseAnchor", "fold_tide", "dropAnchor", "moor_barge"]
        assert seeds.names(reversed(files), 9) == seeds.names(files, 9)

    def test_a_tree_without_definitions_has_rare_words(self) -> None:
        assert seeds.names([("a.md", b"lantern lantern gangway short")], 1) == ["lantern"]

    def test_many_files_are_looked_at_evenly(self) -> None:
        paths = [f"{number:05}.py" for number in range(3 * seeds.MOST_FILES)]
        assert seeds.looked_at([*paths, "notes.md"]) == paths[::3]

    def test_what_cannot_be_read_is_passed_over(self, tmp_path: Path) -> None:
        plant(tmp_path, {"a.py": "tide", "b.py": b"\0", "c.py": "x" * (seeds.MOST_BYTES + 1)})
        os.mkfifo(tmp_path / "d.py")
        (tmp_path / "e.py").symlink_to("a.py")
        names = ["a.py", "b.py", "c.py", "d.py", "e.py", "f.py"]
        assert list(seeds.texts(tmp_path, names)) == [("a.py", b"tide")]
