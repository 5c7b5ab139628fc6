"""Starting programs: limits, groups, environment and input."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

import pytest

from rtch.errors import ToolError
from rtch.process import Doubt, Ending, clean_env, find_program, run, stream

PY = sys.executable


def python(code: str, *, timeout_s: float = 10, data: bytes | None = None, limit: int = 1 << 20) -> bytes:
    done = run(
        [PY, "-I", "-c", code], cwd=b"/", env=clean_env(), timeout_s=timeout_s, input=data, max_output_bytes=limit
    )
    assert done.returncode == 0, done.stderr_tail
    return done.stdout


def test_the_environment_is_built_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_PLANTED", "1")
    shown = python("import os; print(sorted(k for k in os.environ if k != 'LC_CTYPE'))")
    assert shown == b"['LC_ALL', 'PATH']\n"


def test_standard_input_is_empty_unless_bytes_are_given() -> None:
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])"
    assert python(code) == b""
    assert python(code, data=b"abc") == b"cba"


def test_input_that_is_not_read_blocks_nobody() -> None:
    assert python("print('done')", data=b"x" * 10_000_000) == b"done\n"


def test_exit_code_and_the_tail_of_standard_error_are_given() -> None:
    code = "import sys; sys.stderr.write('x' * 2_000_000 + 'end'); sys.exit(3)"
    done = run([PY, "-I", "-c", code], cwd=b"/", env=clean_env(), timeout_s=10, max_output_bytes=10)
    assert (done.returncode, len(done.stderr_tail), done.stderr_tail[-4:]) == (3, 1 << 20, "xend")


def test_a_missing_program_says_so() -> None:
    with pytest.raises(ToolError) as caught:
        run(["/nowhere/tool"], cwd=b"/", env=clean_env(), timeout_s=1, max_output_bytes=1)
    assert str(caught.value) == (
        "tool cannot be started in /: No such file or directory; install tool or put it on PATH"
    )
    assert caught.value.argv == ("/nowhere/tool",)


def test_a_missing_folder_is_not_taken_for_a_missing_program() -> None:
    with pytest.raises(ToolError) as caught:
        run([PY], cwd=b"/nowhere", env=clean_env(), timeout_s=1, max_output_bytes=1)
    assert str(caught.value) == f"{Path(PY).name} cannot be started in /nowhere: No such file or directory"


def test_the_time_limit_kills_the_whole_group(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = f"sleep 60 & echo $! > '{pid_file}'; wait"
    begin = time.monotonic()
    with pytest.raises(ToolError) as caught:
        run(["/bin/sh", "-c", script], cwd=b"/", env=clean_env(), timeout_s=1.5, max_output_bytes=1)
    assert caught.value.timed_out
    assert time.monotonic() - begin < 10
    assert "did not finish within 1.5 s" in str(caught.value)
    assert _ended(int(pid_file.read_text()))


def test_a_doubt_ends_a_program_that_keeps_silent(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = f"echo $$ > '{pid_file}'; sleep 60"

    def give_up() -> None:
        raise ToolError("it waits for nothing")

    with pytest.raises(ToolError, match="it waits for nothing"):
        run(
            ["/bin/sh", "-c", script],
            cwd=b"/",
            env=clean_env(),
            timeout_s=60,
            max_output_bytes=1,
            doubt=Doubt(0.3, give_up),
        )
    assert _ended(int(pid_file.read_text()))


def test_a_program_that_is_slow_for_good_reason_is_asked_about_once() -> None:
    asked: list[int] = []
    done = run(
        ["/bin/sh", "-c", "sleep 1; echo done"],
        cwd=b"/",
        env=clean_env(),
        timeout_s=60,
        max_output_bytes=100,
        doubt=Doubt(0.1, lambda: asked.append(1)),
    )
    assert (done.stdout, asked) == (b"done\n", [1])


def _ended(pid: int) -> bool:
    for _ in range(100):
        with contextlib.suppress(FileNotFoundError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z":
                time.sleep(0.02)
                continue
        return True
    return False


def test_a_child_that_keeps_the_pipe_open_is_ended_by_the_limit() -> None:
    begin = time.monotonic()
    with pytest.raises(ToolError):
        run(["/bin/sh", "-c", "sleep 60 &"], cwd=b"/", env=clean_env(), timeout_s=0.5, max_output_bytes=1)
    assert time.monotonic() - begin < 10


def test_a_signal_is_an_error() -> None:
    with pytest.raises(ToolError, match="was ended by signal 9"):
        python("import os; os.kill(os.getpid(), 9)")


def test_too_much_output_is_an_error_and_ends_the_program() -> None:
    with pytest.raises(ToolError, match="wrote more than 1000 bytes"):
        python("while True: print('x' * 100)", limit=1000)


def test_closing_a_stream_ends_the_program() -> None:
    ending = Ending()
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    output = stream([PY, "-I", "-c", code], cwd=b"/", env=clean_env(), timeout_s=30, ending=ending)
    pid = int(next(output))
    output.close()
    assert _ended(pid)
    assert ending.returncode is None


def test_names_that_are_not_utf8_can_be_arguments() -> None:
    done = run(
        [PY, "-I", "-c", "import os, sys; sys.stdout.buffer.write(os.fsencode(sys.argv[1]))", b"caf\xe9"],
        cwd=b"/",
        env=clean_env(),
        timeout_s=10,
        max_output_bytes=100,
    )
    assert done.stdout == b"caf\xe9"


def test_programs_of_the_working_folder_are_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = tmp_path / "rg"
    planted.write_text("#!/bin/sh\n")
    planted.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", ":", "bin:."):
        monkeypatch.setenv("PATH", path)
        assert find_program("rg") is None
    monkeypatch.setenv("PATH", os.pathsep.join([".", str(tmp_path)]))
    assert find_program("rg") == str(planted)
    assert find_program("rg", beside=Path(PY).parent) == str(Path(PY).parent / "rg")
