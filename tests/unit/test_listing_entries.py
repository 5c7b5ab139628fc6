"""What a listing says of odd entries: links, pipes, names that are no text, folders that cannot be opened."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rtch.models.tree import Listing
from rtch.models.vocab import CautionFlag
from rtch.workspace import Workspace, open_workspace

Git = Callable[..., str]
ACTING = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, so that no ignore file of the machine plays a part."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def git(home: Path) -> Git:
    def call(folder: Path, *words: str) -> str:
        done = subprocess.run(
            ["git", *ACTING, *words],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()

    return call


@pytest.fixture
def repo(tmp_path: Path, git: Git) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", ".")
    return folder


def put(folder: Path, name: str, text: str = "x\n") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def files(ws: Workspace) -> list[str]:
    return list(ws.listing.files())


def test_tracked_paths_that_became_something_else_are_told(repo: Path, git: Git) -> None:
    for name in ("fifo", "sock", "link", "dir"):
        put(repo, name)
    git(repo, "add", ".")
    for name in ("fifo", "sock", "link", "dir"):
        (repo / name).unlink()
    os.mkfifo(repo / "fifo")
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(repo)  # a socket's path is short
    server.bind("sock")
    os.chdir(here)
    server.close()
    (repo / "link").symlink_to("nowhere")
    put(repo, "dir/inner")
    ws = open_workspace(repo)
    assert {path: str(ws.kind(path)) for path in ws.listing.paths} == {
        "dir": "directory",
        "dir/inner": "file",
        "fifo": "fifo",
        "link": "symlink",
        "sock": "socket",
    }


def test_links_are_entries_and_are_not_followed(repo: Path) -> None:
    put(repo, "a/f")
    (repo / "a" / "loop").symlink_to("../a")
    (repo / "self").symlink_to(".")
    (repo / "dangling.py").symlink_to("missing")
    (repo / "passwd").symlink_to("/etc/passwd")
    ws = open_workspace(repo)
    assert {path: str(ws.kind(path)) for path in ws.listing.paths} == {
        "a/f": "file",
        "a/loop": "symlink",
        "dangling.py": "symlink",
        "passwd": "symlink",
        "self": "symlink",
    }


def test_odd_names_are_listed_as_they_are(repo: Path) -> None:
    names = ["has:3:colon.md", "a b.txt", "-dash", "quo'te\"s", "new\nline", "tab\t", "ünï", "a\\b", "*[x]?", " lead"]
    for name in names:
        put(repo, name)
    assert files(open_workspace(repo)) == sorted(names)


def test_names_that_are_not_utf8_are_percent_encoded_and_never_collide(repo: Path) -> None:
    raw = os.fsencode(repo)
    for name in (b"caf\xe9%.txt", b"caf%E9%25.txt", b"caf%25E9%2525.txt", b"plain"):
        Path(os.fsdecode(raw + b"/" + name)).write_bytes(name)
    ws = open_workspace(repo)
    assert ws.listing.paths == ("caf%2525E9%252525.txt", "caf%25E9%2525.txt", "caf%E9%25.txt", "plain")
    assert ws.listing.encoded == (0, 1, 2)
    for path in ws.listing.paths:
        assert ws.read(path, max_bytes=100).data == ws.name_of(path)
    assert ws.locate("caf%E9%25.txt") == "caf%E9%25.txt"
    assert ws.locate(os.fsdecode(b"caf\xe9%.txt")) == "caf%E9%25.txt"
    assert Listing.parse(ws.listing.canonical()) == ws.listing


def test_order_is_that_of_bytes_whatever_the_folder_says(tmp_path: Path, home: Path) -> None:
    names = ["b", "a", "a-b", "a/x", "a.b", "Z", "\U0001f600", "\uffff"]
    orders = []
    for tree, order in ((tmp_path / "t1", names[1:] + names[:1]), (tmp_path / "t2", names[::-1])):
        for name in order:
            if name != "a":
                put(tree, name)
        orders.append(open_workspace(tree).listing)
    assert orders[0] == orders[1]
    assert list(orders[0].paths) == sorted(orders[0].paths, key=str.encode)


def test_twins_on_other_file_systems_are_noted(repo: Path) -> None:
    for name in ("README.md", "readme.md", "caf\u00e9", "cafe\u0301"):
        put(repo, name)
    ws = open_workspace(repo)
    assert [(note.flag, note.path) for note in ws.listing.notes] == [
        (CautionFlag.PORTABILITY_COLLISION, "README.md"),
        (CautionFlag.PORTABILITY_COLLISION, "cafe\u0301"),
    ]


def test_very_deep_paths_are_read(tmp_path: Path, home: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    here = os.open(tree, os.O_RDONLY)
    depth = 30
    for _ in range(depth):
        os.mkdir("d" * 200, dir_fd=here)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    with os.fdopen(os.open("f", os.O_WRONLY | os.O_CREAT, dir_fd=here), "w") as file:
        file.write("deep\n")
    os.close(here)
    put(tree, "a")
    ws = open_workspace(tree)
    assert "a" in ws.index
    deep = [path for path in ws.listing.paths if path != "a"]
    assert deep or ws.listing.notes, "neither listed nor reported"
    shutil.rmtree(tree)


@pytest.fixture
def as_nobody() -> Callable[[Callable[[], None]], None]:
    """Run a check as a user without rights, in a child."""

    def run(check: Callable[[], None]) -> None:
        child = os.fork()
        if child == 0:
            try:
                if os.geteuid() == 0:
                    os.setegid(65534)
                    os.seteuid(65534)
                check()
            except BaseException:  # noqa: BLE001  the parent sees the exit code alone
                import traceback  # noqa: PLC0415

                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    return run


@pytest.mark.parametrize("tool", ["git", "walk"])
def test_an_unreadable_folder_is_an_entry_with_unknown_contents(
    tmp_path: Path,
    home: Path,
    as_nobody: Callable[[Callable[[], None]], None],
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
) -> None:
    tree = tmp_path / "tree"
    put(tree, "locked/x")
    put(tree, "open/y")
    (tree / "locked").chmod(0)
    for folder in (*list(tmp_path.parents)[:3], tmp_path, home, tree):
        folder.chmod(folder.stat().st_mode | 0o055)
    if tool == "walk":
        monkeypatch.setenv("PATH", str(tmp_path))

    def check() -> None:
        ws = open_workspace(tree)
        assert {path: str(ws.kind(path)) for path in ws.listing.paths} == {"locked": "unreadable", "open/y": "file"}
        noted = [(note.flag, note.path) for note in ws.listing.notes if note.path]
        assert noted == [(CautionFlag.SEARCH_INCOMPLETE, "locked")]

    as_nobody(check)
    (tree / "locked").chmod(0o755)


def test_a_submodule_without_its_repository_is_an_empty_root(repo: Path, git: Git) -> None:
    (repo / "sub").mkdir()
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    listing = open_workspace(repo / "sub").listing
    assert (listing.paths, listing.notes) == ((), ())


# Files that speak for a folder


def _fifo(place: Path) -> None:
    os.mkfifo(place)


def _folder(place: Path) -> None:
    place.mkdir()
    (place / "x").touch()


def _dangling(place: Path) -> None:
    place.symlink_to("nowhere")


def _link(place: Path) -> None:
    (place.parent / "rules").write_text("secret/\n")
    place.symlink_to("rules")


@pytest.mark.parametrize("make", [_fifo, _folder, _dangling, _link])
def test_an_ignore_file_that_cannot_be_applied_is_told(repo: Path, make: Callable[[Path], None]) -> None:
    for folder in (repo, repo / "sub"):
        (folder / "secret").mkdir(parents=True)
        (folder / "secret" / "a.py").touch()
    make(repo / ".ticignore")
    listing = open_workspace(repo).listing
    assert {"secret/a.py", "sub/secret/a.py"} <= set(listing.paths)
    told = [note.detail for note in listing.notes if note.flag is CautionFlag.IGNORE_RULES_UNAVAILABLE]
    assert [detail.startswith(".ticignore was not applied: it is a ") for detail in told] == [True]


def test_one_ignore_file_that_cannot_be_applied_keeps_no_other_from_it(repo: Path) -> None:
    for folder in (repo / "a", repo / "b"):
        (folder / "secret").mkdir(parents=True)
        (folder / "secret" / "x.py").touch()
    _link(repo / "a" / ".ticignore")
    (repo / "b" / ".ticignore").write_text("secret/\n")
    listing = open_workspace(repo).listing
    assert "a/secret/x.py" in listing.paths
    assert "b/secret/x.py" not in listing.paths
    assert [note.detail for note in listing.notes] == [
        "a/.ticignore was not applied: it is a link, and none is followed"
    ]


@pytest.mark.parametrize("make", [_fifo, _folder])
@pytest.mark.parametrize("name", [".ticzone", ".federation-root"])
def test_a_marker_of_the_root_that_no_listing_has_is_told(repo: Path, make: Callable[[Path], None], name: str) -> None:
    before = open_workspace(repo).listing
    make(repo / name)
    found = open_workspace(repo).listing
    assert before.notes == ()
    assert [(note.flag, note.path) for note in found.notes] == [(CautionFlag.MALFORMED, name)]
