import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import limits_with, listing_of, plant, settled_desk

sys.path.pop(0)

from rtch.models.inventory import DirectoryShape, RoleCount, ShapeInventory, UnreadFile
from rtch.models.vocab import CautionFlag, FileRole, MarkerKind, SkipReason
from rtch.search import find_matches
from rtch.stages import features
from rtch.stages.desk import Desk
from rtch.stages.scout import scout
from rtch.store import MemoryStore, Store
from rtch.structure import document_features

FILES: dict[str, str | bytes] = {
    "README.md": "# Top\n\nSee [guide](docs/guide.md). The source of truth for CPR-17 and cpr_lamp_order.\n",
    "docs/guide.md": "---\ntitle: Guide\n---\n# Guide\n\nDeprecated since tic 4.\n",
    "src/app.py": "import os\nfrom lib import util\n\n\nclass App:\n    def run(self):\n        pass\n",
    "lib/util.py": "def clean(x):\n    return x\n",
    "data.json": '{"a": {"b": 1}, "a": 2}\n',
    "notes.bin": b"\0\1",
}


class Scout:
    """Scouts a folder, each time as a new run with the same store."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store: Store = MemoryStore()
        self.desk: Desk

    def __call__(self, files: dict[str, str | bytes] | None = None, **numbers: Any) -> ShapeInventory:
        self.desk = settled_desk(plant(self.root, files or {}), self.store)
        return scout(self.desk.workspace.listing, limits_with(scout=numbers).scout, self.desk)

    def features(self, found: ShapeInventory) -> dict[str, Any]:
        return {one.path: one for shard in self.desk.shards(found.shards) for one in shard.files}


@pytest.fixture
def look(tmp_path: Path) -> Scout:
    return Scout(tmp_path / "zone")


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the files whose features are derived: documents one by one, code by searches."""
    noted: list[str] = []

    def noting(path: str, *rest: Any, **named: Any) -> Any:
        noted.append(path)
        return document_features(path, *rest, **named)

    def searching(ws: Any, paths: Iterable[str], *rest: Any, **named: Any) -> Any:
        noted.extend(paths)
        return find_matches(ws, paths, *rest, **named)

    monkeypatch.setattr(features, "document_features", noting)
    monkeypatch.setattr(features, "find_matches", searching)
    return noted


# What is seen


def test_features_are_those_of_documents_data_and_code(look: Scout) -> None:
    found = look.features(look(FILES))
    assert sorted(found) == ["README.md", "data.json", "docs/guide.md", "lib/util.py", "src/app.py"]
    assert [heading.text for heading in found["README.md"].headings] == ["Top"]
    assert [one.id for one in found["README.md"].ids] == ["CPR-17", "cpr_lamp_order"]
    assert [one.target for one in found["README.md"].references] == ["docs/guide.md"]
    assert [key.name for key in found["docs/guide.md"].keys] == ["title"]
    assert [symbol.name for symbol in found["src/app.py"].symbols] == ["App", "run"]
    assert [one.target for one in found["src/app.py"].references] == ["os", "lib.util"]


def test_scans_count_files_bytes_and_hits(look: Scout) -> None:
    found = {scan.name: scan for scan in look(FILES).scans}
    assert set(found) == {
        "files",
        "headings",
        "structured_keys",
        "durable_ids",
        "markers",
        "code_symbols",
        "references",
    }
    sizes = {path: len(text) for path, text in FILES.items()}
    assert (found["files"].files_touched, found["files"].hits, found["files"].bytes_read) == (6, 6, 0)
    assert (found["headings"].files_touched, found["headings"].hits) == (3, 2)
    assert found["headings"].bytes_read == sizes["README.md"] + sizes["docs/guide.md"] + sizes["data.json"]
    assert (found["code_symbols"].files_touched, found["code_symbols"].hits) == (2, 3)
    assert found["code_symbols"].bytes_read == sizes["src/app.py"] + sizes["lib/util.py"]
    assert not any(scan.truncated for scan in found.values())


