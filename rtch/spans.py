"""Spans as they are now: some lines of one file of a zone, read without listing the zone.

Nothing outside the root is opened, no link is followed, secrets are masked, and a file of any size costs
what it takes to find the lines: no more than a block of it and the span are in memory.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from rtch.effective import view_on
from rtch.errors import ArtifactError, ZoneError
from rtch.masking import MaskedSpan, mask, secret_name
from rtch.models.vocab import SkipReason
from rtch.reading import OpenFile, SkippedFile, open_regular
from rtch.reentry import PathRef, path_bytes
from rtch.text import HEAD_BYTES, LineIndex, decode_span, encoding_of, is_binary, wide_encoding

MAX_SPAN_BYTES = 4 * 1024 * 1024
"""Bytes of one answer; whoever wants more of a file than this wants the file."""
WHOLE_BYTES = 16 * 1024 * 1024
"""Files up to this size are read whole, so that their encoding is known and not guessed from the span."""
_BLOCK = 1 << 20


class SpanNow(NamedTuple):
    """Some lines of a file.

    Attributes:
        path: relative to the root, percent-encoded where ``encoded``.
        encoded: whether it is.
        start_line: the first line.
        end_line: the last line; before the first where the file has no such lines.
        text: decoded, with secrets masked.
        text_sha256: of the file's bytes of these lines; empty where ``truncated``.
        encoding: a codec's name.
        masked: lines, numbered as in the file, and what was masked there.
        total_lines: of the file, where they were counted.
        truncated: the lines are longer than one answer; the text ends early.
    """

    path: str
    encoded: bool
    start_line: int
    end_line: int
    text: str
    text_sha256: str
    encoding: str
    masked: tuple[MaskedSpan, ...]
    total_lines: int | None
    truncated: bool


class _Raw(NamedTuple):
    data: bytes
    start_byte: int
    end_line: int
    encoding: str
    total_lines: int | None


def read_span(root: Path, ref: PathRef) -> SpanNow:
    """Return lines of a file of the zone as they are now; of a ledger as its corrections make them.

    Args:
        root: the zone root.
        ref: the path and lines; a path that is not there as it is written is tried percent-decoded.

    Raises:
        ZoneError: the path leads out of the zone, or is not to be shown.
        ArtifactError: the file is binary, or of a kind whose lines cannot be found.
        SkippedFile: it is not there, is no regular file, cannot be read, or is held.
    """
    name, encoded = _name(root, ref)
    start = ref.start or 1
    with open_regular(os.fsencode(root.resolve()), name, ref.path) as file:
        head = file.pread(0, HEAD_BYTES)
        if is_binary(head):
            raise SkippedFile(SkipReason.BINARY, ref.path, "it holds NUL bytes")
        viewed = view_on(root, name)
        if viewed is not None and (viewed[0].replaces(viewed[1]) or viewed[0].withheld(viewed[1])):
            data = viewed[0].project(viewed[1], file.pread(0, file.row.size))
            raw = _from_whole(data, start, ref.end)
        elif file.row.size <= WHOLE_BYTES:
            raw = _from_whole(file.pread(0, file.row.size), start, ref.end)
        else:
            raw = _from_stream(file, head, start, ref.end)
    return _shown(ref.path, raw, start, encoded=encoded)


def _name(root: Path, ref: PathRef) -> tuple[bytes, bool]:
    name = _contained(path_bytes(ref.path, encoded=ref.encoded), ref.path)
    if ref.encoded or "%" not in ref.path or os.path.lexists(os.fsencode(root) + b"/" + name):
        return name, ref.encoded
    return _contained(path_bytes(ref.path, encoded=True), ref.path), True


def _contained(name: bytes, path: str) -> bytes:
    parts = [part for part in name.split(b"/") if part != b"."]
    if name.startswith(b"/"):
        raise ZoneError(f"{path!r} is absolute", hint="paths are relative to the zone root, or to --root")
    if b".." in parts or not any(parts) or b"\0" in name:
        raise ZoneError(f"{path!r} leads out of the zone", hint="paths are relative to the zone root")
    if b".git" in parts:
        raise ZoneError(f"{path!r} is git's and no part of the tree")
    reason = secret_name(name.decode("utf-8", "replace"))
    if reason is not None:
        raise ZoneError(f"{path!r} is not shown: {reason}")
    return b"/".join(part for part in parts if part)


def _from_whole(data: bytes, start: int, end: int | None) -> _Raw:
    encoding, _ = encoding_of(data)
    index = LineIndex(data, encoding)
    last = min(end or len(index), len(index))
    if start > last:
        return _Raw(b"", 0, start - 1, encoding, len(index))
    span = index.span(start, last)
    return _Raw(data[span.start : span.end], span.start, last, encoding, len(index))


def _from_stream(file: OpenFile, head: bytes, start: int, end: int | None) -> _Raw:
    if wide_encoding(head) is not None:
        raise ArtifactError(f"{file.path} is too large for its lines to be found in {wide_encoding(head)}")
    begin = _offset_after(file, 0, start - 1)
    if begin is None or begin >= file.row.size:
        return _Raw(b"", 0, start - 1, "utf-8", None)
    data = file.pread(begin, MAX_SPAN_BYTES + 1)
    wanted = None if end is None else end - start + 1
    pieces = data.split(b"\n", wanted) if wanted is not None else data.split(b"\n")
    if wanted is not None and len(pieces) > wanted:
        data = data[: len(data) - len(pieces[-1])]
    lines = data.count(b"\n") + (0 if data.endswith(b"\n") else 1)
    try:
        data.decode()
        encoding = "utf-8"
    except UnicodeDecodeError as error:
        cut = error.start >= len(data) - 4 and len(data) > MAX_SPAN_BYTES
        encoding = "utf-8" if cut else "latin-1"
    return _Raw(data, begin, start + lines - 1, encoding, None)


def _offset_after(file: OpenFile, at: int, feeds: int) -> int | None:
    """Return the offset after so many LF bytes; None where there are fewer."""
    while feeds > 0:
        block = file.pread(at, _BLOCK)
        if not block:
            return None
        count = block.count(b"\n")
        if count < feeds:
            feeds -= count
            at += len(block)
            continue
        place = -1
        for _ in range(feeds):
            place = block.find(b"\n", place + 1)
        return at + place + 1
    return at


def _shown(path: str, raw: _Raw, start: int, *, encoded: bool) -> SpanNow:
    truncated = len(raw.data) > MAX_SPAN_BYTES
    data = raw.data[:MAX_SPAN_BYTES]
    if truncated and raw.encoding == "utf-8":
        data = data.decode("utf-8", "ignore").encode()
    shown = mask(decode_span(data, raw.encoding, byte_start=raw.start_byte))
    return SpanNow(
        path=path,
        encoded=encoded,
        start_line=start,
        end_line=start + shown.text.rstrip("\n").count("\n") if truncated else raw.end_line,
        text=shown.text,
        text_sha256="" if truncated else hashlib.sha256(data).hexdigest(),
        encoding=raw.encoding,
        masked=tuple(MaskedSpan(start + one.line, one.kind) for one in shown.masked),
        total_lines=raw.total_lines,
        truncated=truncated,
    )
