"""Finding captured bytes again, and following lines from one state of a file to another."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from citing import cited
from hypothesis import given
from hypothesis import strategies as st
from making import plant

from rtch import anchors
from rtch.anchors import FileNow, Lines, Mapped, Unsure, line_map, mapped, same_text, stands, texts_of, told
from rtch.models.chunk import Chunk

LINES = [f"line {n}\n" for n in range(1, 11)]
TEXT = "".join(LINES)
SECRET = 'token = "ghp_' + "a1B2c3D4e5F6" * 3 + '"\n'


def chunk_in(tmp_path: Path, content: str | bytes, start: int, end: int) -> Chunk:
    return cited(plant(tmp_path, {"a.txt": content}), "a.txt", start, end)


def file(content: str | bytes) -> FileNow:
    return FileNow("a.txt", encoded=False, data=content.encode() if isinstance(content, str) else content)


# --- the captured bytes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (TEXT, True),
        (TEXT + "more\n", True),
        (TEXT.replace("line 1\n", "LINE 1\n"), True),
        (TEXT.replace("line 1\n", "a longer first line\n"), True),
        ("new\n" + TEXT, False),
        ("new\nline 1\n" + "".join(LINES[2:]), True),
        (TEXT.replace("line 4", "line four"), False),
        ("".join(LINES[:4]), False),
        ("", False),
        (TEXT.replace("\n", "\r\n"), False),
    ],
)
def test_lines_stand_where_they_have_the_captured_bytes(tmp_path: Path, now: str, expected: bool) -> None:  # noqa: FBT001
    assert stands(file(now), chunk_in(tmp_path, TEXT, 3, 5)) is expected


def test_bytes_at_the_same_offset_on_other_lines_do_not_stand(tmp_path: Path) -> None:
    chunk = chunk_in(tmp_path, "ab\ncd\nkeep\n", 3, 3)
    assert stands(file("ab\ncd\nkeep\n"), chunk)
    assert not stands(file("abccd\nkeep\n"), chunk)
    assert same_text(file("abccd\nkeep\n"), chunk) == (Lines(2, 2),)


@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_lines_of_any_encoding_are_found(tmp_path: Path, codec: str) -> None:
    def written(text: str) -> bytes:
        return ("\ufeff" + text).encode(codec)

    # U+0A0A and U+0A00 hold the byte of LF and end no line.
    text = "één\n\u0a0a\u0a00\nlast"
    for start, end in ((2, 2), (3, 3), (2, 3)):
        chunk = chunk_in(tmp_path, written(text), start, end)
        assert stands(file(written(text)), chunk)
        moved = same_text(file(written("new\n" + text)), chunk)
        assert moved == (Lines(start + 1, end + 1),)
        assert not same_text(file(written("other\n")), chunk)


def test_a_byte_order_mark_belongs_to_the_first_line(tmp_path: Path) -> None:
    data = codecs.BOM_UTF8 + b"one\ntwo\n"
    chunk = chunk_in(tmp_path, data, 1, 1)
    assert same_text(file(data), chunk) == (Lines(1, 1),)
    assert same_text(file(b"new\none\ntwo\n"), chunk) == ()


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("x\n" + TEXT, [(4, 6)]),
        (TEXT + TEXT, [(3, 5), (13, 15)]),
        ("".join(LINES[2:5]), [(1, 3)]),
        ("".join(LINES[2:5]).removesuffix("\n"), []),
        ("xline 3\nline 4\nline 5\n", []),
        ("line 3\nline 4\nline 5 and more\n", []),
        ("line 3\nline 4\n", []),
    ],
)
def test_whole_lines_alone_are_the_same_text(tmp_path: Path, now: str, expected: list[tuple[int, int]]) -> None:
    assert same_text(file(now), chunk_in(tmp_path, TEXT, 3, 5)) == tuple(Lines(*one) for one in expected)


def test_places_may_overlap_and_are_counted_up_to_a_bound(tmp_path: Path) -> None:
    chunk = chunk_in(tmp_path, "a\na\n", 1, 2)
    assert same_text(file("a\na\na\n"), chunk) == (Lines(1, 2), Lines(2, 3))
    assert len(same_text(file("a\n" * 10_000), chunk)) == anchors.MAX_PLACES


def test_a_last_line_without_end_is_found_at_the_end_alone(tmp_path: Path) -> None:
    chunk = chunk_in(tmp_path, "one\nlast", 2, 2)
    assert same_text(file("new\none\nlast"), chunk) == (Lines(3, 3),)
    assert same_text(file("last\none\n"), chunk) == ()


@pytest.mark.parametrize(("line", "differs"), [(SECRET, "masked"), ("long " * 1000 + "\n", "clipped")])
def test_text_that_is_not_shown_is_found_by_its_digest(tmp_path: Path, line: str, differs: str) -> None:
    content = f"one\n{line}three\n"
    chunk = chunk_in(tmp_path, content, 2, 3)
    assert getattr(chunk, differs)
    assert stands(file(content), chunk)
    assert same_text(file("new\n\n" + content), chunk) == (Lines(4, 5),)
    assert same_text(file(content.replace("three", "THREE")), chunk) == ()


def test_too_many_places_to_hash_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anchors, "MAX_HASHED_BYTES", 1000)
    chunk = chunk_in(tmp_path, f"one\n{SECRET}", 2, 2)
    other = SECRET.replace("a1B2", "z9Y8")
    with pytest.raises(Unsure, match="too many lines of the file are as long as it is"):
        same_text(file(other * 100), chunk)


def test_a_file_is_compared_as_text_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert file("a\r\nb\r\n").texts == ["a", "b"]
    monkeypatch.setattr(anchors, "MAX_TEXT_BYTES", 2)
    with pytest.raises(Unsure, match="it has 3 bytes, too many to be compared line by line"):
        _ = file("abc").texts


@given(st.binary(max_size=60))
def test_texts_are_as_many_as_lines(data: bytes) -> None:
    one = file(data)
    if one.encoding == "utf-8":
        assert len(texts_of(data)) == len(one.index)


def test_places_are_told_in_words() -> None:
    places = [Lines(n, n + 1) for n in range(1, 6)]
    assert told(places[:2]) == "L1-L2, L2-L3"
    assert told(places) == "L1-L2, L2-L3, L3-L4 and 2 more"


# --- the line map --------------------------------------------------------------------------------------------------

OLD = list("abcdefgh")


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("a b c d e f g h", "a b c d e f g h"),
        ("x a b c d e f g h", "a b c d e f g h"),
        ("a b X d e f g h", "a b d e f g h"),
        ("a b d e f g h", "a b d e f g h"),
        ("a b c x y d e f g h", "a b c d e f g h"),
        ("e f g h a b c d e2", "e f g h"),
        ("", ""),
        ("x y z", ""),
    ],
)
def test_lines_are_followed(new: str, expected: str) -> None:
    to = line_map(OLD, new.split())
    assert [OLD[old] for old in sorted(to)] == expected.split()
    assert all(OLD[old] == new.split()[place] for old, place in to.items())


def test_lines_that_repeat_are_followed_beside_those_that_do_not() -> None:
    old = ["{", "one", "}", "{", "two", "}", "{", "three", "}"]
    new = ["{", "two", "}", "{", "three", "}"]
    to = line_map(old, new)
    assert {old[k] for k in to} >= {"two", "three"}
    assert [to[k] for k in (4, 7)] == [1, 4]


@given(*[st.lists(st.sampled_from("abcdef{}"), max_size=30)] * 2)
def test_a_map_joins_equal_lines_and_grows(old: Sequence[str], new: Sequence[str]) -> None:
    to = line_map(old, new)
    assert all(old[k] == new[v] for k, v in to.items())
    places = [to[k] for k in sorted(to)]
    assert places == sorted(set(places))


def test_a_map_of_many_lines_takes_no_time_to_speak_of() -> None:
    old = [f"{n % 7} {n // 50}" for n in range(20_000)]
    new = [*old[:9000], *(f"new {n}" for n in range(500)), *old[9400:]]
    assert len(line_map(old, new)) >= 19_000


@pytest.mark.parametrize(
    ("new", "lines", "expected"),
    [
        ("a b c X e f g h", (3, 5), Mapped(Lines(3, 5), 2 / 3)),
        ("a b c x y e f g h", (3, 5), Mapped(Lines(3, 6), 2 / 3)),
        ("a b X d e f g h", (3, 5), Mapped(Lines(3, 5), 2 / 3)),
        ("n a b X d e f g h", (3, 5), Mapped(Lines(4, 6), 2 / 3)),
        ("a b c d X f g h", (3, 5), Mapped(Lines(3, 5), 2 / 3)),
        ("X b c d e f g h", (1, 2), Mapped(Lines(1, 2), 1 / 2)),
        ("a b c d e f g X Y", (7, 8), Mapped(Lines(7, 9), 1 / 2)),
        ("a b f g h", (3, 5), Mapped(None, 0.0)),
        ("a X Y d e f g h", (3, 5), Mapped(None, 2 / 3)),  # the change reaches over the first line
        ("", (3, 5), Mapped(None, 0.0)),
    ],
)
def test_a_range_is_followed_where_its_edges_are_known(new: str, lines: tuple[int, int], expected: Mapped) -> None:
    assert mapped(OLD, new.split(), Lines(*lines)) == expected


def test_lines_without_a_word_count_for_nothing() -> None:
    assert mapped(["one", "}", ""], ["}", ""], Lines(1, 3)).kept == 0.0
    assert hashlib.sha256(b"").hexdigest() == file("").sha256
