"""What stands around an artifact in its tree: who names it, what it is held against, and how it is published.

Told from the tree alone, so that it can be part of a packet's findings.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from rtch.errors import ToolError
from rtch.models.complement import Publication, Related
from rtch.models.intake import Intake
from rtch.reading import SkippedFile
from rtch.reentry import reentry_command
from rtch.search import find_matches
from rtch.workspace import Workspace

MAX_SERVED = 12
"""Surfaces that name the artifact and are shown; a reader wants to know who, and how many more."""
MAX_COMPARED = 8
SEARCH_S = 5.0
MAX_ROWS = 2_000
MAX_MANIFEST_BYTES = 1024 * 1024
MIN_NAME_CHARS = 4
"""Of a file's stem that is looked for as a word; shorter ones stand everywhere."""
COMMON_STEMS = frozenset({"__init__", "index", "main", "readme", "setup", "mod", "package", "makefile", "license"})
"""Names that say nothing of which file is meant."""
_PATH_LIKE = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)+/?|[\w@+-]+\.[A-Za-z]\w{0,7}")
_HELD_AGAINST = re.compile(r"\b(?:into|with|than|against|favou?r of|replaced by)\s+(?:the\s+)?[`'\"]?$", re.IGNORECASE)
_DISTINCT = re.compile(r"[_\d-]|[a-z][A-Z]")
"""What a name has that is no word of prose."""
_PRIVATE_CLASSIFIER = "Private ::"


# The artifact, and what it is held against.


def artifact_of(intake: Intake, ws: Workspace) -> str:
    """Return what an intake decides on: its known target, else the first path that its goal names; else nothing."""
    if intake.known_target is not None:
        return _located(ws, intake.known_target) or intake.known_target
    return next((path for path, held in _named_in(intake.goal, ws) if not held), "")


def _named_in(goal: str, ws: Workspace) -> Iterator[tuple[str, bool]]:
    """Yield the paths that a goal names, and whether each is what the artifact is held against ("into x")."""
    for match in _PATH_LIKE.finditer(goal):
        text = match[0].rstrip("/.")
        path = _located(ws, text)
        ends = [] if path else [one for one in ws.listing.paths if one.endswith(f"/{text}")]
        if path or len(ends) == 1:
            yield path or ends[0], bool(_HELD_AGAINST.search(goal[: match.start()]))


def _located(ws: Workspace, text: str) -> str:
    try:
        path = ws.locate(text)
    except SkippedFile:
        return ""
    return "" if path == "." else path


def compared(intake: Intake, ws: Workspace, artifact: str, twins: Sequence[str] = ()) -> tuple[Related, ...]:
    """Return what the artifact would be merged with or held against: named with it, or the same bytes (``twins``)."""
    why: dict[str, str] = {}
    for path in intake.known_neighbor_surfaces:
        why.setdefault(_located(ws, path), "named as a neighbour")
    for path, _ in _named_in(intake.goal, ws):
        why.setdefault(path, "named in the goal")
    for seed in intake.explicit_seeds:
        why.setdefault(_located(ws, seed), "named as a seed")
    for twin in twins:
        why.setdefault(twin, "the same bytes")
    found = [path for path in why if path and path != artifact and not path.startswith(f"{artifact}/")]
    return tuple(_related(path, why[path]) for path in found[:MAX_COMPARED])


def _related(path: str, why: str, line: int | None = None) -> Related:
    return Related(path=path, line=line, why=why, re_entry_command=reentry_command(path, line, line))


# Who is served.


class Served(NamedTuple):
    """Surfaces outside an artifact that name it."""

    shown: tuple[Related, ...]
    cut: int
    """How many more there are."""
    doubts: tuple[str, ...]
    """What was in the way."""


def served_by(ws: Workspace, artifact: str, others: set[str]) -> Served:
    """Return the surfaces outside the artifact that name it, those that it is held against (``others``) first."""
    patterns = _patterns(artifact)
    if not patterns:
        return Served((), 0, ("served party: the artifact has no name that could be looked for",))
    inside = f"{artifact}/"
    encoded = {ws.listing.paths[i] for i in ws.listing.encoded}
    paths = [path for path in ws.listing.paths if path != artifact and not path.startswith(inside)]
    try:
        found = find_matches(
            ws,
            (path for path in paths if path not in encoded),
            patterns,
            fixed=False,
            max_lines_per_file=1,
            timeout_s=SEARCH_S,
            max_rows=MAX_ROWS,
        )
    except ToolError as error:
        return Served((), 0, (f"served party: {error}",))
    first: dict[str, int] = {}
    for match in found.matches:
        first.setdefault(match.path, match.line)
    order = sorted(first, key=lambda path: (path not in others, path.count("/"), path))
    told = f"names {PurePosixPath(artifact).name}"
    doubts = (f"served party: the search took more than {SEARCH_S:g} s",) if found.timed_out else ()
    shown = tuple(_related(path, told, first[path]) for path in order[:MAX_SERVED])
    return Served(shown, max(0, len(order) - MAX_SERVED), doubts)


