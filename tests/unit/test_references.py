"""References that dangle: what is one, what leads somewhere after all, and what cannot be judged."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

import samples as sample
from making import desk_of, plant, settled_desk

sys.path.pop(0)

from rtch.limits import DriftLimits, load_limits
from rtch.models.drift import Certainty, Checked, DriftKind, NotJudged
from rtch.models.packet import Findings
from rtch.models.vocab import SkipReason
from rtch.reading import SkippedFile
from rtch.stages.desk import Desk
from rtch.stages.references import is_followed, references
from rtch.store import MemoryStore
from rtch.workspace import Workspace

Files = dict[str, str | bytes]


def drift_limits(**changes: Any) -> DriftLimits:
    return load_limits().drift.model_copy(update=changes)


def checked(root: Path, files: Files, before: Findings | None = None, **changes: Any) -> Checked:
    desk = desk_of(root, files)
    known = sample.findings(hydrated_chunks=())
    return references(before or known, known, desk.workspace.listing, drift_limits(**changes), desk)


def told(root: Path, files: Files, before: Findings | None = None) -> list[str]:
    """Return what is said of the references that dangle."""
    return [one.message for one in checked(root, files, before).findings]


def defining(*names: str, text: str = "x = 1\n", path: str = "src/old.py") -> Findings:
    chunk = sample.chunk(path=path, text=text, defines=names, symbol_path="")
    return sample.findings(hydrated_chunks=(chunk,))


# Links.


def test_a_finding_says_where_what_and_how_sure(tmp_path: Path) -> None:
    found = checked(tmp_path, {"docs/a.md": "# A\n\nSee [b](b.md#part), a token.\n", "guides/b.md": "# B\n"})
    (one,) = found.findings
    assert one.kind is DriftKind.DANGLING_REFERENCE
    assert one.certainty is Certainty.CERTAIN
    assert one.message == "docs/a.md:L3 links to b.md, which is not there; did it move to guides/b.md?"
    assert (one.at.path, one.at.start_line, one.found) == ("docs/a.md", 3, "See [b](b.md#part), a token.")
    assert [place.path for place in one.related] == ["guides/b.md"]
    assert one.next_command == "rtch read 'docs/a.md:L3'"
    assert (found.counts.documents, found.counts.references, found.not_judged) == (2, 1, ())


def test_a_finding_keeps_its_id_where_its_line_moves(tmp_path: Path) -> None:
    (first,) = checked(tmp_path, {"a.md": "[b](b.md)\n"}).findings
    (later,) = checked(tmp_path, {"a.md": "Hello.\n\n[b](./b.md 'title') and [b](b.md)\n"}).findings[1:]
    assert (first.finding_id, first.state) == (later.finding_id, later.state)


@pytest.mark.parametrize(
    "link",
    [
        "[x](docs/b.md)",
        "[x](./docs/b.md)",
        "[x](docs/../docs/b.md)",
        "[x](/docs/b.md)",
        "[x](docs/b%20c.md)",
        "[x](<docs/b c.md>)",
        "[x](docs/b.md?plain=1#L3)",
        "[x](docs/b.md 'a title')",
        "[x](docs)",
        "[x](docs/)",
        "![x](logo.png)",
        "[x]: docs/b.md",
        "[x](build/out.md)",
        "[x](https://example.org/gone.md)",
        "[x](//example.org/gone.md)",
        "[x](mailto:ada@example.org)",
        "[x](ada@example.org)",
        "[x](example.org/gone.md)",
        "[x]()",
        "[x](#)",
        "[x](#a-title)",
        "[x](docs/{name}.md)",
        "[x](docs/*.md)",
        "[x](path/to/file.md)",
        "~~[x](gone.md)~~",
        "<!-- [x](gone.md) -->",
        "`[x](gone.md)`",
        "```\n[x](gone.md)\n```",
        "    [x](gone.md)",
        "<div>\n[x](gone.md)\n</div>",
        "a call such as `rows[0](gone.md)`",
        r"\[x](name)",
        "[^1]: gone.md",
        "[note]: that",
        "[x](docs/b)",
        "[x](docs/b.html)",
    ],
)
def test_what_leads_somewhere_or_is_no_reference_is_not_told(tmp_path: Path, link: str) -> None:
    plant(tmp_path, {"build/out.md": "x\n"})
    files: Files = {
        ".gitignore": "/build\n",
        "a.md": f"# A title\n\n{link}\n",
        "docs/b.md": "# B\n",
        "docs/b c.md": "# C\n",
        "logo.png": b"\x89PNG\0",
    }
    assert told(tmp_path, files) == []


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("[x](gone.md)", "gone.md"),
        ("[x](docs/gone%20one.md)", "docs/gone one.md"),
        ("![x](docs/gone.png 'title')", "docs/gone.png"),
        ("[![badge](https://img.example.org/x.svg)](gone.md)", "gone.md"),
        ("[x]: <docs/gone.md> 'title'", "docs/gone.md"),
        ("> - [x](docs/gone.md)", "docs/gone.md"),
        ("| [`x`](docs/gone.md) | y |", "docs/gone.md"),
        ("[several\nwords](docs/gone.md)", "docs/gone.md"),
        ("[x](gone/)", "gone/"),
        ("[x](/docs/gone.md)", "/docs/gone.md"),
        ("[x](LICENSE)", "LICENSE"),
        ("## See [x](gone.md)", "gone.md"),
    ],
)
def test_what_is_missing_is_told(tmp_path: Path, link: str, target: str) -> None:
    (message,) = told(tmp_path, {"README.md": f"# A\n\n{link}\n", "docs/b.md": "# B\n"})
    assert f" links to {target}, which is not there" in message


def test_each_target_is_told_once_for_a_document(tmp_path: Path) -> None:
    text = "[x](gone.md) [y](gone.md#z)\n\n[x](gone.md)\n"
    assert told(tmp_path, {"a.md": "[x](gone.md)\n\n[z](other.md)\n\n[y](gone.md#z)\n", "b.md": text}) == [
        "a.md:L1 links to gone.md, which is not there",
        "a.md:L3 links to other.md, which is not there",
        "b.md:L1 links to gone.md, which is not there",
    ]


def test_what_lies_outside_is_counted_and_not_judged(tmp_path: Path) -> None:
    found = checked(tmp_path, {"docs/a.md": "[x](../../other/gone.md) [y](../gone/../../x.md)\n"})
    assert found.findings == ()
    assert found.not_judged == (NotJudged(what="references", why="2 lead out of the zone"),)
    assert (found.counts.references, found.counts.not_judged) == (0, 1)


def test_what_ignore_rules_name_is_not_judged(tmp_path: Path) -> None:
    files: Files = {
        ".gitignore": "# made\n/out/*\n!out/keep.md\n*.log.md\n",
        "a.md": "[x](out/r.md) [y](docs/x.log.md)\n",
    }
    found = checked(tmp_path, files)
    why = "2 name what the tree's ignore rules leave out, and that is not there now"
    assert (found.findings, found.not_judged) == ((), (NotJudged(what="references", why=why),))


def test_restructured_text_and_asciidoc_have_links_too(tmp_path: Path) -> None:
    rst = (
        "T\n=\n\n.. include:: gone.rst\n.. image:: there.png\n\n`x <gone.txt>`_ and ``src/gone.py``.\n\n"
        ".. code-block::\n\n   `x <no.txt>`_\n\nSo::\n\n   ``src/no.py``\n\n"
        ".. note:: see\n   ``src/also.py``\n\n:doc:`b` :doc:`missing` :doc:`py:x` :doc:`api/made`\n"
    )
    files: Files = {
        "docs/a.rst": rst,
        "docs/b.rst": "B\n=\n",
        "docs/there.png": b"\x89PNG\0",
        "src/a.py": "a = 1\n",
        "c.adoc": "include::gone.adoc[]\nxref:docs/b.rst[b] link:{url}[x] link:https://example.org/x.md[y]\n",
    }
    assert told(tmp_path, files) == [
        "c.adoc:L1 links to gone.adoc, which is not there",
        "docs/a.rst:L4 links to gone.rst, which is not there",
        "docs/a.rst:L7 links to gone.txt, which is not there",
        "docs/a.rst:L7 names src/gone.py, which is not there",
        "docs/a.rst:L18 names src/also.py, which is not there",
        "docs/a.rst:L20 links to missing, which is not there",
    ]


# Anchors.

PAGE = """\
---
title: Page
---
# A title, of `code` & *more* [links](x.md)!

