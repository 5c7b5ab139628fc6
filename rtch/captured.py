"""What the repository's object store still has of the tree that a packet was made of; no program of it ever runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from rtch.anchors import MAX_FILE_BYTES
from rtch.errors import ToolError
from rtch.git import PrivateGit, find_repository, private_git
from rtch.repository import IgnoreSettings, Repository, RepositoryRefused

TIMEOUT_S = 10.0
"""Seconds for each call of git; reading some objects takes milliseconds."""
MAX_ALL_BYTES = 64 * 1024 * 1024
"""Of all blobs that are asked for at once."""
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NO_SETTINGS = IgnoreSettings({}, None)


class Captured:
    """The object store around a folder, asked when it is needed.

    Attributes:
        doubt: why it could not be asked; empty where it was, and where there is none.
    """

    def __init__(self, root: Path) -> None:
        """Take a zone root; nothing is looked at yet."""
        self._root = root
        self._repository: Repository | None = None
        self._looked = False
        self.doubt = ""

    def blobs(self, ids: Collection[str]) -> dict[str, bytes]:
        """Return the bytes of those blobs that are there.

        Bounds: ``MAX_FILE_BYTES`` each and ``MAX_ALL_BYTES`` together; others are left out.
        """
        wanted = sorted(one for one in set(ids) if _ID.fullmatch(one))
        found: dict[str, bytes] = {}

        def ask(git: PrivateGit) -> None:
            left, chosen = MAX_ALL_BYTES, []
            for name, row in zip(wanted, git.cat_file("--batch-check", wanted).decode().split("\n"), strict=False):
                _, kind, size = [*row.split(" "), "", ""][:3]
                if kind == "blob" and int(size) <= min(left, MAX_FILE_BYTES):
                    left -= int(size)
                    chosen.append(name)
            if chosen:
                found.update(zip(chosen, _contents(git.cat_file("--batch", chosen)), strict=True))

        self._with_git(ask, wanted)
        return found

    def absent_at(self, commit: str, names: Sequence[bytes]) -> frozenset[bytes]:
        """Return which of some paths of the zone a commit does not have; none where the commit is not known."""
        asked = [name for name in names if b"\n" not in name]
        absent: set[bytes] = set()

        def ask(git: PrivateGit) -> None:
            assert self._repository is not None
            below = self._root.resolve().relative_to(self._repository.top.resolve()).as_posix()
            prefix = "" if below == "." else f"{below}/"
            rows = [f"{commit}:{prefix}{os.fsdecode(name)}" for name in asked]
            answers = git.cat_file("--batch-check", [commit, *rows]).split(b"\n")
            if not answers[0].endswith(b" missing"):
                absent.update(name for name, row in zip(asked, answers[1:], strict=False) if row.endswith(b" missing"))

        self._with_git(ask, asked if _ID.fullmatch(commit) else ())
        return frozenset(absent)

    def _with_git(self, ask: Callable[[PrivateGit], None], wanted: Sequence[object]) -> None:
        if not wanted or self.doubt:
            return
        try:
            if not self._looked:
                self._looked = True
                self._repository = find_repository(self._root)
            if self._repository is not None:
                with private_git(self._repository, self._root, timeout_s=TIMEOUT_S, settings=_NO_SETTINGS) as git:
                    ask(git)
        except (ToolError, RepositoryRefused) as error:
            self.doubt = str(error)


def _contents(answer: bytes) -> Iterator[bytes]:
    """Yield the contents in what ``cat-file --batch`` wrote of objects that are there."""
    at = 0
    while at < len(answer):
        end = answer.index(b"\n", at)
        size = int(answer[at:end].rpartition(b" ")[2])
        yield answer[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
