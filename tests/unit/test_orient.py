import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import desk_of, limits_with, listing_of, surroundings_of

sys.path.pop(0)

from rtch.models.tree import Listing, TreeNote
from rtch.models.vocab import CautionFlag, EntryKind, FileRole
from rtch.models.zone import OddEntry, Registry, Rung, RungKind, TruthFile, WorkingState, ZoneCaution, ZoneDescriptor
from rtch.stages.orient import orient


def oriented(root: Path, files: dict[str, str | bytes], numbers: dict[str, Any] | None = None) -> ZoneDescriptor:
    """Orient in a folder of these files."""
    desk = desk_of(root, files)
    return orient(desk.workspace.listing, surroundings_of(), limits_with(orient=numbers or {}).orient, desk)


def listed(listing: Listing, tmp_path: Path, **more: Any) -> ZoneDescriptor:
    """Orient by a listing alone."""
    return orient(listing, surroundings_of(**more), limits_with().orient, desk_of(tmp_path))


# Rungs


def test_rungs_are_found_lowest_first_and_deepest_first(tmp_path: Path) -> None:
    found = oriented(
        tmp_path,
        {
            ".federation-root": "All of it\n",
            ".ticzone": json.dumps({"name": "Harbour"}),
            "AGENTS.md": "",
            "a/.domain-root": "",
            "a/.site-root": "Site name",
            "a/CLAUDE.md": "",
            "a/b/.ticzone": "{}",
            "c/.site-root": "",
        },
    )
    assert [(rung.kind, rung.path, rung.name, rung.marker, rung.documents) for rung in found.rungs] == [
        (RungKind.SITE, "a/b", "", "a/b/.ticzone", ()),
        (RungKind.SITE, "c", "", "c/.site-root", ()),
        (RungKind.DOMAIN, "a", "Site name", "a/.domain-root", ("a/CLAUDE.md",)),
        (RungKind.FEDERATION, ".", "All of it", ".federation-root", ("AGENTS.md",)),
    ]
    assert found.zone_name == "All of it"


def test_rungs_above_stand_behind_those_of_the_zone(tmp_path: Path) -> None:
    above = Rung(kind=RungKind.ESTATE, name="Up", path="..", marker="../.estate-root")
    found = listed(listing_of("a/x.py"), tmp_path, rungs_above=(above,))
    assert (found.rungs, found.zone_name) == ((above,), "")


def test_a_marker_that_cannot_be_read_as_meant_is_a_caution_and_still_a_rung(tmp_path: Path) -> None:
    found = oriented(tmp_path, {".ticzone": "[", "b/.site-root": b"\0bin", "c/.ticzone": "", "d/.ticzone": "[" * 9000})
    assert [rung.path for rung in found.rungs] == ["b", "c", "d", "."]
    assert [(one.path, one.flag) for one in found.cautions] == [
        (".ticzone", CautionFlag.MALFORMED),
        ("b/.site-root", CautionFlag.MALFORMED),
        ("d/.ticzone", CautionFlag.MALFORMED),
    ]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("", "the zone marker is empty: it names neither the zone nor its audit folder"),
        (" \n", "the zone marker is empty: it names neither the zone nor its audit folder"),
        ("[1]", "the zone marker is no JSON object"),
        (
            '{"name": 3, "audit_logs_path": []}',
            "the zone marker's name and audit_logs_path is no text, and is not used",
        ),
        ('{"name": "x"}', None),
    ],
)
def test_the_roots_own_marker_is_told_of_where_it_says_less_than_it_should(
    tmp_path: Path, text: str, note: str | None
) -> None:
    found = oriented(tmp_path, {".ticzone": text, "sub/.ticzone": ""})
    assert [(one.path, one.note) for one in found.cautions] == ([] if note is None else [(".ticzone", note)])
    assert [rung.path for rung in found.rungs] == ["sub", "."]


