"""The cost dry run: one counting pass over the zone with every term of the basket.

Its counts settle pairing, rank the files before any probe runs, cut each probe's target set, and
predict what the plan will cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from rtch.limits import CostLimits
from rtch.masking import secret_name
from rtch.models.basket import Basket
from rtch.models.plan import CostEstimate, TermHits, Unreached
from rtch.models.tree import Listing
from rtch.models.vocab import EntryKind, SkipReason, Use
from rtch.reading import BLOCK_BYTES, SkippedFile
from rtch.search import Match, NotSearched
from rtch.spelling import SpellingSet
from rtch.stages.desk import Desk
from rtch.sweep import sweep

_UNCOUNTED = frozenset({Use.NEIGHBOR_ONLY, Use.EXCLUDE})


def cost(listing: Listing, basket: Basket, limits: CostLimits, desk: Desk) -> CostEstimate:
    """Count every term in every file that may be searched.

    Returns:
        Files with at least one hit, by path, with their counts. A count stops at
        ``limits.max_lines_per_file`` matching lines. What was not searched because of its name or
        size, or could not be, is listed.
    Bounds: one pass, ``limits.timeout_s`` seconds, ``limits.max_rows`` matches; reaching one is marked.
    """
    terms = tuple(dict.fromkeys(term.term for term in basket.terms if term.use not in _UNCOUNTED))
    spellings = SpellingSet(terms)
    sizes: dict[str, int] = {}
    unsearched: dict[str, Unreached] = {}
    for path, kind, size in zip(listing.paths, listing.kinds, listing.sizes, strict=True):
        if kind is EntryKind.FILE and size > 0:
            left_out = _left_out(path, size, limits)
            if left_out is None:
                sizes[path] = size
            else:
                unsearched[path] = left_out
    if not terms:
        return CostEstimate(terms=(), paths=(), sizes=(), hits=(), files_searched=0, bytes_searched=0)
    outcome = sweep(
        desk.workspace,
        tuple(sizes),
        spellings,
        max_lines_per_file=limits.max_lines_per_file,
        timeout_s=limits.timeout_s,
        max_rows=limits.max_rows,
    )
    if outcome.timed_out:
        desk.distrust()
    paths, hits = _columns(outcome.matches, spellings, len(terms))
    return CostEstimate(
        terms=terms,
        paths=paths,
        sizes=tuple(sizes[path] for path in paths),
        hits=hits,
        lines=tuple(_lines_of_large(paths, sizes, limits, desk)),
        files_searched=outcome.files_searched,
        bytes_searched=outcome.bytes_searched,
        truncated=len(outcome.matches) >= limits.max_rows,
        timed_out=outcome.timed_out,
        unsearched=_by_path(unsearched, outcome.skipped),
    )


def _columns(
    matches: Sequence[Match], spellings: SpellingSet, terms: int
) -> tuple[tuple[str, ...], tuple[TermHits, ...]]:
    """Return the files in which some term stands, in order, and where each term stands how often."""
    paths: list[str] = []
    files: list[list[int]] = [[] for _ in range(terms)]
    counts: list[list[int]] = [[] for _ in range(terms)]
    for path, group in groupby(matches, key=itemgetter(0)):
        found: dict[int, int] = {}
        for text, times in Counter(match.text for match in group).items():
            for index in spellings.terms_in(text):
                found[index] = found.get(index, 0) + times
        if found:
            for index, count in found.items():
                files[index].append(len(paths))
                counts[index].append(count)
            paths.append(path)
    hits = (TermHits(tuple(some), tuple(times)) for some, times in zip(files, counts, strict=True))
    return tuple(paths), tuple(hits)


def _lines_of_large(
    paths: Sequence[str], sizes: Mapping[str, int], limits: CostLimits, desk: Desk
) -> Iterator[tuple[int, int]]:
    """Yield the number of lines of each file that its size alone would make too long."""
    for i, path in enumerate(paths):
        lines = _line_count(path, desk) if sizes[path] > limits.count_lines_bytes else None
        if lines is not None:
            yield i, lines


def _left_out(path: str, size: int, limits: CostLimits) -> Unreached | None:
    """Return why a file is not searched, by its name and size."""
    secret = secret_name(path)
    if secret is not None:
        return Unreached(path=path, reason=SkipReason.SECRET, detail=f"not searched: {secret}")
    if size > limits.max_file_bytes:
        detail = f"not searched: {size} bytes, limit {limits.max_file_bytes}"
        return Unreached(path=path, reason=SkipReason.OVERSIZED, detail=detail)
    return None


def _by_path(left_out: dict[str, Unreached], skipped: Iterable[NotSearched]) -> tuple[Unreached, ...]:
    met = {path: Unreached(path=path, reason=reason, detail=detail) for path, reason, detail in skipped}
    both = left_out | met
    return tuple(both[path] for path in sorted(both))


def _line_count(path: str, desk: Desk) -> int | None:
    """Count a file's line ends; None where it can no longer be read."""
    count = 0
    try:
        with desk.workspace.open(path) as file:
            for start in range(0, file.row.size, BLOCK_BYTES):
                count += file.pread(start, BLOCK_BYTES).count(b"\n")
    except SkippedFile:
        return None
    return count + 1
