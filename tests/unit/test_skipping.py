import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import desk_of, intake_of, plan_of, probe_of, zone_of

sys.path.pop(0)

from rtch.models.chunk import SkippedSurface
from rtch.models.plan import ProbeResult, Unreached
from rtch.models.vocab import EntryKind, SkipReason
from rtch.models.zone import OddEntry
from rtch.stages.skipping import folded, named_but_absent, named_but_unread, odd_surfaces, unsearched


def surface(path: str, reason: SkipReason = SkipReason.BINARY, count: int = 1) -> SkippedSurface:
    return SkippedSurface(path=path, reason=reason, count=count)


def result(*errors: str) -> ProbeResult:
    return ProbeResult(probe_id="rtch_probe_1", hits=(), files_searched=0, bytes_searched=0, hit_count=0, errors=errors)


def reasons(rows: object) -> list[tuple[str, str]]:
    assert isinstance(rows, tuple | list)
    return [(row.path, str(row.reason)) for row in rows]


# Named in the intake


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("gone.py", "not_found"),
        ("/etc/passwd", "outside_zone"),
        ("../up.py", "outside_zone"),
        ("out", "outside_zone"),
        ("dangling", "broken_link"),
        ("ignored.txt", "excluded"),
        (".git/config", "excluded"),
        ("pipe", "not_regular"),
    ],
)
def test_what_was_named_and_is_not_in_the_tree_is_told(tmp_path: Path, named: str, reason: str) -> None:
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    desk = desk_of(tmp_path, {".gitignore": "ignored.txt\n", "ignored.txt": "x", ".git/config": "", "a.py": ""})
    intake = intake_of(known_target=named, known_neighbor_surfaces=(named, "a.py"))
    assert [str(one.reason) for one in named_but_absent(intake, desk.workspace)] == [reason]


def test_what_is_in_the_tree_is_not_told(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, {"src/a.py": ""})
    intake = intake_of(known_target=".", known_neighbor_surfaces=("src", "src/", "./src/a.py"))
    assert list(named_but_absent(intake, desk.workspace)) == []
    assert list(named_but_absent(intake_of(), desk.workspace)) == []


def test_what_was_named_and_no_probe_reached_is_told(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, {"src/a.py": "", "src/b.py": "", "docs/a.md": "", "c.py": ""})
    intake = intake_of(known_target="src", known_neighbor_surfaces=("docs", "c.py", "gone.py"))
    found = list(named_but_unread(intake, desk.workspace, {"docs/a.md"}))
    assert [(one.path, one.reason, one.count) for one in found] == [
        ("src", SkipReason.TARGET_CUT, 2),
        ("c.py", SkipReason.TARGET_CUT, 1),
    ]


def test_a_folder_that_is_told_itself_is_not_told_again(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, {"src/a.py": ""})
    assert list(named_but_unread(intake_of(known_target="src"), desk.workspace, {"src"})) == []


# Met in the tree


def test_every_kind_of_odd_entry_has_a_reason() -> None:
    kinds = [kind for kind in EntryKind if kind is not EntryKind.FILE]
    zone = zone_of(odd_entries=tuple(OddEntry(path=kind, kind=kind) for kind in kinds))
    assert {row.path: str(row.reason) for row in odd_surfaces(zone)} == {
        "symlink": "symlink",
        "submodule": "submodule",
        "fifo": "not_regular",
        "socket": "not_regular",
        "device": "not_regular",
        "directory": "not_regular",
        "unreadable": "unreadable",
        "absent": "vanished",
    }


def test_odd_entries_past_the_limit_are_counted() -> None:
    state = zone_of().working_state.model_copy(update={"other_entries": 5})
    zone = zone_of(odd_entries=(OddEntry(path="link", kind=EntryKind.SYMLINK),), working_state=state)
    assert [(row.path, row.count) for row in odd_surfaces(zone)] == [("link", 1), ("./** (4)", 4)]


# What probes could not reach


