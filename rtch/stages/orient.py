"""Stage 2: a listing becomes the zone descriptor. The goal plays no part in it."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable

from rtch.limits import OrientLimits
from rtch.models.tree import Listing
from rtch.models.vocab import CautionFlag, EntryKind, FileRole
from rtch.models.zone import (
    OddEntry,
    Registry,
    Rung,
    Surroundings,
    TruthFile,
    WorkingState,
    ZoneCaution,
    ZoneDescriptor,
)
from rtch.reading import SkippedFile
from rtch.roles import QUIET, role_of
from rtch.rungs import MARKERS, ORDER, display_name, highest, marker_paths
from rtch.stages.desk import Desk
from rtch.zone_marker import audit_folder, marker_fields

_STRUCTURED = (".json", ".yaml", ".yml", ".toml")
_DECISIONS = frozenset({"adr", "adrs", "decisions"})


def orient(listing: Listing, surroundings: Surroundings, limits: OrientLimits, desk: Desk) -> ZoneDescriptor:
    """Find the zone's rungs, truth files, manifests and registries by name and shape.

    Returns:
        The descriptor: rungs lowest first, files by path, each list at most as long as its limit.
    Bounds: reads the rung markers alone, ``limits.max_marker_bytes`` each.
    """
    files = [path for path, kind in zip(listing.paths, listing.kinds, strict=True) if kind is EntryKind.FILE]
    contents, cautions = _markers(marker_paths(listing), limits, desk)
    rungs = _rungs(contents, set(files), limits)
    audit, audit_caution = _audit_folder(contents.get(".ticzone", b""), files, limits)
    speaking = {"."} | {rung.path for rung in rungs}
    cautions += [ZoneCaution(flag=note.flag, path=note.path, note=note.detail) for note in listing.notes]
    cautions += audit_caution
    root_rung = next((rung for rung in rungs if rung.path == "."), None)
    return ZoneDescriptor(
        zone_name=root_rung.name if root_rung else "",
        zone_root=surroundings.zone_root,
        root_marker=surroundings.root_marker,
        rungs=(*rungs, *surroundings.rungs_above),
        truth_files=_truth_files(files, speaking, limits),
        registries=_registries(files, limits),
        audit_logs=audit,
        odd_entries=tuple(
            OddEntry(path=path, kind=kind)
            for path, kind in zip(listing.paths, listing.kinds, strict=True)
            if kind is not EntryKind.FILE
        )[: limits.max_odd_entries],
        listing_fingerprint=listing.fingerprint(),
        working_state=_working_state(listing, surroundings),
        capabilities=surroundings.capabilities,
        cautions=tuple(sorted(cautions, key=lambda one: (one.path, one.flag, one.note))),
    )


def _markers(paths: Iterable[str], limits: OrientLimits, desk: Desk) -> tuple[dict[str, bytes], list[ZoneCaution]]:
    contents: dict[str, bytes] = {}
    cautions = []
    for path in paths:
        try:
            contents[path] = desk.workspace.read(path, max_bytes=limits.max_marker_bytes).data
        except SkippedFile as skipped:
            contents[path] = b""
            cautions.append(ZoneCaution(flag=CautionFlag.MALFORMED, path=path, note=f"marker not read: {skipped}"))
            continue
        if path.endswith(".ticzone") and contents[path].strip() and marker_fields(contents[path]) is None:
            cautions.append(
                ZoneCaution(flag=CautionFlag.MALFORMED, path=path, note="the zone marker is no JSON object")
            )
    return contents, cautions


def _rungs(contents: dict[str, bytes], files: set[str], limits: OrientLimits) -> tuple[Rung, ...]:
    by_folder: dict[str, list[str]] = defaultdict(list)
    for path in contents:
        folder, name = posixpath.split(path)
        by_folder[folder or "."].append(name)
    rungs = []
    for folder, names in by_folder.items():
        if folder != "." and role_of(f"{folder}/{names[0]}") in QUIET:
            continue  # a fixture's or a dependency's own zone
        prefix = "" if folder == "." else folder + "/"
        marker = highest(names)
        named = [name for name in (marker, *names) if display_name(name, contents[prefix + name])]
        rungs.append(
            Rung(
                kind=MARKERS[marker],
                name=display_name(named[0], contents[prefix + named[0]]) if named else "",
                path=folder,
                marker=prefix + marker,
                documents=tuple(prefix + name for name in limits.rung_documents if prefix + name in files),
            )
        )
    return tuple(sorted(rungs, key=lambda rung: (ORDER[rung.kind], -_depth(rung.path), rung.path)))


def _depth(folder: str) -> int:
    return 0 if folder == "." else folder.count("/") + 1


def _audit_folder(ticzone: bytes, files: list[str], limits: OrientLimits) -> tuple[str, list[ZoneCaution]]:
    folder, named = audit_folder(ticzone)
    if named and not folder:
        note = f"audit_logs_path {named} lies outside the zone and is not used"
        return "", [ZoneCaution(flag=CautionFlag.MALFORMED, path=".ticzone", note=note)]
    if folder:
        return folder, []
    tops = {path.split("/", 1)[0] for path in files if "/" in path}
    return next((name for name in limits.audit_folders if name in tops), ""), []


def _truth_files(files: list[str], speaking: set[str], limits: OrientLimits) -> tuple[TruthFile, ...]:
    names = {name.lower() for name in limits.truth_names}
    found: list[tuple[int, TruthFile]] = []
    for path in files:
        folder, name = posixpath.split(path)
        stem = posixpath.splitext(name)[0]
        role = role_of(path)
        if (folder or ".") in speaking and name.lower() in names:
            found.append((0, TruthFile(path=path, why="a name that speaks for its folder")))
        elif role is FileRole.LEDGER and name.endswith((".md", ".rst")):
            found.append((1, TruthFile(path=path, why="a ledger")))
        elif (folder or ".") in speaking and role is FileRole.DOCUMENT and len(stem) > 3 and stem.isupper():
            found.append((2, TruthFile(path=path, why="a document at a rung, named in capitals")))
        elif role is FileRole.DOCUMENT and _DECISIONS & set(folder.lower().split("/")):
            found.append((3, TruthFile(path=path, why="a decision record")))
    found.sort(key=lambda item: (item[0], item[1].path.count("/"), item[1].path))
    return tuple(sorted((file for _, file in found[: limits.max_truth_files]), key=lambda file: file.path))


def _registries(files: list[str], limits: OrientLimits) -> tuple[Registry, ...]:
    manifests = set(limits.manifest_names)
    found: list[tuple[int, Registry]] = []
    for path in files:
        role = role_of(path)
        if role in QUIET:
            continue
        name = posixpath.basename(path)
        stem = posixpath.splitext(name)[0].lower().replace("-", "_")
        word = next((word for word in limits.registry_words if word in stem), "")
        if name in manifests:
            found.append((path.count("/"), Registry(path=path, role=role, why="a manifest by its name")))
        elif word and name.endswith(_STRUCTURED):
            found.append((path.count("/"), Registry(path=path, role=role, why=f"a structured file named as {word}")))
    found.sort(key=lambda item: (item[0], item[1].path))
    return tuple(sorted((one for _, one in found[: limits.max_registries]), key=lambda one: one.path))


def _working_state(listing: Listing, surroundings: Surroundings) -> WorkingState:
    kinds = Counter(listing.kinds)
    folders = {posixpath.dirname(path) for path in listing.paths} - {""}
    above = {parent for folder in folders for parent in _parents(folder)}
    unruly = any(note.flag is CautionFlag.IGNORE_RULES_UNAVAILABLE for note in listing.notes)
    return WorkingState(
        vcs=surroundings.vcs,
        listed_by="walk" if unruly else "git",
        files=kinds[EntryKind.FILE],
        directories=len(folders | above),
        other_entries=sum(kinds.values()) - kinds[EntryKind.FILE],
        size_bytes=sum(listing.sizes),
    )


def _parents(folder: str) -> Iterable[str]:
    while "/" in folder:
        folder = folder.rsplit("/", 1)[0]
        yield folder