def test_folders_and_roles_are_counted(look: Scout) -> None:
    found = look({"a/b/x.py": "12", "a/y.md": "1", "z.py": "123"})
    assert found.directories == (
        DirectoryShape(path=".", files=1, files_below=3, size_bytes=6),
        DirectoryShape(path="a", files=1, files_below=2, size_bytes=3),
        DirectoryShape(path="a/b", files=1, files_below=1, size_bytes=2),
    )
    assert found.roles == (
        RoleCount(role=FileRole.CODE, files=2, size_bytes=5),
        RoleCount(role=FileRole.DOCUMENT, files=1, size_bytes=1),
    )


def test_of_too_many_folders_the_shallow_are_kept_and_the_rest_counted(look: Scout) -> None:
    found = look({"a/b/c/x.py": "", "d/x.py": ""}, max_directories=3)
    assert ([one.path for one in found.directories], found.directories_cut) == ([".", "a", "d"], 2)


def test_problems_and_marks_are_gathered(look: Scout) -> None:
    found = look(FILES)
    assert [(one.path, one.flag) for one in found.problems] == [("data.json", CautionFlag.DUPLICATE_KEY)]
    marked = {(one.path, one.kind) for one in found.marked}
    assert ("README.md", MarkerKind.SOURCE_OF_TRUTH) in marked
    assert ("docs/guide.md", MarkerKind.DEPRECATION) in marked


def test_problems_and_marks_are_bounded(look: Scout) -> None:
    files: dict[str, str | bytes] = {f"d{i}.json": '{"a": 1, "a": 2, "canonical": 1}' for i in range(9)}
    found = look(files, max_problems=4, max_marked=3)
    assert (len(found.problems), len(found.marked)) == (4, 3)


def test_what_cannot_be_taken_in_is_listed(look: Scout) -> None:
    found = look(
        {"big.md": "x" * 100, "blob.md": b"# T\n\0", "big.bin": b"x" * 100, "a.md": "# A\n"}, max_file_bytes=50
    )
    assert found.unread == (
        UnreadFile(path="big.md", reason=SkipReason.OVERSIZED, detail="100 bytes, its structure was left out"),
        UnreadFile(path="blob.md", reason=SkipReason.BINARY, detail="a NUL in the first 8192 bytes"),
    )
    assert list(look.features(found)) == ["a.md"]


def test_a_definition_scan_that_was_cut_is_marked(look: Scout) -> None:
    found = look({"a.py": "def f(): pass\n" * 20}, max_lines_per_file=5)
    assert {scan.name: scan.truncated for scan in found.scans}["code_symbols"]
    assert not {scan.name: scan.truncated for scan in found.scans}["headings"]


def test_an_empty_tree_has_an_inventory(look: Scout) -> None:
    found = look()
    assert (found.directories, found.roles, found.unread, look.features(found)) == ((), (), (), {})
    assert ShapeInventory.parse(found.canonical()) == found


def test_the_inventory_does_not_depend_on_the_order_of_creation(tmp_path: Path) -> None:
    one, other = Scout(tmp_path / "one"), Scout(tmp_path / "other")
    assert one(FILES) == other(dict(reversed(FILES.items())))


# What is not done again


def test_an_unchanged_tree_derives_nothing(look: Scout, derived: list[str]) -> None:
    first = look(FILES)
    assert sorted(derived) == ["README.md", "data.json", "docs/guide.md", "lib/util.py", "src/app.py"]
    derived.clear()
    assert (look(), derived) == (first, [])


@pytest.mark.parametrize("path", ["README.md", "src/app.py"])
def test_one_changed_file_is_looked_at_alone(look: Scout, derived: list[str], path: str) -> None:
    look(FILES)
    derived.clear()
    text = str(FILES[path]).replace("Top", "Pot").replace("App", "Ape")
    found = look.features(look({path: text}))
    assert derived == [path]
    names = [one.text for one in found[path].headings] + [one.name for one in found[path].symbols]
    assert names[0] in {"Pot", "Ape"}


def test_a_touched_document_is_read_and_not_derived_again(look: Scout, derived: list[str]) -> None:
    first = look(FILES)
    derived.clear()
    os.utime(look.root / "README.md", (1, 1))
    assert (look(), derived) == (first, [])


