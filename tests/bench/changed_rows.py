"""The rows of a tree that was changed after the store came to know it; each leaves the tree as it was."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import ceilings
import trees
from measure import Run, sample
from scene import Scene
from verdicts import Row

SLASHES = frozenset({"c", "cc", "cpp", "cs", "go", "h", "java", "js", "jsx", "kt", "php", "rs", "swift", "ts", "tsx"})
"""Suffixes of languages whose comments do not begin with ``#``."""
SOME_BYTES = 1 << 20
"""As much of the listing as is looked at for a file to edit; all of it would make this process large."""


def changed_rows(scene: Scene, unchanged_s: float) -> Iterator[Row]:
    """Yield the rows; ``unchanged_s`` is what the same question costs on the tree as it was."""
    bench, tree = scene.bench, scene.bench.tree
    edits = {"hydrate, a cited file edited": scene.packet.cited, "hydrate, another file edited": _others(scene)}
    for name, paths in edits.items():
        place = next(filter(None, (_own_file(tree.root, path) for path in paths)), None)
        if place:
            yield _edited_row(scene, name, place, unchanged_s)

    def touched(_: int) -> Run:
        trees.touch(tree)
        return bench.hydrate(scene.warm)

    yield scene.row("hydrate, every file touched", sample(bench.repeat, touched))
    if tree.branch:
        yield from _branch_rows(scene)
    if trees.has_commit(tree):
        yield _clone_row(scene)


def _edited_row(scene: Scene, name: str, path: Path, unchanged_s: float) -> Row:
    before = path.read_bytes()
    mark = "//" if path.suffix[1:] in SLASHES else "#"

    def once(number: int) -> Run:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(f"{mark} tide table {number}\n")
        return scene.bench.hydrate(scene.warm)

    try:
        return scene.row(name, sample(scene.bench.repeat, once), ceilings.edited(unchanged_s))
    finally:
        path.write_bytes(before)


def _branch_rows(scene: Scene) -> Iterator[Row]:
    """Yield what a branch costs that the store has not seen, and ``main`` after it was left for that branch."""
    bench, tree = scene.bench, scene.bench.tree

    def away(_: int) -> Run:
        with bench.home(like=scene.warm) as home:
            trees.switch(tree, tree.branch)
            try:
                return bench.hydrate(home)
            finally:
                trees.switch(tree, "main")

    def back(_: int) -> Run:
        with bench.home(like=scene.warm) as home:
            trees.switch(tree, tree.branch)
            bench.hydrate(home)
            trees.switch(tree, "main")
            return bench.hydrate(home)

    yield scene.row("hydrate, branch switched", sample(bench.repeat, away))
    yield scene.row("hydrate, branch switched back", sample(bench.repeat, back))


def _clone_row(scene: Scene) -> Row:
    """Return what a fresh clone costs, by a store that knows its files from elsewhere."""
    bench = scene.bench
    place = bench.scratch / "clone"
    trees.clone(bench.tree, place)

    def once(_: int) -> Run:
        with bench.home(like=scene.warm) as home:
            return bench.hydrate(home, root=place)

    try:
        return scene.row("hydrate, fresh clone, warm store", sample(bench.repeat, once))
    finally:
        shutil.rmtree(place)


def _others(scene: Scene) -> Iterator[str]:
    """Yield files that the packet does not cite, from the middle of the listing's beginning on."""
    with scene.bench.tree.listing.open("rb") as stream:
        *paths, _ = stream.read(SOME_BYTES).split(b"\0")
    for path in (os.fsdecode(each.removeprefix(b"./")) for each in paths[len(paths) // 2 :]):
        if path not in scene.packet.cited:
            yield path


def _own_file(root: Path, path: str) -> Path | None:
    """Return the place of a path where a regular file of the tree lies: no link leads out of a copy."""
    place = root / path
    return place if place.is_file() and place.resolve() == root.resolve() / path else None
