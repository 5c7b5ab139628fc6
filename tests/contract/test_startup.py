"""What the commands that should answer at once load: counted in modules, for seconds depend on the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from rtch.cli.main import main

HEAVY = ("prefect", "mcp", "tree_sitter", "markdown_it", "diskcache", "sqlite3", "asyncio", "importlib.metadata")
"""What none of them needs; diskcache and sqlite3 are the store's."""
START = "import sys; from rtch.cli.main import entry; sys.argv[0] = 'rtch'; entry()"
INTAKE = {
    "goal": "Where is a stage key made",
    "target_profile": "code_path",
    "fanout_level": "normal",
    "mutation_risk": "read_only",
    "expected_output": "hydration_packet",
    "enough_evidence_definition": "at least 3 surfaces",
    "explicit_seeds": ["stage_key"],
}


class Command(NamedTuple):
    """A command, how many modules it may load beyond a bare interpreter's, and which costlier ones not at all."""

    argv: tuple[str, ...]
    most: int
    without: tuple[str, ...] = ()


# A tenth above what was counted on Python 3.11: room for another version's standard library, and not for
# another package.
COMMANDS = {
    "version": Command(("--version",), 39, ("pydantic", "yaml", "tempfile")),
    "help": Command(("--help",), 39, ("pydantic", "yaml", "tempfile")),
    "help of a command": Command(("hydrate", "--help"), 64, ("pydantic", "yaml", "shutil")),
    "check of JSON": Command(
        ("intake", "check", "intake.json", "--format", "json"), 190, ("yaml", "socket", "email", "shutil")
    ),
    "check of YAML": Command(("intake", "check", "intake.yaml"), 209, ("socket", "email", "shutil")),
    "show": Command(("show", "packet.json", "--format", "json"), 118, ("pydantic", "yaml")),
}


class Loaded(NamedTuple):
    """A module that was loaded, and how long that took without what it brought along."""

    module: str
    microseconds: int

    @property
    def package(self) -> str:
        """The package it belongs to; of ours the module itself."""
        return self.module if self.module.startswith("rtch.") else self.module.partition(".")[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an intake in both notations, and a packet."""
    place = tmp_path_factory.mktemp("startup")
    (place / "intake.json").write_text(json.dumps(INTAKE))
    (place / "intake.yaml").write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in INTAKE.items()))
    (place / "zone").mkdir()
    (place / "zone" / "keys.py").write_text("def stage_key():\n    return 1\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RTCH_HOME", str(place / "home"))
        patch.chdir(place)
        assert main(("hydrate", "intake.json", "--root", "zone", "--format", "json", "--output", "packet.json")) == 0
    return place


def loaded(folder: Path, code: str, *argv: str, **more: str) -> list[Loaded]:
    """Run code in a process of its own and return what it loaded, in that order."""
    command = [sys.executable, "-P", "-X", "importtime", "-c", code, *argv]
    environment = {"PATH": "/usr/bin:/bin", "RTCH_HOME": str(folder / "home"), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        command, cwd=folder, env=environment | more, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    rows = (row.removeprefix("import time:").split("|") for row in ran.stderr.splitlines() if "|" in row)
    return [Loaded(row[2].strip(), int(row[0])) for row in rows if row[0].strip().isdigit()]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_trivial_command_loads_little(name: str, folder: Path) -> None:
    command = COMMANDS[name]
    bare = {one.module for one in loaded(folder, "pass")}
    found = [one for one in loaded(folder, START, *command.argv) if one.module not in bare]
    unwanted = [one.module for one in found if one.module.startswith((*HEAVY, *command.without))]
    assert not unwanted, f"{name} loads {', '.join(unwanted)}"
    assert len(found) <= command.most, f"{name} loads {len(found)} modules: {heaviest(found)}"


METADATA = """
import sys
import rtch.models.base
assert "importlib.metadata" not in sys.modules
from pydantic.plugin._loader import entry_points
found = entry_points(group="console_scripts")
from importlib import metadata
assert found == metadata.entry_points(group="console_scripts"), found
"""


def test_the_reader_of_package_metadata_is_loaded_by_whoever_asks_for_it(folder: Path) -> None:
    loaded(folder, METADATA, PYDANTIC_DISABLE_PLUGINS="__all__")


def test_plugins_are_looked_for_where_they_are_not_turned_off(folder: Path) -> None:
    assert "importlib.metadata" in {
        one.module for one in loaded(folder, "import rtch.api, rtch.models.intake as i; i.EnoughEvidence()")
    }


def heaviest(found: Sequence[Loaded]) -> str:
    """Name the packages that take longest to load."""
    taken: Counter[str] = Counter()
    for one in found:
        taken[one.package] += one.microseconds
    modules = Counter(one.package for one in found)
    return ", ".join(f"{name} {time / 1000:.1f} ms ({modules[name]})" for name, time in taken.most_common(15))
