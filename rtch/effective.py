"""The effective text of a zone's ledgers: corrected rows in place of what was corrected, and nothing of what is held.

The workspace reads through a view: whoever reads or searches a file gets its effective bytes. Lines keep their
numbers, for a row is replaced by one row.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from rtch.models.vocab import SkipReason
from rtch.reading import SkippedFile

DIGEST_CHARS = 32
_ROW_ENDINGS = (".jsonl", ".ndjson")


class Notes(Protocol):
    """Where earlier runs left what saves work; a store is one."""

    def get_blobs(self, names: Collection[str]) -> dict[str, bytes]:
        """Return the named blobs."""

    def set_blobs(self, blobs: Mapping[str, bytes]) -> None:
        """Leave named blobs."""


class Shown(NamedTuple):
    """What stands for one line: the digest of the line it stands for, and its text without a line end."""

    digest: str
    text: str


class Corrected(NamedTuple):
    """One record that is shown as corrected."""

    surface: str
    record_id: str
    line: int
    correction_ids: tuple[str, ...]
    withheld: tuple[int, ...]


class Held(NamedTuple):
    """Why a surface is held; ``withheld`` when none of its text is shown."""

    surface: str
    record_id: str
    reason: str
    detail: str
    source: str
    line: int
    withheld: bool


class View:
    """What a zone's ledgers show in place of their bytes."""

    def __init__(self, rows: Mapping[str, Mapping[int, Shown]], corrected: list[Corrected], held: list[Held]) -> None:
        """Take what stands for which lines by path, the records corrected, and what is held."""
        self.rows = rows
        self.corrected = corrected
        self.held = held
        self._withheld = {one.surface: one for one in reversed(held) if one.withheld}
        self._marks: dict[str, str] = {}
        told: dict[str, list[object]] = defaultdict(list)
        for path, lines in rows.items():
            told[path].append(sorted(lines.items()))
        for record in corrected:
            told[record.surface].append(record)
        for hold in held:
            told[hold.surface].append(hold)
        for path, what in told.items():
            text = json.dumps(what).encode()
            self._marks[path] = hashlib.sha256(text).hexdigest()[:DIGEST_CHARS]

    @property
    def paths(self) -> Collection[str]:
        """The surfaces that are not simply what they are on the disk, or on which something is held."""
        return self._marks.keys()

    def mark(self, path: str) -> str:
        """Return a digest of what a surface shows otherwise than the disk; empty where it is what it is."""
        return self._marks.get(path, "")

    def replaces(self, path: str) -> bool:
        """Tell whether some of a surface's lines are replaced."""
        return path in self.rows

    def withheld(self, path: str) -> Held | None:
        """Return why nothing of a surface is shown; None where it is."""
        return self._withheld.get(path)

    def check(self, path: str) -> None:
        """Refuse a surface of which nothing is shown.

        Raises:
            SkippedFile: HELD.
        """
        held = self._withheld.get(path)
        if held is not None:
            raise SkippedFile(SkipReason.HELD, path, f"{held.reason}: {held.detail} ({held.source}:L{held.line})")

    def project(self, path: str, data: bytes, *, first_line: int = 1) -> bytes:
        """Return a surface's bytes as they are shown; those of a part of it begin with ``first_line``.

        Raises:
            SkippedFile: HELD, or CHANGED_DURING_RUN when a corrected row is not where the view saw it.
        """
        self.check(path)
        rows = self.rows.get(path)
        if not rows:
            return data
        lines = data.split(b"\n")
        for line, shown in rows.items():
            at = line - first_line
            if at < 0:
                continue
            if at >= len(lines) or digest_of(lines[at]) != shown.digest:
                raise SkippedFile(SkipReason.CHANGED_DURING_RUN, path, f"the corrected row at L{line} has moved")
            ending = b"\r" if lines[at].endswith(b"\r") else b""
            lines[at] = shown.text.encode() + ending
        return b"\n".join(lines)

    def below(self, folder: str) -> View:
        """Return the view of a folder of the tree, given with a slash: paths are relative to it."""

        def inner(path: str) -> str:
            return path.removeprefix(folder)

        return View(
            {inner(path): lines for path, lines in self.rows.items() if path.startswith(folder)},
            [one._replace(surface=inner(one.surface)) for one in self.corrected if one.surface.startswith(folder)],
            [one._replace(surface=inner(one.surface)) for one in self.held if one.surface.startswith(folder)],
        )

    def joined(self, others: Iterable[View]) -> View:
        """Return a view with those of other zones."""
        views = [self, *others]
        return View(
            {path: lines for one in views for path, lines in one.rows.items()},
            [record for one in views for record in one.corrected],
            [hold for one in views for hold in one.held],
        )

    def dumped(self) -> bytes:
        """Return the view as JSON, for a note."""
        rows = {path: {str(line): shown for line, shown in lines.items()} for path, lines in self.rows.items()}
        return json.dumps([rows, self.corrected, self.held]).encode()


EMPTY = View({}, [], [])


def loaded(note: bytes) -> View | None:
    """Return the view that a note holds; None where it holds something else."""
    try:
        rows, corrected, held = json.loads(note)
        return View(
            {path: {int(line): Shown(*shown) for line, shown in lines.items()} for path, lines in rows.items()},
            [Corrected(a, b, c, tuple(d), tuple(e)) for a, b, c, d, e in corrected],
            [Held(*one) for one in held],
        )
    except (ValueError, TypeError, AttributeError):
        return None


def has_rows(path: str | bytes) -> bool:
    """Tell by a path whether a file holds a JSON value a line; the letters' case is no difference to who writes it."""
    ending = path[-max(map(len, _ROW_ENDINGS)) :]
    text = ending.decode("latin-1") if isinstance(ending, bytes) else ending
    return text.lower().endswith(_ROW_ENDINGS)


def view_on(root: Path, name: bytes) -> tuple[View, str] | None:
    """Return the view that a file of rows is under, and its path there; None for other files, and outside of zones.

    Args:
        root: the folder that the name is relative to.
        name: the path's own bytes.
    """
    if not has_rows(name):
        return None
    from rtch.view_making import view_around  # noqa: PLC0415  only where rows are read

    return view_around(root, name)


def digest_of(raw: bytes) -> str:
    """Return a digest of one line without its line end."""
    return hashlib.sha256(raw.removesuffix(b"\r")).hexdigest()[:DIGEST_CHARS]
