"""The cases: questions, each with the published tree it is asked of and the lines that answer it.

The bench's own lie beside this file, in ``cases.yaml``; those of a bench elsewhere in its ``dev.jsonl``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, ValidationError

from rtch.models.base import LineNumber, Record, canonical_json
from rtch.models.vocab import TargetProfile

OWN_CASES = Path(__file__).with_name("cases.yaml")
DEV_CASES = "dev.jsonl"
REMEDY = "name a bench's folder with BENCH=DIR or --bench DIR, or ask for --own"
FIELDS = ("id", "split", "profile", "language", "package")
"""What a case can be picked by."""
Ranges = Annotated[tuple[tuple[LineNumber, LineNumber], ...], Field(min_length=1)]
"""First and last line of each, both included."""


class BenchError(Exception):
    """There is nothing to measure, or a case is not what it claims to be."""


class Corpus(Record):
    """A published package: a PyPI source distribution or an npm tarball."""

    kind: Literal["pypi", "npm"]
    package: str
    version: str

    @property
    def folder(self) -> str:
        """Its name in the cache."""
        return f"{self.kind}-{self.package}-{self.version}"


class Case(Record):
    """One question and its answer in the tree."""

    id: str
    corpus: Corpus
    profile: TargetProfile
    language: str
    split: Literal["dev", "own-tune", "own-check"]
    """Ours are divided by project: ``own-tune`` to look at, ``own-check`` to see whether what was learnt holds."""
    seeds: tuple[str, ...] = ()
    goal: str
    gold_ranges: dict[str, Ranges] = Field(min_length=1)
    """The lines of each file that answer it."""

    @property
    def package(self) -> str:
        """The project that it is asked of."""
        return self.corpus.package

    def digest(self) -> str:
        """Return the digest of what a locator is told, which its answer follows from."""
        told = (self.corpus.folder, self.goal, self.seeds, self.profile.value)
        return hashlib.sha256(canonical_json(told)).hexdigest()


def own_cases(path: Path = OWN_CASES) -> list[Case]:
    """Read the cases of this repository, which stand together by project: so no project is in both splits.

    Raises:
        BenchError: a case is none, a project comes twice, or an id is taken twice.
    """
    with path.open(encoding="utf-8") as stream:
        projects = yaml.load(stream, yaml.CSafeLoader)
    shared = [{"corpus": project["corpus"], "split": project["split"]} for project in projects]
    cases = [
        _case({**both, **row}, path) for both, project in zip(shared, projects, strict=True) for row in project["cases"]
    ]
    for what, names in (
        ("project", [both["corpus"]["package"] for both in shared]),
        ("id", [case.id for case in cases]),
    ):
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise BenchError(f"{path}: there is more than one {what} called {', '.join(twice)}")
    return cases


def dev_cases(bench: Path) -> list[Case]:
    """Read the development cases of a bench elsewhere; what else their rows say is left out.

    Raises:
        BenchError: it holds none.
    """
    path = bench / DEV_CASES
    rows = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
    told = [json.loads(row) for row in rows if row.strip()]
    cases = [_case({name: row[name] for name in row if name in Case.model_fields}, path) for row in told]
    if not cases:
        raise BenchError(f"{path} holds no cases: {REMEDY}")
    return cases


def _case(row: dict[str, object], source: Path) -> Case:
    try:
        return Case.parse(json.dumps(row))
    except ValidationError as error:
        raise BenchError(f"{source}: {row.get('id', 'a case without an id')} is no case: {error}") from error


def picked(cases: Sequence[Case], conditions: Sequence[str]) -> list[Case]:
    """Return the cases that meet every ``FIELD=VALUE[,VALUE...]``.

    Raises:
        BenchError: a condition is none, or no case is left.
    """
    for condition in conditions:
        name, equals, values = condition.partition("=")
        if not equals or name not in FIELDS:
            raise BenchError(f"{condition!r} is no condition: write FIELD=VALUE with a field of {', '.join(FIELDS)}")
        cases = [case for case in cases if str(getattr(case, name)) in values.split(",")]
    if not cases:
        raise BenchError(f"no case meets {' and '.join(conditions)}")
    return list(cases)


def faults(case: Case, root: Path) -> Iterator[str]:
    """Yield what is wrong with a case's gold: a file or a line that the tree at ``root`` does not have."""
    for path, ranges in case.gold_ranges.items():
        place = root / path
        if not place.is_file():
            yield f"{case.id}: {case.corpus.folder} has no file {path}"
            continue
        data = place.read_bytes()
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        lines += case.split == "dev"  # there, an insertion is the pair of lines around it, and may stand at the end
        for first, last in ranges:
            if not first <= last <= lines:
                yield f"{case.id}: {path} has {lines} lines and no range {first} to {last}"
