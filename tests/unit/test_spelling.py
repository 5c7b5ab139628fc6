import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.spelling import REST_OF_WORD, Spelling, SpellingSet
from rtch.stages.basket import variants


def as_python(pattern: str) -> str:
    """Return a pattern of rg as this interpreter reads it; both then look at the same letters."""
    return pattern.replace(REST_OF_WORD, r"\w*")


def found(term: str, line: str) -> bool:
    """Search as rg would, and ask the term about each match."""
    spelling = Spelling(term)
    (pattern,) = SpellingSet([term]).patterns()
    return any(spelling.recognises(match.group()) for match in re.finditer(as_python(pattern), line, re.IGNORECASE))


@pytest.mark.parametrize(
    ("term", "line"),
    [
        ("log", "log_stats(x)"),
        ("log", "Logging"),
        ("query", "the queries"),
        ("queries", "QUERIES"),
        ("queries", "one query"),
        ("files", "filing"),
        ("HarmonyEngine", "harmony_engine = 1"),
        ("harmony_engine", "class HarmonyEngineBase:"),
        ("harmony-engine", "HARMONY_ENGINE"),
        ("work tree", "git worktrees"),
        ("work tree", "work-tree"),
        ("cache policies", "cache_policy"),
        ("tic 412", "since TIC-412:"),
        ("tic-412", "tic 412"),
        ("tic 412", "session_lessons_tic_412"),
        ("no such  table", "error: No such table"),
        ("no such table", "no such   table"),
        ("std::io::Read", "use std::io::Read;"),
        ("std::io::Read", "impl Read for X"),
        ("asyncio.run", "run(main())"),
        ("foo.py", "see foo.py:3"),
        ("C++", "in C++ code"),
        ("--no-cache", "no_cache=True"),
        ("--help", "use --help"),
        ("--", "a -- b"),
        ("_", "a _ b"),
        ("a[0]", "x = a[0]"),
        ("^$", "the ^$ mark"),
        ("ÜBER", "über"),
        ("x", "x = 1"),
        ("İşlem", "def İşlem():"),
    ],
)
def test_a_term_is_found_in_its_spellings(term: str, line: str) -> None:
    assert found(term, line)


@pytest.mark.parametrize(
    ("term", "line"),
    [
        ("log", "catalog"),
        ("set", "settle"),
        ("tic 412", "static 412"),
        ("tic 412", "tic 4120"),
        ("tic 41", "tic 412"),
        ("std::io::Read", "reader"),
        ("asyncio.run", "run_all()"),
        ("foo.py", "import py"),
        ("e.g", "a big dog"),
        ("--help", "helper"),
        ("__init__", "initialise"),
        ("work tree", "work on a tree"),
        ("a.b", "axb"),
        ("x", "max"),
    ],
)
def test_a_term_is_not_found_in_other_words(term: str, line: str) -> None:
    assert not found(term, line)


@pytest.mark.parametrize("term", ["--", "_", "-", "--help", "__init__", "tic 412", "a.b", "work tree"])
def test_a_term_does_not_recognise_what_another_matched(term: str) -> None:
    assert [
        text for text in ("helper", "initialise", "static", "4120", "b", "work") if Spelling(term).recognises(text)
    ] == []


def test_one_search_carries_all_terms_and_each_match_is_told_apart() -> None:
    spellings = SpellingSet(["queue", "queue_state_compile", "compile", "compile", "rows"])
    terms = [spelling.term for spelling in spellings.spellings]
    told = {
        text: [terms[i] for i in spellings.terms_in(text)] for text in (b"QueueStateCompile", b"queues", b"row", b"x")
    }
    assert told == {
        b"QueueStateCompile": ["queue", "queue_state_compile", "compile"],
        b"queues": ["queue"],
        b"row": [],
        b"x": [],
    }
    assert spellings.terms_in(b"queues") == spellings.terms_in(b"queues")


def test_words_share_a_pattern_and_longer_names_come_first() -> None:
    assert tuple(map(as_python, SpellingSet(["log", "a_b", "longer_name", "row"]).patterns())) == (
        r"\w*longer[-_]?name\w*",
        r"\w*a[-_]?b\w*",
        r"\w*(?:log|row)\w*",
    )
    assert SpellingSet([]).patterns() == ()


def test_bytes_that_are_no_utf8_are_recognised_by_what_is_left() -> None:
    assert SpellingSet(["row"]).terms_in(b"\xffrow") == (0,)


PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=0x24F, exclude_characters="\x7f\xad"), min_size=1)


@given(PRINTABLE.map(str.strip).filter(bool))
def test_every_term_finds_itself(term: str) -> None:
    assert found(term, f" {term} ")


@given(st.lists(PRINTABLE.map(str.strip).filter(bool), min_size=1, max_size=5))
def test_every_pattern_is_an_expression(terms: list[str]) -> None:
    assert all(re.compile(as_python(pattern)) for pattern in SpellingSet(terms).patterns())


@pytest.mark.parametrize(
    ("term", "line"),
    [
        ("query", "queries"),
        ("work tree", "worktrees"),
        ("tic 412", "tic_412"),
        ("std::io::Read", "read"),
        ("caching", "cache"),
    ],
)
def test_what_is_found_is_among_the_spellings_that_are_told(term: str, line: str) -> None:
    assert found(term, line)
    assert any(spelling.lower() in line for spelling in (term, *variants(term, 6)))