def test_ledgers_are_a_rungs_by_where_they_lie(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        ".federation-root": "",
        "a/.domain-root": "",
        "a/kiln-ledger/ledger.md": "",
        "a/kiln-ledger/other.md": "",
        "a/deep/er/kiln-ledger/ledger.md": "",
        "audit-logs/governance/x-ledger/ledger.md": "",
        "book/ledger.md": "",
    }
    assert [(rung.path, rung.ledgers) for rung in oriented(tmp_path, files).rungs] == [
        ("a", ("a/kiln-ledger/ledger.md",)),
        (".", ("audit-logs/governance/x-ledger/ledger.md",)),
    ]


def test_another_organisation_has_other_names(tmp_path: Path) -> None:
    names = {
        "root_marker": ".hall.json",
        "markers": {".hall.json": RungKind.SITE, "GUILD": RungKind.FEDERATION},
        "rung_documents": ("CHARTER.md",),
        "ledgers": ("books/*.md",),
        "audit_folders": ("minutes",),
    }
    files: dict[str, str | bytes] = {
        "GUILD": "The guild",
        ".hall.json": '{"name": "Hall"}',
        "CHARTER.md": "",
        "CLAUDE.md": "",
        "books/one.md": "",
        "minutes/x.jsonl": "",
        "a/.ticzone": "",
    }
    found = oriented(tmp_path, files, names)
    assert found.rungs == (
        Rung(
            kind=RungKind.FEDERATION,
            name="The guild",
            path=".",
            marker="GUILD",
            documents=("CHARTER.md",),
            ledgers=("books/one.md",),
        ),
    )
    assert found.audit_logs == "minutes"


def test_a_marker_above_its_limit_is_not_read(tmp_path: Path) -> None:
    found = oriented(tmp_path, {".site-root": "x" * 20}, {"max_marker_bytes": 10})
    assert ([rung.name for rung in found.rungs], found.cautions[0].note[:16]) == ([""], "marker not read:")


# Truth files


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("README.md", "a name that speaks for its folder"),
        ("readme.MD", "a name that speaks for its folder"),
        ("sync-manifest.json", "a name that speaks for its folder"),
        ("audit-logs/ledger.md", "a ledger"),
        ("DOCTRINE.md", "a document at a rung, named in capitals"),
        ("docs/adr/0001-x.md", "a decision record"),
        ("docs/decisions/y.rst", "a decision record"),
    ],
)
def test_truth_files_are_told_by_name_and_place(tmp_path: Path, path: str, why: str) -> None:
    assert listed(listing_of(path), tmp_path).truth_files == (TruthFile(path=path, why=why),)


@pytest.mark.parametrize("path", ["sub/README.md", "sub/DOCTRINE.md", "ABC.md", "adr/x.py", "plain.md", "ledger.py"])
def test_other_files_are_none(tmp_path: Path, path: str) -> None:
    assert listed(listing_of(path), tmp_path).truth_files == ()


def test_files_speak_for_each_rung(tmp_path: Path) -> None:
    found = oriented(tmp_path, {"a/.site-root": "", "a/README.md": "", "b/README.md": "", "a/CHARTER.md": ""})
    assert [one.path for one in found.truth_files] == ["a/CHARTER.md", "a/README.md"]


def test_of_too_many_the_plainest_are_kept(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"docs/adr/{i:03}.md": "" for i in range(9)}
    files |= {"README.md": "", "x/ledger.md": ""}
    found = oriented(tmp_path, files, {"max_truth_files": 3})
    assert [one.path for one in found.truth_files] == ["README.md", "docs/adr/000.md", "x/ledger.md"]


# Registries


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("pyproject.toml", "a manifest by its name"),
        ("sub/package.json", "a manifest by its name"),
        ("actor-registry.json", "a structured file named as registry"),
        ("a/effective-state.yaml", "a structured file named as effective_state"),
        ("Catalogue.yml", "a structured file named as catalog"),
    ],
)
def test_registries_are_told_by_name(tmp_path: Path, path: str, why: str) -> None:
    assert [(one.path, one.why) for one in listed(listing_of(path), tmp_path).registries] == [(path, why)]


@pytest.mark.parametrize(
    "path",
    ["registry.py", "tests/registry.json", "node_modules/x/package.json", "data.json", "examples/a/pyproject.toml"],
)
def test_code_tests_and_vendored_files_are_no_registries(tmp_path: Path, path: str) -> None:
    assert listed(listing_of(path), tmp_path).registries == ()


