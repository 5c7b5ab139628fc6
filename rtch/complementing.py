"""What stands around an artifact whose keeping is to be decided: its relational surface, and the /complement block.

Told from the tree as it is and from git's log, which are no part of a packet's findings; so all of it lies in the
record of the run. Each signal that cannot be told is named with why.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from rtch.errors import ToolError
from rtch.git import find_repository
from rtch.models.complement import Complement, Criterion, Maintenance, Publication, Related, RelationalSurface
from rtch.owners import Owners
from rtch.reading import SkippedFile
from rtch.reentry import reentry_command
from rtch.repository import Repository, RepositoryRefused
from rtch.roots import readable_root
from rtch.search import find_matches
from rtch.since import History
from rtch.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from rtch.models.packet import Packet

MAX_SERVED = 12
"""Surfaces that name the artifact and are shown; a reader wants to know who, and how many more."""
MAX_COMPARED = 8
MAX_MAINTAINED = 8
"""Paths of which git is asked; each question takes 0.03 to 0.3 s."""
SEARCH_S = 5.0
MAX_ROWS = 2_000
MAX_MANIFEST_BYTES = 1024 * 1024
MIN_NAME_CHARS = 4
"""Of a file's stem that is looked for as a word; shorter ones stand everywhere."""
COMMON_STEMS = frozenset({"__init__", "index", "main", "readme", "setup", "mod", "package", "makefile", "license"})
"""Names that say nothing of which file is meant."""
_PATH_LIKE = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)+/?|[\w@+-]+\.[A-Za-z]\w{0,7}")
_DISTINCT = re.compile(r"[_\d-]|[a-z][A-Z]")
"""What a name has that is no word of prose."""
_PRIVATE_CLASSIFIER = "Private ::"


def complement_of(packet: Packet, root: Path) -> Complement:
    """Return what stands around the artifact that a packet's goal decides on.

    The artifact is the intake's known target, else the first path that the goal names, else the best surface.

    Args:
        packet: the packet.
        root: the zone root.

    Raises:
        ZoneError: the root cannot be read.
        ToolError: rg is missing.
    """
    ws = open_workspace(readable_root(root))
    artifact = _artifact(packet, ws)
    compared = _compared(packet, ws, artifact)
    served, cut, doubts = _served(ws, artifact, {one.path for one in compared})
    maintained, more = _maintained(packet, ws, (artifact, *(one.path for one in compared)))
    published, unread = _published(ws, artifact)
    around = RelationalSurface(
        artifact=artifact,
        served_party=served,
        served_party_cut=cut,
        comparison_targets=compared,
        maintenance=maintained,
        publication=published,
        unknown=(*doubts, *more, *unread),
    )
    met = tuple(one for one in Criterion if _HOLDS[one](around))
    left = tuple(one for one in Criterion if one not in met)
    named = [*(one.path for one in served), *(one.path for one in compared)]
    shown = {one.path for one in packet.selected_surfaces}
    return Complement(
        timestamp=packet.generated_at,
        tic=packet.generated_at_tic,
        centroid=artifact,
        active_ray=packet.intake.goal,
        complement_candidate=next((path for path in named if path not in shown), named[0] if named else ""),
        scope=str(packet.intake.scope or packet.intake.target_profile),
        structural_criteria_met=met,
        structural_criteria_open=left,
        relational_surface=around,
    )


_HOLDS: Mapping[Criterion, Callable[[RelationalSurface], bool]] = {
    Criterion.SERVED_PARTY: lambda around: bool(around.served_party),
    Criterion.COMPARISON_TARGET: lambda around: bool(around.comparison_targets),
    Criterion.LAST_TOUCHED: lambda around: any(one.last_touched for one in around.maintenance),
    Criterion.OWNER: lambda around: any(one.owners for one in around.maintenance),
    Criterion.PUBLISH_STATUS: lambda around: any(one.status != "unsaid" for one in around.publication),
}


# The artifact, and what it is held against.


def _artifact(packet: Packet, ws: Workspace) -> str:
    if packet.intake.known_target is not None:
        return _located(ws, packet.intake.known_target) or packet.intake.known_target
    named = next(_named_in(packet.intake.goal, ws), None)
    return named or (packet.selected_surfaces[0].path if packet.selected_surfaces else "")


