"""Laws of packets as text: nothing is lost, nothing is forged, no bound is passed."""

from __future__ import annotations

import json
import re
from typing import Any

import samples as sample
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rtch import render
from rtch.documents import document_of, view_of
from rtch.escape import fenced, inline, visible
from rtch.handoff.dump import write_dump
from rtch.models.packet import Packet
from rtch.yaml_text import to_yaml_text

SPECIAL = "\n\r\t `|#*_-<>[]{}:&!%@\\'\"~=.,\x00\x1b\x7f\x85\xa0\u2028\u202e\u2066\ufeff\ufffd\U0001f600\U000e0041"
TEXT = st.text(st.one_of(st.sampled_from(SPECIAL), st.characters(exclude_categories=["Cs"])), max_size=40)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
    st.text(st.sampled_from("ab \n#:-|>\t"), max_size=30),
    st.sampled_from(
        [
            "yes",
            "No",
            "null",
            "~",
            "1e5",
            "0x1F",
            "1:30",
            "2024-01-01",
            "",
            "- a",
            "a: b",
            "#x",
            "<<",
            "=",
            "1_000",
            "on",
        ]
    ),
)
KEYS = st.one_of(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), st.sampled_from(["on", "no", "a b", "x:y", "1"]))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=20,
)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
@settings(max_examples=300)
def test_yaml_gives_every_value_back(value: dict[str, Any]) -> None:
    text = to_yaml_text(value)
    assert yaml.load(text, yaml.SafeLoader) == value
    assert yaml.load(text, yaml.CSafeLoader) == value
    assert _types(yaml.load(text, yaml.CSafeLoader)) == _types(value)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e\ufeff]", text)


def _types(value: object) -> object:
    if isinstance(value, dict):
        return {key: _types(item) for key, item in value.items()}
    return [_types(item) for item in value] if isinstance(value, list) else type(value)


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_lone_surrogates_come_back_too(text: str) -> None:
    assert yaml.load(to_yaml_text({"a": text}), yaml.SafeLoader) == {"a": text}


@st.composite
def packets(draw: st.DrawFn) -> Packet:
    texts = draw(st.lists(TEXT, min_size=1, max_size=3))
    path = draw(TEXT.filter(lambda text: text.strip() and "\0" not in text))
    chunks = tuple(
        sample.chunk(n, path=path, text=text, why_included=draw(TEXT), limitation=draw(TEXT))
        for n, text in enumerate(texts, 1)
    )
    ids = tuple(chunk.chunk_id for chunk in chunks)
    return sample.packet(
        hydrated_chunks=chunks,
        selected_surfaces=(sample.surface(path=path, why=draw(TEXT), chunks=ids),),
        halting_detail=draw(TEXT),
        constraint_stack=tuple(draw(st.lists(TEXT, max_size=2))),
    )


@given(packets())
@settings(max_examples=60, deadline=None)
def test_packet_comes_back_from_yaml_and_json(packet: Packet) -> None:
    document = document_of(packet)
    assert yaml.load(render.to_yaml(packet), yaml.CSafeLoader) == document
    assert json.loads(render.to_json(packet)) == document
    assert Packet.parse(render.to_json(packet)) == packet


@given(packets())
@settings(max_examples=60, deadline=None)
def test_markdown_has_the_structure_of_the_packet_whatever_stands_in_it(packet: Packet) -> None:
    text = render.to_markdown(packet)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    kinds = [token.type for token in tokens]
    assert kinds.count("fence") == len(packet.hydrated_chunks)
    assert kinds.count("heading_open") == 8 + len(packet.hydrated_chunks) + bool(packet.constraint_stack)
    assert kinds.count("td_open") == 4 + 6
    inner = {child.type for token in tokens for child in token.children or ()}
    assert inner <= {"text", "code_inline", "softbreak"}
    assert not {"html_block", "code_block", "hr", "blockquote_open"} & set(kinds)
    shown = [token.content for token in tokens if token.type == "fence"]
    for chunk, content in zip(packet.hydrated_chunks, shown, strict=True):
        assert content.removesuffix("\n") == visible(chunk.text, lines=True).removesuffix("\n")


@given(TEXT)
def test_inline_code_is_one_piece_of_code(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"x{inline(text)}y")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    pieces = tokens[1].children or []
    assert [piece.type for piece in pieces] == ["text", "code_inline", "text"]
    assert not text.strip(" ") or pieces[1].content == visible(text)


@given(TEXT)
def test_fence_holds_whatever_stands_in_it(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(fenced(text))
    assert [token.type for token in tokens] == ["fence"]


@given(packets())
@settings(max_examples=60, deadline=None)
def test_dump_has_the_blocks_of_the_packet_whatever_stands_in_it(packet: Packet) -> None:
    dump = write_dump(packet)
    opened = re.findall(rf"^\[FILE: .* \| category=\w+ \| lines=\d+ \| id={dump.nonce}\]$", dump.text, re.MULTILINE)
    assert len(opened) == dump.files == 1
    assert dump.text.split("\n").count(f"[/FILE {dump.nonce}]") == 1
    assert not any(dump.nonce in chunk.text for chunk in packet.hydrated_chunks)
    body = dump.text.split(opened[0], 1)[1]
    for chunk in packet.hydrated_chunks:
        assert visible(chunk.text, lines=True).removesuffix("\n") in body


@given(packets(), st.integers(9_000, 20_000), st.sampled_from(render.FORMATS))
@settings(max_examples=40, deadline=None)
def test_bound_is_kept(packet: Packet, max_chars: int, form: str) -> None:
    text = render.rendered(packet, form, max_chars=max_chars)
    assert len(text) <= max_chars
    assert text == render.rendered(view_of(document_of(packet)), form, max_chars=max_chars)
