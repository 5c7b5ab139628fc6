"""Section titles and references of reStructuredText and AsciiDoc.

Both are read line by line. In reStructuredText a title is a line over, or between, lines of one
repeated mark, and its level is told by the order in which such marks first appear.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from rtch.data_keys import clip
from rtch.markdown import relative_target
from rtch.models.features import FeatureLimits, Heading, Reference

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*$")
_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
"""What an adornment may be made of; the empty text is none of them."""
_SURE = 4
"""An adornment shorter than its title is one only from this length on."""

_DIRECTIVE = re.compile(
    r"\s*\.\.\s+(?:include|literalinclude|automodule|autoclass|autofunction|module|currentmodule)::\s+(\S+)"
)
_ROLE = re.compile(r":(?:doc|download|mod|file):`(?:[^`<]*<([^`>]+)>|~?([^`<\s]+))`")
_RST_LINK = re.compile(r"`[^`<]*<([^`>\s]+)>`__?")

_ADOC_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*$")
_ADOC_FENCE = re.compile(r"(?:-{4,}|\.{4,}|\+{4,}|/{4,}|={4,}|\*{4,}|_{4,}|--|```.*)[ \t]*$")
_ADOC_LINK = re.compile(r"(?:include::|xref:|link:)([^\s\[\]]+)\[|<<([^\s<>,#]+\.a(?:scii)?doc)[#,>]")


class TitleScan(NamedTuple):
    """Headings and references, by line."""

    headings: tuple[Heading, ...]
    references: tuple[Reference, ...]
    truncated: bool


def scan_rst(lines: list[str], limits: FeatureLimits, *, first_line: int = 1) -> TitleScan:
    """Read the section titles, includes and links of reStructuredText lines.

    A plain text file may be read so as well: its underlined titles are the same.
    """
    styles: dict[str, int] = {}
    headings: list[Heading] = []
    free = 0
    marks = [row for row, line in enumerate(lines) if line[:1] in _MARKS and _is_adornment(line)]
    for row in sorted({row for mark in marks for row in (mark - 1, mark) if row >= 0}):
        title = _rst_title(lines, row) if row >= free else None
        if title is None:
            continue
        style, text, length = title
        level = styles.setdefault(style, len(styles) + 1)
        # The line of its words, not of the mark above them.
        headings.append(Heading(level, clip(text, limits.max_text), first_line + row + length - 2))
        free = row + length
    references: list[Reference] = []
    for number, text in enumerate(lines, first_line):
        if "`" in text or ".. " in text:
            references += (Reference(clip(name, limits.max_text), number) for name in _rst_references(text))
    return _result(headings, references, limits)


def _rst_title(lines: list[str], row: int) -> tuple[str, str, int] | None:
    """Return style, text and number of lines of the title that begins at a row."""
    first = lines[row].rstrip()
    if not first or (row and lines[row - 1].strip() and not _is_adornment(lines[row - 1])):
        return None
    below = [line.rstrip() for line in lines[row + 1 : row + 3]]
    if _is_adornment(first):
        text = below[0].strip() if len(below) > 1 else ""
        framed = text and below[1] == first and not _is_adornment(text) and _wide_enough(text, first)
        return (f"over{first[0]}", text, 3) if framed else None
    underlined = below and not first[0].isspace() and _is_adornment(below[0]) and _wide_enough(first, below[0])
    return (below[0][0], first, 2) if underlined else None


def _is_adornment(text: str) -> bool:
    return _ADORNMENT.match(text.rstrip()) is not None


def _wide_enough(title: str, adornment: str) -> bool:
    if len(adornment) >= _SURE:
        return True
    columns = sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in title)
    return len(adornment) > 1 and columns <= len(adornment)


def _rst_references(text: str) -> list[str]:
    found = []
    if ".. " in text and (directive := _DIRECTIVE.match(text)) is not None:
        found.append(directive[1])
    if ":`" in text:
        found += (role[1] or role[2] for role in _ROLE.finditer(text))
    if "<" in text:
        found += (relative_target(link[1]) for link in _RST_LINK.finditer(text))
    return [one for one in found if one]


def scan_asciidoc(lines: list[str], limits: FeatureLimits, *, first_line: int = 1) -> TitleScan:
    """Read the section titles, includes and cross references of AsciiDoc lines; delimited blocks hold none."""
    headings: list[Heading] = []
    references: list[Reference] = []
    fence = ""
    for number, line in enumerate(lines, first_line):
        text = line.rstrip()
        if text[:1] in "-.+/=*_`" and _ADOC_FENCE.match(text) is not None:
            mark = "```" if text.startswith("```") else text
            fence = "" if fence == mark else fence or mark
        elif not fence and text[:1] in "=#" and (title := _ADOC_TITLE.match(text)) is not None:
            headings.append(Heading(len(title[1]), clip(title[2], limits.max_text), number))
        elif ":" in text or "<<" in text:
            targets = (relative_target(link[1] or link[2]) for link in _ADOC_LINK.finditer(text))
            references += (Reference(clip(one, limits.max_text), number) for one in targets if one)
    return _result(headings, references, limits)


def _result(headings: list[Heading], references: list[Reference], limits: FeatureLimits) -> TitleScan:
    distinct = list(dict.fromkeys(references))
    cut = len(headings) > limits.max_headings or len(distinct) > limits.max_references
    return TitleScan(tuple(headings[: limits.max_headings]), tuple(distinct[: limits.max_references]), cut)
