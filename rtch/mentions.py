"""What the text of a document refers to: links with their fragments, and paths in code spans.

Not followed: blocks of code, struck out text, comments, HTML, and code spans on lines that speak of what was, is made
when something runs, or is an example (``past``). What a mention leads to is not decided here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote

from rtch.front_matter import front_matter
from rtch.languages import language_of
from rtch.markdown import ProseLine, prose_lines
from rtch.models.features import FeatureLimits
from rtch.models.vocab import FileRole
from rtch.past import speaks_of_other_times
from rtch.roles import role_of
from rtch.structure import Notation, notation_of

_NOT_WRITTEN = frozenset({FileRole.VENDORED, FileRole.GENERATED, FileRole.LOCK})
"""What is installed or made where the tree is used, and need not be there to be spoken of."""
MAX_TARGET = 300
"""Characters of a target; a longer one is data."""
MAX_LINE = 10_000
"""Characters of a line; a longer one was not written by hand."""
MAX_LINES = 200
"""Lines that are read as one; of a longer paragraph, a span that crosses such a border is missed."""


class MentionKind(StrEnum):
    """How a document refers to something."""

    LINK = "link"
    """``target`` is as written, decoded, with its fragment behind ``#``."""
    PAGE = "page"
    """A document of Sphinx, without its ending."""
    PATH = "path"
    """A path in a code span, less its line numbers."""


class Mention(NamedTuple):
    """One reference of a document."""

    kind: MentionKind
    target: str
    line: int


class Span(NamedTuple):
    """A code span and the line on which it begins; ``prose`` is that line without code."""

    code: str
    line: int
    prose: str


class _Paragraph(NamedTuple):
    """Lines that are read as one, and their numbers."""

    text: str
    numbers: tuple[int, ...]

    def line(self, place: int) -> int:
        return self.numbers[self.text.count("\n", 0, place)]

    def whole_line(self, masked: str, place: int) -> str:
        end = masked.find("\n", place)
        return masked[masked.rfind("\n", 0, place) + 1 : len(masked) if end < 0 else end]


