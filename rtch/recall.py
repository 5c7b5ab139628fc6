"""The list of a tree, kept between runs, and the proof that it still stands.

Git's walk for untracked files is half of opening a large tree. What it finds depends on the index,
the folders that are not ignored, and the files with ignore rules. Where each of them is as it was,
git would answer the same, and is not asked. Files are looked at anew in any case.

A row is kept only if it was settled when the tree was listed. So a change made meanwhile shows as a
difference next time, and not as the state that was remembered.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Collection, Iterable
from pathlib import Path

from rtch.git import git_program, private_git
from rtch.listing import IGNORE_FILE, Names
from rtch.memory import Memory, entries_digest, file_rows, folder_rows, folders_of
from rtch.paths import lies_in
from rtch.repository import IgnoreSettings, Repository, regular_bytes
from rtch.sight import ROW_COLUMNS, is_racy

MAX_UNLISTED = 4000
"""Folders without a listed file that are watched; past it the list is not kept."""
_MAX_INDEX_BYTES = 1 << 30
_RULE_NAMES = (b".gitignore", IGNORE_FILE)


class Recall:
    """What is remembered of one root, and whether it still stands."""

    def __init__(
        self, root: Path, repository: Repository | None, settings: IgnoreSettings, left_out: Collection[bytes]
    ) -> None:
        """Take what a list follows from besides the tree."""
        self._root = os.fsencode(root)
        self._repository = repository
        self._settings = settings
        self._left_out = left_out
        self.basis = self._basis(root)
        self.refreshed: Memory | None = None
        """The memory with new rows, when folders changed and changed back."""

    def _basis(self, root: Path) -> bytes:
        repository, git = self._repository, Path(git_program()).stat()
        hasher = hashlib.sha256()
        parts = [repr((str(root), repository, sorted(self._settings.local.items()), self._settings.user)).encode()]
        parts.append(repr((git.st_size, git.st_mtime_ns, sorted(self._left_out), *self._outer_rules())).encode())
        if repository is not None:
            shared = sorted(repository.git_dir.glob("sharedindex.*"))
            parts += [regular_bytes(path, _MAX_INDEX_BYTES) or b"" for path in (repository.git_dir / "index", *shared)]
        for part in parts:
            hasher.update(b"%d:" % len(part))
            hasher.update(part)
        return hasher.digest()

    def names(self, data: bytes) -> Names | None:
        """Return the remembered names if git would list the same, else None."""
        memory = Memory.decode(data)
        if memory is None or memory.basis != self.basis:
            return None
        names = Names(self._root, self._repository)
        if file_rows(memory.files) != memory.file_rows or not self._folders_stand(memory, names.looked_ns):
            return None
        names.tracked, names.untracked, gitlinks, hidden = memory.names
        names.gitlinks, names.hidden = set(gitlinks), set(hidden)
        names.recalled = True
        return names

    def _folders_stand(self, memory: Memory, looked_ns: int) -> bool:
        rows = folder_rows(self._root, memory.folders)
        if rows == memory.folder_rows:
            return True
        changed = [
            i
            for i in range(len(memory.folders))
            if rows[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS]
            != memory.folder_rows[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS]
        ]
        settled = array("q", memory.folder_rows)
        for i in changed:
            # An editor that writes a new file and renames it changes the folder and not its entries.
            entries = self._entries(memory.folders[i])
            if entries is None or entries_digest(entries) != memory.contents[i]:
                return False
            span = slice(i * ROW_COLUMNS, (i + 1) * ROW_COLUMNS)
            if not is_racy(rows[span][2], looked_ns):
                settled[span] = rows[span]
        if settled != memory.folder_rows:
            memory.folder_rows = settled
            self.refreshed = memory
        return True

    def remember(self, names: Names) -> Memory | None:
        """Return the memory of a list that was just made; None where it cannot be trusted later.

        Bounds: every folder with a listed file is read once, and at most MAX_UNLISTED others.
        """
        if names.walked or names.notes or names.unopened or len(names.indexes) > 1:
            return None
        if names.repository is not self._repository:
            return None
        watched = self._watched(names)
        if watched is None:
            return None
        folders = sorted(watched)
        rules = [
            os.path.join(self._root, b"" if folder == b"." else folder, name)  # noqa: PTH118  paths in bytes
            for folder in folders
            for name, _ in watched[folder]
            if name in _RULE_NAMES
        ]
        memory = Memory(
            self.basis,
            (names.tracked, names.untracked, sorted(names.gitlinks), sorted(names.hidden)),
            folders,
            folder_rows(self._root, folders),
            [entries_digest(watched[folder]) for folder in folders],
            [*rules, *self._outer_rules()],
        )
        memory.file_rows = file_rows(memory.files)
        changed = (*memory.folder_rows[2::ROW_COLUMNS], *memory.file_rows[2::ROW_COLUMNS])
        if any(is_racy(ctime, names.looked_ns) for ctime in changed if ctime):
            return None
        return memory

    def _watched(self, names: Names) -> dict[bytes, list[tuple[bytes, bool]]] | None:
        """Return the entries of every folder that is not ignored."""
        listed = folders_of((*names.tracked, *names.untracked))
        watched: dict[bytes, list[tuple[bytes, bool]]] = {}
        fresh = listed
        with private_git(self._repository, Path(os.fsdecode(self._root)), settings=self._settings) as git:
            while fresh:
                inner: list[bytes] = []
                for folder in fresh:
                    entries = self._entries(folder)
                    if entries is None:
                        return None
                    watched[folder] = entries
                    prefix = b"" if folder == b"." else folder + b"/"
                    inner += [prefix + name for name, is_folder in entries if is_folder]
                unlisted = [name for name in inner if name not in watched and name not in listed]
                unlisted = [name for name in unlisted if name not in names.gitlinks]
                if len(watched) + len(unlisted) > len(listed) + MAX_UNLISTED:
                    return None
                hidden = git.ignored(unlisted) if unlisted else set()
                fresh = {name for name in unlisted if name not in hidden}
        return watched

    def _entries(self, folder: bytes) -> list[tuple[bytes, bool]] | None:
        """Return a folder's entries, each with whether it is a folder; None where it cannot be watched."""
        prefix = b"" if folder == b"." else folder + b"/"
        entries: list[tuple[bytes, bool]] = []
        try:
            with os.scandir(self._root + b"/" + prefix) as found:
                for entry in found:
                    if entry.name == b".git":
                        if prefix:
                            return None  # a nested repository, or about to be one
                    elif not lies_in(prefix + entry.name, self._left_out):
                        entries.append((entry.name, entry.is_dir(follow_symlinks=False)))
        except OSError:
            return None
        return sorted(entries)

    def _outer_rules(self) -> Iterable[bytes]:
        """Return the files with rules that lie outside the root, whether they exist or not."""
        root = Path(os.fsdecode(self._root))
        repository = self._repository
        base = root
        if repository is not None:
            base = repository.top
            yield os.fsencode(repository.common_dir / "info" / "exclude")
            yield from (os.fsencode(folder / ".gitignore") for folder in root.parents if folder.is_relative_to(base))
        named = self._settings.rules_file(base)
        home = Path("~").expanduser()
        config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        yield os.fsencode(config / "git" / "ignore" if named is None else named)
