"""A packet that fits a number of characters: what is left out is said, and how to get it.

How the evidence was come by goes first (target sets, places, probes, terms), then the texts of chunks from the
last-ranked on, and only then rows of what was found. A shortened document is no packet any more and bears a
field ``omitted``, so it is never taken for one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rtch.documents import Document, document_of
from rtch.errors import IntakeError

if TYPE_CHECKING:
    from rtch.models.packet import Packet

Measure = Callable[[Document], int]
Step = tuple[str, Callable[[Document, int], int]]
"""What a step leaves out in words, and a function that leaves out n and returns how many there are."""

TEXT_OMITTED = "text_omitted"
_COUNTED = ("rows of", "texts of")


def bounded_document(packet: Packet, max_chars: int, measure: Measure | None = None) -> Document:
    """Return the packet's document, shortened until it measures at most ``max_chars``.

    Args:
        packet: the packet.
        max_chars: characters.
        measure: the length of a document as it will be written; compact JSON if none is given.

    Raises:
        IntakeError: not even the barest view fits.
    """
    length = measure or _compact
    document = document_of(packet)
    if length(document) <= max_chars:
        return document
    kept: Document = json.loads(json.dumps(document))
    kept["omitted"] = {"max_chars": max_chars, "what": [], "whole": f"rtch show {document['packet_id']}"}
    for what, step in _steps():
        if _shorten(kept, max_chars, length, (what, step)):
            return kept
    raise IntakeError(
        f"--max-chars {max_chars} is too few for any view of this packet", hint=f"it takes {length(kept)}"
    )


def _compact(document: Document) -> int:
    return len(json.dumps(document, separators=(",", ":")))


def _shorten(document: Document, max_chars: int, length: Measure, step: Step) -> bool:
    """Leave out as little by one step as makes the document fit, or all of it; tell whether it fits."""
    what, leave_out = step
    before = length(document)
    total = leave_out(_copy(document), 0)
    low, high = 1, total
    while low < high:
        middle = (low + high) // 2
        trial = _left_out(document, what, leave_out, middle)
        low, high = (low, middle) if length(trial) <= max_chars else (middle + 1, high)
    if total == 0:
        return before <= max_chars
    shorter = _left_out(document, what, leave_out, low)
    if length(shorter) < before:
        document.clear()
        document.update(shorter)
    return length(document) <= max_chars


def _left_out(document: Document, what: str, leave_out: Callable[[Document, int], int], n: int) -> Document:
    copy = _copy(document)
    leave_out(copy, n)
    copy["omitted"]["what"].append(f"{n} {what}" if what.startswith(_COUNTED) else what)
    return copy


def _copy(document: Document) -> Document:
    copied: Document = json.loads(json.dumps(document))
    return copied


def _steps() -> Iterator[Step]:
    yield "target sets and terms of probes, but for the first of each", _trim_probes
    yield _rows(("shape_inventory", "directories"))
    yield "places and spellings of terms", _trim_terms
    yield "hits of chunks, but for the first of each", _trim_hits
    yield "score parts of surfaces and quotes of chunks' edges", _trim_proofs
    yield from map(_rows, _MACHINERY)
    yield "texts of chunks, the last-ranked first", _drop_texts
    yield from map(_rows, _FINDINGS)
    for most in (20, 4, 1):
        yield f"lists of more than {most} rows and long texts", _cut_all(most)


_MACHINERY = (
    ("probe_plan", "dropped"),
    ("probe_plan", "probes"),
    ("next_legal_probes",),
    ("candidate_basket", "terms"),
    ("shape_inventory", "scans"),
    ("fingerprint", "hydrated"),
    ("run", "stages"),
)
"""How the evidence was come by."""
_FINDINGS = (
    ("zone_descriptor", "truth_files"),
    ("zone_descriptor", "registries"),
    ("hydrated_chunks",),
    ("skipped_surfaces",),
    ("selected_surfaces",),
    ("caution_map",),
    ("unresolved_questions",),
)
"""What was found, and what was not."""


def _rows(path: tuple[str, ...]) -> Step:
    return f"rows of {'.'.join(path)}, from the last", _last_of(*path)


def _last_of(*path: str) -> Callable[[Document, int], int]:
    """Leave out the last rows of a list; those that are ranked are so from the first."""

    def leave_out(document: Document, n: int) -> int:
        at: Any = document
        for name in path[:-1]:
            at = at[name]
        rows = at[path[-1]]
        at[path[-1]] = rows[: len(rows) - n]
        return len(rows)

    return leave_out


def _trim_probes(document: Document, n: int) -> int:
    probes = [*(one["probe"] for one in document["probe_plan"]["probes"]), *document["next_legal_probes"]]
    if n:
        for probe in probes:
            probe["target_set"], probe["terms"] = probe["target_set"][:1], probe["terms"][:1]
            if "places" in probe:
                probe["places"] = probe["places"][:1]
    return min(1, len(probes))


def _trim_terms(document: Document, n: int) -> int:
    if n:
        for term in document["candidate_basket"]["terms"]:
            term["places"], term["variants"] = [], []
    return min(1, len(document["candidate_basket"]["terms"]))


def _trim_hits(document: Document, n: int) -> int:
    if n:
        for chunk in document["hydrated_chunks"]:
            chunk["hits"] = chunk["hits"][:1]
    return min(1, len(document["hydrated_chunks"]))


def _trim_proofs(document: Document, n: int) -> int:
    if n:
        for chunk in document["hydrated_chunks"]:
            chunk["quote"] = {}
        for surface in document["selected_surfaces"]:
            surface["score_parts"] = []
    return min(1, len(document["hydrated_chunks"]))


def _drop_texts(document: Document, n: int) -> int:
    chunks = {chunk["chunk_id"]: chunk for chunk in document["hydrated_chunks"]}
    ranked = [
        chunk_id for surface in document["selected_surfaces"] for chunk_id in surface["chunks"] if chunk_id in chunks
    ]
    ranked = list(dict.fromkeys([*ranked, *chunks]))
    for chunk_id in ranked[len(ranked) - n :]:
        chunks[chunk_id]["text"] = ""
        chunks[chunk_id]["tags"] = [*chunks[chunk_id]["tags"], TEXT_OMITTED]
    return len(ranked)


def _cut_all(most: int) -> Callable[[Document, int], int]:
    def leave_out(document: Document, n: int) -> int:
        if n:
            said = document["omitted"]
            document.update({name: _cut(value, most) for name, value in document.items()})
            document["omitted"] = said
        return 1

    return leave_out


def _cut(value: Any, most: int) -> Any:
    if isinstance(value, dict):
        return {name: _cut(item, most) for name, item in value.items()}
    if isinstance(value, list):
        return [_cut(item, most) for item in value[:most]]
    if isinstance(value, str) and len(value) > 50 * most + 100:
        return value[: 50 * most + 100] + "…"
    return value