def _patterns(artifact: str) -> tuple[str, ...]:
    """Return expressions for the ways in which other files name a path, in rg's syntax.

    Its path, its name, it as a module with dots, and its name without ending: where that is no word of prose, or
    where a line imports it.
    """
    path = PurePosixPath(artifact)
    stem = path.stem
    common = stem.casefold() in COMMON_STEMS
    words = [artifact] if common else [artifact, path.name]
    if path.suffix and not common:
        dotted = [part for part in (*path.parts[:-1], stem) if part]
        words += [".".join(dotted[-n:]) for n in (2, len(dotted)) if len(dotted) > 1]
        if len(stem) >= MIN_NAME_CHARS and _DISTINCT.search(stem):
            words.append(stem)
    plain = tuple(dict.fromkeys(word for word in words if word))
    if not plain:
        return ()
    named = rf"(?:^|[^\w-])(?:{'|'.join(map(_quoted, plain))})(?:$|[^\w-])"
    if not path.suffix or common:
        return (named,)
    return named, rf"(?:^|\s)(?:import|from|require|include|use)\b.{{0,80}}[^\w-]{_quoted(stem)}(?:$|[^\w-])"


def _quoted(word: str) -> str:
    return re.sub(r"([\\.+*?()|\[\]{}^$#&~-])", r"\\\1", word)


# Whether it is published.


def published(ws: Workspace, artifact: str) -> tuple[tuple[Publication, ...], tuple[str, ...]]:
    """Return what the nearest package manifests above the artifact say, and what could not be read."""
    unread: list[str] = []
    for folder in (artifact, *(str(one) for one in PurePosixPath(artifact).parents)):
        base = "" if folder in {"", "."} else f"{folder}/"
        found = []
        for name, reader in _MANIFESTS.items():
            path = f"{base}{name}"
            if path not in ws.index:
                continue
            try:
                data = ws.read(path, max_bytes=MAX_MANIFEST_BYTES).data
                found.append(reader(path, data.decode("utf-8", "replace")))
            except (SkippedFile, ValueError, RecursionError) as error:
                why = error.reason if isinstance(error, SkippedFile) else str(error).partition("\n")[0]
                unread.append(f"publish status: {path} cannot be read: {why}")
        if found or unread:
            return tuple(found), tuple(unread)
    return (), ("publish status: no package manifest stands above the artifact",)


def _of_npm(path: str, text: str) -> Publication:
    data = _mapping(json.loads(text))
    private = data.get("private") is True
    said = "private: true" if private else _flat("publishConfig", _mapping(data.get("publishConfig")))
    named = bool(_text(data, "name") and _text(data, "version"))
    return _publication(path, data, private=private, says=said, public=named)


def _of_python(path: str, text: str) -> Publication:
    data = tomllib.loads(text)
    project = _mapping(data.get("project")) or _mapping(_mapping(data.get("tool")).get("poetry"))
    listed = project.get("classifiers")
    classifiers = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    private = [one for one in classifiers if one.startswith(_PRIVATE_CLASSIFIER)]
    status = [one for one in classifiers if one.startswith("Development Status ::")]
    dynamic = project.get("dynamic")
    versioned = bool(_text(project, "version")) or (isinstance(dynamic, list) and "version" in dynamic)
    says = "; ".join((*private, *status))
    return _publication(path, project, private=bool(private), says=says, public=versioned)


def _of_rust(path: str, text: str) -> Publication:
    package = _mapping(tomllib.loads(text).get("package"))
    publish = package.get("publish")
    private = publish is False or publish == []
    said = f"publish = {json.dumps(publish)}" if isinstance(publish, bool | list) else ""
    return _publication(path, package, private=private, says=said, public=bool(_text(package, "name")))


_MANIFESTS: Mapping[str, Callable[[str, str], Publication]] = {
    "package.json": _of_npm,
    "pyproject.toml": _of_python,
    "Cargo.toml": _of_rust,
}


def _publication(path: str, data: Mapping[str, Any], *, private: bool, says: str, public: bool) -> Publication:
    made = partial(
        Publication, manifest=path, name=_text(data, "name"), version=_text(data, "version"), says=says[:500]
    )
    if private:
        return made(status="private")
    return made(status="publishable" if public else "unsaid")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return value[:200] if isinstance(value, str) else ""


def _flat(name: str, values: Mapping[str, Any]) -> str:
    plain = {key: value for key, value in values.items() if isinstance(value, str | bool)}
    return f"{name}: {json.dumps(plain)}" if plain else ""
