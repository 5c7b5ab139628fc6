"""The locators: rtch, and those of a bench elsewhere; how each is asked, and what was already asked.

A locator of a bench reads a JSON request on stdin, with the tree as its working folder, and writes
``{"surfaces": [path...], "chunks": [{path, start, end}...]}``. Every question is a new process.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

import rtch
from quality.cases import Case
from quality.scores import Answer, Span
from rtch.keys import sources_digest
from rtch.models.base import Record

TIMEOUT_S = 300
RTCH = Path(sys.executable).with_name("rtch")
BASELINES = {"bm25": ("bm25_files.py", ("bm25s", "numpy")), "reference": ("reference_ranker.py", ())}
"""Name, script and the packages that the script needs."""


class Reply(Record):
    """An answer and what it took; ``error`` says what went wrong, and then the answer is empty."""

    answer: Answer = Answer()
    seconds: float = 0.0
    """Wall time; for rtch with an empty store."""
    warm_seconds: float | None = None
    """Of the same question again, with the store that the first one filled; None for what has no store."""
    error: str = ""


class Result(Record):
    """One reply as it is kept: of which system and version, to which question."""

    system: str
    version: str
    id: str
    question: str
    """``Case.digest()``."""
    reply: Reply


@dataclass(frozen=True, slots=True)
class System:
    """A locator and the version under which its replies are kept."""

    name: str
    version: str
    ask: Callable[[Case, Path], Reply]


def rtch_system(scratch: Path) -> System:
    """Return rtch as it is installed now: a copy, for a checkout may be edited while it is measured.

    The version is of its logic, as in its own keys, and of the numbers and words in ``config``.
    """
    copy = scratch / "site"
    shutil.copytree(Path(rtch.__file__).parent, copy / "rtch", ignore=shutil.ignore_patterns("__pycache__"))
    config = sorted((copy / "rtch/config").glob("*.yaml"))
    version = _digest([sources_digest(copy / "rtch").encode(), *(path.read_bytes() for path in config)])
    return System("rtch", version, lambda case, root: _ask_rtch(case, root, copy))


def _digest(parts: Sequence[bytes]) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def _ask_rtch(case: Case, root: Path, site: Path) -> Reply:
    argv = [
        str(RTCH), "hydrate", "--root", str(root), "--goal", case.goal, "--profile", case.profile.value,
        "--fanout", "normal", "--risk", "read_only", "--output-kind", "hydration_packet", "--read-budget", "2000",
        "--enough", "at least 10 surfaces", *(f"--seed={seed}" for seed in case.seeds), "--format", "json",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="rtch-bench-home-") as home:
        path = f"{RTCH.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        environment = {"PATH": path, "HOME": home, "RTCH_HOME": home, "LC_ALL": "C.UTF-8", "PYTHONPATH": str(site)}
        first, again = (_run(argv, root, environment, allowed=(0, 1)) for _ in range(2))
    if first.error or again.error:
        return Reply(seconds=first.seconds, error=first.error or f"with a warm store: {again.error}")
    fields = (("selected_surfaces", "path"), ("hydrated_chunks", "path", "start_line", "end_line"))
    said, repeated = _answer(first.out, *fields), _answer(again.out, *fields)
    if said is None or said != repeated:
        return Reply(seconds=first.seconds, error="no packet" if said is None else "a warm store gave another answer")
    return Reply(answer=said, seconds=first.seconds, warm_seconds=again.seconds)


def _answer(out: bytes, surfaces: tuple[str, str], chunks: tuple[str, str, str, str]) -> Answer | None:
    """Read an answer from JSON, whatever its fields are called; None where there is none.

    Args:
        out: the JSON.
        surfaces: the field of the surfaces, and that of a surface's path, empty where a surface is its path.
        chunks: the field of the chunks, and those of a chunk's path, first and last line.
    """
    (all_surfaces, name), (all_chunks, path, start, end) = surfaces, chunks
    try:
        said = json.loads(out)
        found = tuple(surface[name] if name else surface for surface in said[all_surfaces])
        spans = tuple(Span(path=chunk[path], start=chunk[start], end=chunk[end]) for chunk in said[all_chunks])
        return Answer(surfaces=found, chunks=spans)
    except (ValueError, KeyError, TypeError):
        return None


def baselines(bench: Path, python: Path, say: Callable[[str], None]) -> Iterator[System]:
    """Yield the bench's locators that can be run by ``python``; say of each other one what it lacks."""
    for name, (script, needs) in BASELINES.items():
        place = bench.resolve() / "baselines" / script
        versions = _versions(python, needs)
        if not place.is_file():
            say(f"{name} is left out: {place} is missing")
        elif missing := [package for package in needs if not versions.get(package)]:
            say(f"{name} is left out: {python} has no {' and no '.join(missing)}")
        else:
            sources = [path.read_bytes() for path in sorted(place.parent.glob("*.py"))]
            told = json.dumps([script, versions]).encode()
            yield System(name, _digest([told, *sources]), _asker([str(python), str(place)]))


