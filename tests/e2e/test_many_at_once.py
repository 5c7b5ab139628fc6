"""Eight processes at once on one empty store: nothing fails, nothing is lost, and nothing is made twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from driving import Ask, Packet, Ran, Rtch, corpus, same_part

tree = corpus("tree")

SAME = Ask(f"Where is {tree.SYMBOL} defined and who calls it", [tree.SYMBOL], enough="at least 90 surfaces")
OTHERS = (
    SAME.but(goal=f"What does {tree.SYMBOL} return"),
    SAME.but(goal="Where is the harbor configured", seeds=["harbor"]),
    SAME.but(seeds=[tree.SYMBOL, "harbor"]),
    SAME.but(profile="mixed"),
)
ASKED = (SAME, OTHERS[0], SAME, OTHERS[1], SAME, OTHERS[2], SAME, OTHERS[3])


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("harbor") / "tree"
    tree.build(root, files=200, git=True)
    return root


def at_once(rtch: Rtch, root: Path, asked: Sequence[Ask]) -> list[Ran]:
    """Start a process for each request before any has ended."""

    def run(ask: Ask) -> Ran:
        return rtch.run("hydrate", "--root", str(root), *ask.flags(), "--format", "json", timeout=300)

    with ThreadPoolExecutor(len(asked)) as pool:
        return list(pool.map(run, asked))


def made(packets: Sequence[Packet]) -> Counter[str]:
    """Count how often each stage key was computed."""
    return Counter(stage["key"] for packet in packets for stage in packet["run"]["stages"] if not stage["cached"])


def test_each_key_is_computed_once(tmp_path: Path, harbor: Path) -> None:
    rtch = Rtch(tmp_path)
    ran = at_once(rtch, harbor, ASKED)
    assert [(one.code, one.err) for one in ran] == [(0, "")] * len(ASKED)
    packets = [one.packet for one in ran]
    assert len({same_part(packet) for packet, ask in zip(packets, ASKED, strict=True) if ask is SAME}) == 1
    once = made(packets)
    assert set(once.values()) == {1}, [key for key, times in once.items() if times > 1]
    asked = {stage["key"] for packet in packets for stage in packet["run"]["stages"]}
    assert set(once) == asked, "a key was found that nobody had computed"

    # The packet is refreshed lest it be recalled as a whole: every stage before it is asked, and found.
    for ask, packet in zip(ASKED, packets, strict=True):
        again = rtch.hydrate(harbor, ask, "--refresh=packet")
        assert {stage["stage"] for stage in again["run"]["stages"] if not stage["cached"]} == {"packet"}
        assert same_part(again) == same_part(packet)
