"""What became of a chunk whose bytes are nowhere in its file: edited, and where, or gone.

In this order: a line map from the captured file, the definition or section that the chunk was of, its quote.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rtch.anchors import FileNow, Lines, Unsure, mapped, told
from rtch.models.vocab import ChunkVerdict
from rtch.quotes import ALIKE, ALIKE_WHERE_NAMED, Place, Quote, alike, find_quote, quote_of
from rtch.structure import document_features, is_document, sections
from rtch.symbols import code_features, is_code

if TYPE_CHECKING:
    from rtch.models.chunk import Chunk

ALIKE_WHERE_MAPPED = 50.0
"""How alike, of 100, the text at a mapped place must be: the place is known, the question is whether it is the text."""
KEPT = 0.5
"""The share of a chunk's lines that must be left for it to be called edited where nothing tells its edges."""


class Edit(NamedTuple):
    """A verdict, the range where it proves one, and by what."""

    verdict: ChunkVerdict
    lines: Lines | None
    detail: str


def judge_edit(file: FileNow, chunk: Chunk, captured: Sequence[str] | None) -> Edit:
    """Judge a chunk of which no lines of its file have the captured bytes.

    Args:
        file: its file as it is.
        chunk: the chunk.
        captured: the lines of the file as it was, where they are known.

    Raises:
        Unsure: the text cannot be compared.
    """
    if not file.data:
        return Edit(ChunkVerdict.DELETED, None, "the file is empty")
    kept = 0.0
    if captured is not None:
        lines = Lines(chunk.start_line, chunk.end_line)
        place, kept = mapped(captured, file.texts, lines)
        if place is not None:
            share = alike(_lines_of(captured, lines), _lines_of(file.texts, place))
            if share >= ALIKE_WHERE_MAPPED:
                return Edit(ChunkVerdict.EDITED, place, f"by the line map, {_share(share)}")
    elif chunk.clipped:
        raise Unsure("its lines were clipped, and the file as it was is not in the object store")
    found = _quoted(file, chunk, quote_of(chunk, captured))
    if found is not None:
        return found
    if kept >= KEPT:
        return Edit(ChunkVerdict.EDITED, None, f"{kept:.0%} of its lines are left, and a change reaches over its edge")
    return Edit(ChunkVerdict.DELETED, None, "neither its lines nor any like them are in the file")


def _quoted(file: FileNow, chunk: Chunk, quote: Quote) -> Edit | None:
    region = named_region(file, chunk)
    places: tuple[Place, ...] = ()
    by = "its quote"
    if region is not None:
        places = find_quote(file.texts, quote, within=region, enough=ALIKE_WHERE_NAMED)
        by = f"its quote in {chunk.symbol_path or ' > '.join(chunk.heading_path)}"
    if not places:
        places, by = find_quote(file.texts, quote, enough=ALIKE), "its quote"
    if not places:
        return None
    if len(places) > 1:
        return Edit(ChunkVerdict.AMBIGUOUS, None, f"nearly as like it are {told([one.lines for one in places])}")
    best = places[0]
    detail = f"by {by}, {_share(best.alike)}"
    if best.sure:
        return Edit(ChunkVerdict.EDITED, best.lines, detail)
    return Edit(ChunkVerdict.EDITED, None, f"{detail}; its edges cannot be told")


def _share(share: float) -> str:
    return f"{int(share)} % alike" if share < 100 else "the same but for spaces and line ends"


def named_region(file: FileNow, chunk: Chunk) -> Lines | None:
    """Return the lines around the definition or section that a chunk was of; None unless just one has its name."""
    found = None
    if chunk.symbol_path and is_code(file.path):
        found = _definition(file, chunk.symbol_path)
    elif chunk.heading_path and is_document(file.path):
        features = document_features(file.path, file.data)
        same = [one for one in sections(features.headings, len(file.index)) if one.path == tuple(chunk.heading_path)]
        found = Lines(same[0].start_line, same[0].end_line) if len(same) == 1 else None
    if found is None:
        return None
    # A chunk holds a line of what it is named after, and may begin before and end after it.
    around = chunk.end_line - chunk.start_line
    return Lines(max(1, found.start - around), min(len(file.index), found.end + around))


def _definition(file: FileNow, symbol_path: str) -> Lines | None:
    """Return the lines from a definition to the next one that is not inside it."""
    container, _, name = symbol_path.rpartition(".")
    symbols = code_features(file.path, file.data).symbols
    same = [
        i
        for i, one in enumerate(symbols)
        if one.name == name and (not container or one.container == container.rpartition(".")[2])
    ]
    if len(same) != 1:
        return None
    start = symbols[same[0]].line
    after = (one.line for one in symbols[same[0] + 1 :] if one.container != name and one.line > start)
    return Lines(start, next(after, len(file.index) + 1) - 1)


def _lines_of(texts: Sequence[str], lines: Lines) -> Sequence[str]:
    return texts[lines.start - 1 : lines.end]
