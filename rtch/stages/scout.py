"""Stage 3: the tree's shape by its names, before any question is asked and before any file is read."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence

from rtch.limits import ScoutLimits
from rtch.models.inventory import DirectoryShape, RoleCount, Scan, ShapeInventory
from rtch.models.tree import Listing
from rtch.models.vocab import EntryKind
from rtch.roles import role_of
from rtch.stages.desk import Desk


def scout(listing: Listing, limits: ScoutLimits, desk: Desk) -> ShapeInventory:
    """Take in folders, sizes and roles."""
    del desk
    files = {
        path: size
        for path, kind, size in zip(listing.paths, listing.kinds, listing.sizes, strict=True)
        if kind is EntryKind.FILE
    }
    directories, cut = _directories(files, limits.max_directories)
    return ShapeInventory(
        directories=directories,
        directories_cut=cut,
        roles=_roles(files),
        scans=(
            Scan(
                name="files",
                pattern="every regular file of the listing",
                files_touched=len(files),
                bytes_read=0,
                hits=len(files),
                note=f"{sum(files.values())} bytes in all",
            ),
        ),
    )


def _directories(files: Mapping[str, int], most: int) -> tuple[tuple[DirectoryShape, ...], int]:
    here: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for path, length in files.items():
        folder = path.rpartition("/")[0]
        here[folder] += 1
        sizes[folder] += length
    below: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for folder, count in here.items():
        for above in _above(folder):
            below[above] += count
            whole[above] += sizes[folder]
    shallow = sorted(below, key=lambda folder: (folder.count("/") + bool(folder), folder))
    rows = [
        DirectoryShape(path=folder or ".", files=here[folder], files_below=below[folder], size_bytes=whole[folder])
        for folder in sorted(shallow[:most])
    ]
    return tuple(rows), max(0, len(shallow) - most)


def _above(folder: str) -> Sequence[str]:
    found = [folder]
    while found[-1]:
        found.append(posixpath.dirname(found[-1]))
    return found


def _roles(files: Mapping[str, int]) -> tuple[RoleCount, ...]:
    count: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    roles = {path: role_of(path) for path in files}
    for path, role in roles.items():
        count[role] += 1
        sizes[role] += files[path]
    return tuple(
        RoleCount(role=role, files=count[role], size_bytes=sizes[role]) for role in sorted(set(roles.values()))
    )
