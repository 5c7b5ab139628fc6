"""Shortened packets: in which order parts go, that each is counted, and that the schema still holds."""

from __future__ import annotations

import json
from functools import cache

import pytest
import samples as sample
from jsonschema import Draft202012Validator

from rtch import render
from rtch.documents import Document, document_of
from rtch.models.basket import Basket, Place, Term, TermShape
from rtch.models.chunk import Caution, SkippedSurface
from rtch.models.packet import Packet, ShownPacket
from rtch.models.plan import ProbeTerm
from rtch.models.vocab import CautionFlag, Origin, SkipReason, Use
from rtch.render.shortening import bounded_document

LONG = "a sentence that goes on and on " * 40


def rich() -> Packet:
    """A packet with something of everything that can be left out."""
    term = ProbeTerm(
        term="settle",
        spellings=("settle",),
        origin=Origin.EXPLICIT_SEED,
        use=Use.HYDRATE,
        pull=1.0,
        places=(("src/a.py", 3), ("src/b.py", 9)),
    )
    known = Term(
        term="settle",
        shape=TermShape.SEED,
        origin=Origin.EXPLICIT_SEED,
        use=Use.HYDRATE,
        weight=1.0,
        places=(Place(path="src/a.py", line=3, shape=Origin.CODE_SYMBOL, name="settle"),),
    )
    skipped = [
        SkippedSurface(path=f"{folder}/{n}.py", reason=reason, detail="it was not read")
        for folder in ("a", "b/c", "d")
        for n in range(60)
        for reason in (SkipReason.TARGET_CUT, SkipReason.BINARY)
    ]
    return sample.packet(
        hydrated_chunks=tuple(sample.chunk(n, path=f"src/f{n}.py", text="some text\n" * 40) for n in range(1, 9)),
        selected_surfaces=tuple(
            sample.surface(n, path=f"src/f{n}.py", chunks=(f"rtch_chunk_{n}",), why=LONG) for n in range(1, 9)
        ),
        skipped_surfaces=tuple(skipped),
        candidate_basket=Basket(terms=(known,)),
        next_legal_probes=tuple(sample.probe(n, terms=(term, term)) for n in range(3, 9)),
        caution_map=tuple(Caution(path=f"src/{n}.py", flag=CautionFlag.DEPRECATED, note=LONG) for n in range(40)),
    )


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(ShownPacket.model_json_schema())


def whole_length(packet: Packet) -> int:
    return len(json.dumps(document_of(packet), separators=(",", ":")))


BOUNDS = [9_000, 12_000, 16_000, 20_000, 25_000, 30_000, 40_000, 60_000]


@pytest.mark.parametrize("max_chars", BOUNDS)
def test_shortened_json_keeps_the_published_schema(max_chars: int) -> None:
    text = render.rendered(rich(), "json", max_chars=max_chars)
    document = json.loads(text)
    assert len(text) <= max_chars
    assert document["omitted"]["max_chars"] == max_chars
    assert [error.message for error in validator().iter_errors(document)] == []
    assert ShownPacket.parse(text).packet_id == rich().packet_id


@pytest.mark.parametrize("max_chars", BOUNDS)
def test_each_cut_is_said_with_its_count(max_chars: int) -> None:
    said = bounded_document(rich(), max_chars)["omitted"]["what"]
    assert said
    assert all(int(what.split(" ")[0]) > 0 for what in said)


def skipped_counts(document: Document) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in document["skipped_surfaces"]:
        counts[row["reason"]] = counts.get(row["reason"], 0) + row["count"]
    return counts


def test_what_was_skipped_is_folded_before_any_text_goes_and_still_adds_up() -> None:
    packet = rich()
    document = bounded_document(packet, whole_length(packet) - 20_000)
    assert [chunk["text"] for chunk in document["hydrated_chunks"]] == ["some text\n" * 40] * 8
    assert len(document["skipped_surfaces"]) < len(packet.skipped_surfaces)
    assert skipped_counts(document) == skipped_counts(document_of(packet)) == {"binary": 180, "target_cut": 180}
    gone = len(packet.skipped_surfaces) - len(document["skipped_surfaces"])
    said = f"{gone} rows of skipped_surfaces, folded into rows a folder that add up"
    assert said in document["omitted"]["what"]


def test_texts_of_chunks_go_last_and_everything_before_them_is_short() -> None:
    packet = rich()
    length = whole_length(packet)
    seen: list[str] = []
    while length > 9_000:
        document = bounded_document(packet, length)
        for what in document.get("omitted", {}).get("what", ()):
            kind = what.split(" ", 1)[1]
            if kind not in seen:
                seen.append(kind)
        length -= 1_500
    texts = seen.index("texts of chunks, the last-ranked first")
    before = seen[:texts]
    for kind in (
        "rows of skipped_surfaces, folded into rows a folder that add up",
        "score parts of surfaces and quotes of chunks' edges",
        "rows of next_legal_probes, from the last",
        "rows of caution_map, from the last",
        "long texts, cut but for those of chunks",
    ):
        assert kind in before
    assert not any("hydrated_chunks" in kind or "selected_surfaces" in kind for kind in before)


@pytest.mark.parametrize("max_chars", [14_000, 16_000, 18_000, 20_000, 22_000])
def test_last_ranked_chunks_lose_their_text_and_then_their_row_first(max_chars: int) -> None:
    document = bounded_document(rich(), max_chars)
    left = [chunk["chunk_id"] for chunk in document["hydrated_chunks"]]
    told = [chunk["chunk_id"] for chunk in document["hydrated_chunks"] if chunk["text"]]
    assert told
    assert left == [f"rtch_chunk_{n}" for n in range(1, len(left) + 1)]
    assert told == left[: len(told)]
    assert len(document["selected_surfaces"]) == 8


def test_paths_and_commands_are_whole_or_not_there() -> None:
    path = "/".join(["a-folder-with-a-long-name"] * 12) + "/f.py"
    packet = sample.packet(
        hydrated_chunks=tuple(sample.chunk(n, path=path, text="x\n" * 900) for n in range(1, 6)),
        selected_surfaces=(sample.surface(path=path, chunks=tuple(f"rtch_chunk_{n}" for n in range(1, 6))),),
    )
    document = bounded_document(packet, 7_000)
    rows = [*document["hydrated_chunks"], *document["selected_surfaces"]]
    assert all(row["path"] == path for row in rows)
    assert not any("…" in row.get("next_re_entry_command", row.get("re_entry_command", "")) for row in rows)
