"""The only module that starts programs.

Argument lists, never a shell; an environment built from nothing; no standard input unless bytes
are given; a process group of its own that is killed when the time is up.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rtch.errors import ToolError

BLOCK_BYTES = 1 << 18
STDERR_TAIL_BYTES = 1 << 20
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
"""fcntl's number on Linux; fewer, larger reads where it is known."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What a program left behind."""

    stdout: bytes
    stderr_tail: str
    returncode: int


@dataclass(slots=True)
class Ending:
    """Filled in when a stream is exhausted; until then ``returncode`` is None."""

    returncode: int | None = None
    stderr_tail: str = ""
    _stderr: bytearray = field(default_factory=bytearray)

    def add_stderr(self, block: bytes) -> None:
        """Keep the last bytes of what the program complains about."""
        self._stderr += block
        del self._stderr[:-STDERR_TAIL_BYTES]

    def close(self, returncode: int) -> None:
        """Record the exit."""
        self.returncode = returncode
        self.stderr_tail = self._stderr.decode("utf-8", "surrogateescape")


class Doubt(NamedTuple):
    """What to do, once, about a program that has written nothing for longer than it should take."""

    after_s: float
    ask: Callable[[], None]
    """Raises ToolError where it is no use to wait on."""


def clean_env(**more: str) -> dict[str, str]:
    """Return an environment of PATH and a fixed locale alone, plus what the caller names."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", **more}


def find_program(name: str, *, beside: Path | None = None) -> str | None:
    """Return the absolute path of a program: the folder ``beside`` is looked at first, then PATH.

    Relative entries of PATH are passed over: they would find programs of the tree being read.
    """
    if beside is not None and os.access(beside / name, os.X_OK):
        return str(beside / name)
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(entry for entry in entries if Path(entry).is_absolute()))


def run(  # noqa: PLR0913  the words of subprocess.run
    argv: Sequence[str | bytes],
    *,
    cwd: Path | bytes,
    env: Mapping[str, str],
    timeout_s: float,
    input: bytes | None = None,  # noqa: A002  the word of subprocess.run
    max_output_bytes: int,
    doubt: Doubt | None = None,
) -> Finished:
    """Run a program to its end and return what it wrote.

    Raises:
        ToolError: it is missing, was ended by the time limit, a doubt or a signal, or wrote more than
            ``max_output_bytes``. An exit code other than zero is the caller's to judge.
    """
    ending = Ending()
    blocks: list[bytes] = []
    size = 0
    output = stream(argv, cwd=cwd, env=env, timeout_s=timeout_s, input=input, ending=ending, doubt=doubt)
    with contextlib.closing(output):
        for block in output:
            size += len(block)
            if size > max_output_bytes:
                raise ToolError(f"{_name(argv)} wrote more than {max_output_bytes} bytes", argv=_shown(argv))
            blocks.append(block)
    assert ending.returncode is not None
    return Finished(b"".join(blocks), ending.stderr_tail, ending.returncode)


def stream(  # noqa: PLR0913  the words of subprocess.run
    argv: Sequence[str | bytes],
    *,
    cwd: Path | bytes,
    env: Mapping[str, str],
    timeout_s: float,
    ending: Ending,
    input: bytes | None = None,  # noqa: A002  the word of subprocess.run
    doubt: Doubt | None = None,
) -> Generator[bytes, None, None]:
    """Yield a program's standard output in blocks; closing the generator kills the program.

    Args:
        argv: the program and its arguments.
        cwd: where it runs.
        env: its whole environment.
        timeout_s: seconds from the start to the last byte.
        ending: receives the exit code and the tail of standard error.
        input: bytes for its standard input, which is otherwise empty.
        doubt: what to do where it keeps silent.

    Raises:
        ToolError: it is missing, or was ended by the time limit, a doubt or a signal.
    """
    deadline = time.monotonic() + timeout_s
    process = _start(argv, cwd=cwd, env=env, data=input)
    try:
        yield from _blocks(process, ending, deadline, argv, doubt)
        ending.close(process.wait(timeout=max(0.0, deadline - time.monotonic())))
    except (TimeoutError, subprocess.TimeoutExpired):
        raise ToolError(
            f"{_name(argv)} did not finish within {timeout_s:g} s", argv=_shown(argv), timed_out=True
        ) from None
    finally:
        _end(process)
    if process.returncode < 0:
        raise ToolError(
            f"{_name(argv)} was ended by signal {-process.returncode}",
            argv=_shown(argv),
            stderr=_last_line(ending.stderr_tail),
        )


def _start(
    argv: Sequence[str | bytes], *, cwd: Path | bytes, env: Mapping[str, str], data: bytes | None
) -> subprocess.Popen[bytes]:
    with contextlib.ExitStack() as stack:
        stdin: int = subprocess.DEVNULL
        if data is not None:
            # A file and not a pipe: a program that does not read its input cannot block the writer.
            spool = stack.enter_context(tempfile.TemporaryFile())
            spool.write(data)
            spool.seek(0)
            stdin = spool.fileno()
        try:
            return subprocess.Popen(
                argv,
                cwd=cwd,
                env=dict(env),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            missing = isinstance(error, FileNotFoundError) and os.path.isdir(cwd)  # noqa: PTH112  may be bytes
            raise ToolError(
                f"{_name(argv)} cannot be started in {os.fsdecode(cwd)}: {error.strerror}",
                argv=_shown(argv),
                hint=f"install {_name(argv)} or put it on PATH" if missing else "",
            ) from error


def _blocks(
    process: subprocess.Popen[bytes], ending: Ending, deadline: float, argv: Sequence[str | bytes], doubt: Doubt | None
) -> Generator[bytes, None, None]:
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = process.stdout.fileno(), process.stderr.fileno()
    _widen(out)
    with selectors.DefaultSelector() as waiting:
        waiting.register(out, selectors.EVENT_READ)
        waiting.register(err, selectors.EVENT_READ)
        while waiting.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(_name(argv))
            ready = waiting.select(left if doubt is None else min(left, doubt.after_s))
            if not ready and doubt is not None:
                doubt.ask()
                doubt = None
            for key, _ in ready:
                block = os.read(key.fd, BLOCK_BYTES)
                if not block:
                    waiting.unregister(key.fd)
                elif key.fd == err:
                    ending.add_stderr(block)
                else:
                    yield block


def _widen(descriptor: int) -> None:
    try:
        import fcntl  # noqa: PLC0415  not on every platform

        fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, OSError):
        pass


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole group of a program that was not waited for, and close its pipes."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _name(argv: Sequence[str | bytes]) -> str:
    return Path(os.fsdecode(argv[0])).name


def _shown(argv: Sequence[str | bytes]) -> tuple[str, ...]:
    """Return the command for an error: long lists of paths are cut."""
    shown = tuple(os.fsdecode(word) for word in argv[:40])
    return shown if len(argv) <= 40 else (*shown, f"... {len(argv) - 40} more")


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]
