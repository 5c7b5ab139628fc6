"""Nothing is left out in silence: what holds a term, or was not looked into, is selected or skipped with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import Ask, Rtch, paths_of, plant, skipped

HARPOON = Ask("Where is harpoon defined", ["harpoon"])


@pytest.fixture(scope="module")
def rtch(tmp_path_factory: pytest.TempPathFactory) -> Rtch:
    return Rtch(tmp_path_factory.mktemp("home"))


def test_what_no_search_looks_into_is_told_though_nobody_named_it(rtch: Rtch, tmp_path: Path) -> None:
    plant(tmp_path, {
        "a.py": "harpoon = 1\n", ".env": "HARPOON=1\n", "id_rsa": "harpoon\n", "lib.bin": b"\0\1harpoon\n",
        "wide.txt": "harpoon\n".encode("utf-16-le"), "wider.txt": "harpoon\n".encode("utf-32-le"),
        "big.log": b"nothing\n" * 2_200_000 + b"harpoon\n",
    })  # fmt: skip
    packet = rtch.hydrate(tmp_path, HARPOON)
    assert paths_of(packet) == ["a.py"]
    assert skipped(packet) == {
        ".env": "secret", "id_rsa": "secret", "lib.bin": "binary", "wide.txt": "binary", "wider.txt": "binary",
        "big.log": "oversized",
    }  # fmt: skip


def test_a_large_file_of_few_lines_is_searched(rtch: Rtch, tmp_path: Path) -> None:
    """By its size it would have more lines than a probe may search."""
    plant(tmp_path, {"one-line.json": "[" + '"quay",' * 400_000 + '"harpoon"]\n'})
    packet = rtch.hydrate(tmp_path, HARPOON)
    assert paths_of(packet) == ["one-line.json"]
    assert "harpoon" in packet["hydrated_chunks"][0]["text"]


def test_what_no_probe_reaches_adds_up(rtch: Rtch, tmp_path: Path) -> None:
    plant(tmp_path, {f"d{n % 5}/{n}.txt": f"harpoon {n}\n" for n in range(450)})
    for fanout in ("conservative", "normal"):
        packet = rtch.hydrate(tmp_path, HARPOON.but(fanout=fanout))
        assert sum(row["count"] for row in packet["skipped_surfaces"]) + len(paths_of(packet)) == 450


def test_what_a_probe_would_find_that_did_not_have_to_run_is_told(rtch: Rtch, tmp_path: Path) -> None:
    far = {f"far{number}.txt": "the quay is loose\n" + "x" * number for number in range(10, 50)}
    plant(tmp_path, {"a.py": "harpoon = 1\n", **far})
    ask = Ask("Where is the loose harpoon", ["harpoon"], enough="at least 1 surface")
    packet = rtch.hydrate(tmp_path, ask)
    assert paths_of(packet)[0] == "a.py"
    assert skipped(packet) == dict.fromkeys(set(far) - set(paths_of(packet)), "criteria_met")
