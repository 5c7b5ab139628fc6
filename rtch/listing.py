"""What belongs to a tree: git's answer, or a reported walk, and the stat row of each entry.

Paths are handled as bytes here. What is shown of them, and the one order they have, is made in
``columns``. Nothing is opened but folders.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import unicodedata
from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rtch.errors import ToolError
from rtch.git import (
    LIST_TIMEOUT_S,
    PrivateGit,
    Repository,
    RepositoryRefused,
    Tracked,
    find_repository,
    private_git,
    unopened_folders,
)
from rtch.models.tree import Listing, TreeNote
from rtch.models.vocab import CautionFlag, EntryKind

MAX_NESTED = 64
ROW_COLUMNS = 5
"""size, mtime_ns, ctime_ns, inode, mode."""
IGNORE_FILE = b".ticignore"
_EMPTY_ROW = (0, 0, 0, 0, 0)
_S64 = 1 << 63


@dataclass(slots=True)
class Names:
    """The paths of a tree before any of them is looked at.

    Attributes:
        tracked: stay in the listing when they are absent.
        untracked: are left out when they have vanished.
        gitlinks: the submodules.
        unopened: folders whose contents are unknown.
        blob_ids: what the index says of tracked files.
        notes: what went wrong.
        walked: whether ignore rules could not be applied.
    """

    tracked: list[bytes] = field(default_factory=list)
    untracked: list[bytes] = field(default_factory=list)
    gitlinks: set[bytes] = field(default_factory=set)
    unopened: set[bytes] = field(default_factory=set)
    index: list[tuple[bytes, Tracked]] = field(default_factory=list)
    notes: list[TreeNote] = field(default_factory=list)
    walked: bool = False

    def note(self, flag: CautionFlag, name: bytes, detail: str) -> None:
        """Add a note on a path, or on the whole tree where the name is empty."""
        self.notes.append(TreeNote(flag=flag, path=shown(name), detail=detail))

    def add(self, prefix: bytes, other: Names) -> None:
        """Take in the names of a nested folder."""
        self.tracked += [prefix + name for name in other.tracked]
        self.untracked += [prefix + name for name in other.untracked]
        self.gitlinks |= {prefix + name for name in other.gitlinks}
        self.unopened |= {prefix + name for name in other.unopened}
        self.index += [(prefix + inner, tracked) for inner, tracked in other.index]
        below = shown(prefix)
        self.notes += [note.model_copy(update={"path": below + note.path}) for note in other.notes]
        self.walked = self.walked or other.walked


@dataclass(frozen=True, slots=True)
class Columns:
    """The looked-at tree: equal indices name one entry.

    ``rows`` holds ROW_COLUMNS integers an entry; all zero where it is no regular file.
    ``links`` has the targets' digests of symbolic links by index.
    """

    listing: Listing
    names: list[bytes]
    rows: array[int]
    links: dict[int, str]


def shown(name: bytes) -> str:
    """Return how a path is written: itself, or percent-encoded where it is not UTF-8."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return escaped(name)


