"""Headings and links of markdown, by the block rules of CommonMark 0.31.

Only blocks are parsed, for what a ``#`` or a ``---`` means depends on the fence, list, quote or HTML
around it, but not on the inline text. A full parser does 2 MB/s and takes 0.1 s to import; this one
does about ten times that, and the full one is what its tests compare it with.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple
from urllib.parse import unquote

from rtch.data_keys import clip
from rtch.models.features import FeatureLimits, Heading, Reference

_HTML_BLOCKS = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul"
)
_ATTRIBUTE = r"""\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
_HTML_ENDS = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?:\s|>|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
)
_HTML_TO_BLANK = re.compile(rf"</?(?:{_HTML_BLOCKS.replace(' ', '|')})(?:\s|/?>|$)", re.IGNORECASE)
_HTML_TAG_ALONE = re.compile(rf"(?:<[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>)\s*$")

_ATX = re.compile(r"(#{1,6})(?:[ \t]+(.*))?$")
_ATX_CLOSE = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_SETEXT = re.compile(r"(?:=+|-+)[ \t]*$")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_ITEM = re.compile(r"(?:[*+-]|(\d{1,9})[.)])(?=[ \t]|$)")
_MARGIN = re.compile(r"(?:[ \t>]|(?:[-+*]|\d{1,9}[.)])(?=[ \t]))*+")
_DEFINITION = re.compile(
    r"\s*\[(?=[^\]]*[^\s\]])(?:[^\[\]\\]|\\.){1,999}\]:[ \t]*\n?[ \t]*(<(?:[^<>\n\\]|\\.)*>|[^\s<]\S*)"
    r"(?:(?:[ \t]+\n?|\n)[ \t]*(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ \t]*(?:\n|\Z)",
    re.DOTALL,
)
_LINK = re.compile(r"\]\([ \t]*(?:<([^<>\n]+)>|([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*))")
_DEFINED_LINK = re.compile(r"[ >]*\[[^\]]+\]:[ \t]+(?:<([^<>\n]+)>|(\S+))")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#")

# A line that begins otherwise, outside any list or quote, can only be a paragraph's.
_MAY_OPEN = frozenset(" \t#>`~<-*+_=0123456789")
_CODE_INDENT = 4
_MAX_OPEN = 64
"""Quotes and lists within each other; what is deeper is taken for text."""
_MAX_MARGIN = 2000
"""Characters of a line that are looked at for blocks, in a quote or list or where one may open."""


class MarkdownScan(NamedTuple):
    """What a markdown text holds; ``unclosed_fence`` is the line of a fence that runs to the end."""

    headings: tuple[Heading, ...]
    links: tuple[Reference, ...]
    unclosed_fence: int | None
    truncated: bool


class _Leaf(Enum):
    """What the innermost open block is made of."""

    NONE = auto()
    PARAGRAPH = auto()
    FENCE = auto()
    HTML = auto()


class _Container:
    """An open block quote (``width`` 0) or list item, whose content is ``width`` columns in."""

    __slots__ = ("is_empty", "width")

    def __init__(self, width: int, *, is_empty: bool) -> None:
        self.width = width
        self.is_empty = is_empty


