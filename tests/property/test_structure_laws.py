"""Laws of the scanners: they agree with the full parsers, keep to the file's lines, and never raise."""

import json
import re
import tomllib
from collections.abc import Iterator

import pytest
import yaml
from hypothesis import HealthCheck, assume, example, given, reject, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rtch.data_keys import join
from rtch.grammars import definitions
from rtch.json_keys import json_keys
from rtch.markdown import scan_markdown
from rtch.models.features import FeatureLimits, FileFeatures, Heading
from rtch.roles import is_generated_banner, role_of
from rtch.structure import document_features, enclosing, sections
from rtch.symbols import from_bytes
from rtch.toml_keys import toml_keys
from rtch.yaml_keys import yaml_keys

WIDE = FeatureLimits(max_keys=100_000, max_depth=100, max_rows=1000, max_text=100_000)
DOCUMENTS = [f"x.{ending}" for ending in "md rst adoc txt json jsonl yaml toml ipynb".split()]  # noqa: SIM905
CODE = [
    f"x.{ending}"
    for ending in [
        "py",
        "pyx",
        "js",
        "ts",
        "go",
        "rs",
        "java",
        "kt",
        "scala",
        "c",
        "cpp",
        "cs",
        "rb",
        "php",
        "swift",
        "sh",
        "lua",
        "ex",
        "pl",
        "sql",
        "mk",
    ]
]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def key_paths(value: object, path: str = "") -> Iterator[str]:
    """Walk plain values as the scanners walk text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            below = join(path, str(key))
            yield below
            yield from key_paths(inner, below)
    elif isinstance(value, list):
        for inner in value:
            yield from key_paths(inner, f"{path}[]")


@given(value=plain, indent=st.sampled_from([None, 1]), ascii_only=st.booleans())
def test_json_keys_are_those_that_json_loads_sees(value: object, indent: int | None, *, ascii_only: bool) -> None:
    data = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    scan = json_keys(data, WIDE)

    assert {key.path for key in scan.keys} == set(key_paths(value))
    assert scan.problems == ()
    assert not scan.truncated


@given(st.dictionaries(texts, plain, min_size=1, max_size=4))
def test_a_json_key_stands_on_its_line(value: object) -> None:
    data = json.dumps(value, indent=1, ensure_ascii=False).encode()
    lines = data.split(b"\n")

    for key in json_keys(data, WIDE).keys:
        assert json.dumps(key.name, ensure_ascii=False).encode() in lines[key.line - 1]


@given(st.dictionaries(st.text("abc-: .é", min_size=1, max_size=5), plain, max_size=4))
def test_yaml_keys_are_those_that_were_dumped(value: object) -> None:
    text = yaml.dump(value, allow_unicode=True)
    scan = yaml_keys(text, WIDE)
    assume(not re.search("[\x85\u2028\u2029]|\r", text))

    assert {key.path for key in scan.keys} == set(key_paths(value))
    assert scan.problems == ()


toml_values = st.recursive(
    st.booleans() | st.integers(0, 9) | st.text("ab\"\\\n[]=#'", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab. \"'", max_size=3), inner, max_size=3),
    max_leaves=12,
)


def toml_of(value: object) -> str:
    """Write a TOML value; JSON's strings are TOML's."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml_of(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(toml_of, value)) + "]"
    return json.dumps(value)


@given(
    st.dictionaries(st.text("ab.", max_size=3), toml_values, max_size=3),
    st.dictionaries(st.text("cd. ", max_size=3), st.dictionaries(st.text("ab", max_size=2), toml_values), max_size=3),
)
def test_toml_keys_are_those_that_tomllib_sees(top: dict[str, object], tables: dict[str, dict[str, object]]) -> None:
    lines = [f"{json.dumps(key)} = {toml_of(value)} # x = 1" for key, value in top.items()]
    for name, table in tables.items():
        lines.append(f"[{json.dumps(name)}] # t")
        lines += [f"{json.dumps(key)} = {toml_of(value)}" for key, value in table.items()]
    text = "\n".join(lines)
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        reject()
    scan = toml_keys(text, WIDE)

    assert scan.problems == ()
    assert {key.path for key in scan.keys} == set(key_paths(value))


PIECES = (
    *(
        "# a",
        "## b ##",
        "a",
        "b c",
        "===",
        "---",
        "- ",
        "-",
        "* x",
        "1. ",
        "2. q",
        "1)",
        "> ",
        ">",
        "```",
        "~~~",
        "````",
    ),
    *(
        "    ",
        "  ",
        " ",
        "\t",
        "   ",
        "<div>",
        "</div>",
        "<!-- ",
        "-->",
        "<script>",
        "</script>",
        "<b>",
        "***",
        "___",
        "#",
    ),
    *(
        "#x",
        "####### x",
        "\\# x",
        "+ ",
        "10. ",
        "<?",
        "?>",
        "<!X",
        "<pre>",
        "<a href='x'>",
        "`x`",
        "- - ",
        "# ",
        "\u2028",
    ),
)
markdown_lines = st.lists(st.lists(st.sampled_from(PIECES), max_size=3).map("".join), min_size=1, max_size=9)


