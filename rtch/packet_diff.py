"""Two packets become what differs between them. ``render.diff`` writes it for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rtch.documents import NOT_HASHED, Document, document_of
from rtch.models.packet import Packet
from rtch.models.packet_diff import ChangedChunk, ChangedValue, MovedPath, PacketDiff, PlacedChunk, RankedPath

_Path = tuple[str, bool]
_Span = tuple[str, bool, int, int]


def diff(before: Packet, after: Packet) -> PacketDiff:
    """Return what differs; rows are ordered by path, line and name.

    A chunk is changed where both packets have its span with other bytes, and else removed or added: that
    lines have moved is what ``rtch verify`` tells, who reads the files.

    Args:
        before: the older one, as a model or as ``packets.peek`` shows it.
        after: the newer one.
    """
    one, other = document_of(before), document_of(after)
    ranks, ranks_after = _ranks(one), _ranks(other)
    spans, spans_after = _spans(one), _spans(other)
    shared = spans.keys() & spans_after.keys()
    return PacketDiff(
        before=one["packet_id"],
        after=other["packet_id"],
        surfaces_entered=_ranked(ranks_after, ranks_after.keys() - ranks.keys()),
        surfaces_left=_ranked(ranks, ranks.keys() - ranks_after.keys()),
        surfaces_moved=tuple(
            MovedPath(path=key[0], path_encoded=key[1], rank_before=ranks[key], rank_after=ranks_after[key])
            for key in sorted(ranks.keys() & ranks_after.keys())
            if ranks[key] != ranks_after[key]
        ),
        chunks_added=_placed(spans_after, spans_after.keys() - shared),
        chunks_removed=_placed(spans, spans.keys() - shared),
        chunks_changed=tuple(
            ChangedChunk(**_place(key), text_sha256_before=spans[key], text_sha256_after=spans_after[key])
            for key in sorted(shared)
            if spans[key] != spans_after[key]
        ),
        criteria=_changed(_criteria(one), _criteria(other)),
        halting=_changed(_halting(one), _halting(other)),
        state=_changed(_state(one), _state(other)),
        fields=tuple(sorted(name for name in one.keys() | other.keys() if _differs(name, one, other))),
    )


def _differs(name: str, one: Document, other: Document) -> bool:
    return name not in NOT_HASHED and one.get(name) != other.get(name)


def _ranks(document: Document) -> dict[_Path, int]:
    return {(row["path"], row["path_encoded"]): row["rank"] for row in document["selected_surfaces"]}


def _ranked(ranks: Mapping[_Path, int], keys: Iterable[_Path]) -> tuple[RankedPath, ...]:
    return tuple(RankedPath(path=key[0], path_encoded=key[1], rank=ranks[key]) for key in sorted(keys))


def _spans(document: Document) -> dict[_Span, str]:
    return {
        (row["path"], row["path_encoded"], row["start_line"], row["end_line"]): row["text_sha256"]
        for row in document["hydrated_chunks"]
    }


def _placed(spans: Mapping[_Span, str], keys: Iterable[_Span]) -> tuple[PlacedChunk, ...]:
    return tuple(PlacedChunk(**_place(key), text_sha256=spans[key]) for key in sorted(keys))


def _place(key: _Span) -> dict[str, Any]:
    return dict(zip(("path", "path_encoded", "start_line", "end_line"), key, strict=True))


def _criteria(document: Document) -> dict[str, str]:
    """Return what was observed of each criterion; one that is there twice is numbered."""
    found: dict[str, str] = {}
    for row in document["criteria"]["compiled"]:
        _add(found, f"{row['kind']} {row['expected']}", f"{row['verdict']}: {row['observed']}")
    for sentence in document["criteria"]["not_machine_checked"]:
        _add(found, sentence, "not machine checked")
    return found


def _add(found: dict[str, str], name: str, value: str) -> None:
    number = 2
    numbered = name
    while numbered in found:
        numbered, number = f"{name} ({number})", number + 1
    found[numbered] = value


def _halting(document: Document) -> dict[str, str]:
    return {name: str(document[name]) for name in ("halting_reason", "halting_detail")}


def _state(document: Document) -> dict[str, str]:
    fingerprint = document["fingerprint"]
    return {"listing": fingerprint["listing"]} | {row["path"]: row["sha256"] for row in fingerprint["hydrated"]}


def _changed(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[ChangedValue, ...]:
    return tuple(
        ChangedValue(name=name, before=one.get(name), after=other.get(name))
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    )
