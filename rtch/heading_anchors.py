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
_NUMBERED = re.compile(r"(.*?)[-_]?(\d{1,9})$", re.DOTALL)
_OF_THE_VIEW = re.compile(
    r"(?:L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?|:~:.*|_?\d*|top|readme|content|/.*|!.*|.*=.*)$", re.IGNORECASE
)
"""Fragments that the page itself need not have: lines, text to be marked, a route of a script."""


def lacks_anchor(fragment: str, headings: Iterable[str], read: Callable[[], str]) -> bool:
    """Tell whether no heading and no name of a document makes an anchor.

    Args:
        fragment: what stands behind ``#``, decoded.
        headings: the texts of the document's headings.
        read: gives the whole document, where the headings do not tell: an anchor that any line makes is there.
    """
    wanted = plain(fragment.removeprefix("user-content-"))
    if not wanted or _OF_THE_VIEW.match(fragment) or _makes(fragment, headings):
        return False
    text = read()
    if _INCLUDES.search(text):
        return False
    if any(plain(next(filter(None, match.groups()))) == wanted for match in _NAMED.finditer(text)):
        return False
    return not _makes(fragment, (line.lstrip(" \t>#*-=_|:").rstrip(" \t\r#*_|:") for line in text.split("\n")))


def plain(text: str) -> str:
    """Return the letters and digits of a text, in small letters and without accents."""
    letters = unicodedata.normalize("NFKD", text.lower())
    return "".join(one for one in letters if one.isalnum())


def _makes(fragment: str, headings: Iterable[str]) -> bool:
    forms = Counter(form for heading in headings for form in _forms(heading))
    fragment = fragment.removeprefix("user-content-")
    if plain(fragment) in forms:
        return True
    numbered = _NUMBERED.match(fragment)
    return numbered is not None and forms[plain(numbered[1])] > int(numbered[2])


def _forms(heading: str) -> set[str]:
    """Return what a heading may become: with and without its tags, attributes and the names of emoji."""
    shown = html.unescape(_TAG.sub("", _LINK.sub(r"\1", heading)))
    bare = _ATTRIBUTES.sub("", shown)
    return {plain(one) for one in (heading, shown, bare, _EMOJI.sub("", bare))} - {""}
