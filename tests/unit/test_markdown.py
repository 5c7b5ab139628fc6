"""Headings and links of markdown: blocks decide what a # or a --- means."""

import time

import pytest

from rtch.front_matter import front_matter
from rtch.markdown import scan_markdown
from rtch.models.features import FeatureLimits, Heading, Reference
from rtch.models.vocab import CautionFlag, KeyKind
from rtch.titles import scan_asciidoc, scan_rst

LIMITS = FeatureLimits()


def headings(text: str) -> list[tuple[int, str, int]]:
    return [(one.level, one.text, one.line) for one in scan_markdown(text.split("\n"), LIMITS).headings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n\n## B ##\n### C # \n#D\n####### E\n#\n\\# F", [(1, "A", 1), (2, "B", 3), (3, "C", 4), (1, "", 7)]),
        ("   # three\n    # four\n\t# tab", [(1, "three", 1)]),
        ("A\n===\nB\nb\n---\n\n---\nC\n    ===", [(1, "A", 1), (2, "B b", 3)]),
        ("text\n# no blank needed\ntext", [(1, "no blank needed", 2)]),
        ("# tail\t##\t\n#\tx", [(1, "tail", 1), (1, "x", 2)]),
    ],
    ids=["atx", "indented", "setext", "interrupts", "tabs"],
)
def test_headings(text: str, expected: list[tuple[int, str, int]]) -> None:
    assert headings(text) == expected


@pytest.mark.parametrize(
    "block",
    [
        '```python {title="x"}\n# no\n```',
        "   ````\n# no\n```\n# no\n   ````",
        "~~~ lang `x`\n# no\n~~~~",
        "- item\n\n  ```\n  # no\n  ```",
        "1. item\n   ~~~\n   # no\n   ~~~",
        "> ```\n> # no\n> ```",
        "<script>\n# no\n\n# no\n</script>",
        "<!-- a\n# no\n\n# no -->",
        "<div>\n# no\n</div>\n",
        "<?php\n# no\n?>",
        "<![CDATA[\n# no\n]]>",
        "<my-tag>\n# no\n\n",
        "    # no",
        "- item\n\n      # no",
        "> # no\n> no\n> ==",
    ],
)
def test_what_looks_like_a_heading_within_a_block_is_none(block: str) -> None:
    assert headings(f"{block}\n\n# yes\n") == [(1, "yes", block.count("\n") + 3)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- # in a list\n  ## below", [(1, "in a list", 1), (2, "below", 2)]),
        ("`` ``` ``\n# yes", [(1, "yes", 2)]),
        ("``` a`b\n# yes", [(1, "yes", 2)]),
        ("text\n<my-tag>\n# yes", [(1, "yes", 3)]),
        ("[a]: /u\n[b]:\n  <v> 'title'\nT\n===", [(1, "T", 4)]),
        ("[a]: /u\n===", []),
        ("- - -\ntext\n- - -\n", []),
        ("2. two\ntext\n2. no list\n---", []),
        ("text\n2. still text\n---", [(2, "text 2. still text", 1)]),
        ("> quote\nlazy\n===", []),
    ],
)
def test_the_blocks_around_decide(text: str, expected: list[tuple[int, str, int]]) -> None:
    assert headings(text) == expected


def test_lines_end_in_lf_alone() -> None:
    assert headings("a\x0cb\u2028c\x85d\n\n# x\u2028y") == [(1, "x\u2028y", 3)]


def test_an_unclosed_fence_is_told_and_its_headings_are_kept() -> None:
    scan = scan_markdown(["# A", "```", "# b", "#no", "## c", ""], LIMITS)

    assert scan.unclosed_fence == 2
    assert [(one.text, one.line) for one in scan.headings] == [("A", 1), ("b", 3), ("c", 5)]


def test_a_fence_that_its_list_item_ends_is_not_unclosed() -> None:
    scan = scan_markdown(["- ```", "  # no", "", "# yes"], LIMITS)

    assert scan.unclosed_fence is None
    assert scan.headings == (Heading(1, "yes", 4),)


def test_links_are_those_within_the_tree_and_outside_code() -> None:
    text = (
        "[a](docs/a.md#part) ![i](<my img.png> 'x') [w](https://x.org) [f](#here) [m](mailto:a@b.c)\n"
        "```\n[no](no.md)\n```\n# T [b](../b%20c.md?x=1)\n[d]: ./d.md 'title'\n> [e](e(1).md)\n"
    )

    assert scan_markdown(text.split("\n"), LIMITS).links == (
        Reference("docs/a.md", 1),
        Reference("my img.png", 1),
        Reference("../b c.md", 5),
        Reference("./d.md", 6),
        Reference("e(1).md", 7),
    )


