import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

from making import limits_with, plant, settled_desk

sys.path.pop(0)

import rtch.workspace
from rtch.models.features import (
    DurableId,
    FeatureLimits,
    FileFeatures,
    Heading,
    Key,
    Marker,
    Problem,
    Reference,
    Symbol,
)
from rtch.models.inventory import UnreadFile
from rtch.models.patterns import Patterns
from rtch.models.vocab import CautionFlag, KeyKind, MarkerKind, SkipReason, SymbolKind
from rtch.reading import SkippedFile
from rtch.roles import role_of
from rtch.stages import features
from rtch.stages.desk import Desk
from rtch.stages.features import Looked, look_into
from rtch.store import MemoryStore, Store
from rtch.structure import document_features, is_document
from rtch.symbols import code_features, is_code
from rtch.workspace import Workspace

FILES: dict[str, str | bytes] = {
    "README.md": "# Top\n\nSee [guide](docs/guide.md). The source of truth for CPR-17 and cpr_lamp_order.\n",
    "docs/guide.md": "---\ntitle: Guide\n---\n# Guide\n\nDeprecated since tic 4.\n",
    "src/app.py": "import os\nfrom lib import util\n\n\nclass App:\n    def run(self):\n        pass\n",
    "lib/util.py": "def clean(x):\n    return x\n",
    "data.json": '{"a": {"b": 1}, "a": 2}\n',
}
ALL = sorted(FILES)


