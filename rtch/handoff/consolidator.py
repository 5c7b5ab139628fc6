"""An external consolidator: what it is given, how it is run, and what its exit code says.

Which program that is says the command line or the user's own configuration, and nothing in a zone.
"""

from __future__ import annotations

import os
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rtch.errors import IntakeError, ToolError
from rtch.nearest import nearest_of
from rtch.reentry import path_bytes

if TYPE_CHECKING:
    from rtch.models.chunk import Surface
    from rtch.models.packet import Packet

CONSOLIDATOR = ("consolidate",)
CONFIG_NAME = "config.yaml"
"""The user's own configuration, in rtch's data folder."""
KEY = "consolidate_command"
TIMEOUT_S = 120.0
"""Seconds; packaging a few hundred files takes some, and one that waits for an answer waits forever."""
MAX_OUTPUT_BYTES = 4 * 1024 * 1024
"""Of what it prints; its dump goes to a file."""
MAX_CONFIG_BYTES = 65_536
EXITS = {1: "it failed", 2: "it found none of its targets", 3: "corrections hold it", 4: "a capability is missing"}
"""What exit codes of a consolidator mean; 0 is success."""


class Consolidator(NamedTuple):
    """A program to run."""

    words: tuple[str, ...]
    """The program and its first arguments."""
    folder: Path | None = None
    """Where it runs; None is where the dump lies, so that nothing of a tree is taken for a part of it."""
    timeout_s: float = TIMEOUT_S


class Consolidated(NamedTuple):
    """What came of a consolidator; ``failure`` is empty where it succeeded."""

    exit_code: int | None
    output: str = ""
    failure: str = ""


def consolidator_named(text: str, folder: Path, timeout_s: float = TIMEOUT_S) -> Consolidator:
    """Return the consolidator that a command line names.

    Args:
        text: a program with arguments, quoted as in a shell; none is started.
        folder: where the user stands.
        timeout_s: seconds.

    Raises:
        IntakeError: it names no program, or a quotation is not closed.
    """
    import shlex  # noqa: PLC0415  only where a command is named

    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise IntakeError(f"--consolidate-command {text!r} cannot be read: {error}") from error
    if not words or not words[0]:
        raise IntakeError("--consolidate-command names no program")
    return Consolidator(words, folder, timeout_s)


