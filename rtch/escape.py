"""Untrusted text in documents for people: what it may not do there, and how that is kept.

Text of a tree stands in fences longer than any in it, or in inline code; whatever moves a cursor, hides or
turns text around is written out. A boundary that stands nowhere in the text tells where copied text ends.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

_UNSEEN_ASCII = re.compile("[\x00-\x09\x0b-\x1f\x7f]")
_UNSEEN = (
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
_BACKTICKS = re.compile("`+")
_LANGUAGES = {
    "py": "python", "pyi": "python", "js": "javascript", "ts": "typescript", "go": "go", "rs": "rust", "java": "java",
    "c": "c", "h": "c", "cpp": "cpp", "rb": "ruby", "sh": "bash", "md": "markdown", "json": "json", "yaml": "yaml",
    "yml": "yaml", "toml": "toml",
}  # fmt: skip


def visible(text: object, *, lines: bool = False) -> str:
    r"""Write out what cannot be seen as ``\x1b`` or ``\u202e``.

    Args:
        text: any value.
        lines: keep tabs and line ends, CRLF as LF; otherwise the result is one line.
    """
    plain = str(text)
    if lines:
        return _unseen_in(plain).sub(
            lambda found: found[0] if found[0] == "\t" else _written(found[0]), plain.replace("\r\n", "\n")
        )
    return _unseen_in(plain).sub(lambda found: _written(found[0]), plain).replace("\n", "\\n")


def unseen(text: str) -> int:
    """Count what ``visible`` writes out in lines of text."""
    return sum(found != "\t" for found in _unseen_in(text).findall(text.replace("\r\n", "\n")))


def _unseen_in(text: str) -> re.Pattern[str]:
    """Return a pattern for this text; the one for all of Unicode takes 7 ms to compile and is kept by ``re``."""
    return _UNSEEN_ASCII if text.isascii() else re.compile(_UNSEEN)


def _written(char: str) -> str:
    code = ord(char)
    if char in "\t\r":
        return {"\t": "\\t", "\r": "\\r"}[char]
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def inline(text: object) -> str:
    """Return untrusted text as inline code on one line."""
    shown = visible(text)
    if not shown:
        return "` `"
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] in " `" or shown[-1] in " `" else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def cell(text: object) -> str:
    """Return untrusted text as inline code in a table, where a bar would end the cell."""
    return inline(visible(text).replace("|", "\\x7c"))


def some(values: Sequence[object], most: int = 12) -> str:
    """Return the first of some untrusted values as inline code, and how many more there are."""
    rest = len(values) - most
    return ", ".join(map(inline, values[:most])) + (f" and {rest} more" if rest > 0 else "")


def fenced(text: str, language: str = "") -> str:
    """Return untrusted text in a fence that it cannot close."""
    shown = visible(text, lines=True)
    fence = "`" * max(3, _longest_run(shown) + 1)
    end = "" if shown.endswith("\n") or not shown else "\n"
    return f"{fence}{language}\n{shown}{end}{fence}"


def language_of(path: str) -> str:
    """Return the name under which a path's text is highlighted, or empty text."""
    return _LANGUAGES.get(path.rsplit(".", 1)[-1], "") if "." in path else ""


def boundary(packet_id: str, texts: Iterable[str]) -> str:
    """Return 16 hexadecimal digits that follow from the packet's id and stand in none of the texts."""
    whole = "\n".join(texts)
    n = 0
    while (digits := hashlib.sha256(f"{packet_id} {n}".encode()).hexdigest()[:16]) in whole:
        n += 1
    return digits


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