class Looking:
    """Looks into every file of a folder, each time as a new run with the same store.

    ``derived`` and ``read`` are the files of which the last run made features, and whose bytes it took.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store: Store = MemoryStore()
        self.desk: Desk
        self.derived: list[str] = []
        self.read: list[str] = []

    def __call__(self, files: dict[str, str | bytes] | None = None, **numbers: Any) -> Looked:
        return self.between(lambda: None, files, **numbers)

    def between(self, act: Callable[[], object], files: dict[str, str | bytes] | None = None, **numbers: Any) -> Looked:
        """Look, with something done after the listing."""
        self.desk = settled_desk(plant(self.root, files or {}), self.store)
        act()
        self.derived.clear()
        self.read.clear()
        paths = [path for path in self.desk.workspace.listing.files() if is_document(path) or is_code(path)]
        return look_into(paths, limits_with(survey=numbers).survey, self.desk)

    def names(self, kind: str) -> list[str]:
        """Return the names of the notes of a kind, ``seen`` or ``features``."""
        keys = [entry.key for entry in self.store._rows.entries()]
        return sorted(key[2:] for key in keys if key.startswith(f"b/{kind}/"))


@pytest.fixture
def look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Looking:
    looking = Looking(tmp_path / "zone")
    derive, read = features._derive, Workspace.read

    def deriving(path: str, *rest: Any) -> FileFeatures:
        looking.derived.append(path)
        return derive(path, *rest)

    def reading(self: Workspace, path: str, **named: Any) -> Any:
        looking.read.append(path)
        return read(self, path, **named)

    monkeypatch.setattr(features, "_derive", deriving)
    monkeypatch.setattr(Workspace, "read", reading)
    return looking


def by_path(looked: Looked) -> dict[str, FileFeatures]:
    return {one.path: one for one in looked.features}


# What is seen


def test_features_are_those_of_documents_data_and_code(look: Looking) -> None:
    looked = look(FILES)
    found = by_path(looked)
    assert ([one.path for one in looked.features], looked.unread) == (ALL, ())
    assert [heading.text for heading in found["README.md"].headings] == ["Top"]
    assert [one.id for one in found["README.md"].ids] == ["CPR-17", "cpr_lamp_order"]
    assert [one.target for one in found["README.md"].references] == ["docs/guide.md"]
    assert [key.name for key in found["docs/guide.md"].keys] == ["title"]
    assert [symbol.name for symbol in found["src/app.py"].symbols] == ["App", "run"]
    assert [one.target for one in found["src/app.py"].references] == ["os", "lib.util"]
    assert [one.flag for one in found["data.json"].problems] == [CautionFlag.DUPLICATE_KEY]


def test_the_zone_s_limits_and_patterns_are_used(look: Looking) -> None:
    found = by_path(look(FILES, features=FeatureLimits(max_symbols=1), patterns=Patterns()))
    assert ([one.name for one in found["src/app.py"].symbols], found["src/app.py"].truncated) == (["App"], True)
    assert found["README.md"].ids == ()


def test_code_and_documents_may_be_written_in_utf_16(look: Looking) -> None:
    found = by_path(look({"a.py": "def first(): ...\n".encode("utf-16"), "b.md": "# Top\n".encode("utf-16")}))
    assert [one.name for one in found["a.py"].symbols] == ["first"]
    assert [one.text for one in found["b.md"].headings] == ["Top"]


def test_what_cannot_be_taken_in_is_listed(look: Looking) -> None:
    files: dict[str, str | bytes] = {"big.md": "x" * 100, "blob.md": b"# T\n\0", "blob.py": b"\0\1", "a.md": "# A\n"}

    def change() -> None:
        (look.root / "gone.py").unlink()
        (look.root / "link.md").unlink()
        (look.root / "link.md").symlink_to("a.md")
        (look.root / "pipe.py").unlink()
        os.mkfifo(look.root / "pipe.py")

    looked = look.between(change, files | dict.fromkeys(("gone.py", "link.md", "pipe.py"), "#\n"), max_file_bytes=50)
    assert [one.path for one in looked.features] == ["a.md"]
    assert looked.unread == (
        UnreadFile(path="big.md", reason=SkipReason.OVERSIZED, detail="100 bytes, limit 50"),
        UnreadFile(path="blob.md", reason=SkipReason.BINARY, detail="a NUL in the first 8192 bytes"),
        UnreadFile(path="blob.py", reason=SkipReason.BINARY, detail="a NUL in the first 8192 bytes"),
        UnreadFile(path="gone.py", reason=SkipReason.VANISHED, detail="No such file or directory"),
        UnreadFile(path="link.md", reason=SkipReason.SYMLINK, detail="Too many levels of symbolic links"),
        UnreadFile(path="pipe.py", reason=SkipReason.NOT_REGULAR, detail="not a regular file"),
    )


def test_an_unreadable_file_is_listed_and_the_others_are_looked_into(
    look: Looking, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Workspace.read

    def refusing(self: Workspace, path: str, **named: Any) -> Any:
        if path == "README.md":
            raise SkippedFile(SkipReason.UNREADABLE, path, "Permission denied")
        return read(self, path, **named)

    monkeypatch.setattr(Workspace, "read", refusing)
    looked = look(FILES)
    assert looked.unread == (UnreadFile(path="README.md", reason=SkipReason.UNREADABLE, detail="Permission denied"),)
    assert [one.path for one in looked.features] == ALL[1:]
    monkeypatch.setattr(Workspace, "read", read)
    assert (by_path(look())["README.md"].headings[0].text, look.derived) == ("Top", ["README.md"])


def test_no_files_show_nothing(look: Looking) -> None:
    assert (look(), look.store.stats().blobs) == (Looked((), ()), 0)


# What is not done again


def test_an_unchanged_file_is_neither_read_nor_derived_nor_noted_again(look: Looking) -> None:
    first = look(FILES)
    assert (look.derived, look.read) == (ALL, ALL)
    rows = {entry.key: look.store._rows.get(entry.key) for entry in look.store._rows.entries()}
    assert (look(), look.derived, look.read) == (first, [], [])
    assert {entry.key: look.store._rows.get(entry.key) for entry in look.store._rows.entries()} == rows


@pytest.mark.parametrize(("path", "name"), [("README.md", "Pot"), ("src/app.py", "Ape"), ("data.json", "z")])
def test_one_edited_file_is_looked_into_alone(look: Looking, path: str, name: str) -> None:
    look(FILES)
    text = str(FILES[path]).replace("Top", "Pot").replace("App", "Ape").replace('"b"', '"z"')
    found = by_path(look({path: text}))[path]
    assert (look.derived, look.read) == ([path], [path])
    shown = (
        [one.text for one in found.headings] + [one.name for one in found.symbols] + [one.name for one in found.keys]
    )
    assert name in shown


def test_files_that_were_all_touched_are_read_once_and_not_derived(look: Looking) -> None:
    first = look(FILES)
    for path in ALL:
        os.utime(look.root / path, (1, 1))
    assert (look(), look.derived, look.read) == (first, [], ALL)
    assert (look(), look.derived, look.read) == (first, [], [])


def test_a_fresh_clone_is_read_once_and_not_derived(look: Looking, tmp_path: Path) -> None:
    first = look(FILES)
    look.root = tmp_path / "clone"
    assert (look(FILES), look.derived, look.read) == (first, [], ALL)
    assert (look(), look.derived, look.read) == (first, [], [])


def test_a_path_of_one_zone_is_not_taken_for_the_same_path_of_another(look: Looking, tmp_path: Path) -> None:
    look({"a.md": "# One\n"})
    look.root = tmp_path / "other"
    assert by_path(look({"a.md": "# Two\n"}))["a.md"].headings[0].text == "Two"
    assert (len(look.names("seen")), len(look.names("features"))) == (2, 2)


def test_a_switch_of_branches_derives_the_difference_once(look: Looking) -> None:
    first = look(FILES)
    branch: dict[str, str | bytes] = {
        "README.md": "# Branch\n",
        "lib/util.py": "def other(): ...\n",
        "new.md": "# New\n",
    }
    (look.root / "data.json").unlink()
    there = look(branch)
    assert (look.derived, look.read) == (sorted(branch), sorted(branch))
    assert [one.path for one in there.features] == ["README.md", "docs/guide.md", "lib/util.py", "new.md", "src/app.py"]
    (look.root / "new.md").unlink()
    back: dict[str, str | bytes] = {path: FILES[path] for path in ("README.md", "data.json", "lib/util.py")}
    assert (look(back), look.derived, look.read) == (first, [], sorted(back))
    (look.root / "data.json").unlink()
    assert (look(branch), look.derived, look.read) == (there, [], sorted(branch))


def test_a_moved_file_is_read_and_not_derived(look: Looking) -> None:
    look(FILES)
    shutil.move(look.root / "src", look.root / "moved")
    found = by_path(look())
    assert (look.derived, look.read) == ([], ["moved/app.py"])
    assert found["moved/app.py"] == code_features("moved/app.py", str(FILES["src/app.py"]).encode())


def test_the_same_bytes_under_another_name_are_read_in_its_own_way(look: Looking) -> None:
    data = b"# Top\nimport os\ndef f(): ...\n{a: 1}\n"
    endings = ("py", "md", "txt", "rs", "go", "ts", "js", "c", "cpp", "rb", "json", "jsonl", "yaml", "toml", "ipynb")
    names = ("README", "x/README", "Makefile", "package.json", "package-lock.json", "pnpm-lock.yaml", "uv.lock")
    paths = [path for path in (*names, *(f"a.{ending}" for ending in endings)) if is_document(path) or is_code(path)]
    alone = {path: document_features(path, data) if is_document(path) else code_features(path, data) for path in paths}
    for path in paths:
        shutil.rmtree(look.root, ignore_errors=True)
        found = by_path(look({path: data}))
        assert (found[path], found[path].role) == (alone[path], role_of(path))
    assert by_path(look(dict.fromkeys(paths, data))) == alone
    assert look.derived == []


def test_other_limits_derive_everything_again(look: Looking) -> None:
    look(FILES)
    look(None, features=FeatureLimits(max_keys=1))
    assert (look.derived, look.read) == (ALL, ALL)
    look()
    assert (look.derived, look.read) == ([], []), "what the first limits made is still there"


def test_a_changed_logic_derives_everything_again(look: Looking, monkeypatch: pytest.MonkeyPatch) -> None:
    look(FILES)
    monkeypatch.setattr(features, "logic_digest", lambda: "other")
    look()
    assert (look.derived, look.read) == (ALL, ALL)


def test_deleted_notes_only_cost_time(look: Looking) -> None:
    first = look(FILES)
    look.store._rows.delete([f"b/{name}" for name in look.names("features")])
    assert (look(), look.derived, look.read) == (first, ALL, ALL)
    look.store._rows.delete([f"b/{name}" for name in look.names("seen")])
    assert (look(), look.derived, look.read) == (first, [], ALL)
    look.store.clear()
    assert (look(), look.derived) == (first, ALL)


@pytest.mark.parametrize(
    "damage",
    [
        lambda note: b"",
        lambda note: b"torn",
        lambda note: note[: len(note) // 2],
        lambda note: note + b"x",
        lambda note: b"\xff" + note[1:],
        lambda note: b"null",
        lambda note: b"[[],[],[]]",
        lambda note: b'{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}',
        lambda note: b"[1,1,1,1,1,1,1,1]",
        lambda note: b'[[["x"]],[],[],[],[],[],[],false]',
        lambda note: b'[[],[["a","a","no kind",1]],[],[],[],[],[],false]',
        lambda note: b'[[],[],[],[],[],[],[["no flag",1,"x"]],false]',
        lambda note: b'[[],[],[["a",[],1,""]],[],[],[],[],false]',
    ],
)
@pytest.mark.parametrize("kind", ["seen", "features"])
def test_damaged_and_foreign_notes_only_cost_time(look: Looking, kind: str, damage: Callable[[bytes], bytes]) -> None:
    first = look(FILES)
    names = look.names(kind)
    notes = look.store.get_blobs(names)
    look.store.set_blobs({name: damage(note) for name, note in notes.items()})
    assert look() == first
    assert (look.derived, look.read) == (([], ALL) if kind == "seen" else (ALL, ALL))
    assert look.store.get_blobs(names) == notes, "and are made good"


def test_a_note_of_other_bytes_is_found_out(look: Looking) -> None:
    first = look(FILES)
    names = look.names("seen")
    notes = look.store.get_blobs(names)
    look.store.set_blobs(
        {name: b"0" * features.SHA256_CHARS + note[features.SHA256_CHARS :] for name, note in notes.items()}
    )
    assert (look(), look.derived, look.read) == (first, [], ALL)
    assert look.store.get_blobs(names) == notes


# What leaves no notes


def test_a_file_that_changed_after_the_listing_leaves_no_note(look: Looking) -> None:
    looked = look.between(lambda: (look.root / "README.md").write_text("# Changed meanwhile\n"), FILES)
    assert by_path(looked)["README.md"].headings[0].text == "Changed meanwhile"
    assert (look.desk.trustworthy, look.store.stats().blobs) == (False, 0)


def test_a_run_that_is_not_to_be_trusted_leaves_no_notes(look: Looking) -> None:
    def give_up() -> None:
        look.desk.distrust()

    look.between(give_up, FILES)
    assert look.store.stats().blobs == 0
    look()
    assert (look.derived, look.store.stats().blobs) == (ALL, 2 * len(ALL))


def test_what_could_not_be_taken_in_leaves_no_note_and_is_told_again(look: Looking) -> None:
    first = look({"blob.md": b"# T\n\0", "a.md": "# A\n"})
    assert (len(look.names("seen")), len(look.names("features"))) == (1, 1)
    assert (look(), look.read) == (first, ["blob.md"])


def test_a_file_whose_time_stamps_prove_nothing_is_known_by_its_bytes_alone(
    look: Looking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rtch.workspace, "is_racy", lambda *_: True)
    first = look(FILES)
    assert (look.derived, look.names("seen"), len(look.names("features"))) == (ALL, [], len(ALL))
    assert (look(), look.derived, look.read) == (first, [], [])
    found = by_path(look({"README.md": "# Pot\n"}))
    assert (look.derived, look.read, found["README.md"].headings[0].text) == (["README.md"], ["README.md"], "Pot")


def test_a_racy_file_that_changes_after_its_first_look_is_found_out(
    look: Looking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rtch.workspace, "is_racy", lambda *_: True)

    def change() -> None:
        look.desk.workspace.token("README.md")
        (look.root / "README.md").write_text("# Changed meanwhile\n")

    assert by_path(look.between(change, FILES))["README.md"].headings[0].text == "Changed meanwhile"
    assert (look.desk.trustworthy, look.store.stats().blobs) == (False, 0)


# How notes are written

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
LINE = st.integers(1, 10**7)
FEATURES = st.builds(
    FileFeatures,
    path=st.just("a.md"),
    role=st.just(role_of("a.md")),
    headings=st.lists(st.builds(Heading, st.integers(1, 6), TEXT, LINE), max_size=2).map(tuple),
    keys=st.lists(st.builds(Key, TEXT, TEXT, st.sampled_from(KeyKind), LINE), max_size=2).map(tuple),
    symbols=st.lists(st.builds(Symbol, TEXT, st.sampled_from(SymbolKind), LINE, TEXT), max_size=2).map(tuple),
    ids=st.lists(st.builds(DurableId, TEXT, LINE), max_size=2).map(tuple),
    markers=st.lists(st.builds(Marker, st.sampled_from(MarkerKind), TEXT, LINE), max_size=2).map(tuple),
    references=st.lists(st.builds(Reference, TEXT, LINE), max_size=2).map(tuple),
    problems=st.lists(st.builds(Problem, st.sampled_from(CautionFlag), LINE, TEXT), max_size=2).map(tuple),
    truncated=st.booleans(),
)


@given(FEATURES)
def test_features_come_back_from_their_note_as_they_were(one: FileFeatures) -> None:
    back = features._unpacked("a.md", features._packed(one))
    assert back == one
    assert back is not None
    assert FileFeatures.parse(back.canonical()) == one, "and are of the declared types"
