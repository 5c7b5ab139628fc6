"""The paths of a zone: how they are named, what they are, and which of them may be shown."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from rtch.listing import Columns
from rtch.models.tree import Listing
from rtch.models.vocab import EntryKind, SkipReason
from rtch.paths import lies_in, typed
from rtch.reading import SkippedFile
from rtch.sight import kind_of


class ZonePaths:
    """The listing of a zone, and the way from what somebody typed to a path in it.

    Attributes:
        root: the zone root, with all links resolved.
        listing: what belongs to the tree.
    """

    def __init__(self, root: Path, seen: Columns, left_out: tuple[bytes, ...]) -> None:
        """Take a looked-at tree, and rtch's own outputs in it."""
        self.root = root
        self.listing: Listing = seen.listing
        self._base = os.fsencode(root)
        self._seen = seen
        self._left_out = left_out

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The listing's paths with their indices."""
        return {path: i for i, path in enumerate(self.listing.paths)}

    def name_of(self, path: str) -> bytes:
        """Return a zone path's own bytes."""
        i = self.index.get(path) if self.listing.encoded else None
        return os.fsencode(path) if i is None else self._seen.names[i]

    def kind(self, path: str) -> EntryKind:
        """Return what a path is; one outside the listing is looked at on the disk."""
        i = self.index.get(path)
        if i is not None:
            return self.listing.kinds[i]
        status = self._lstat(path)
        return EntryKind.ABSENT if status is None else kind_of(status.st_mode)

    def size(self, path: str) -> int:
        """Return the size that the listing saw; 0 outside it."""
        i = self.index.get(path)
        return 0 if i is None else self.listing.sizes[i]

    def under(self, folder: str) -> tuple[str, ...]:
        """Return the listed paths at or below a folder, in order; ``.`` is the whole zone."""
        paths = self.listing.paths
        if folder == ".":
            return paths
        if folder in self.index:
            return (folder,)
        # "0" follows "/", so these two bound what begins with the folder.
        return paths[bisect_left(paths, folder + "/") : bisect_left(paths, folder + "0")]

    def locate(self, path_text: str, cwd: Path | None = None) -> str:
        """Turn a path that somebody named into a zone path.

        It is tried below the root, then below ``cwd``. Links are followed as long as they stay in
        the zone. The root itself is ``.``; a path that exists but is not listed (an ignored file)
        is found too.

        Raises:
            SkippedFile: NOT_FOUND, OUTSIDE_ZONE, BROKEN_LINK, EXCLUDED (``.git``), SUBMODULE (what
                lies in one) or OWN_OUTPUT.
        """
        for text in (path_text, path_text.strip()):
            plain = text.rstrip("/").removeprefix("./")
            if plain in self.index and self.kind(plain) is not EntryKind.SYMLINK:
                return plain
        if not text or "\0" in text:
            raise SkippedFile(SkipReason.NOT_FOUND, typed(path_text), "not a path")
        outside: SkippedFile | None = None
        for start in (self.root, *([] if cwd is None else [cwd])):
            try:
                return self._resolve(start, text)
            except SkippedFile as skipped:
                if skipped.reason not in {SkipReason.NOT_FOUND, SkipReason.OUTSIDE_ZONE}:
                    raise
                outside = skipped if skipped.reason is SkipReason.OUTSIDE_ZONE else outside
        raise outside or SkippedFile(SkipReason.NOT_FOUND, typed(path_text), "no such path in the zone")

    def _resolve(self, start: Path, text: str) -> str:
        named = start / text
        try:
            real = Path(os.path.realpath(named))
            if not real.is_relative_to(self.root):
                inside = Path(os.path.normpath(named)).is_relative_to(self.root)
                detail = "a link leads out of the zone" if inside else ""
                raise SkippedFile(SkipReason.OUTSIDE_ZONE, typed(text), detail)
            path = self._zone_path(os.fsencode(real.relative_to(self.root)))
            if path in self.index and self.kind(path) is not EntryKind.SYMLINK:
                return path
            if not os.path.lexists(real) or real.is_symlink():
                reason = SkipReason.BROKEN_LINK if named.is_symlink() else SkipReason.NOT_FOUND
                raise SkippedFile(reason, typed(text))
        except (OSError, ValueError) as error:
            raise SkippedFile(SkipReason.NOT_FOUND, typed(text), str(error)) from None
        self._check_place(path)
        return path

    def _zone_path(self, name: bytes) -> str:
        """Return how the listing shows some bytes."""
        if not self.listing.encoded:
            return os.fsdecode(name)
        return self._encoded_names.get(name) or os.fsdecode(name)

    @cached_property
    def _encoded_names(self) -> dict[bytes, str]:
        return {self._seen.names[i]: self.listing.paths[i] for i in self.listing.encoded}

    def _check_place(self, path: str) -> None:
        """Refuse a path outside the listing that is not the tree's to show."""
        parts = path.split("/")
        if ".." in parts or path.startswith("/"):
            raise SkippedFile(SkipReason.OUTSIDE_ZONE, path)
        if ".git" in parts:
            raise SkippedFile(SkipReason.EXCLUDED, path, "git's own files")
        if lies_in(self.name_of(path), self._left_out):
            raise SkippedFile(SkipReason.OWN_OUTPUT, path, "written by rtch")
        above = ("/".join(parts[:n]) for n in range(1, len(parts)))
        if any(folder in self.index and self.kind(folder) is EntryKind.SUBMODULE for folder in above):
            raise SkippedFile(SkipReason.SUBMODULE, path, "lies in a submodule")

    def _lstat(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(self._base + b"/" + self.name_of(path))
        except (OSError, ValueError):
            return None
