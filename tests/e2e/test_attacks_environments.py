"""rtch may be started from anywhere: with closed streams, in a folder that is gone, with escapes as arguments."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from driving import RTCH, Ask, Ran, Rtch, plant

HARPOON = Ask("Where is harpoon defined", ["harpoon"])


@pytest.fixture(scope="module")
def rtch(tmp_path_factory: pytest.TempPathFactory) -> Rtch:
    return Rtch(tmp_path_factory.mktemp("home"))


def shell(rtch: Rtch, script: str, cwd: Path) -> Ran:
    ran = subprocess.run(
        ["/bin/sh", "-c", script], cwd=cwd, env=rtch.env(), capture_output=True, check=False, timeout=60
    )
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_crash_and_no_file_takes_their_place(rtch: Rtch, tmp_path: Path, closed: str) -> None:
    plant(tmp_path, {"a.py": "harpoon = 1\n"})
    command = shlex.join([RTCH, "hydrate", "--root", str(tmp_path), *HARPOON.flags(), "--format", "json"])
    ran = shell(rtch, f"{command} {closed}", tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert shell(rtch, f"{RTCH} read a.py --root {shlex.quote(str(tmp_path))} {closed}", tmp_path).code == 0
    assert rtch.hydrate(tmp_path, HARPOON)["selected_surfaces"]


def test_a_working_folder_that_is_gone_is_no_root(rtch: Rtch, tmp_path: Path) -> None:
    command = shlex.join([RTCH, "hydrate", *HARPOON.flags()])
    ran = shell(rtch, f"mkdir gone; cd gone; rmdir ../gone; {command}", tmp_path)
    assert (ran.code, ran.out) == (3, "")
    assert "--root" in ran.err


@pytest.mark.parametrize("argument", ["--\x1b[31m", "--root=/\x1b[31m", "--preset=\x1b[31m", "--fanout=\x1b[31m"])
def test_no_argument_reaches_a_terminal_as_it_is(rtch: Rtch, argument: str) -> None:
    ran = rtch.run("hydrate", *HARPOON.flags(), argument)
    assert ran.code in {2, 3}
    assert "\x1b" not in ran.out + ran.err