## Twice
## Twice
## Émile :rocket: {#own}

Underlined
----------
<h3 align="center">In tags</h3>
<a name="named"></a>

> ## Quoted
"""


@pytest.mark.parametrize(
    "anchor",
    [
        "a-title-of-code--more-links", "A-Title-of-code--more-links", "a-title-of-code-more-links", "twice", "twice-1",
        "emile", "%C3%A9mile-", "emile-rocket", "own", "underlined", "in-tags", "named", "quoted", "user-content-twice",
        "L3", "L3-L4", ":~:text=x", "top",
    ],
)  # fmt: skip
def test_an_anchor_that_any_renderer_makes_is_there(tmp_path: Path, anchor: str) -> None:
    files: Files = {"docs/a.md": f"[x](page.md#{anchor})\n", "docs/page.md": PAGE, "docs/x.md": "x\n"}
    assert told(tmp_path, files) == []


@pytest.mark.parametrize("anchor", ["a-title", "twice-2", "emil", "title"])
def test_an_anchor_without_heading_is_likely_gone(tmp_path: Path, anchor: str) -> None:
    files: Files = {"docs/a.md": f"[x](page.md#{anchor})\n", "docs/page.md": PAGE, "docs/x.md": "x\n"}
    (one,) = checked(tmp_path, files).findings
    assert one.message == f"docs/a.md:L1 links to #{anchor}, of which docs/page.md has no heading"
    assert one.certainty is Certainty.LIKELY


def test_an_anchor_of_the_document_itself_is_judged(tmp_path: Path) -> None:
    assert told(tmp_path, {"a.md": "# A\n\n[x](#a) [y](#b)\n"}) == ["a.md:L3 links to #b, of which a.md has no heading"]


@pytest.mark.parametrize(
    "part", ["--8<-- 'x.md'", "::: package.module", "{% include x %}", "<!-- include: x -->", "<Part />"]
)
def test_anchors_of_a_page_that_is_put_together_are_not_judged(tmp_path: Path, part: str) -> None:
    assert told(tmp_path, {"a.md": f"# A\n\n[y](#b)\n\n{part}\n"}) == []


def test_anchors_of_what_is_no_markdown_are_not_judged(tmp_path: Path) -> None:
    assert (
        told(
            tmp_path,
            {"a.md": "[x](b.rst#y) [x](src/b.py#y) [x](docs#y)\n", "b.rst": "B\n=\n", "src/b.py": "", "docs/c.md": ""},
        )
        == []
    )


# Sites.


@pytest.mark.parametrize(
    "config", ["mkdocs.yml", "docs/conf.py", "website/docusaurus.config.js", "docs/.vitepress/config.ts"]
)
def test_what_a_generator_may_serve_is_not_judged(tmp_path: Path, config: str) -> None:
    links = "/guide/x ../guide/x x.html /img/logo.png ../img/logo.png gone reference/index.md ../guide/ @site/x.md"
    text = "".join(f"[x]({link})\n" for link in links.split())
    files: Files = {config: "x\n", "docs/a.md": text, "docs/guide/b.md": "b\n"}
    found = checked(tmp_path, files)
    assert found.findings == ()
    assert [row.why.partition(" ")[2] for row in found.not_judged] == [
        "may be pages or files that a site's generator makes"
    ]


def test_a_page_beside_others_is_likely_gone_from_a_site(tmp_path: Path) -> None:
    files: Files = {
        "mkdocs.yml": "x: 1\n",
        "docs/a.md": "[x](b.md) [y](made/c.md) [z](contributing.md)\n",
        "CONTRIBUTING.md": "x\n",
        "README.md": "[x](docs/b.md)\n",
    }
    assert [(one.at.path, one.certainty) for one in checked(tmp_path, files).findings] == [
        ("README.md", Certainty.CERTAIN),
        ("docs/a.md", Certainty.LIKELY),
    ]


@pytest.mark.parametrize(
    "link", ["b", "b/", "b.html", "../docs/b", "/docs/b", "/b", "../b", "../b/#part", "/c/", "c", "/deep/d"]
)
def test_a_page_that_is_there_under_its_own_name_is_found(tmp_path: Path, link: str) -> None:
    files: Files = {
        "mkdocs.yml": "x: 1\n",
        "docs/a.md": f"[x]({link})\n",
        "docs/b.md": "# Part\n",
        "docs/c/index.md": "c\n",
        "docs/deep/d.mdx": "d\n",
    }
    assert told(tmp_path, files) == []


# Paths in code spans.


@pytest.mark.parametrize(
    ("span", "path"),
    [
        ("src/gone.py", "src/gone.py"),
        ("src/gone.py:12", "src/gone.py"),
        ("src/gone.py:L12-L40", "src/gone.py"),
        ("./src/gone.py", "./src/gone.py"),
        ("docs/gone.md", "docs/gone.md"),
    ],
)
def test_a_path_in_a_code_span_is_likely_gone(tmp_path: Path, span: str, path: str) -> None:
    files: Files = {"docs/a.md": f"It is decided in `{span}` now.\n", "src/a.py": "a = 1\n", "lib/gone.py": "b = 1\n"}
    (one,) = checked(tmp_path, files).findings
    assert one.certainty is Certainty.LIKELY
    assert one.message.startswith(f"docs/a.md:L1 names {path}, which is not there")


@pytest.mark.parametrize(
    "line",
    [
        "`src/a.py`, `a.py`, `./src/a.py:3`, `inner/b.py`, `src/*.py`, `src/{x}.py`, `src/<name>.py`, `$HOME/x.py`",
        "`other/gone.py`, `/etc/gone.conf`, `application/json`, `src/gone`, `src/your_module.py`, `src/path/to/x.py`",
        "`python src/gone.py --all`, `https://example.org/src/gone.py`, `src/gone.py?`, `node_modules/x/gone.js`",
        "The former `src/gone.py` went.",
        "It was `src/gone.py`.",
        "This creates `src/gone.py`.",
        "Such as `src/gone.py`, for instance.",
        "~~`src/gone.py`~~ <!-- `src/gone.py` -->",
        "[`src/gone.py`](https://example.org/v1/src/gone.py)",
        "```\n`src/gone.py`\n```",
    ],
)
def test_what_need_not_be_a_path_of_the_tree_is_not_told(tmp_path: Path, line: str) -> None:
    assert told(tmp_path, {"docs/a.md": f"{line}\n", "src/a.py": "a = 1\n", "src/inner/b.py": "b = 1\n"}) == []


def test_a_path_is_tried_from_each_folder_above(tmp_path: Path) -> None:
    files: Files = {"pkg/one/docs/a.md": "`src/a.py` and `src/gone.py`\n", "pkg/one/src/a.py": "a = 1\n"}
    assert told(tmp_path, files) == ["pkg/one/docs/a.md:L1 names src/gone.py, which is not there"]


# Names.


def test_a_name_that_nothing_holds_any_more_is_told_where_documents_name_it(tmp_path: Path) -> None:
    files: Files = {
        "src/new.py": "def settle_route():\n    return 1\n",
        "docs/a.md": "# A\n\nCall `River.settle_fleet` here.\n",
        "docs/b.md": "Then settle_fleet() is called.\n",
        "docs/c.md": "A word, settle_fleet, in prose; formerly `settle_fleet`.\n",
        "docs/e.md": "```\nsettle_fleet()\n```\n\n~~`settle_fleet`~~ <!-- settle_fleet() -->\n",
        "docs/d.md": "`settle_route` and `unsettle_fleet` and `src/settle_fleet.py/x`\n",
        "CHANGELOG.md": "`settle_fleet` is gone\n",
    }
    found = checked(tmp_path, files, defining("River.settle_fleet", "settle_route", "River"))
    assert [one.message for one in found.findings] == [
        "docs/a.md:L3 names settle_fleet, which no code of the tree holds any more",
        "docs/b.md:L1 names settle_fleet, which no code of the tree holds any more",
    ]
    assert {one.certainty for one in found.findings} == {Certainty.LIKELY}


@pytest.mark.parametrize(
    "held",
    [
        {"src/x.py": "import settle_fleet\n"},
        {"src/x.py": "flood = settle_other\n" * 500 + "# settle_fleet\n"},
        {"config.toml": "settle_fleet = 1\n"},
        {"src/settle_fleet.py": "x = 1\n"},
        {"vendor/x.js": "settle_fleet()\n"},
    ],
)
def test_a_name_that_still_stands_somewhere_is_not_told(tmp_path: Path, held: Files) -> None:
    files: Files = {"docs/a.md": "Call `settle_fleet`.\n", "src/b.py": "b = 1\n"}
    assert told(tmp_path, files | held, defining("settle_fleet", "settle_other")) == []


def test_a_saved_question_and_its_baseline_hold_no_name(tmp_path: Path) -> None:
    asked = "goal: where is settle_fleet\nenough_evidence_definition: one\n"
    files: Files = {
        "docs/a.md": "Call `settle_fleet` of CPR-17.\n",
        "question.yaml": asked,
        "question.baseline.yaml": f"intake:\n  {asked}text: settle_fleet, CPR-17\n",
    }
    before = defining("settle_fleet", text="## CPR-17: lamps\n")
    assert [message.partition("names ")[2] for message in told(tmp_path, files, before)] == [
        "CPR-17, which no file defines any more",
        "settle_fleet, which no code of the tree holds any more",
    ]


def test_short_and_special_names_are_not_asked_for(tmp_path: Path) -> None:
    files: Files = {"docs/a.md": "`run`, `__init_subclass__`, `main`, `close`\n"}
    assert told(tmp_path, files, defining("run", "__init_subclass__", "main", "A.close")) == []


def test_names_are_not_judged_where_the_search_ran_out_of_time(tmp_path: Path) -> None:
    files: Files = {"docs/a.md": "`settle_fleet`\n", "src/a.py": "a = 1\n"}
    found = checked(tmp_path, files, defining("settle_fleet"), timeout_s=1e-9)
    assert found.findings == ()
    assert found.not_judged == (NotJudged(what="references", why="1 names: the search ran out of time"),)


# Durable ids.

REGISTER = '{"id": "CPR-17", "what": "lamps"}\n{"id": "CPR-18", "what": "gates"}\n'


def test_an_id_whose_row_is_gone_is_told(tmp_path: Path) -> None:
    files: Files = {
        "register.jsonl": '{"id": "CPR-18", "what": "gates"}\n',
        "docs/a.md": "CPR-17 rules lamps, CPR-18 gates, RFC-2119 text.\n",
        "docs/b.md": "CPR-17 was dropped.\n\n```\nsee CPR-17\n```\n",
        "ledger.md": "Lamps, as CPR-17 says.\n",
    }
    before = defining(text=REGISTER, path="register.jsonl")
    assert told(tmp_path, files, before) == ["docs/a.md:L1 names CPR-17, which no file defines any more"]


@pytest.mark.parametrize(
    "held",
    [
        {"x.jsonl": REGISTER},
        {"docs/b.md": "## CPR-17: lamps\n"},
        {"docs/b.md": "| CPR-17 | lamps |\n"},
        {"docs/b.md": "- **CPR-17** lamps\n"},
        {"docs/b.rst": "CPR-17: lamps\n=============\n"},
        {"docs/b.rst": "CPR-17\n  Lamps.\n"},
        {"docs/b.md": "---\nid: CPR-17\n---\n"},
        {"docs/CPR-17-lamps.md": "Lamps.\n"},
        {"src/a.py": "# CPR-17\n"},
        {"CHANGELOG.md": "- CPR-17: lamps\n"},
    ],
)
def test_an_id_that_something_defines_is_not_told(tmp_path: Path, held: Files) -> None:
    before = defining(text="# Lamps\n\n## CPR-17: lamps\n", path="docs/old.md")
    assert told(tmp_path, {"docs/a.md": "Lamps follow CPR-17.\n", **held}, before) == []


def test_an_id_that_the_baseline_only_mentions_is_not_asked_for(tmp_path: Path) -> None:
    before = defining(text="## Lamps\n\nThey follow CPR-17 and id RFC-2119.\n## RFC-2119 words\n", path="old.md")
    assert told(tmp_path, {"docs/a.md": "Lamps follow CPR-17 and RFC-2119.\n"}, before) == []


# Documents, bounds, notes.


@pytest.mark.parametrize(
    "path",
    [
        "CHANGELOG.md", "docs/changes/4.md", "docs/2024-05-01-talk.md", "notes/2024-05/a.md", "blog/a.md",
        "audit-logs/a.md",
        "docs/archive/a.md", "UPGRADING.md", "docs/migration.md", "RELEASE_NOTES.md", "session_tic_570.md", "ledger.md",
        "vendor/x/README.md", "deps/x/README.md", "tests/fixtures/a.md", "examples/x/README.md", "src/a.py",
        "notes.txt",
        "data.json", "versioned_docs/version-1/a.md",
    ],
)  # fmt: skip
def test_what_describes_the_past_or_is_not_ours_is_no_document(path: str) -> None:
    assert not is_followed(path)


@pytest.mark.parametrize(
    "path", ["README.md", "docs/a.rst", "docs/history-of-routes/a.adoc", "docs/decisions/0001-x.md"]
)
def test_other_documents_are_followed(path: str) -> None:
    assert is_followed(path)


def test_a_superseded_record_is_neither_judged_nor_counted(tmp_path: Path) -> None:
    files: Files = {
        "docs/decisions/1.md": "# One\n\nStatus: superseded by [2](2.md)\n\n[x](gone.md)\n",
        "docs/decisions/2.md": "# Two\n\n## Status\n\nAccepted\n\n[x](gone.md)\n",
        "docs/decisions/3.md": "# Three\n\n## Status\n\nRejected\n\n[x](gone.md)\n",
    }
    found = checked(tmp_path, files)
    assert [one.at.path for one in found.findings] == ["docs/decisions/2.md"]
    assert found.counts.documents == 1


def test_a_document_that_a_program_writes_is_not_judged_and_one_with_such_a_part_is(tmp_path: Path) -> None:
    files: Files = {
        "a.md": "<!-- Generated by a tool. DO NOT EDIT -->\n\n[x](gone.md)\n",
        "b.md": "# B\n\n<!-- TOC:START automatically generated -->\n\n[x](gone.md)\n",
        "c.md": "<!-- START generated table of contents, DO NOT EDIT -->\n\n[x](gone.md)\n",
    }
    assert [one.at.path for one in checked(tmp_path, files).findings] == ["b.md", "c.md"]


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    files: Files = {"a.md": "[x](g1.md) [x](g2.md)\n", "b.md": "x" * 99, "docs/deep/c.md": "[x](g.md)\n"}
    found = checked(tmp_path, files, max_documents=2, max_document_bytes=50, max_findings=1)
    assert [one.message for one in found.findings] == ["a.md:L1 links to g1.md, which is not there"]
    assert [(row.what, row.why) for row in found.not_judged] == [
        ("b.md", "oversized: 99 bytes, limit 50"),
        ("references", "1 documents are more than 2"),
        ("references", "1 findings are more than 1"),
    ]
    assert (found.counts.documents, found.counts.references, found.counts.not_judged) == (1, 2, 3)


def test_an_unchanged_document_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(
        tmp_path,
        {"a.md": "[b](b.md#part) [c](b.md)\n", "b.md": "# Part\n", "old.md": "Status: rejected\n[x](gone.md)\n"},
    )
    store, known = MemoryStore(), sample.findings(hydrated_chunks=())

    def run() -> Checked:
        desk: Desk = settled_desk(tmp_path, store)
        return references(known, known, desk.workspace.listing, drift_limits(), desk)

    first = run()

    def refuse(_: Workspace, path: str, *, max_bytes: int) -> None:
        raise SkippedFile(SkipReason.UNREADABLE, path, str(max_bytes))

    monkeypatch.setattr(Workspace, "read", refuse)
    assert run() == first
    assert (first.findings, first.counts.documents) == ((), 2)


def test_a_document_whose_name_is_not_text_is_counted(tmp_path: Path) -> None:
    plant(tmp_path, {"a.md": "[x](a.md)\n"})
    with open(bytes(tmp_path) + b"/\xff.md", "w") as file:  # noqa: PTH123  pathlib takes no bytes
        file.write("[x](gone.md)\n")
    found = checked(tmp_path, {})
    assert (found.findings, found.counts.documents) == ((), 1)
    assert found.not_judged == (NotJudged(what="references", why="1 documents have names that are not UTF-8"),)


def test_secrets_of_a_line_are_masked(tmp_path: Path) -> None:
    key = "ghp_" + "A1b2C3d4E5" * 4
    (one,) = checked(tmp_path, {"a.md": f"[x](gone.md) token {key}\n"}).findings
    assert key not in one.found