_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|~~(?=\S).+?~~|<(?:del|s)>.*?</(?:del|s)>|<[A-Za-z][^<>\n]*>", re.DOTALL)
_KEEPS = re.compile(r"\]\([ \t]*$|\]:[ \t]*$")
"""Before an angle bracket: what it holds is a link's target."""
_LINK = re.compile(
    r"\]\(\s*(?:<([^<>\n]*)>|([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*))(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_DEFINITION = re.compile(
    r"[ ]{0,3}\[(?!\^)[^\[\]]+\]:[ \t]+(?:<([^<>\n]+)>|(\S+))(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$"
)
_LINK_TEXT = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\][(\[]")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\|[@~]")
_PLACEHOLDER = re.compile(r"[*?{}<>$%|\"'\n\0\u2026]|\.\.\.")
_LINES = re.compile(r"(?::L?\d+(?:[-:,]L?\d+)*|#L\d+(?:-L?\d+)?)$")
_PATH = re.compile(r"(?:\.{1,2}/)*[\w.@+-]+(?:/[\w.@+-]+)+$")
_MADE_UP = re.compile(
    r"(?:^|/)(?:(?:foo|bar|baz|qux|path|your|my|some|example|sample|xx+|yyyy|name|dir|folder)(?:[-_.][^/]*)?"
    r"|(?:test_)?(?:plugin|module|file|package|project|app|class|component|service|feature|page|new)[-_]?name(?:\.[^/]*)?)"
    r"(?:/|$)",
    re.IGNORECASE,
)
_RST_CODE = re.compile(
    r"``([^`\n]+)``|:(?:[a-z]+:)?(?:func|class|meth|attr|data|exc|mod|obj|const|function|method):`[~!]?([^`<>\n]+)`"
)
_RST_LINK = re.compile(r"`[^`<]*<([^`>\s]+)(?<!_)>`__?|:download:`(?:[^`<]*<([^`>]+)>|([^`<\s]+))`")
_RST_PAGE = re.compile(r":doc:`(?:[^`<]*<([^`>]+)>|([^`<\s]+))`")
_RST_FILE = re.compile(r"\s*\.\.\s+(?:image|figure|include|literalinclude)::\s+(\S+)\s*$")
_RST_DIRECTIVE = re.compile(r"(\s*)\.\.(?:\s|$)(?:.*?([\w:-]+)::)?")
_RST_PROSE = re.compile(
    r"note|warning|tip|important|caution|danger|hint|attention|error|admonition|seealso|version(?:added|changed)|topic"
    r"|sidebar|rubric|container|list-table|image|figure|include"
)
_ADOC_LINK = re.compile(r"(?:include::|xref:|link:|image::?)([^\s\[\]:]+)\[")


def mentions_of(path: str, text: str) -> tuple[Mention, ...]:
    """Return what a document refers to, each reference once at its first line; empty for a notation without links.

    Args:
        path: its name tells the notation.
        text: all of it.
    """
    notation = notation_of(path)
    found: Iterable[Mention] = ()
    if notation is Notation.MARKDOWN:
        found = _in_markdown(text)
    elif notation is Notation.RST:
        found = _in_rst(text)
    elif notation is Notation.ASCIIDOC:
        found = (
            Mention(MentionKind.LINK, match[1], number)
            for number, line in enumerate(text.split("\n"), 1)
            if len(line) <= MAX_LINE
            for match in _ADOC_LINK.finditer(line)
            if _followed(match[1])
        )
    seen: dict[tuple[MentionKind, str], Mention] = {}
    for mention in found:
        seen.setdefault(mention[:2], mention)
    return tuple(seen.values())


def spans_of(path: str, text: str) -> Iterator[Span]:
    """Yield the code spans of a document in Markdown or reStructuredText."""
    if notation_of(path) is Notation.MARKDOWN:
        for paragraph in _paragraphs(text):
            yield from _spans(paragraph)
    elif notation_of(path) is Notation.RST:
        for number, line in _rst_lines(text):
            for match in _RST_CODE.finditer(line):
                yield Span((match[1] or match[2]).strip(), number, _RST_CODE.sub(" ", line))


def prose_of(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers and lines of a document's text, its code spans among them, without what is not followed."""
    if notation_of(path) is Notation.MARKDOWN:
        for paragraph in _paragraphs(text):
            yield from zip(paragraph.numbers, _visible(paragraph.text).split("\n"), strict=True)
    elif notation_of(path) is Notation.RST:
        yield from _rst_lines(text)
    else:
        yield from enumerate(text.split("\n"), 1)


def _spans(paragraph: _Paragraph) -> Iterator[Span]:
    if "`" not in paragraph.text:
        return
    masked = _masked(paragraph.text)
    linked = [match.span() for match in _LINK_TEXT.finditer(masked)]
    for match in _CODE.finditer(_visible(paragraph.text)):
        # What a link shows is told by where it leads.
        if not any(start < match.start() < end for start, end in linked):
            prose = paragraph.whole_line(masked, match.start())
            yield Span(match[2].strip(), paragraph.line(match.start()), prose)


def _in_markdown(text: str) -> Iterator[Mention]:
    if "`" not in text and "](" not in text and "]:" not in text:
        return
    for paragraph in _paragraphs(text):
        if "](" in paragraph.text or "]:" in paragraph.text:
            yield from _links(paragraph)
        yield from _paths(_spans(paragraph))


def _in_rst(text: str) -> Iterator[Mention]:
    for number, line in _rst_lines(text):
        file = _RST_FILE.match(line)
        targets = chain([file[1]] if file else (), (next(filter(None, m.groups())) for m in _RST_LINK.finditer(line)))
        yield from (Mention(MentionKind.LINK, target, number) for target in targets if _followed(target))
        pages = (match[1] or match[2] for match in _RST_PAGE.finditer(line))
        yield from (Mention(MentionKind.PAGE, target, number) for target in pages if _followed(target))
    yield from _paths(spans_of("x.rst", text))


def _paths(spans: Iterable[Span]) -> Iterator[Mention]:
    for span in spans:
        target = path_in(span.code)
        if target and not speaks_of_other_times(span.prose):
            yield Mention(MentionKind.PATH, target, span.line)


def path_in(code: str) -> str:
    """Return the path that a code span is, less line numbers and arguments; empty where it may be something else."""
    # What is run is named with its arguments.
    target = _LINES.sub("", code.partition(" -")[0])
    if len(target) > MAX_TARGET or not _PATH.match(target) or _MADE_UP.search(target):
        return ""
    if "." not in target.rpartition("/")[2][1:] or role_of(target) in _NOT_WRITTEN:
        return ""
    return target if language_of(target) is not None or notation_of(target) is not None else ""


def _paragraphs(text: str) -> Iterator[_Paragraph]:
    front = front_matter(text, FeatureLimits())
    skipped = front.end_line if front else 0
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    held: list[ProseLine] = []
    for line in prose_lines(lines[skipped:], first_line=skipped + 1):
        # A cell of a table ends with its row.
        if held and not (line.goes_on and not line.text.startswith("|") and len(held) < MAX_LINES):
            yield _paragraph(held)
            held = []
        if len(line.text) <= MAX_LINE:
            held.append(line)
    if held:
        yield _paragraph(held)


def _paragraph(lines: Sequence[ProseLine]) -> _Paragraph:
    return _Paragraph("\n".join(line.text for line in lines), tuple(line.number for line in lines))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _visible(text: str) -> str:
    """Return a text with what is struck out, commented or a tag blanked, every other character at its place."""
    if "<" not in text and "~~" not in text:
        return text
    codes = [match.span() for match in _CODE.finditer(text)]

    def hidden(match: re.Match[str]) -> str:
        in_code = any(start < match.start() < end for start, end in codes)
        return match[0] if in_code or _KEEPS.search(text, 0, match.start()) else _blank(match)

    return _HIDDEN.sub(hidden, text)


def _masked(text: str) -> str:
    """Return the same with code blanked too."""
    return _CODE.sub(_blank, _visible(text))


def _links(paragraph: _Paragraph) -> Iterator[Mention]:
    masked = _masked(paragraph.text)
    for match in _LINK.finditer(masked):
        if target := _decoded(match[1] or match[2] or ""):
            yield Mention(MentionKind.LINK, target, paragraph.line(match.start()))
    for number, line in zip(paragraph.numbers, masked.split("\n"), strict=True):
        definition = _DEFINITION.match(line)
        if definition is None:
            break
        target = _decoded(definition[1] or definition[2])
        if target and re.search(r"[/#.]", target):
            yield Mention(MentionKind.LINK, target, number)


def _decoded(written: str) -> str:
    """Return a target without escapes and query; empty for one that is not followed."""
    target = html.unescape(_ESCAPED.sub(r"\1", written)).strip()
    if not _followed(re.sub(r"%[0-9A-Fa-f]{2}|\?[^#]*", "", target)):
        return ""
    path, mark, fragment = target.partition("#")
    decoded = unquote(path.partition("?")[0])
    return f"{decoded}{mark}{unquote(fragment)}" if "\0" not in decoded and "\n" not in decoded else ""


def _followed(target: str) -> bool:
    """Tell whether a target is one of the tree, and no URL, address or placeholder."""
    return bool(
        target
        and len(target) <= MAX_TARGET
        and not _SCHEME.match(target)
        and not _PLACEHOLDER.search(target)
        and not _MADE_UP.search(target.partition("#")[0])
        and "@" not in target
    )


def _rst_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are no literal block, comment or directive whose content is not text."""
    limit: int | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip()
        if not line or len(line) > MAX_LINE:
            continue
        indent = len(line) - len(line.lstrip())
        if limit is not None and indent > limit:
            continue
        limit = None
        directive = _RST_DIRECTIVE.match(line)
        if directive is not None:
            # A link's target, a footnote and a substitution begin like a comment.
            plain = re.match(r"\s*\.\.\s+[_\[|]", line) is not None
            limit = None if plain or _RST_PROSE.fullmatch(directive[2] or "") else indent
        elif line.endswith("::"):
            limit = indent
        yield number, line
