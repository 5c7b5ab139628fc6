"""A zone's own clock: the counter of its tics, as its newest rows say; a zone without one has none.

A zone that works in tics has no use for days: its packets are as old as the work that was done since. Where the
counter lies and what its rows are called is in ``config/tics.json``. Looked at as the clock is: when a packet is
sealed or shown, and in no stage.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from rtch.layout import layout
from rtch.reading import SkippedFile, open_regular
from rtch.zone_marker import audit_folder, read_marker

CONFIG = Path(__file__).parent / "config" / "tics.json"
TAIL_BYTES = 65_536
"""Of a file, from its end: some hundred rows."""
FILES = 3
"""The newest ones that are looked into: a day may begin with rows that do not count."""


def zone_tic(root: Path) -> int | None:
    """Return the count of the last tic that counts, or None where the zone counts none.

    Bounds: the ends of the ``FILES`` newest files; a torn or foreign row is passed over.
    """
    marker = layout().root_marker
    named, _ = audit_folder(read_marker(root / marker, 1 << 16))
    rules = _rules()
    for folder in (named,) if named else layout().audit_folders:
        counted = next(filter(None, map(_last_of, _newest(root, f"{folder}/{rules['folder']}"))), None)
        if counted is not None:
            return counted
    return None


@lru_cache(maxsize=1)
def _rules() -> dict[str, Any]:
    rules: dict[str, Any] = json.loads(CONFIG.read_bytes())
    return rules


def _newest(root: Path, folder: str) -> Iterator[bytes]:
    """Yield the ends of the newest files of a folder of a zone; no link is followed."""
    try:
        names = sorted((name for name in os.listdir(root / folder) if name.endswith(_rules()["ending"])), reverse=True)  # noqa: PTH208
    except OSError:
        return
    for name in names[:FILES]:
        path = f"{folder}/{name}"
        try:
            with open_regular(os.fsencode(root), os.fsencode(path), path) as file:
                start = max(0, file.row.size - TAIL_BYTES)
                yield file.pread(start, file.row.size - start)
        except SkippedFile:
            continue


def _last_of(data: bytes) -> int | None:
    for line in reversed(data.split(b"\n")):
        counted = _counted(line)
        if counted is not None:
            return counted
    return None


def _counted(line: bytes) -> int | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    rules = _rules()
    if not isinstance(row, dict) or any(row.get(name) != value for name, value in rules["row"].items()):
        return None
    if any(row.get(name) == value for name, value in rules["not"].items()):
        return None
    found = (row.get(name) for name in rules["counters"])
    return next((one for one in found if isinstance(one, int) and not isinstance(one, bool) and one > 0), None)
