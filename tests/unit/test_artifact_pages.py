"""Pages for the Prefect UI: nothing of a tree or an intake becomes markup."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rtch.flows.pages import artifact_key, code, fenced, inline, visible

HOSTILE = [
    "<img src=http://evil.example/x.png>",
    "![a](http://evil.example/x.png)",
    "[a](http://evil.example)",
    "<http://evil.example>",
    "http://evil.example and www.evil.example",
    "`a` ``b`` ```c",
    "# not a heading\n\n- not a list",
    "a | b | c",
    "*bold* _it_ ~~gone~~",
    "&lt;img&gt; &#60;img&#62;",
    "\x1b[31mred\x07",
    "\u202etxt.exe",
    "a\\",
    "",
]


def tags(html: str) -> set[str]:
    return set(re.findall(r"<(/?\w+)", html))


@pytest.mark.parametrize("text", HOSTILE)
def test_inline_text_makes_no_markup(text: str) -> None:
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(f"- {inline(text)}")
    assert tags(html) <= {"ul", "/ul", "li", "/li"}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_code_span_holds_its_text_alone(text: str) -> None:
    html = MarkdownIt("commonmark", {"html": True}).render(f"a {code(text)} z")
    assert re.fullmatch(r"<p>a <code>[^<]*</code> z</p>\n", html)


@given(st.text())
def test_inline_text_reads_as_it_was(text: str) -> None:
    (block,) = MarkdownIt("commonmark", {"html": True}).parse(f"x{inline(text)}x")[1:2]
    shown = "".join(child.content for child in block.children or [])
    assert shown == f"x{visible(text)}x"


@given(st.text())
def test_a_fence_is_never_left(text: str) -> None:
    tokens = MarkdownIt("commonmark", {"html": True}).parse(f"{fenced(text)}\n\nafter")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    lines = text.removesuffix("\n").split("\n")
    assert tokens[0].content == "".join(visible(line, keep="\t") + "\n" for line in lines)


@given(st.text())
def test_a_code_span_reads_as_it_was(text: str) -> None:
    (block,) = MarkdownIt("commonmark", {"html": True}).parse(f"x{code(text)}x")[1:2]
    spans = [child.content for child in block.children or [] if child.type == "code_inline"]
    assert len(spans) == 1
    assert spans[0].strip() == visible(text).strip()


@given(st.lists(st.text(), max_size=4))
def test_an_artifact_key_is_valid(words: list[str]) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", artifact_key(*words))


def test_an_artifact_key_keeps_what_it_can() -> None:
    assert artifact_key("rtch-packet", "My Zone.v2", "0a1b") == "rtch-packet-my-zone-v2-0a1b"
