"""The past of a generated tree: thirty commits of five authors, and a branch beside them, as one pack.

The last commit of ``main`` holds the tree as it is; the commits before it hold fewer files, and some of
them shorter. Dates, names and words are fixed, so that the same tree has the same commit ids everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO

BRANCH = "tides"
COMMITS = 30
BRANCHED_FROM = COMMITS - 3
"""How many commits ``main`` had when the other branch left it."""
FIRST_S, PACE_S = 1_673_254_800, 9 * 86_400
"""The first commit's time in seconds since 1970 and the pause between two."""
AUTHORS = ("Ada Keel", "Bo Sluice", "Cleo Wharf", "Dov Anchor", "Eve Lantern")
FAST_IMPORT = ("fast-import", "--quiet", "--done", "--depth=0")
"""Nothing is stored as a difference: searching for one takes longer than all the rest."""

_LATER = COMMITS - 1
Change = tuple[int, str]
"""The mark of a blob and the path that holds it from then on."""


@dataclass(slots=True)
class History:
    """Takes the files one by one and tells ``git fast-import`` when each came to be and grew."""

    stream: IO[bytes]
    words: Callable[[random.Random], str]
    on_main: dict[int, list[Change]] = field(default_factory=dict)
    on_branch: list[Change] = field(default_factory=list)
    files: int = 0
    marks: int = COMMITS + 1
    """The first marks are the commits'."""

    def add(self, path: str, body: bytes) -> None:
        """Give a file its place in the past: three in four are there from the first commit on."""
        number, self.files = self.files, self.files + 1
        born = 0 if number % 4 else 1 + (number // 12 * 7) % _LATER
        grown = 1 + (number * 5) % _LATER
        if number % 10 == 7 and grown > born:
            self._change(born, self._blob(_beginning(body, 2)), path)
            born = grown
        self._change(born, self._blob(body), path)
        if number % 97 == 3:
            self.on_branch.append((self._blob(_beginning(body, 4)), path))

    def finish(self) -> None:
        """Write the commits; the stream is left open."""
        rng = random.Random(COMMITS)
        for number in range(COMMITS):
            self._commit("main", number, self.words(rng), self.on_main.get(number, []))
        self._commit(BRANCH, COMMITS, self.words(rng), self.on_branch, after=BRANCHED_FROM)
        self.stream.write(b"done\n")

    def _blob(self, body: bytes) -> int:
        self.marks += 1
        self.stream.write(b"blob\nmark :%d\ndata %d\n%b\n" % (self.marks, len(body), body))
        return self.marks

    def _change(self, commit: int, mark: int, path: str) -> None:
        self.on_main.setdefault(commit, []).append((mark, path))

    def _commit(self, branch: str, number: int, message: str, changes: list[Change], *, after: int = 0) -> None:
        name = AUTHORS[number * number % len(AUTHORS)]
        who = f"{name} <{name.split()[0].lower()}@example.test> {FIRST_S + number * PACE_S} +0000"
        head = f"commit refs/heads/{branch}\nmark :{number + 1}\nauthor {who}\ncommitter {who}\n"
        parent = f"from :{after}\n" if after else ""
        rows = "".join(f"M 100644 :{mark} {path}\n" for mark, path in changes)
        text = message.encode()
        self.stream.write(b"%bdata %d\n%b\n%b%b\n" % (head.encode(), len(text), text, parent.encode(), rows.encode()))


def _beginning(body: bytes, parts: int) -> bytes:
    """Return a file less its last part of so many, cut between lines."""
    return body[: body.rfind(b"\n", 0, len(body) - len(body) // parts) + 1]
