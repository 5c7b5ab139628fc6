import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import limits_with, listing_of, plant

sys.path.pop(0)

from rtch.models.zone import Rung, RungKind
from rtch.rungs import cautions_above, display_name, highest, marker_paths, rungs_above, trace_above
from rtch.zone_marker import declared_packets

ORIENT = limits_with().orient


@pytest.mark.parametrize(
    ("markers", "kind"),
    [
        ([".ticzone"], ".ticzone"),
        ([".site-root", ".ticzone"], ".ticzone"),
        ([".ticzone", ".domain-root", ".site-root"], ".domain-root"),
        ([".estate-root", ".federation-root", ".domain-root"], ".federation-root"),
    ],
)
def test_a_folder_is_of_its_highest_marker(markers: list[str], kind: str) -> None:
    assert highest(markers, ORIENT.markers) == kind


@pytest.mark.parametrize(
    ("marker", "content", "name"),
    [
        (".ticzone", b'{"name": "Harbour"}', "Harbour"),
        (".ticzone", b'{"name": 3}', ""),
        (".ticzone", b"[1]", ""),
        (".ticzone", b"Harbour", ""),
        (".ticzone", b"", ""),
        (".ticzone", b"[" * 9000, ""),
        (".site-root", b"", ""),
        (".site-root", b"\n Harbour \nmore", "Harbour"),
        (".estate-root", b"\xff\xfe", "\ufffd\ufffd"),
        (".domain-root", b"x" * 1000, "x" * 200),
    ],
)
def test_a_marker_may_give_a_name(marker: str, content: bytes, name: str) -> None:
    assert display_name(content, is_json=marker == ".ticzone") == name


def test_markers_are_told_by_their_names_alone() -> None:
    listing = listing_of(".ticzone", "a/.domain-root", "a/domain-root", "b/.ticzone.json")
    assert marker_paths(listing, ORIENT.markers) == (".ticzone", "a/.domain-root")


def test_rungs_above_are_found_nearest_first_with_their_documents(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            ".federation-root": "All",
            "AGENTS.md": "# all",
            "estate/.estate-root": "",
            "estate/.ticzone": '{"name": "The estate"}',
            "estate/CLAUDE.md": "# estate",
            "estate/plain/zone/.ticzone": "{}",
        },
    )
    found = rungs_above(tmp_path / "estate/plain/zone", ORIENT.model_copy(update={"max_parents": 3}))
    assert found == (
        Rung(
            kind=RungKind.ESTATE,
            name="The estate",
            path="../..",
            marker="../../.estate-root",
            documents=("../../CLAUDE.md",),
        ),
        Rung(
            kind=RungKind.FEDERATION,
            name="All",
            path="../../..",
            marker="../../../.federation-root",
            documents=("../../../AGENTS.md",),
        ),
    )


def test_only_so_many_parents_are_asked(tmp_path: Path) -> None:
    plant(tmp_path, {".site-root": "Top", "a/b/c/x": ""})
    limits = ORIENT.model_copy(update={"max_parents": 2})
    assert [len(rungs_above(tmp_path / folder, limits)) for folder in ("a/b", "a/b/c")] == [1, 0]


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_a_marker_that_is_no_regular_file_is_none(tmp_path: Path, kind: str) -> None:
    marker = tmp_path / ".site-root"
    plant(tmp_path, {"zone/x": "", "elsewhere": "Elsewhere"})
    if kind == "link":
        marker.symlink_to("elsewhere")
    elif kind == "fifo":
        os.mkfifo(marker)
    else:
        marker.mkdir()
    assert rungs_above(tmp_path / "zone", ORIENT.model_copy(update={"max_parents": 1})) == ()


def test_what_is_wrong_above_the_root_is_told_nearest_first(tmp_path: Path) -> None:
    zone = plant(tmp_path / "estate/zone", {"x": ""})
    os.mkfifo(tmp_path / "estate" / ".site-root")
    plant(tmp_path, {".ticzone": "{no object", "estate/.ticzone": ""})
    limits = ORIENT.model_copy(update={"max_parents": 2})
    assert [(one.path, one.note) for one in cautions_above(zone, limits)] == [
        ("../.site-root", "marker not read: it is a FIFO, and no file"),
        ("../../.ticzone", "the zone marker is no JSON object"),
    ]
    assert cautions_above(zone, ORIENT.model_copy(update={"max_parents": 1})) == cautions_above(zone, limits)[:1]


def test_a_marker_is_read_to_its_limit(tmp_path: Path) -> None:
    plant(tmp_path, {".site-root": "x" * 100, "zone/x": ""})
    limits = ORIENT.model_copy(update={"max_parents": 1, "max_marker_bytes": 10})
    assert rungs_above(tmp_path / "zone", limits)[0].name == "x" * 10


# What is compared between runs


def test_the_trace_above_changes_with_markers_and_the_files_beside_them(tmp_path: Path) -> None:
    zone = plant(tmp_path / "zone", {"x": ""})
    traces = [trace_above(zone)]
    for files in ({".site-root": "One"}, {".site-root": "Two"}, {"AGENTS.md": ""}, {".estate-root": ""}):
        plant(tmp_path, files)
        traces.append(trace_above(zone))
    os.mkfifo(tmp_path / ".federation-root")
    traces.append(trace_above(zone))
    assert trace_above(zone) == traces[-1]
    assert len({tuple(trace) for trace in traces}) == 6


def test_files_beside_no_marker_are_not_traced(tmp_path: Path) -> None:
    zone = plant(tmp_path / "zone", {"x": ""})
    before = trace_above(zone)
    plant(tmp_path, {"AGENTS.md": ""})
    assert trace_above(zone) == before


PACKETS = pytest.mark.parametrize(
    ("marker", "folder"),
    [
        ('{"audit_logs_path": "gov/"}', "gov/rtch/packets"),
        ('{"audit_logs_path": "a/../b"}', "b/rtch/packets"),
        ('{"audit_logs_path": "../out"}', None),
        ('{"audit_logs_path": "/var"}', None),
        ('{"audit_logs_path": 3}', None),
        ('{"audit_logs_path": " "}', None),
        ("[1]", None),
        ("no JSON", None),
        ("[" * 9000, None),
        ("", None),
    ],
)


def test_packets_go_where_an_absolute_path_leads_inside_the_zone(tmp_path: Path) -> None:
    plant(tmp_path, {".ticzone": f'{{"audit_logs_path": "{tmp_path}/gov/"}}', "gov/x": ""})
    assert declared_packets(tmp_path) == (tmp_path / "gov/rtch/packets",)


@PACKETS
def test_packets_go_where_a_zone_declares_them_inside_itself(tmp_path: Path, marker: str, folder: str | None) -> None:
    plant(tmp_path, {".ticzone": marker})
    assert declared_packets(tmp_path) == (() if folder is None else (tmp_path / folder,))