class _Blocks:
    """The open blocks, line by line."""

    def __init__(self, limits: FeatureLimits) -> None:
        self._limits = limits
        self._stack: list[_Container] = []
        self._leaf = _Leaf.NONE
        self._paragraph: list[str] = []
        self._paragraph_line = 0
        self._fence = ""
        self._fence_line = 0
        self._fenced: list[Heading] = []
        self._html_end: re.Pattern[str] | None = None
        self.headings: list[Heading] = []
        self.links: list[Reference] = []

    def read(self, lines: list[str], first_line: int) -> None:
        """Take every line."""
        for number, text in enumerate(lines, first_line):
            if self._stack:
                self._line(text, number)
            elif self._leaf is _Leaf.FENCE:
                if text[:1] == "#" or self._fence[0] in text:
                    self._fenced_line(text, number)
            elif self._leaf is not _Leaf.HTML and text and text[0] not in _MAY_OPEN:
                self._text(text, number)
            elif not text:
                if self._html_end is None or self._leaf is _Leaf.PARAGRAPH:
                    self._leaf = _Leaf.NONE
            else:
                self._line(text, number)

    def unclosed_fence(self) -> int | None:
        """Return the line of a fence that is still open, after taking its ``#`` lines for possible headings."""
        if self._leaf is not _Leaf.FENCE:
            return None
        self.headings += self._fenced
        return self._fence_line

    def _line(self, text: str, number: int) -> None:
        text = text[:_MAX_MARGIN]
        if "\t" in text and (margin := _MARGIN.match(text)) is not None:
            text = margin[0].expandtabs(4) + text[margin.end() :]
        matched, position = self._matched(text)
        whole = matched == len(self._stack)
        if whole and self._leaf is _Leaf.FENCE:
            self._fenced_line(text[position:], number)
        elif whole and self._leaf is _Leaf.HTML:
            self._html_line(text[position:])
        else:
            self._open_blocks(text, position, matched, number)

    def _matched(self, text: str) -> tuple[int, int]:
        """Return how many open containers the line goes on with, and where their content begins."""
        position = 0
        for matched, container in enumerate(self._stack):
            rest = text[position:].lstrip(" ")
            indent = len(text) - position - len(rest)
            if not container.width:
                if indent >= _CODE_INDENT or rest[:1] != ">":
                    return matched, position
                position += indent + (2 if rest[1:2] == " " else 1)
            elif not rest:
                if container.is_empty:
                    return matched, position
            elif indent >= container.width:
                position += container.width
            else:
                return matched, position
        return len(self._stack), position

    def _open_blocks(self, text: str, position: int, matched: int, number: int) -> None:
        """Open what begins on this line; what is left is text."""
        while True:
            rest = text[position:].lstrip(" ")
            indent = len(text) - position - len(rest)
            if not rest:
                break
            continues = self._leaf is _Leaf.PARAGRAPH and matched == len(self._stack)
            if indent >= _CODE_INDENT:
                if self._leaf is _Leaf.PARAGRAPH:
                    break
                self._close(matched)
                self._begin(_Leaf.NONE)
                return
            if rest[0] not in _MAY_OPEN:
                break
            width = self._container(rest, continues=continues)
            if width is None:
                if self._leaf_block(rest, matched, number):
                    return
                break
            self._close(matched)
            self._begin(_Leaf.NONE)
            position += indent + width[0]
            self._stack.append(_Container(0 if rest[0] == ">" else indent + width[0], is_empty=width[1]))
            matched = len(self._stack)
        self._remainder(rest, matched, number)

    def _container(self, rest: str, *, continues: bool) -> tuple[int, bool] | None:
        """Return the columns a quote or item mark takes, and whether the rest of its line is blank."""
        if len(self._stack) >= _MAX_OPEN:
            return None
        if rest[0] == ">":
            return (2 if rest[1:2] == " " else 1), False
        if _RULE.match(rest) is not None or (continues and rest[0] in "-=" and _SETEXT.match(rest) is not None):
            return None
        item = _ITEM.match(rest)
        if item is None:
            return None
        content = rest[item.end() :].expandtabs(4)
        blank = not content.strip(" ")
        if continues and (blank or (item[1] is not None and int(item[1]) != 1)):
            return None
        spaces = len(content) - len(content.lstrip(" "))
        return item.end() + (1 if blank or spaces > _CODE_INDENT else spaces), blank

    def _leaf_block(self, rest: str, matched: int, number: int) -> bool:
        """Take a line that is a block of its own or opens one; False for text."""
        first = rest[0]
        continues = self._leaf is _Leaf.PARAGRAPH and matched == len(self._stack)
        if first == "#" and (atx := _ATX.match(rest)) is not None:
            self._close(matched)
            self._begin(_Leaf.NONE)
            self._heading(len(atx[1]), _ATX_CLOSE.sub("", atx[2] or ""), number)
        elif first in "`~" and (fence := _FENCE.match(rest)) is not None:
            self._close(matched)
            self._begin(_Leaf.FENCE)
            self._fence, self._fence_line, self._fenced = fence[1], number, []
        elif first == "<" and self._html_begins(rest, interrupts=self._leaf is _Leaf.PARAGRAPH):
            self._close(matched)
            self._begin(_Leaf.HTML)
            self._html_line(rest)
        elif continues and first in "=-" and _SETEXT.match(rest) is not None and self._underlined(rest, number):
            self._leaf = _Leaf.NONE
        elif first in "*-_" and _RULE.match(rest) is not None:
            self._close(matched)
            self._begin(_Leaf.NONE)
        else:
            return False
        return True

    def _remainder(self, rest: str, matched: int, number: int) -> None:
        """Take text or a blank line."""
        lazy = self._leaf is _Leaf.PARAGRAPH and bool(rest)
        if matched < len(self._stack) and not lazy:
            self._close(matched)
        if rest:
            self._text(rest, number)
        elif self._leaf is _Leaf.PARAGRAPH:
            self._leaf = _Leaf.NONE

    def _text(self, text: str, number: int) -> None:
        if self._leaf is _Leaf.PARAGRAPH:
            self._paragraph.append(text)
        else:
            self._begin(_Leaf.PARAGRAPH)
            self._paragraph = [text]
            self._paragraph_line = number
        if "](" in text or "]:" in text:
            self._find_links(text, number)

    def _close(self, matched: int) -> None:
        """Close the containers that the line does not go on with, and the leaf, which the line ends in any case."""
        del self._stack[matched:]
        self._leaf = _Leaf.NONE

    def _begin(self, leaf: _Leaf) -> None:
        self._leaf = leaf
        if self._stack:
            self._stack[-1].is_empty = False

    def _underlined(self, underline: str, number: int) -> bool:
        """Turn the paragraph into a heading, unless it holds nothing but link definitions."""
        text = "\n".join(self._paragraph)
        while (definition := _DEFINITION.match(text)) is not None and _balanced(definition[1]):
            text = text[definition.end() :]
        lines = text.split("\n") if text.strip(" \t\n") else []
        if not lines:
            self._paragraph, self._paragraph_line = [], number
            return False
        line = self._paragraph_line + len(self._paragraph) - len(lines)
        self._heading(1 if underline[0] == "=" else 2, " ".join(part.strip() for part in lines), line)
        return True

    def _heading(self, level: int, text: str, line: int) -> None:
        # What is quoted is another text's heading.
        if all(container.width for container in self._stack):
            self.headings.append(Heading(level, clip(text.strip(), self._limits.max_text), line))
        if "](" in text:
            self._find_links(text, line)

    def _fenced_line(self, text: str, number: int) -> None:
        stripped = text.strip(" \t")
        if stripped[:1] == "#":
            if (atx := _ATX.match(stripped)) is not None and text[:1] == "#" and atx[2]:
                title = clip(_ATX_CLOSE.sub("", atx[2]).strip(), self._limits.max_text)
                self._fenced.append(Heading(len(atx[1]), title, number))
            return
        mark = self._fence[0]
        closes = len(stripped) >= len(self._fence) and not stripped.strip(mark)
        if closes and len(text) - len(text.lstrip(" ")) < _CODE_INDENT and text.lstrip(" ")[:1] == mark:
            self._leaf = _Leaf.NONE

    def _html_begins(self, rest: str, *, interrupts: bool) -> bool:
        for begin, end in _HTML_ENDS:
            if begin.match(rest) is not None:
                self._html_end = end
                return True
        self._html_end = None
        if _HTML_TO_BLANK.match(rest) is not None:
            return True
        return not interrupts and _HTML_TAG_ALONE.match(rest) is not None

    def _html_line(self, rest: str) -> None:
        ended = not rest.strip() if self._html_end is None else self._html_end.search(rest) is not None
        if ended:
            self._leaf = _Leaf.NONE

    def _find_links(self, text: str, number: int) -> None:
        found = [*_LINK.finditer(text)]
        if (defined := _DEFINED_LINK.match(text)) is not None:
            found.append(defined)
        for match in found:
            target = relative_target(match[1] or match[2])
            if target:
                self.links.append(Reference(clip(target, self._limits.max_text), number))


