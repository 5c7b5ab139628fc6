"""Several machines on one: hosts with an installation, a home and an address of their own, and what runs on them.

Where network namespaces can be made, each host is one: it has an interface of its own, and neither the checkout nor
the homes of the others are there. Elsewhere they are homes alone, and all are at the loopback address.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
START_S = 180.0
LOOPBACK = "127.0.0.1"
CLIENT = "client"
HIDDEN = ("rtch", "tasks", "flows", "config", "tests")
"""Folders of the checkout that no other host has."""


def free_port(address: str = LOOPBACK) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def running(
    argv: Sequence[str], env: dict[str, str], log: Path, user: str | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Keep a program running, and end it at the end of the block."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            argv, env=env, cwd=log.parent, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            user=user, group=user, extra_groups=None if user is None else [],
        )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


def wait_until(answers: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        if answers():
            return
        time.sleep(0.2)
    pytest.fail(f"{process.args!r} did not answer: {log.read_text()[-2000:]}")


def listens(address: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((address, port), 1):
        return True
    return False


@dataclass(frozen=True, slots=True)
class Host:
    """A machine: where its things lie, how a program is run on it, and where it is reached."""

    folder: Path
    address: str
    prefix: tuple[str, ...]

    @property
    def bin(self) -> Path:
        """Where its own programs are: python, rtch, prefect, rg."""
        return self.folder / "venv" / "bin"

    def argv(self, program: str, *arguments: str) -> list[str]:
        return [*self.prefix, str(self.bin / program), *arguments]

    def env(self, **more: str) -> dict[str, str]:
        """Return an environment made from nothing; no path to Python modules is among it."""
        home = {"HOME": str(self.folder / "home"), "PREFECT_HOME": str(self.folder / "home" / "prefect")}
        quiet = {"DO_NOT_TRACK": "1", "PREFECT_LOGGING_LEVEL": "WARNING", "LC_ALL": "C.UTF-8"}
        path = f"{self.bin}:{os.environ.get('PATH', os.defpath)}"
        dask = {"DASK_TEMPORARY_DIRECTORY": str(self.folder / "dask")}
        return {"PATH": path} | home | quiet | dask | more

    def run(self, program: str, *arguments: str, timeout: float = 120, **more: str) -> str:
        """Run a program to its end and return what it printed; one that fails fails the test."""
        ran = subprocess.run(
            self.argv(program, *arguments), env=self.env(**more), cwd=self.folder, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=timeout,
        )  # fmt: skip
        assert ran.returncode == 0, (ran.args, ran.stdout[-1000:], ran.stderr[-3000:])
        return ran.stdout


def _installed(folder: Path, package: Path) -> None:
    """Install rtch as a wheel does: a copy of the package, beside packages that are not ours."""
    site = folder / "site"
    # Links become folders, as in a wheel.
    shutil.copytree(package, site / "rtch", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    (found,) = (folder / "venv").glob("lib/python*/site-packages")
    # A line of a .pth file adds a folder and does not follow the .pth files in it: not the editable checkout.
    others = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *_more_packages()))
    (found / "host.pth").write_text("\n".join([str(site), *others]) + "\n")
    for program, module in (("rtch", "rtch.cli.main:entry"), ("prefect", "prefect.cli:app")):
        name, _, call = module.partition(":")
        run = f'if __name__ == "__main__":\n    sys.exit({call}())\n'
        script = f"#!{folder}/venv/bin/python -P\nimport sys\nfrom {name} import {call}\n{run}"
        (folder / "venv" / "bin" / program).write_text(script)
        (folder / "venv" / "bin" / program).chmod(0o755)
    (folder / "venv" / "bin" / "rg").symlink_to(Path(sys.executable).with_name("rg"))
    (folder / "home").mkdir()


def _more_packages() -> list[str]:
    return [path for path in sys.path if path.endswith("site-packages")]


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=20)


@contextlib.contextmanager
def network(folder: Path, names: Sequence[str]) -> Iterator[tuple[str, list[Host]]]:
    """Make hosts below a folder; yield the address at which they reach this machine, and the hosts.

    The last of them is this machine itself, with an installation as the others have: who asks.
    """
    mark = f"{os.getpid() % 10_000:04d}"
    subnet = f"10.203.{os.getpid() % 250}"
    with contextlib.ExitStack() as undo:
        try:
            _ip("link", "add", f"rtb{mark}", "type", "bridge")
            undo.callback(_ip, "link", "del", f"rtb{mark}")
            _ip("addr", "add", f"{subnet}.1/24", "dev", f"rtb{mark}")
            _ip("link", "set", f"rtb{mark}", "up")
            for number, _ in enumerate(names):
                space, outer, inner = f"rtn{mark}{number}", f"rto{mark}{number}", f"rti{mark}{number}"
                _ip("netns", "add", space)
                undo.callback(_ip, "netns", "del", space)
                _ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", space)
                _ip("link", "set", outer, "master", f"rtb{mark}", "up")
                _ip("-n", space, "addr", "add", f"{subnet}.{number + 2}/24", "dev", inner)
                _ip("-n", space, "link", "set", inner, "up")
                _ip("-n", space, "link", "set", "lo", "up")
            separate = True
        except (OSError, subprocess.SubprocessError):
            undo.close()
            separate = False
        _installed(folder / CLIENT, ROOT / "rtch")
        for name in names:  # from one copy, for the checkout may be worked on
            _installed(folder / name, folder / CLIENT / "site" / "rtch")
        hosts = []
        for number, name in enumerate(names):
            prefix = _prefix(folder, names, number, mark) if separate else ()
            hosts.append(Host(folder / name, f"{subnet}.{number + 2}" if separate else LOOPBACK, prefix))
        here = f"{subnet}.1" if separate else LOOPBACK
        yield here, [*hosts, Host(folder / CLIENT, here, ())]


def _prefix(folder: Path, names: Sequence[str], number: int, mark: str) -> tuple[str, ...]:
    """Return what is put before a command so that it runs on a host: the others' homes and the checkout are empty."""
    others = [folder / name for place, name in enumerate(names) if place != number]
    empty = [*others, *(ROOT / name for name in HIDDEN), folder / CLIENT]
    mounts = " && ".join(f"mount -t tmpfs none {shlex.quote(str(path))}" for path in empty if path.is_dir())
    return ("ip", "netns", "exec", f"rtn{mark}{number}", "sh", "-c", f'{mounts or "true"} && exec "$@"', "sh")
