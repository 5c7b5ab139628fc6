"""``rtch read``: lines as they are now, and whether they still are what a packet says."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rtch.reentry import ChunkRef, PathRef, line_range, parse_ref

if TYPE_CHECKING:
    from rtch.errors import ZoneError
    from rtch.models.chunk import Chunk
    from rtch.models.packet import Packet
    from rtch.reading import SkippedFile
    from rtch.spans import SpanNow

_LINES_AS_ELSEWHERE = re.compile(r"(?P<path>.+?):L?(?P<start>\d{1,9})(?:-L?(?P<end>\d{1,9}))?", re.DOTALL)
"""Lines as compilers and search programs write them."""


class _Compared(NamedTuple):
    """A packet's chunk with these lines, and whether the lines still have its bytes; None is not judged."""

    packet_id: str
    chunk_id: str
    same: bool | None


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "read",
        help="read a span or chunk again, as it is now",
        description="Print lines as they are now; stderr says if they differ from the packet. Exit 1 if there are none",
        allow_abbrev=False,
    )
    parser.add_argument(
        "ref", metavar="REF", help="path:L10-L40, path:L10, packet#chunk, or a chunk id of the last packet"
    )
    parser.add_argument(
        "--root", type=Path, help="the zone root; default: the packet's, or that around the working folder"
    )
    parser.add_argument("--packet", metavar="PACKET", help="compare with this packet, and take chunk ids from it")
    parser.add_argument("--encoded", action="store_true", help="the path is percent-encoded")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch.reading import SkippedFile  # noqa: PLC0415  after the flags
    from rtch.spans import read_span  # noqa: PLC0415  after the flags

    ref = parse_ref(args.ref, encoded=args.encoded)
    packet = _packet(args, ref)
    chunk = _chunk(packet, ref)
    if chunk is not None and isinstance(ref, ChunkRef):
        ref = PathRef(chunk.path, chunk.start_line, chunk.end_line, chunk.path_encoded)
    assert isinstance(ref, PathRef)
    root = _root(args, packet if chunk is not None else None)
    try:
        span = read_span(root, ref)
    except SkippedFile as skipped:
        raise _not_read(skipped, ref, root) from skipped
    compared = _compare(packet, chunk, span)
    _print(span, compared, args.format)
    return _report(span, ref, compared)


def _not_read(skipped: SkippedFile, ref: PathRef, root: Path) -> ZoneError:
    """Return why a path cannot be read, in a sentence with the remedy."""
    from rtch.errors import ZoneError  # noqa: PLC0415
    from rtch.escape import visible  # noqa: PLC0415
    from rtch.models.vocab import SkipReason  # noqa: PLC0415

    path = visible(ref.path)
    lines = _LINES_AS_ELSEWHERE.fullmatch(ref.path)
    match skipped.reason:
        case SkipReason.VANISHED if lines:
            end = f"-L{lines['end']}" if lines["end"] else ""
            hint = f"did you mean {visible(lines['path'])}:L{lines['start']}{end}?"
            return ZoneError(f"{path} is not in {root}", hint=hint)
        case SkipReason.VANISHED:
            return ZoneError(f"{path} is not in {root}", hint="paths are relative to the zone root; --root names it")
        case SkipReason.SYMLINK:
            return ZoneError(f"{path} is or lies behind a symbolic link", hint="read what it leads to by its own path")
        case SkipReason.NOT_REGULAR:
            return ZoneError(f"{path} is no regular file")
        case _:
            return ZoneError(f"{path} cannot be read: {skipped.detail or skipped.reason}")


def _packet(args: argparse.Namespace, ref: PathRef | ChunkRef) -> Packet | None:
    """Return the packet that is named, or the last one; a path alone does not need any."""
    from rtch import packets  # noqa: PLC0415
    from rtch.cli.zones import packet_roots, zone_root  # noqa: PLC0415
    from rtch.errors import ArtifactError  # noqa: PLC0415

    named = (ref.packet if isinstance(ref, ChunkRef) else None) or args.packet
    if named:
        return packets.peek(named, roots=packet_roots(args.root))
    root = zone_root(args.root)
    last = packets.last_packet(root)
    if isinstance(ref, PathRef):
        return last if last is not None and Path(last.run.zone_root) == root else None
    if last is None:
        raise ArtifactError(f"no packet is remembered that {ref.chunk} could be of", hint="name one with --packet")
    return last


def _chunk(packet: Packet | None, ref: PathRef | ChunkRef) -> Chunk | None:
    from rtch.packets import chunk_of  # noqa: PLC0415

    if packet is None:
        return None
    if isinstance(ref, ChunkRef):
        return chunk_of(packet, ref.chunk)
    span = (ref.path, ref.start, ref.end)
    chunks = packet.hydrated_chunks
    return next((one for one in chunks if (one.path, one.start_line, one.end_line) == span), None)


def _root(args: argparse.Namespace, packet: Packet | None) -> Path:
    """Return the named root, else that of the packet whose chunk is read, else that around the working folder."""
    from rtch.cli.zones import zone_root  # noqa: PLC0415

    if args.root is None and packet is not None and Path(packet.run.zone_root).is_dir():
        return Path(packet.run.zone_root)
    return zone_root(args.root)


def _compare(packet: Packet | None, chunk: Chunk | None, span: SpanNow) -> _Compared | None:
    if packet is None or chunk is None:
        return None
    same = None if span.truncated else span.text_sha256 == chunk.text_sha256
    return _Compared(packet.packet_id, chunk.chunk_id, same)


def _print(span: SpanNow, compared: _Compared | None, form: str) -> None:
    if form == "json":
        import json  # noqa: PLC0415

        record = {
            "path": span.path,
            "path_encoded": span.encoded,
            "start_line": span.start_line,
            "end_line": span.end_line,
            "text": span.text,
            "text_sha256": span.text_sha256,
            "encoding": span.encoding,
            "masked": [{"line": one.line, "kind": one.kind} for one in span.masked],
            "truncated": span.truncated,
            "packet_id": compared.packet_id if compared else None,
            "chunk_id": compared.chunk_id if compared else None,
            "same_as_packet": compared.same if compared else None,
        }
        print(json.dumps(record, indent=2))
        return
    text = span.text
    if sys.stdout.isatty():
        from rtch.escape import visible  # noqa: PLC0415

        # A terminal obeys what it is sent; a program gets the lines as they are.
        text = visible(text, lines=True)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))


def _report(span: SpanNow, ref: PathRef, compared: _Compared | None) -> int:
    from rtch.escape import visible  # noqa: PLC0415

    where = f"{visible(span.path)}:{line_range(span.start_line, max(span.start_line, ref.end or span.end_line))}"
    found = span.end_line >= span.start_line
    total = "" if span.total_lines is None else f", the file has {span.total_lines}"
    if not found:
        _say(f"{where}: no such lines{total}")
    elif ref.end is not None and span.end_line < ref.end and not span.truncated:
        _say(f"{where}: lines end at L{span.end_line}{total}")
    if span.truncated:
        _say(f"{where}: cut after L{span.end_line}, the lines are longer than one answer")
    for one in span.masked:
        _say(f"{visible(span.path)}:L{one.line}: masked {one.kind}")
    if compared is not None and compared.same is False:
        _say(
            f"{where} differs from {compared.chunk_id} of {compared.packet_id}: it was edited, or its lines have moved"
        )
    return 0 if found else 1


def _say(text: str) -> None:
    print(f"rtch: {text}", file=sys.stderr)