def test_of_too_many_registries_the_shallow_are_kept(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a/b/setup.cfg": "", "z/setup.cfg": "", "setup.cfg": ""}
    found = oriented(tmp_path, files, {"max_registries": 2})
    assert found.registries == (
        Registry(path="setup.cfg", role=FileRole.CONFIG, why="a manifest by its name"),
        Registry(path="z/setup.cfg", role=FileRole.CONFIG, why="a manifest by its name"),
    )


# The audit folder


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        ({"audit-logs/x.jsonl": ""}, "audit-logs"),
        ({"a/audit-logs/x.jsonl": ""}, ""),
        ({".ticzone": '{"audit_logs_path": "gov/"}', "audit-logs/x.jsonl": ""}, "gov"),
        ({".ticzone": '{"audit_logs_path": " "}', "audit-logs/x.jsonl": ""}, "audit-logs"),
        ({".ticzone": '{"audit_logs_path": "..gov"}'}, "..gov"),
    ],
)
def test_the_audit_folder_is_the_declared_one_or_the_usual_one(
    tmp_path: Path, files: dict[str, str | bytes], folder: str
) -> None:
    found = oriented(tmp_path, files)
    assert (found.audit_logs, found.cautions) == (folder, ())


@pytest.mark.parametrize("declared", ["/var/log", "../gov", "a/../../gov", ".."])
def test_an_audit_folder_outside_the_zone_is_not_used(tmp_path: Path, declared: str) -> None:
    found = oriented(tmp_path, {".ticzone": json.dumps({"audit_logs_path": declared}), "audit-logs/x": ""})
    assert found.audit_logs == ""
    assert [(one.flag, one.note) for one in found.cautions] == [
        (CautionFlag.MALFORMED, f"audit_logs_path {declared} lies outside the zone and is not used")
    ]


# What is odd


def test_odd_entries_are_listed_up_to_a_limit_and_counted(tmp_path: Path) -> None:
    for name in ("one", "two", "zed"):
        (tmp_path / name).symlink_to("nowhere")
    found = oriented(tmp_path, {"a/b/c.py": "12", "a/d.py": "345"}, {"max_odd_entries": 2})
    assert found.odd_entries == (
        OddEntry(path="one", kind=EntryKind.SYMLINK),
        OddEntry(path="two", kind=EntryKind.SYMLINK),
    )
    assert found.working_state.other_entries == 3
    assert (found.working_state.files, found.working_state.directories) == (2, 2)


def test_paths_that_differ_only_in_case_are_a_caution_once(tmp_path: Path) -> None:
    found = oriented(tmp_path, {"README.md": "", "readme.md": "", "other.py": ""})
    assert [(one.flag, one.path) for one in found.cautions] == [(CautionFlag.PORTABILITY_COLLISION, "README.md")]


def test_notes_of_the_listing_are_cautions_and_a_walk_is_told(tmp_path: Path) -> None:
    note = TreeNote(flag=CautionFlag.IGNORE_RULES_UNAVAILABLE, path="", detail="git is not there")
    listing = listing_of("a.py").model_copy(update={"notes": (note,)})
    found = listed(listing, tmp_path)
    assert found.cautions == (ZoneCaution(flag=note.flag, path="", note="git is not there"),)
    assert found.working_state.listed_by == "walk"


def test_the_working_state_tells_sizes_and_how_it_is_listed(tmp_path: Path) -> None:
    found = listed(listing_of("a/b.py", "c.py", size=10), tmp_path, vcs="git")
    assert found.working_state == WorkingState(
        vcs="git", listed_by="git", files=2, directories=1, other_entries=0, size_bytes=20
    )


def test_an_empty_tree_has_a_descriptor(tmp_path: Path) -> None:
    found = listed(listing_of(), tmp_path)
    assert (found.rungs, found.truth_files, found.registries, found.odd_entries) == ((), (), (), ())
    assert found.listing_fingerprint == listing_of().fingerprint()


def test_a_descriptor_round_trips(tmp_path: Path) -> None:
    found = oriented(tmp_path, {".ticzone": "{}", "README.md": "", "pyproject.toml": ""})
    assert ZoneDescriptor.parse(found.canonical()) == found
