"""The direction of dependency, what an import costs, and what a wheel holds."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtch.jobs import function_of
from rtch.models.vocab import StageName
from rtch.pipeline import STAGES

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "rtch"
LINKED = ("tasks", "flows", "config")
MODULE_LINES = 400
TEST_LINES = 600

RANKS = {
    "rtch.models": 0,
    "rtch.errors": 0,
    "rtch.config": 0,
    "rtch.render": 2,
    "rtch.handoff": 2,
    "rtch.stages": 2,
    "rtch.jobs": 3,
    "rtch.pipeline": 3,
    "rtch.session": 4,
    "rtch.shortcut": 5,
    "rtch.api": 5,
    "rtch.drift": 5,
    "rtch.deployments": 6,
    "rtch.reanchoring": 5,
    "rtch.cutting": 5,
    "rtch.probing": 5,
    "rtch.rehydration": 5,
    "rtch.grounding": 5,
    "rtch.tasks": 6,
    "rtch.flows": 7,
    "rtch.mcp": 8,
    "rtch.cli": 9,
    "rtch": 10,
}
FOUNDATION = 1
"""keys, workspace, search, git, store and whatever else lies directly in rtch/."""

LAZY_ONLY = {"rtch.cli": {"rtch.flows", "rtch.tasks", "rtch.mcp"}, "rtch.mcp": {"rtch.flows", "rtch.tasks"}}
"""What the faces import inside the function that needs it, and never when they are loaded."""

HEAVY = ("prefect", "mcp", "tree_sitter", "markdown_it", "diskcache")


@dataclass(frozen=True, slots=True)
class Import:
    """One import as it stands in a source."""

    importer: str
    imported: str
    line: int
    lazy: bool


def sources(*folders: Path) -> Iterator[Path]:
    """Yield the Python files below the folders, links to folders followed."""
    for folder in folders:
        for base, _, names in os.walk(folder, followlinks=True):
            yield from (Path(base, name) for name in sorted(names) if name.endswith(".py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sources(PACKAGE)}


def names_in(node: ast.AST, package: str) -> Iterator[str]:
    """Yield the full names that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = package.rsplit(".", node.level - 1)[0] if node.level else ""
        start = ".".join(part for part in (base, node.module or "") if part)
        for alias in node.names:
            inner = f"{start}.{alias.name}"
            yield inner if inner in MODULES else start


def imports_of(path: Path, importer: str) -> Iterator[Import]:
    """Yield every import of a source: also those inside functions and those for the type checker."""
    package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]

    def visit(node: ast.AST, *, lazy: bool) -> Iterator[Import]:
        for name in names_in(node, package):
            yield Import(importer, name, getattr(node, "lineno", 0), lazy)
        inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or _for_typing(node)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, lazy=inside)

    yield from visit(ast.parse(path.read_bytes()), lazy=False)


def _for_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def layer(module: str) -> str:
    """Return the longest prefix that has a rank, or the module itself in the foundation."""
    prefixes = [".".join(module.split(".")[:n]) for n in range(module.count(".") + 1, 1, -1)]
    return next((prefix for prefix in prefixes if prefix in RANKS), module)


def rank(module: str) -> int:
    return RANKS.get(layer(module), FOUNDATION)


IMPORTS = [found for module, path in MODULES.items() for found in imports_of(path, module)]


def test_there_is_something_to_check() -> None:
    assert {"rtch.errors", "rtch.models.base", "rtch.config", "rtch.tasks", "rtch.flows"} <= set(MODULES)
    assert any(found.importer == "rtch.models.intake" and found.imported == "rtch.models.base" for found in IMPORTS)


def test_no_import_points_upward() -> None:
    upward = [
        f"{found.importer}:{found.line} imports {found.imported}"
        for found in IMPORTS
        if found.imported.split(".")[0] == "rtch" and rank(found.imported) > rank(found.importer)
    ]
    assert upward == []


def test_the_faces_load_flows_only_where_they_run_one() -> None:
    eager = [
        f"{found.importer}:{found.line} imports {found.imported}"
        for found in IMPORTS
        if not found.lazy and layer(found.imported) in LAZY_ONLY.get(layer(found.importer), set())
    ]
    assert eager == []


def test_the_package_itself_imports_nothing_of_ours_when_loaded() -> None:
    eager = [f"line {found.line}: {found.imported}" for found in IMPORTS if found.importer == "rtch" and not found.lazy]
    assert [name for name in eager if "rtch" in name] == []


def test_no_source_imports_a_linked_package_by_its_bare_name() -> None:
    bare = [
        f"{path.relative_to(ROOT)}:{found.line} imports {found.imported}"
        for path in sources(PACKAGE, ROOT / "tests")
        for found in imports_of(path, module_of(path))
        if found.imported.split(".")[0] in LINKED
    ]
    assert bare == []


def child(code: str, folder: Path) -> str:
    """Run code in a new interpreter that does not look into its working folder, and return what it printed."""
    environment = {"PATH": os.defpath, "HOME": str(folder), "RTCH_HOME": str(folder / "home")}
    argv = [sys.executable, "-P", "-W", "error", "-c", code]
    ran = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