@pytest.mark.parametrize(
    "change",
    [lambda root: (root / "new.md").write_text("# New\n"), lambda root: (root / "data.json").unlink()],
    ids=["added", "removed"],
)
def test_a_new_or_missing_file_leaves_the_others_alone(
    look: Scout, derived: list[str], change: Callable[[Path], object]
) -> None:
    look(FILES)
    derived.clear()
    change(look.root)
    found = look.features(look())
    assert derived == (["new.md"] if "new.md" in found else [])
    assert ("data.json" in found) is ("new.md" in found)


def test_other_limits_derive_everything_again(look: Scout, derived: list[str]) -> None:
    look(FILES)
    derived.clear()
    look(None, max_problems=99)
    assert len(derived) == 5


def test_a_changed_logic_derives_everything_again(
    look: Scout, derived: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    look(FILES)
    derived.clear()
    monkeypatch.setattr(features, "logic_digest", lambda: "other")
    look()
    assert len(derived) == 5


def test_another_number_of_shards_finds_the_same(look: Scout) -> None:
    files: dict[str, str | bytes] = {f"d/{i}.md": f"# Title {i}\n" for i in range(20)}
    one, many = look.features(look(files)), look.features(look(None, shard_files=3))
    assert one == many


@pytest.mark.parametrize(
    "damage",
    [
        lambda note: b"torn",
        lambda note: note[: len(note) // 2],
        lambda note: b'{"basis":"x","shards":[]}',
        lambda note: note.replace(b'"hashes":["', b'"hashes":["","'),
        lambda note: note[: note.index(b'"shards":[') + 10] + b"]}",
    ],
    ids=["no note", "half a note", "another basis", "columns that differ", "no shards"],
)
def test_a_damaged_note_only_costs_time(look: Scout, derived: list[str], damage: Callable[[bytes], bytes]) -> None:
    first = look(FILES)
    (name,) = [entry.key[2:] for entry in look.store._rows.entries() if entry.key.startswith("b/scout")]
    note = look.store.get_blob(name)
    assert note is not None
    look.store.set_blob(name, damage(note))
    derived.clear()
    assert look() == first
    assert len(derived) == 5


def test_a_shard_that_is_gone_is_made_again(look: Scout, derived: list[str]) -> None:
    first = look(FILES)
    derived.clear()
    look.store.forget(first.shards[0])
    assert look() == first
    assert len(derived) == 5


def test_a_damaged_shard_is_found_out_when_its_neighbour_changes(look: Scout) -> None:
    first = look(FILES)
    look.store._memo.clear()
    look.store._rows.put(f"a/{first.shards[0]}", b"damaged")
    found = look.features(look({"docs/guide.md": "# Another\n"}))
    assert [heading.text for heading in found["docs/guide.md"].headings] == ["Another"]
    assert [heading.text for heading in found["README.md"].headings] == ["Top"]


def test_what_was_searched_in_part_is_not_noted(look: Scout, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*rest: Any, **named: Any) -> Any:
        return find_matches(*rest, **named | {"timeout_s": 0})

    monkeypatch.setattr(features, "find_matches", late)
    found = look(FILES)
    assert {(one.path, one.reason) for one in found.unread} == {
        ("lib/util.py", SkipReason.TIMEOUT),
        ("src/app.py", SkipReason.TIMEOUT),
    }
    assert not look.desk.trustworthy
    monkeypatch.setattr(features, "find_matches", find_matches)
    assert [len(one.symbols) for one in (look.features(look())["src/app.py"],)] == [2]


def test_a_file_that_changed_after_the_listing_leaves_no_note(tmp_path: Path) -> None:
    desk = settled_desk(plant(tmp_path, FILES), MemoryStore())
    (tmp_path / "README.md").write_text("# Changed meanwhile\n")
    scout(desk.workspace.listing, limits_with().scout, desk)
    assert not desk.trustworthy
    assert desk._store.stats().blobs == 0


def test_only_what_a_listing_names_is_looked_at(tmp_path: Path, derived: list[str]) -> None:
    desk = settled_desk(plant(tmp_path, FILES), MemoryStore())
    scout(listing_of("README.md", size=5), limits_with().scout, desk)
    assert derived == ["README.md"]
