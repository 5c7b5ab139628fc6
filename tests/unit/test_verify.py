"""Every verdict, with a change of the tree that makes it; and none that is a guess."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import samples as sample
from citing import cited, citing, span_of, told
from driving import corpus
from making import plant

from rtch import captured, packets, renames, verification, verify
from rtch.errors import ArtifactError, ZoneError
from rtch.models.chunk import Chunk
from rtch.models.verification import JudgedChunk, Verification
from rtch.models.vocab import ChunkVerdict
from rtch.reading import OpenFile
from rtch.workspace import Workspace, open_workspace

tree = corpus("tree")

CODE = """\
import sys


def open_gate(river, level):
    return river.raise_to(level)


def settle(route, ledger):
    total = route.total()
    for berth in route.berths:
        ledger.charge(berth, total)
    return ledger.close(total)


def close_gate(river):
    river.lower()
"""
START, END = 8, 12
SETTLE = "".join(CODE.splitlines(keepends=True)[START - 1 : END])
UNCHANGED = ("unchanged", f"a.py:L{START}-L{END}")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return plant(tmp_path / "zone", {"a.py": CODE})


def in_git(root: Path) -> str:
    """Commit everything and return the commit."""
    if not (root / ".git").exists():
        tree.run_git(root, "init", "-q")
    tree.run_git(root, "add", "-A")
    tree.run_git(root, "commit", "-q", "-m", "a state")
    return (root / ".git/refs/heads").joinpath(*_branch(root)).read_text().strip()


def _branch(root: Path) -> list[str]:
    return (root / ".git/HEAD").read_text().strip().removeprefix("ref: refs/heads/").split("/")


def judged(root: Path, chunk: Chunk, now: str | bytes | None = None, **changes: Any) -> JudgedChunk:
    """Write the file anew, and return what became of a chunk of it."""
    packet = citing(root, chunk, **changes)
    if now is not None:
        plant(root, {chunk.path: now})
    (one,) = verify(packet).chunks
    return one


def settle(root: Path, **changes: Any) -> Chunk:
    return cited(root, "a.py", START, END).model_copy(update=changes)


# --- by hash -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "now",
    [
        CODE,
        CODE + "more = 1\n",
        CODE.replace("sys", "os, sys"),
        CODE.replace("import sys\n\n\n", "import sys\n# one\n# two\n"),
        CODE + SETTLE,
    ],
)
def test_unchanged(root: Path, now: str) -> None:
    assert told(judged(root, settle(root), now)) == UNCHANGED


@pytest.mark.parametrize(
    ("now", "start", "detail"),
    [
        ("\n" + CODE, START + 1, "1 line down"),
        (CODE.replace("import sys\n\n\n", ""), START - 3, "3 lines up"),
        (SETTLE, 1, "7 lines up"),
        (CODE.replace(SETTLE, "") + SETTLE, 12, "4 lines down"),
    ],
)
def test_moved(root: Path, now: str, start: int, detail: str) -> None:
    one = judged(root, settle(root), now)
    assert (*told(one), one.detail) == ("moved", f"a.py:L{start}-L{start + 4}", detail)
    assert one.now is not None
    assert span_of(root, one.now).decode() == SETTLE


def test_ambiguous_is_the_same_text_twice_and_not_where_it_was(root: Path) -> None:
    one = judged(root, settle(root), f"\n{CODE}{SETTLE}")
    assert told(one) == ("ambiguous", None)
    assert one.detail == "the same text is at L9-L13, L18-L22"


@pytest.mark.parametrize("number", range(3))
def test_equal_candidates_are_no_trouble_where_the_old_lines_still_match(root: Path, number: int) -> None:
    plant(root, {"a.py": SETTLE * 3})
    chunk = cited(root, "a.py", 5 * number + 1, 5 * number + 5)
    assert told(judged(root, chunk, SETTLE * 3)) == ("unchanged", f"a.py:L{5 * number + 1}-L{5 * number + 5}")


# --- by line map, name and quote -----------------------------------------------------------------------------------

EDITS: dict[str, tuple[str | bytes, tuple[int, int]]] = {
    "a word": (CODE.replace("total", "sum"), (START, END)),
    "a line more": (CODE.replace("    for", "    log(total)\n    for"), (START, END + 1)),
    "a line less": (CODE.replace("    total = route.total()\n", ""), (START, END - 1)),
    "further down": ("# new\n\n" + CODE.replace("total", "sum"), (START + 2, END + 2)),
    "CRLF": (CODE.replace("\n", "\r\n"), (START, END)),
    "UTF-16": (("\ufeff" + CODE).encode("utf-16-le"), (START, END)),
    "tabs": (CODE.replace("    ", "\t"), (START, END)),
    "no newline at the end": (SETTLE.removesuffix("\n"), (1, 5)),
}


@pytest.mark.parametrize("known", [True, False], ids=["in git", "outside git"])
@pytest.mark.parametrize("name", EDITS)
def test_edited(root: Path, name: str, known: bool) -> None:  # noqa: FBT001
    if known:
        in_git(root)
    now, (start, end) = EDITS[name]
    one = judged(root, settle(root), now)
    assert told(one) == ("edited", f"a.py:L{start}-L{end}"), one.detail
    assert one.detail.startswith("by ")


def test_the_captured_file_tells_edges_that_a_quote_does_not(root: Path) -> None:
    in_git(root)
    now = CODE.replace("def settle(route, ledger):", "@traced\nasync def other_name_for_it(*, everything):").replace(
        "    return ledger.close(total)", "    raise NotYet"
    )
    one = judged(root, settle(root), now)
    assert told(one) == ("edited", f"a.py:L{START}-L{END + 1}")
    assert one.detail.startswith("by the line map, ")


def test_edges_that_a_change_reaches_over_are_not_made_up(root: Path) -> None:
    in_git(root)
    lines = CODE.splitlines(keepends=True)
    now = "".join([*lines[: START - 3], *(f"something_else({n})\n" for n in range(6)), *lines[START:]])
    assert told(judged(root, cited(root, "a.py", START, END), now))[0] == "edited"
    wide = "".join([*lines[:3], *(f"something_else({n})\n" for n in range(30)), *lines[START + 1 :]])
    one = judged(root, cited(plant(root, {"a.py": CODE}), "a.py", START, END), wide)
    assert told(one) == ("edited", None)


def test_by_the_name_of_its_definition(root: Path) -> None:
    """Half of it was written anew: too little for a quote anywhere, enough within the one function of the name."""
    other = CODE.replace("total = route.total()", "amount = sum(b.cost for b in route)").replace(
        "ledger.charge(berth, total)", "ledger[berth].add(amount, when=NOW)"
    )
    one = judged(root, settle(root), f"{'# a' * 20}\n" * 40 + other)
    assert told(one) == ("edited", "a.py:L48-L52")
    assert "its quote" in one.detail


def test_by_its_heading(root: Path) -> None:
    text = "# Harbour\n\nAll of it.\n\n## Tides\n\nHigh water is at noon, low water at six.\n\n## Berths\n\nNone.\n"
    plant(root, {"b.md": text})
    chunk = cited(root, "b.md", 5, 7)
    assert chunk.heading_path == ("Harbour", "Tides")
    now = "# Harbour\n\nMuch.\n\nMore.\n\n## Tides\n\nHigh water is at one, low water at seven, mostly.\n\n## Berths\n"
    one = judged(root, chunk, now)
    assert told(one) == ("edited", "b.md:L7-L9")
    assert "in Harbour > Tides" in one.detail


def test_nearly_equal_candidates_are_ambiguous(root: Path) -> None:
    edited = SETTLE.replace("total", "sum")
    one = judged(root, settle(root), f"x = 1\n\n{edited}\n\ny = 2\n\n{edited}\n\nz = 3\n")
    assert told(one) == ("ambiguous", None)
    assert one.detail == "nearly as like it are L3-L7, L12-L16"


@pytest.mark.parametrize("known", [True, False], ids=["in git", "outside git"])
@pytest.mark.parametrize(
    ("now", "detail"),
    [
        (CODE.replace(SETTLE, ""), "neither its lines nor any like them are in the file"),
        ("nothing = 'of the kind'\n" * 20, "neither its lines nor any like them are in the file"),
        ("", "the file is empty"),
        ("\n", "neither its lines nor any like them are in the file"),
    ],
)
def test_deleted(root: Path, now: str, detail: str, known: bool) -> None:  # noqa: FBT001
    if known:
        in_git(root)
    one = judged(root, settle(root), now)
    assert (*told(one), one.detail) == ("deleted", None, detail)


def test_a_blob_that_is_not_the_captured_file_is_not_believed(root: Path) -> None:
    in_git(root)
    other = cited(plant(root, {"b.py": "x = 1\n"}), "b.py", 1, 1)
    one = judged(root, settle(root, blob_id=other.blob_id), CODE.replace("total", "sum"))
    assert told(one) == ("edited", f"a.py:L{START}-L{END}")
    assert one.detail.startswith("by its quote")


@pytest.mark.parametrize("blob_id", ["HEAD:a.py", "a\nb", "--batch", "", "f" * 40, "f" * 64])
def test_an_id_that_is_none_asks_for_nothing(root: Path, blob_id: str) -> None:
    in_git(root)
    assert judged(root, settle(root, blob_id=blob_id), CODE.replace("total", "sum")).verdict == "edited"


# --- masked and clipped --------------------------------------------------------------------------------------------

SECRET = 'token = "ghp_' + "a1B2c3D4e5F6" * 3 + '"\n'
LONG = "data = '" + "0123456789 " * 500 + "'\n"


@pytest.mark.parametrize("line", [SECRET, LONG], ids=["masked", "clipped"])
def test_what_is_not_shown_is_judged_by_the_bytes_of_the_file(root: Path, line: str) -> None:
    text = f"first = 1\n{line}last = 2\n"
    plant(root, {"b.py": text})
    chunk = cited(root, "b.py", 1, 3)
    assert chunk.masked or chunk.clipped
    assert told(judged(root, chunk, text)) == ("unchanged", "b.py:L1-L3")
    assert told(judged(root, chunk, "# new\n" + text)) == ("moved", "b.py:L2-L4")
    assert told(judged(root, chunk, text * 2 + "\n")) == ("unchanged", "b.py:L1-L3")
    assert told(judged(root, chunk, "\n" + text * 2)) == ("ambiguous", None)


def test_an_edit_of_a_secret_is_seen_and_shown_nowhere(root: Path) -> None:
    plant(root, {"b.py": f"first = 1\n{SECRET}last = 2\n"})
    chunk = cited(root, "b.py", 1, 3)
    one = judged(root, chunk, f"first = 1\n{SECRET.replace('a1B2', 'z9Y8')}last = 2\n")
    assert told(one) == ("edited", "b.py:L1-L3")
    assert "ghp_" not in one.model_dump_json()


def test_an_edit_of_what_was_clipped_is_judged_where_the_captured_file_is_known(root: Path) -> None:
    plant(root, {"b.py": f"first = 1\n{LONG}last = 2\n"})
    chunk, now = cited(root, "b.py", 1, 3), f"first = 1\n{LONG.replace('data', 'more')}last = 2\n"
    one = judged(root, chunk, now)
    assert told(one) == ("not_judged", None)
    assert one.detail == "its lines were clipped, and the file as it was is not in the object store"
    plant(root, {"b.py": f"first = 1\n{LONG}last = 2\n"})
    in_git(root)
    assert told(judged(root, chunk, now)) == ("edited", "b.py:L1-L3")


# --- by rename -----------------------------------------------------------------------------------------------------


def gone(root: Path, *, to: str = "", text: str | None = None, **changes: Any) -> JudgedChunk:
    """Move the file, with another text if one is given, and return what became of a chunk of it."""
    packet = citing(root, settle(root), **changes)
    if to:
        (root / to).parent.mkdir(exist_ok=True, parents=True)
        (root / "a.py").rename(root / to)
        if text is not None:
            plant(root, {to: text})
    else:
        (root / "a.py").unlink()
    (one,) = verify(packet).chunks
    return one


@pytest.mark.parametrize("known", [True, False], ids=["in git", "outside git"])
@pytest.mark.parametrize("to", ["b.py", "deep/er/a.py", "with space 'and\" quotes.py", "-x.py", "new\nline.py"])
def test_renamed_is_the_same_file_elsewhere(root: Path, to: str, known: bool) -> None:  # noqa: FBT001
    plant(root, {"other.py": "x = 1\n", "c.md": "# C\n"})
    if known:
        in_git(root)
    one = gone(root, to=to)
    assert told(one) == ("renamed", f"{to}:L{START}-L{END}")
    assert one.now is not None
    assert span_of(root, one.now).decode() == SETTLE


def test_renamed_and_committed(root: Path) -> None:
    plant(root, {f"other{n}.py": f"x = {n}\n" for n in range(5)})
    commit = in_git(root)
    packet = citing(root, settle(root), commit=commit)
    tree.run_git(root, "mv", "a.py", "b.py")
    plant(root, {"b.py": f"# moved\n{CODE}"})
    in_git(root)
    assert told(verify(packet).chunks[0]) == ("renamed", f"b.py:L{START + 1}-L{END + 1}")


def test_renamed_and_edited_elsewhere_in_the_file(root: Path) -> None:
    assert told(gone(root, to="deep/b.py", text=f"# new\n{CODE}")) == ("renamed", f"deep/b.py:L{START + 1}-L{END + 1}")


def test_a_file_that_was_there_and_holds_the_text_is_no_rename(root: Path) -> None:
    plant(root, {"old.py": f"# old\n{SETTLE}"})
    one = gone(root, commit=in_git(root))
    assert told(one) == ("deleted", None)
    assert one.detail.startswith("the file is gone; ")


def test_a_twin_is_no_rename(root: Path) -> None:
    plant(root, {"twin.py": CODE})
    assert told(gone(root, twins=["twin.py"])) == ("deleted", None)


def test_several_that_it_may_have_become_are_ambiguous(root: Path) -> None:
    shutil.copy(root / "a.py", root / "c.py")
    one = gone(root, to="b.py")
    assert told(one) == ("ambiguous", None)
    assert one.detail == f"the file is gone, and the same text is at b.py:L{START}-L{END}, c.py:L{START}-L{END}"


def test_a_renamed_file_that_holds_the_text_twice_is_ambiguous(root: Path) -> None:
    assert told(gone(root, to="b.py", text=f"\n{SETTLE}{SETTLE}")) == ("ambiguous", None)


def test_secrets_ignored_files_and_own_outputs_are_not_looked_into(root: Path, tmp_path: Path) -> None:
    tree.run_git(root, "init", "-q")
    plant(root, {".gitignore": "ignored/\n", "ignored/a.py": CODE, ".env": CODE})
    plant(root, {"audit-logs/rtch/packets/a.py": CODE})
    assert told(gone(root)) == ("deleted", None)


def test_the_search_is_bounded_and_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renames, "MAX_FILES", 3)
    plant(root, {f"d{n}/a.py": f"{CODE}# {n}\n".replace("total", "sum") for n in range(8)})
    one = gone(root)
    assert (*told(one), one.detail) == ("deleted", None, "the file is gone; 3 others were looked into, 5 more were not")


def test_each_candidate_is_read_once_and_the_tree_listed_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(root, {"b.py": f"{CODE}b = 1\n", "c.py": f"{CODE}c = 1\n"})
    chunks = [cited(root, path, START, END, number=n) for n, path in enumerate(("a.py", "b.py", "c.py"), 1)]
    packet = citing(root, *chunks)
    (root / "src").mkdir()
    for name in ("a.py", "b.py", "c.py"):
        (root / name).rename(root / "src" / name)
    opened: list[str] = []
    listed: list[Path] = []
    pread = OpenFile.pread

    def seen(self: OpenFile, start: int, length: int) -> bytes:
        opened.append(self.path)
        return pread(self, start, length)

    monkeypatch.setattr(OpenFile, "pread", seen)

    def listing(root: Path, **more: Any) -> Workspace:
        listed.append(root)
        return open_workspace(root, **more)

    monkeypatch.setattr(renames, "open_workspace", listing)
    verdicts = [told(one) for one in verify(packet).chunks]
    assert verdicts == [("renamed", f"src/{name}:L{START}-L{END}") for name in ("a.py", "b.py", "c.py")]
    assert sorted(opened) == ["src/a.py", "src/b.py", "src/c.py"]
    assert len(listed) == 1


def test_the_tree_is_not_listed_where_no_file_is_gone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renames, "open_workspace", None)
    monkeypatch.setattr(captured, "find_repository", None)
    assert told(judged(root, settle(root), f"\n{CODE}"))[0] == "moved"


# --- what cannot be read -------------------------------------------------------------------------------------------


def become_link(path: Path) -> None:
    (path.parent / "target").write_text(CODE)
    path.symlink_to("target")


SWAPS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link": (become_link, "symlink: Too many levels of symbolic links"),
    "a fifo": (os.mkfifo, "not_regular: not a regular file"),
    "a folder": (Path.mkdir, "not_regular: not a regular file"),
    "binary": (lambda path: path.write_bytes(b"\0" + CODE.encode()), "binary: it holds NUL bytes"),
}


@pytest.mark.parametrize("name", SWAPS)
def test_unreadable(root: Path, name: str) -> None:
    swap, detail = SWAPS[name]
    chunk = settle(root)
    (root / "a.py").unlink()
    swap(root / "a.py")
    one = judged(root, chunk)
    assert (*told(one), one.detail) == ("unreadable", None, detail)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_without_permission(root: Path) -> None:
    chunk = settle(root)
    (root / "a.py").chmod(0)
    assert told(judged(root, chunk)) == ("unreadable", None)


def test_unreadable_where_a_folder_became_a_link(root: Path) -> None:
    plant(root, {"src/a.py": CODE})
    chunk = cited(root, "src/a.py", START, END)
    (root / "src").rename(root / "else")
    (root / "src").symlink_to("else")
    one = judged(root, chunk)
    assert (*told(one), one.detail) == ("unreadable", None, "symlink: src is a link")


def test_unreadable_where_it_has_grown_past_what_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunk = settle(root)
    monkeypatch.setattr(verification, "MAX_FILE_BYTES", 100)
    one = judged(root, chunk)
    assert (*told(one), one.detail) == ("unreadable", None, f"oversized: {len(CODE)} bytes, limit 100")


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "a/../../outside", ".git/config", "a//b", "./a.py", ""])
def test_unreadable_outside_the_zone(root: Path, path: str) -> None:
    plant(root, {".git/config": SETTLE, "../outside": SETTLE})
    one = judged(root, settle(root, path=path))
    assert (*told(one), one.detail) == ("unreadable", None, "outside_zone: it leads out of the tree")


# --- what cannot be judged -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"start_line": 9, "end_line": 8}, "its range holds no lines"),
        ({"byte_end": 3}, "its range holds no lines"),
        ({"path": "a\0b"}, "no path is written like that"),
        ({"path": "a%00b", "path_encoded": True}, "no path is written like that"),
        ({"path": "\ud800"}, "no path is written like that"),
        ({"start_line": 1, "end_line": 5}, "its lines are not those of its own file"),
        ({"text_sha256": "0" * 64}, "its lines are not those of its own file"),
        ({"end_line": 900, "byte_end": 9000}, "its lines are not those of its own file"),
    ],
)
def test_a_damaged_record_is_not_judged(root: Path, changes: dict[str, Any], detail: str) -> None:
    chunk = settle(root)
    packet = citing(root, chunk)
    damaged = packet.model_copy(update={"hydrated_chunks": (chunk.model_copy(update=changes),)})
    (one,) = verify(damaged).chunks
    assert (*told(one), one.detail) == ("not_judged", None, f"the record is damaged: {detail}")


def test_a_range_past_the_captured_file_is_not_judged(root: Path) -> None:
    in_git(root)
    one = judged(root, settle(root, end_line=90, byte_end=2000), CODE.replace("total", "sum"))
    assert (*told(one), one.detail) == ("not_judged", None, "the record is damaged: its file never had so many lines")


def test_one_damaged_record_leaves_the_others(root: Path) -> None:
    chunks = [settle(root, end_line=1), settle(root, chunk_id="rtch_chunk_2"), settle(root, path="\ud800")]
    packet = citing(root, settle(root)).model_copy(update={"hydrated_chunks": tuple(chunks)})
    assert [one.verdict.value for one in verify(packet).chunks] == ["not_judged", "unchanged", "not_judged"]


def test_a_file_that_is_written_meanwhile_is_not_judged(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pread = OpenFile.pread

    def written(self: OpenFile, start: int, length: int) -> bytes:
        data = pread(self, start, length)
        plant(root, {"a.py": "other\n"})
        return data

    monkeypatch.setattr(OpenFile, "pread", written)
    one = judged(root, settle(root))
    assert (*told(one), one.detail) == ("not_judged", None, "changed_during_run: written while it was read")


def test_without_git_what_is_not_found_is_not_judged(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_git(root)
    monkeypatch.setenv("PATH", str(root / "no-such-folder"))
    assert told(judged(root, settle(root), CODE.replace("total", "sum")))[0] == "edited"
    plant(root, {"a.py": CODE})
    one = judged(root, settle(root), "x = 1\n")
    assert told(one) == ("not_judged", None)
    assert one.detail == "no line is like it, and git was not found on PATH; install git"


def test_a_damaged_object_store_is_no_reason_to_guess(root: Path) -> None:
    in_git(root)
    chunk = settle(root)
    place = root / ".git/objects" / chunk.blob_id[:2] / chunk.blob_id[2:]
    place.chmod(0o644)
    place.write_bytes(b"no object")
    assert told(judged(root, chunk, CODE.replace("total", "sum"))) == ("edited", f"a.py:L{START}-L{END}")


def test_nothing_of_the_repository_runs(root: Path) -> None:
    hooks = {"a": "[core]\n\tfsmonitor = touch ran\n", "b": '[filter "x"]\n\tsmudge = touch ran\n\tclean = touch ran\n'}
    in_git(root)
    chunk = settle(root)
    plant(root, {".gitattributes": "* filter=x diff=x\n"})
    with (root / ".git/config").open("a") as config:
        config.write("".join(hooks.values()) + '[diff "x"]\n\ttextconv = touch ran\n')
    assert told(judged(root, chunk, CODE.replace("total", "sum")))[0] == "edited"
    (root / "a.py").unlink()
    assert told(judged(root, chunk))[0] == "deleted"
    assert not list(root.rglob("ran"))


# --- paths, order and roots ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["with space.py", 'it\'s "q".py', "-x.py", "new\nline.py", "50%.py", "d/\u00e9.py"])
def test_paths_of_all_kinds(root: Path, path: str) -> None:
    plant(root, {path: CODE})
    chunk = cited(root, path, START, END)
    assert told(judged(root, chunk, CODE)) == ("unchanged", f"{path}:L{START}-L{END}")
    assert told(judged(root, chunk, f"\n{CODE}")) == ("moved", f"{path}:L{START + 1}-L{END + 1}")


def test_paths_that_are_not_utf8(root: Path) -> None:
    def at(name: bytes) -> Path:
        return Path(os.fsdecode(os.fsencode(root) + b"/" + name))

    (root / "a.py").rename(at(b"caf\xe9.py"))
    chunk = cited(root, "caf%E9.py", START, END, encoded=True)
    packet = citing(root, chunk)
    assert told(verify(packet).chunks[0]) == ("unchanged", f"caf%E9.py:L{START}-L{END}")
    at(b"caf\xe9.py").rename(at(b"th\xe9.py"))
    (one,) = verify(packet).chunks
    assert told(one) == ("renamed", f"th%E9.py:L{START}-L{END}")
    assert one.now is not None
    assert one.now.path_encoded
    assert span_of(root, one.now).decode() == SETTLE


def test_chunks_keep_their_order_and_are_counted(root: Path) -> None:
    plant(root, {"b.py": CODE, "c.py": CODE})
    chunks = [cited(root, path, n, n + 3, number=k) for k, (path, n) in enumerate(
        [("b.py", 1), ("a.py", START), ("c.py", 1), ("b.py", 8), ("a.py", 1)], start=1)]  # fmt: skip
    packet = citing(root, *chunks)
    plant(root, {"b.py": f"\n{CODE}"})
    (root / "c.py").unlink()
    found = verify(packet)
    assert [one.chunk_id for one in found.chunks] == [one.chunk_id for one in chunks]
    assert [one.verdict.value for one in found.chunks] == ["moved", "unchanged", "deleted", "moved", "unchanged"]
    assert {k: n for k, n in found.counts.model_dump().items() if n} == {"unchanged": 2, "moved": 2, "deleted": 1}
    assert (found.packet_id, found.changed, found.unjudged) == (packet.packet_id, True, False)
    assert Verification.parse(found.canonical()) == found


def test_what_waits_for_the_object_store_is_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "HELD_BYTES", len(CODE))
    plant(root, {"b.py": CODE})
    packet = citing(root, *(cited(root, path, START, END, number=n) for n, path in enumerate(("a.py", "b.py"), 1)))
    plant(root, dict.fromkeys(("a.py", "b.py"), CODE.replace("total", "sum")))
    assert [one.verdict.value for one in verify(packet).chunks] == ["edited", "edited"]


def test_a_packet_is_named_by_file_or_id_and_held_against_another_root(root: Path, tmp_path: Path) -> None:
    packet = citing(root, settle(root))
    packets.remember(packet)
    assert told(verify(packet.packet_id).chunks[0]) == UNCHANGED
    assert told(verify(packets.save(packet, root)).chunks[0]) == UNCHANGED
    other = plant(tmp_path / "other", {"a.py": f"\n{CODE}"})
    assert told(verify(packet.packet_id[12:24], root=other).chunks[0])[0] == "moved"
    shutil.rmtree(root)
    assert told(verify(packet, root=str(other)).chunks[0])[0] == "moved"
    with pytest.raises(ZoneError, match="cannot be opened: No such file or directory; name the tree with --root"):
        verify(packet)
    with pytest.raises(ArtifactError):
        verify(tmp_path / "none.yaml")


def test_a_packet_without_chunks_has_no_verdicts(root: Path) -> None:
    packet = sample.packet(hydrated_chunks=(), run=sample.run_record(zone_root=str(root)))
    found = verify(packet)
    assert (found.chunks, found.changed, found.unjudged) == ((), False, False)
    assert set(found.counts.model_dump()) == set(ChunkVerdict)
