"""Keys of YAML, from parser events alone.

Nothing is composed or constructed: an alias stays one event, so a bomb of aliases costs what its
bytes cost, and no value is turned into what YAML 1.1 takes it for (``no``, ``1_000``, ``12:30``).
"""

from __future__ import annotations

import re

from rtch.data_keys import KeyCollector, KeyScan, join
from rtch.models.features import FeatureLimits
from rtch.models.vocab import CautionFlag, KeyKind

# YAML 1.1 breaks lines at these too; a line here is what ends in LF.
_OTHER_BREAKS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_TEMPLATE = re.compile(r"\{\{|\{%|<%")


class _Level:
    """One open mapping or sequence; ``path`` is None where keys are not kept."""

    __slots__ = ("child", "is_mapping", "key_next", "path", "seen")

    def __init__(self, path: str | None, *, is_mapping: bool) -> None:
        self.path = path
        self.is_mapping = is_mapping
        self.key_next = is_mapping
        self.seen: dict[str, int] = {}
        self.child = path if path is None or is_mapping else f"{path}[]"


class _Walk:
    """Follows events and hands keys to a collector."""

    def __init__(self, collector: KeyCollector) -> None:
        self._collector = collector
        self._stack: list[_Level] = []
        self.roots: set[bool] = set()
        """Whether each document is a mapping, as a set."""

    def scalar(self, value: str | None, line: int) -> None:
        """Take a scalar, or an alias as None, for the key or the value that is due."""
        if not self._stack:
            self.roots.add(False)  # noqa: FBT003  an answer, no switch
        self._node(value, line)

    def opened(self, line: int, *, is_mapping: bool) -> None:
        """Enter a mapping or sequence."""
        if not self._stack:
            self.roots.add(is_mapping)
        path = self._node(None, line)
        if len(self._stack) >= self._collector.limits.max_depth:
            self._collector.truncated = True
            path = None
        self._stack.append(_Level(path, is_mapping=is_mapping))

    def closed(self) -> None:
        """Leave a mapping or sequence."""
        self._stack.pop()

    def _node(self, name: str | None, line: int) -> str | None:
        """Return the path of a node that begins; None for a key, which has none of its own."""
        if not self._stack:
            return ""
        level = self._stack[-1]
        if not level.is_mapping:
            return level.child
        level.key_next = not level.key_next
        if level.key_next:
            return level.child
        level.child = None if name is None or level.path is None else self._key(level, level.path, name, line)
        return None

    def _key(self, level: _Level, prefix: str, name: str, line: int) -> str:
        path = join(prefix, name)
        if name in level.seen:
            self._collector.duplicate(path, line=line, first_line=level.seen[name])
        else:
            level.seen[name] = line
            self._collector.add(path, name, line)
        return path


def scan_yaml(text: str, collector: KeyCollector, *, complete: bool = True) -> bool:
    """Hand the keys of every document to the collector; those before an error are kept.

    Args:
        text: without a byte order mark.
        collector: what keeps the keys.
        complete: False when ``text`` was cut, so that an error in its last lines is no problem of the file's.

    Returns:
        Whether there was no error, and there are documents and all of them are mappings.
    """
    import yaml  # noqa: PLC0415  costs 30 ms, which a tree without YAML does not pay
    from yaml import events  # noqa: PLC0415

    walk = _Walk(collector)
    try:
        for event in yaml.parse(_OTHER_BREAKS.sub(" ", text), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if collector.full:
                break
            line = 1 if event.start_mark is None else event.start_mark.line + 1
            if isinstance(event, events.ScalarEvent):
                walk.scalar(event.value, line)
            elif isinstance(event, events.AliasEvent):
                walk.scalar(None, line)
            elif isinstance(event, events.CollectionStartEvent):
                walk.opened(line, is_mapping=isinstance(event, events.MappingStartEvent))
            elif isinstance(event, events.CollectionEndEvent):
                walk.closed()
    except yaml.YAMLError as error:
        line, detail = _where(error, text)
        if complete or line < text.count("\n"):
            collector.problem(CautionFlag.MALFORMED, line, detail)
        return False
    return walk.roots == {True}


def _where(error: Exception, text: str) -> tuple[int, str]:
    """Return the line of an error and one sentence."""
    mark = getattr(error, "problem_mark", None)
    lines = text.count("\n") + (not text.endswith("\n"))
    line = 1 if mark is None else min(mark.line + 1, max(lines, 1))
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
    detail = f"not YAML from here on: {problem}"
    return line, f"{detail} (the file looks like a template)" if _TEMPLATE.search(text) else detail


def yaml_keys(text: str, limits: FeatureLimits, *, complete: bool = True) -> KeyScan:
    """Collect the keys of all documents of a YAML stream."""
    collector = KeyCollector(KeyKind.YAML, limits)
    scan_yaml(text, collector, complete=complete)
    return collector.scan()