class ProseLine(NamedTuple):
    """A line of text without the marks of its blocks; ``goes_on`` tells that its paragraph began above."""

    number: int
    text: str
    goes_on: bool


class _Prose(_Blocks):
    """The lines that are text, of headings too."""

    def __init__(self) -> None:
        super().__init__(FeatureLimits())
        self.found: list[ProseLine] = []

    def _text(self, text: str, number: int) -> None:
        self.found.append(ProseLine(number, text, self._leaf is _Leaf.PARAGRAPH))
        super()._text(text, number)

    def _heading(self, level: int, text: str, line: int) -> None:
        # The lines of an underlined heading were a paragraph's before.
        if not self.found or self.found[-1].number < line:
            self.found.append(ProseLine(line, text, goes_on=False))
        super()._heading(level, text, line)


def prose_lines(lines: list[str], *, first_line: int = 1) -> list[ProseLine]:
    """Return the lines of markdown that are neither code nor HTML by their block; spans within them are left."""
    blocks = _Prose()
    blocks.read(lines, first_line)
    return blocks.found


def _balanced(target: str) -> bool:
    return target.startswith("<") or target.count("(") == target.count(")")


def relative_target(target: str) -> str:
    """Return a link's path without fragment and query, its escapes decoded; empty for what leaves the tree."""
    if _SCHEME.match(target) is not None:
        return ""
    return unquote(target.partition("#")[0].partition("?")[0])


def scan_markdown(lines: list[str], limits: FeatureLimits, *, first_line: int = 1) -> MarkdownScan:
    """Read the headings and relative links of markdown lines.

    Args:
        lines: without line ends.
        limits: headings and links to keep.
        first_line: the number of the first of ``lines``.

    Returns:
        Headings outside block quotes, by line. In a fence that is never closed the ``#`` lines are
        kept too: CommonMark takes all of them for code, which is seldom what was meant.
    """
    blocks = _Blocks(limits)
    blocks.read(lines, first_line)
    unclosed = blocks.unclosed_fence()
    headings, links = blocks.headings, list(dict.fromkeys(blocks.links))
    cut = len(headings) > limits.max_headings or len(links) > limits.max_references
    return MarkdownScan(tuple(headings[: limits.max_headings]), tuple(links[: limits.max_references]), unclosed, cut)
