"""Files of ignore rules that git would wait for: opening a FIFO ends only when somebody writes to it.

Looking for one takes a look into every folder, so it is done where git has kept silent for longer than it should.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from pathlib import Path

from rtch.errors import ToolError
from rtch.repository import printable

LOOK_S = 2.0
"""Seconds for looking; a tree that takes longer keeps git busy for longer, too."""


def would_wait(path: str | bytes | Path) -> bool:
    """Tell whether opening a file could wait for ever; git follows no link to its rules."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def check_rules(top: Path, work_tree: Path, name: str) -> None:
    """Make sure that no file of rules is one that git would wait for.

    Args:
        top: the folder from which on rules count for the work tree.
        work_tree: every folder below it is looked into, the upper ones first; within or at ``top``.
        name: of the files with rules.

    Raises:
        ToolError: there is one.

    Bounds: ``LOOK_S`` seconds; no link is followed.
    """
    found = _find_waiting(top, work_tree, name)
    if found is not None:
        shown = printable(os.path.relpath(found, work_tree))
        raise ToolError(f"{shown} is no regular file, and git would wait for it", argv=("git",))


def _find_waiting(top: Path, work_tree: Path, name: str) -> Path | None:
    deadline = time.monotonic() + LOOK_S
    above = [folder for folder in (work_tree, *work_tree.parents) if folder.is_relative_to(top)]
    for folder in above:
        if would_wait(folder / name):
            return folder / name
    pending = deque([os.fsencode(work_tree)])
    wanted = os.fsencode(name)
    while pending and time.monotonic() < deadline:
        try:
            with os.scandir(pending.popleft()) as entries:
                for entry in entries:
                    if entry.name == wanted and would_wait(entry.path):
                        return Path(os.fsdecode(entry.path))
                    if entry.name != b".git" and entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        except OSError:
            continue
    return None
