"""The list of a tree, kept between runs, and the proof that it still stands.

Git's walk for untracked files is half of opening a large tree. What it finds depends on the names in
the index, the folders that are not ignored, and the files with ignore rules. Where each of them is as
it was, git would answer the same, and is not asked. Files are looked at anew in any case.

A row is kept only if it was settled when the tree was listed. So a change made meanwhile shows as a
difference next time, and not as the state that was remembered.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from rtch.baseline_files import ENDING, named_like_baselines
from rtch.errors import ToolError
from rtch.git import git_program, private_git
from rtch.layout import layout
from rtch.listing import GONE, Columns, Names
from rtch.memory import DIGEST_BYTES, Memory, rows_of_files
from rtch.models.vocab import CautionFlag
from rtch.repository import IgnoreSettings, Repository, regular_bytes
from rtch.sight import ROW_COLUMNS, folder_rows, folders_of, is_racy, without_row

MAX_UNLISTED = 4000
"""Folders without a listed file that are watched; past it the list is not kept."""
_MAX_INDEX_BYTES = 1 << 30


class Entries(NamedTuple):
    """What a folder holds: a digest of its entries and their kinds, the folders and the files with rules."""

    digest: bytes
    folders: tuple[bytes, ...] = ()
    rules: tuple[bytes, ...] = ()


_NO_FOLDER = Entries(bytes(DIGEST_BYTES))


class Recall:
    """What is remembered of one root, and whether it still stands."""

    def __init__(
        self, root: Path, repository: Repository | None, settings: IgnoreSettings, left_out: Collection[bytes]
    ) -> None:
        """Take what a list follows from besides the tree."""
        self._root = os.fsencode(root)
        self._repository = repository
        self._settings = settings
        self._rule_names = (b".gitignore", *map(os.fsencode, layout().ignore_files))
        self._left_out: dict[bytes, set[bytes]] = {}
        for folder, _, name in (own.rpartition(b"/") for own in left_out):
            self._left_out.setdefault(folder or b".", set()).add(name)
        self._basis = self._digest_of_basis(sorted(left_out))
        self.index = self._digest_of_index()
        self.refreshed: Memory | None = None
        """The memory with new rows, where what changed left the list as it was."""

    def _digest_of_basis(self, left_out: list[bytes]) -> bytes:
        git = Path(git_program()).stat()
        settings = (sorted(self._settings.local.items()), self._settings.user)
        outside = tuple(self._outer_rules())
        told = (
            self._root,
            self._repository,
            settings,
            git.st_size,
            git.st_mtime_ns,
            left_out,
            outside,
            self._rule_names,
            ENDING,
        )
        return hashlib.sha256(repr(told).encode()).digest()

    def _digest_of_index(self) -> bytes:
        hasher = hashlib.sha256()
        if self._repository is not None:
            git_dir = self._repository.git_dir
            for path in (git_dir / "index", *sorted(git_dir.glob("sharedindex.*"))):
                content = regular_bytes(path, _MAX_INDEX_BYTES) or b""
                hasher.update(b"%d:" % len(content))
                hasher.update(content)
        return hasher.digest()

    def names(self, data: bytes) -> Names | None:
        """Return the remembered paths, looked at, if git would list the same, else None."""
        memory = Memory.decode(data)
        if memory is None or memory.basis != self._basis:
            return None
        names = Names(self._root, self._repository)
        names.recalled, names.distinct = True, memory.distinct
        names.tracked, names.gitlinks = memory.paths, set(memory.gitlinks)
        if not (
            rows_of_files(memory.files) == memory.file_rows
            and self._folders_stand(memory, names.looked_ns)
            and self._index_stands(memory)
        ):
            return None
        names.no_folders = without_row(memory.folders, memory.folder_rows)
        names.look()
        # A path that git listed is left out once it is gone, and its folder may not have told.
        gone = {memory.paths[i] for i, kind in names.sight.odd.items() if kind in GONE}
        return names if gone <= set(memory.gone) else None

    def _index_stands(self, memory: Memory) -> bool:
        """Tell whether the index names what it named; staging, committing and a refresh write it anew."""
        if memory.index == self.index:
            return True
        try:
            with private_git(self._repository, self._path(), settings=self._settings) as git:
                if git.tracked().digest() != memory.tracked:
                    return False
        except ToolError:
            return False
        memory.index = self.index
        self.refreshed = memory
        return True

    def _folders_stand(self, memory: Memory, looked_ns: int) -> bool:
        rows = folder_rows(self._root, memory.folders)
        if rows == memory.folder_rows:
            return True
        settled = array("q", memory.folder_rows)
        for i, folder in enumerate(memory.folders):
            span = slice(i * ROW_COLUMNS, (i + 1) * ROW_COLUMNS)
            if rows[span] == memory.folder_rows[span]:
                continue
            # An editor that writes a new file and renames it changes the folder and not its entries.
            entries = self._entries(folder) if any(rows[span]) else None
            if entries is None or entries.digest != memory.contents[i * DIGEST_BYTES : (i + 1) * DIGEST_BYTES]:
                return False
            if not is_racy(rows[span][2], looked_ns):
                settled[span] = rows[span]
        if settled != memory.folder_rows:
            memory.folder_rows = settled
            self.refreshed = memory
        return True

    def remember(self, names: Names, seen: Columns) -> Memory | None:
        """Return the memory of a list that was just made; None where it cannot be trusted later.

        Bounds: every folder with a listed file is read once, and at most MAX_UNLISTED others.
        """
        if names.walked or names.notes or names.unopened or len(names.indexes) != 1:
            return None
        if names.repository is not self._repository:
            return None
        watched = self._watched(seen.names, names.gitlinks)
        if watched is None:
            return None
        folders = sorted(watched)
        rules = [
            os.path.join(self._root, b"" if folder == b"." else folder, name)  # noqa: PTH118  paths in bytes
            for folder in folders
            for name in watched[folder].rules
        ]
        # Whether it is one is told by what is in it.
        baselines = [self._root + b"/" + name for name in named_like_baselines(names.everything())]
        memory = Memory(
            basis=self._basis,
            index=self.index,
            tracked=names.indexes[0][1].digest(),
            paths=seen.names,
            gitlinks=sorted(names.gitlinks),
            gone=[seen.names[i] for i, kind in seen.sight.odd.items() if kind in GONE],
            folders=folders,
            folder_rows=folder_rows(self._root, folders),
            contents=b"".join(watched[folder].digest for folder in folders),
            files=[*rules, *self._outer_rules(), *baselines],
            distinct=not any(note.flag is CautionFlag.PORTABILITY_COLLISION for note in seen.listing.notes),
        )
        memory.file_rows = rows_of_files(memory.files)
        changed = (*memory.folder_rows[2::ROW_COLUMNS], *memory.file_rows[2::ROW_COLUMNS])
        if any(is_racy(ctime, names.looked_ns) for ctime in changed if ctime):
            return None
        return memory

    def _watched(self, paths: Sequence[bytes], gitlinks: Collection[bytes]) -> dict[bytes, Entries] | None:
        """Return the entries of every folder that is not ignored; folders on the way to a path may be links or gone."""
        listed = folders_of(paths)
        watched: dict[bytes, Entries] = {}
        fresh = sorted(listed)
        while fresh:
            bad = without_row(fresh, folder_rows(self._root, fresh))
            inner: list[bytes] = []
            for folder in fresh:
                entries = _NO_FOLDER if folder in bad else self._entries(folder)
                if entries is None:
                    return None
                watched[folder] = entries
                inner += entries.folders if folder == b"." else [folder + b"/" + name for name in entries.folders]
            unlisted = [name for name in inner if name not in listed and name not in gitlinks]
            if len(watched) + len(unlisted) > len(listed) + MAX_UNLISTED:
                return None
            fresh = self._not_ignored(sorted(unlisted))
        return watched

    def _not_ignored(self, folders: list[bytes]) -> list[bytes]:
        if not folders:
            return []
        with private_git(self._repository, self._path(), settings=self._settings) as git:
            hidden = git.ignored(folders)
        return [folder for folder in folders if folder not in hidden]

    def _entries(self, folder: bytes) -> Entries | None:
        """Return what a folder holds, without rtch's own outputs; None where it cannot be watched."""
        files: list[bytes] = []
        folders: list[bytes] = []
        others: list[bytes] = []
        try:
            with os.scandir(os.path.join(self._root, folder)) as found:  # noqa: PTH118  paths in bytes
                for entry in found:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                        files.append(entry.name)
                    else:
                        others.append(entry.name)  # git does not list it
        except OSError:
            return None
        for name in (b".git", *self._left_out.get(folder, ())):
            for names in (files, folders, others):
                if name in names:
                    if name == b".git" and folder != b".":
                        return None  # a nested repository, or about to be one
                    names.remove(name)
        text = b"/".join(b"\0".join(sorted(names)) for names in (files, folders, others))
        rules = tuple(name for name in self._rule_names if name in files)
        return Entries(hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest(), tuple(folders), rules)

    def _path(self) -> Path:
        return Path(os.fsdecode(self._root))

    def _outer_rules(self) -> Iterable[bytes]:
        """Return the files with rules that lie outside the root, whether they exist or not."""
        root = self._path()
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