def consolidator_configured(data_folder: Path, zone: Path, timeout_s: float = TIMEOUT_S) -> Consolidator | None:
    """Return the consolidator of the user's own configuration; None where there is none.

    Raises:
        IntakeError: the file is wrong, lies in the zone, or others can change it.
    """
    place = data_folder / CONFIG_NAME
    if not os.path.lexists(place):
        return None
    if place.resolve().is_relative_to(zone.resolve()):
        raise IntakeError(
            f"{place} lies in the zone {zone}, and a zone names no program",
            hint="give --consolidate-command, or set RTCH_HOME to a folder elsewhere",
        )
    import yaml  # noqa: PLC0415  few users have one

    try:
        status = place.stat()
        if status.st_uid != os.getuid() or status.st_mode & 0o022 or status.st_size > MAX_CONFIG_BYTES:
            raise IntakeError(f"{place} must be yours alone to change, and at most {MAX_CONFIG_BYTES} bytes")
        data = yaml.safe_load(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise IntakeError(f"{place} cannot be read: {str(error).partition(chr(10))[0]}") from error
    return _in_document(data, place, timeout_s)


def _in_document(data: object, place: Path, timeout_s: float) -> Consolidator | None:
    if data is None:
        return None
    if not isinstance(data, dict):
        raise IntakeError(f"{place} holds no mapping")
    for name in data:
        if name != KEY:
            near = nearest_of(str(name), [KEY])
            raise IntakeError(f"{place} has the unknown key {name}", hint=f"did you mean {near}?" if near else "")
    import shlex  # noqa: PLC0415  only where a command is named

    named = data.get(KEY)
    words = tuple(shlex.split(named)) if isinstance(named, str) else named
    if not isinstance(words, list | tuple) or not words or not all(isinstance(one, str) and one for one in words):
        raise IntakeError(f"{place}: {KEY} is no command", hint=f"write it as {KEY}: [python3, /path/consolidate.py]")
    return Consolidator(tuple(words), None, timeout_s)


def consolidator_argv(
    packet: Packet,
    dump_path: Path,
    *,
    consolidator: tuple[str, ...] = CONSOLIDATOR,
    root: Path | None = None,
    without: Container[str] = (),
) -> tuple[str, ...]:
    """Return the command that packages the selected surfaces.

    Targets are absolute, so none can be taken for an option and the command runs from any folder. What it
    writes lies beside the dump and not over it. Those of ``targets_left_out`` are none of its targets.

    Args:
        packet: the packet.
        dump_path: rtch's own dump.
        consolidator: the program and its first arguments.
        root: the zone root; that of the packet's run if none is given.
        without: paths that are no targets.
    """
    zone_root = (root or Path(packet.run.zone_root)).absolute()
    paths = [_argument(surface) for surface in packet.selected_surfaces if surface.path not in without]
    targets = [str(zone_root / path) for path in paths if path is not None]
    return (
        *consolidator,
        "--base-dir",
        str(zone_root),
        "--output",
        str(output_beside(dump_path)),
        "--rtch-packet-id",
        packet.packet_id,
        *(("--targets", *targets) if targets else ()),
    )


def output_beside(dump_path: Path) -> Path:
    """Return where a consolidator writes, beside rtch's own dump."""
    dump = dump_path.absolute()
    return dump.with_name(f"{dump.stem}.consolidated{dump.suffix}")


def targets_left_out(packet: Packet) -> tuple[str, ...]:
    """Return the selected surfaces that no command line in JSON can name, by rank, percent-encoded.

    Their bytes are not UTF-8; ``rtch read --encoded`` reads them, and the dump holds their chunks.
    """
    return tuple(surface.path for surface in packet.selected_surfaces if _argument(surface) is None)


def _argument(surface: Surface) -> str | None:
    try:
        return path_bytes(surface.path, encoded=surface.path_encoded).decode()
    except UnicodeDecodeError:
        return None


def run_consolidator(argv: tuple[str, ...], consolidator: Consolidator, dump_path: Path) -> Consolidated:
    """Run a consolidator to its end, without a shell, and say what came of it; nothing is raised for its failure.

    It gets PATH, HOME and a fixed locale, no standard input, and is ended with all it started when the time is up.

    Args:
        argv: of ``consolidator_argv``.
        consolidator: the program.
        dump_path: rtch's own dump.
    """
    from rtch.process import clean_env, find_program, run  # noqa: PLC0415  only where one is run

    folder = consolidator.folder or dump_path.absolute().parent
    output = output_beside(dump_path)
    if "--targets" not in argv:
        return Consolidated(None, failure="the consolidator was not run: no surface can be its target")
    program = argv[0]
    found = str(folder / program) if "/" in program else find_program(program)
    if found is None:
        return Consolidated(None, failure=f"{program} is not on PATH, so no consolidator was run")
    before = _state(output)
    home = {"HOME": os.environ["HOME"]} if "HOME" in os.environ else {}
    try:
        done = run(
            (found, *argv[1:]),
            cwd=folder,
            env=clean_env(**home),
            timeout_s=consolidator.timeout_s,
            max_output_bytes=MAX_OUTPUT_BYTES,
        )
    except (ToolError, ValueError) as error:  # a word with a NUL is no argument
        return Consolidated(None, failure=f"the consolidator failed: {error}")
    if done.returncode != 0:
        why = EXITS.get(done.returncode, "that code is not known")
        said = done.stderr_tail.strip().rpartition("\n")[2][:500]
        told = f"the consolidator ended with exit code {done.returncode}: {why}"
        return Consolidated(done.returncode, failure=f"{told} ({said})" if said else told)
    if _state(output) in (None, before):
        return Consolidated(0, failure=f"the consolidator ended with exit code 0 and wrote no {output}")
    return Consolidated(0, output=str(output))


def _state(place: Path) -> tuple[int, int, int] | None:
    try:
        status = place.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
