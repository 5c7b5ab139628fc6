"""The only reader of the disk in a zone: what is there, in which state, and its bytes.

A workspace lists and looks at the tree once, when it is opened. Everything later is judged
against that moment: a file that differs when it is read is returned, and named in ``unstable``
so that nothing derived from it is kept.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple
from zlib import crc32

from rtch.baseline_files import baselines_among
from rtch.collector import paused_collector
from rtch.effective import EMPTY, Notes, View, has_rows
from rtch.errors import ToolError
from rtch.git import LIST_TIMEOUT_S, find_repository, head_of, ignore_settings, private_git
from rtch.listing import Columns, Names, collect, columns
from rtch.models.vocab import CautionFlag, EntryKind, SkipReason
from rtch.reading import OpenFile, SkippedFile, StatRow, open_regular, peek
from rtch.recall import Recall
from rtch.repository import HeadInfo, RepositoryRefused, Tracked
from rtch.roots import RootChoice, find_root, readable_root
from rtch.sight import COARSE_RACY_NS, ROW_COLUMNS, is_racy
from rtch.text import HEAD_BYTES, UTF32_BYTES, DecodedText, HeadKind, decode, head_kind, is_binary, is_utf32
from rtch.zone_paths import ZonePaths

__all__ = ["FileBytes", "RootChoice", "Workspace", "find_root", "open_workspace"]

OWN_FOLDERS = ("audit-logs/rtch/packets",)
"""Where rtch keeps packets in a zone that has one."""

_MARK = (1 << 64) - 1
_KIND_REASONS = {
    EntryKind.SYMLINK: SkipReason.SYMLINK,
    EntryKind.SUBMODULE: SkipReason.SUBMODULE,
    EntryKind.UNREADABLE: SkipReason.UNREADABLE,
    EntryKind.ABSENT: SkipReason.NOT_FOUND,
}


@dataclass(frozen=True, slots=True)
class FileBytes:
    """A whole file as it was read, and its sha256."""

    data: bytes
    sha256: str
    size: int


class Origin(NamedTuple):
    """What a workspace was opened with: rtch's own outputs in the zone, and the memory of its list."""

    left_out: tuple[bytes, ...]
    recall: Recall | None


