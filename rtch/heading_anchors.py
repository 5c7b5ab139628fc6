"""Which anchors a Markdown document has, however its headings are turned into them.

GitHub's slug is the heading in small letters without punctuation, each blank a hyphen, and a number where it stands
twice. GitLab, MkDocs, Sphinx and Docusaurus make the same but for hyphens, accents and how they number, so anchors are
compared by letters and digits alone: what is found missing is missing everywhere.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property

_INCLUDES = re.compile(
    r"^[ \t]*(?:--8<--|:::[ \t]|!!?include|@include|\.\. (?:include|auto))|\{%|\{\{"
    r"|^[`~:]{3,}\{(?:include|auto|eval-rst)|^import [^\n]+ from |^<(?-i:[A-Z])\w*"
    r"|<!--[ \t]*(?:@|[\w:-]*(?:start|begin|include|snippet|insert|auto)\b)",
    re.MULTILINE | re.IGNORECASE,
)
"""A part of the page is another file's, or is made: which headings it has is not known."""
_NAMED = re.compile(
    r"""\b(?:id|name)\s*=\s*["']?([^"'\s>]+)|\{[^{}\n]*#([^\s{}]+)[^{}\n]*\}|^\(([^()\n]+)\)=\s*$|\[\[([^\[\],]+)\]\]""",
    re.MULTILINE,
)
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_TAG = re.compile(r"<[^<>]+>")
_ATTRIBUTES = re.compile(r"\s*\{[^{}]*\}\s*$")
_EMOJI = re.compile(r":[a-z0-9_+-]+:")
_LONGEST = 300
"""Characters of a line that may be a heading."""
_NUMBERED = re.compile(r"(.*?)[-_]?(\d{1,9})$", re.DOTALL)
_OF_THE_VIEW = re.compile(
    r"(?:L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?|:~:.*|_?\d*|top|readme|content|/.*|!.*|.*=.*)$", re.IGNORECASE
)
"""Fragments that the page itself need not have: lines, text to be marked, a route of a script."""


class Anchors:
    """The anchors of one document."""

    def __init__(self, headings: Iterable[str], read: Callable[[], str]) -> None:
        """Take the texts of the headings.

        Args:
            headings: of the document.
            read: gives all of its text, where the headings do not tell.
        """
        self._headings = headings
        self._read = read

    def lack(self, fragment: str) -> bool:
        """Tell whether nothing makes an anchor: no heading, no name, and no other line of the document.

        Args:
            fragment: what stands behind ``#``, decoded.
        """
        fragment = fragment.removeprefix("user-content-")
        wanted = plain(fragment)
        if not wanted or _OF_THE_VIEW.match(fragment) or _makes(fragment, self._of_headings):
            return False
        return not self._is_made and wanted not in self._names and not _makes(fragment, self._of_lines)

    @cached_property
    def _of_headings(self) -> Counter[str]:
        return _counted(self._headings)

    @cached_property
    def _text(self) -> str:
        return self._read()

    @cached_property
    def _is_made(self) -> bool:
        return _INCLUDES.search(self._text) is not None

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(plain(next(filter(None, match.groups()))) for match in _NAMED.finditer(self._text))

    @cached_property
    def _of_lines(self) -> Counter[str]:
        lines = self._text.split("\n")
        return _counted(line.lstrip(" \t>#*-=_|:").rstrip(" \t\r#*_|:")[:_LONGEST] for line in lines)


def plain(text: str) -> str:
    """Return the letters and digits of a text, in small letters and without accents."""
    letters = unicodedata.normalize("NFKD", text.lower())
    return "".join(one for one in letters if one.isalnum())


def _counted(headings: Iterable[str]) -> Counter[str]:
    return Counter(form for heading in headings for form in _forms(heading))


def _makes(fragment: str, forms: Counter[str]) -> bool:
    if plain(fragment) in forms:
        return True
    numbered = _NUMBERED.match(fragment)
    return numbered is not None and forms[plain(numbered[1])] > int(numbered[2])


def _forms(heading: str) -> set[str]:
    """Return what a heading may become: with and without its tags, attributes and the names of emoji."""
    shown = html.unescape(_TAG.sub("", _LINK.sub(r"\1", heading)))
    bare = _ATTRIBUTES.sub("", shown)
    return {plain(one) for one in (heading, shown, bare, _EMOJI.sub("", bare))} - {""}
