"""What the rows of one tree share: the tree's bench, its yardsticks, a warm home and the first packet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from asking import Bench, Packet, packet_of
from measure import Sample, sample
from verdicts import NO_LIMIT, Limit, Row, timed
from yardsticks import Yardsticks


@dataclass(frozen=True, slots=True)
class Scene:
    """A tree whose first question has been answered; ``warm`` is the home that remembers it."""

    yard: Yardsticks
    warm: Path
    packet: Packet

    @property
    def bench(self) -> Bench:
        """The tree and how it is asked about."""
        return self.yard.bench

    def sample(self, *arguments: str) -> Sample:
        """Run a command of rtch with the warm home."""
        return sample(self.bench.repeat, lambda _: self.bench.rtch(self.warm, *arguments))

    def row(self, name: str, taken: Sample, limit: Limit = NO_LIMIT, rg: Sample | None = None) -> Row:
        """Return the row of some hydrates beside all yardsticks; rg's literals are the first packet's if not told."""
        ratios = self.yard.ratios(taken.median_s, rg or self.yard.rg(self.packet))
        return timed(name, taken, limit, ratios=ratios)


def scene_of(yard: Yardsticks, warm: Path) -> tuple[Scene, Sample]:
    """Return the scene and the runs with an empty store, of which the first leaves its home warm."""
    bench = yard.bench
    cold = sample(bench.repeat, lambda number: bench.empty() if number else bench.hydrate(warm))
    return Scene(yard, warm, packet_of(cold.runs[0])), cold
