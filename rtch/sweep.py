"""Searching for many terms at once without letting a common one hide a rare one.

A search stops in a file after so many matching lines, and a word of the goal may stand in all of
them. Where that happened, the terms without a match there are searched for by themselves.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from rtch.search import Match, SearchOutcome, find_matches
from rtch.spelling import SpellingSet
from rtch.workspace import Workspace

MAX_ROUNDS = 3
"""A term that floods a file is out of the next round, so few files need more."""
MAX_GROUPS = 8
"""Searches in one round; files that lack the same terms share one."""
LONG_BYTES = 256
"""A longer match is one word, such as a page of Base64, and its beginning is not where the term stands."""
FEW_FILES = 20
"""In more flooded files than these, only names are searched for again: of plain words there are enough."""


def sweep(  # noqa: PLR0913  the bounds of a search, each spelled out
    ws: Workspace,
    paths: Iterable[str],
    spellings: SpellingSet,
    *,
    max_lines_per_file: int,
    timeout_s: float,
    max_rows: int,
) -> SearchOutcome:
    """Search files of a workspace for terms.

    Args:
        ws: the open zone.
        paths: what to search.
        spellings: the terms.
        max_lines_per_file: matching lines that one search takes of one file.
        timeout_s: seconds for everything.
        max_rows: matches that each search keeps.

    Returns:
        What was found; a file is ``truncated`` where some term may have further matches.

    Raises:
        ToolError: rg is missing or refuses the patterns.
    """
    end = time.monotonic() + timeout_s

    def once(files: Iterable[str], patterns: tuple[str, ...], left: float) -> SearchOutcome:
        return find_matches(
            ws,
            files,
            patterns,
            fixed=False,
            ignore_case=True,
            max_lines_per_file=max_lines_per_file,
            timeout_s=left,
            max_rows=max_rows,
        )

    def search(files: Iterable[str], terms: SpellingSet, left: float) -> SearchOutcome:
        outcome = once(files, terms.patterns(), left)
        long = {match.path for match in outcome.matches if len(match.text) > LONG_BYTES}
        if not long or outcome.timed_out:
            return outcome
        return _placed(outcome, long, once(long, terms.patterns(bounded=True), end - time.monotonic()))

    first = search(paths, spellings, timeout_s)
    flooded: Collection[str] = frozenset(first.truncated)
    found = [match for match in first.matches if match.path in flooded] if flooded else []
    seen = dict.fromkeys(found)
    timed_out = first.timed_out
    for _ in range(MAX_ROUNDS):
        groups = lacking(_held(flooded, seen, spellings), spellings)
        again: set[str] = set()
        for missing, files in groups.items():
            left = end - time.monotonic()
            if timed_out or left <= 0:
                return _with(first, found, seen, timed_out=True)
            more = search(files, SpellingSet(spellings.spellings[i].term for i in missing), left)
            seen.update(dict.fromkeys(more.matches))
            again.update(more.truncated)
            timed_out = more.timed_out
        flooded = again
        if not flooded:
            break
    return _with(first, found, seen, timed_out=timed_out)


def _placed(outcome: SearchOutcome, long: Collection[str], again: SearchOutcome) -> SearchOutcome:
    """Return a search with the matches of some files replaced by those of a second one."""
    others = (match for match in outcome.matches if match.path not in long)
    return replace(
        outcome,
        matches=tuple(sorted((*others, *again.matches))),
        truncated=tuple(sorted({*again.truncated, *(path for path in outcome.truncated if path not in long)})),
        timed_out=again.timed_out,
    )


def _with(
    first: SearchOutcome, found: Collection[Match], seen: Mapping[Match, None], *, timed_out: bool
) -> SearchOutcome:
    """Return the first search with the matches that later ones added."""
    if len(seen) == len(found):
        return replace(first, timed_out=timed_out)
    known = set(found)
    added = [match for match in seen if match not in known]
    ordered = sorted((*first.matches, *added), key=lambda match: (match.path, match.line, match.byte_offset))
    return replace(first, matches=tuple(ordered), timed_out=timed_out)


def _held(flooded: Collection[str], seen: Iterable[Match], spellings: SpellingSet) -> dict[str, set[int]]:
    """Return which terms have a match in each flooded file."""
    held: dict[str, set[int]] = {path: set() for path in flooded}
    for match in seen:
        if match.path in held:
            held[match.path].update(spellings.terms_in(match.text))
    return held


def lacking(held: Mapping[str, Collection[int]], spellings: SpellingSet) -> Mapping[tuple[int, ...], list[str]]:
    """Group files whose matches were cut by the terms that have none there, and that are worth another search."""
    wanted = [i for i, spelling in enumerate(spellings.spellings) if not spelling.root or len(held) <= FEW_FILES]
    groups: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for path in sorted(held):
        missing = tuple(i for i in wanted if i not in held[path])
        if missing:
            groups[missing].append(path)
    largest = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return dict(largest[:MAX_GROUPS])
