"""What is kept of a tree's list between runs, as bytes."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from rtch.reading import StatRow
from rtch.sight import ROW_COLUMNS

VERSION = 2
DIGEST_BYTES = 16
_ROW_BYTES = 8 * ROW_COLUMNS
_NO_ROW = (0,) * ROW_COLUMNS


@dataclass(slots=True)
class Memory:
    """A list of paths, and everything that it follows from.

    Attributes:
        basis: digest of the repository's places, its settings and git itself.
        index: digest of the index's bytes.
        tracked: digest of what a list takes from the index.
        paths: what the listing holds, in its order.
        gitlinks: the submodules among them.
        gone: those that were no longer there, or had become what git does not list.
        folders: the watched folders, relative; the root is ``.``.
        folder_rows: a row for each, all zero where it is no folder.
        contents: a digest of each one's entries, for folders that changed and changed back.
        files: absolute paths of files with rules, whether they exist or not.
        file_rows: a row for each, all zero where there is none.
        distinct: whether no two paths are one where case or accents are folded.
    """

    basis: bytes
    index: bytes
    tracked: bytes
    paths: list[bytes]
    gitlinks: list[bytes]
    gone: list[bytes]
    folders: list[bytes]
    folder_rows: array[int]
    contents: bytes
    files: list[bytes] = field(default_factory=list)
    file_rows: array[int] = field(default_factory=lambda: array("q"))
    distinct: bool = False

    def encode(self) -> bytes:
        """Return the memory as bytes."""
        parts = [
            self.basis,
            self.index,
            self.tracked,
            *map(b"\0".join, (self.paths, self.gitlinks, self.gone, self.folders, self.files)),
            self.folder_rows.tobytes(),
            self.contents,
            self.file_rows.tobytes(),
        ]
        head = {"version": VERSION, "distinct": self.distinct, "sizes": list(map(len, parts))}
        return b"\n".join((json.dumps(head).encode(), b"".join(parts)))

    @classmethod
    def decode(cls, data: bytes) -> Memory | None:
        """Read what ``encode`` wrote; None for anything else."""
        head, _, body = data.partition(b"\n")
        try:
            told = json.loads(head)
            sizes = [int(size) for size in told["sizes"]]
            distinct = bool(told["distinct"])
            if told["version"] != VERSION or len(sizes) != 11 or min(sizes) < 0 or sum(sizes) != len(body):
                return None
        except (ValueError, KeyError, TypeError):
            return None
        parts: list[bytes] = []
        at = 0
        for size in sizes:
            parts.append(body[at : at + size])
            at += size
        paths, gitlinks, gone, folders, files = (part.split(b"\0") if part else [] for part in parts[3:8])
        rows, contents, file_rows = parts[8:]
        if len(rows) != len(folders) * _ROW_BYTES or len(contents) != len(folders) * DIGEST_BYTES:
            return None
        if len(file_rows) != len(files) * _ROW_BYTES:
            return None
        basis, index, tracked = parts[:3]
        rows_read = array("q", rows), array("q", file_rows)
        return cls(
            basis, index, tracked, paths, gitlinks, gone, folders, rows_read[0], contents, files, rows_read[1], distinct
        )


def rows_of_files(files: Sequence[bytes]) -> array[int]:
    """Return the row of what each path leads to; the user may keep ignore files behind links."""
    flat = array("q")
    for path in files:
        try:
            flat.extend(StatRow.of(os.stat(path)))  # noqa: PTH116  a path in bytes
        except OSError:
            flat.extend(_NO_ROW)
    return flat
