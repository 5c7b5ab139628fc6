"""Bytes to plain values: what is read, what is reported with its path, what is refused outright."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from rtch.errors import IntakeError
from rtch.plain_data import MAX_BYTES, MAX_VALUES, Problem, read_plain, shown


def fields(text: str | bytes) -> dict[str, object]:
    reading = read_plain(text.encode() if isinstance(text, str) else text, name="F")
    assert reading.problems == ()
    return reading.fields


def problems(text: str) -> list[Problem]:
    return list(read_plain(text.encode(), name="F").problems)


def refusal(text: str | bytes) -> str:
    with pytest.raises(IntakeError) as caught:
        read_plain(text.encode() if isinstance(text, str) else text, name="F")
    return str(caught.value)


def test_yaml_and_json_give_the_same_values() -> None:
    value = {
        "goal": "ä b",
        "seeds": ["a", "1", "no"],
        "budget": -12,
        "on": True,
        "off": False,
        "none": None,
        "m": {"k": "v"},
    }
    text = 'goal: ä b\nseeds: [a, "1", \'no\']\nbudget: -12\non: true\n"off": False\nnone:\nm: {k: v}\n'
    assert fields(json.dumps(value)) == fields(text) == value


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbfgoal: x",
        b'\xef\xbb\xbf{"goal": "x"}',
        "goal: x".encode("utf-16"),
        b"{goal: x}",
        b"---\ngoal: x\n...\n",
    ],
)
def test_a_mapping_is_read_however_it_begins(source: bytes | str) -> None:
    assert fields(source) == {"goal": "x"}


def test_block_text_keeps_its_lines() -> None:
    assert fields("goal: |\n  one\n  two\n") == {"goal": "one\ntwo\n"}


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("2024-01-01", "a date"),
        ("2024-01-01 10:00:00", "a date"),
        ("12:30", "a number"),
        ("1_000", "a number"),
        ("0x10", "a number"),
        ("007", "a number"),
        ("1.5", "a number"),
        ("1.0e+4", "a number"),
        (".inf", "a number"),
        ("12345678901234567890", "a number"),
        ("no", "a boolean"),
        ("Yes", "a boolean"),
        ("on", "a boolean"),
        ("<<", "a merge mark"),
    ],
)
def test_what_yaml_would_change_is_reported_and_not_read(written: Any, kind: str) -> None:
    reading = read_plain(f"a:\n- x\n- {written}\n".encode(), name="F")
    assert reading.fields == {"a": ["x", None]}
    (problem,) = reading.problems
    assert problem.path == ("a", 1)
    assert problem.says == f"is '{written}' on line 3, which YAML reads as {kind}"
    assert problem.remedy


def test_quotes_are_the_remedy() -> None:
    assert fields("a: ['2024-01-01', \"no\", '1.5']") == {"a": ["2024-01-01", "no", "1.5"]}


def test_tags_aliases_and_odd_keys_are_reported() -> None:
    found = problems("a: !!str 3\nb: !!python/object/apply:os.system ['id']\nc: &x [1]\nd: *x\n? [1]\n: 2\n<<: *x\n")
    assert [(problem.path, problem.says) for problem in found] == [
        (("a",), "has the tag '!!str' on line 1, and tags are not read"),
        (("b",), "has the tag '!!python/object/apply:os.system' on line 2, and tags are not read"),
        (("d",), "is the alias *x on line 4, and aliases are not read"),
        ((), "has a key on line 5 that is no plain text"),
        ((), "has a key on line 7 that is no plain text"),
    ]


def test_a_key_given_twice_is_reported_at_any_depth() -> None:
    assert problems("a: 1\nb:\n  c: 1\n  c: 2\na: 2\n") == [
        Problem(("b", "c"), "is given twice (lines 3 and 4)", "keep one"),
        Problem(("a",), "is given twice (lines 1 and 5)", "keep one"),
    ]
    assert problems('{"a": 1, "a": 2}') == [Problem(("a",), "is given twice", "keep one")]


def test_json_numbers_that_are_not_whole_are_reported() -> None:
    found = problems('{"a": [1.5, NaN, 1e3, -Infinity, 99999999999999999999]}')
    assert [problem.path for problem in found] == [("a", place) for place in range(5)]
    assert found[0].says == "is '1.5', and only whole numbers are read"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("", "F is empty; rtch intake new writes one"),
        ("# nothing\n", "F is empty; rtch intake new writes one"),
        ("- a", "F must be a mapping of fields, found a list"),
        ("[]", "F must be a mapping of fields, found an empty list"),
        ("7", "F must be a mapping of fields, found the number 7"),
        ("just words", "F must be a mapping of fields, found 'just words'"),
        ("a: 1\n---\nb: 2\n", "F holds more than one document; keep one intake a file"),
        (b"a: \xff", "F is not UTF-8 text at byte 3; save it as UTF-8"),
        ("a: [", "F line 2 is no YAML: did not find expected node content"),
        ('{"a": 1,', "F line 1: Expecting property name enclosed in double quotes, which is no JSON"),
        ("a: b: c", "F line 1 is no YAML: mapping values are not allowed in this context"),
        (b"a: \x07", "F is no YAML: 'unacceptable character #x0007: control characters are not allowed'"),
        ("a" * (MAX_BYTES + 1), "F is larger than 1048576 bytes; an intake is a page of text"),
        ('{"a":' * 30 + "1" + "}" * 30, "F is nested deeper than 24 levels; an intake has three"),
        ("a: " + "[" * 30 + "]" * 30, "F is nested deeper than 24 levels; an intake has three"),
        ("a: [" + "1," * MAX_VALUES + "]", "F holds more than 20000 values; an intake is a page of text"),
    ],
)
def test_what_is_no_intake_at_all_is_refused(source: bytes | str, sentence: str) -> None:
    assert refusal(source) == sentence


@pytest.mark.parametrize("source", ["[" * 100_000, "{" * 100_000, '{"a":' * 100_000, "- " * 20_000])
def test_depth_is_refused_without_recursion(source: bytes | str) -> None:
    assert refusal(source).startswith("F ")


def test_aliases_are_never_expanded() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert len(problems(bomb)) == 8 * 9


def test_the_pure_parser_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "goal: x\nseeds: [a, no, &k b, *k]\nn: 3\n"
    with_c = read_plain(text.encode(), name="F")
    monkeypatch.delattr(yaml, "CSafeLoader")
    assert read_plain(text.encode(), name="F") == with_c


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (True, "true"),
        (3, "the number 3"),
        (1.5, "the number 1.5"),
        ("a", "'a'"),
        ("\x1b[31m\u202e\\", "'\\u001b[31m\\u202e\\\\'"),
        ("x" * 100, f"'{'x' * 57}...'"),
        ([], "an empty list"),
        (("a",), "a list"),
        ({}, "an empty mapping"),
    ],
)
def test_values_are_shown_in_words_and_cannot_steer_a_terminal(value: Any, text: Any) -> None:
    assert shown(value) == text
