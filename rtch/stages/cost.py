"""The cost dry run: one counting pass over the zone with every term of the basket.

Its counts settle pairing, rank the files before any probe runs, cut each probe's target set, and
predict what the plan will cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rtch.counting import count_terms
from rtch.limits import CostLimits
from rtch.masking import secret_name
from rtch.models.basket import Basket
from rtch.models.plan import CostEstimate, TermHits, Unreached
from rtch.models.tree import Listing
from rtch.models.vocab import EntryKind, SkipReason, Use
from rtch.reading import BLOCK_BYTES, SkippedFile
from rtch.rg_calls import NotSearched
from rtch.spelling import SpellingSet
from rtch.stages.desk import Desk
from rtch.stages.recount import Recount
from rtch.structure import is_document
from rtch.tails import TAIL_BYTES, is_long, read_tail
from rtch.text import HEAD_BYTES, HeadKind

_UNCOUNTED = frozenset({Use.NEIGHBOR_ONLY, Use.EXCLUDE})


def cost(listing: Listing, basket: Basket, limits: CostLimits, desk: Desk) -> CostEstimate:
    """Count every term in every file that may be searched.

    Returns:
        Files with at least one hit, by path, with their counts. A count stops at
        ``limits.max_lines_per_file`` matching lines. What was not searched because of its name or
        size, or could not be, is listed.
    Bounds: one pass of ``limits.timeout_s`` seconds; reaching it is marked.
    """
    terms = tuple(dict.fromkeys(term.term for term in basket.terms if term.use not in _UNCOUNTED))
    sizes: dict[str, int] = {}
    unsearched: dict[str, Unreached] = {}
    for path, kind, size in zip(listing.paths, listing.kinds, listing.sizes, strict=True):
        if kind is EntryKind.FILE and size > 0:
            left_out = _left_out(path, size, limits, desk)
            if left_out is None:
                sizes[path] = size
            else:
                unsearched[path] = left_out
    if not terms:
        told = tuple(unsearched[path] for path in sorted(unsearched))
        return CostEstimate(terms=(), paths=(), sizes=(), hits=(), files_searched=0, bytes_searched=0, unsearched=told)
    note = Recount(terms, sizes, limits, desk)
    before = note.before()
    counted = count_terms(
        desk.workspace,
        before.stale,
        SpellingSet(terms),
        max_lines_per_file=limits.max_lines_per_file,
        timeout_s=limits.timeout_s,
    )
    if counted.timed_out:
        desk.distrust()
    found = before.found | counted.files
    paths = tuple(sorted(found))
    unsearched |= before.unsearched | _by_path(counted.skipped.values())
    unsearched |= _by_path(_binary_documents((path for path in before.stale if path not in found), desk))
    searched = [path for path in sizes if path not in unsearched or unsearched[path].reason is SkipReason.BINARY]
    estimate = CostEstimate(
        terms=terms,
        paths=paths,
        sizes=tuple(sizes[path] for path in paths),
        hits=_columns((found[path] for path in paths), len(terms)),
        lines=tuple(_lines_of_large(paths, sizes, limits, desk)),
        files_searched=len(searched),
        bytes_searched=sum(map(sizes.__getitem__, searched)),
        timed_out=counted.timed_out,
        unsearched=tuple(unsearched[path] for path in sorted(unsearched)),
    )
    note.leave(estimate)
    return estimate


def _columns(found: Iterable[Mapping[int, int]], terms: int) -> tuple[TermHits, ...]:
    """Return where each term stands how often, by the number of the file."""
    files: list[list[int]] = [[] for _ in range(terms)]
    counts: list[list[int]] = [[] for _ in range(terms)]
    for i, some in enumerate(found):
        for index, count in some.items():
            files[index].append(i)
            counts[index].append(count)
    return tuple(TermHits(tuple(some), tuple(times)) for some, times in zip(files, counts, strict=True))


def _lines_of_large(
    paths: Sequence[str], sizes: Mapping[str, int], limits: CostLimits, desk: Desk
) -> Iterator[tuple[int, int]]:
    """Yield the number of lines of each file that its size alone would make too long."""
    for i, path in enumerate(paths):
        lines = _line_count(path, desk) if sizes[path] > limits.count_lines_bytes else None
        if lines is not None:
            yield i, lines


def _left_out(path: str, size: int, limits: CostLimits, desk: Desk) -> Unreached | None:
    """Return why a file is not searched, by its name and size."""
    secret = secret_name(path)
    if secret is not None:
        return Unreached(path=path, reason=SkipReason.SECRET, detail=f"not searched: {secret}")
    # Of a ledger the end is searched, which is no more than that.
    if size > limits.max_file_bytes and not (limits.max_file_bytes >= TAIL_BYTES and is_long(desk.workspace, path)):
        detail = f"not searched: {size} bytes, limit {limits.max_file_bytes}"
        return Unreached(path=path, reason=SkipReason.OVERSIZED, detail=detail)
    return None


def _binary_documents(silent: Iterable[str], desk: Desk) -> Iterator[NotSearched]:
    """Yield the files that are called documents and are binary, such as UTF-16 without a mark.

    A term in them is in none of their bytes' words, so that no hit tells of them.
    """
    for path in silent:
        if not is_document(path):
            continue
        try:
            binary = desk.workspace.head_kind(path) is HeadKind.BINARY
        except SkippedFile as skipped:
            yield NotSearched(path, skipped.reason, skipped.detail)
            continue
        if binary:
            yield NotSearched(path, SkipReason.BINARY, f"a NUL in the first {HEAD_BYTES} bytes")


def _by_path(skipped: Iterable[NotSearched]) -> dict[str, Unreached]:
    return {path: Unreached(path=path, reason=reason, detail=detail) for path, reason, detail in skipped}


def _line_count(path: str, desk: Desk) -> int | None:
    """Count the line ends of what is searched of a file; None where it can no longer be read."""
    count = 0
    try:
        if is_long(desk.workspace, path):
            return read_tail(desk.workspace, path).data.count(b"\n") + 1
        with desk.workspace.open(path) as file:
            for start in range(0, file.row.size, BLOCK_BYTES):
                count += file.pread(start, BLOCK_BYTES).count(b"\n")
    except SkippedFile:
        return None
    return count + 1
