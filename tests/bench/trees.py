"""The trees that are measured: generated ones, kept between runs, and trees of yours, which are not changed.

Generated trees lie in ``CACHE/trees/FILES``, each with a stamp of the generator that made it, and are made
again when its source changes. Whoever measures one holds its lock, for files are edited and branches
switched meanwhile; it is put back before and after.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

HERE = Path(__file__).resolve().parent
GENERATOR = HERE.parent / "corpora/tree.py"
SIZES = (650, 10_000, 40_000, 150_000)
SMALLER_FROM, SMALLER_MEDIAN = 100_000, 1_350
"""The largest trees have smaller files, so that the disk is not full of them."""
SEEDS = 24
BLOCK_BYTES = 1 << 16
COPIED_BYTES = 200_000_000
"""A tree of yours with fewer bytes is measured as a copy, which may be edited."""
SETTLE_S = 2.5
"""How old a file must be before its time alone tells that it is unchanged."""

Say = Callable[[str], None]


class BenchError(Exception):
    """What keeps the bench from measuring, in one sentence."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree to measure; ``seeds`` are names in it, of which the first is asked about again and again."""

    name: str
    root: Path
    listing: Path
    """What belongs to it: paths below the root, each ended by a zero byte."""
    files: int
    seeds: tuple[str, ...]
    git: bool
    editable: bool
    generated: bool
    branch: str = ""
    """A branch to switch to from ``main``."""


def cache_folder() -> Path:
    """Return where generated trees are kept: as the environment says, else in the checkout's artifacts."""
    named = os.environ.get("RTCH_BENCH_CACHE") or HERE.parents[1] / "artifacts/bench"
    return Path(named).expanduser().resolve() / "trees"


