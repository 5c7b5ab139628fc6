"""Secrets: files that are not hydrated because of their name, and the masking of secrets in text.

The names lie in ``config/secrets.yaml``, the shapes in ``secret_shapes``. What is masked is listed, so
that a reader knows where text and file differ. A text is masked before it is clipped: a token cut in
two has no shape any more.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rtch.secret_shapes import Found, secrets_in

_ROUNDS = 4
"""A token beside another is told from a longer word only when the other is gone; more than two in a row are rare."""
_NAMES_FILE = Path(__file__).parent / "config" / "secrets.yaml"


_ROUNDS = 8


class MaskedSpan(NamedTuple):
    """A line that is not shown as it is; ``line`` counts from 0 at the text's first."""

    line: int
    kind: str


class MaskedText(NamedTuple):
    """A text with its secrets replaced, with as many lines as before.

    ``masked`` has one entry for each kind on each line touched, by line.
    """

    text: str
    masked: tuple[MaskedSpan, ...]


def secret_name(path: str) -> str | None:
    """Return why a file must not be hydrated, or None; only the end of its path is looked at."""
    parts = path.lower().rsplit("/", 2)
    rules, exempt, sieve = _name_rules()
    tail = "/".join(parts[-2:])
    if not (sieve.admits(parts[-1]) or sieve.admits(tail)) or exempt.match(parts[-1]):
        return None
    return next((reason for reason, pattern in rules if pattern.match(parts[-1]) or pattern.match(tail)), None)


def mask(text: str) -> MaskedText:
    """Replace each secret by ``[masked:kind]``.

    References to variables, look-ups and placeholders are no secrets. Masking again changes nothing.
    Bounds: time grows with the length of the text, whatever stands in it.
    """
    masked: set[MaskedSpan] = set()
    for _ in range(_ROUNDS):
        found = _disjoint(secrets_in(text))
        if not found:
            break
        text, lines = _replaced(text, found)
        masked |= lines
    return MaskedText(text, tuple(sorted(masked)))


def _replaced(text: str, found: list[Found]) -> tuple[str, set[MaskedSpan]]:
    """Return the text with what was found replaced, and the lines that this touched."""
    pieces: list[str] = []
    lines: set[MaskedSpan] = set()
    at = line = 0
    for start, end, kind in found:
        line += text.count("\n", at, start)
        feeds = text.count("\n", start, end)
        lines |= {MaskedSpan(line + n, kind) for n in range(feeds + 1)}
        pieces += (text[at:start], f"[masked:{kind}]", "\n" * feeds)
        at, line = end, line + feeds
    return "".join([*pieces, text[at:]]), lines


@lru_cache(maxsize=1)
def names_digest() -> str:
    """Return the sha256 of the name rules, for the key of whatever depends on them."""
    return hashlib.sha256(_NAMES_FILE.read_bytes()).hexdigest()


class _Sieve:
    """Tells by plain comparisons what no rule can match, which is almost every path of a tree."""

    def __init__(self, globs: list[str]) -> None:
        lower = [glob.lower() for glob in globs]
        plain = {kind: [g for g in lower if re.fullmatch(form, g)] for kind, form in _PLAIN.items()}
        self._whole = frozenset(plain["whole"])
        self._ends = tuple(glob[1:] for glob in plain["end"])
        self._beginnings = tuple(glob[:-1] for glob in plain["beginning"])
        known = {glob for some in plain.values() for glob in some}
        self._others = _any_of([glob for glob in lower if glob not in known] or ["?"])

    def admits(self, name: str) -> bool:
        return (
            name in self._whole
            or name.endswith(self._ends)
            or name.startswith(self._beginnings)
            or self._others.match(name) is not None
        )


_PLAIN = {"whole": r"[^*?\[]+", "end": r"\*[^*?\[]+", "beginning": r"[^*?\[]+\*"}
"""Globs that ask for a whole name, an end or a beginning."""


@lru_cache(maxsize=1)
def _name_rules() -> tuple[tuple[tuple[str, re.Pattern[str]], ...], re.Pattern[str], _Sieve]:
    import yaml  # noqa: PLC0415  40 ms that only a look at names is worth

    data = yaml.load(_NAMES_FILE.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  both are safe
    globs = [[*rule.get("names", ()), *rule.get("paths", ())] for rule in data["rules"]]
    rules = tuple((rule["reason"], _any_of(some)) for rule, some in zip(data["rules"], globs, strict=True))
    return rules, _any_of(data["except"]), _Sieve([glob for some in globs for glob in some])


def _any_of(globs: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(glob.lower()) for glob in globs))


def _disjoint(found: list[Found]) -> list[Found]:
    """Join spans that overlap; the kind is that of the first, and of the longest among those."""
    joined: list[Found] = []
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        if joined and span.start < joined[-1].end:
            joined[-1] = joined[-1]._replace(end=max(joined[-1].end, span.end))
        elif span.start < span.end:
            joined.append(span)
    return joined
