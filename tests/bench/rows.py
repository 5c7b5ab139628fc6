"""The rows of one tree, in the order of its table."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator

import ceilings
import trees
from asking import Bench, intake_file, packet_of
from ceilings import Ceilings
from changed_rows import changed_rows
from measure import Run, Sample, sample
from scene import Scene, scene_of
from verdicts import Row, timed, weighed
from yardsticks import Yardsticks

TIMED_MEMORY = "peak memory: largest process of a hydrate"
SUMMED_MEMORY = "peak memory: all processes, empty store"


def measured(yard: Yardsticks, *, first: bool) -> Generator[Row, None, None]:
    """Yield every row but those of the Prefect engine, each as soon as it is known.

    What does not depend on a tree is measured with the first alone.
    """
    bench, hydrates = yard.bench, list[Row]()
    yard.hashing()  # before anything else, for it warms the page cache
    with bench.home() as warm:
        scene, cold = scene_of(yard, warm)
        yield from yardstick_rows(scene)
        yield from short_rows(scene, first=first)
        for row in itertools.chain(cold_rows(scene, cold), warm_rows(scene)):
            hydrates.append(row)
            yield row
    memory = Ceilings(bench.tree.files).memory()
    heaviest = max(hydrates, key=lambda row: (row.failed, row.rss_mib or 0.0))
    yield Row(
        TIMED_MEMORY, (heaviest.rss_mib or 0.0,), "MiB", memory, codes=heaviest.codes, complaint=heaviest.complaint
    )
    summed = bench.summed()
    if summed:
        yield weighed(SUMMED_MEMORY, Sample((summed,)), memory)
    if first and bench.tree.generated:
        yield giant_row(bench)


def yardstick_rows(scene: Scene) -> Iterator[Row]:
    """Yield what the others are held against."""
    status = scene.yard.status()
    if status:
        yield timed("git status --porcelain=v2 -z", status)
    yield timed("rg -c -F, the same literals", scene.yard.rg(scene.packet))
    yield timed("read and hash every file", scene.yard.hashing())


def short_rows(scene: Scene, *, first: bool) -> Iterator[Row]:
    """Yield the commands that must answer at once, and that which checks a packet."""
    bench, yard, packet = scene.bench, scene.yard, scene.packet
    yield timed("rtch --version", yard.start(), ceilings.TRIVIAL)
    commands: dict[str, tuple[str, ...]] = {"rtch show PACKET": ("show", packet.id)}
    if first:
        checked = ("intake", "check", str(intake_file(bench.scratch)))
        commands = {"rtch --help": ("--help",), "rtch intake check FILE": checked} | commands
    for name, arguments in commands.items():
        yield timed(name, scene.sample(*arguments), ceilings.TRIVIAL)
    verify = "rtch verify PACKET"
    if b"\n  verify " not in bench.rtch(scene.warm, "--help").out:
        yield Row(verify)
        return
    hashing_s = yard.hashing(packet.cited).median_s if packet.cited else 0.0
    yield timed(verify, scene.sample("verify", packet.id), ceilings.verify(hashing_s, yard.start().median_s))


def cold_rows(scene: Scene, cold: Sample) -> Iterator[Row]:
    """Yield what a hydrate with an empty store costs, and how large its packet is."""
    bench, known = scene.bench, Ceilings(scene.bench.tree.files)
    wide = sample(bench.repeat, lambda _: bench.empty(wide=True))
    rg, wide_rg = scene.yard.rg(scene.packet), scene.yard.rg(packet_of(wide.runs[0]))
    yield scene.row("hydrate, empty store", cold, known.cold(rg.median_s), rg)
    yield scene.row("hydrate --fanout wide, empty store", wide, known.wide(wide_rg.median_s), wide_rg)
    for name, taken in (("packet, conservative", cold), ("packet, wide", wide)):
        yield Row(
            name,
            tuple(float(len(run.out)) for run in taken.runs),
            "bytes",
            codes=taken.codes,
            complaint=taken.complaint,
        )


def warm_rows(scene: Scene) -> Iterator[Row]:
    """Yield what a hydrate costs whose store knows the tree, as it is or as it was."""
    bench, yard, known = scene.bench, scene.yard, Ceilings(scene.bench.tree.files)
    again, status = sample(bench.repeat, lambda _: bench.hydrate(scene.warm)), yard.status()
    limit = known.again(status.median_s if status else None, yard.start().median_s)
    yield scene.row("hydrate, same intake again", again, limit)
    new = sample(bench.repeat, lambda number: bench.hydrate(scene.warm, number=number + 1))
    passes = Sample(tuple(run for asked in new.runs for run in yard.rg(packet_of(asked)).runs))
    yield scene.row("hydrate, new intake", new, known.new(passes.median_s), passes)
    if bench.tree.editable:
        yield from changed_rows(scene, again.median_s)


def giant_row(bench: Bench) -> Row:
    """Return a run on a tree with a 200 MB file and a 5 MB line, whose memory is what counts."""
    root = trees.giants(bench.scratch)

    def once(_: int) -> Run:
        return bench.empty(root=root)

    taken = sample(min(bench.repeat, 3), once)
    return weighed("peak memory beside a 200 MB file", taken, ceilings.GIANT)
