import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import desk_of, limits_with, listing_of, plant

sys.path.pop(0)

import pytest

from rtch.models.inventory import DirectoryShape, RoleCount, Scan, ShapeInventory
from rtch.models.tree import Listing
from rtch.models.vocab import EntryKind, FileRole
from rtch.stages.scout import scout
from rtch.workspace import Workspace


def scouted(root: Path, files: dict[str, str | bytes], **numbers: Any) -> ShapeInventory:
    desk = desk_of(root, files)
    return scout(desk.workspace.listing, limits_with(scout=numbers).scout, desk)


def test_folders_and_roles_are_counted(tmp_path: Path) -> None:
    found = scouted(tmp_path, {"a/b/x.py": "12", "a/y.md": "1", "z.py": "123"})
    assert found.directories == (
        DirectoryShape(path=".", files=1, files_below=3, size_bytes=6),
        DirectoryShape(path="a", files=1, files_below=2, size_bytes=3),
        DirectoryShape(path="a/b", files=1, files_below=1, size_bytes=2),
    )
    assert found.roles == (
        RoleCount(role=FileRole.CODE, files=2, size_bytes=5),
        RoleCount(role=FileRole.DOCUMENT, files=1, size_bytes=1),
    )
    assert found.scans == (
        Scan(
            name="files",
            pattern="every regular file of the listing",
            files_touched=3,
            bytes_read=0,
            hits=3,
            note="6 bytes in all",
        ),
    )


def test_of_too_many_folders_the_shallow_are_kept_and_the_rest_counted(tmp_path: Path) -> None:
    found = scouted(tmp_path, {"a/b/c/x.py": "", "d/x.py": ""}, max_directories=3)
    assert ([one.path for one in found.directories], found.directories_cut) == ([".", "a", "d"], 2)


def test_a_folder_that_holds_only_folders_is_one_too(tmp_path: Path) -> None:
    found = scouted(tmp_path, {"a/b/x.py": "12", "a-b/y.py": "1"})
    assert [(one.path, one.files, one.files_below) for one in found.directories] == [
        (".", 0, 2),
        ("a", 0, 1),
        ("a-b", 1, 1),
        ("a/b", 1, 1),
    ]


def test_an_empty_tree_has_an_inventory(tmp_path: Path) -> None:
    found = scouted(tmp_path, {})
    assert (found.directories, found.directories_cut, found.roles) == ((), 0, ())
    assert ShapeInventory.parse(found.canonical()) == found


def test_what_is_no_regular_file_counts_nowhere(tmp_path: Path) -> None:
    listing = Listing(
        paths=("a.py", "link", "sub"), kinds=(EntryKind.FILE, EntryKind.SYMLINK, EntryKind.SUBMODULE), sizes=(5, 9, 0)
    )
    found = scout(listing, limits_with().scout, desk_of(tmp_path))
    assert found.directories == (DirectoryShape(path=".", files=1, files_below=1, size_bytes=5),)
    assert found.roles == (RoleCount(role=FileRole.CODE, files=1, size_bytes=5),)


def test_the_inventory_does_not_depend_on_the_order_of_creation(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"b/x.md": "# X\n", "a.py": "", "b/a.json": "{}"}
    one, other = scouted(tmp_path / "one", files), scouted(tmp_path / "other", dict(reversed(files.items())))
    assert one == other


def test_no_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = desk_of(plant(tmp_path, {"a.py": "x = 1\n"}))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("scout knows the tree by its names alone")

    for reader in ("open", "read", "head_kind", "token", "digest"):
        monkeypatch.setattr(Workspace, reader, refuse)
    assert scout(listing_of("a.py", "absent.md", size=5), limits_with().scout, desk).roles == (
        RoleCount(role=FileRole.CODE, files=1, size_bytes=5),
        RoleCount(role=FileRole.DOCUMENT, files=1, size_bytes=5),
    )
