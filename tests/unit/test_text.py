"""Encodings, newline styles and where lines begin."""

from __future__ import annotations

import codecs

import pytest

from rtch.models.vocab import NewlineStyle
from rtch.text import HeadKind, LineIndex, decode, decode_span, head_kind, is_binary

TEXT = "# Tïtle\nfoo \U0001f600\nlast"


@pytest.mark.parametrize(
    ("data", "encoding", "bom"),
    [
        (TEXT.encode(), "utf-8", False),
        (codecs.BOM_UTF8 + TEXT.encode(), "utf-8", True),
        (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), "utf-16-le", True),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "utf-16-be", True),
        (codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"), "utf-32-le", True),
        (codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"), "utf-32-be", True),
    ],
)
def test_the_encoding_is_told_by_the_bom_and_by_utf8(data: bytes, encoding: str, *, bom: bool) -> None:
    decoded = decode(data)
    assert (decoded.text, decoded.encoding, decoded.bom, decoded.exact) == (TEXT, encoding, bom, True)
    lines = LineIndex(data, encoding)
    pieces = [
        decode_span(data[slice(*lines.span(n, n))], encoding, byte_start=lines.span(n, n).start) for n in (1, 2, 3)
    ]
    assert pieces == ["# Tïtle\n", "foo \U0001f600\n", "last"]
    assert len(lines) == 3


def test_what_is_not_utf8_is_read_as_latin1_without_loss() -> None:
    data = "ключ\n".encode("cp1251")
    decoded = decode(data)
    assert (decoded.encoding, decoded.exact) == ("latin-1", True)
    assert decoded.text.encode("latin-1") == data


def test_a_utf8_bom_before_other_bytes_is_part_of_them() -> None:
    decoded = decode(codecs.BOM_UTF8 + b"\xe9\n")
    assert (decoded.encoding, decoded.bom, decoded.text) == ("latin-1", False, "\xef\xbb\xbf\xe9\n")


@pytest.mark.parametrize("data", [b"\xff\xfea\x00\xd8", b"\xff\xfe\x00\xd8a\x00", b"\xff\xfe\x00\x00\xff\xff\xff\xff"])
def test_damaged_wide_text_is_marked_and_never_holds_a_surrogate(data: bytes) -> None:
    decoded = decode(data)
    assert not decoded.exact
    assert "\N{REPLACEMENT CHARACTER}" in decoded.text
    decoded.text.encode()


def test_encoded_surrogates_in_utf8_are_no_utf8() -> None:
    assert decode(b"\xed\xa0\x80").encoding == "latin-1"


def test_a_bom_inside_a_file_is_text() -> None:
    data = "a\n\ufeffb\n".encode()
    assert decode_span(data[2:], "utf-8", byte_start=2) == "\ufeffb\n"
    assert decode(data).text == "a\n\ufeffb\n"


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("", NewlineStyle.NONE),
        ("one", NewlineStyle.NONE),
        ("a\nb\n", NewlineStyle.LF),
        ("a\r\nb\r\n", NewlineStyle.CRLF),
        ("a\rb\r", NewlineStyle.CR),
        ("a\nb\r\n", NewlineStyle.MIXED),
        ("a\rb\r\n", NewlineStyle.MIXED),
        ("a\u2028b\x0cc\x85d", NewlineStyle.NONE),
    ],
)
def test_the_newline_style(text: str, style: NewlineStyle) -> None:
    assert decode(text.encode()).newline is style


def test_only_lf_ends_a_line() -> None:
    data = "one\u2028still\x0cone\x85\x1c\rone\ntwo\n".encode()
    lines = LineIndex(data)
    assert len(lines) == 2
    assert lines.line_of(data.index(b"two")) == 2


def test_line_feed_bytes_inside_a_wide_character_end_no_line() -> None:
    text = "\u0a0a\u010a\n\u0a00x\n"
    for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        assert len(LineIndex(text.encode(encoding), encoding)) == 2


@pytest.mark.parametrize(
    ("data", "lines"), [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\n\n", 2), (b"\n\nb", 3)]
)
def test_a_last_line_without_lf_counts_and_an_empty_one_does_not(data: bytes, lines: int) -> None:
    assert len(LineIndex(data)) == lines


def test_what_lies_outside_is_refused() -> None:
    lines = LineIndex(b"a\nb\n")
    assert lines.span(1, 2) == (0, 4)
    for start, end in ((0, 1), (2, 1), (1, 3), (3, 3)):
        with pytest.raises(IndexError):
            lines.span(start, end)
    with pytest.raises(IndexError):
        lines.line_of(4)
    with pytest.raises(IndexError):
        lines.line_of(-1)


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"", HeadKind.PLAIN),
        (b"text", HeadKind.PLAIN),
        (b"\xef\xbb\xbftext", HeadKind.BOM),
        (b"\xff\xfet\0", HeadKind.WIDE),
        (b"\0\0\xfe\xff\0\0\0t", HeadKind.WIDE),
        (b"t\0e\0", HeadKind.BINARY),
        (b"\xef\xbb\xbf\0", HeadKind.BINARY),
    ],
)
def test_the_head_decides(head: bytes, kind: HeadKind) -> None:
    assert head_kind(head) is kind


def test_a_nul_past_the_head_is_no_mark_of_a_binary_file() -> None:
    assert not is_binary(b"a" * 8192 + b"\0")
    assert is_binary(b"a" * 8191 + b"\0")