@pytest.mark.parametrize(
    ("error", "path", "reason"),
    [
        ("a.bin: binary a NUL in the first 8192 bytes", "a.bin", SkipReason.BINARY),
        ("odd: name.py: unreadable", "odd: name.py", SkipReason.UNREADABLE),
        ("x.py: something new happened", "x.py", SkipReason.UNREADABLE),
    ],
)
def test_what_could_not_be_searched_is_told_with_its_reason(error: str, path: str, reason: SkipReason) -> None:
    found = list(unsearched(plan_of(), [result(error)], set()))
    assert [(one.path, one.reason) for one in found] == [(path, reason)]
    assert found[0].detail.startswith("rtch_probe_1: ")


def test_targets_of_probes_that_did_not_have_to_run_are_told_once() -> None:
    first = probe_of("a.py", "d.py")
    others = [
        probe_of(*paths).model_copy(update={"probe_id": f"rtch_probe_{n}"})
        for n, paths in ((2, ("a.py", "b.py", "d.py")), (3, ("b.py", "c.py")))
    ]
    cut = Unreached(path="e.py", reason=SkipReason.TARGET_CUT, detail="cut")
    found = list(unsearched(plan_of(probes=(first, *others), unreached=(cut,)), [result()], {"d.py"}))
    assert reasons(found) == [("e.py", "target_cut"), ("b.py", "criteria_met"), ("c.py", "criteria_met")]
    assert [one.detail for one in found[1:]] == [
        f"rtch_probe_{n} would reach it, and did not have to run: the criteria held after wave {first.wave}"
        for n in (2, 3)
    ]


def test_what_no_probe_reaches_is_told_as_the_plan_says_it() -> None:
    rows = (
        Unreached(path="b.py", reason=SkipReason.OUT_OF_SCOPE, detail="far"),
        Unreached(path="src/** (9)", reason=SkipReason.TARGET_CUT, detail="cut", count=9),
    )
    found = list(unsearched(plan_of(unreached=rows), [], set()))
    assert [(one.path, one.reason, one.detail, one.count) for one in found] == [
        ("b.py", SkipReason.OUT_OF_SCOPE, "far", 1),
        ("src/** (9)", SkipReason.TARGET_CUT, "cut", 9),
    ]


@pytest.mark.parametrize(
    ("told", "rows"), [("src/** (2)", 0), ("src/deep/** (2)", 0), ("./** (2)", 0), ("doc/** (2)", 1)]
)
def test_a_named_folder_is_not_told_beside_the_row_that_counts_it(tmp_path: Path, told: str, rows: int) -> None:
    desk = desk_of(tmp_path, {"src/a.py": "", "src/deep/b.py": ""})
    assert len(list(named_but_unread(intake_of(known_target="src"), desk.workspace, {told}))) == rows


# Folding


def test_rows_are_one_a_path_and_reason_in_order() -> None:
    rows = [surface("b"), surface("a"), surface("b"), surface("b", SkipReason.OVERSIZED), surface("a")]
    assert reasons(folded(rows, 10)) == [("a", "binary"), ("b", "binary"), ("b", "oversized")]


def test_many_rows_of_a_reason_become_rows_of_folders_and_the_others_stay() -> None:
    rows = [surface(f"a/b/{i}") for i in range(3)] + [surface(f"a/c/{i}") for i in range(2)] + [surface("top")]
    rows.append(surface("x", SkipReason.SYMLINK))
    found = [(row.path, row.count) for row in folded(rows, 4)]
    assert found == [("./** (1)", 1), ("a/b/** (3)", 3), ("a/c/** (2)", 2), ("x", 1)]


def test_folders_are_folded_into_their_parents_until_they_fit() -> None:
    rows = [surface(f"a/b{i}/c/x") for i in range(4)] + [surface("d/x")]
    assert [row.path for row in folded(rows, 3)] == ["a/** (4)", "d/** (1)"]
    assert [row.path for row in folded(rows, 1)] == ["./** (5)"]


def test_a_row_that_stands_for_many_counts_as_many() -> None:
    rows = [surface("a/x"), surface("a/y"), surface("./** (40)", count=40)]
    assert [(row.path, row.count) for row in folded(rows, 2)] == [("./** (40)", 40), ("a/** (2)", 2)]


def test_nothing_skipped_nothing_told() -> None:
    assert folded([], 1) == ()
