"""Which files of a tree are baselines: what rtch wrote of a tree is no part of it.

A baseline holds the lines that its packet cites, and so most words of its question. Were it listed, it would be
evidence for every other question, and each acceptance would be an edit of that evidence.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rtch.repository import regular_bytes

ENDING = ".baseline.yaml"
SCHEMA = "rtch.baseline/1"
_ENDING = ENDING.encode()
_LINE = b"\nschema_version: rtch.baseline/"
_START_BYTES = 4096
"""Of a file that is looked into: comments may stand before the line that says what it is."""


def named_like_baselines(names: Sequence[bytes]) -> list[bytes]:
    """Return the paths that a baseline may have."""
    # One search over all names first: most trees hold none.
    if _ENDING + b"\0" not in b"\0".join(names) + b"\0":
        return []
    return [name for name in names if name.endswith(_ENDING)]


def baselines_among(root: bytes, names: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the paths of a tree at which a baseline lies.

    Bounds: opens only what is named like one, follows no link, and reads its start.
    """
    return tuple(name for name in named_like_baselines(names) if _is_baseline(root, name))


def _is_baseline(root: bytes, name: bytes) -> bool:
    start = regular_bytes(Path(os.fsdecode(root + b"/" + name)), _START_BYTES, start=True)
    return start is not None and _LINE in b"\n" + start
