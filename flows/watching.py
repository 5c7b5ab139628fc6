"""A run whose server dies is given up in seconds: Prefect's client would wait a minute, for each of its requests.

Its patience is for servers that are busy or far away. A server of ours that is gone is a process that has ended, and
that can be seen.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from rtch import daemon
from rtch.server import Server

LOOK_S = 0.5


def is_gone(server: Server) -> bool:
    """Tell whether a server of ours is known to have ended."""
    return server.ours and daemon.process_start(server.pid) != server.started


@contextlib.contextmanager
def no_patience_without(server: Server) -> Iterator[None]:
    """Let requests fail at once, in the settings that are in force, from when a server's process has ended.

    Args:
        server: one of ours; of others nothing can be seen, and nothing is changed.
    """
    if not server.ours:
        yield
        return
    from prefect.settings import get_current_settings  # noqa: PLC0415  read with its settings in place

    settings: Any = get_current_settings()
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_S):
            if is_gone(server):
                object.__setattr__(settings.client, "max_retries", 0)
                return

    watch = threading.Thread(target=look, name="rtch-server-watch", daemon=True)
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()
