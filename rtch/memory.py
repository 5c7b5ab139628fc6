"""What is kept of a tree's list between runs, as bytes."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rtch.reading import StatRow
from rtch.sight import ROW_COLUMNS

VERSION = 1
_DIGEST_BYTES = 16
_NO_ROW = (0,) * ROW_COLUMNS


@dataclass(slots=True)
class Memory:
    """A list of names, and everything that it follows from.

    Attributes:
        basis: digest of the repository's places, its settings, its index and git itself.
        names: tracked, untracked, gitlinks and hidden paths.
        folders: the watched folders, relative; the root is ``.``.
        folder_rows: a row for each.
        contents: a digest of each one's entries, for folders that changed and changed back.
        files: absolute paths of files with rules, whether they exist or not.
        file_rows: a row for each, all zero where there is none.
    """

    basis: bytes
    names: tuple[list[bytes], list[bytes], list[bytes], list[bytes]]
    folders: list[bytes] = field(default_factory=list)
    folder_rows: array[int] = field(default_factory=lambda: array("q"))
    contents: list[bytes] = field(default_factory=list)
    files: list[bytes] = field(default_factory=list)
    file_rows: array[int] = field(default_factory=lambda: array("q"))

    def encode(self) -> bytes:
        """Return the memory as bytes."""
        parts = [
            self.basis,
            *map(b"\0".join, self.names),
            b"\0".join(self.folders),
            self.folder_rows.tobytes(),
            b"".join(self.contents),
            b"\0".join(self.files),
            self.file_rows.tobytes(),
        ]
        head = json.dumps({"version": VERSION, "sizes": list(map(len, parts))}).encode()
        return b"\n".join((head, b"".join(parts)))

    @classmethod
    def decode(cls, data: bytes) -> Memory | None:
        """Read what ``encode`` wrote; None for anything else."""
        head, _, body = data.partition(b"\n")
        try:
            told = json.loads(head)
            sizes = [int(size) for size in told["sizes"]]
            if told["version"] != VERSION or len(sizes) != 10 or sum(sizes) != len(body):
                return None
        except (ValueError, KeyError, TypeError):
            return None
        parts: list[bytes] = []
        at = 0
        for size in sizes:
            parts.append(body[at : at + size])
            at += size
        if any(len(parts[i]) % (8 * ROW_COLUMNS) for i in (6, 9)) or len(parts[7]) % _DIGEST_BYTES:
            return None
        tracked, untracked, gitlinks, hidden = (_split(part) for part in parts[1:5])
        contents = [parts[7][i : i + _DIGEST_BYTES] for i in range(0, len(parts[7]), _DIGEST_BYTES)]
        rows = array("q", parts[6]), array("q", parts[9])
        memory = cls(
            parts[0],
            (tracked, untracked, gitlinks, hidden),
            _split(parts[5]),
            rows[0],
            contents,
            _split(parts[8]),
            rows[1],
        )
        watched = len(memory.folders)
        whole = len(rows[0]) == watched * ROW_COLUMNS == len(contents) * ROW_COLUMNS
        return memory if whole and len(rows[1]) == len(memory.files) * ROW_COLUMNS else None


def _split(data: bytes) -> list[bytes]:
    return data.split(b"\0") if data else []


def folders_of(names: Iterable[bytes]) -> set[bytes]:
    """Return every folder on the way to some paths; the root is ``.``."""
    folders = {name.rpartition(b"/")[0] for name in names}
    pending = list(folders)
    while pending:
        parent = pending.pop().rpartition(b"/")[0]
        if parent not in folders:
            folders.add(parent)
            pending.append(parent)
    folders.discard(b"")
    return folders | {b"."}


def entries_digest(entries: Sequence[tuple[bytes, bool]]) -> bytes:
    """Return a digest of a folder's sorted entries, each with whether it is a folder."""
    text = b"\0".join(name + (b"/" if is_folder else b"") for name, is_folder in entries)
    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).digest()


def folder_rows(root: bytes, folders: Sequence[bytes]) -> array[int]:
    """Return each folder's row, all zero where it is none or a link to one."""
    base, lstat, is_folder = root + b"/", os.lstat, stat.S_ISDIR
    flat: list[int] = []
    for folder in folders:
        try:
            status = lstat(base + folder)
        except OSError:
            flat += _NO_ROW
            continue
        flat += StatRow.of(status) if is_folder(status.st_mode) else _NO_ROW
    return array("q", flat)


def file_rows(files: Sequence[bytes]) -> array[int]:
    """Return the row of what each path leads to; the user may keep ignore files behind links."""
    flat = array("q")
    for path in files:
        try:
            flat.extend(StatRow.of(os.stat(path)))  # noqa: PTH116  a path in bytes
        except OSError:
            flat.extend(_NO_ROW)
    return flat