def reference_headings(text: str) -> list[tuple[int, str, int]]:
    """Return what the full parser takes for headings outside block quotes."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    try:
        tokens = parser.parse(text)
    except IndexError:  # a fault of the parser's, at the end of some texts
        reject()
    found, quotes = [], 0
    for place, token in enumerate(tokens):
        quotes += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if token.type == "heading_open" and not quotes:
            lines = tokens[place + 1].content.split("\n")
            assert token.map is not None
            found.append((int(token.tag[1]), " ".join(line.strip() for line in lines), token.map[0] + 1))
    return found


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(markdown_lines)
@example(["- ```", "  # no", "# yes"])
@example(["> a", "===", "b", "==="])
def test_markdown_headings_are_those_of_the_full_parser(lines: list[str]) -> None:
    scan = scan_markdown(lines, WIDE)
    found = [(one.level, one.text, one.line) for one in scan.headings]
    if scan.unclosed_fence is not None:
        found = [one for one in found if one[2] < scan.unclosed_fence]

    assert found == reference_headings("\n".join(lines))


@given(st.sampled_from(DOCUMENTS), st.binary(max_size=400))
def test_no_bytes_of_a_document_raise_and_lines_are_within_the_file(path: str, data: bytes) -> None:
    _check(document_features(path, data), data)


@given(
    st.sampled_from(DOCUMENTS), st.lists(st.sampled_from([*PIECES, '{"', '": ', "[", "]", "}", "a: ", '"', "\n", "\n"]))
)
def test_no_text_of_a_document_raises_and_lines_are_within_the_file(path: str, pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    features = document_features(path, data)

    _check(features, data)
    assert FileFeatures.parse(features.canonical()) == features


def _check(features: FileFeatures, data: bytes) -> None:
    lines = data.count(b"\n") + 1
    items = (features.headings, features.keys, features.ids, features.markers, features.references, features.problems)
    assert all(1 <= one.line <= lines for group in items for one in group)
    assert all(list(group) == sorted(group, key=lambda one: one.line) for group in items)


@given(st.sampled_from(CODE), st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_no_bytes_of_code_raise_and_lines_are_within_the_file(path: str, data: bytes) -> None:
    symbols, references = from_bytes(path, data)

    assert all(1 <= one.line <= data.count(b"\n") + 1 and one.name for one in symbols)
    assert all(1 <= one.line <= data.count(b"\n") + 1 and one.target for one in references)


CODE_PIECES = (
    *(
        "def ",
        "class ",
        "function ",
        "func ",
        "fn ",
        "pub ",
        "static ",
        "public ",
        "int ",
        "name",
        "Other",
        "(",
        ")",
        "{",
    ),
    *(
        "}",
        ":",
        ";",
        " ",
        "    ",
        "\n",
        "\n",
        "= ",
        "=> ",
        "<T>",
        "impl ",
        "for ",
        "import ",
        "from ",
        "'x'",
        '"y"',
        "*",
        "@a ",
    ),
)


@settings(max_examples=60)
@given(st.sampled_from(["x.py", "x.js", "x.ts", "x.go", "x.rs", "x.java", "x.c", "x.cpp", "x.rb", "x.sh"]), st.data())
def test_definitions_by_grammar_are_within_the_file_and_confirm_themselves(path: str, data: st.DataObject) -> None:
    source = "".join(data.draw(st.lists(st.sampled_from(CODE_PIECES), max_size=40))).encode()
    found = definitions(path, source, cpu_s=10)
    assert found is not None

    for item in found.items:
        assert 1 <= item.start_line <= item.line <= item.end_line <= source.count(b"\n") + 1
        assert found.confirm(item.name, item.line)
        assert found.enclosing(item.line) is not None


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), max_size=12), st.integers(0, 5))
def test_sections_cover_their_headings_and_lie_apart_or_within_each_other(
    steps: list[tuple[int, int]], more: int
) -> None:
    line, headings = 0, []
    for level, step in steps:
        line += step
        headings.append(Heading(level, f"h{line}", line))
    found = sections(headings, line + more)

    assert [one.path[-1] for one in found] == [one.text for one in headings]
    for one in found:
        assert one.start_line <= one.end_line <= max(line + more, 1)
        inner = enclosing(found, one.end_line)
        assert inner is not None
        assert inner.path[: len(one.path)] == one.path


@given(st.text(max_size=60), st.binary(max_size=60))
def test_any_path_has_a_role_and_any_head_an_answer(path: str, head: bytes) -> None:
    assert role_of(path) is not None
    assert is_generated_banner(head) in {True, False}


@pytest.mark.parametrize("path", DOCUMENTS)
def test_an_empty_document_shows_nothing(path: str) -> None:
    features = document_features(path, b"")

    assert features == FileFeatures(path=path, role=role_of(path))
