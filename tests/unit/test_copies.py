"""Cited text in a second place: what is a copy, what has moved out of its file, and what is neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from citing import cited, citing
from making import desk_of, limits_with, plant

from rtch.limits import DriftLimits, load_limits
from rtch.models.chunk import SkippedSurface
from rtch.models.drift import Certainty, Checked, DriftKind
from rtch.models.vocab import SkipReason
from rtch.stages.copies import copies

SETTLE = """\
def settle(route, ledger):
    total = route.total_of_all_berths()
    for berth in route.berths_in_order():
        ledger.charge_berth(berth, total)
    return ledger.close_with_total(total)
"""
OPEN = """\
def open_gate(river, level):
    river.raise_level_of_the_lock(level)
    for gate in river.gates_below_the_lock():
        gate.open_slowly_and_wait(level)
    return river.level_above_the_gate()
"""
HEAD = "import sys\n\n\n"
OLD = HEAD + SETTLE + "\n\n" + OPEN
BOTH = ((4, 8), (11, 15))
ONE = BOTH[:1]


def after(
    tmp_path: Path,
    new: Mapping[str, str | bytes],
    *,
    old: Mapping[str, str | bytes] | None = None,
    lines: Sequence[tuple[int, int]] = ONE,
    path: str = "src/a.py",
    gone: Sequence[str] = (),
    limits: DriftLimits | None = None,
    **packet: Any,
) -> Checked:
    """Cite lines of a file, change the tree, and look."""
    root = plant(tmp_path / "zone", {path: OLD, **(old or {})})
    chunks = [cited(root, path, *one, number=number) for number, one in enumerate(lines, 1)]
    before = citing(root, *chunks, **packet)
    plant(root, new)
    for one in gone:
        (root / one).unlink()
    desk = desk_of(root)
    return copies(before, before, desk.workspace.listing, limits or load_limits().drift, desk)


def test_a_copy_in_another_file_is_told_with_its_lines(tmp_path: Path) -> None:
    (found,) = after(tmp_path, {"src/b.py": "x = 1\n" + SETTLE}).findings
    assert (found.kind, found.certainty) == (DriftKind.DUPLICATED, Certainty.LIKELY)
    assert found.message == "src/a.py:L4-L8 stands in src/b.py:L2-L6 as well"
    (place,) = found.related
    assert (place.path, place.start_line, place.end_line) == ("src/b.py", 2, 6)


def test_all_chunks_of_a_file_in_one_other_are_one_finding(tmp_path: Path) -> None:
    (found,) = after(tmp_path, {"src/b.py": OLD}, lines=BOTH).findings
    assert found.message == "src/b.py has the 2 cited chunks of src/a.py as well"
    assert [place.start_line for place in found.related] == [4, 11]


def test_text_that_left_its_file_for_one_other_is_relocated(tmp_path: Path) -> None:
    (found,) = after(tmp_path, {"src/a.py": HEAD + OPEN, "src/b.py": SETTLE}, lines=BOTH).findings
    assert (found.kind, found.chunk_id[-1:] != "") == (DriftKind.RELOCATED, True)
    assert found.message == "src/a.py:L4-L8 is in src/b.py:L1-L5 now"
    assert found.now is not None
    assert (found.now.path, found.now.start_line) == ("src/b.py", 1)


def test_of_text_that_left_its_file_and_stands_in_several_nothing_is_claimed(tmp_path: Path) -> None:
    checked = after(tmp_path, {"src/a.py": OPEN, "src/b.py": SETTLE, "src/c.py": SETTLE})
    assert checked == Checked()


def test_a_file_that_is_gone_is_none_of_this(tmp_path: Path) -> None:
    assert after(tmp_path, {"src/b.py": OLD}, gone=["src/a.py"]) == Checked()


def test_text_twice_in_its_own_file(tmp_path: Path) -> None:
    (found,) = after(tmp_path, {"src/a.py": "\n" + OLD + SETTLE}).findings
    assert (found.kind, found.certainty) == (DriftKind.DUPLICATED, Certainty.POSSIBLE)
    assert [(one.path, one.start_line) for one in found.related] == [("src/a.py", 17)]


def test_text_that_was_twice_in_a_file_that_did_not_change_is_old(tmp_path: Path) -> None:
    assert after(tmp_path, {}, old={"src/a.py": OLD + SETTLE}) == Checked()


def test_what_the_baseline_knew_is_not_new(tmp_path: Path) -> None:
    old = {"src/b.py": OLD, "lib/x/c.py": OLD, "d.py": OLD}
    skipped = [
        SkippedSurface(path="lib/** (2)", reason=SkipReason.DUPLICATE_CONTENT, count=2),
        SkippedSurface(path="d.py", reason=SkipReason.DUPLICATE_CONTENT),
    ]
    new = {path: f"# changed\n{text}" for path, text in old.items()}
    assert after(tmp_path, new, old=old, twins=["src/b.py"], skipped_surfaces=tuple(skipped)) == Checked()


@pytest.mark.parametrize(
    "path", ["tests/test_a.py", "vendor/a.py", "node_modules/x/a.py", "generated/a.py", "examples/a.py"]
)
def test_copies_in_quiet_places_are_none(tmp_path: Path, path: str) -> None:
    assert after(tmp_path, {path: OLD}) == Checked()
    assert after(tmp_path / "of", {"src/b.py": OLD}, path=path) == Checked()


PLAIN = {
    "two lines": "x = settle_the_route_of_all(berths_of_the_river)\n" * 2 + "\n\n",
    "few characters": "for x in y:\n    z(x)\n    w(y)\nreturn x\n",
    "imports": "".join(f"from river.gates_and_locks_{n} import settle_all_of_them_{n}\n" for n in range(9)),
    "licence": "# Licensed under the Common River License, version two\n" + "# and you may not use this without it " * 3
    + "\n# unless all the berths of the river\n# distributed as they are, without any warranty of any kind at all\n",
    "no letters": "# ------------------------------------------------- 12345\n" * 9,
}  # fmt: skip


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_plain_text_tells_nothing(tmp_path: Path, text: str) -> None:
    lines = ((1, text.count("\n")),)
    assert after(tmp_path, {"src/b.py": text}, old={"src/a.py": text}, lines=lines) == Checked()


def test_text_that_is_not_the_same_to_the_byte_is_no_copy(tmp_path: Path) -> None:
    new = {"src/b.py": SETTLE.replace("total)", "all)"), "src/c.py": SETTLE.replace("    ", "\t")}
    assert after(tmp_path, new) == Checked()


def test_masked_text_is_told_by_its_digest(tmp_path: Path) -> None:
    secret = "    token = 'ghp_" + "a1B2c3D4e5F6" * 3 + "'\n"
    text = HEAD + SETTLE.replace("    for", secret + "    for")
    (found,) = after(tmp_path, {"src/b.py": "\n\n" + text}, old={"src/a.py": text}, lines=[(4, 9)]).findings
    assert [(one.path, one.start_line) for one in found.related] == [("src/b.py", 6)]
    assert "a1B2c3" not in found.model_dump_json()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_encodings(tmp_path: Path, encoding: str) -> None:
    data = OLD.encode(encoding)
    (found,) = after(tmp_path, {"src/b.py": data}, old={"src/a.py": data}).findings
    assert found.related[0].start_line == 4


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    new = {f"src/b{n}.py": SETTLE for n in range(5)}
    checked = after(tmp_path, new, limits=limits_with(drift={"max_copies": 2}).drift)
    assert len(checked.findings) == 2
    assert [one.why for one in checked.not_judged] == ["3 more files have a line of cited text than are compared"]
    checked = after(tmp_path, new, limits=limits_with(drift={"max_findings": 2}).drift)
    assert (len(checked.findings), checked.counts.not_judged) == (2, 1)
    moved = {**dict.fromkeys(new, "x\n"), "src/a.py": OPEN, "src/b1.py": SETTLE, "src/big.py": SETTLE + "x\n" * 1000}
    (found,) = after(tmp_path / "moved", moved, limits=limits_with(drift={"max_copy_bytes": 1000}).drift).findings
    assert (found.kind, found.certainty) == (DriftKind.RELOCATED, Certainty.POSSIBLE)
    large = {"src/big.py": SETTLE + "x\n" * 1000}
    checked = after(tmp_path / "large", large, limits=limits_with(drift={"max_copy_bytes": 1000}).drift)
    assert [one.what for one in checked.not_judged] == ["src/big.py"]


def test_ids_do_not_follow_lines_of_now(tmp_path: Path) -> None:
    (one,) = after(tmp_path / "1", {"src/b.py": SETTLE}).findings
    (two,) = after(tmp_path / "2", {"src/b.py": "\n\n" + SETTLE}).findings
    assert (one.finding_id, one.state) == (two.finding_id, two.state)
