"""Entries of Markdown ledgers: sections with an id, of which a later one of the same id overtakes an earlier one.

That a document is a ledger is the layout's to say: any other may name a thing twice and mean both. An entry's id is the
word before the dash or colon of its heading (``## CPR-17 - Glaze``), or the anchor below it (``<a id="glaze"></a>``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from rtch.ledgers import Overtaken, Standing, counting
from rtch.models.features import FeatureLimits, Section
from rtch.models.ledgers import LedgerRules
from rtch.stages.chunks import SourceFile

_ID = re.compile(r"(?:\[)?`?((?=[^\s`]*[\d_])[\w.:/#-]*\w)`?(?:\])?\s*(?:$|[\u2014\u2013:]|-\s)")
"""A word with a digit or an underscore: a title's first word alone is none."""
_ANCHOR = re.compile(r"""<a\s+(?:id|name)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_HEAD_LINES = 8
"""Lines of an entry in which its anchor and its status are looked for."""


class Entries:
    """The entries of one ledger."""

    def __init__(self, file: SourceFile, rules: LedgerRules) -> None:
        """Take the file, which states stick, and what a status is called."""
        self._rules = rules
        self._entries = list(_entries(file, rules))
        self._by_id: dict[str, list[Standing]] = defaultdict(list)
        for one in self._entries:
            self._by_id[one.record_id].append(one)
        limits = FeatureLimits()
        self._partial = len(file.data) > limits.max_bytes or len(file.sections) >= limits.max_headings

    def overtaken(self, lines: Iterable[int]) -> dict[int, Overtaken]:
        """Return which lines are of an entry that a later one of its id overtook, with both."""
        found: dict[int, Overtaken] = {}
        for line in lines:
            own = next((one for one in reversed(self._entries) if one.line <= line <= one.end), None)
            current = None if own is None else counting(self._by_id[own.record_id], self._rules)
            # A part of an entry may bear its id, and overtakes nothing.
            if own is not None and current is not None and not own.line <= current.line <= own.end:
                found[line] = Overtaken(own, current, self._partial)
        return found


def _entries(file: SourceFile, rules: LedgerRules) -> Iterable[Standing]:
    form = _status_form(rules.status_fields)
    for section in file.sections:
        head = [file.line(line) for line in range(section.start_line, _head_end(section) + 1)]
        record_id = _id_of(section, head)
        if record_id:
            tags = map(form.search, head[1:])
            status = next((match.group(1).lower() for match in tags if match), "")
            yield Standing(section.start_line, record_id, status, section.end_line)


def _head_end(section: Section) -> int:
    return min(section.end_line, section.start_line + _HEAD_LINES)


def _id_of(section: Section, head: list[str]) -> str:
    match = _ID.match(section.path[-1])
    if match:
        return match.group(1)
    anchors = (_ANCHOR.search(line) for line in head)
    return next((f"#{anchor.group(1)}" for anchor in anchors if anchor), "")


@lru_cache(maxsize=4)
def _status_form(fields: tuple[str, ...]) -> re.Pattern[str]:
    """Return the form of a status in a tag or a line of an entry's head."""
    names = "|".join(map(re.escape, fields))
    return re.compile(rf"\b(?:{names})\b[*_`]*\s*[=:][*_`\"'\s]*([\w-]+)", re.IGNORECASE)
