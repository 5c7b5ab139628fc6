"""Where intakes lie: a path, the user's saved ones, the packaged ones, the worked examples, the presets.

What is in them is read by ``intake_io``. A saved intake is found by its path, else by its name in ``intakes`` of
the data folder, else by its name among those that come with rtch.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rtch.baseline_files import ENDING
from rtch.errors import ArtifactError, IntakeError
from rtch.field_guide import OPTIONAL, REQUIRED
from rtch.intake_io import Preset
from rtch.nearest import nearest_of
from rtch.plain_data import MAX_BYTES, read_plain, shown

# Not importlib.resources: that costs as much as reading the file, and rtch is never run from an archive.
_CONFIG = Path(__file__).parent / "config"
_SUFFIXES = ("", ".yaml", ".yml", ".json")
_PIPES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""What a shell hands over as a file and is none."""


class SavedIntake(NamedTuple):
    """A document that holds an intake: its name without folder and ending, and where it lies."""

    name: str
    path: Path
    packaged: bool = False


def find_saved(reference: str) -> SavedIntake:
    """Return the saved intake that a path or name leads to; it is not read yet.

    Raises:
        IntakeError: there is none; the message says where was looked and which names are near.
    """
    path = Path(reference)
    if _exists(path) and not path.is_dir():
        return SavedIntake(_stem(path), path)
    if os.sep not in reference and reference not in {"", ".", ".."}:
        for folder, packaged in _folders():
            for candidate in (folder / f"{reference}{suffix}" for suffix in _SUFFIXES):
                if _exists(candidate) and candidate.is_file():
                    return SavedIntake(_stem(candidate), candidate, packaged)
    raise _not_found(reference, path)


def saved_intakes() -> tuple[SavedIntake, ...]:
    """Return the user's saved intakes by name, then the packaged ones."""
    found = [
        SavedIntake(_stem(path), path, packaged)
        for folder, packaged in _folders()
        for path in sorted(folder.glob("*"))
        if path.suffix in _SUFFIXES[1:] and not path.name.endswith(ENDING) and path.is_file()
    ]
    return tuple(found)


def examples() -> tuple[SavedIntake, ...]:
    """Return the worked examples, in the specification's order."""
    paths = sorted((_CONFIG / "examples").glob("*.yaml"))
    return tuple(SavedIntake(path.stem, path, packaged=True) for path in paths)


def find_example(name: str) -> SavedIntake:
    """Return a worked example by its number or its target profile.

    Raises:
        IntakeError: there is none of that name.
    """
    known = examples()
    for example in known:
        if name in {
            example.name,
            read_plain(read_source(example.path), name=str(example.path)).fields["target_profile"],
        }:
            return example
    listed = ", ".join(example.name for example in known)
    raise IntakeError(f"there is no example {name}", hint=f"examples are {listed}, also by their target_profile")


def presets() -> tuple[Preset, ...]:
    """Return the packaged presets by name."""
    return tuple(_read_preset(path) for path in sorted((_CONFIG / "presets").glob("*.yaml")))


def find_preset(name: str) -> Preset:
    """Return a preset by name.

    Raises:
        IntakeError: there is none of that name.
    """
    names = sorted(path.stem for path in (_CONFIG / "presets").glob("*.yaml"))
    if name not in names:
        near = nearest_of(name, names)
        hint = f"did you mean {near}?" if near else f"presets are {', '.join(names)}"
        raise IntakeError(f"there is no preset {name}", hint=hint)
    return _read_preset(_CONFIG / "presets" / f"{name}.yaml")


def read_source(path: Path) -> bytes:
    """Return the bytes of a document that the user named.

    Raises:
        IntakeError: it is absent, no file, unreadable, or larger than a document may be.
    Bounds: reads at most ``MAX_BYTES`` and one byte.
    """
    pipe = str(path).startswith(_PIPES)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (0 if pipe else os.O_NONBLOCK))
        try:
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISDIR(mode):
                raise IntakeError(f"{path} is a folder", hint="name a file in it")
            if not (stat.S_ISREG(mode) or pipe):
                raise IntakeError(f"{path} is no regular file", hint="give - to read standard input")
            with open(descriptor, "rb", closefd=False) as file:
                return read_stream(file, name=str(path))
        finally:
            os.close(descriptor)
    except FileNotFoundError as error:
        raise IntakeError(f"{path} does not exist") from error
    except OSError as error:
        raise IntakeError(f"{path} cannot be read: {error.strerror}") from error


def read_stream(stream: BinaryIO, *, name: str) -> bytes:
    """Return the bytes of a stream up to its end.

    Raises:
        IntakeError: it holds more than a document may.
    """
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise IntakeError(f"{name} is larger than {MAX_BYTES} bytes", hint="an intake is a page of text")
    return data


def save(text: str, name: str) -> Path:
    """Keep an intake in the data folder under a name, and return where.

    Raises:
        IntakeError: the name is no plain name, or is taken.
        ArtifactError: it cannot be written.
    """
    from rtch import home  # noqa: PLC0415  most commands look for no home

    if not re.fullmatch(r"\w[\w. -]*", name) or name.endswith(ENDING.removesuffix(".yaml")):
        raise IntakeError(
            f"{shown(name)} is no name for an intake", hint="use letters, digits, dots, dashes and spaces"
        )
    return write_new(text, home.intakes_dir() / f"{name}.yaml")


def write_new(text: str, path: Path) -> Path:
    """Write an intake to a file that does not exist yet, and return its path.

    Raises:
        IntakeError: the file exists already.
        ArtifactError: it cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise IntakeError(f"{path} exists already", hint="choose another name") from error
    except OSError as error:
        raise ArtifactError(f"{path} cannot be written: {error.strerror}") from error
    return path


def looks_like_path(target: str) -> bool:
    """Say whether an answer names a file and not a saved intake."""
    return os.sep in target or Path(target).suffix in _SUFFIXES[1:]


def _read_preset(path: Path) -> Preset:
    written = read_plain(read_source(path), name=f"preset {path.stem}").fields
    order = [field.name for field in (*REQUIRED, *OPTIONAL) if field.name in written]
    return Preset(path.stem, str(written.get("description", "")), {name: written[name] for name in order})


def _folders() -> tuple[tuple[Path, bool], ...]:
    from rtch import home  # noqa: PLC0415  a request by path or flags needs no home

    own = home.locations().data
    packaged = (_CONFIG / "intakes", True)
    return (packaged,) if own is None else ((own / "intakes", False), packaged)


def _stem(path: Path) -> str:
    return path.stem if path.suffix in _SUFFIXES[1:] else path.name


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long for a path, or one with NUL, is no path
        return False


def _not_found(reference: str, path: Path) -> IntakeError:
    if _exists(path):
        return IntakeError(f"{reference} is a folder", hint="name a file in it, or a saved intake")
    names = [saved.name for saved in saved_intakes()]
    near = nearest_of(reference, names)
    hint = f"did you mean {near}?" if near else "rtch intake list shows the saved ones"
    return IntakeError(f"there is no intake {shown(reference)}: no such file, and no saved one of that name", hint=hint)
