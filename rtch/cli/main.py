"""The command line: one module a command, imported when the command is given.

stdout is the result, stderr is for people. Errors are one sentence; their exit codes are drawn in
``errors``. A bug leaves its trace in a file and says where.
"""

from __future__ import annotations

import argparse
import errno
import functools
import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

from rtch.nearest import nearest_of
from rtch.version import VERSION

COMMANDS: dict[str, tuple[str, str]] = {
    "hydrate": ("rtch.cli.hydrate", "turn an intake into an evidence packet, in this process"),
    "run": ("rtch.cli.run", "run a saved intake as a Prefect flow"),
    "read": ("rtch.cli.read", "read a span or chunk again, as it is now"),
    "verify": ("rtch.cli.verify", "say of each chunk of a packet what became of it"),
    "drift": ("rtch.cli.drift", "ask saved questions again, and say what has drifted"),
    "serve": ("rtch.cli.serve", "run drift and other flows by the clock"),
    "show": ("rtch.cli.show", "show a packet"),
    "packet": ("rtch.cli.packet", "list, show, compare, pin and prune packets, or print their JSON Schema"),
    "chain": ("rtch.cli.chain", "show what the rungs above a path say, lowest first"),
    "rehydrate": ("rtch.cli.rehydrate", "say what of a packet may still be claimed"),
    "probe": ("rtch.cli.probe", "run one of a packet's next legal probes"),
    "package": ("rtch.cli.package", "write a packet's chunks as a dump for a consolidator"),
    "intake": ("rtch.cli.intake", "make, check and list intakes, or print their JSON Schema"),
    "cache": ("rtch.cli.cache", "look into the artifact store, say why a stage ran, clean it"),
    "up": ("rtch.cli.server", "start the local Prefect server in the background"),
    "down": ("rtch.cli.server", "stop it"),
    "status": ("rtch.cli.server", "say whether it is up, and where"),
}

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What a disk answers that takes no more."""
USAGE = "usage: rtch [-h] [--version] COMMAND ..."
_YOUNG = 50_000
"""Objects that may be made before the collector looks for cycles: starting makes that many, and nearly all stay."""


def entry() -> NoReturn:
    """Run as the console script: exit with the command's code."""
    _open_what_is_closed()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
    try:
        code = main(sys.argv[1:])
    finally:
        # The interpreter looks for cycles three times before it ends, 20 ms where the models are loaded.
        gc.freeze()
    sys.exit(code)


def _open_what_is_closed() -> None:
    """Give standard streams that the caller closed a place to go: the next file opened would take their number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False))


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    if not argv or argv[0] in {"-h", "--help", "help"}:
        print(_help())
        return 0
    if argv[0] in {"-V", "--version"}:
        print(f"rtch {VERSION}")
        return 0
    if argv[0] not in COMMANDS:
        near = nearest_of(argv[0], COMMANDS)
        hint = f"; did you mean {near}" if near else f"; commands are {', '.join(COMMANDS)}"
        print(f"rtch: {argv[0]!r} is no command{hint}", file=sys.stderr)
        return 2
    # Looking for plugins reads the metadata of every installed package; rtch has none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    signal.signal(signal.SIGTERM, _terminated)
    return _guarded(argv)


def _terminated(_number: int, _frame: FrameType | None) -> NoReturn:
    """Turn SIGTERM into an exit that unwinds, so that child processes and temporary folders go with us."""
    sys.exit(143)


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name.ljust(width)}  {text}" for name, (_, text) in COMMANDS.items()]
    return "\n".join(
        [USAGE, "", "An intent goes in, a bounded evidence packet of a source tree comes out.", "", "commands:", *lines,
         "", "rtch COMMAND --help tells more."]
    )  # fmt: skip


def _guarded(argv: Sequence[str]) -> int:
    from rtch.errors import RtchError  # noqa: PLC0415

    try:
        return _dispatch(argv)
    except RtchError as error:
        print(f"rtch: {_safe(error)}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("rtch: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _forget_stdout()
        return 0
    except Exception as error:  # noqa: BLE001  the last line of defence: one line, and the trace in a file
        if isinstance(error, OSError) and error.errno in _FULL:
            _forget_stdout()
            print(f"rtch: the result cannot be written: {error.strerror}; make room for it", file=sys.stderr)
            return 6
        said = f"this is a bug: {type(error).__name__}: {_safe(error)}"
        print(f"rtch: {said}; the trace is in {_keep_trace()}", file=sys.stderr)
        return 70


def _forget_stdout() -> None:
    """Drop what stdout still holds, for nobody takes it: the interpreter would complain about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Formatter(argparse.HelpFormatter):
    """Wraps help to the terminal: argparse makes a formatter a flag, and would load the archives of shutil to ask."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


@functools.cache
def _columns() -> int:
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named):
        return int(named)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (ValueError, OSError):
        return 80


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence with the remedy, and not below the list of all flags."""

    def __init__(self, **given: Any) -> None:
        super().__init__(formatter_class=_Formatter, **given)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"rtch: {_safe(message)}; {self.prog} --help tells what there is\n")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Refuse what the command does not know, with the nearest flag that it does."""
        near = nearest_of(unknown[0].partition("=")[0], self._option_string_actions)
        meant = f", did you mean {near}?" if near else ""
        self.error(f"{' '.join(unknown)} is no argument of {self.prog}{meant}")


def _safe(error: Exception | str) -> str:
    """Return what an error says with nothing that a terminal obeys: it may quote names and text of a tree."""
    from rtch.escape import visible  # noqa: PLC0415

    return visible(error, lines=True)


def _dispatch(argv: Sequence[str]) -> int:
    module = import_module(COMMANDS[argv[0]][0])
    parser = _Parser(prog="rtch", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    module.add_parser(commands)
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        commands.choices[argv[0]].refuse(unknown)
    code: int = args.func(args)
    sys.stdout.flush()
    return code


def _keep_trace() -> str:
    import tempfile  # noqa: PLC0415  a bug is rare
    import traceback  # noqa: PLC0415

    descriptor, name = tempfile.mkstemp(prefix="rtch-trace-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        traceback.print_exc(file=file)
    return name


if __name__ == "__main__":
    entry()
