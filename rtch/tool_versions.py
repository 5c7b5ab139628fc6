"""The versions of rg and git, remembered for the very file that told them: starting one takes longer than all else."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable

from rtch.errors import ToolError
from rtch.git import git_program, git_version
from rtch.rg_calls import rg_program, rg_version
from rtch.store import Store

_VERSION = re.compile(r"\d+(\.\d+)+")


def version_of_rg(store: Store) -> str:
    """Return rg's version.

    Raises:
        ToolError: it is missing or fails.
    """
    return _told(store, rg_program(), rg_version)


def version_of_git(store: Store) -> str:
    """Return git's version, empty where there is none that answers."""
    try:
        return _told(store, git_program(), git_version)
    except ToolError:
        return ""


def _told(store: Store, program: str, ask: Callable[[], str]) -> str:
    name = _same_file(program)
    known = (store.get_blob(name) or b"").decode("ascii", "replace") if name else ""
    if _VERSION.fullmatch(known):
        return known
    version = ask()
    if name:
        store.set_blob(name, version.encode())
    return version


def _same_file(program: str) -> str:
    """Return a name for the file as it is, empty where another program may answer behind the same file.

    A script starts whatever it likes, and so does what macOS keeps in ``/usr/bin``.
    """
    if sys.platform == "darwin" and program.startswith("/usr/bin/"):
        return ""
    try:
        with open(program, "rb") as file:  # noqa: PTH123  text, as it is found on PATH
            info, is_script = os.fstat(file.fileno()), file.read(2) == b"#!"
    except OSError:
        return ""
    told = repr((program, info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns))
    return "" if is_script else f"version/{hashlib.sha256(told.encode('utf-8', 'surrogateescape')).hexdigest()}"
