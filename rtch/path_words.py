"""Which paths bear a word, found in one text of all paths: 40,000 of them one by one would take half a second."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from rtch.words import beginning, text_tokens

_SEPARATORS = re.compile(r"[^\w\n/]+|_+")
_ASCII_SEPARATORS = bytes(i for i in range(128) if not chr(i).isalnum() and chr(i) not in "\n/")


def plain(text: str) -> str:
    """Return text as it is looked for in a path: without case, and without separators other than the slash.

    Folded and not lower-cased, for how a letter is lowered may depend on what follows it (the last sigma of a word).
    """
    folded = text.casefold()
    if folded.isascii():
        return folded.encode().translate(None, _ASCII_SEPARATORS).decode()
    return _SEPARATORS.sub("", folded)


class PathWords:
    """The paths of a listing, to be asked for words.

    Args:
        paths: sorted.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        text = "\n".join(paths)
        if text.isascii() and text.count("\n") == max(0, len(paths) - 1):
            text = plain(text)
        else:  # by itself, a path of other letters does not make the rest slow: 0.1 s for 100,000, and not 0.9 s
            text = "\n".join([plain(path.replace("\n", " ")) for path in paths])
        self._text = text
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def holding(self, piece: str) -> list[int]:
        """Return the indices of the paths that hold a piece, whatever case and separators both have; ascending.

        A piece of separators alone is in none.
        """
        piece = plain(piece.replace("\n", " "))
        found: list[int] = []
        at = self._text.find(piece) if piece.strip("/") else -1
        while at >= 0:
            i = bisect_right(self._starts, at) - 1
            found.append(i)
            at = self._text.find(piece, self._starts[i + 1]) if i + 1 < len(self._starts) else -1
        return found

    def holding_any(self, pieces: Iterable[str]) -> list[str]:
        """Return, in order, the paths that hold any of some pieces."""
        found = {i for piece in pieces for i in self.holding(piece)}
        return [self.paths[i] for i in sorted(found)]

    def ending_like(self, names: Iterable[str]) -> list[str]:
        """Return, in order, the paths that hold the last part of any of some paths or names."""
        return self.holding_any(name.rstrip("/").rpartition("/")[2] for name in names)

    def bearing(self, tokens: Collection[str]) -> dict[str, Counter[str]]:
        """Return, a path, how often it bears each of some tokens (``words.text_tokens``)."""
        candidates = {i for token in tokens for i in self.holding(beginning(token))}
        folders: dict[str, Counter[str]] = {}
        found: dict[str, Counter[str]] = {}
        for i in sorted(candidates):
            path = self.paths[i]
            folder, _, name = path.rpartition("/")
            above = folders.get(folder)
            if above is None:
                above = folders[folder] = Counter(token for token in text_tokens(folder) if token in tokens)
            own = [token for token in text_tokens(name) if token in tokens]
            if own or above:
                found[path] = above + Counter(own) if own else above
        return found
