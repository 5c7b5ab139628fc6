"""A packet that fits a number of characters: what is left out is said with its count, and how to get it.

What costs the reader least goes first: how the evidence was come by (target sets, places, score parts, probes)
and single rows of what was skipped, then long lists and texts, then chunks from the last-ranked on, the text before
the row, and only then surfaces. A shortened document keeps the packet's schema; it is no packet any more, and
bears a field ``omitted``, so it is never taken for one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from rtch.documents import Document, document_of
from rtch.errors import IntakeError

if TYPE_CHECKING:
    from rtch.models.packet import Packet

Measure = Callable[[Document], int]

TEXT_OMITTED = "text_omitted"
_ONCE = 1
"""The only grade of a step that is taken whole or not at all."""


class Step(NamedTuple):
    """One way to shorten a document, by grades from 1 on, of which a higher one leaves out more."""

    what: str
    """What is left out, after its count."""
    grades: Callable[[Document], int]
    leave_out: Callable[[Document, int], int]
    """Leaves out by a grade, in place; returns how many there were."""


def bounded_document(packet: Packet, max_chars: int, measure: Measure | None = None) -> Document:
    """Return the packet's document, shortened until it measures at most ``max_chars``.

    Args:
        packet: the packet.
        max_chars: characters.
        measure: the length of a document as it will be written; compact JSON if none is given.

    Returns:
        A document of the schema of ``models.packet.ShownPacket``.

    Raises:
        IntakeError: not even the barest view fits.
    """
    length = measure or _compact
    document = document_of(packet)
    if length(document) <= max_chars:
        return document
    kept = _copy(document)
    kept["omitted"] = {"max_chars": max_chars, "what": [], "whole": f"rtch show {document['packet_id']}"}
    for step in _steps():
        kept = _shortened(kept, max_chars, length, step)
        if length(kept) <= max_chars:
            return kept
    raise IntakeError(
        f"--max-chars {max_chars} is too few for any view of this packet", hint=f"it takes {length(kept)}"
    )


def _compact(document: Document) -> int:
    return len(json.dumps(document, separators=(",", ":")))


def _shortened(document: Document, max_chars: int, length: Measure, step: Step) -> Document:
    """Return a document with as little left out by one step as makes it fit, or all of it."""
    low, high = 1, step.grades(document)
    if high < low:
        return document
    shorter = _left_out(document, step, high)
    if length(shorter) > max_chars:
        return shorter if length(shorter) < length(document) else document
    while low < high:
        middle = (low + high) // 2
        trial = _left_out(document, step, middle)
        if length(trial) <= max_chars:
            high, shorter = middle, trial
        else:
            low = middle + 1
    return shorter


def _left_out(document: Document, step: Step, grade: int) -> Document:
    copy = _copy(document)
    count = step.leave_out(copy, grade)
    _say(copy["omitted"]["what"], count, step.what)
    return copy


def _say(said: list[str], count: int, what: str) -> None:
    """Add a count to what is said to be left out, once for each kind."""
    for place, sentence in enumerate(said):
        before, _, kind = sentence.partition(" ")
        if kind == what:
            said[place] = f"{int(before) + count} {what}"
            return
    said.append(f"{count} {what}")


def _copy(document: Document) -> Document:
    copied: Document = json.loads(json.dumps(document))
    return copied


def _steps() -> Iterator[Step]:
    yield Step("targets, terms and places of probes, all but the first of each", _once, _trim_probes)
    yield _rows("shape_inventory", "directories")
    yield Step("places and variants of terms", _once, _trim_terms)
    yield Step("rows of skipped_surfaces, folded into rows a folder that add up", _most_of_a_reason, _fold_skipped)
    yield Step("hits of chunks, all but the first of each", _once, _trim_hits)
    yield Step("score parts of surfaces and quotes of chunks' edges", _once, _trim_proofs)
    for path in _MACHINERY:
        yield _rows(*path)
    yield from _first_rows(20)
    yield Step("long texts, cut but for those of chunks", _once, _cut_prose)
    yield from _first_rows(4)
    for _ in range(_HALVINGS):
        yield Step("texts of chunks, the last-ranked first", _half_of_chunks, _drop_texts)
        yield Step("rows of hydrated_chunks, the last-ranked first", _half_of_chunks, _drop_chunks)
    yield _rows("selected_surfaces")
    yield from _first_rows(1)
    for most in (20, 4, 1):
        yield Step(f"rows past the first {most} of any list, and ends of long texts", _once, _cut_all(most))


_MACHINERY = (
    ("probe_plan", "dropped"),
    ("probe_plan", "probes"),
    ("next_legal_probes",),
    ("candidate_basket", "terms"),
    ("shape_inventory", "scans"),
    ("fingerprint", "hydrated"),
    ("run", "stages"),
    ("zone_descriptor", "truth_files"),
    ("zone_descriptor", "registries"),
)
"""How the evidence was come by."""
_HALVINGS = 10
"""A chunk's row is about as long as its text, so the lower half goes whole before the upper one loses a text; after
so many halvings none of a thousand chunks is left."""
_PROSE_CHARS = 400
_REFERENCES = frozenset({"path", "re_entry_command", "next_re_entry_command", "zone_root", "persisted_at", "dump_path"})
"""Texts that lead nowhere when their end is missing."""


def _once(_document: Document) -> int:
    return _ONCE


def _first_rows(most: int) -> Iterator[Step]:
    """Leave out cautions and questions past the first ones."""
    yield _rows("caution_map", keep=most)
    yield _rows("unresolved_questions", keep=most)


def _rows(*path: str, keep: int = 0) -> Step:
    """Leave out the last rows of a list, all but the first ``keep``; those that are ranked are so from the first."""

    def holder(document: Document) -> Any:
        at: Any = document
        for name in path[:-1]:
            at = at[name]
        return at

    def leave_out(document: Document, n: int) -> int:
        at = holder(document)
        at[path[-1]] = at[path[-1]][: len(at[path[-1]]) - n]
        return n

    return Step(
        f"rows of {'.'.join(path)}, from the last",
        lambda document: len(holder(document)[path[-1]]) - keep,
        leave_out,
    )


def _trim_probes(document: Document, _grade: int) -> int:
    probes = [*(one["probe"] for one in document["probe_plan"]["probes"]), *document["next_legal_probes"]]
    count = sum(_keep_first(probe, "target_set") + _keep_first(probe, "terms") for probe in probes)
    return count + sum(_keep_first(term, "places") for probe in probes for term in probe["terms"])


def _trim_terms(document: Document, _grade: int) -> int:
    count = 0
    for term in document["candidate_basket"]["terms"]:
        count += len(term["places"]) + len(term["variants"])
        term["places"], term["variants"] = [], []
    return count


def _trim_hits(document: Document, _grade: int) -> int:
    return sum(_keep_first(chunk, "hits") for chunk in document["hydrated_chunks"])


def _trim_proofs(document: Document, _grade: int) -> int:
    count = 0
    for surface in document["selected_surfaces"]:
        count += len(surface["score_parts"])
        surface["score_parts"] = []
    for chunk in document["hydrated_chunks"]:
        count += sum(bool(text) for text in chunk["quote"].values())
        chunk["quote"] = dict.fromkeys(chunk["quote"], "")
    return count


def _keep_first(holder: Document, name: str) -> int:
    """Leave out all but the first of a list; return how many went."""
    rows = holder[name]
    holder[name] = rows[:1]
    return max(0, len(rows) - 1)


def _skipped_by_reason(document: Document) -> dict[str, list[Document]]:
    by_reason: dict[str, list[Document]] = defaultdict(list)
    for row in document["skipped_surfaces"]:
        by_reason[row["reason"]].append(row)
    return by_reason


def _most_of_a_reason(document: Document) -> int:
    return max(map(len, _skipped_by_reason(document).values()), default=1) - 1


def _fold_skipped(document: Document, grade: int) -> int:
    """Leave at most so many rows of a reason less than the longest has; what they count still adds up."""
    from rtch.stages.skipping import by_folder  # noqa: PLC0415  loads the models, and most lists need no folding

    most = _most_of_a_reason(document) + 1 - grade
    before = len(document["skipped_surfaces"])
    rows: list[Document] = []
    for reason, found in _skipped_by_reason(document).items():
        if len(found) <= most:
            rows += found
            continue
        for path, count in by_folder(((row["path"], row["count"]) for row in found), most):
            rows.append({"path": path, "reason": reason, "detail": f"{count} surfaces", "count": count})
    document["skipped_surfaces"] = rows
    return before - len(rows)


def _cut_prose(document: Document, _grade: int) -> int:
    texts = [chunk.pop("text") for chunk in document["hydrated_chunks"]]
    count = _cut_in(document, None, _PROSE_CHARS)
    for chunk, text in zip(document["hydrated_chunks"], texts, strict=True):
        chunk["text"] = text
    return count


def _half_of_chunks(document: Document) -> int:
    return (len(document["hydrated_chunks"]) + 1) // 2


def _ranked(document: Document) -> list[str]:
    """Return the ids of the chunks by the rank of their surfaces."""
    known = dict.fromkeys(chunk["chunk_id"] for chunk in document["hydrated_chunks"])
    ranked = [one for surface in document["selected_surfaces"] for one in surface["chunks"] if one in known]
    return list(dict.fromkeys([*ranked, *known]))


def _drop_texts(document: Document, n: int) -> int:
    gone = set(_ranked(document)[-n:])
    for chunk in document["hydrated_chunks"]:
        if chunk["chunk_id"] in gone:
            chunk["text"] = ""
            chunk["tags"] = [*chunk["tags"], TEXT_OMITTED]
    return n


def _drop_chunks(document: Document, n: int) -> int:
    gone = set(_ranked(document)[-n:])
    document["hydrated_chunks"] = [one for one in document["hydrated_chunks"] if one["chunk_id"] not in gone]
    return n


def _cut_all(most: int) -> Callable[[Document, int], int]:
    return lambda document, _grade: _cut_in(document, most, 50 * most + 100)


def _cut_in(document: Document, most: int | None, chars: int) -> int:
    """Cut lists and texts everywhere but in what says what is left out; return how many rows and ends went."""
    said = document.pop("omitted")
    cut = _Cut(most, chars)
    document.update({name: cut.of(value) for name, value in document.items()})
    document["omitted"] = said
    return cut.count


class _Cut:
    """Cuts long lists and texts, and counts what went."""

    def __init__(self, most: int | None, chars: int) -> None:
        self.count = 0
        self._most = most
        self._chars = chars

    def of(self, value: Any) -> Any:
        """Return a value with what it holds cut."""
        if isinstance(value, dict):
            return {name: item if name in _REFERENCES else self.of(item) for name, item in value.items()}
        if isinstance(value, list):
            kept = value[: self._most]
            self.count += len(value) - len(kept)
            # A list in a list is a pair, which is no pair without its second half.
            return [item if isinstance(item, list) else self.of(item) for item in kept]
        if isinstance(value, str) and len(value) > self._chars:
            self.count += 1
            return value[: self._chars] + "…"
        return value
