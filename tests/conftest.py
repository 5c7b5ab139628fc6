"""What tests of several folders share: ``driving``, and one Prefect server for all that need one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rtch.server import Server

# Tests are no package: what several folders share lies beside this file and is found by its name.
sys.path.insert(0, str(Path(__file__).parent))
pytest.register_assert_rewrite("driving", "scheduling")


def pytest_configure() -> None:
    """Take signals as a terminal's programs do: what a script starts in the background is told to ignore some."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


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
        found = server.up(timeout_s=600)  # a loaded machine takes minutes where an idle one takes seconds
        home = os.environ["RTCH_HOME"]
    yield found
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RTCH_HOME", home)
        server.down()
