"""What the work is held against: git's status, one counting pass of rg, reading and hashing, process start."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from asking import BIN, Bench, Packet
from measure import Run, Sample, run_once, sample

HASHING = Path(__file__).with_name("hashing.py")
STATUS = ("git", "status", "--porcelain=v2", "-z")
RG = (str(BIN / "rg"), "-c", "-F", "--no-config", "--hidden", "-g", "!.git")


@dataclass(slots=True)
class Yardsticks:
    """The yardsticks of one tree, each measured when it is first asked for."""

    bench: Bench
    _kept: dict[tuple[str, ...], Sample] = field(default_factory=dict)

    def start(self) -> Sample:
        """Return what a process of rtch costs that does nothing."""
        return self._of(("start",), lambda _: self.bench.rtch(self.bench.scratch, "--version"), at_least=5)

    def status(self) -> Sample | None:
        """Return what ``git status`` costs, or None outside git."""
        return self._command(STATUS) if self.bench.tree.git else None

    def rg(self, packet: Packet) -> Sample:
        """Return what one counting pass of rg costs over the files of the tree, for the literals of a packet."""
        rules = ("--no-ignore",) if self.bench.tree.generated else ()  # nothing is ignored there
        terms = [part for word in packet.literals or self.bench.tree.seeds[:1] for part in ("-e", word)]
        return self._command((*RG, *rules, *terms, "."))

    def hashing(self, paths: Sequence[str] = ()) -> Sample:
        """Return what reading and hashing costs: every file of the tree, or those named; start is not in it."""
        listing = self.bench.tree.listing
        if paths:
            listing = self.bench.scratch / "cited"
            listing.write_bytes(b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths))
        argv = [sys.executable, "-I", "-S", str(HASHING), str(listing)]

        def once(_: int) -> Run:
            ran = run_once(argv, cwd=self.bench.tree.root, env=self.bench.environment(self.bench.scratch))
            return Run(json.loads(ran.out)["seconds"], ran.rss_kib, ran.code, ran.out)

        return self._of(("hashing", *paths), once)

    def bytes(self) -> int:
        """Return how many bytes the files of the tree have."""
        told: int = json.loads(self.hashing().runs[0].out)["bytes"]
        return told

    def ratios(self, seconds: float, rg: Sample) -> dict[str, float]:
        """Return how many times each yardstick something took."""
        status = self.status()
        known = {"rg": rg, "status": status, "hash": self.hashing()}
        return {name: seconds / taken.median_s for name, taken in known.items() if taken and taken.median_s > 0}

    def _command(self, argv: Sequence[str]) -> Sample:
        environment = self.bench.environment(self.bench.scratch)
        return self._of(tuple(argv), lambda _: run_once(argv, cwd=self.bench.tree.root, env=environment))

    def _of(self, key: tuple[str, ...], once: Callable[[int], Run], at_least: int = 1) -> Sample:
        if key not in self._kept:
            once(0)  # the page cache may still be cold
            self._kept[key] = sample(max(self.bench.repeat, at_least), once)
        return self._kept[key]
