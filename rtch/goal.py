"""A goal in words becomes pieces: frames, paths, quotes, identifiers, words, and words joined.

Only the text is looked at here; whether the tree knows a piece is the basket's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from rtch.models.basket import FrameRef, TermShape
from rtch.moments import moments_in
from rtch.words import FILE_ENDING, IDENTIFIER, is_identifier_like, joined, last_name

TITLE_WEIGHT = 1.5
"""The first line says what it is about; prose below it explains, code below it illustrates (docs/ranking.md)."""
PROSE_WEIGHT = 0.75
CODE_WEIGHT = 0.5
SEED_WEIGHT = 0.5
JOIN_WEIGHT = 0.5


class Piece(NamedTuple):
    """One piece of a request with its share in ranking."""

    text: str
    shape: TermShape
    weight: float


class Decomposed(NamedTuple):
    """What a goal consists of; pieces in order of first appearance, each once."""

    pieces: tuple[Piece, ...]
    frames: tuple[FrameRef, ...]
    stopped: tuple[str, ...]


_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_CODE_LINE = re.compile(
    r"\s*(>>>|\.\.\. |In \[\d|Out\[\d|\$ |Traceback|File \"|\^+\s*$|at .+:\d+|goroutine \d)|(    |\t)\S"
)
_PATH = re.compile(
    rf"(?<![\w/.-])((?:\.{{0,2}}/)?(?:[\w.@+-]+/)+[\w.@+-]+|[\w-]+(?:\.[\w-]+)*\.(?:{FILE_ENDING.pattern}))(?![\w/])"
)
_QUOTE = re.compile(r"\"([^\"\n]{3,160})\"|(?<!\w)'([^'\n]{3,160})'(?!\w)|`([^`\n]{2,160})`|“([^”\n]{3,160})”")
_DOTTED = re.compile(r"(?<![\w./])([A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)+)(?:\(\))?")
_FRAMES = (
    re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)'),  # Python
    re.compile(
        r"^\s*at (?:.+? \()?(?:file://)?(?P<path>[^()\s]+?):(?P<line>\d+):\d+\)?\s*$", re.MULTILINE
    ),  # Node, Rust
    re.compile(r"^\s*(?P<path>[^\s:()]+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?\s*$", re.MULTILINE),  # Go
    re.compile(r"-->\s+(?P<path>[^\s:]+\.rs):(?P<line>\d+):\d+"),  # rustc
    re.compile(r"panicked at (?:'[^'\n]*', )?(?P<path>[^\s:]+\.rs):(?P<line>\d+)"),  # a Rust panic
    re.compile(r"at [\w.$<>]+\((?P<path>\w+\.(?:java|kt|scala)):(?P<line>\d+)\)"),  # the JVM
    re.compile(r"^\s*(?:from )?(?P<path>[^\s:]+\.rb):(?P<line>\d+):in ", re.MULTILINE),  # Ruby
)
_INNERMOST_FIRST = frozenset({1, 2, 4, 5, 6})
"""Traces that name the innermost frame first; Python's names it last."""


def decompose(goal: str, stop: frozenset[str]) -> Decomposed:
    """Cut a goal into pieces.

    Args:
        goal: the sentence or issue text; its first line weighs most.
        stop: lower-case words that say nothing.
    """
    title, _, rest = goal.strip().partition("\n")
    prose, code = _split_code(rest)
    weights: dict[str, tuple[str, TermShape, float]] = {}
    stopped: dict[str, None] = {}
    for text, weight in ((title, TITLE_WEIGHT), (prose, PROSE_WEIGHT), (code, CODE_WEIGHT)):
        for piece in _pieces(text, weight, stop, stopped):
            key = (
                piece.text if piece.shape in {TermShape.PATH, TermShape.QUOTE, TermShape.MOMENT} else joined(piece.text)
            )
            text_, shape, known = weights.get(key, (piece.text, piece.shape, 0.0))
            weights[key] = (text_, shape, known + piece.weight)
    pieces = tuple(Piece(text, shape, round(weight, 4)) for text, shape, weight in weights.values())
    return Decomposed(pieces, _frames(goal), tuple(stopped))


def _split_code(rest: str) -> tuple[str, str]:
    fenced = [block.group() for block in _FENCE.finditer(rest)]
    prose: list[str] = []
    code = fenced
    for line in _FENCE.sub(" ", rest).split("\n"):
        (code if _CODE_LINE.match(line) else prose).append(line)
    return "\n".join(prose), "\n".join(code)


def _pieces(text: str, weight: float, stop: frozenset[str], stopped: dict[str, None]) -> Iterator[Piece]:
    for found in _QUOTE.finditer(text):
        quote = next(group for group in found.groups() if group).strip()
        if re.search(r"[^\w.]", quote) and len(quote) >= 5 and re.search(r"[A-Za-z]{3}", quote):
            yield Piece(quote, TermShape.QUOTE, weight)
    said = list(moments_in(text))
    for moment in said:
        yield Piece(moment.called, TermShape.MOMENT, weight)
    for found in _PATH.finditer(text):
        yield Piece(found.group(1), TermShape.PATH, weight)
    for found in _DOTTED.finditer(text):
        if last_name(found.group(1)) != found.group(1):  # e.g. and foo.py are no names
            yield Piece(found.group(1), TermShape.IDENTIFIER, weight)
    # The name and the number of a time say nothing apart from each other.
    for moment in reversed(said):
        text = f"{text[: moment.start]} , {text[moment.end :]}"
    for word in IDENTIFIER.findall(text):
        if word.lower() in stop:
            stopped[word.lower()] = None
        elif is_identifier_like(word):
            yield Piece(word, TermShape.IDENTIFIER, weight)
        elif len(word) > 1:
            yield Piece(word.lower(), TermShape.WORD, weight)
    yield from _joined(text, weight, stop)


def _joined(text: str, weight: float, stop: frozenset[str]) -> Iterator[Piece]:
    """Yield neighbours written as one: a goal says ``work tree`` where the code says ``worktree``."""
    runs = re.findall(r"[A-Za-z]+|[^\sA-Za-z-]+", text)
    for one, two in pairwise(runs):
        if not (one.isalpha() and two.isalpha() and len(one) + len(two) >= 6):
            continue
        if one.lower() not in stop and two.lower() not in stop:
            yield Piece(f"{one} {two}".lower(), TermShape.JOINED, weight * JOIN_WEIGHT)


def _frames(goal: str) -> tuple[FrameRef, ...]:
    frames: list[FrameRef] = []
    for place, form in enumerate(_FRAMES):
        found = [(match["path"].replace("\\", "/"), int(match["line"])) for match in form.finditer(goal)]
        ordered = found if place in _INNERMOST_FIRST else found[::-1]
        frames += [
            FrameRef(path=path, line=max(1, line), depth=depth) for depth, (path, line) in enumerate(ordered, start=1)
        ]
    return tuple(frames[:60])
