"""Whether a path is the one that a request names: whole, by its end, from another machine, or as a module."""

from __future__ import annotations

from collections.abc import Sequence

_INNER = frozenset({"__init__", "index", "mod"})
"""A file of such a name is its folder's module."""


def module_of(path: str) -> str:
    """Return the module that a file is, with slashes: its path without ending, or its folder."""
    folder, slash, name = path.rpartition("/")
    dot = name.rfind(".")
    name = name[:dot] if dot > 0 else name
    return folder if slash and name in _INNER else folder + slash + name


def path_match(path: str, named: str) -> float:
    """Return how surely a path is the one that was written: 1 with its folder, less by its name alone."""
    if path == named or path.endswith("/" + named):
        return 1.0 if "/" in named else 0.7
    tail = named.split("/")[-2:]
    return 0.6 if len(named.split("/")) > 2 and path.endswith("/".join(tail)) else 0.0


def same_file(path: str, named: str) -> bool:
    """Tell whether a path of a stack frame, from another machine perhaps, means a file: they end alike."""
    one, two = path.split("/"), named.split("/")
    length = 0
    while length < min(len(one), len(two)) and one[-1 - length] == two[-1 - length]:
        length += 1
    return length >= min(2, len(one), len(two))


def module_match(module: Sequence[str], names: Sequence[str]) -> float:
    """Return how surely a dotted name leads into a module, the more of its parts the surer."""
    for length in range(len(names), 1, -1):
        if list(module[-length:]) == list(names[:length]):
            return 0.5 + 0.5 * length / len(names)
    return 0.8 if len(names) >= 2 and names[-2].lower() == module[-1].lower() else 0.0
