from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.path_words import PathWords, plain
from rtch.words import text_tokens

PATHS = (
    "Makefile",
    "docs/Tide_Tables.md",
    "lib/tide.py",
    "lib/tide/__init__.py",
    "lib/tidetable.py",
    "src/harbour-master/a.go",
    "src/naïve/Straße.py",
)
NAMES = st.text("abeginstyABTs012_-. ßéİ\n", min_size=1, max_size=12)
TREES = st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=6, unique=True).map(sorted).map(tuple)


@pytest.mark.parametrize(
    ("piece", "found"),
    [
        ("tide", ["docs/Tide_Tables.md", "lib/tide.py", "lib/tide/__init__.py", "lib/tidetable.py"]),
        ("TideTable", ["docs/Tide_Tables.md", "lib/tidetable.py"]),
        ("tide-table", ["docs/Tide_Tables.md", "lib/tidetable.py"]),
        ("lib/tide", ["lib/tide.py", "lib/tide/__init__.py", "lib/tidetable.py"]),
        ("harbour_master/a", ["src/harbour-master/a.go"]),
        ("NAÏVE", ["src/naïve/Straße.py"]),
        ("straße", ["src/naïve/Straße.py"]),
        ("make", ["Makefile"]),
        ("pylib", []),
        ("", []),
        ("_-.", []),
        ("/", []),
    ],
)
def test_a_piece_is_held_whatever_the_case_and_the_separators(piece: str, found: list[str]) -> None:
    words = PathWords(PATHS)
    assert [PATHS[i] for i in words.holding(piece)] == found


def test_a_path_that_holds_a_piece_twice_is_found_once() -> None:
    assert PathWords(("a/a/a", "b", "za")).holding("a") == [0, 2]


def test_paths_that_hold_any_piece_stand_once_and_in_order() -> None:
    assert PathWords(PATHS).holding_any(["tables", "make", "tide.py", "tidetable"]) == [
        "Makefile",
        "docs/Tide_Tables.md",
        "lib/tide.py",
        "lib/tidetable.py",
    ]


@pytest.mark.parametrize("name", ["tide.py", "elsewhere/tide.py", "./lib/tide.py", "a/tide.py/"])
def test_the_last_part_of_a_path_leads_to_what_may_end_alike(name: str) -> None:
    assert PathWords(PATHS).ending_like([name]) == ["lib/tide.py"]


def test_words_are_counted_a_path_as_they_stand_there() -> None:
    assert PathWords(PATHS).bearing({"tide", "tidetabl", "tabl", "absent"}) == {
        "docs/Tide_Tables.md": Counter(tide=1, tabl=1),
        "lib/tide.py": Counter(tide=1),
        "lib/tide/__init__.py": Counter(tide=1),
        "lib/tidetable.py": Counter(tidetabl=1),
    }


@pytest.mark.parametrize("paths", [(), ("a",)])
def test_a_tree_without_the_word_bears_nothing(paths: tuple[str, ...]) -> None:
    words = PathWords(paths)
    assert (words.holding("tide"), words.bearing({"tide"}), words.ending_like(["tide"])) == ([], {}, [])


@given(TREES, st.text("abegistyß_é\n", max_size=4))
def test_one_look_into_all_paths_finds_what_looking_into_each_finds(paths: tuple[str, ...], piece: str) -> None:
    wanted = plain(piece.replace("\n", " "))
    one_by_one = [i for i, path in enumerate(paths) if wanted.strip("/") and wanted in plain(path.replace("\n", " "))]
    assert PathWords(paths).holding(piece.replace("\n", " ")) == one_by_one


@given(TREES, st.sets(st.text("abeginsty", min_size=1, max_size=6)))
def test_no_path_that_bears_a_word_is_missed(paths: tuple[str, ...], more: set[str]) -> None:
    asked = more | {token for path in paths[::2] for token in text_tokens(path)}
    counts = {path: Counter(token for token in text_tokens(path) if token in asked) for path in paths}
    assert PathWords(paths).bearing(asked) == {path: count for path, count in counts.items() if count}
