"""References of documents: any text is read, and what is there is never told to be gone."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent))  # tests are no package: siblings are found by their folder

import samples as sample
from making import desk_of

sys.path.pop(0)

from rtch.limits import load_limits
from rtch.mentions import mentions_of, spans_of
from rtch.stages.references import references

PIECES = (
    "[a](b.md)", "[a](b.md#c)", "![a](<b c.png>)", "[a]: b.md", "`src/a.py`", "``src/a.py:3``", "`", "``", "```", "~~",
    "~~~", "<!--", "-->", "<div>", "<a ", "](", "[", "]", "(", ")", "\\", "|", "# ", "> ", "- ", "    ", "\n", "\n\n",
    " ", "x", "::", ".. note::", ".. image:: b.png", "`t <b.md>`_", ":doc:`b`", "xref:b.adoc[b]", "---\n", "%2", "%00",
    "&amp;", "\r\n", "\0", "é",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
NAMES = st.sampled_from(["b", "read me", "with(brackets)", "ü", "a%20b", "x_y", "a&b", "50%"])


@given(TEXTS, st.sampled_from(["a.md", "a.rst", "a.adoc", "a.toml"]))
def test_any_text_is_read_and_each_reference_given_once_at_a_line_of_it(text: str, path: str) -> None:
    mentions = mentions_of(path, text)
    lines = text.count("\n") + 1
    assert len({mention[:2] for mention in mentions}) == len(mentions)
    assert all(1 <= mention.line <= lines and mention.target for mention in mentions)
    assert all(1 <= span.line <= lines for span in spans_of(path, text))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["", "docs/", "docs/deep/"]), st.sampled_from(["", "docs/", "other/"]), NAMES, st.booleans())
def test_a_link_is_told_where_its_file_is_gone_and_nowhere_else(start: str, end: str, name: str, there: bool) -> None:  # noqa: FBT001
    target = f"{'../' * start.count('/')}{end}{name}.md"
    written = (
        target.replace("%", "%25").replace(" ", "%20").replace("(", "\\(").replace(")", "\\)").replace("&", "&amp;")
    )
    files = {f"{start}from.md": f"text\n\n[x]({written})\n", **({f"{end}{name}.md": "there\n"} if there else {})}
    known = sample.findings(hydrated_chunks=())
    with tempfile.TemporaryDirectory() as folder:
        desk = desk_of(Path(folder).resolve(), files)
        found = references(known, known, desk.workspace.listing, load_limits().drift, desk)
    told = [one.message for one in found.findings]
    assert told == ([] if there else [f"{start}from.md:L3 links to {target}, which is not there"])
    assert found.not_judged == ()
