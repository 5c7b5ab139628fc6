"""Repositories made by somebody who means harm: nothing outside the tree is shown, and nothing runs."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path

import pytest
from driving import Ask, Rtch, corpus, flags_of, paths_of, plant

tree = corpus("tree")

HARPOON = Ask("Where is harpoon defined", ["harpoon"])


@pytest.fixture(scope="module")
def rtch(tmp_path_factory: pytest.TempPathFactory) -> Rtch:
    return Rtch(tmp_path_factory.mktemp("home"))


def index_of(*names: bytes) -> bytes:
    """Return an index as git would never write it."""
    body = b"DIRC" + struct.pack(">II", 2, len(names))
    for name in sorted(names):
        entry = struct.pack(">10I20sH", 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0, b"x" * 20, min(len(name), 0xFFF)) + name
        body += entry + b"\0" * (8 - len(entry) % 8)
    return body + hashlib.sha1(body).digest()


@pytest.mark.parametrize("name", [b"../outside.txt", b".git/login", b"d/../../outside.txt", b"./a.py", b"/a.py", b".."])
def test_an_index_cannot_name_what_is_not_the_trees(rtch: Rtch, tmp_path: Path, name: bytes) -> None:
    plant(tmp_path, {"outside.txt": "harpoon of others\n", "zone/d/x.py": "", "zone/a.py": "harpoon = 1\n"})
    root = tmp_path / "zone"
    tree.run_git(root, "init", "-q")
    plant(root, {".git/login": "harpoon of git\n"})
    (root / ".git/index").write_bytes(index_of(b"a.py", name))
    for _ in range(2):
        packet = rtch.hydrate(root, HARPOON)
        assert paths_of(packet) == ["a.py"]
        assert "harpoon of" not in json.dumps(packet)
        assert "malformed" in flags_of(packet)


@pytest.mark.parametrize("above", ["..", "/"])
def test_a_work_tree_that_is_declared_to_lie_above_is_not_taken(rtch: Rtch, tmp_path: Path, above: str) -> None:
    plant(tmp_path, {"outside.txt": "harpoon of others\n", "zone/a.py": "harpoon = 1\n"})
    root = tmp_path / "zone"
    tree.commit_all(root)
    tree.run_git(root, "config", "core.worktree", str(tmp_path) if above == ".." else above)
    packet = rtch.hydrate(root, HARPOON)
    assert paths_of(packet) == ["a.py"]
    assert "repository_refused" in flags_of(packet)


def test_what_git_complains_of_is_the_same_in_each_run(rtch: Rtch, tmp_path: Path) -> None:
    root = plant(tmp_path, {"a.py": "harpoon = 1\n"})
    tree.commit_all(root)
    (root / ".git/index").write_bytes(b"")
    found = [rtch.hydrate(root, HARPOON, "--no-cache") for _ in range(2)]
    assert found[0]["packet_id"] == found[1]["packet_id"]
    assert "ignore_rules_unavailable" in flags_of(found[0])
