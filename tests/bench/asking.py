"""Asking rtch about a tree, each time in a new process, with a store of its own or one that was used before."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measure import Run, run_once, run_summed
from trees import Tree

BIN = Path(sys.executable).parent
RTCH = str(BIN / "rtch")
CONSERVATIVE = ("--profile", "code_path", "--fanout", "conservative")
WIDE = ("--profile", "vague_intent", "--fanout", "wide")
REST = (
    "--risk", "read_only", "--output-kind", "hydration_packet", "--enough", "at least 2 surfaces", "--format", "json",
)  # fmt: skip
GOALS = (
    "Where is {} defined and who calls it",
    "What does {} do and what does it need",
    "Which tests and documents speak of {}",
    "How is {} configured and where is its result used",
    "What must be read before {} is changed",
)
INTAKE = """\
goal: Where is the route settled
target_profile: code_path
fanout_level: conservative
mutation_risk: read_only
expected_output: hydration_packet
enough_evidence_definition: at least 2 surfaces
"""


@dataclass(slots=True)
class Bench:
    """A tree, a folder for homes, and how often each thing is run at most."""

    tree: Tree
    scratch: Path
    repeat: int
    homes: int = 0

    def environment(self, home: Path) -> dict[str, str]:
        """Return nobody's environment with a home of rtch; git never writes on the side."""
        path = f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        named = {"PATH": path, "HOME": str(self.scratch), "RTCH_HOME": str(home), "LC_ALL": "C.UTF-8"}
        return named | {"GIT_OPTIONAL_LOCKS": "0"}

    @contextlib.contextmanager
    def home(self, like: Path | None = None) -> Iterator[Path]:
        """Yield a home that is removed in the end: an empty one, or a copy of another."""
        self.homes += 1
        place = self.scratch / f"home-{self.homes}"
        if like is not None and like.is_dir():  # there is none where no run came so far as to make it
            shutil.copytree(like, place, symlinks=True)
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def rtch(self, home: Path, *arguments: str) -> Run:
        """Run a command of rtch in the tree."""
        return run_once([RTCH, *arguments], cwd=self.tree.root, env=self.environment(home))

    def hydrate(self, home: Path, *more: str, number: int = 0, root: Path | None = None, wide: bool = False) -> Run:
        """Ask a question by its number; number 0 is the one that is asked again and again."""
        return self.rtch(home, *self.question(*more, number=number, root=root, wide=wide))

    def empty(self, *, wide: bool = False, root: Path | None = None) -> Run:
        """Ask the first question with an empty store."""
        with self.home() as home:
            return self.hydrate(home, wide=wide, root=root)

    def summed(self) -> Run | None:
        """Return a run with an empty store whose memory is that of all its processes together."""
        with self.home() as home:
            return run_summed([RTCH, *self.question()], cwd=self.tree.root, env=self.environment(home))

    def question(self, *more: str, number: int = 0, root: Path | None = None, wide: bool = False) -> list[str]:
        """Return the arguments that ask a question: each number has another name or another wording."""
        seeds = self.tree.seeds
        seed, goal = seeds[number % len(seeds)], GOALS[(number + number // len(seeds)) % len(GOALS)]
        place = str(root or self.tree.root)
        budget = WIDE if wide else CONSERVATIVE
        return [
            "hydrate", "--root", place, "--goal", goal.format(seed), f"--seed={seed}", *budget, *REST, *more,
        ]  # fmt: skip


def intake_file(scratch: Path) -> Path:
    """Return an intake in a file."""
    path = scratch / "intake.yaml"
    path.write_text(INTAKE, encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True)
class Packet:
    """What is used of a packet."""

    id: str
    literals: tuple[str, ...]
    """What its probes searched for."""
    cited: tuple[str, ...]
    """The files that it has chunks of, in its order."""


def packet_of(run: Run) -> Packet:
    """Return the packet that a run printed; one that names nothing where it printed none."""
    try:
        told = json.loads(run.out)
    except ValueError:
        return Packet("none", (), ())
    terms = [term for outcome in told["probe_plan"]["probes"] for term in outcome["probe"]["terms"]]
    spellings = sorted({spelling for term in terms for spelling in term["spellings"]})
    paths = dict.fromkeys(chunk["path"] for chunk in told["hydrated_chunks"])
    return Packet(told["packet_id"], tuple(spellings), tuple(paths))
