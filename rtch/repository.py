"""What is known of a repository: where it keeps what, its index as git lists it, and git's words read.

Nothing here starts git; ``git`` does.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rtch.errors import RtchError
from rtch.models.vocab import CautionFlag

_GITLINK = b"160000 "
"""How a submodule's row of the index begins."""


class RepositoryRefused(RtchError):  # noqa: N818  reported as a note; the tree is then listed without it
    """There is a repository, and git or rtch will not use it."""

    exit_code = 3

    def __init__(self, flag: CautionFlag, detail: str) -> None:
        super().__init__(detail)
        self.flag = flag
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a repository keeps what, all absolute."""

    top: Path
    git_dir: Path
    common_dir: Path
    object_format: str


@dataclass(frozen=True, slots=True)
class HeadInfo:
    """What is checked out; both are None where there is no commit or branch."""

    commit: str | None
    branch: str | None


@dataclass(frozen=True, slots=True)
class Tracked:
    """The index as ``ls-files -s -z`` writes it; kept as it is, for rows would take three times as much."""

    listed: bytes = field(repr=False)
    id_chars: int

    def names(self) -> list[bytes]:
        """Return every tracked path, relative to the listed folder, in git's order, each once."""
        skip = self.id_chars + 10
        return list(dict.fromkeys([record[skip:] for record in self._records()]))

    def gitlinks(self) -> frozenset[bytes]:
        """Return the submodules among them."""
        if _GITLINK not in self.listed:
            return frozenset()
        skip = self.id_chars + 10
        return frozenset(record[skip:] for record in self._records() if record.startswith(_GITLINK))

    def blob_ids(self, wanted: Collection[bytes]) -> dict[bytes, str]:
        """Return the blob ids of those paths that are merged entries."""
        end = 7 + self.id_chars
        rows = ((record[end + 3 :], record) for record in self._records())
        return {
            name: record[7:end].decode()
            for name, record in rows
            if name in wanted and record[end + 1 : end + 2] == b"0"
        }

    def digest(self) -> bytes:
        """Return a digest of the names and of which are submodules: all of an index that a list follows from."""
        hasher = hashlib.sha256(b"\0".join(self.names()))
        hasher.update(b"\0\0" + b"\0".join(sorted(self.gitlinks())))
        return hasher.digest()

    def _records(self) -> list[bytes]:
        return self.listed.split(b"\0")[:-1]


@dataclass(frozen=True, slots=True)
class IgnoreSettings:
    """What the configuration says about ignoring: the repository's two keys, and the user's file."""

    local: Mapping[str, str]
    user: str | None

    def rules_file(self, base: Path) -> Path | None:
        """Return the file that core.excludesFile names; None where nobody sets it, so that git's default counts."""
        named = self.local.get("core.excludesfile", self.user)
        return None if named is None else base / Path(named).expanduser()


def check_absence(complaint: str) -> None:
    """Raise unless the complaint only says that there is no repository with a work tree."""
    if "not a git repository" in complaint or "must be run in a work tree" in complaint:
        return
    if "dubious ownership" in complaint:
        raise RepositoryRefused(
            CautionFlag.REPOSITORY_REFUSED, "the repository belongs to another user (git's safe.directory)"
        )
    if "cannot use bare repository" in complaint:
        return
    first = complaint.strip().partition("\n")[0]
    raise RepositoryRefused(CautionFlag.TOOL_FAILED, f"git cannot read the repository: {printable(first)}")


def regular_bytes(path: Path, max_bytes: int, *, follow: bool = False, start: bool = False) -> bytes | None:
    """Return a regular file's bytes, or None; never waits, as a FIFO would make it.

    Of a larger file than the limit nothing is returned, or its start where that is asked for.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError):
        return None
    with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123  a descriptor
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > max_bytes:
            return file.read(max_bytes) if start else None
        return file.readall()


def alternate_list(objects: Path) -> str:
    """Return a path for a list that is separated by colons, quoted where it holds one."""
    text = str(objects)
    if not set(text) & set(':"\n\\'):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def printable(text: str) -> str:
    """Return text of a foreign tree as one line without control characters and lone surrogates."""
    clean = text.encode("utf-8", "replace").decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in clean)


def unopened_folders(complaints: Iterable[str]) -> list[str]:
    """Return the folder names in git's complaints that it could not open."""
    found = (re.match(r"warning: could not open directory '(.*)/?': ", line) for line in complaints)
    return [match.group(1).rstrip("/") for match in found if match]


def config_text(repository: Repository | None, settings: IgnoreSettings) -> str:
    """Return the whole config of a private git dir."""
    sha256 = repository is not None and repository.object_format == "sha256"
    ignore_case = settings.local.get("core.ignorecase", "").lower() in {"true", "yes", "on", "1"}
    lines = [
        "[core]",
        f"repositoryformatversion={1 if sha256 else 0}",
        "bare=false",
        "fsmonitor=false",
        # The index may carry a list of untracked files made by its author: not believed.
        "untrackedCache=false",
        "sparseCheckout=true",
        "sparseCheckoutCone=true",
        *(["ignoreCase=true"] if ignore_case else []),
        "[index]",
        "sparse=true",
        *(["[extensions]", "objectFormat=sha256"] if sha256 else []),
    ]
    return "\n".join(lines) + "\n"
