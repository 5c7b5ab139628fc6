"""Documents whose bodies lie in a ledger: the lines of the index, and the sections that they lead to.

An index line links ``<path of the ledger>#<anchor>``, or names ``<folder of the ledger>#<anchor>``. A section is
found by an anchor of its own (``<a id="...">``) or by GitHub's slug of its heading, whole or by what it begins with.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from rtch.markdown import scan_markdown
from rtch.models.features import FeatureLimits

_LINK = re.compile(r"\]\(\s*<?([^)<>#\s]*)#([^)<>\s]+?)>?\s*(?:[\"'(][^\n]*)?\)")
_ALIAS = re.compile(r"(?<![\w/#.(-])([\w.-]+)#([\w-]+)")
_BULLET = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]")
_ANCHOR = re.compile(r"""<a\s[^<>]*?\b(?:id|name)\s*=\s*["']?([^"'\s<>]+)""", re.IGNORECASE)
_NO_SLUG = re.compile(r"[^\w\- ]")
_SHORTEST_BEGINNING = 8
"""Characters: a shorter beginning of an anchor may mean anything."""
_LIMITS = FeatureLimits(max_headings=100_000, max_references=1)


class IndexLine(NamedTuple):
    """An entry of an index: its lines, and the ledger's place and anchor that its link names, as written."""

    start: int
    end: int
    target: str
    anchor: str


class LedgerSection(NamedTuple):
    """A section of a ledger, from its heading to its last line of text."""

    title: str
    start: int
    end: int
    anchors: tuple[str, ...]


def index_lines(lines: Sequence[str]) -> tuple[IndexLine, ...]:
    """Return the links of an index that have an anchor, each with the lines of the list item it lies in.

    Args:
        lines: of the document, without line ends.
    """
    found = []
    for number, line in enumerate(lines, start=1):
        if "#" not in line:
            continue
        for target, anchor in _links(line):
            start, end = _item(lines, number)
            found.append(IndexLine(start, end, target, anchor))
    return tuple(found)


def _links(line: str) -> Iterator[tuple[str, str]]:
    linked = [(unquote(match[1]), unquote(match[2])) for match in _LINK.finditer(line)]
    yield from linked
    told = set(linked)
    yield from (pair for match in _ALIAS.finditer(line) if (pair := (match[1], match[2])) not in told)


def _item(lines: Sequence[str], number: int) -> tuple[int, int]:
    """Return the outermost list item that holds a line; the line alone where none does."""
    start = number
    while not _is_outermost(lines[start - 1]):
        above = lines[start - 2] if start > 1 else ""
        inside = lines[start - 1][:1] in {" ", "\t"} or _BULLET.match(above) is not None
        if not above.strip() or not inside:
            return (number, number) if start == number else (start, _last(lines, number))
        start -= 1
    return start, _last(lines, start)


def _is_outermost(line: str) -> bool:
    bullet = _BULLET.match(line)
    return bullet is not None and not bullet[1]


def _last(lines: Sequence[str], start: int) -> int:
    end = start
    while end < len(lines) and lines[end].strip() and lines[end][0] in " \t":
        end += 1
    return end


def ledger_of(document: str, target: str, ledgers: Collection[str]) -> str | None:
    """Return which of some ledgers a link of a document leads to, or None.

    Args:
        document: the path of the index.
        target: the link's path as written: relative to the document, or the name of the ledger's folder.
        ledgers: paths of the same kind as ``document``.
    """
    if not target:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(document), target))
    if path in ledgers:
        return path
    named = [one for one in ledgers if posixpath.basename(posixpath.dirname(one)) == target]
    return named[0] if len(named) == 1 else None


def ledger_sections(lines: Sequence[str]) -> tuple[LedgerSection, ...]:
    """Return the sections of a ledger, by line.

    Args:
        lines: of the ledger, without line ends.
    """
    headings = [one for one in scan_markdown(list(lines), _LIMITS).headings if one.level > 1]
    outermost = min((one.level for one in headings), default=0)
    headings = [one for one in headings if one.level == outermost]
    ends = [*(one.line - 1 for one in headings[1:]), len(lines)][: len(headings)]
    seen: dict[str, int] = {}
    found = []
    for heading, end in zip(headings, ends, strict=True):
        slug = _NO_SLUG.sub("", heading.text.lower()).replace(" ", "-")
        again = seen[slug] = seen.get(slug, -1) + 1
        last = end
        while last > heading.line and lines[last - 1].strip() in {"", "---", "***", "___"}:
            last -= 1
        # An anchor may stand on the line before the heading as well.
        above = lines[heading.line - 2] if heading.line > 1 else ""
        own = (match[1] for line in (above, *lines[heading.line - 1 : last]) for match in _ANCHOR.finditer(line))
        anchors = tuple(dict.fromkeys((*own, f"{slug}-{again}" if again else slug)))
        found.append(LedgerSection(heading.text, heading.line, last, anchors))
    return tuple(found)


def section_at(sections: Sequence[LedgerSection], anchor: str) -> LedgerSection | None:
    """Return the section that an anchor names: exactly, else the only one of which either is the beginning."""
    wanted = anchor.removeprefix("user-content-").lower()
    for section in sections:
        if any(wanted == one.lower() for one in section.anchors):
            return section
    near = [section for section in sections if any(_begins(wanted, one.lower()) for one in section.anchors)]
    return near[0] if len(near) == 1 else None


def _begins(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= _SHORTEST_BEGINNING and long.startswith(short)
