"""What tests of several folders share: one Prefect server for all that need one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rtch.server import Server


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Prefect server in a home of its own, for the whole session.

    A test sends its runs there with ``PREFECT_API_URL``, and keeps ``RTCH_HOME`` for itself.
    """
    from rtch import server  # noqa: PLC0415  most sessions need none of it

    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("PREFECT_")]:
            patch.delenv(name)
        patch.setenv("RTCH_HOME", str(tmp_path_factory.mktemp("prefect-server")))
        found = server.up()
        home = os.environ["RTCH_HOME"]
    yield found
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RTCH_HOME", home)
        server.down()
