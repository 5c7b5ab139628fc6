"""A range of a file becomes a chunk: decoded, masked, clipped, hashed, and told how to read it again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rtch.evidence import ORDER, SUPPORTS
from rtch.git import blob_id
from rtch.grammars import Definitions, GivenUpError, definitions
from rtch.limits import HydrateLimits
from rtch.masking import mask
from rtch.models.chunk import GRAMMAR_GIVEN_UP, Chunk, Clipped, Masked, ProbeHitRef, QuoteAnchor
from rtch.models.features import Section, Symbol
from rtch.models.vocab import ConfidenceClass, Origin
from rtch.reentry import reentry_command
from rtch.structure import enclosing, headings_of, sections
from rtch.symbols import from_bytes, is_code
from rtch.text import DecodedText, LineIndex, decode, decode_span

_TOKEN_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/=.")
_UNITS = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
"""Bytes of one code unit, where they are more than one."""
_QUOTE_CONTEXT = 4
"""Lines on both sides with which an edge is masked."""


class Held(NamedTuple):
    """One hit of a chunk with what it is worth."""

    probe_id: str
    term: str
    origin: Origin
    line: int
    byte_offset: int
    confidence: ConfidenceClass


@dataclass(frozen=True)
class SourceFile:
    """A file that is being hydrated: its bytes, lines and structure."""

    path: str
    encoded: bool
    data: bytes
    sha256: str
    limits: HydrateLimits
    object_format: str
    may_parse: bool
    first_line: int = 1
    """The line that the bytes begin with: of a long ledger only the end is read."""
    byte_start: int = 0
    """Where the bytes begin in the file."""
    whole_blob_id: str = ""
    """Git's name for the file, where the bytes are not all of it."""

    @cached_property
    def decoded(self) -> DecodedText:
        """The whole file's text and how it is written."""
        return decode(self.data)

    @cached_property
    def lines(self) -> LineIndex:
        """Where its lines begin."""
        return LineIndex(self.data, self.decoded.encoding, first_line=self.first_line)

    @cached_property
    def utf8(self) -> bytes:
        """Its text in UTF-8, for what reads code as bytes; the lines keep their numbers, the offsets may not."""
        return self.data if self.decoded.encoding == "utf-8" else self.decoded.text.encode()

    @cached_property
    def by_grammar(self) -> tuple[Definitions | None, bool]:
        """Its definitions by grammar, where one fits and the parse budget allowed it; and whether it was given up."""
        if not self.may_parse:
            return None, False
        try:
            return definitions(self.path, self.utf8, max_bytes=self.limits.max_parse_bytes), False
        except GivenUpError:
            return None, True

    @property
    def definitions(self) -> Definitions | None:
        """Its definitions by grammar."""
        return self.by_grammar[0]

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Its sections, where it is a document."""
        headings = headings_of(self.path, self.data)
        return sections(headings, len(self.lines)) if headings else ()

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """Its definitions by pattern, where it is code."""
        return from_bytes(self.path, self.utf8)[0] if is_code(self.path) else ()

    @cached_property
    def edges(self) -> tuple[list[int], list[int]]:
        """Lines at which its definitions or sections begin, and at which they end; sorted."""
        if self.definitions is not None:
            spans = [(one.start_line, one.end_line) for one in self.definitions.items]
        elif self.sections:
            spans = [(one.start_line, one.end_line) for one in self.sections]
        else:
            spans = [(symbol.line, max(1, symbol.line - 1)) for symbol in self.symbols]
        return sorted({start for start, _ in spans}), sorted({end for _, end in spans})

    def line(self, number: int) -> str:
        """Return one line's text, without its LF."""
        span = self.lines.span(number, number)
        text = decode_span(self.data[span.start : span.end], self.decoded.encoding, byte_start=span.start)
        return text.removesuffix("\n")

    def offset(self, number: int, column: int) -> int:
        """Return where in the file a character of a line begins, in bytes."""
        start = self.lines.span(number, number).start
        before = self.line(number)[:column]
        if number == 1 and self.decoded.bom:
            before = "\ufeff" + before
        return self.byte_start + start + len(before.encode(self.decoded.encoding, "replace"))

    def symbol_at(self, line: int) -> str:
        """Return the dotted path of the definition that holds a line, or empty text."""
        found = None if self.definitions is None else self.definitions.enclosing(line)
        return "" if found is None else ".".join((*found.container, found.name))

    def defined_in(self, start: int, end: int) -> Iterable[tuple[int, str]]:
        """Yield the line and symbol path of each definition that begins in a span."""
        if self.definitions is not None:
            found = ((one.line, ".".join((*one.container, one.name))) for one in self.definitions.items)
        else:
            found = ((one.line, f"{one.container}.{one.name}".lstrip(".")) for one in self.symbols)
        yield from ((line, name) for line, name in found if start <= line <= end)

    def headings_at(self, line: int) -> tuple[str, ...]:
        """Return the headings above a line, outermost first."""
        found = enclosing(self.sections, line) if self.sections else None
        return () if found is None else found.path


