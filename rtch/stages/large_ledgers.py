"""The durable ids of a request in ledgers that are too large to be looked into for all that they show.

What a large file shows is left out of the survey; but an id that the request names is found by its own bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rtch.effective import has_rows
from rtch.limits import SurveyLimits
from rtch.marks import MarkFinder
from rtch.models.basket import Basket
from rtch.models.features import DurableId, FileFeatures
from rtch.models.plan import CostEstimate
from rtch.reading import SkippedFile
from rtch.roles import role_of
from rtch.stages.desk import Desk
from rtch.tails import TAIL_BYTES, is_long, read_tail
from rtch.words import joined


def ids_of_large(
    paths: Iterable[str], basket: Basket, cost: CostEstimate, limits: SurveyLimits, desk: Desk
) -> Iterator[FileFeatures]:
    """Yield, of large ledgers, the ids that the request names, at their first ``limits.max_places`` rows each.

    Args:
        paths: files whose structure is left out because of their size.
        basket: the request's terms.
        cost: which of them stand in which file; a file without one is not read.
        limits: the forms of ids, and how many places are kept.
        desk: the tree.
    """
    ledgers = set(filter(has_rows, paths))
    if not ledgers:
        return
    finder = MarkFinder(limits.patterns)
    named = {one.term for one in basket.terms if [found.id for found in _ids(finder, one.term, limits)] == [one.term]}
    held: dict[str, list[str]] = {}
    for term, hits in zip(cost.terms, cost.hits, strict=True):
        for path in (cost.paths[i] for i in hits.files if term in named):
            held.setdefault(path, []).append(term)
    for path in sorted(ledgers & held.keys()):
        try:
            data, first_line = _bytes_of(path, desk)
        except SkippedFile:
            continue  # the probes and the hydration say so of what they could not read
        found = sorted({one for term in held[path] for one in _places(data, term, finder, limits)}, key=_by_line)
        ids = tuple(one._replace(line=one.line + first_line - 1) for one in found)
        yield FileFeatures(path=path, role=role_of(path), ids=ids)


def _bytes_of(path: str, desk: Desk) -> tuple[bytes, int]:
    if is_long(desk.workspace, path):
        tail = read_tail(desk.workspace, path)
        return tail.data, tail.first_line
    return desk.workspace.read(path, max_bytes=TAIL_BYTES).data, 1


def _places(data: bytes, term: str, finder: MarkFinder, limits: SurveyLimits) -> Iterator[DurableId]:
    """Yield an id as it stands in rows, where a row holds the very id and not a longer one."""
    sought, low = term.encode().lower(), data.lower()
    at, line, left = 0, 1, limits.max_places
    while left > 0 and (found := low.find(sought, at)) >= 0:
        begin, end = data.rfind(b"\n", 0, found) + 1, data.find(b"\n", found)
        end = len(data) if end < 0 else end
        line += data.count(b"\n", at, begin)
        row = data[begin:end].decode("utf-8", "replace")
        same = [one.id for one in _ids(finder, row, limits) if joined(one.id) == joined(term)]
        if same:
            left -= 1
            yield DurableId(same[0], line)
        at = end


def _ids(finder: MarkFinder, text: str, limits: SurveyLimits) -> Sequence[DurableId]:
    return finder.find(text, limits.features).ids


def _by_line(one: DurableId) -> tuple[int, str]:
    return one.line, one.id
