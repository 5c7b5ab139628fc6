"""What lies outside a zone and is told of because its user asks for it: an audit folder, and the user's memory.

A zone's own word is not enough for either. Nothing here is written.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.layout import layout
from rtch.markdown import scan_markdown
from rtch.marks import MarkFinder
from rtch.masking import mask
from rtch.models.features import FeatureLimits
from rtch.models.zone import AuditPlace, OutsideDocument, Section
from rtch.reading import OpenFile, SkippedFile, open_regular
from rtch.reentry import reentry_command
from rtch.text import decode, is_binary
from rtch.zone_marker import audit_folder, read_marker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from rtch.models.patterns import Patterns

_MAX_BYTES = 4 << 20
"""Of a memory document that is read; a larger one is named and not looked into."""
_MAX_SECTIONS = 200
_MAX_IDS = 60
"""Durable ids that are told of one section."""
_NO_WORD = re.compile(r"[^A-Za-z0-9]")


def permitted_roots(named: Sequence[Path]) -> tuple[Path, ...]:
    """Return the folders outside of zones that the user permits, by flag or in the layout; those that exist."""
    found = []
    for place in (*named, *(Path(os.path.expanduser(root)) for root in layout().audit_roots)):  # noqa: PTH111  never raises
        try:
            found.append(place.resolve(strict=True))
        except (OSError, RuntimeError):
            continue
    return tuple(found)


def audit_place(root: Path, named: Sequence[Path]) -> AuditPlace | None:
    """Return where the zone's audit path leads, if it is absolute or leads upward; None for any other.

    Args:
        root: the zone root, resolved.
        named: folders outside the zone that the user permits.
    """
    inside, path = audit_folder(read_marker(root / layout().root_marker, 1 << 16))
    text = path.strip()
    if inside or not text or "\0" in text or ".git" in text.split("/"):
        return None
    try:
        real = (root / text).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return AuditPlace(named=path, path="")
    if real.is_relative_to(root) and real != root:
        return AuditPlace(named=path, path=real.relative_to(root).as_posix())
    allowed = any(real.is_relative_to(one) for one in permitted_roots(named))
    return AuditPlace(named=path, path=str(real) if allowed and real != root else "")


def memory_files(root: Path) -> tuple[Path, ...]:
    """Return the user's memory documents of a zone that exist, by the places that the layout names."""
    slug = _NO_WORD.sub("-", str(root))
    places = (Path(os.path.expanduser(place.replace("{slug}", slug))) for place in layout().memory)  # noqa: PTH111
    return tuple(place for place in places if place.is_absolute() and place.is_file() and not place.is_symlink())


def memory_documents(root: Path, patterns: Patterns | None = None) -> tuple[OutsideDocument, ...]:
    """Return what the user's memory of a zone holds, by sections.

    Args:
        root: the zone root.
        patterns: the forms of the durable ids that are told with the sections; None leaves ids out.
    """
    return tuple(_document(place, patterns) for place in memory_files(root))


def _document(place: Path, patterns: Patterns | None) -> OutsideDocument:
    shown = os.fsencode(place).decode("utf-8", "replace")
    try:
        with _opened(place) as file:
            if file.row.size > _MAX_BYTES:
                why = f"your memory of this zone, outside of it; larger than {_MAX_BYTES} bytes and not looked into"
                return OutsideDocument(path=shown, why=why, size_bytes=file.row.size)
            data = file.pread(0, file.row.size)
    except SkippedFile as skipped:
        return OutsideDocument(path=shown, why=f"your memory of this zone cannot be read: {skipped}", size_bytes=0)
    sections = () if is_binary(data) else tuple(_sections(place, decode(data).text, patterns))
    why = "your memory of this zone, outside of it: read because you asked for it, and no part of the tree"
    digest = hashlib.sha256(data).hexdigest()
    return OutsideDocument(path=shown, why=why, size_bytes=len(data), sha256=digest, sections=sections)


def _opened(place: Path) -> AbstractContextManager[OpenFile]:
    return open_regular(os.fsencode(place.parent.resolve()), os.fsencode(place.name), str(place))


def _sections(place: Path, text: str, patterns: Patterns | None) -> Iterator[Section]:
    lines = text.split("\n")
    headings = [one for one in scan_markdown(lines, FeatureLimits()).headings if one.level <= 2][:_MAX_SECTIONS]
    ends = [*(one.line - 1 for one in headings[1:]), len(lines)]
    finder = None if patterns is None else MarkFinder(patterns)
    for heading, end in zip(headings, ends, strict=False):
        body = "\n".join(lines[heading.line - 1 : end])
        marks = () if finder is None else finder.find(body, FeatureLimits()).ids
        yield Section(
            title=mask(heading.text).text[:200],
            start_line=heading.line,
            end_line=max(heading.line, end),
            re_entry_command=outside_command(place, heading.line, max(heading.line, end)),
            ids=tuple(dict.fromkeys(mask(one.id).text for one in marks))[:_MAX_IDS],
        )


def outside_command(place: Path, start: int | None = None, end: int | None = None) -> str:
    """Return the command that reads lines of a document outside the zone: its own folder is the root."""
    command = reentry_command(place.name, start, end)
    return command.replace("rtch read ", f"rtch read --root {shlex.quote(str(place.parent))} ", 1)


def outside_state(root: Path, named: Sequence[Path], *, with_memory: bool) -> list[bytes]:
    """Return what is told of outside the zone, as bytes to be compared between runs."""
    place = audit_place(root, named)
    state = [b"" if place is None else place.canonical()]
    if with_memory:
        state += [one.canonical() for one in memory_documents(root)]
    return state