def make_chunk(file: SourceFile, start: int, end: int, held: Sequence[Held], *, number: int) -> Chunk:
    """Return the chunk of a file's lines.

    Args:
        file: the file.
        start: its first line, from 1.
        end: its last line, included.
        held: the hits inside, by line; the best of them gives the chunk its class.
        number: its place in the packet, from 1.
    """
    span = file.lines.span(start, end)
    text, masked, clipped = _shown(file, start, end, held)
    best = max(held, key=lambda one: (ORDER[one.confidence], -one.line))
    hit_lines = {one.line for one in held}
    named = any(one.origin is Origin.FILE_PATH for one in held)
    exploratory = all(one.origin is Origin.EXPLORATORY for one in held)
    tags = (*(["exploratory_evidence"] if exploratory else []), *([GRAMMAR_GIVEN_UP] if file.by_grammar[1] else []))
    return Chunk(
        chunk_id=f"rtch_chunk_{number}",
        path=file.path,
        path_encoded=file.encoded,
        line_range=f"L{start}-L{end}",
        start_line=start,
        end_line=end,
        byte_start=file.byte_start + span.start,
        byte_end=file.byte_start + span.end,
        text=text,
        text_sha256=hashlib.sha256(file.data[span.start : span.end]).hexdigest(),
        file_sha256=file.sha256,
        blob_id=file.whole_blob_id or blob_id(file.data, file.object_format),
        encoding=file.decoded.encoding,
        bom=file.decoded.bom,
        newline=file.decoded.newline,
        symbol_path=file.symbol_at(best.line),
        defines=tuple(dict.fromkeys(name for line, name in file.defined_in(start, end) if named or line in hit_lines)),
        heading_path=file.headings_at(best.line),
        quote=_quote(file, start, end),
        why_included=_why(held),
        term_or_shape=best.term,
        hits=tuple(
            ProbeHitRef(probe_id=one.probe_id, term=one.term, origin=one.origin, line=one.line) for one in held[:60]
        ),
        confidence_class=best.confidence,
        limitation=SUPPORTS[best.confidence],
        next_re_entry_command=reentry_command(file.path, start, end, encoded=file.encoded),
        tags=tags,
        masked=masked,
        clipped=clipped,
    )


def _why(held: Sequence[Held]) -> str:
    """Say which probes and terms lead here, each once."""
    seen: dict[tuple[str, str], list[int]] = {}
    for one in held:
        seen.setdefault((one.probe_id, f"{one.term} ({one.origin})"), []).append(one.line)
    said = [
        f"{probe} found {term} at L{lines[0]}" + (f" and {len(lines) - 1} more lines" if len(lines) > 1 else "")
        for (probe, term), lines in list(seen.items())[:6]
    ]
    rest = len(seen) - 6
    return "; ".join(said) + (f"; and {rest} more" if rest > 0 else "")


def _shown(
    file: SourceFile, start: int, end: int, held: Sequence[Held]
) -> tuple[str, tuple[Masked, ...], tuple[Clipped, ...]]:
    """Return the text as it is shown, and where it differs from the file."""
    span = file.lines.span(start, end)
    if all(_length(file, line) <= file.limits.max_line_bytes for line in range(start, end + 1)):
        shown = mask(decode_span(file.data[span.start : span.end], file.decoded.encoding, byte_start=span.start))
        return shown.text, tuple(Masked(line=start + one.line, kind=one.kind) for one in shown.masked), ()
    lines = [_line(file, line, held) for line in range(start, end + 1)]
    shown = mask("".join(text for text, _ in lines))  # together, for a key block is told by several lines
    clipped = tuple(cut for _, cuts in lines for cut in cuts)
    return shown.text, tuple(Masked(line=start + one.line, kind=one.kind) for one in shown.masked), clipped


