import random
import sys
from itertools import groupby
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import plant

sys.path.pop(0)

from rtch.counting import Counts, count_terms
from rtch.models.vocab import SkipReason
from rtch.spelling import SpellingSet
from rtch.sweep import sweep
from rtch.workspace import Workspace, open_workspace

TERMS = ("settle", "tide table", "ebb_flow")


def count(ws: Workspace, *terms: str, lines: int = 200, seconds: float = 30) -> Counts:
    return count_terms(
        ws, list(ws.listing.files()), SpellingSet(terms or TERMS), max_lines_per_file=lines, timeout_s=seconds
    )


def by_place(ws: Workspace, *terms: str, lines: int = 200) -> dict[str, dict[int, int]]:
    """Count by where each match stands."""
    spellings = SpellingSet(terms or TERMS)
    outcome = sweep(ws, list(ws.listing.files()), spellings, max_lines_per_file=lines, timeout_s=30, max_rows=1_000_000)
    found: dict[str, dict[int, int]] = {}
    for path, matches in groupby(outcome.matches, key=lambda match: match.path):
        counts: dict[int, int] = {}
        for match in matches:
            for index in spellings.terms_in(match.text):
                counts[index] = counts.get(index, 0) + 1
        if counts:
            found[path] = counts
    return found


HOSTILE: dict[str, str | bytes] = {
    "plain.py": "settle()\nsettled = ebbFlow\ntide table, tide_table\n",
    "none.py": "nothing\n",
    "binary": b"settle\n\0\nsettle\n",
    "late-nul.txt": b"settle\n" + b"x" * 70_000 + b"\n\0settle\nsettle\n",
    "utf16.txt": "settle the tide table\n".encode("utf-16"),
    "utf32.txt": "settle the ebb_flow\n".encode("utf-32"),
    "bom.txt": b"\xef\xbb\xbfsettle\n",
    "latin.txt": b"settle \xe9bb_flow settl\xe9\n",
    "crlf.txt": b"settle\r\n\r\nsettle\r\n",
    "long.txt": "a" * 300 + "settle " + "settle" * 100 + "\n",
    "one-line.json": '["settle",' * 500,
    "a\n\nb": "settle\n",
    "-": "settle\n",
    "-e": "settle\n",
    "sp ace: binary file matches": "settle\n",
    'x: binary file matches (found "\\0" byte around offset 4)\n\ny': "settle settle\n",
    "y": "settle\n",
    "empty": "",
}


def test_counts_are_those_of_the_places(tmp_path: Path) -> None:
    ws = open_workspace(plant(tmp_path, HOSTILE))
    counted, placed = count(ws), by_place(ws)
    one_line = counted.files.pop("one-line.json"), placed.pop("one-line.json")
    assert one_line[0].keys() == one_line[1].keys()  # of one line, only some matches are given a place
    assert counted.files == placed
    assert list(counted.files) == sorted(counted.files)
    assert not counted.timed_out


def test_a_binary_file_with_hits_is_told_and_not_counted(tmp_path: Path) -> None:
    counted = count(open_workspace(plant(tmp_path, HOSTILE)))
    assert {path: row.reason for path, row in counted.skipped.items()} == {"binary": SkipReason.BINARY}
    assert "binary" not in counted.files
    assert "late-nul.txt" in counted.files


@pytest.mark.parametrize("lines", [1, 2, 3, 10])
def test_a_rare_term_behind_a_common_one_is_counted(tmp_path: Path, lines: int) -> None:
    ws = open_workspace(plant(tmp_path, {"a.txt": "settle\n" * 50 + "ebb_flow\n"}))
    assert set(count(ws, lines=lines).files["a.txt"]) == {0, 2}


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_are_counted_alike(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    pieces = [
        "settle",
        "Settling",
        "tide",
        " table",
        "_",
        "-",
        "\n",
        "\r\n",
        " ",
        "ebb",
        "Flow",
        "é",
        "x" * 300,
        "\n\n",
    ]
    names = ["a", "b c", "d\ne", "ü.txt", "f: g", "h/i.py", "-j", "k.json"]
    files: dict[str, str | bytes] = {
        name: "".join(rng.choice(pieces) for _ in range(rng.randrange(200))).encode() + rng.choice([b"", b"\0", b"\n"])
        for name in names
    }
    ws = open_workspace(plant(tmp_path, files))
    assert count(ws).files == by_place(ws)


def test_time_that_is_up_is_told(tmp_path: Path) -> None:
    ws = open_workspace(plant(tmp_path, HOSTILE))
    counted = count(ws, seconds=0)
    assert (counted.timed_out, counted.files) == (True, {})


def test_what_vanished_is_told(tmp_path: Path) -> None:
    ws = open_workspace(plant(tmp_path, {"a.txt": "settle\n", "b.txt": "settle\n"}))
    (tmp_path / "b.txt").unlink()
    counted = count(ws)
    assert list(counted.files) == ["a.txt"]
    assert {path: row.reason for path, row in counted.skipped.items()} == {"b.txt": SkipReason.VANISHED}
