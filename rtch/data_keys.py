"""Keys of structured data, whatever the notation: how paths are written, and what is kept.

The scanners (``json_keys``, ``yaml_keys``, ``toml_keys``) find the keys and never build the
values: a value may be a bomb of aliases, an integer of a million digits or nested without end.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from rtch.models.features import FeatureLimits, Key, Problem
from rtch.models.vocab import CautionFlag, KeyKind

MAX_PROBLEMS = 20
"""Problems of one file that are kept: enough to see the kind, and a file of broken rows stays small."""

_PLAIN = re.compile(r'[^\s."\'\[\]]+')


class KeyScan(NamedTuple):
    """What a scanner saw: keys by line, each path once, at its first line."""

    keys: tuple[Key, ...]
    problems: tuple[Problem, ...]
    truncated: bool


class KeyCollector:
    """Keeps distinct key paths up to the limits, and reports a key that one mapping has twice."""

    def __init__(self, kind: KeyKind, limits: FeatureLimits, *, first_line: int = 1) -> None:
        self.kind = kind
        self.limits = limits
        self.truncated = False
        self.full = False
        self.is_broken = False
        self._offset = first_line - 1
        self._keys: dict[str, Key] = {}
        self._problems: list[Problem] = []

    def add(self, path: str, name: str, line: int) -> None:
        """Keep one key by its dotted path, unless it is known or the limit is reached."""
        if path in self._keys:
            return
        if len(self._keys) >= self.limits.max_keys:
            self.truncated = self.full = True
            return
        self._keys[path] = Key(clip(name, self.limits.max_text), path, self.kind, line + self._offset)

    def duplicate(self, path: str, *, line: int, first_line: int) -> None:
        """Report that a mapping has a key twice; most readers take the last one silently."""
        first = first_line + self._offset
        self.problem(CautionFlag.DUPLICATE_KEY, line, f"key {path} is already set at line {first}")

    def problem(self, flag: CautionFlag, line: int, detail: str) -> None:
        """Keep one problem, up to a small number."""
        self.is_broken |= flag is CautionFlag.MALFORMED
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(Problem(flag, line + self._offset, detail))
        else:
            self.truncated = True

    def scan(self) -> KeyScan:
        """Return what was kept."""
        keys = tuple(sorted(self._keys.values(), key=lambda key: key.line))
        return KeyScan(keys, tuple(self._problems), self.truncated)


def join(prefix: str, name: str) -> str:
    """Return the dotted path of a key; a name with dots, blanks, quotes or brackets is quoted as in JSON."""
    part = name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)
    return f"{prefix}.{part}" if prefix else part


def clip(text: str, max_text: int) -> str:
    """Return at most that many characters; the last of a longer text is an ellipsis."""
    return text if len(text) <= max_text else text[: max_text - 1] + "…"


def ceiling(kept: int, total: int) -> Problem:
    """Return the problem of a file that was scanned in part, in true numbers."""
    return Problem(CautionFlag.COST_CEILING, 1, f"the first {kept:,} of {total:,} bytes were scanned")
