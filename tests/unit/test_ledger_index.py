import pytest

from rtch.ledger_index import IndexLine, index_lines, ledger_of, ledger_sections, section_at

INDEX = """# Rules

- **One.** A sentence.
  - *Ledger: [book/ledger.md](book/ledger.md#one-thing)*
- **Two.** A sentence
  that goes on.
  - *Ledger: [x](<book/ledger.md#two>)* and `book#two-b`
- Three has none, see issue #4 and [web](https://example.test/page).

In a paragraph: [four](../other.md#four "title").
| cell | [five](ledger.md#five) |
"""

LEDGER = """# Book

Words.

## One thing

<a id="one-thing-as-it-was-called"></a>
Body of one.

```
## no heading
```

---

## Two: a title!

Body of two.
## Two: a title!

Again.

---
"""


def test_an_index_line_has_the_lines_of_its_item() -> None:
    assert index_lines(INDEX.split("\n")) == (
        IndexLine(3, 4, "book/ledger.md", "one-thing"),
        IndexLine(5, 7, "book/ledger.md", "two"),
        IndexLine(5, 7, "book", "two-b"),
        IndexLine(10, 10, "../other.md", "four"),
        IndexLine(11, 11, "ledger.md", "five"),
    )


@pytest.mark.parametrize(
    ("target", "ledger"),
    [
        ("book/ledger.md", "a/book/ledger.md"),
        ("./book/../book/ledger.md", "a/book/ledger.md"),
        ("../top/ledger.md", "top/ledger.md"),
        ("book", "a/book/ledger.md"),
        ("twice", None),
        ("", None),
        ("other.md", None),
    ],
)
def test_a_link_leads_to_a_ledger_by_its_path_or_its_folder(target: str, ledger: str | None) -> None:
    known = ("a/book/ledger.md", "top/ledger.md", "a/twice/ledger.md", "b/twice/ledger.md")
    assert ledger_of("a/CLAUDE.md", target, known) == ledger


def test_sections_end_with_their_text_and_are_numbered_as_github_does() -> None:
    assert [(one.title, one.start, one.end, one.anchors) for one in ledger_sections(LEDGER.split("\n"))] == [
        ("One thing", 5, 12, ("one-thing-as-it-was-called", "one-thing")),
        ("Two: a title!", 16, 18, ("two-a-title",)),
        ("Two: a title!", 19, 21, ("two-a-title-1",)),
    ]


@pytest.mark.parametrize(
    ("anchor", "line"),
    [
        ("one-thing", 5),
        ("One-Thing", 5),
        ("user-content-one-thing", 5),
        ("one-thing-as-it", 5),
        ("one-thing-as-it-was-called-later", 5),
        ("two-a-title-1", 19),
        ("two-a-ti", None),
        ("one", None),
        ("nothing", None),
    ],
)
def test_an_anchor_names_a_section_exactly_or_by_the_only_beginning(anchor: str, line: int | None) -> None:
    found = section_at(ledger_sections(LEDGER.split("\n")), anchor)
    assert (None if found is None else found.start) == line


def test_a_document_without_headings_has_no_sections() -> None:
    assert ledger_sections(["# One", "", "text"]) == ()
    assert index_lines([""]) == ()
