"""A packet that was kept is shown again only while everything it follows from is as it was."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from driving import Ask, Rtch, corpus, plant, same_part

tree = corpus("tree")

HARPOON = Ask("Where is harpoon defined", ["harpoon"])
FILES = {"a.py": "def harpoon():\n    return 1\n", "b.md": "# Harpoon\n"}
Change = Callable[[Path], object]


@pytest.fixture(scope="module")
def rtch(tmp_path_factory: pytest.TempPathFactory) -> Rtch:
    return Rtch(tmp_path_factory.mktemp("home"))


def again(rtch: Rtch, root: Path, change: Change, *more: str, changed: bool = True) -> None:
    """Ask, change something, and ask with and without the store."""
    flags = ("hydrate", "--root", str(root), *HARPOON.flags(), "--format", "json", *more)
    before = rtch.run(*flags).packet
    change(root)
    warm, cold = rtch.run(*flags).packet, rtch.run(*flags, "--no-cache").packet
    assert same_part(warm) == same_part(cold)
    assert (same_part(warm) != same_part(before)) == changed


def become_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def become_link(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


def other_format(root: Path) -> None:
    shutil.rmtree(root / ".git")
    tree.run_git(root, "init", "-q", "--object-format=sha256")


def repository(root: Path, ignored: str = "") -> Path:
    plant(root, FILES | ({".gitignore": ignored} if ignored else {}))
    tree.run_git(root, "init", "-q")
    return root


def test_what_the_repository_is(rtch: Rtch, tmp_path: Path) -> None:
    root = repository(tmp_path)
    again(rtch, root, other_format)
    again(rtch, root, lambda _: shutil.rmtree(root / ".git"))


def test_a_root_that_its_repository_comes_to_ignore(rtch: Rtch, tmp_path: Path) -> None:
    tree.run_git(tmp_path, "init", "-q")
    again(rtch, plant(tmp_path / "zone", FILES), lambda _: plant(tmp_path, {".gitignore": "zone/\n"}))


@pytest.mark.parametrize("named", ["--neighbor", "--known-target"])
def test_what_is_named_outside_the_listing(rtch: Rtch, tmp_path: Path, named: str) -> None:
    root = repository(tmp_path, ignored="gen/\nl\n")
    flag = f"{named}=gen/x.txt"
    again(rtch, root, lambda _: plant(root, {"gen/x.txt": "harpoon\n"}), flag)
    again(rtch, root, lambda _: become_fifo(root / "gen/x.txt"), flag)
    again(rtch, root, lambda _: shutil.rmtree(root / "gen"), flag)
    plant(root, {"one/x.py": "harpoon = 1\n", "two/x.py": "quay = 1\n"})
    (root / "l").symlink_to("one")
    again(rtch, root, lambda _: become_link(root / "l", "two"), f"{named}=l/x.py")


@pytest.mark.parametrize(
    "change",
    [lambda path: become_link(path, "/etc/passwd"), become_fifo, lambda path: path.unlink()],
    ids=["a link", "a fifo", "gone"],
)
def test_a_document_above_the_root(rtch: Rtch, tmp_path: Path, change: Change) -> None:
    root = plant(tmp_path / "zone", FILES)
    plant(tmp_path, {".site-root": "Site", "CLAUDE.md": "# Site\n"})
    again(rtch, root, lambda _: change(tmp_path / "CLAUDE.md"))


def test_a_file_that_became_a_fifo(rtch: Rtch, tmp_path: Path) -> None:
    """A list from memory has its name, and git would not list it."""
    again(rtch, plant(tmp_path, FILES), lambda root: become_fifo(root / "b.md"))


@pytest.mark.parametrize("variable", ["HOME", "XDG_CONFIG_HOME"])
def test_another_home_has_other_ignore_rules(rtch: Rtch, tmp_path: Path, variable: str) -> None:
    root = repository(tmp_path / "zone")
    inside = "git/ignore" if variable == "XDG_CONFIG_HOME" else ".config/git/ignore"
    plant(tmp_path / "strict", {inside: "b.md\n"})
    plant(tmp_path / "loose", {})
    for name in ("loose", "strict", "loose"):
        there = rtch.with_environment(**{variable: str(tmp_path / name)})
        packet = there.hydrate(root, HARPOON)
        assert same_part(packet) == same_part(there.hydrate(root, HARPOON, "--no-cache"))
        assert len(packet["selected_surfaces"]) == (1 if name == "strict" else 2)