def _versions(python: Path, packages: Sequence[str]) -> dict[str, str]:
    """Return the version of each package that an interpreter has, and of the interpreter itself."""
    code = (
        "import importlib.metadata as m, json, platform, sys\n"
        "have = {d.name.lower(): d.version for d in m.distributions()}\n"
        "print(json.dumps({'python': platform.python_version(), **{n: have.get(n, '') for n in sys.argv[1:]}}))"
    )
    ran = subprocess.run(
        [str(python), "-c", code, *packages], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    versions: dict[str, str] = json.loads(ran.stdout or "{}")
    return versions


def _asker(argv: Sequence[str]) -> Callable[[Case, Path], Reply]:
    def ask(case: Case, root: Path) -> Reply:
        request = {"repo_dir": str(root), "goal": case.goal, "seeds": case.seeds, "profile": case.profile.value}
        ran = _run(argv, root, os.environ, stdin=json.dumps({**request, "case_id": case.id}).encode())
        if ran.error:
            return Reply(seconds=ran.seconds, error=ran.error)
        said = _answer(ran.out, ("surfaces", ""), ("chunks", "path", "start", "end"))
        if said is None:
            return Reply(seconds=ran.seconds, error="no answer")
        return Reply(answer=said, seconds=ran.seconds)

    return ask


@dataclass(frozen=True, slots=True)
class _Ran:
    out: bytes
    seconds: float
    error: str = ""


def _run(
    argv: Sequence[str],
    root: Path,
    environment: Mapping[str, str],
    *,
    stdin: bytes = b"",
    allowed: Sequence[int] = (0,),
) -> _Ran:
    """Run a command in a tree; an exit code that is not allowed, or no end in time, is an error."""
    started = time.perf_counter()
    try:
        ran = subprocess.run(
            argv, cwd=root, env=dict(environment), input=stdin, capture_output=True, check=False, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return _Ran(b"", TIMEOUT_S, f"no answer within {TIMEOUT_S} s")
    seconds = time.perf_counter() - started
    if ran.returncode in allowed:
        return _Ran(ran.stdout, seconds)
    last = ran.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return _Ran(b"", seconds, f"exit code {ran.returncode}: {last[-200:]}")


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions are asked."""

    roots: Mapping[str, Path]
    """The tree of each corpus, by the corpus's folder."""
    kept: Path
    """The file of this version's earlier results, which grows; an error is not kept."""
    jobs: int
    """How many are asked at a time."""
    say: Callable[[str], None]
    """Is told of progress and of each error."""
    again: bool = False
    """Whether to ask also what was answered before."""


def results_of(system: System, cases: Sequence[Case], asking: Asking) -> dict[str, Result]:
    """Return a system's result for every case, by id; what it has not answered before, it is asked now."""
    asking.kept.parent.mkdir(parents=True, exist_ok=True)
    earlier = load(asking.kept) if asking.kept.is_file() and not asking.again else []
    known = {result.question: result for result in earlier}
    missing = [case for case in cases if case.digest() not in known]
    if missing:
        asking.say(f"{system.name}: {len(missing)} of {len(cases)} cases to ask")
    with asking.kept.open("ab") as stream, ThreadPoolExecutor(asking.jobs) as pool:
        replies = pool.map(lambda case: system.ask(case, asking.roots[case.corpus.folder]), missing)
        for case, reply in zip(missing, replies, strict=True):
            result = Result(system=system.name, version=system.version, id=case.id, question=case.digest(), reply=reply)
            known[result.question] = result
            if reply.error:
                asking.say(f"{system.name}: {case.id} counts as a miss: {reply.error}")
            else:
                stream.write(result.canonical() + b"\n")
                stream.flush()
    return {case.id: known[case.digest()].model_copy(update={"id": case.id}) for case in cases}


def kept_at(cache: Path, system: System) -> Path:
    """Return the file of a version's results."""
    return cache / "answers" / f"{system.name}-{system.version[:16]}.jsonl"


def load(path: Path) -> list[Result]:
    """Read results, one a line; a line that was cut off, as by an interrupt, is left out."""
    results = []
    for row in path.read_bytes().split(b"\n"):
        with contextlib.suppress(ValidationError):
            results.append(Result.parse(row))
    return results


def save(path: Path, results: Iterable[Result]) -> None:
    """Write results, one a line."""
    path.write_bytes(b"".join(result.canonical() + b"\n" for result in results))
