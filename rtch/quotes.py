"""Finding edited text again by what it quotes: its own lines, its edges and what surrounds them.

A selector of text by quote (W3C Web Annotation: exact, prefix, suffix), with lines for characters. Places are
proposed by lines that are the same or nearly so, each is weighed, and the best is taken only where it is good
enough and no other comes near it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz import fuzz, process

from rtch.anchors import Lines
from rtch.masking import mask

if TYPE_CHECKING:
    from rtch.models.chunk import Chunk

ALIKE = 70.0
"""How alike, of 100, a place must be, by its text alone or with what surrounds it. Unrelated code of one language is
30 to 45 alike, and 60 with equal lines on both sides; text of which every third word was replaced is above 75."""
ALIKE_WHERE_NAMED = 60.0
"""The same within the definition or section that the chunk was of, where there is only one of its name."""
NEAR = 5.0
"""How far the next best place must stay behind."""
TEXT_SHARE = 0.7
"""What the text itself counts for; the lines before and after it share the rest."""
EDGE_ALIKE = 75.0
"""How alike a line near the expected place must be to be the chunk's first or last line, or the one beyond."""
_LINE_CHARS = 240
"""Characters of a line that are compared; a minified file's one line costs no more than another's."""
_MANY_CHARS = 20_000
"""Characters of a text above which it is compared by lines: the time for characters grows with their square."""
_COMMON = 8
"""Places of one line above which it proposes none."""
_TELLING_CHARS = 3
_MAX_VOTED = 200
_MAX_PROPOSED = 12
"""Places that are weighed, those with the most equal lines first."""


class Quote(NamedTuple):
    """What a chunk quotes.

    Attributes:
        lines: its lines, without their ends.
        edges: the beginnings of the lines before, first, last and after.
        at_start: whether it begins with the file's first line.
        at_end: whether nothing follows it.
        masked: whether secrets are replaced in it, so that they have to be in what it is compared with.
    """

    lines: Sequence[str]
    edges: tuple[str, str, str, str]
    at_start: bool
    at_end: bool
    masked: bool


class Place(NamedTuple):
    """Where a quote may stand.

    Attributes:
        lines: the range, counted from 1.
        sure: whether both edges were recognised, so that the range is known and not only the region.
        alike: how alike the text is, of 100.
        weight: the same with what surrounds it: by this a place is chosen among others.
    """

    lines: Lines
    sure: bool
    alike: float
    weight: float


def quote_of(chunk: Chunk, captured: Sequence[str] | None = None) -> Quote:
    """Return what a chunk quotes; its lines are taken from the captured file where that is known."""
    shown = chunk.text.removesuffix("\n").split("\n")
    lines = shown if captured is None else captured[chunk.start_line - 1 : chunk.end_line]
    quote = chunk.quote
    return Quote(
        lines=[line.removesuffix("\r") for line in lines],
        edges=(quote.prefix, quote.first_line, quote.last_line, quote.suffix),
        at_start=chunk.start_line == 1,
        at_end=not quote.suffix,
        masked=captured is None and bool(chunk.masked),
    )


def alike(old: Iterable[str], new: Iterable[str]) -> float:
    """Return how alike two texts are, of 100: the share of characters, in long ones of lines, in the same order."""
    one, other = ([line.strip()[:_LINE_CHARS] for line in lines] for lines in (old, new))
    if sum(map(len, one)) > _MANY_CHARS:
        return fuzz.ratio(one, other)
    return fuzz.ratio("\n".join(one), "\n".join(other))


def find_quote(
    texts: Sequence[str], quote: Quote, *, within: Lines | None = None, enough: float = ALIKE
) -> tuple[Place, ...]:
    """Return the place that a quote has in a file; several where they are nearly as good; none.

    Args:
        texts: the file's lines.
        quote: what is looked for.
        within: the lines among which it is looked for; all by default.
        enough: how alike the place must be.
    """
    search = _Search(texts, quote, within or Lines(1, len(texts)))
    good = (place for place in search.places() if max(place.alike, place.weight) >= enough)
    places = sorted(good, key=lambda place: (-place.weight, place.lines))
    if not places:
        return ()
    best = places[0]
    rivals = [one for one in places[1:] if one.weight > best.weight - NEAR and not one.lines.overlaps(best.lines)]
    return (best, *rivals)


