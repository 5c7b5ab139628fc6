"""Laws of lines, paths and searches, over bytes nobody would write."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rtch.literals import MAX_UNIONS, Literals
from rtch.models.tree import Listing
from rtch.models.vocab import EntryKind
from rtch.paths import escaped, texts_of
from rtch.rg_calls import rg_program
from rtch.search import find_matches
from rtch.text import LineIndex, decode, decode_span
from rtch.workspace import open_workspace

SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
LINE_ENDS = ["\n", "\r\n", "\r", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", ""]
TEXT = st.lists(st.sampled_from([*LINE_ENDS, "foo", "bar", " ", "é", "\U0001f600", "\u0a0a", "\ufeff"])).map("".join)
CODECS = st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
WORDS = st.lists(st.text("abC", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)


@given(st.binary(max_size=400))
def test_spans_concatenate_to_the_bytes(data: bytes) -> None:
    lines = LineIndex(data)
    spans = [lines.span(n, n) for n in range(1, len(lines) + 1)]
    assert b"".join(data[start:end] for start, end in spans) == data
    assert all(lines.line_of(at) == n for n, (start, end) in enumerate(spans, 1) for at in (start, end - 1))
    if spans:
        assert lines.span(1, len(lines)) == (0, len(data))


@given(TEXT, CODECS)
def test_spans_of_any_encoding_decode_to_the_text(text: str, codec: str) -> None:
    data = ("\ufeff" + text).encode(codec)
    decoded = decode(data)
    lines = LineIndex(data, decoded.encoding)
    spans = [lines.span(n, n) for n in range(1, len(lines) + 1)]
    pieces = [decode_span(data[start:end], codec, byte_start=start) for start, end in spans]
    assert "".join(pieces) == decoded.text == text
    assert all(piece.count("\n") == 1 and piece.endswith("\n") for piece in pieces[:-1])


@given(st.binary(max_size=200))
def test_decoding_without_a_bom_loses_nothing_and_is_always_json(data: bytes) -> None:
    decoded = decode(data)
    decoded.text.encode()
    if decoded.exact and not decoded.bom:
        assert decoded.text.encode(decoded.encoding) == data


@SLOW
@given(st.lists(st.tuples(TEXT, st.booleans()), min_size=1, max_size=4))
def test_line_numbers_and_offsets_are_those_of_rg(files: list[tuple[str, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve()
        for n, (text, wide) in enumerate(files):
            (tree / f"f{n}").write_bytes(("\ufeff" + text).encode("utf-16-le") if wide else text.encode())
        ws = open_workspace(tree)
        outcome = find_matches(ws, ws.listing.paths, ["foo"], max_lines_per_file=10**6, timeout_s=30, max_rows=10**6)
        told = subprocess.run(
            [rg_program(), "--no-config", "-nHo0", "--no-heading", "foo", "--", *ws.listing.paths],
            cwd=tree,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        ).stdout
        assert [(m.path.encode(), b"%d" % m.line) for m in outcome.matches] == sorted(
            (name, line.partition(b":")[0]) for name, _, line in (row.partition(b"\0") for row in told.splitlines())
        )
        for match in outcome.matches:
            data = ws.read(match.path, max_bytes=10**6).data
            encoding = decode(data).encoding
            assert data[match.byte_offset :].startswith("foo".encode(encoding))
            assert LineIndex(data, encoding).line_of(match.byte_offset) == match.line


@SLOW
@given(words=WORDS, text=st.text("abBcC\n", max_size=60), ignore_case=st.booleans())
def test_every_literal_lies_in_a_match_on_each_of_its_lines(*, words: list[str], text: str, ignore_case: bool) -> None:
    literals = Literals(tuple(words), ignore_case)
    assume(len(literals.expressions()) < MAX_UNIONS)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve()
        (tree / "f").write_text(text)
        ws = open_workspace(tree)
        outcome = find_matches(
            ws, ["f"], words, ignore_case=ignore_case, max_lines_per_file=1000, timeout_s=30, max_rows=10_000
        )
    found = {(match.line, words[i]) for match in outcome.matches for i in literals.within(match.text)}
    folded = [line.casefold() if ignore_case else line for line in text.split("\n")]
    wanted = {word: word.casefold() if ignore_case else word for word in words}
    assert found == {(n, word) for n, line in enumerate(folded, 1) for word in words if wanted[word] in line}


NAME = st.binary(min_size=1, max_size=6).filter(lambda name: not set(name) & set(b"/\0") and name not in (b".", b".."))
NEAR = st.lists(st.sampled_from([b"%", b"E9", b"\xe9", b"25", b"a", b"\xc3\xa9"]), min_size=1, max_size=5).map(b"".join)


@given(st.lists(NAME | NEAR, unique=True))
def test_no_two_paths_are_written_alike_and_all_are_json(names: list[bytes]) -> None:
    texts, encoded = texts_of(names)
    assert len(set(texts)) == len(names)
    for text, name in zip(texts, names, strict=True):
        assert text.encode() == (escaped(name).encode() if name in encoded else name)
    listing = Listing(
        paths=tuple(sorted(texts)),
        kinds=(EntryKind.FILE,) * len(texts),
        sizes=(0,) * len(texts),
    )
    assert Listing.parse(listing.canonical()) == listing


@SLOW
@given(st.lists(NAME, unique=True, max_size=6))
def test_any_name_can_be_listed_read_and_searched(names: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve()
        made = [name for name in names if name != b".git" and _make(os.fsencode(tree) + b"/" + name, name)]
        ws = open_workspace(tree)
        outcome = find_matches(ws, ws.listing.paths, ["needle"], max_lines_per_file=9, timeout_s=30, max_rows=999)
        assert sorted(ws.name_of(path) for path in ws.listing.paths) == sorted(made)
        assert [match.path for match in outcome.matches] == list(ws.listing.paths)
        for path in ws.listing.paths:
            assert ws.locate(path) == path
            assert ws.read(path, max_bytes=99).data == b"needle " + ws.name_of(path).replace(b"\n", b"") + b"\n"


def _make(path: bytes, name: bytes) -> bool:
    if name.startswith(b".gitignore") or sys.platform == "darwin":
        return False
    with open(path, "wb") as file:  # noqa: PTH123  a path in bytes
        file.write(b"needle " + name.replace(b"\n", b"") + b"\n")
    return True
