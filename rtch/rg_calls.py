"""Calls of rg on files of a workspace, whatever is searched for: names, time, complaints, what was not searched.

rg is given lstat-checked regular files by name, and no configuration and no ignore rules.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rtch.errors import ToolError
from rtch.models.vocab import EntryKind, SkipReason
from rtch.process import Ending, clean_env, find_program, run, stream
from rtch.reading import SkippedFile
from rtch.rg_rows import batches
from rtch.tails import is_long
from rtch.text import HEAD_BYTES, HeadKind
from rtch.workspace import Workspace

BIG_FILE_BYTES = 16 << 20
"""Larger files are asked for a NUL before the search and not after it."""
VERSION_TIMEOUT_S = 5.0
OPTIONS = ("--no-config", "--no-ignore", "--hidden", "--no-mmap", "--color=never", "--no-stats", "--null")
"""What every call has: nothing but its arguments decides what is searched."""
_COMPLAINT = re.compile(r"rg: (.*?): (?:IO error .*)?([^:]*\(os error (\d+)\))\Z", re.DOTALL)


class NotSearched(NamedTuple):
    """A file that was to be searched and was not, or whose hits do not count."""

    path: str
    reason: SkipReason
    detail: str


def rg_program() -> str:
    """Return rg's absolute path: the one installed beside the interpreter, then PATH.

    Raises:
        ToolError: there is none.
    """
    found = find_program("rg", beside=Path(sys.executable).parent)
    if found is None:
        raise ToolError(
            "rg was not found beside the interpreter or on PATH",
            argv=("rg",),
            hint="install ripgrep, for instance with: pip install ripgrep",
        )
    return found


def rg_version() -> str:
    """Return rg's version number.

    Raises:
        ToolError: rg is missing or fails.
    """
    done = run(
        [rg_program(), "--no-config", "--version"],
        cwd=b"/",
        env=clean_env(),
        timeout_s=VERSION_TIMEOUT_S,
        max_output_bytes=1 << 16,
    )
    match = re.match(rb"ripgrep (\d+(\.\d+)+)", done.stdout)
    if match is None:
        raise ToolError("rg does not tell its version", argv=("rg", "--version"))
    return match.group(1).decode()


@dataclass(slots=True)
class RgCalls:
    """The calls of one search: what is wanted, how long it may take, and what could not be searched."""

    ws: Workspace
    deadline: float
    wanted: dict[bytes, str] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    """Wanted files that are not what they are on the disk; they are searched by their text."""
    skipped: dict[str, NotSearched] = field(default_factory=dict)
    timed_out: bool = False

    def admit(self, paths: Iterable[str]) -> None:
        """Take the regular files among some paths, and report the others."""
        ws, viewed = self.ws, self.ws.view.paths
        for path in sorted(set(paths)):
            i = ws.index.get(path, -1)
            kind = EntryKind.ABSENT if i < 0 else ws.listing.kinds[i]
            if kind is not EntryKind.FILE:
                reason = SkipReason.NOT_FOUND if kind is EntryKind.ABSENT else SkipReason.NOT_REGULAR
                self.skip(path, reason, str(kind))
            elif path in viewed and self._viewed(path):
                continue
            elif is_long(ws, path):
                self.texts.add(path)
            elif ws.listing.sizes[i] <= BIG_FILE_BYTES or self.head(path) is not None:
                name = ws.name_of(path)
                # "-" alone is standard input to rg, wherever it stands.
                self.wanted[b"./-" if name == b"-" else name] = path

    def _viewed(self, path: str) -> bool:
        """Set a file aside whose bytes on the disk are not what it shows; tell whether it is one."""
        try:
            self.ws.view.check(path)
        except SkippedFile as skipped:
            self.skip(path, skipped.reason, skipped.detail)
            return True
        if self.ws.view.replaces(path):
            self.texts.add(path)
        return path in self.texts

    def over_names(self, options: Sequence[str], names: Iterable[bytes]) -> Iterator[Iterator[bytes]]:
        """Yield the output of each call that is needed for so many names."""
        for batch in batches(names):
            yield self.blocks([*options, "--", *batch])

    def blocks(self, arguments: Sequence[str | bytes], data: bytes | None = None) -> Iterator[bytes]:
        """Yield the output of one call in blocks; complaints become skipped files.

        Raises:
            ToolError: rg is missing or refuses the patterns. A time limit is no error here.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.timed_out = True
            return
        ending = Ending()
        cwd = bytes(self.ws.root)
        argv = [rg_program(), *OPTIONS, *arguments]
        output = stream(argv, cwd=cwd, env=clean_env(), timeout_s=left, ending=ending, input=data)
        try:
            with contextlib.closing(output):
                yield from output
        except ToolError as error:
            if not error.timed_out:
                raise
            self.timed_out = True
            return
        if ending.returncode not in (0, 1):
            self._complaints(ending.stderr_tail)

    def _complaints(self, stderr: str) -> None:
        """Turn rg's complaints into skipped files; one that names no file ends the search."""
        complaint = ""
        for piece in re.split(r"\n(?=rg: )", stderr.strip("\n")):
            # A name may hold what looks like the beginning of the next complaint.
            complaint = f"{complaint}\n{piece}" if complaint else piece
            match = _COMPLAINT.match(complaint)
            path = None if match is None else self.wanted.get(os.fsencode(match.group(1)))
            if match is not None and path is not None:
                reason = SkipReason.VANISHED if match.group(3) == "2" else SkipReason.UNREADABLE
                self.skip(path, reason, match.group(2))
                complaint = ""
        if complaint:
            raise ToolError(f"rg failed: {complaint.strip()[:400]}", argv=("rg",), stderr=complaint)

    def head(self, path: str) -> HeadKind | None:
        """Return what a file's beginning says; None, and reported, where its rows do not count."""
        try:
            head = self.ws.head_kind(path)
        except SkippedFile as skipped:
            self.skip(path, skipped.reason, skipped.detail)
            return None
        if head is HeadKind.BINARY:
            self.skip(path, SkipReason.BINARY, f"a NUL in the first {HEAD_BYTES} bytes")
            return None
        return head

    def skip(self, path: str, reason: SkipReason, detail: str) -> None:
        """Note why a file was not searched; the first reason stays."""
        self.skipped.setdefault(path, NotSearched(path, reason, detail))

    def searched(self) -> list[str]:
        """Return the wanted files that were searched; a binary one was, though its hits do not count."""
        left_out = {path for path, row in self.skipped.items() if row.reason is not SkipReason.BINARY}
        return [path for path in (*self.wanted.values(), *sorted(self.texts)) if path not in left_out]
