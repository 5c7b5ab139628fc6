"""Re-entry: the command that reads a span again, and what such a command refers to.

``rtch read 'src/a.py:L10-L40'`` is run from the zone root or with ``--root``. The command is always one
line, and a shell hands its argument to rtch unchanged whatever the path is made of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from rtch.errors import IntakeError

_LINES = re.compile(r"^(?P<path>.+):L(?P<start>\d{1,9})(?:(?P<dash>-)(?:L(?P<end>\d{1,9}))?)?$", re.DOTALL)
_CHUNK = re.compile(r"^(?:(?P<packet>.+)#)?(?P<chunk>rtch_chunk_[A-Za-z0-9_]+)$", re.DOTALL)
_BREAKS_A_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

FORMS = "use path:L10-L40, path:L10, packet#chunk or a chunk id"


@dataclass(frozen=True, slots=True)
class PathRef:
    """Lines of a path; no ``start`` is the whole file, no ``end`` is through its last line.

    Attributes:
        path: relative to the zone root.
        encoded: whether ``path`` holds percent-encoded bytes.
    """

    path: str
    start: int | None = None
    end: int | None = None
    encoded: bool = False


@dataclass(frozen=True, slots=True)
class ChunkRef:
    """A chunk of a packet; no ``packet`` is the last one."""

    chunk: str
    packet: str | None = None


def reentry_command(path: str, start: int | None = None, end: int | None = None, *, encoded: bool = False) -> str:
    """Return the command that prints these lines as they are now.

    Args:
        path: relative to the zone root.
        start: the first line; None for the whole file.
        end: the last line; None for the line ``start`` alone.
        encoded: the path's bytes are percent-encoded, because they are not UTF-8.
    """
    if _BREAKS_A_LINE.search(path):
        # A command that spans lines can be neither shown in a table nor copied.
        path, encoded = _percent_encoded(path if encoded else path.replace("%", "%25")), True
    if path.startswith("-") or (start is None and (_LINES.match(path) or _CHUNK.match(path))):
        path = f"./{path}"
    if start is None and _LINES.match(path):
        path = f"{path}:L1-"
    lines = "" if start is None else f":L{start}" if end is None else f":L{start}-L{end}"
    return f"rtch read {'--encoded ' if encoded else ''}{_shell_quoted(path + lines)}"


def line_range(start: int, end: int) -> str:
    """Return ``L10-L40``."""
    return f"L{start}-L{end}"


def parse_ref(text: str, *, encoded: bool = False) -> PathRef | ChunkRef:
    """Tell a path with lines from a chunk.

    A path may hold colons, hashes and whatever else; a path that looks like a chunk id is written
    with a leading ``./``, which is no part of it.

    Raises:
        IntakeError: empty, or the lines are no range.
    """
    if not text or "\0" in text:
        raise IntakeError(f"{text!r} refers to nothing", hint=FORMS)
    lines = _LINES.match(text)
    if lines:
        start, end = _range(text, lines)
        return PathRef(_bare(lines["path"]), start, end, encoded)
    chunk = None if text.startswith("./") else _CHUNK.match(text)
    if chunk:
        return ChunkRef(chunk["chunk"], chunk["packet"])
    return PathRef(_bare(text), encoded=encoded)


def path_bytes(path: str, *, encoded: bool) -> bytes:
    """Return a path's own bytes."""
    return unquote_to_bytes(path) if encoded else path.encode("utf-8", "surrogateescape")


def _range(text: str, lines: re.Match[str]) -> tuple[int, int | None]:
    start = int(lines["start"])
    end = int(lines["end"]) if lines["end"] else None if lines["dash"] else start
    if start < 1 or (end is not None and end < start):
        raise IntakeError(f"{text!r} is no range of lines", hint="lines count from 1, both ends are included")
    return start, end


def _bare(path: str) -> str:
    while path.startswith("./") and len(path) > len("./"):
        path = path[2:].lstrip("/")
    return path


def _percent_encoded(path: str) -> str:
    return _BREAKS_A_LINE.sub(lambda found: _percent(found[0]), path)


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _shell_quoted(text: str) -> str:
    """Quote always, so that a command looks the same whatever the path."""
    return "'" + text.replace("'", "'\"'\"'") + "'"