class Workspace(ZonePaths):
    """An open zone. Made by ``open_workspace``; safe to share between threads."""

    def __init__(self, root: Path, seen: Columns, names: Names, origin: Origin) -> None:
        super().__init__(root, seen, origin.left_out)
        self.repository = names.repository
        self.vcs: Literal["git", "none"] = "none" if names.repository is None else "git"
        self.listed_by: Literal["git", "walk"] = "walk" if names.walked else "git"
        self._names = names
        self._recall = origin.recall
        self._safe_ns = seen.looked_ns - COARSE_RACY_NS
        """What changed before that is not racy, however coarse its time stamp."""
        self._tokens: dict[str, str] = {}
        self._heads: dict[str, HeadKind] = {}
        self._utf32: dict[str, bool] = {}
        self._unstable: set[str] = set()
        self.notes: Notes | None = None
        """Where the view is looked up and left; set before it is asked for the first time."""

    @cached_property
    def view(self) -> View:
        """What the zone's ledgers show in place of their bytes; every read goes through it."""
        if not any(map(has_rows, self.listing.paths)):
            return EMPTY
        from rtch.view_making import view_of  # noqa: PLC0415  most zones have no ledger

        return view_of(self, self.notes)

    @property
    def unstable(self) -> frozenset[str]:
        """Paths whose bytes, when read, were not those that the listing saw."""
        return frozenset(self._unstable)

    @property
    def recalled(self) -> bool:
        """Whether the list is an earlier run's, which was found to stand."""
        return self._names.recalled

    @cached_property
    def head(self) -> HeadInfo | None:
        """The commit and branch, for the run record; None outside git."""
        try:
            return None if self.repository is None else head_of(self.repository)
        except ToolError:
            return HeadInfo(None, None)

    @property
    def index_digest(self) -> str:
        """A digest of the bytes of git's index, before they were asked; empty where no list is kept."""
        return "" if self._recall is None else self._recall.index.hex()

    @property
    def object_format(self) -> str:
        """The format of blob ids; git's default where there is no repository."""
        return "sha1" if self.repository is None else self.repository.object_format

    def index_blob_ids(self, paths: Iterable[str]) -> dict[str, str]:
        """Return what git's index says of the tracked ones among these paths.

        Raises:
            ToolError: git failed; it is asked only where the list was recalled.
        """
        wanted = {self.name_of(path): path for path in paths}
        found: dict[str, str] = {}
        for prefix, tracked in self._indexes(list(wanted)):
            inner = {name.removeprefix(prefix): path for name, path in wanted.items() if name.startswith(prefix)}
            found |= {inner[name]: blob for name, blob in tracked.blob_ids(inner.keys()).items()}
        return found

    def _indexes(self, wanted: list[bytes]) -> list[tuple[bytes, Tracked]]:
        if not self._names.recalled or self.repository is None or not wanted:
            return self._names.indexes
        with private_git(self.repository, self.root) as git:
            return [(b"", git.tracked(wanted if len(wanted) < 1000 else ()))]

    def memory(self) -> bytes | None:
        """Return what the next ``open_workspace`` of this root can start from; None where there is nothing to keep.

        It reads every folder once and is best called when the answer is out.
        """
        recall = self._recall
        if recall is None:
            return None
        try:
            kept = recall.refreshed if self._names.recalled else recall.remember(self._names, self._seen)
        except ToolError:
            return None
        return None if kept is None else kept.encode()

    # -- state ---------------------------------------------------------------------------------

    def token(self, path: str) -> str:
        """Return what a stage key takes for a path: its stat row, or its sha256 where that is not safe.

        ``absent`` where there is nothing, the kind where it is no regular file.
        """
        mark = self.view.mark(path)
        if not mark:
            return self.raw_token(path)
        return "view:" + hashlib.sha256(f"{mark} {self.raw_token(path)}".encode()).hexdigest()

    def raw_token(self, path: str) -> str:
        """Return the token of a path's own bytes, whatever a view shows of them."""
        i = self.index.get(path, -1)
        if i >= 0 and self.listing.kinds[i] is EntryKind.FILE:
            size, mtime, ctime, inode, mode = self._seen.sight.rows[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS]
            if ctime < self._safe_ns:
                return f"stat:{size}:{mtime}:{ctime}:{inode}:{mode}"
        known = self._tokens.get(path)
        if known is None:
            known = self._tokens[path] = self._token(path)
        return known

    def _token(self, path: str) -> str:
        i = self.index.get(path)
        kind = self.kind(path)
        if kind is EntryKind.SYMLINK:
            return f"symlink:{'' if i not in self._seen.sight.links else self._seen.sight.links[i][1]}"
        row = self._row(path, i) if kind is EntryKind.FILE else None
        if row is None:
            return str(kind)
        if not is_racy(row.ctime_ns, self._seen.looked_ns):
            return "stat:" + ":".join(map(str, row))
        try:
            with self.open(path) as file:
                return f"sha256:{file.digest()}"
        except SkippedFile as skipped:
            return f"unreadable:{skipped.reason}"

    def _row(self, path: str, i: int | None) -> StatRow | None:
        if i is not None:
            return self._seen.sight.row(i)
        status = self._lstat(path)
        return None if status is None else StatRow.of(status)

    def marks(self, paths: Iterable[str]) -> array[int]:
        """Return a number for each path of the listing, equal where path and state are equal.

        Cheaper than tokens for a whole tree, and for notes alone: whoever makes files could make two numbers meet.
        """
        rows, index, names = self._seen.sight.rows, self.index, self._seen.names
        viewed = self.view.paths
        found = array("Q")
        for path in paths:
            i = index[path]
            row = rows[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS]
            if (path in viewed or row[2] >= self._safe_ns) and not (token := self.token(path)).startswith("stat:"):
                row = array("q", hashlib.sha256(token.encode()).digest())
            found.append(hash((crc32(names[i]), *row)) & _MARK)
        return found

    def state(self, paths: Iterable[str] | None = None) -> str:
        """Return one sha256 over the sorted (path, token) pairs; None is the whole tree."""
        if paths is None:
            return self._whole_state
        hasher = hashlib.sha256()
        for path in sorted(set(paths)):
            shown, token = path.encode("utf-8", "surrogatepass"), self.token(path).encode()
            hasher.update(b"%d:%b%d:%b" % (len(shown), shown, len(token), token))
        return hasher.hexdigest()

    @cached_property
    def _whole_state(self) -> str:
        """Hash the columns at once: a loop over 50,000 tokens costs five times as much."""
        sight, paths = self._seen.sight, self.listing.paths
        changed = sight.rows[2::ROW_COLUMNS]
        doubtful = set(sight.odd)
        if changed and max(changed) >= self._safe_ns:
            doubtful |= {i for i, ctime in enumerate(changed) if ctime >= self._safe_ns}
        viewed = sorted(self.view.paths)
        doubtful |= {self.index[path] for path in viewed if path in self.index}
        tokens = {i: self.token(paths[i]) for i in sorted(doubtful)}
        unsafe = {i: token for i, token in tokens.items() if not token.startswith("stat:")}
        rows = array("q", sight.rows)
        for i in unsafe:
            rows[i * ROW_COLUMNS : (i + 1) * ROW_COLUMNS] = array("q", [0] * ROW_COLUMNS)
        marked = "\n".join(f"{i}:{token}" for i, token in unsafe.items())
        marked += "".join(f"\n{self.view.mark(path)}" for path in viewed if path not in self.index)
        hasher = hashlib.sha256(b"%d\0" % len(paths))
        for part in (b"\0".join(self._seen.names), rows.tobytes(), marked.encode()):
            hasher.update(b"%d:" % len(part))
            hasher.update(part)
        return hasher.hexdigest()

    # -- bytes ---------------------------------------------------------------------------------

    @contextmanager
    def open(self, path: str) -> Iterator[OpenFile]:
        """Open a regular file of the zone; binary files too.

        Raises:
            SkippedFile: the reason why it cannot be read.
        """
        i = self.index.get(path)
        if i is None:
            self._check_place(path)
        kind = self.kind(path)
        if kind is not EntryKind.FILE:
            raise SkippedFile(_KIND_REASONS.get(kind, SkipReason.NOT_REGULAR), path, str(kind))
        row = None if i is None else self._seen.sight.row(i)
        with open_regular(self._base, self.name_of(path), path, row) as file:
            if row is not None and file.row != row:
                self._unstable.add(path)
            yield file

    def read(self, path: str, *, max_bytes: int) -> FileBytes:
        """Return a text file's bytes, as the view shows them.

        Raises:
            SkippedFile: HELD where the view shows nothing, OVERSIZED past ``max_bytes``, BINARY,
                CHANGED_DURING_RUN when it is written meanwhile, or what ``open`` raises.
        """
        self.view.check(path)
        with self.open(path) as file:
            size = file.row.size
            if size > max_bytes:
                raise SkippedFile(SkipReason.OVERSIZED, path, f"{size} bytes, limit {max_bytes}")
            data = file.pread(0, size)
            file.check_unchanged()
        if is_binary(data):
            raise SkippedFile(SkipReason.BINARY, path, f"a NUL in the first {HEAD_BYTES} bytes")
        sha256 = hashlib.sha256(data).hexdigest()
        token = self.raw_token(path) if path in self.index else ""
        if token.startswith("sha256:") and token != f"sha256:{sha256}":
            self._unstable.add(path)
        if self.view.replaces(path):
            if path in self._unstable:
                raise SkippedFile(SkipReason.CHANGED_DURING_RUN, path, "written since its corrections were looked up")
            data = self.view.project(path, data)
            return FileBytes(data, hashlib.sha256(data).hexdigest(), len(data))
        return FileBytes(data, sha256, len(data))

    def head_kind(self, path: str) -> HeadKind:
        """Return what a file's first 8 KiB say; asked once a path.

        Raises:
            SkippedFile: the reason why it cannot be read.
        """
        known = self._heads.get(path)
        if known is None:
            i = self.index.get(path)
            head = (
                None
                if i is None
                else peek(self._base + b"/" + self._seen.names[i], HEAD_BYTES, self._seen.sight.row(i))
            )
            if head is None:
                with self.open(path) as file:
                    head = file.pread(0, HEAD_BYTES)
            known = self._heads[path] = head_kind(head)
        return known

    def is_utf32(self, path: str) -> bool:
        """Tell whether a file that is as it was listed begins with a UTF-32 byte order mark; asked once a path."""
        i = self.index.get(path)
        # Its size tells most files apart; opening all of a large tree would take as long as searching it.
        if i is None or self.listing.sizes[i] % UTF32_BYTES or self.listing.kinds[i] is not EntryKind.FILE:
            return False
        known = self._utf32.get(path)
        if known is None:
            head = peek(self._base + b"/" + self._seen.names[i], UTF32_BYTES, self._seen.sight.row(i))
            known = self._utf32[path] = head is not None and is_utf32(head)
        return known

    def digest(self, path: str) -> str:
        """Return a file's sha256 without holding it; binary files too.

        Raises:
            SkippedFile: the reason why it cannot be read.
        """
        with self.open(path) as file:
            return file.digest()

    @staticmethod
    def decode(data: bytes) -> DecodedText:
        """Decode a whole file's bytes."""
        return decode(data)


