"""Asking one text of all paths is asking each path by itself."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.named_paths import module_match, path_match, same_file
from rtch.path_words import PathWords, plain
from rtch.words import beginning, text_tokens


def bare(text: str) -> str:
    """Return text without case and separators, a newline among them."""
    return re.sub(r"[^\w/]|_", "", text.casefold())


def holds(path: str, piece: str) -> bool:
    return bool(bare(piece).strip("/")) and bare(piece) in bare(path)


def slow_holding(paths: Sequence[str], piece: str) -> list[int]:
    return [i for i, path in enumerate(paths) if holds(path, piece)]


def slow_bearing(paths: Iterable[str], tokens: Iterable[str]) -> dict[str, Counter[str]]:
    wanted = frozenset(tokens)
    counts = {path: Counter(token for token in text_tokens(path) if token in wanted) for path in paths}
    return {path: found for path, found in counts.items() if found}


ASCII = "a A b.py tide Tides tiding tide_pool TidePool __init__ _ - . .. queries Query classes sized 9to5 HTTPServer2"
OTHERS = "caché ÇEDİLLA İz ı ſmall straße STRASSE ΟΔΟΣ οδός Σ ﬁle Ⅷ ²x ٣ 名前 e\u0301"
WORDS = st.sampled_from([*ASCII.split(), *OTHERS.split(), "x\ty", "\x85", "\u2028", "\r", " "])
NAMES = st.one_of(
    st.lists(st.one_of(WORDS, st.just("\n")), min_size=1, max_size=4).map("".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=6),
)
PATHS = st.lists(st.lists(NAMES.filter(bool), min_size=1, max_size=3).map("/".join), max_size=6).map(
    lambda paths: sorted(set(paths))
)


@st.composite
def pieces_of(draw: st.DrawFn, paths: Sequence[str]) -> str:
    """Draw a part of one of the paths, in another case perhaps, or anything else."""
    path = draw(st.sampled_from(paths)) if paths else ""
    start = draw(st.integers(0, len(path)))
    piece = path[start : draw(st.integers(start, len(path)))]
    return draw(st.sampled_from([piece, piece.upper(), piece.lower(), piece.replace("/", ""), path, draw(NAMES)]))


@given(st.data(), PATHS)
def test_holding_is_what_each_path_holds(data: st.DataObject, paths: list[str]) -> None:
    piece = data.draw(pieces_of(paths))
    assert PathWords(paths).holding(piece) == slow_holding(paths, piece)


@given(st.data(), PATHS)
def test_paths_that_hold_any_piece_come_once_and_in_order(data: st.DataObject, paths: list[str]) -> None:
    pieces = data.draw(st.lists(pieces_of(paths), max_size=3))
    assert PathWords(paths).holding_any(pieces) == [path for path in paths if any(map(partial(holds, path), pieces))]


@given(st.data(), PATHS)
def test_bearing_is_what_each_path_bears(data: st.DataObject, paths: list[str]) -> None:
    known = sorted({token for path in paths for token in text_tokens(path)})
    tokens = data.draw(st.sets(st.one_of(st.sampled_from(known or ["x"]), NAMES.map(str.lower)), max_size=4))
    assert PathWords(paths).bearing(tokens) == slow_bearing(paths, tokens)


@given(NAMES)
def test_a_word_begins_as_its_stem_does_whatever_its_case(name: str) -> None:
    assert [token for token in text_tokens(name) if plain(beginning(token)) not in bare(name)] == []


@given(st.data(), PATHS)
def test_ending_like_leaves_out_no_path_that_is_named(data: st.DataObject, paths: list[str]) -> None:
    names = data.draw(st.lists(pieces_of(paths).filter(lambda one: bare(one.rpartition("/")[2]) != ""), max_size=3))
    modules = [re.split(r"\.|::", name) for name in names]
    found = PathWords(paths).ending_like([*names, *(part for module in modules for part in module)])
    assert found == [path for path in paths if path in set(found)]
    for path in paths:
        parts = path.rpartition(".")[0].split("/")
        if any(path_match(path, name) or same_file(path, name) for name in names):
            assert path in found
        if any(module_match(parts, module) for module in modules if all(map(bare, module))):
            assert path in found


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["queue.py"], ["a/queue.py", "queue_py.md"]),
        (["src/a/queue.py", "./mast.py"], ["a/queue.py", "pier/mast.py", "queue_py.md"]),
        (["pier/"], ["pier/mast.py"]),
        (["Mast"], ["pier/mast.py"]),
        (["/", "", "..", "__"], []),
        ([], []),
    ],
)
def test_ending_like_goes_by_the_last_part(names: list[str], found: list[str]) -> None:
    assert PathWords(["a/queue.py", "pier/mast.py", "queue_py.md"]).ending_like(names) == found


def test_a_newline_in_a_path_or_a_piece_parts_no_paths() -> None:
    words = PathWords(["a\nb.py", "c.py", "d\n\ne"])
    assert [words.holding(piece) for piece in ("ab", "a\nb", "c", "py\nc", "d", "e")] == [[0], [0], [1], [], [2], [2]]
    assert PathWords(["a.py", "b.py"]).holding("py\nb") == []


def test_no_paths_hold_nothing() -> None:
    assert (PathWords([]).holding("a"), PathWords([]).bearing({"a"}), PathWords([]).ending_like(["a"])) == ([], {}, [])
