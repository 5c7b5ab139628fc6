"""The cost dry run: one counting pass over the zone with every term of the basket.

Its counts settle pairing, rank the files before any probe runs, cut each probe's target set, and
predict what the plan will cost.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from rtch.limits import CostLimits
from rtch.masking import secret_name
from rtch.models.basket import Basket
from rtch.models.plan import CostEstimate, FileCounts
from rtch.models.tree import Listing
from rtch.models.vocab import EntryKind, Use
from rtch.spelling import SpellingSet
from rtch.stages.desk import Desk
from rtch.sweep import sweep

_UNCOUNTED = frozenset({Use.NEIGHBOR_ONLY, Use.EXCLUDE})


def cost(listing: Listing, basket: Basket, limits: CostLimits, desk: Desk) -> CostEstimate:
    """Count every term in every file that may be searched.

    Returns:
        Files with at least one hit, by path, with their counts. A count stops at
        ``limits.max_lines_per_file`` matching lines.
    Bounds: one pass, ``limits.timeout_s`` seconds, ``limits.max_rows`` matches; reaching one is marked.
    """
    terms = tuple(dict.fromkeys(term.term for term in basket.terms if term.use not in _UNCOUNTED))
    spellings = SpellingSet(terms)
    sizes = {
        path: size
        for path, kind, size in zip(listing.paths, listing.kinds, listing.sizes, strict=True)
        if kind is EntryKind.FILE and 0 < size <= limits.max_file_bytes and secret_name(path) is None
    }
    if not terms:
        return CostEstimate(terms=(), files=(), document_frequency=(), files_searched=0, bytes_searched=0)
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
    texts = Counter((match.path, match.text) for match in outcome.matches)
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for (path, text), times in texts.items():
        for index in spellings.terms_in(text):
            counts[path][index] += times
    return CostEstimate(
        terms=terms,
        files=tuple(
            FileCounts(path=path, size_bytes=sizes[path], counts=tuple(sorted(counts[path].items())))
            for path in sorted(counts)
        ),
        document_frequency=tuple(sum(1 for found in counts.values() if index in found) for index in range(len(terms))),
        files_searched=outcome.files_searched,
        bytes_searched=outcome.bytes_searched,
        truncated=bool(outcome.truncated),
        timed_out=outcome.timed_out,
        errors=tuple(f"{path}: {detail}" for path, _, detail in outcome.skipped)[:50],
    )
