"""Reading a zone: containment, state tokens, what is skipped and why."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from rtch import reading, sight, workspace
from rtch.errors import ZoneError
from rtch.git import blob_id
from rtch.models.vocab import EntryKind, RootSource, SkipReason
from rtch.reading import SkippedFile
from rtch.workspace import Workspace, find_root, open_workspace

LIMIT = 1 << 20


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    put(folder, "a.py", b"print('a')\n")
    put(folder, "sub/b.md", b"# B\n")
    return folder


def put(folder: Path, name: str, data: bytes = b"x\n") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def reason(call: Callable[[], object]) -> SkipReason:
    with pytest.raises(SkippedFile) as caught:
        call()
    json.dumps({"path": caught.value.path, "detail": caught.value.detail}).encode()
    caught.value.path.encode()  # no lone surrogate
    return caught.value.reason


def age(path: Path) -> None:
    """Wait until what was just written is no longer fresh."""
    while time.time_ns() - path.stat().st_ctime_ns < 2 * sight.RACY_NS:
        time.sleep(0.02)


# -- reading ----------------------------------------------------------------------------------------


def test_a_file_is_read_with_its_digest(tree: Path) -> None:
    file = open_workspace(tree).read("a.py", max_bytes=LIMIT)
    data = b"print('a')\n"
    assert (file.data, file.size, file.sha256) == (data, len(data), hashlib.sha256(data).hexdigest())
    assert open_workspace(tree).digest("a.py") == file.sha256


def test_what_is_skipped_says_why(tree: Path) -> None:
    put(tree, "bin", b"a\0b")
    put(tree, "wide", "\ufefftext\n".encode("utf-16-le"))
    put(tree, "long", b"x" * 100)
    put(tree, "empty", b"")
    (tree / "link").symlink_to("a.py")
    (tree / "dangling").symlink_to("nowhere")
    (tree / "loop").symlink_to("loop")
    ws = open_workspace(tree)
    (tree / "sub" / "b.md").unlink()
    read = {
        name: reason(partial(ws.read, name, max_bytes=99))
        for name in ("bin", "long", "link", "dangling", "loop", "sub/b.md", "missing", "sub")
    }
    assert read == {
        "bin": SkipReason.BINARY,
        "long": SkipReason.OVERSIZED,
        "link": SkipReason.SYMLINK,
        "dangling": SkipReason.SYMLINK,
        "loop": SkipReason.SYMLINK,
        "sub/b.md": SkipReason.VANISHED,
        "missing": SkipReason.NOT_FOUND,
        "sub": SkipReason.NOT_REGULAR,
    }
    assert ws.read("empty", max_bytes=0).data == b""
    assert ws.decode(ws.read("wide", max_bytes=99).data).text == "text\n"


def test_a_file_that_became_a_fifo_or_socket_never_blocks(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ws = open_workspace(tree)
    (tree / "a.py").unlink()
    os.mkfifo(tree / "a.py")
    (tree / "sub" / "b.md").unlink()
    monkeypatch.chdir(tree / "sub")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("b.md")
    assert reason(lambda: ws.read("a.py", max_bytes=LIMIT)) is SkipReason.NOT_REGULAR
    assert reason(lambda: ws.head_kind("a.py")) is SkipReason.NOT_REGULAR
    assert reason(lambda: ws.read("sub/b.md", max_bytes=LIMIT)) is SkipReason.NOT_REGULAR
    fresh = open_workspace(tree)
    os.mkfifo(tree / "named")
    assert fresh.locate("named") == "named"
    assert reason(lambda: fresh.read("named", max_bytes=LIMIT)) is SkipReason.NOT_REGULAR


def test_a_folder_swapped_for_a_link_leads_nowhere(tree: Path, tmp_path: Path) -> None:
    put(tmp_path, "outside/b.md", b"SECRET\n")
    ws = open_workspace(tree)
    (tree / "sub").rename(tree / "old")
    (tree / "sub").symlink_to(tmp_path / "outside")
    for read in (lambda: ws.read("sub/b.md", max_bytes=LIMIT), lambda: ws.head_kind("sub/b.md")):
        assert reason(read) in {SkipReason.VANISHED, SkipReason.SYMLINK}


def test_a_file_swapped_for_a_link_is_not_followed(tree: Path) -> None:
    ws = open_workspace(tree)
    (tree / "a.py").unlink()
    (tree / "a.py").symlink_to("/etc/passwd")
    assert reason(lambda: ws.read("a.py", max_bytes=LIMIT)) is SkipReason.SYMLINK


def test_a_file_that_is_written_while_it_is_read_is_skipped(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ws = open_workspace(tree)
    age(tree / "a.py")
    pread = os.pread

    def slow(descriptor: int, length: int, start: int) -> bytes:
        data = pread(descriptor, length, start)
        with (tree / "a.py").open("ab") as file:
            file.write(b"more\n")
        return data

    monkeypatch.setattr(os, "pread", slow)
    assert reason(lambda: ws.read("a.py", max_bytes=LIMIT)) is SkipReason.CHANGED_DURING_RUN


def test_a_file_that_vanishes_at_the_moment_of_opening_is_vanished(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ws = open_workspace(tree)
    real_open = os.open

    def vanishing(path: bytes, *rest: int, **more: int) -> int:
        if path.endswith(b"a.py"):
            (tree / "a.py").unlink(missing_ok=True)
        return real_open(path, *rest, **more)

    monkeypatch.setattr(os, "open", vanishing)
    assert reason(lambda: ws.read("a.py", max_bytes=LIMIT)) is SkipReason.VANISHED


def test_a_file_that_vanishes_while_the_tree_is_looked_at_is_no_entry(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lstat = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path, **at: lstat(b"nowhere/x" if path == b"a.py" else path, **at))
    assert open_workspace(tree).listing.paths == ("sub/b.md",)


def test_a_file_edited_after_the_listing_is_read_and_named_unstable(tree: Path) -> None:
    ws = open_workspace(tree)
    assert ws.read("sub/b.md", max_bytes=LIMIT).data == b"# B\n"
    assert ws.unstable == frozenset()
    put(tree, "a.py", b"changed\n")
    assert ws.read("a.py", max_bytes=LIMIT).data == b"changed\n"
    assert ws.unstable == {"a.py"}


def test_a_large_sparse_file_is_judged_without_being_held(tree: Path) -> None:
    with (tree / "big").open("wb") as file:
        file.truncate(200 << 20)
    with (tree / "big.txt").open("wb") as file:
        file.write(b"text\n" * 2000)
        file.truncate(200 << 20)
    ws = open_workspace(tree)
    assert reason(lambda: ws.read("big", max_bytes=LIMIT)) is SkipReason.OVERSIZED
    with ws.open("big.txt") as file:
        assert file.pread(5, 5) == b"text\n"
        assert file.row.size == 200 << 20


# -- containment --------------------------------------------------------------------------------------


def test_named_paths_are_located(tree: Path, tmp_path: Path) -> None:
    ws = open_workspace(tree)
    (tree / "ignored").mkdir()
    put(tree, ".git-not", b"")
    for text, path in {
        "a.py": "a.py",
        "./a.py": "a.py",
        "sub/": "sub",
        "sub/../a.py": "a.py",
        str(tree / "sub" / "b.md"): "sub/b.md",
        ".": ".",
        "  a.py ": "a.py",
    }.items():
        assert ws.locate(text) == path
    assert ws.locate("b.md", tree / "sub") == "sub/b.md"
    assert ws.locate("../a.py", tree / "sub") == "a.py"
    alias = tmp_path / "alias"
    alias.symlink_to(tree)
    assert ws.locate(str(alias / "a.py")) == "a.py"


def test_nothing_outside_the_zone_is_located(tree: Path, tmp_path: Path) -> None:
    put(tmp_path, "outside/secret")
    (tree / "passwd").symlink_to("/etc/passwd")
    (tree / "up").symlink_to("..")
    (tree / "dangling").symlink_to("nowhere")
    (tree / "loop").symlink_to("loop")
    (tree / "in").symlink_to("sub/b.md")
    (tree / "folder").symlink_to("sub")
    put(tree, ".git/config", b"")
    ws = open_workspace(tree)
    expected = {
        "/etc/passwd": SkipReason.OUTSIDE_ZONE,
        "../../../../../../etc/passwd": SkipReason.OUTSIDE_ZONE,
        "../outside/secret": SkipReason.OUTSIDE_ZONE,
        "passwd": SkipReason.OUTSIDE_ZONE,
        "up/outside/secret": SkipReason.OUTSIDE_ZONE,
        "dangling": SkipReason.BROKEN_LINK,
        "loop": SkipReason.BROKEN_LINK,
        ".git/config": SkipReason.EXCLUDED,
        "missing": SkipReason.NOT_FOUND,
        "a.py/x": SkipReason.NOT_FOUND,
        "": SkipReason.NOT_FOUND,
        "nul\0": SkipReason.NOT_FOUND,
        "x" * 5000: SkipReason.NOT_FOUND,
        "lone\udce9": SkipReason.NOT_FOUND,
        "surrogate\ud800": SkipReason.NOT_FOUND,
    }
    assert {text: reason(partial(ws.locate, text)) for text in expected} == expected
    assert ws.locate("in") == "sub/b.md"
    assert ws.locate("folder/b.md") == "sub/b.md"
    assert reason(lambda: ws.read(".git/config", max_bytes=9)) is SkipReason.EXCLUDED
    assert reason(lambda: ws.read("../outside/secret", max_bytes=9)) is SkipReason.OUTSIDE_ZONE
    assert reason(lambda: ws.read("/etc/passwd", max_bytes=9)) is SkipReason.OUTSIDE_ZONE


def test_an_ignored_file_can_be_named(tree: Path) -> None:
    put(tree, ".gitignore", b"*.log\n")
    put(tree, "x.log", b"log\n")
    ws = open_workspace(tree)
    assert "x.log" not in ws.index
    assert ws.locate("x.log") == "x.log"
    assert ws.read("x.log", max_bytes=LIMIT).data == b"log\n"
    assert ws.token("x.log").startswith(("stat:4:", "sha256:"))


def test_own_outputs_are_no_part_of_the_tree(tree: Path) -> None:
    outputs = (tree / "out.yaml", tree / "home", Path("/elsewhere"))
    before = open_workspace(tree, own_outputs=outputs)
    put(tree, "out.yaml")
    put(tree, "home/store/x")
    put(tree, "home-made/kept")
    put(tree, "audit-logs/rtch/packets/p.yaml")
    (tree / "home-made" / "kept").unlink()
    after = open_workspace(tree, own_outputs=outputs)
    assert (after.state(), after.listing) == (before.state(), before.listing)
    assert reason(lambda: after.locate("out.yaml")) is SkipReason.OWN_OUTPUT
    assert reason(lambda: after.read("home/store/x", max_bytes=9)) is SkipReason.OWN_OUTPUT
    assert reason(lambda: after.read("audit-logs/rtch/packets/p.yaml", max_bytes=9)) is SkipReason.OWN_OUTPUT


def test_baselines_are_no_part_of_the_tree(tree: Path) -> None:
    put(tree, "ci/other.baseline.yaml", b"kind: not ours\n")
    (tree / "ci" / "link.baseline.yaml").symlink_to("taken.baseline.yaml")
    os.mkfifo(tree / "ci" / "waits.baseline.yaml")
    before = open_workspace(tree)
    put(tree, "ci/taken.baseline.yaml", b"# of the shop\nschema_version: rtch.baseline/1\n" + b"x: y\n" * 9999)
    after = open_workspace(tree)
    assert (after.state(), after.listing) == (before.state(), before.listing)
    assert {"ci/other.baseline.yaml", "ci/link.baseline.yaml"} < set(after.listing.paths)
    assert reason(lambda: after.locate("ci/none.baseline.yaml")) is SkipReason.NOT_FOUND


def test_folders_are_cut_from_the_order(tree: Path) -> None:
    for name in ("sub-x/a", "sub.x", "sub0", "sub/z/a"):
        put(tree, name)
    ws = open_workspace(tree)
    assert ws.under("sub") == ("sub/b.md", "sub/z/a")
    assert ws.under("a.py") == ("a.py",)
    assert ws.under(".") == ws.listing.paths
    assert ws.under("su") == ()


# -- state --------------------------------------------------------------------------------------------


def test_two_looks_at_an_unchanged_tree_give_one_state(tree: Path) -> None:
    first = open_workspace(tree)
    second = open_workspace(tree)
    assert first.state() == second.state()
    assert first.token("a.py") == second.token("a.py")
    assert first.token("a.py").startswith("stat:11:")


def test_every_change_changes_the_state(tree: Path) -> None:
    (tree / "link").symlink_to("a.py")
    seen = open_workspace(tree)

    def look(path: str) -> None:
        nonlocal seen
        ws = open_workspace(tree)
        assert ws.state() != seen.state()
        assert ws.token(path) != seen.token(path)
        assert ws.state([path]) != seen.state([path])
        seen = ws

    put(tree, "a.py", b"print('b')\n")
    look("a.py")
    (tree / "a.py").chmod(0o600)
    look("a.py")
    os.utime(tree / "a.py")
    look("a.py")
    put(tree, "c")
    look("c")
    (tree / "c").unlink()
    look("c")
    (tree / "link").unlink()
    (tree / "link").symlink_to("sub")
    look("link")
    (tree / "a.py").unlink()
    look("a.py")


def test_a_swap_under_a_restored_time_changes_the_state(tree: Path) -> None:
    first = open_workspace(tree)
    status = (tree / "a.py").stat()
    put(tree, "a.py", b"print('z')\n")
    os.utime(tree / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert open_workspace(tree).state() != first.state()


def test_kinds_have_tokens(tree: Path) -> None:
    (tree / "link").symlink_to("a.py")
    ws = open_workspace(tree)
    assert ws.token("link") == "symlink:" + hashlib.sha256(b"a.py").hexdigest()
    assert ws.token("nothing") == "absent"
    assert ws.token("sub") == "directory"


def test_state_of_some_paths_ignores_order_repetition_and_the_rest(tree: Path) -> None:
    first = open_workspace(tree).state(["a.py", "x"])
    put(tree, "sub/b.md", b"changed\n")
    assert open_workspace(tree).state(["x", "a.py", "x"]) == first
    assert open_workspace(tree).state(["a.py"]) != first
    assert open_workspace(tree).state(["a.py", "x\0"]) != first


def coarse(monkeypatch: pytest.MonkeyPatch, step_ns: int) -> None:
    """Make the file system's clock tick coarsely, and no time pass between a write and a look."""
    of = reading.StatRow.of
    for module in (sight, workspace):
        monkeypatch.setattr(module, "COARSE_RACY_NS", 60_000_000_000)  # a loaded machine takes its time

    def cut(status: os.stat_result) -> reading.StatRow:
        row = of(status)
        return row._replace(mtime_ns=row.mtime_ns // step_ns * step_ns, ctime_ns=row.ctime_ns // step_ns * step_ns)

    monkeypatch.setattr(reading.StatRow, "of", cut)

    def stat_rows(names: Sequence[bytes], at: int) -> list[int]:
        return [value for name in names for value in cut(os.lstat(name, dir_fd=at))]

    monkeypatch.setattr(sight, "stat_rows", stat_rows)


def test_a_rewrite_within_one_tick_of_whole_seconds_is_seen(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    coarse(monkeypatch, 1_000_000_000)
    put(tree, "a.py", b"print('1')\n")
    first = open_workspace(tree)
    token, state = first.token("a.py"), first.state()
    assert token == "sha256:" + hashlib.sha256(b"print('1')\n").hexdigest()
    with (tree / "a.py").open("r+b") as file:
        file.write(b"print('2')\n")
    again = open_workspace(tree)
    assert (again.token("a.py") != token, again.state() != state) == (True, True)


def test_a_file_that_was_racy_is_compared_by_its_bytes_when_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    coarse(monkeypatch, 1_000_000_000)
    put(tree, "a.py", b"print('1')\n")
    ws = open_workspace(tree)
    ws.token("a.py")
    with (tree / "a.py").open("r+b") as file:
        file.write(b"print('2')\n")
    while not ws.unstable:
        ws.read("a.py", max_bytes=LIMIT)
    assert ws.unstable == {"a.py"}


def test_a_fresh_file_settles_and_keeps_one_token(tree: Path) -> None:
    put(tree, "fresh", b"now\n")
    first = open_workspace(tree)
    assert first.token("fresh").startswith("stat:4:")
    time.sleep(0.1)
    assert open_workspace(tree).token("fresh") == first.token("fresh")


def test_a_time_stamp_in_the_future_costs_a_digest_and_no_wait(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() - 3_600_000_000_000)
    begin = time.monotonic()
    ws = open_workspace(tree)
    assert ws.token("a.py") == "sha256:" + hashlib.sha256(b"print('a')\n").hexdigest()
    assert time.monotonic() - begin < 5


def test_a_file_dated_in_the_future_is_told_by_its_row_once_it_has_settled(tree: Path) -> None:
    later = time.time_ns() + 3_600_000_000_000
    os.utime(tree / "a.py", ns=(later, later))
    age(tree / "a.py")
    first, again = open_workspace(tree), open_workspace(tree)
    assert first.token("a.py").startswith(f"stat:11:{later}:")
    assert (again.token("a.py"), again.state()) == (first.token("a.py"), first.state())


def test_threads_may_share_a_workspace(tree: Path) -> None:
    for n in range(50):
        put(tree, f"f{n}", b"%d\n" % n)
    ws = open_workspace(tree)
    wrong: list[str] = []

    def work() -> None:
        wrong.extend(f"f{n}" for n in range(50) if ws.read(f"f{n}", max_bytes=9).data != b"%d\n" % n)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# -- roots ----------------------------------------------------------------------------------------------


def test_the_root_is_pinned_marked_gits_or_the_folder(tree: Path, tmp_path: Path) -> None:
    assert find_root(tree / "sub") == (find_root(tree / "sub" / "b.md"))
    assert (find_root(tree / "sub").root, find_root(tree / "sub").how) == (tree / "sub", RootSource.CWD)
    put(tree, "sub/.ticzone", b"")
    deep = tree / "sub" / "deep"
    deep.mkdir()
    assert (find_root(deep).root, find_root(deep).how) == (tree / "sub", RootSource.TICZONE)
    pinned = find_root(deep, tree)
    assert (pinned.root, pinned.how, pinned.repo_root) == (tree, RootSource.PINNED, None)
    alias = tmp_path / "alias"
    alias.symlink_to(tree)
    assert find_root(deep, alias).root == tree


@pytest.mark.parametrize("name", ["missing", "a.py", "loop"])
def test_a_root_that_is_no_folder_is_an_error(tree: Path, name: str) -> None:
    (tree / "loop").symlink_to("loop")
    with pytest.raises(ZoneError):
        find_root(tree, tree / name)
    with pytest.raises(ZoneError):
        open_workspace(tree / name)


def test_an_empty_folder_is_an_empty_tree(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ws = open_workspace(tmp_path / "empty")
    assert (ws.listing.paths, len(ws.listing), ws.listing.notes) == ((), 0, ())
    assert ws.state() == open_workspace(tmp_path / "empty").state()


def test_blob_ids_are_computed_from_the_bytes() -> None:
    assert blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert blob_id(b"", "sha256") == "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"


def test_a_workspace_is_its_listing(tree: Path) -> None:
    ws = open_workspace(tree)
    assert isinstance(ws, Workspace)
    assert dict(ws.index) == {"a.py": 0, "sub/b.md": 1}
    assert (ws.size("a.py"), ws.size("none"), ws.kind("none")) == (11, 0, EntryKind.ABSENT)