def _named_in(goal: str, ws: Workspace) -> Iterator[str]:
    for match in _PATH_LIKE.finditer(goal):
        text = match[0].rstrip("/.")
        path = _located(ws, text)
        ends = [] if path else [one for one in ws.listing.paths if one.endswith(f"/{text}")]
        if path or len(ends) == 1:
            yield path or ends[0]


def _located(ws: Workspace, text: str) -> str:
    try:
        path = ws.locate(text)
    except SkippedFile:
        return ""
    return "" if path == "." else path


def _compared(packet: Packet, ws: Workspace, artifact: str) -> tuple[Related, ...]:
    """Return what the artifact would be merged with or held against: named with it, or the same bytes."""
    why: dict[str, str] = {}
    for path in packet.intake.known_neighbor_surfaces:
        why.setdefault(_located(ws, path), "named as a neighbour")
    for path in _named_in(packet.intake.goal, ws):
        why.setdefault(path, "named in the goal")
    for seed in packet.intake.explicit_seeds:
        why.setdefault(_located(ws, seed), "named as a seed")
    for surface in packet.selected_surfaces:
        if surface.path == artifact:
            for twin in surface.twins:
                why.setdefault(twin, "the same bytes")
    found = [path for path in why if path and path != artifact and not path.startswith(f"{artifact}/")]
    return tuple(_related(path, why[path]) for path in found[:MAX_COMPARED])


def _related(path: str, why: str, line: int | None = None) -> Related:
    return Related(path=path, line=line, why=why, re_entry_command=reentry_command(path, line, line))


# Who is served.


def _served(ws: Workspace, artifact: str, others: set[str]) -> tuple[tuple[Related, ...], int, tuple[str, ...]]:
    """Return the surfaces outside the artifact that name it, how many more there are, and what was in the way."""
    patterns = _patterns(artifact)
    if not patterns:
        return (), 0, ("served party: the artifact has no name that could be looked for",)
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
        return (), 0, (f"served party: {error}",)
    first: dict[str, int] = {}
    for match in found.matches:
        first.setdefault(match.path, match.line)
    order = sorted(first, key=lambda path: (path not in others, path.count("/"), path))
    told = f"names {PurePosixPath(artifact).name}"
    doubts = (f"served party: the search took more than {SEARCH_S:g} s",) if found.timed_out else ()
    shown = tuple(_related(path, told, first[path]) for path in order[:MAX_SERVED])
    return shown, max(0, len(order) - MAX_SERVED), doubts


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


# Who looks after it.


def _maintained(packet: Packet, ws: Workspace, named: Sequence[str]) -> tuple[tuple[Maintenance, ...], tuple[str, ...]]:
    paths = [one for path in named for one in _files_of(packet, ws, path)][:MAX_MAINTAINED]
    repository, doubt = _repository(ws.root)
    owners = Owners.of(ws.root, repository.top if repository else None)
    history = History(ws.root, repository)
    rows = []
    for path in dict.fromkeys(paths):
        commit = None if repository is None else history.changed(path, None)
        rows.append(
            Maintenance(
                path=path,
                last_touched=commit.date if commit else "",
                commit=commit.id if commit else "",
                summary=commit.summary if commit else "",
                owners=owners.of_path(path),
                owners_from=owners.place,
            )
        )
    unknown = []
    if repository is None:
        unknown.append(f"last touched: {doubt or 'the tree is in no git repository'}")
    elif history.doubt:
        unknown.append(f"last touched: {history.doubt}")
    if not owners.place:
        unknown.append("owner: there is no CODEOWNERS file")
    unknown += [f"owner: {one.what}: {one.why}" for one in owners.problems[:3]]
    return tuple(rows), tuple(unknown)


def _files_of(packet: Packet, ws: Workspace, path: str) -> list[str]:
    """Return a path that is a file, or the packet's surfaces below one that is a folder."""
    if path in ws.index:
        return [path]
    return [one.path for one in packet.selected_surfaces if one.path.startswith(f"{path}/") and not one.path_encoded]


def _repository(root: Path) -> tuple[Repository | None, str]:
    try:
        return find_repository(root), ""
    except (RepositoryRefused, ToolError) as error:
        return None, str(error)


# Whether it is published.


def _published(ws: Workspace, artifact: str) -> tuple[tuple[Publication, ...], tuple[str, ...]]:
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
