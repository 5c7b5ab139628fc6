import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rtch import tool_versions
from rtch.errors import ToolError
from rtch.store import MemoryStore
from rtch.tool_versions import version_of_git, version_of_rg


class Told:
    """Counts how often a program was asked."""

    def __init__(self, version: str = "14.1.0") -> None:
        self.times = 0
        self.version = version

    def __call__(self) -> str:
        self.times += 1
        return self.version


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Told:
    told = Told()
    monkeypatch.setattr(tool_versions, "rg_version", told)
    return told


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "rg"
    path.write_bytes(b"\x7fELF")
    monkeypatch.setattr(tool_versions, "rg_program", lambda: str(path))
    return path


def test_a_program_is_asked_once(program: Path, asked: Told) -> None:
    store = MemoryStore()
    assert [version_of_rg(store) for _ in range(3)] == ["14.1.0"] * 3
    assert asked.times == 1
    assert version_of_rg(MemoryStore()) == "14.1.0"
    assert asked.times == 2


def replaced(program: Path) -> None:
    new = program.with_name("new")
    shutil.copy2(program, new)
    new.replace(program)


def touched(program: Path) -> None:
    os.utime(program, ns=(0, 0))


def rewritten(program: Path) -> None:
    program.write_bytes(b"\x7fELF2")


@pytest.mark.parametrize("change", [replaced, touched, rewritten])
def test_a_program_that_is_another_file_is_asked_again(
    program: Path, asked: Told, change: Callable[[Path], None]
) -> None:
    store = MemoryStore()
    version_of_rg(store)
    change(program)
    asked.version = "15.0"
    assert (version_of_rg(store), asked.times) == ("15.0", 2)


def test_a_script_is_asked_each_time(program: Path, asked: Told) -> None:
    program.write_bytes(b"#!/bin/sh\nexec other-rg\n")
    store = MemoryStore()
    assert [version_of_rg(store) for _ in range(2)] == ["14.1.0"] * 2
    assert asked.times == 2


def test_what_is_no_version_is_not_believed(program: Path, asked: Told) -> None:
    store = MemoryStore()
    store.set_blob(tool_versions._same_file(str(program)), b"14; rm -rf")
    assert (version_of_rg(store), asked.times) == ("14.1.0", 1)


def test_a_git_that_is_missing_or_fails_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise ToolError("git was not found on PATH")

    store = MemoryStore()
    with monkeypatch.context() as patch:
        patch.setattr(tool_versions, "git_program", missing)
        assert version_of_git(store) == ""
    with monkeypatch.context() as patch:
        patch.setattr(tool_versions, "git_version", missing)
        assert version_of_git(store) == ""
    assert version_of_git(store) != "", "a failure is not remembered"


def test_a_missing_rg_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise ToolError("rg was not found beside the interpreter or on PATH")

    monkeypatch.setattr(tool_versions, "rg_program", missing)
    with pytest.raises(ToolError, match="rg was not found"):
        version_of_rg(MemoryStore())
