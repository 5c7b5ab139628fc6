import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtch.words import beginning, heads, is_identifier_like, joined, last_name, parts, stem, text_tokens, tokens


@pytest.mark.parametrize(
    "family",
    [
        "file files filed filing",
        "node nodes",
        "case cases",
        "size sizes sized",
        "type types typed typing",
        "query queries queried querying",
        "cookie cookies",
        "handler handlers",
        "string strings",
        "speed speeds",
        "cache caches cached caching",
        "box boxes boxed",
        "class classes",
        "status statuses",
        "stop stopped stopping",
        "modify modified modifies modifying",
        "queue queues queued",
        "database databases",
        "validation validations",
        "parse parses parsed parsing",
    ],
)
def test_inflections_of_a_word_meet(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


def test_each_word_of_a_stem_begins_alike() -> None:
    families = ("file files filing", "query queries querying", "cache caching", "policy policies")
    assert [{word.startswith(beginning(stem(word))) for word in family.split()} for family in families] == [{True}] * 4


@pytest.mark.parametrize("word", ["log", "keys", "sha256", "ring", "used", "bus", "axis"])
def test_short_words_and_words_with_digits_stay(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(
    ("identifier", "found"),
    [
        ("HarmonyEngine", ("harmony", "engine")),
        ("HTTPServer2", ("http", "server", "2")),
        ("queue_state-compile", ("queue", "state", "compile")),
        ("__init__", ("init",)),
        ("--", ()),
    ],
)
def test_parts(identifier: str, found: tuple[str, ...]) -> None:
    assert parts(identifier) == found


def test_spellings_of_one_name_join_to_the_same() -> None:
    assert {joined(text) for text in ("HarmonyEngine", "harmony_engine", "harmony-engines"[:-1])} == {"harmonyengine"}


@pytest.mark.parametrize(
    ("identifier", "found"),
    [
        ("log_stats", ("logstats", "log", "stat")),
        ("catalog", ("catalog",)),
        ("_private", ("privat",)),
        ("x", ()),
        ("a_b", ("ab",)),
    ],
)
def test_an_identifier_counts_as_itself_and_as_its_parts(identifier: str, found: tuple[str, ...]) -> None:
    assert tokens(identifier) == found


def test_text_tokens_keep_the_order_of_the_text() -> None:
    assert text_tokens("Parsing of parse_rows (v12)") == ["pars", "of", "parserows", "pars", "rows", "v12", "12"]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("asyncio.run", "run"),
        ("std::io::Read", "Read"),
        ("Class#method", "method"),
        ("foo.py", "foo.py"),
        ("Node.js", "Node.js"),
        ("e.g", "e.g"),
        ("plain", "plain"),
        ("two words", "two words"),
    ],
)
def test_the_last_name_is_neither_a_file_ending_nor_a_letter(text: str, last: str) -> None:
    assert last_name(text) == last


@pytest.mark.parametrize(
    ("word", "is_name"),
    [
        *((word, True) for word in ("camelCase", "snake_case", "utf8", "_x1", "_hidden")),
        *((word, False) for word in ("Word", "word", "2024", "_", "HTTP")),
    ],
)
def test_a_name_is_told_by_how_it_is_written(word: str, is_name: bool) -> None:  # noqa: FBT001  a table's column
    assert is_identifier_like(word) is is_name


@given(st.text(st.sampled_from("abeginorsty"), min_size=3, max_size=12))
def test_a_word_is_never_sieved_out_for_its_own_stem(word: str) -> None:
    assert heads([stem(word)]).search(joined(word))
