"""Stage 6, first half: one declared probe becomes hits."""

from __future__ import annotations

from collections import defaultdict

from rtch.limits import ProbeLimits
from rtch.masking import mask
from rtch.models.plan import Hit, Probe, ProbeResult
from rtch.models.vocab import ProbeType
from rtch.search import Match
from rtch.spelling import SpellingSet
from rtch.stages.desk import Desk
from rtch.sweep import sweep

_SHOWN = 200
"""Characters of a match that are kept; the chunk shows the line."""


def probe(probe: Probe, limits: ProbeLimits, desk: Desk) -> ProbeResult:
    """Run one probe within its target set.

    Returns:
        Hits by path, then line, one a term and line; at most ``limits.max_hits``.
    Bounds: ``limits.timeout_s`` seconds; ``limits.max_lines_per_file`` matching lines a file.
    """
    if probe.type is ProbeType.GLOB:
        return _inventory(probe, desk)
    spellings = SpellingSet(term.term for term in probe.terms)
    outcome = sweep(
        desk.workspace,
        probe.target_set,
        spellings,
        max_lines_per_file=limits.max_lines_per_file,
        timeout_s=limits.timeout_s,
        max_rows=limits.max_hits * 8,
    )
    if outcome.timed_out:
        desk.distrust()
    hits = _hits(probe, spellings, outcome.matches)
    return ProbeResult(
        probe_id=probe.probe_id,
        hits=_cut(hits, limits.max_hits),
        files_searched=outcome.files_searched,
        bytes_searched=outcome.bytes_searched,
        hit_count=len(hits),
        truncated=bool(outcome.truncated) or len(hits) > limits.max_hits,
        timed_out=outcome.timed_out,
        errors=tuple(f"{path}: {reason} {detail}".strip() for path, reason, detail in outcome.skipped),
    )


def _hits(probe: Probe, spellings: SpellingSet, matches: tuple[Match, ...]) -> list[Hit]:
    structural = {(term.term, path, line) for term in probe.terms for path, line in term.places}
    found: dict[tuple[str, int, str], Hit] = {}
    for match in matches:
        for index in spellings.terms_in(match.text):
            term = spellings.spellings[index].term
            key = (match.path, match.line, term)
            if key not in found:
                found[key] = Hit(
                    path=match.path,
                    line=match.line,
                    byte_offset=match.byte_offset,
                    term=term,
                    matched=mask(match.text.decode("utf-8", "replace")).text[:_SHOWN],
                    structural=(term, match.path, match.line) in structural,
                )
    return [found[key] for key in sorted(found)]


def _cut(hits: list[Hit], most: int) -> tuple[Hit, ...]:
    """Keep at most so many hits, of each file alike: what names a structure, then the first ones."""
    if len(hits) <= most:
        return tuple(hits)
    by_path: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        by_path[hit.path].append(hit)
    low, high = 0, most
    while low < high:
        each = (low + high + 1) // 2
        fits = sum(min(each, len(found)) for found in by_path.values()) <= most
        low, high = (each, high) if fits else (low, each - 1)
    kept = {id(hit) for found in by_path.values() for hit in sorted(found, key=lambda one: not one.structural)[:low]}
    return tuple(hit for hit in hits if id(hit) in kept) or tuple(hits[:most])


def _inventory(probe: Probe, desk: Desk) -> ProbeResult:
    """Confirm that the targets exist; a path is its own match, at the line that was named with it or its first."""
    wanted = set(probe.target_set) & desk.workspace.index.keys()
    places = {(path, line, term.term) for term in probe.terms for path, line in term.places if path in wanted}
    bare = wanted - {path for path, _, _ in places}
    places |= {(path, 1, probe.terms[0].term) for path in bare}
    hits = tuple(
        Hit(path=path, line=line, byte_offset=0, term=term, matched=path, structural=True)
        for path, line, term in sorted(places)
    )
    return ProbeResult(
        probe_id=probe.probe_id, hits=hits, files_searched=len(probe.target_set), bytes_searched=0, hit_count=len(hits)
    )