@pytest.mark.parametrize("name", LINKED)
def test_the_bare_name_leads_nowhere(name: str, tmp_path: Path) -> None:
    code = f"import importlib.util as u, rtch; print(u.find_spec({name!r}), u.find_spec('rtch.{name}') is not None)"
    assert child(code, tmp_path) == "None True\n"


def loaded_by(code: str, folder: Path) -> set[str]:
    """Return the top-level modules that a piece of code has brought in."""
    listing = "import json, sys; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    return set(json.loads(child(f"{code}\n{listing}", folder).splitlines()[-1]))


def test_the_trivial_imports_are_cheap(tmp_path: Path) -> None:
    assert loaded_by("import rtch, rtch.cli.main", tmp_path) & {*HEAVY, "pydantic", "yaml"} == set()


RUN = """
import sys
sys.argv = ["rtch", {argument!r}]
from rtch.cli.main import entry
try:
    code = entry()
except SystemExit as stop:
    code = stop.code
assert not code, code
"""


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_a_trivial_command_loads_no_engine_and_no_models(argument: str, tmp_path: Path) -> None:
    assert loaded_by(RUN.format(argument=argument), tmp_path) & {*HEAVY, "pydantic"} == set()


def test_no_engine_free_module_loads_prefect(tmp_path: Path) -> None:
    engine_free = sorted(module for module in MODULES if layer(module) not in {"rtch.tasks", "rtch.flows"})
    if importlib.util.find_spec("mcp") is None:
        engine_free = [module for module in engine_free if layer(module) != "rtch.mcp"]
    code = "\n".join(f"import {module}" for module in engine_free)
    assert loaded_by(code, tmp_path) & {"prefect", "prefect_dask"} == set()


WATCH = """
import json, logging, os, signal, sys, threading, warnings
def seen():
    handlers = [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)]
    return [os.getcwd(), dict(os.environ), handlers, len(logging.getLogger().handlers), threading.active_count(),
            sys.path[:], sys.excepthook is sys.__excepthook__, sorted(map(str, warnings.filters)), os.umask(0o77)]
os.umask(0o22)
before = seen(); os.umask(0o22)
{code}
after = seen()
print(json.dumps([[b, a] for b, a in zip(before, after) if b != a]))
"""


@pytest.mark.parametrize("code", ["import rtch", "import rtch, rtch.cli.main, rtch.pipeline, rtch.models.packet"])
def test_an_import_changes_nothing_outside_itself(code: str, tmp_path: Path) -> None:
    assert child(WATCH.format(code=code), tmp_path) == "[]\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stage", sorted(set(StageName) - {StageName.PACKAGE}))
def test_a_stage_has_a_function_a_place_in_the_pipeline_and_a_task(stage: StageName) -> None:
    assert callable(function_of(stage))
    assert STAGES[stage].name is stage
    tasks = (PACKAGE / "tasks/stages.py").read_text()
    assert f"StageName.{stage.name}: {stage}_task," in tasks
    assert f"def {stage}_task(job: Job) -> Outcome:" in tasks


def test_a_module_is_short_enough_to_be_read() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in sources(PACKAGE, ROOT / "tests")
        if (count := path.read_bytes().count(b"\n"))
        > (TEST_LINES if path.is_relative_to(ROOT / "tests") else MODULE_LINES)
    }
    assert long == {}


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", LINKED)
def test_a_linked_package_is_a_committed_link(name: str) -> None:
    mode, _, _ = git("ls-files", "-s", f"rtch/{name}").split(maxsplit=2)
    assert (mode, str((PACKAGE / name).readlink())) == ("120000", f"../{name}")


def packaged_files() -> set[str]:
    """Return what the checkout's packages hold, by the place where it is installed."""
    listed = git("ls-files", "-co", "--exclude-standard", "-z", "--", "rtch", *LINKED).split("\0")
    places = {f"rtch/{path}" if path.split("/")[0] in LINKED else path for path in listed if (ROOT / path).is_file()}
    return {place for place in places if place.endswith((".py", ".yaml", ".typed"))}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel from a copy of the checkout, so that nothing is left in the checkout itself."""
    copy, out = tmp_path_factory.mktemp("wheel") / "checkout", tmp_path_factory.mktemp("dist")
    for path in git("ls-files", "-co", "--exclude-standard", "-z", "--", ":!tests").split("\0"):
        if path and os.path.lexists(ROOT / path):
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, copy / path, follow_symlinks=False)
    has_backend = int(importlib.metadata.version("setuptools").split(".")[0]) >= 77
    isolation = ["--no-isolation"] if has_backend else []
    argv = [sys.executable, "-m", "build", "--wheel", *isolation, "--outdir", str(out), str(copy)]
    ran = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return next(out.glob("*.whl"))


def test_a_wheel_has_one_top_level_name_and_every_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.endswith("/")}
    tops = {name.split("/")[0] for name in held if ".dist-info/" not in name}
    assert tops == {"rtch"}
    assert packaged_files() - held == set()
    assert "rtch/py.typed" in held


def test_an_installed_wheel_finds_its_configuration(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import rtch.config, importlib.resources as r; "
        "print(rtch.__file__, *sorted(p.name for p in r.files('rtch.config').iterdir() if p.name.endswith('.yaml')))"
    )
    place, *names = child(code, tmp_path).split()
    assert place == str(tmp_path / "site/rtch/__init__.py")
    assert names == sorted(path.name for path in (ROOT / "config").glob("*.yaml"))