def open_workspace(
    root: Path,
    *,
    own_outputs: tuple[Path, ...] = (),
    timeout_s: float = LIST_TIMEOUT_S,
    memory: bytes | None = None,
) -> Workspace:
    """List a zone and look at each entry once.

    Args:
        root: the zone root.
        own_outputs: files and folders that rtch writes; they are no part of the tree.
        timeout_s: seconds for each call of git.
        memory: what ``Workspace.memory`` gave for this root before; empty bytes where there is
            none yet, None where none is kept.

    Raises:
        ZoneError: the root is not a folder that can be read.
    """
    root = readable_root(root)
    refused: RepositoryRefused | ToolError | None = None
    repository, recall, settings = None, None, None
    left_out = _inside(root, own_outputs)
    try:
        repository = find_repository(root)
        settings = ignore_settings(repository)
        recall = None if memory is None else Recall(root, repository, settings, left_out)
    except (RepositoryRefused, ToolError) as error:
        refused = error
    with paused_collector():
        names = recall.names(memory) if recall is not None and memory else None
        if names is None:
            names = collect(root, repository, timeout_s=timeout_s, settings=settings)
        if refused is not None and not names.walked:
            names.note(_flag_of(refused), b"", f"{refused}; listed as a tree outside git")
        ours = () if names.recalled else baselines_among(names.root, names.everything())
        return Workspace(root, columns(names, (*left_out, *ours)), names, Origin(left_out, recall))


def _flag_of(refused: RepositoryRefused | ToolError) -> CautionFlag:
    if isinstance(refused, RepositoryRefused):
        return refused.flag
    return CautionFlag.TIMEOUT if refused.timed_out else CautionFlag.TOOL_FAILED


def _inside(root: Path, own_outputs: Iterable[Path]) -> tuple[bytes, ...]:
    """Return the own outputs that lie in the zone, relative to it."""
    real = (Path(os.path.realpath(path)) for path in own_outputs)
    found = {os.fsencode(path.relative_to(root)) for path in real if path != root and path.is_relative_to(root)}
    return tuple(sorted(found | {folder.encode() for folder in OWN_FOLDERS}))