class _Search:
    """One search; lines are counted from 0 in here."""

    def __init__(self, texts: Sequence[str], quote: Quote, within: Lines) -> None:
        self.texts = texts
        self.quote = quote
        self.low, self.high = within.start - 1, min(within.end, len(texts)) - 1
        self.size = len(quote.lines)

    def places(self) -> Iterator[Place]:
        """Yield the places that are proposed, each weighed."""
        seen = set()
        for begin in self._proposed():
            start, end = self._start(begin), self._end(begin + self.size - 1)
            sure = start is not None and end is not None and start <= end < start + 2 * self.size
            if not sure:
                start, end = max(begin, self.low), min(begin + self.size - 1, self.high)
            assert start is not None
            assert end is not None
            if start <= end and (start, end) not in seen:
                seen.add((start, end))
                yield Place(Lines(start + 1, end + 1), sure, *self._weight(start, end))

    def _proposed(self) -> list[int]:
        """Return the lines at which the text may begin, were it as long as it was; the best supported first."""
        votes = Counter(self._votes()) or Counter(self._votes_of_edges())
        merged: dict[int, int] = {}
        for begin, _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))[:_MAX_VOTED]:
            near = next((known for known in merged if abs(known - begin) < max(1, self.size // 2)), begin)
            merged[near] = merged.get(near, 0) + votes[begin]
        return sorted(merged, key=lambda begin: (-merged[begin], begin))[:_MAX_PROPOSED]

    def _votes(self) -> Iterator[int]:
        """Yield where the text would begin, for each of its lines and each line around it that is in the file."""
        wanted: dict[str, list[int]] = {}
        before, _, _, after = self.quote.edges
        around = ((before, -1), (after, self.size))
        for line, place in (*((line, i) for i, line in enumerate(self.quote.lines)), *around):
            if len(line.strip()) >= _TELLING_CHARS:
                wanted.setdefault(line.strip(), []).append(place)
        found: dict[str, list[int]] = {}
        for at in range(self.low, self.high + 1):
            line = self.texts[at].strip()
            if line in wanted:
                found.setdefault(line, []).append(at)
        for line, places in found.items():
            if len(places) <= _COMMON:
                yield from (at - place for at in places for place in wanted[line])

    def _votes_of_edges(self) -> Iterator[int]:
        """Do the same where no line is as it was, by lines that are like its first and last."""
        short = [line.strip()[:_LINE_CHARS] for line in self.texts[self.low : self.high + 1]]
        for line, place in ((self.quote.lines[0], 0), (self.quote.lines[-1], self.size - 1)):
            wanted = line.strip()[:_LINE_CHARS]
            if len(wanted) >= _TELLING_CHARS:
                rows = process.extract(wanted, short, scorer=fuzz.ratio, limit=_COMMON, score_cutoff=ALIKE)
                yield from (self.low + at - place for _, _, at in rows)

    def _start(self, wanted: int) -> int | None:
        """Return the line near a wanted one that is like the first, or follows one that is like the line before it."""
        before, first, _, _ = self.quote.edges
        return self._edge(wanted, (first, before), -1, at_border=self.quote.at_start)

    def _end(self, wanted: int) -> int | None:
        _, _, last, after = self.quote.edges
        return self._edge(wanted, (last, after), 1, at_border=self.quote.at_end)

    def _edge(self, wanted: int, edge: tuple[str, str], outward: int, *, at_border: bool) -> int | None:
        reach = max(3, self.size // 2)
        found: list[tuple[float, int, int]] = []
        for at in range(max(self.low, wanted - reach), min(self.high, wanted + reach) + 1):
            beyond = at + outward
            own, outer = self._like(edge[0], at), self._like(edge[1], beyond, tail=outward < 0)
            told = 2 * own * (own >= EDGE_ALIKE) + outer * (outer >= EDGE_ALIKE)
            if at_border and not 0 <= beyond < len(self.texts):
                told += 100.0
            if told or (at == wanted and (self._both_blank(edge[0], at) or self._both_blank(edge[1], beyond))):
                found.append((told, -abs(at - wanted), at))
        return max(found)[2] if found else None

    def _both_blank(self, edge: str, at: int) -> bool:
        """Tell whether a line is blank as it was; beyond the file there is none."""
        return not edge.strip() and not (0 <= at < len(self.texts) and self.texts[at].strip())

    def _like(self, edge: str, at: int, *, tail: bool = False) -> float:
        """Return how like a line is to the kept beginning or tail of one; 0 where there is nothing to be like."""
        if not edge.strip() or not 0 <= at < len(self.texts):
            return 0.0
        text = mask(self.texts[at]).text if self.quote.masked else self.texts[at]
        return fuzz.ratio(edge.strip(), (text[-len(edge) :] if tail else text[: len(edge)]).strip())

    def _weight(self, start: int, end: int) -> tuple[float, float]:
        """Return how alike a range's text is, and its weight."""
        before, _, _, after = self.quote.edges
        lines = self.texts[start : end + 1]
        if self.quote.masked:
            lines = mask("\n".join(lines)).text.split("\n")
        text = alike(self.quote.lines, lines)
        context = self._context(before, start - 1, tail=True) + self._context(after, end + 1)
        return text, TEXT_SHARE * text + (1 - TEXT_SHARE) / 2 * context

    def _context(self, edge: str, at: int, *, tail: bool = False) -> float:
        """Return how like a line beside the text is to the one it had; no line is like a blank one."""
        return 100.0 if self._both_blank(edge, at) else self._like(edge, at, tail=tail)
