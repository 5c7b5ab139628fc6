"""A zone's own clock: the counter of its tics, as its newest rows say; a zone without one has none.

A zone that works in tics has no use for days: its packets are as old as the work that was done since. Where the
counter lies and what its rows are called is in ``config/tics.json``. Looked at as the clock is: when a request is
asked, when a packet is sealed or shown, and in no stage.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rtch.layout import layout
from rtch.reading import SkippedFile, open_regular
from rtch.tic_words import TicWords, tic_words
from rtch.zone_marker import audit_folder, read_marker

TAIL_BYTES = 65_536
"""Of a file, from its end: some hundred rows."""
FILES = 3
"""The newest ones that are looked into: a day may begin with rows that do not count."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class LastTic(NamedTuple):
    """The last tic that counts.

    Attributes:
        number: its count.
        date: its day, by its row or else by the name of its file; empty where neither tells it.
    """

    number: int
    date: str


def zone_tic(root: Path) -> int | None:
    """Return the count of the last tic that counts, or None where the zone counts none."""
    last = last_tic(root)
    return None if last is None else last.number


def last_tic(root: Path) -> LastTic | None:
    """Return the last tic that counts, or None where the zone counts none.

    Bounds: the ends of the ``FILES`` newest files; a torn or foreign row is passed over.
    """
    marker, words = layout().root_marker, tic_words()
    named, _ = audit_folder(read_marker(root / marker, 1 << 16))
    for folder in (named,) if named else layout().audit_folders:
        for name, data in _newest(root, f"{folder}/{words.folder}", words):
            last = _last_of(name, data, words)
            if last is not None:
                return last
    return None


def _newest(root: Path, folder: str, words: TicWords) -> Iterator[tuple[str, bytes]]:
    """Yield the newest files of a folder of a zone by name, each with its end; no link is followed."""
    try:
        names = sorted((name for name in os.listdir(root / folder) if name.endswith(words.ending)), reverse=True)  # noqa: PTH208
    except OSError:
        return
    for name in names[:FILES]:
        path = f"{folder}/{name}"
        try:
            with open_regular(os.fsencode(root), os.fsencode(path), path) as file:
                start = max(0, file.row.size - TAIL_BYTES)
                yield name, file.pread(start, file.row.size - start)
        except SkippedFile:
            continue


def _last_of(name: str, data: bytes, words: TicWords) -> LastTic | None:
    for line in reversed(data.split(b"\n")):
        last = _counted(name, line, words)
        if last is not None:
            return last
    return None


def _counted(name: str, line: bytes, words: TicWords) -> LastTic | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or any(row.get(field) != value for field, value in words.row):
        return None
    if any(row.get(field) == value for field, value in words.excluded):
        return None
    found = (row.get(field) for field in words.counters)
    count = next((one for one in found if isinstance(one, int) and not isinstance(one, bool) and one > 0), None)
    if count is None:
        return None
    dates = (_DATE.match(text) for text in (*(row.get(field) for field in words.dates), name) if isinstance(text, str))
    return LastTic(count, next((date.group() for date in dates if date), ""))