def escaped(name: bytes) -> str:
    """Return a path with ``%`` and every byte that is not UTF-8 percent-encoded."""
    text = name.replace(b"%", b"%25").decode("utf-8", "surrogateescape")
    return "".join(f"%{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else c for c in text)


def collect(root: Path, repository: Repository | None, *, timeout_s: float = LIST_TIMEOUT_S) -> Names:
    """Return the paths that belong to a tree.

    Args:
        root: the zone root, resolved.
        repository: the one that holds the root; None lists the folder with an empty index.
        timeout_s: seconds for each call of git; past it the tree is walked without ignore rules.
    """
    return _collect(root, repository, timeout_s, [MAX_NESTED])


def _collect(root: Path, repository: Repository | None, timeout_s: float, nested_left: list[int]) -> Names:
    names = Names()
    nested: list[bytes] = []
    try:
        with private_git(repository, root, timeout_s=timeout_s) as git:
            _ask_git(git, names, nested, repository)
    except ToolError as error:
        flag = CautionFlag.TIMEOUT if error.timed_out else CautionFlag.TOOL_FAILED
        names.note(flag, b"", str(error))
        names.note(CautionFlag.IGNORE_RULES_UNAVAILABLE, b"", "the tree was walked without ignore rules")
        names.walked = True
        nested.clear()
        _walk(os.fsencode(root), names)
    for name in nested:
        _enter(root, name, names, timeout_s, nested_left)
    if not names.walked:
        _apply_ignore_file(root, names, timeout_s)
    return names


def _ask_git(git: PrivateGit, names: Names, nested: list[bytes], repository: Repository | None) -> None:
    """Ask for tracked and untracked paths at once; git's second walk costs the most."""
    failed: list[ToolError] = []

    def index() -> None:
        try:
            tracked = git.tracked()
            names.tracked = tracked.names
            names.gitlinks = set(tracked.gitlinks)
            names.index.append((b"", tracked))
        except ToolError as error:
            failed.append(error)

    thread = threading.Thread(target=index) if repository is not None else None
    if thread is not None:
        thread.start()
    try:
        untracked, complaints = git.untracked()
    finally:
        if thread is not None:
            thread.join()
    if failed:
        raise failed[0]
    nested += [name[:-1] for name in untracked if name.endswith(b"/")]
    names.untracked = [name for name in untracked if not name.endswith(b"/")]
    folders = unopened_folders(complaints)
    names.unopened |= {os.fsencode(folder) for folder in folders}
    if len(folders) < len(complaints):
        names.note(CautionFlag.SEARCH_INCOMPLETE, b"", "git complained while listing; some paths may be missing")


def _enter(root: Path, name: bytes, names: Names, timeout_s: float, nested_left: list[int]) -> None:
    """List a repository that lies in the tree without being a submodule."""
    nested_left[0] -= 1
    if nested_left[0] < 0:
        names.gitlinks.add(name)
        names.tracked.append(name)
        names.note(CautionFlag.SEARCH_INCOMPLETE, name, f"more than {MAX_NESTED} nested repositories: not entered")
        return
    folder = root / os.fsdecode(name)
    repository: Repository | None = None
    try:
        repository = find_repository(folder, ceiling=folder.parent)
    except RepositoryRefused as error:
        names.note(error.flag, name, error.detail)
    except ToolError as error:
        names.note(CautionFlag.TOOL_FAILED, name, str(error))
    if repository is not None and repository.top != folder:
        repository = None
    names.add(name + b"/", _collect(folder, repository, timeout_s, nested_left))


def _apply_ignore_file(root: Path, names: Names, timeout_s: float) -> None:
    suffix = b"/" + IGNORE_FILE
    everything = (*names.tracked, *names.untracked)
    if not any(name == IGNORE_FILE or name.endswith(suffix) for name in everything):
        return
    try:
        with private_git(None, root, timeout_s=timeout_s) as git:
            hidden = set(git.hidden_by(IGNORE_FILE.decode()))
    except ToolError as error:
        names.note(CautionFlag.IGNORE_RULES_UNAVAILABLE, b"", f".ticignore was not applied: {error}")
        return
    names.tracked = [name for name in names.tracked if name not in hidden]
    names.untracked = [name for name in names.untracked if name not in hidden]


def _walk(root: bytes, names: Names) -> None:
    """Add every path below a root but ``.git``; the order is made later."""
    known = set(names.tracked)
    stack = [b""]
    while stack:
        folder = stack.pop()
        try:
            with os.scandir(root + b"/" + folder) as entries:
                for entry in entries:
                    name = folder + b"/" + entry.name if folder else entry.name
                    if entry.name == b".git":
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if name not in names.gitlinks:
                            stack.append(name)
                    elif name not in known:
                        names.untracked.append(name)
        except OSError:
            if folder:
                names.unopened.add(folder)


def columns(root: Path, names: Names, left_out: Collection[bytes]) -> Columns:
    """Look at each path once and put them in order.

    Args:
        root: the zone root, resolved.
        names: the paths that belong to the tree.
        left_out: paths, files or folders, that are rtch's own outputs.
    """
    base = os.fsencode(root) + b"/"
    behind_links = _not_folders(base, names.tracked)
    must_stay = set(names.tracked) | names.unopened
    every = [*names.tracked, *names.untracked, *names.unopened]
    if left_out:
        every = [name for name in every if not lies_in(name, left_out)]
    pairs, encoded = _ordered(every)
    listing: list[tuple[str, EntryKind, int]] = []
    kept: list[bytes] = []
    flat: list[int] = []
    links: dict[int, str] = {}
    for path, name in pairs:
        kind, row = _look(base, name, names, behind_links)
        if kind is EntryKind.ABSENT and name not in must_stay:
            continue
        if kind is EntryKind.SYMLINK:
            links[len(kept)] = _target_digest(base + name)
        listing.append((path, kind, row[0]))
        kept.append(name)
        flat.extend(row if kind is EntryKind.FILE else _EMPTY_ROW)
    paths, kinds, sizes = zip(*listing, strict=True) if listing else ((), (), ())
    marked = tuple(i for i, name in enumerate(kept) if name in encoded) if encoded else ()
    notes = [*names.notes, *_unopened_notes(names), *_collisions(paths)]
    record = Listing(
        paths=paths,
        kinds=kinds,
        sizes=sizes,
        encoded=marked,
        notes=tuple(sorted(notes, key=lambda note: (note.path, note.flag, note.detail))),
    )
    return Columns(record, kept, _signed(flat), links)


def lies_in(name: bytes, folders: Iterable[bytes]) -> bool:
    """Tell whether a path is one of these or lies below one."""
    return any(name == folder or name.startswith(folder + b"/") for folder in folders)


def _ordered(names: Iterable[bytes]) -> tuple[list[tuple[str, bytes]], set[bytes]]:
    """Return shown paths with their bytes, sorted, and which of them are percent-encoded.

    A path whose own text is another's encoded form is encoded as well, so no two share a text.
    """
    unique = sorted(set(names))
    try:
        # UTF-8 keeps the order of code points, so bytes and texts sort alike.
        return list(zip(b"\0".join(unique).decode().split("\0"), unique, strict=True)) if unique else [], set()
    except UnicodeDecodeError:
        pass
    encoded = {name: escaped(name) for name in unique if not _is_utf8(name)}
    plain = {name.decode(): name for name in unique if name not in encoded}
    fresh = list(encoded.values())
    while fresh:
        taken = [plain.pop(text) for text in fresh if text in plain]
        encoded |= {name: escaped(name) for name in taken}
        fresh = [encoded[name] for name in taken]
    return sorted([*plain.items(), *((text, name) for name, text in encoded.items())]), set(encoded)


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _not_folders(base: bytes, tracked: Sequence[bytes]) -> set[bytes]:
    """Return the folders of tracked paths that are links or gone: what lies behind a link is not the tree's."""
    folders = {name.rpartition(b"/")[0] for name in tracked}
    pending = list(folders)
    while pending:
        parent = pending.pop().rpartition(b"/")[0]
        if parent not in folders:
            folders.add(parent)
            pending.append(parent)
    folders.discard(b"")
    bad: set[bytes] = set()
    for folder in sorted(folders):
        if folder.rpartition(b"/")[0] in bad or not _is_folder(base + folder):
            bad.add(folder)
    return bad


def _is_folder(path: bytes) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _look(
    base: bytes, name: bytes, names: Names, behind_links: set[bytes]
) -> tuple[EntryKind, tuple[int, int, int, int, int]]:
    known = _known_kind(name, names, behind_links)
    if known is not None:
        return known, _EMPTY_ROW
    try:
        status = os.lstat(base + name)
    except (FileNotFoundError, NotADirectoryError):
        return EntryKind.ABSENT, _EMPTY_ROW
    except OSError:
        return EntryKind.UNREADABLE, _EMPTY_ROW
    if stat.S_ISREG(status.st_mode):
        return EntryKind.FILE, (
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
            status.st_ino,
            status.st_mode,
        )
    kind = kind_of(status.st_mode)
    return kind, ((status.st_size, 0, 0, 0, 0) if kind is EntryKind.SYMLINK else _EMPTY_ROW)


def _known_kind(name: bytes, names: Names, behind_links: set[bytes]) -> EntryKind | None:
    """Return a kind that does not depend on the entry itself."""
    if behind_links and name.rpartition(b"/")[0] in behind_links:
        return EntryKind.ABSENT
    if name in names.gitlinks:
        return EntryKind.SUBMODULE
    return EntryKind.UNREADABLE if name in names.unopened else None


def kind_of(mode: int) -> EntryKind:
    """Return what a stat mode says an entry is."""
    for test, kind in (
        (stat.S_ISREG, EntryKind.FILE),
        (stat.S_ISLNK, EntryKind.SYMLINK),
        (stat.S_ISDIR, EntryKind.DIRECTORY),
        (stat.S_ISFIFO, EntryKind.FIFO),
        (stat.S_ISSOCK, EntryKind.SOCKET),
    ):
        if test(mode):
            return kind
    return EntryKind.DEVICE


def _target_digest(path: bytes) -> str:
    try:
        return hashlib.sha256(os.readlink(path)).hexdigest()  # noqa: PTH115  a path in bytes
    except OSError:
        return ""


def _signed(flat: list[int]) -> array[int]:
    """Return 64-bit integers; an inode number past the signed range keeps its bits."""
    try:
        return array("q", flat)
    except OverflowError:
        return array("q", [((value + _S64) % (2 * _S64)) - _S64 for value in flat])


def _unopened_notes(names: Names) -> list[TreeNote]:
    return [
        TreeNote(flag=CautionFlag.SEARCH_INCOMPLETE, path=shown(name), detail="not listed: contents unknown")
        for name in names.unopened
    ]


def _collisions(paths: Sequence[str]) -> list[TreeNote]:
    """Return notes on paths that are one on file systems that fold case or compose accents."""
    folded = [path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold() for path in paths]
    if len(set(folded)) == len(folded):
        return []
    groups: dict[str, list[str]] = {}
    for path, key in zip(paths, folded, strict=True):
        groups.setdefault(key, []).append(path)
    return [
        TreeNote(flag=CautionFlag.PORTABILITY_COLLISION, path=group[0], detail=f"the same elsewhere: {other}")
        for group in groups.values()
        for other in group[1:]
    ]
