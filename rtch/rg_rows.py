"""rg's rows as bytes: taking them apart, cutting them, and names for its calls."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

ARGUMENT_BYTES = 768 * 1024
"""Names in one call: the kernel's limit for arguments and environment is 1 MiB on macOS, 2 MiB or more on Linux."""

ROW = re.compile(rb"([^\0]*)\0(\d+):(\d+):([^\n]*)\n")
"""A name cannot hold a NUL and a match cannot hold LF, so no name and no text can forge a row."""

Row = tuple[bytes, bytes, bytes, bytes]
"""Name, line, offset and text, as rg writes them."""


def complete_bytes(data: bytes) -> int:
    """Return where the last whole row ends: at the first LF after some NUL, seen from the end."""
    nul = len(data)
    while (nul := data.rfind(b"\0", 0, nul)) >= 0:
        end = data.find(b"\n", nul)
        if end >= 0:
            return end + 1
    return 0


def rows_of_first_lines(lines: list[int], limit: int) -> int:
    """Return how many rows, in ascending lines, make up the first ``limit`` distinct lines."""
    if len(lines) <= limit:
        return len(lines)
    distinct = sorted(set(lines))
    return len(lines) if len(distinct) <= limit else bisect_left(lines, distinct[limit])


def fair_share(sizes: list[int], limit: int) -> int:
    """Return the most rows a file may keep so that all of them keep at most ``limit``; 1 at least."""
    if sum(sizes) <= limit:
        return max(sizes, default=0)
    low, high = 1, max(sizes)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, middle) for size in sizes) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def batches(names: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield names in calls that fit the kernel's limit."""
    batch: list[bytes] = []
    size = 0
    for name in names:
        # A pointer goes with each argument.
        size += len(name) + 9
        if size > ARGUMENT_BYTES and batch:
            yield batch
            batch, size = [], len(name) + 9
        batch.append(name)
    if batch:
        yield batch
