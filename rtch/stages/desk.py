"""What a stage may touch besides its inputs: the tree, and the notes of earlier runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar

from rtch.errors import Dangling
from rtch.models.base import Record
from rtch.refs import Ref
from rtch.store import Store
from rtch.workspace import Workspace

M = TypeVar("M", bound=Record)


class Desk:
    """One stage's view of the world.

    Attributes:
        workspace: the only reader of the tree.
    """

    def __init__(self, workspace: Workspace, store: Store) -> None:
        self.workspace = workspace
        self._store = store
        self._complete = True

    @property
    def trustworthy(self) -> bool:
        """Whether every file was read as it was when it was listed, and every search came to its end.

        A file that another stage found changed counts too: this one may have read it just the same.
        """
        return self._complete and not self.workspace.unstable

    def distrust(self) -> None:
        """Say that a search ran out of time or failed, so that the result is not kept for another run."""
        self._complete = False

    def notes(self, names: Collection[str]) -> dict[str, bytes]:
        """Return the named blobs that earlier runs left to save work; never trusted for more than that."""
        return self._store.get_blobs(names)

    def leave(self, notes: Mapping[str, bytes]) -> None:
        """Leave named blobs for later runs."""
        self._store.set_blobs(notes)

    def shelve(self, record: Record) -> str:
        """Keep a record as an artifact of its own and return its digest, for a note to name."""
        ref = self._store.put(record)
        return ref.digest if ref.inline is None else self._store.put_bytes(ref.inline)

    def shelved(self, digest: str, model: type[M]) -> M | None:
        """Return an artifact that an earlier run shelved, if the store still has it."""
        try:
            return self._store.load(Ref(model.__name__, digest), model)
        except Dangling:
            return None
