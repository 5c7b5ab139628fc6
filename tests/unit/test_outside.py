"""What lies outside a zone is told of where its user asks for it, and never by the zone's own word."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import desk_of, limits_with, surroundings_of

sys.path.pop(0)

from rtch.layout import VARIABLE
from rtch.models.vocab import CautionFlag
from rtch.models.zone import AuditPlace, ZoneDescriptor
from rtch.outside import audit_place, memory_documents, outside_state
from rtch.stages.orient import orient


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv(VARIABLE, raising=False)


def zone_with(root: Path, audit: str) -> Path:
    """Return a zone whose marker names an audit folder, with two folders beside it."""
    for name in ("z/logs", "beside", "other"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "z/.ticzone").write_text(json.dumps({"audit_logs_path": audit.replace("{root}", str(root))}))
    return root / "z"


@pytest.mark.parametrize(
    ("audit", "allowed", "path"),
    [
        ("{root}/z/logs", [], "logs"),
        ("{root}/z/../z/logs/", [], "logs"),
        ("{root}/beside", [], ""),
        ("{root}/beside", ["other"], ""),
        ("{root}/beside", ["beside"], "{root}/beside"),
        ("../beside", ["."], "{root}/beside"),
        ("{root}/z", ["."], ""),
        ("{root}/none", ["."], ""),
        ("{root}/beside/.git", ["."], None),
        ("logs", ["."], None),
        (" ", ["."], None),
    ],
)
def test_an_audit_path_leads_where_it_may(tmp_path: Path, audit: str, allowed: list[str], path: str | None) -> None:
    found = audit_place(zone_with(tmp_path, audit), [tmp_path / one for one in allowed])
    named = audit.replace("{root}", str(tmp_path))
    assert found == (None if path is None else AuditPlace(named=named, path=path.replace("{root}", str(tmp_path))))


def test_a_link_to_outside_is_outside(tmp_path: Path) -> None:
    root = zone_with(tmp_path, "{root}/z/way")
    (root / "way").symlink_to(tmp_path / "beside")
    assert audit_place(root, []) == AuditPlace(named=f"{tmp_path}/z/way", path="")


def test_the_layout_permits_roots_as_the_flag_does(tmp_path: Path) -> None:
    root = zone_with(tmp_path, "{root}/beside")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/layout.json").write_text(json.dumps({"audit_roots": [str(tmp_path / "beside")]}))
    assert audit_place(root, []) == AuditPlace(named=f"{tmp_path}/beside", path=f"{tmp_path}/beside")


def oriented(root: Path, place: AuditPlace | None) -> ZoneDescriptor:
    desk = desk_of(root, {})
    return orient(desk.workspace.listing, surroundings_of(audit_place=place), limits_with().orient, desk)


@pytest.mark.parametrize(
    ("path", "flag", "said"),
    [
        ("", CautionFlag.MALFORMED, "lies outside the zone and is not used"),
        ("{root}/beside", CautionFlag.OUTSIDE_ZONE, "lies outside the zone, as you permit"),
        ("logs", None, ""),
    ],
)
def test_a_descriptor_says_where_audit_logs_are_kept(
    tmp_path: Path, path: str, flag: CautionFlag | None, said: str
) -> None:
    root = zone_with(tmp_path, "{root}/beside")
    path = path.replace("{root}", str(tmp_path))
    found = oriented(root, AuditPlace(named=f"{tmp_path}/beside", path=path))
    assert found.audit_logs == path
    assert [one.flag for one in found.cautions] == ([] if flag is None else [flag])
    assert all(said in one.note for one in found.cautions)


# Memory

MEMORY = "# Memory\n\n## Session Lessons (tic 222)\n\nRead it.\n\n## Session Lessons (tic 225)\n\nCount it.\n"


def remembered(tmp_path: Path, text: str | bytes) -> Path:
    root = tmp_path / "my.zone"
    root.mkdir()
    slug = str(root).replace("/", "-").replace(".", "-").replace("_", "-")
    place = tmp_path / "user/.claude/projects" / slug / "memory/MEMORY.md"
    place.parent.mkdir(parents=True)
    place.write_bytes(text.encode() if isinstance(text, str) else text)
    return root


def test_memory_is_told_by_its_sections_with_the_command_that_reads_them(tmp_path: Path) -> None:
    root = remembered(tmp_path, MEMORY)
    [found] = memory_documents(root)
    assert (found.size_bytes, "outside" in found.why) == (len(MEMORY), True)
    assert [(one.title, one.start_line, one.end_line) for one in found.sections] == [
        ("Memory", 1, 2),
        ("Session Lessons (tic 222)", 3, 6),
        ("Session Lessons (tic 225)", 7, 10),
    ]
    folder = Path(found.path).parent
    assert found.sections[1].re_entry_command == f"rtch read --root {folder} 'MEMORY.md:L3-L6'"


@pytest.mark.parametrize("text", [b"\0\0", b"", b"plain"])
def test_memory_of_any_kind_is_named(tmp_path: Path, text: bytes) -> None:
    [found] = memory_documents(remembered(tmp_path, text))
    assert (found.size_bytes, found.sections) == (len(text), ())


def test_a_link_is_no_memory(tmp_path: Path) -> None:
    root = remembered(tmp_path, MEMORY)
    [found] = memory_documents(root)
    place = Path(found.path)
    place.rename(place.with_name("real.md"))
    place.symlink_to("real.md")
    assert memory_documents(root) == ()


def test_what_is_compared_between_runs_holds_memory_only_where_it_is_asked_for(tmp_path: Path) -> None:
    root = remembered(tmp_path, MEMORY)
    plain = outside_state(root, [], with_memory=False)
    asked = outside_state(root, [], with_memory=True)
    assert (len(plain), len(asked)) == (1, 2)
    Path(memory_documents(root)[0].path).write_text(MEMORY + "more\n")
    assert outside_state(root, [], with_memory=False) == plain
    assert outside_state(root, [], with_memory=True) != asked


def test_a_descriptor_speaks_of_memory_only_where_there_is_some(tmp_path: Path) -> None:
    root = remembered(tmp_path, MEMORY)
    desk = desk_of(root, {})
    limits = limits_with().orient
    without = orient(desk.workspace.listing, surroundings_of(), limits, desk)
    assert b"outside" not in without.canonical()
    documents = memory_documents(root)
    found = orient(desk.workspace.listing, surroundings_of(outside=documents), limits, desk)
    assert found.outside == documents
    assert [(one.path, one.flag) for one in found.cautions] == [(documents[0].path, CautionFlag.OUTSIDE_ZONE)]
    assert ZoneDescriptor.parse(found.canonical()) == found
