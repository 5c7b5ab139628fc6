"""Stage 2: a listing becomes the zone descriptor. The goal plays no part in it."""

from __future__ import annotations

import fnmatch
import posixpath
from collections import defaultdict
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
from rtch.rungs import ORDER, ledgers_listed, marker_paths, rung_of, what_is_wrong
from rtch.stages.desk import Desk
from rtch.zone_marker import audit_folder

_LEDGERS = (".md", ".rst")
_STRUCTURED = (".json", ".yaml", ".yml", ".toml")
_DECISIONS = frozenset({"adr", "adrs", "decisions"})


def orient(listing: Listing, surroundings: Surroundings, limits: OrientLimits, desk: Desk) -> ZoneDescriptor:
    """Find the zone's rungs, truth files, manifests and registries by name and shape.

    Returns:
        The descriptor: rungs lowest first, files by path, each list at most as long as its limit.
    Bounds: reads the rung markers alone, ``limits.max_marker_bytes`` each.
    """
    names = _by_folder(listing)
    odd = [one for one in zip(listing.paths, listing.kinds, strict=True) if one[1] is not EntryKind.FILE]
    contents, cautions = _markers(marker_paths(listing, limits.markers), limits, desk)
    rungs = _rungs(contents, names, limits)
    audit, audit_caution = _audit_folder(contents.get(limits.root_marker, b""), names, limits, surroundings)
    speaking = {"."} | {rung.path for rung in rungs}
    cautions += [ZoneCaution(flag=note.flag, path=note.path, note=note.detail) for note in listing.notes]
    cautions += audit_caution
    cautions += [
        ZoneCaution(flag=CautionFlag.OUTSIDE_ZONE, path=one.path, note=one.why) for one in surroundings.outside
    ]
    cautions += surroundings.cautions_above
    root_rung = next((rung for rung in rungs if rung.path == "."), None)
    return ZoneDescriptor(
        zone_name=root_rung.name if root_rung else "",
        zone_root=surroundings.zone_root,
        root_marker=surroundings.root_marker,
        rungs=(*rungs, *surroundings.rungs_above),
        truth_files=_truth_files(names, speaking, limits),
        registries=_registries(names, limits),
        audit_logs=audit,
        odd_entries=tuple(OddEntry(path=path, kind=kind) for path, kind in odd[: limits.max_odd_entries]),
        listing_fingerprint=listing.fingerprint(),
        working_state=_working_state(listing, surroundings, names, odd),
        capabilities=surroundings.capabilities,
        cautions=tuple(sorted(cautions, key=lambda one: (one.path, one.flag, one.note))),
        outside=surroundings.outside,
    )


def _by_folder(listing: Listing) -> dict[str, list[str]]:
    """Return the names of each folder's files; a rule asks a folder what it can, before it looks at single names."""
    folders: dict[str, list[str]] = defaultdict(list)
    for path in listing.files():
        folder, _, name = path.rpartition("/")
        folders[folder].append(name)
    return dict(folders)


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
        is_json = posixpath.basename(path) == limits.root_marker
        # One below the root may be empty, as other markers.
        wrong = what_is_wrong(contents[path], may_be_empty="/" in path) if is_json else ""
        if wrong:
            cautions.append(ZoneCaution(flag=CautionFlag.MALFORMED, path=path, note=wrong))
    return contents, cautions


def _rungs(contents: dict[str, bytes], names: dict[str, list[str]], limits: OrientLimits) -> tuple[Rung, ...]:
    by_folder: dict[str, list[str]] = defaultdict(list)
    for path in contents:
        folder, name = posixpath.split(path)
        by_folder[folder or "."].append(name)
    rungs = []
    for folder, markers in by_folder.items():
        if folder != "." and role_of(f"{folder}/{markers[0]}") in QUIET:
            continue  # a fixture's or a dependency's own zone
        prefix = "" if folder == "." else folder + "/"
        beside = names.get("" if folder == "." else folder, ())
        rungs.append(
            rung_of(
                folder,
                {name: contents[prefix + name] for name in markers},
                limits,
                documents=[name for name in limits.rung_documents if name in beside],
                ledgers=ledgers_listed(folder, _at_ledgers(names, limits), limits.ledgers),
            )
        )
    return tuple(sorted(rungs, key=lambda rung: (ORDER[rung.kind], -_depth(rung.path), rung.path)))


def _at_ledgers(names: dict[str, list[str]], limits: OrientLimits) -> list[str]:
    """Return the paths whose names are those of ledgers, whichever rung they are of."""
    wanted = [posixpath.basename(pattern) for pattern in limits.ledgers]
    return [
        f"{folder}/{name}" if folder else name
        for folder, inside in names.items()
        for name in inside
        if any(fnmatch.fnmatchcase(name, one) for one in wanted)
    ]