def stamp_of(arguments: tuple[str, ...]) -> str:
    """Return a digest of the generator's source and of what it is told."""
    digest = hashlib.sha256("\0".join(arguments).encode())
    for path in (*sorted(GENERATOR.parent.glob("tree*.py")), HERE / "seeds.py"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def generated(files: int, scratch: Path, say: Say) -> Iterator[Tree]:
    """Yield a generated tree with a history; nobody else measures it meanwhile."""
    place = cache_folder() / str(files)
    median = ("--median", str(SMALLER_MEDIAN)) if files >= SMALLER_FROM else ()
    arguments = ("--files", str(files), *median, "--history")
    with _locked(place.with_suffix(".lock"), say):
        told = _stamped(place, stamp_of(arguments)) or _made(place, arguments, say)
        root = place / "tree"
        _put_back(root)
        try:
            listing = listed(root, scratch / "listing", git=True)
            yield Tree(
                name=f"generated-{files}", root=root, listing=listing, files=told["files"],
                seeds=(told["symbol"], *told["seeds"]), git=True, editable=True, generated=True, branch=told["branch"],
            )  # fmt: skip
        finally:
            _put_back(root)


def giants(scratch: Path) -> Path:
    """Return a tree of 650 files beside a 200 MB file and a 5 MB line, made in the scratch folder."""
    root = scratch / "giants"
    _generate(root, ("--git", "--with-giants"))
    return root


@contextlib.contextmanager
def of_yours(root: Path, seed: str, scratch: Path) -> Iterator[Tree]:
    """Yield a tree of yours: a copy where it is small, else itself, to be read alone.

    Raises:
        BenchError: it is no folder, or there is nothing to ask about.
    """
    if not root.is_dir():
        raise BenchError(f"{root} is no folder")
    copy = _copied(root, scratch / "copy")
    place = copy or root
    git = bool(run(place, "git", "rev-parse", "--git-dir", check=False))
    if copy and git:
        run(place, "git", "update-index", "-q", "--refresh", check=False)
    listing = listed(place, scratch / "listing", git=git)
    seeds = tuple(dict.fromkeys(filter(None, (seed, *named(place, listing)))))
    if not seeds:
        raise BenchError(f"no name was found in {root} to ask about; name one with --seed or SEED=")
    yield Tree(
        name=str(root), root=place, listing=listing, files=counted(listing), seeds=seeds,
        git=git, editable=copy is not None, generated=False,
    )  # fmt: skip


def listed(root: Path, listing: Path, *, git: bool) -> Path:
    """Write what belongs to a tree into a file and return that; its paths never enter this process."""
    argv = ("git", "ls-files", "-co", "--exclude-standard", "-z") if git else ("find", ".", "-type", "f", "-print0")
    with listing.open("wb") as stream:
        run(root, *argv, out=stream)
    return listing


def counted(listing: Path) -> int:
    """Return how many paths a listing has."""
    with listing.open("rb") as stream:
        return sum(block.count(b"\0") for block in iter(lambda: stream.read(BLOCK_BYTES), b""))


def named(root: Path, listing: Path) -> list[str]:
    """Return names in a tree to ask about."""
    argv = (sys.executable, str(HERE / "seeds.py"), str(root), str(listing), str(SEEDS))
    found: list[str] = json.loads(run(root, *argv))
    return found


def touch(tree: Tree) -> None:
    """Give every file of a tree the present time."""
    with tree.listing.open("rb") as paths:
        run(tree.root, "xargs", "-0", "touch", "-c", "-h", "--", told=paths)


def switch(tree: Tree, branch: str) -> None:
    """Check another branch out."""
    run(tree.root, "git", "switch", "-q", "-f", branch)


def has_commit(tree: Tree) -> bool:
    """Return whether there is something to clone."""
    return tree.git and bool(run(tree.root, "git", "rev-parse", "-q", "--verify", "HEAD", check=False))


def clone(tree: Tree, place: Path) -> Path:
    """Clone a tree and return the clone."""
    run(tree.root, "git", "clone", "-q", "--", str(tree.root), str(place))
    time.sleep(SETTLE_S)
    return place


def run(
    root: Path, *argv: str, check: bool = True, told: IO[bytes] | None = None, out: IO[bytes] | None = None
) -> bytes:
    """Run a command in a folder with nobody's git configuration; return what it printed, if not into a file.

    Raises:
        BenchError: it failed, and ``check`` holds.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        argv, cwd=root, env=environment, stdin=told or subprocess.DEVNULL, stdout=out or subprocess.PIPE,
        stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    if check and done.returncode:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise BenchError(f"{' '.join(argv[:3])} failed in {root}: {said}")
    return done.stdout or b""


@contextlib.contextmanager
def _locked(path: Path, say: Say) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another bench measures {path.with_suffix('')}: waiting for it")
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _stamped(place: Path, stamp: str) -> dict[str, Any] | None:
    try:
        told = json.loads((place / "stamp.json").read_bytes())
    except (OSError, ValueError):
        return None
    return told if told.get("stamp") == stamp else None


def _made(place: Path, arguments: tuple[str, ...], say: Say) -> dict[str, Any]:
    """Make a tree where an older one may lie; the stamp is written last, so that half a tree has none."""
    started = time.perf_counter()
    shutil.rmtree(place, ignore_errors=True)
    told = _generate(place / "tree", arguments)
    listing = listed(place / "tree", place / "listing", git=True)
    told |= {"stamp": stamp_of(arguments), "seeds": named(place / "tree", listing)}
    listing.unlink()
    (place / "stamp.json").write_text(json.dumps(told), encoding="utf-8")
    say(f"{place / 'tree'} made in {time.perf_counter() - started:.0f} s")
    time.sleep(SETTLE_S)
    return told


def _generate(root: Path, arguments: tuple[str, ...]) -> dict[str, Any]:
    root.mkdir(parents=True)
    told: dict[str, Any] = json.loads(run(root, sys.executable, str(GENERATOR), str(root), *arguments))
    return told


def _put_back(root: Path) -> None:
    """Bring a generated tree to the tip of ``main``, whatever an earlier run left."""
    run(root, "git", "switch", "-q", "-f", "main")
    run(root, "git", "reset", "-q", "--hard")
    run(root, "git", "clean", "-q", "-f", "-d", "-x")


def _copied(root: Path, place: Path) -> Path | None:
    """Return a copy of a tree, or None where it is large, linked to another or cannot be copied."""
    if (root / ".git").is_file() or not _is_small(root):
        return None
    try:
        shutil.copytree(root, place, symlinks=True)
    except (OSError, shutil.Error):
        shutil.rmtree(place, ignore_errors=True)
        return None
    time.sleep(SETTLE_S)
    return place


def _is_small(root: Path) -> bool:
    total = 0
    for base, _, names in os.walk(root):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(base, name)).st_size  # noqa: PTH118  a Path a file is slow
        if total >= COPIED_BYTES:
            return False
    return True
