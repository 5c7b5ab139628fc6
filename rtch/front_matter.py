"""Front matter: the keys a document carries before its text.

It is one only at the very start of a file (after a byte order mark), between fences that are whole
lines, and if what lies between is a mapping; a rule in the text, or a text that begins with one, is not.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from rtch.data_keys import KeyCollector, KeyScan
from rtch.models.features import FeatureLimits
from rtch.models.vocab import KeyKind
from rtch.toml_keys import scan_toml
from rtch.yaml_keys import scan_yaml

_OPEN = re.compile(r"(---|\+\+\+)[ \t\r]*\n")
_CLOSE = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t\r]*$", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t\r]*$", re.MULTILINE),
}
_MOST = 64_000
"""Characters within which it must be closed."""


class FrontMatter(NamedTuple):
    """The keys, with the line of the closing fence."""

    scan: KeyScan
    end_line: int


def front_matter(text: str, limits: FeatureLimits) -> FrontMatter | None:
    """Read the front matter of a text without byte order mark, or return None where there is none."""
    opened = _OPEN.match(text)
    if opened is None:
        return None
    closed = _CLOSE[opened[1]].search(text, opened.end(), opened.end() + _MOST)
    if closed is None:
        return None
    block = text[opened.end() : closed.start()]
    collector = KeyCollector(KeyKind.FRONT_MATTER, limits, first_line=2)
    if opened[1] == "---":
        is_mapping = scan_yaml(block, collector)
    else:
        scan_toml(block, collector)
        is_mapping = not collector.is_broken
    if not is_mapping:
        return None
    return FrontMatter(collector.scan(), text.count("\n", 0, closed.start()) + 1)
