import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import basket_of, limits_with, plant, seed, settled_desk

sys.path.pop(0)

from rtch.counting import count_terms
from rtch.models.plan import CostEstimate
from rtch.stages import cost as cost_module
from rtch.stages.cost import cost
from rtch.store import MemoryStore, Store

FILES: dict[str, str | bytes] = {
    "a.py": "settle()\nsettle(tide)\n",
    "b.py": "tide = 1\n",
    "c/d.md": "# Settle the tide\n",
    "none.txt": "nothing\n",
    "binary": b"settle\0",
    ".env": "settle=1\n",
}


class Counter:
    """Counts a folder, each time as a new run with the same store, and knows which files were looked into."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.store: Store = MemoryStore()
        self.counted: list[str] = []

        def noting(ws: Any, paths: Iterable[str], *rest: Any, **named: Any) -> Any:
            self.counted = list(paths)
            return count_terms(ws, self.counted, *rest, **named)

        monkeypatch.setattr(cost_module, "count_terms", noting)

    def __call__(self, *terms: str, store: Store | None = None) -> CostEstimate:
        desk = settled_desk(self.root, store or self.store)
        basket = basket_of(*(seed(text) for text in terms or ("settle", "tide")))
        return cost(desk.workspace.listing, basket, limits_with().cost, desk)

    def fresh(self, *terms: str) -> CostEstimate:
        return self(*terms, store=MemoryStore())


@pytest.fixture
def count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter:
    return Counter(plant(tmp_path / "zone", FILES), monkeypatch)


def test_nothing_is_counted_again_in_an_unchanged_tree(count: Counter) -> None:
    first = count()
    assert len(count.counted) == 5
    assert count() == first
    assert count.counted == []


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ({"b.py": "tide tide settle\n"}, ["b.py"]),
        ({"e.py": "settle\n"}, ["e.py"]),
        ({"binary": "settle\n"}, ["binary"]),
        ({"a.py": b"\0settle"}, ["a.py"]),
        ({".env": "settle=2\n"}, []),
    ],
)
def test_what_changed_is_counted_alone(count: Counter, changed: dict[str, str | bytes], again: list[str]) -> None:
    count()
    plant(count.root, changed)
    second = count()
    assert count.counted == again
    assert second == count.fresh()


def test_what_is_gone_is_counted_no_more(count: Counter) -> None:
    count()
    (count.root / "a.py").unlink()
    (count.root / "binary").unlink()
    second = count()
    assert count.counted == []
    assert second == count.fresh()
    assert "a.py" not in second.paths


def test_a_renamed_file_is_counted_under_its_name(count: Counter) -> None:
    count()
    (count.root / "a.py").rename(count.root / "z.py")
    second = count()
    assert count.counted == ["z.py"]
    assert second == count.fresh()


def test_a_rewrite_of_the_same_size_with_the_old_time_is_seen(count: Counter) -> None:
    count()
    path = count.root / "a.py"
    before = path.stat()
    path.write_text("settle()\nsettle(edit)\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    second = count()
    assert count.counted == ["a.py"]
    assert second == count.fresh()


def test_other_terms_are_counted_by_themselves(count: Counter) -> None:
    count()
    count("tide")
    assert len(count.counted) == 5


def test_a_large_file_keeps_its_lines(count: Counter) -> None:
    plant(count.root, {"large.txt": "settle\n" * 400_000})
    first = count()
    assert [lines for _, lines in first.lines] == [400_001]
    plant(count.root, {"aa.txt": "settle\n"})
    second = count()
    assert count.counted == ["aa.txt"]
    assert second == count.fresh()


@pytest.mark.parametrize("damage", [b"", b"x", b"0" * 64 + b"\0" * 8, b"\xff" * 80])
def test_a_damaged_note_only_costs_time(count: Counter, damage: bytes) -> None:
    first = count()
    rows = count.store._rows
    (name,) = [entry.key for entry in rows.entries() if entry.key.startswith("b/counted/")]
    count.store.set_blob(name.removeprefix("b/"), damage)
    assert count() == first
    assert len(count.counted) == 5


def test_a_lost_estimate_only_costs_time(count: Counter) -> None:
    first = count()
    rows = count.store._rows
    rows.delete([entry.key for entry in rows.entries() if entry.key.startswith("a/")])
    count.store._memo.clear()
    assert count() == first
    assert len(count.counted) == 5


def test_another_process_finds_the_marks(count: Counter) -> None:
    desk = settled_desk(count.root, count.store)
    files = list(desk.workspace.listing.files())
    script = (
        "import sys; from pathlib import Path; from rtch.workspace import open_workspace;"
        "print(list(open_workspace(Path(sys.argv[1])).marks(sys.argv[2:])))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(count.root), *files], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == str(list(desk.workspace.marks(files)))
