"""Since which commit something is as it is, where git can tell; no program or configuration of the repository runs.

Only commits are told of. What is in none yet is ``UNCOMMITTED``; where nothing tells, there is None.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from rtch.anchors import MAX_FILE_BYTES, FileNow, Lines, Unsure, mapped
from rtch.errors import RtchError, ToolError
from rtch.git import PrivateGit, find_repository, head_of, private_git
from rtch.models.drift import Commit
from rtch.reading import SkippedFile, open_regular
from rtch.reentry import path_bytes
from rtch.repository import IgnoreSettings, Repository, RepositoryRefused, regular_bytes

CALL_S = 2.0
"""Seconds for one question; one takes 0.03 s in a history of some hundred commits, and 0.3 s in one of 20,000."""
ALL_S = 10.0
"""Seconds for all questions to one history; past them it says nothing."""
MAX_TOLD = 200
"""Characters of a name or a summary."""
UNCOMMITTED = Commit(id="", date="", summary="in no commit yet")
"""What is so in the work tree and in no commit; told by its empty id."""
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_NO_SETTINGS = IgnoreSettings({}, None)
_MAX_SHALLOW_BYTES = 4 << 20
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes", "--encoding=UTF-8")
_FIELDS = "--format=%x00%H%x00%ct%x00%an%x00%s%x00"


class _LogGit(PrivateGit):
    """A private git that reads commits as well."""

    def __init__(self, git: PrivateGit) -> None:
        vars(self).update(vars(git))

    def newest(self, *words: str | bytes) -> list[str]:
        """Return id, time, author and summary of the first commit that ``log`` tells of; nothing without one."""
        done = self._ask("log", "-n1", *_PLAIN, _FIELDS, *words)
        if done.returncode != 0:
            raise self._failed("read the log", done)
        return done.stdout.decode("utf-8", "replace").split("\0")[1:5]

    def entry(self, commit: str, name: bytes) -> tuple[str, str]:
        """Return what kind of object a commit has at a path, and its id; empty where it has none."""
        done = self._ask("ls-tree", "-z", "--full-tree", commit, "--", name)
        if done.returncode != 0:
            raise self._failed("read a tree", done)
        _, kind, blob = [*done.stdout.split(b"\t", maxsplit=1)[0].decode().split(" "), "", ""][:3]
        return kind, blob

    def has_commit(self, commit: str) -> bool:
        """Tell whether a commit is in the store."""
        return self.cat_file("--batch-check", [commit]).split(b" ")[1:2] == [b"commit"]


class History:
    """The commits behind a zone, asked for one path at a time.

    Attributes:
        doubt: why something could not be asked; empty where all could, and where there is no repository.
    """

    def __init__(self, root: Path, repository: Repository | None = None, *, after: str = "") -> None:
        """Take a zone; nothing is looked at yet.

        Args:
            root: the zone root.
            repository: the one around it, where it is known; else it is looked for.
            after: the id of a commit; it and what is before it are not told of, if it is known.
        """
        self._root = root
        self._given = repository
        self._after = after if _ID.fullmatch(after) else ""
        self._left = ALL_S
        self.doubt = ""

    def changed(self, path: str, lines: tuple[int, int] | None, *, encoded: bool = False) -> Commit | None:
        """Return the newest commit that touched lines of a file, or the file.

        Args:
            path: relative to the zone root.
            lines: first and last, as the work tree has them; None for the whole file.
            encoded: whether the path is percent-encoded.
        """

        def ask(git: _LogGit, head: str, name: bytes) -> Commit | None:
            kind, blob = git.entry(head, name)
            if kind != "blob":
                return None if kind else UNCOMMITTED
            now = self._now(path_bytes(path, encoded=encoded), path)
            was = git.cat_file("--batch", [blob]).split(b"\n", maxsplit=1)[1][:-1]
            if lines is None:
                same = now is None or _plain(now) == _plain(was)
                return self._told(git.newest(*self._range(git, head), "--", name)) if same else UNCOMMITTED
            there = _in_commit(now, was, Lines(*lines))
            if there is None:
                return UNCOMMITTED
            words = ("-s", b"-L%d,%d:%b" % (*there, name))
            return self._told(git.newest(*words, *self._range(git, head)))

        return self._asked(ask, path, encoded=encoded)

    def removed(self, path: str, *, encoded: bool = False) -> Commit | None:
        """Return the newest commit that took a path away; a rename takes the old path away."""

        def ask(git: _LogGit, head: str, name: bytes) -> Commit | None:
            kind, _ = git.entry(head, name)
            if kind:
                return UNCOMMITTED if kind == "blob" else None
            words = ("--no-renames", "--diff-filter=D", *self._range(git, head))
            return self._told(git.newest(*words, "--", name))

        return self._asked(ask, path, encoded=encoded)

    def added(self, path: str, *, encoded: bool = False) -> Commit | None:
        """Return the newest commit that brought a path which is there now; a rename brings the new path."""

        def ask(git: _LogGit, head: str, name: bytes) -> Commit | None:
            if git.entry(head, name)[0] != "blob":
                return UNCOMMITTED
            words = ("--no-renames", "--diff-filter=A", *self._range(git, head))
            return self._told(git.newest(*words, "--", name))

        return self._asked(ask, path, encoded=encoded)

    # -- asking --------------------------------------------------------------------------------

    @cached_property
    def _repository(self) -> Repository | None:
        return self._given or find_repository(self._root)

    @cached_property
    def _head(self) -> str:
        assert self._repository is not None
        return head_of(self._repository).commit or ""

    @cached_property
    def _edge(self) -> frozenset[str]:
        """The commits of a shallow clone that look as if they had brought everything."""
        assert self._repository is not None
        listed = regular_bytes(self._repository.common_dir / "shallow", _MAX_SHALLOW_BYTES) or b""
        return frozenset(listed.decode("ascii", "replace").split())

    def _asked(self, ask: Callable[[_LogGit, str, bytes], Commit | None], path: str, *, encoded: bool) -> Commit | None:
        name = path_bytes(path, encoded=encoded)
        if self._left <= 0 or not name or b"\0" in name:
            return None
        begun = time.monotonic()
        try:
            if self._repository is None:
                return None
            top = self._repository.top.resolve()
            below = os.fsencode(self._root.resolve().relative_to(top))
            if not self._head:
                return UNCOMMITTED
            limit = min(CALL_S, self._left)
            with private_git(self._repository, top, timeout_s=limit, settings=_NO_SETTINGS) as git:
                return ask(_LogGit(git), self._head, name if below == b"." else below + b"/" + name)
        except (ToolError, RepositoryRefused, Unsure) as error:
            self.doubt = self.doubt or str(error)
            return None
        finally:
            self._left -= time.monotonic() - begun
            if self._left <= 0:
                self.doubt = self.doubt or f"asking git took {ALL_S:g} s"

    def _range(self, git: _LogGit, head: str) -> tuple[str, ...]:
        if self._after and not self._after_is_known(git):
            self._after = ""
        return (head, *([f"^{self._after}"] if self._after else []))

    def _after_is_known(self, git: _LogGit) -> bool:
        try:
            return git.has_commit(self._after)
        except RtchError:
            return False

    def _now(self, name: bytes, path: str) -> bytes | None:
        """Return a file's bytes in the work tree; None where they cannot be read."""
        try:
            with open_regular(os.fsencode(self._root), name, path) as file:
                return file.pread(0, file.row.size) if file.row.size <= MAX_FILE_BYTES else None
        except SkippedFile:
            return None

    def _told(self, fields: list[str]) -> Commit | None:
        if len(fields) < 4 or fields[0] in self._edge:
            return None
        commit, seconds, author, summary = fields
        try:
            date = datetime.fromtimestamp(int(seconds), UTC).isoformat()
        except (ValueError, OverflowError, OSError):
            return None
        return Commit(id=commit, date=date, author=_clean(author), summary=_clean(summary))


def _in_commit(now: bytes | None, was: bytes, lines: Lines) -> Lines | None:
    """Return where lines of the work tree are in the commit; None where they are not in it as they are."""
    if now is None or now == was:
        return lines
    new, old = FileNow("", encoded=False, data=now).texts, FileNow("", encoded=False, data=was).texts
    if lines.end > len(new):
        return None
    there = mapped(new, old, lines).lines
    same = there is not None and old[there.start - 1 : there.end] == new[lines.start - 1 : lines.end]
    return there if same else None


def _plain(data: bytes) -> bytes:
    """Return bytes as git keeps them where it keeps line ends as LF."""
    return data.replace(b"\r\n", b"\n")


def _clean(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()[:MAX_TOLD]