def _depth(folder: str) -> int:
    return 0 if folder == "." else folder.count("/") + 1


def _audit_folder(
    marker: bytes, names: dict[str, list[str]], limits: OrientLimits, surroundings: Surroundings
) -> tuple[str, list[ZoneCaution]]:
    folder, named = audit_folder(marker)
    place = surroundings.audit_place
    if named and not folder and place is not None and place.named == named and place.path:
        folder = place.path
        note = f"audit_logs_path {named} lies outside the zone, as you permit: packets go there, none of it is searched"
        caution = ZoneCaution(flag=CautionFlag.OUTSIDE_ZONE, path=limits.root_marker, note=note)
        return folder, [caution] if posixpath.isabs(folder) else []
    if named and not folder:
        note = f"audit_logs_path {named} lies outside the zone and is not used"
        return "", [ZoneCaution(flag=CautionFlag.MALFORMED, path=limits.root_marker, note=note)]
    if folder:
        return folder, []
    tops = {one.partition("/")[0] for one in names}
    return next((name for name in limits.audit_folders if name in tops), ""), []


def _truth_files(names: dict[str, list[str]], speaking: set[str], limits: OrientLimits) -> tuple[TruthFile, ...]:
    known = {name.lower() for name in limits.truth_names}
    found: list[tuple[int, TruthFile]] = []
    for folder, inside in names.items():
        speaks = (folder or ".") in speaking
        decides = not _DECISIONS.isdisjoint(folder.lower().split("/"))
        for name in inside if speaks or decides else _ledgers(inside):
            path = f"{folder}/{name}" if folder else name
            role, stem = role_of(path), posixpath.splitext(name)[0]
            if speaks and name.lower() in known:
                found.append((0, TruthFile(path=path, why="a name that speaks for its folder")))
            elif role is FileRole.LEDGER and name.endswith(_LEDGERS):
                found.append((1, TruthFile(path=path, why="a ledger")))
            elif speaks and role is FileRole.DOCUMENT and len(stem) > 3 and stem.isupper():
                found.append((2, TruthFile(path=path, why="a document at a rung, named in capitals")))
            elif decides and role is FileRole.DOCUMENT:
                found.append((3, TruthFile(path=path, why="a decision record")))
    found.sort(key=lambda item: (item[0], item[1].path.count("/"), item[1].path))
    return tuple(sorted((file for _, file in found[: limits.max_truth_files]), key=lambda file: file.path))


def _ledgers(names: list[str]) -> list[str]:
    return [name for name in names if name.endswith(_LEDGERS)]


def _registries(names: dict[str, list[str]], limits: OrientLimits) -> tuple[Registry, ...]:
    manifests = set(limits.manifest_names)
    found: list[tuple[int, Registry]] = []
    for folder, inside in names.items():
        for name in inside:
            word = _registry_word(name, limits) if name.endswith(_STRUCTURED) else ""
            if not word and name not in manifests:
                continue
            path = f"{folder}/{name}" if folder else name
            role = role_of(path)
            if role not in QUIET:
                why = "a manifest by its name" if name in manifests else f"a structured file named as {word}"
                found.append((path.count("/"), Registry(path=path, role=role, why=why)))
    found.sort(key=lambda item: (item[0], item[1].path))
    return tuple(sorted((one for _, one in found[: limits.max_registries]), key=lambda one: one.path))


def _registry_word(name: str, limits: OrientLimits) -> str:
    stem = posixpath.splitext(name)[0].lower().replace("-", "_")
    return next((word for word in limits.registry_words if word in stem), "")


def _working_state(
    listing: Listing, surroundings: Surroundings, names: dict[str, list[str]], odd: list[tuple[str, EntryKind]]
) -> WorkingState:
    folders = (names.keys() | {posixpath.dirname(path) for path, _ in odd}) - {""}
    above = {parent for folder in folders for parent in _parents(folder)}
    unruly = any(note.flag is CautionFlag.IGNORE_RULES_UNAVAILABLE for note in listing.notes)
    return WorkingState(
        vcs=surroundings.vcs,
        listed_by="walk" if unruly else "git",
        files=len(listing) - len(odd),
        directories=len(folders | above),
        other_entries=len(odd),
        size_bytes=sum(listing.sizes),
    )


def _parents(folder: str) -> Iterable[str]:
    while "/" in folder:
        folder = folder.rsplit("/", 1)[0]
        yield folder
