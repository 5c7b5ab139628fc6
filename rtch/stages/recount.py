"""What an earlier pass counted for the same terms, and which files have to be counted again.

A pass over a large tree is most of what a question costs there, and between two runs of a saved intake a few
files change. The note names the estimate and bears a number for each file in the state in which it was
counted. It is a hint for the counts alone: what they lead to is read and checked all the same.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from rtch.keys import logic_digest, zone_id
from rtch.limits import CostLimits
from rtch.models.plan import CostEstimate, Unreached
from rtch.stages.desk import Desk

DIGEST_CHARS = 64


class Before(NamedTuple):
    """What still holds: counts and reasons by path; and the files that must be counted."""

    found: dict[str, dict[int, int]]
    unsearched: dict[str, Unreached]
    stale: list[str]


class Recount:
    """The note of one set of terms in one zone."""

    def __init__(self, terms: tuple[str, ...], files: Mapping[str, int], limits: CostLimits, desk: Desk) -> None:
        text = "\0".join((logic_digest(), *terms)).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(limits.canonical() + b"\0" + text).hexdigest()[:32]
        self._name = f"counted/{zone_id(desk.workspace.root)}/{digest}"
        self._desk = desk
        self._terms = terms
        self._files = files

    @cached_property
    def _marks(self) -> array[int]:
        return self._desk.workspace.marks(self._files)

    def before(self) -> Before:
        """Return what an earlier pass found in the files that are as they were."""
        note = self._desk.notes([self._name]).get(self._name, b"")
        marks = array("Q")
        estimate = None
        if len(note) > DIGEST_CHARS and (len(note) - DIGEST_CHARS) % marks.itemsize == 0:
            marks.frombytes(note[DIGEST_CHARS:])
            estimate = self._desk.shelved(note[:DIGEST_CHARS].decode("ascii", "replace"), CostEstimate)
        if estimate is None or estimate.terms != self._terms:
            return Before({}, {}, list(self._files))
        known = set(marks)
        stale = [path for path, mark in zip(self._files, self._marks, strict=True) if mark not in known]
        same = self._files.keys() - set(stale)
        found: dict[str, dict[int, int]] = defaultdict(dict)
        for index, hits in enumerate(estimate.hits):
            for i, count in zip(hits.files, hits.counts, strict=True):
                if estimate.paths[i] in same:
                    found[estimate.paths[i]][index] = count
        return Before(dict(found), {one.path: one for one in estimate.unsearched if one.path in same}, stale)

    def leave(self, estimate: CostEstimate) -> None:
        """Note what was counted, if all of it was."""
        if self._desk.trustworthy:
            digest = self._desk.shelve(estimate).encode()
            self._desk.leave({self._name: digest + self._marks.tobytes()})
