"""References resolved: from what a file writes after ``import`` or ``include`` to the file it means."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

from rtch.named_paths import module_of

_ENDINGS = ("", ".py", ".ts", ".tsx", ".js", ".jsx", ".mjs", "/__init__.py", "/index.ts", "/index.js", ".rs")


class Imports:
    """Resolves references as they are written to files of the zone."""

    def __init__(self, paths: Iterable[str]) -> None:
        """Take every file of the zone, sorted."""
        self._paths = dict.fromkeys(paths)

    @cached_property
    def _modules(self) -> dict[str, list[tuple[str, str]]]:
        """Files and their modules with a slash before, by the module's last name; made when first asked for."""
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for path in self._paths:
            module = "/" + module_of(path)
            found[module.rpartition("/")[2]].append((path, module))
        return found

    def targets(self, path: str, references: Iterable[str]) -> Iterable[str]:
        """Yield the files that a file's references lead to; an ambiguous name leads nowhere."""
        for reference in references:
            found = self._relative(path, reference) if reference.startswith(".") else self._absolute(reference)
            yield from found

    def _relative(self, path: str, reference: str) -> Sequence[str]:
        folder = posixpath.dirname(path)
        if "/" in reference:
            base = posixpath.normpath(posixpath.join(folder, reference))
        else:
            dots = len(reference) - len(reference.lstrip("."))
            for _ in range(dots - 1):
                folder = posixpath.dirname(folder)
            base = posixpath.join(folder, *reference[dots:].split("."))
        for ending in _ENDINGS:
            if base + ending in self._paths:
                return (base + ending,)
        parent = posixpath.dirname(base)
        return tuple(one for one in (parent + ".py", parent + "/__init__.py") if one in self._paths and parent)

    def _absolute(self, reference: str) -> Sequence[str]:
        names = [name for name in re.split(r"[./:]+", reference) if name]
        for length in range(min(4, len(names)), 1, -1):
            for start in (0, 1):
                end = len(names) - start
                wanted = names[max(0, end - length) : end]
                tail = "/" + "/".join(wanted)
                same = self._modules.get(wanted[-1], ()) if wanted else ()
                found = [path for path, module in same if module.endswith(tail)]
                if 0 < len(found) <= 2:
                    return found
        return ()