def test_limits_are_kept_and_told() -> None:
    limits = FeatureLimits(max_headings=2, max_text=5)
    scan = scan_markdown(["# abcdef", "# b", "# c"], limits)

    assert [one.text for one in scan.headings] == ["abcd…", "b"]
    assert scan.truncated


@pytest.mark.parametrize(
    "line", [">" * 500_000, "- " * 250_000, "<a" + " a" * 250_000, "[" * 500_000, "#" * 500_000, "*" * 500_000]
)
def test_one_long_line_costs_what_its_bytes_cost(line: str) -> None:
    begun = time.process_time()
    scan_markdown([line, line, "==="], LIMITS)

    assert time.process_time() - begun < 3


class TestFrontMatter:
    def test_keys_are_told_with_their_lines_in_the_file(self) -> None:
        found = front_matter("---\ntitle: x\ntags: [a]\nauthor:\n  name: y\n---\n# T\n", LIMITS)

        assert found is not None
        assert [(key.path, key.kind, key.line) for key in found.scan.keys] == [
            ("title", KeyKind.FRONT_MATTER, 2),
            ("tags", KeyKind.FRONT_MATTER, 3),
            ("author", KeyKind.FRONT_MATTER, 4),
            ("author.name", KeyKind.FRONT_MATTER, 5),
        ]
        assert found.end_line == 6

    def test_a_key_that_is_set_twice_is_told(self) -> None:
        found = front_matter("---\na: 1\na: 2\n---\n", LIMITS)

        assert found is not None
        assert [(one.flag, one.line, one.detail) for one in found.scan.problems] == [
            (CautionFlag.DUPLICATE_KEY, 3, "key a is already set at line 2")
        ]

    def test_toml_between_plus_signs_is_front_matter_too(self) -> None:
        found = front_matter("+++\r\ntitle = 'x'\r\n[a]\r\nb = 1\r\n+++\r\ntext\r\n", LIMITS)

        assert found is not None
        assert [(key.path, key.line) for key in found.scan.keys] == [("title", 2), ("a", 3), ("a.b", 4)]

    @pytest.mark.parametrize(
        "text",
        [
            "text\n---\na: 1\n---\n",
            "\n---\na: 1\n---\n",
            "---\nprose that goes on\n---\n",
            "---\n- a\n- b\n---\n",
            "---\n---\n",
            "---\na: [1\n---\n",
            "---text\na: 1\n---\n",
            "---\na: 1\n--- x\n",
            "---\na: 1\n",
            "----\na: 1\n----\n",
            "+++\nnot toml\n+++\n",
        ],
    )
    def test_a_rule_is_no_front_matter(self, text: str) -> None:
        assert front_matter(text, LIMITS) is None


class TestRst:
    def test_levels_are_told_by_the_order_of_their_marks(self) -> None:
        text = "=====\nTitle\n=====\n\nA\n===\ntext\n\nB\n---\n\nC\n~~~\n\nD\n---\n\n E\n====\n"

        assert [tuple(one) for one in scan_rst(text.split("\n"), LIMITS).headings] == [
            (1, "Title", 2),
            (2, "A", 5),
            (3, "B", 9),
            (4, "C", 12),
            (3, "D", 15),
        ]

    def test_rules_tables_and_literal_blocks_are_no_titles(self) -> None:
        text = "text\n\n----\n\ntext::\n\n    Lit\n    ===\n\n"
        text += "=====  =====\nA      B\n=====  =====\n1      2\n=====  =====\n\nlong title\n--\n"

        assert scan_rst(text.split("\n"), LIMITS).headings == ()

    def test_directives_and_links_are_references(self) -> None:
        text = ".. include:: ../a.rst\n.. automodule:: pkg.mod\n   :members:\n"
        text += "See :doc:`guide </docs/g>` and `x <y.html#z>`_ or `w <https://w>`_.\n"

        assert [(one.target, one.line) for one in scan_rst(text.split("\n"), LIMITS).references] == [
            ("../a.rst", 1),
            ("pkg.mod", 2),
            ("/docs/g", 4),
            ("y.html", 4),
        ]


def test_asciidoc_titles_and_references() -> None:
    text = "= Title\n\n== A ==\n----\n== no\n----\ninclude::part.adoc[]\n"
    text += "=== B\n====\n== no\n====\nxref:o/p.adoc#x[P]\n=no\n"
    scan = scan_asciidoc(text.split("\n"), LIMITS)

    assert [tuple(one) for one in scan.headings] == [(1, "Title", 1), (2, "A", 3), (3, "B", 8)]
    assert [tuple(one) for one in scan.references] == [("part.adoc", 7), ("o/p.adoc", 12)]
