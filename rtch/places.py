"""Where the store lies: in the user's cache folder, or where ``RTCH_STORE`` says, for several machines at once."""

from __future__ import annotations

import math
import os
from pathlib import Path

from rtch import home
from rtch.errors import IntakeError
from rtch.rows import FallbackRows, Rows

VARIABLE = "RTCH_STORE"
PAUSE_S = 30.0
"""How long a URL that failed is left alone: a process that lives long must find it again."""


def store_place() -> str:
    """Return the folder or the URL of the store.

    Raises:
        ArtifactError: there is no folder for it.
        IntakeError: the environment names something that is no URL.
    """
    named = os.environ.get(VARIABLE, "")
    if not named:
        return str(home.store_dir())
    if not is_url(named):
        raise IntakeError(f"{VARIABLE} is {named}, which is no URL", hint="write it as file:///shared/rtch")
    return named.rstrip("/")


def own_folder() -> Path | None:
    """Return the folder that a URL of the store leads to, so that it is left out of a scan; None for any other."""
    scheme, _, path = os.environ.get(VARIABLE, "").partition("://")
    return Path(path) if scheme in {"file", "local"} and path else None


def is_url(place: str) -> bool:
    """Tell a URL from a folder."""
    return "://" in place


def rows_at(place: str, timeout_s: float | None = None) -> Rows:
    """Return the rows of a place; one that cannot be used keeps them in memory, and says so.

    Args:
        place: a folder's absolute path, or a URL.
        timeout_s: how long a write to a folder waits for other processes; None takes ``diskrows.TIMEOUT_S``.
    """

    def on_disk() -> Rows:
        from rtch.diskrows import TIMEOUT_S, DiskRows  # noqa: PLC0415  diskcache costs 20 ms that --no-cache need not pay

        return DiskRows(Path(place), timeout_s=TIMEOUT_S if timeout_s is None else timeout_s)

    def elsewhere() -> Rows:
        from rtch.urlrows import UrlRows  # noqa: PLC0415  most stores are folders

        return UrlRows(place)

    return FallbackRows(elsewhere, pause_s=PAUSE_S) if is_url(place) else FallbackRows(on_disk, pause_s=math.inf)