def _length(file: SourceFile, line: int) -> int:
    span = file.lines.span(line, line)
    return span.end - span.start


def _line(file: SourceFile, line: int, held: Iterable[Held]) -> tuple[str, list[Clipped]]:
    """Return one line, clipped around its first hit where it is long."""
    span = file.lines.span(line, line)
    most = file.limits.max_line_bytes
    if span.end - span.start <= most:
        return decode_span(file.data[span.start : span.end], file.decoded.encoding, byte_start=span.start), []
    unit = _UNITS.get(file.decoded.encoding, 1)
    inside = ((one.line, one.byte_offset - file.byte_start) for one in held)
    offsets = [offset for at, offset in inside if at == line and offset >= span.start]
    # A path that was named stands at the beginning of its file; what stands further on is text.
    hit = next((offset for offset in offsets if offset > span.start), span.start)
    low = max(span.start, min(hit - most // 4, span.end - most))
    low -= low % unit
    high = min(span.end, low + most - most % unit)
    low, high = _whole_tokens(file, (low, high), (span.start, span.end), hit)
    last = decode_span(file.data[span.end - unit : span.end], file.decoded.encoding, byte_start=span.end - unit)
    ending = "\n" if last == "\n" and high < span.end else ""
    before = f"[clipped {low - span.start} bytes]" if low > span.start else ""
    after = f"[clipped {span.end - high} bytes]" if high < span.end else ""
    middle = decode_span(file.data[low:high], file.decoded.encoding, byte_start=low)
    base = file.byte_start
    sides = ((span.start, low), (high, span.end))
    cut = [Clipped(line=line, byte_start=base + a, byte_end=base + b) for a, b in sides if b > a]
    return f"{before}{middle}{after}{ending}", cut


def _whole_tokens(file: SourceFile, window: tuple[int, int], line: tuple[int, int], hit: int) -> tuple[int, int]:
    """Draw the edges of a window in to whole words, so that no secret is cut into a shape nobody knows."""
    low, high = window
    unit = _UNITS.get(file.decoded.encoding, 1)
    if low > line[0]:
        while low < hit and (_of_a_token(file, low) or _inside_a_character(file, low)):
            low += unit
    if high < line[1]:
        edge = high
        while edge > hit + unit and (_of_a_token(file, edge - unit) or _inside_a_character(file, edge)):
            edge -= unit
        high = edge if edge > hit + unit else high
    return low, high


def _code_unit(file: SourceFile, at: int) -> int:
    unit = _UNITS.get(file.decoded.encoding, 1)
    return int.from_bytes(file.data[at : at + unit], "big" if file.decoded.encoding.endswith("be") else "little")


def _of_a_token(file: SourceFile, at: int) -> bool:
    return _code_unit(file, at) in _TOKEN_BYTES


def _inside_a_character(file: SourceFile, at: int) -> bool:
    """Tell whether a character began before; what is not UTF has none that is longer than its unit."""
    value, encoding = _code_unit(file, at), file.decoded.encoding
    return (encoding == "utf-8" and 0x80 <= value < 0xC0) or (
        encoding.startswith("utf-16") and 0xDC00 <= value < 0xE000
    )


def _quote(file: SourceFile, start: int, end: int) -> QuoteAnchor:
    """Return the chunk's edges and a little of what surrounds it, masked."""
    most = file.limits.quote_chars
    total = len(file.lines)
    return QuoteAnchor(
        prefix=_edge(file, start - 1, total)[-most:],
        first_line=_edge(file, start, total)[:most],
        last_line=_edge(file, end, total)[:most],
        suffix=_edge(file, end + 1, total)[:most],
    )


def _edge(file: SourceFile, line: int, total: int) -> str:
    """Return one line as it may be shown: masked among its neighbours, for a key's line alone has no shape."""
    if not file.first_line <= line <= total:
        return ""
    first = max(file.first_line, line - _QUOTE_CONTEXT)
    around = "".join(_line(file, one, ())[0] for one in range(first, min(total, line + _QUOTE_CONTEXT) + 1))
    return mask(around).text.split("\n")[line - first].rstrip("\r")
