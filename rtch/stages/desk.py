"""What a stage may touch besides its inputs: the tree, and the shelf of artifacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from rtch.models.base import Record
from rtch.models.inventory import FeatureShard
from rtch.store import Ref, Store
from rtch.workspace import Workspace

M = TypeVar("M", bound=Record)


class Desk:
    """One stage's view of the world.

    Attributes:
        workspace: the only reader of the tree.
        shelved: digests of the artifacts that the stage has put aside for its own result to name.
    """

    def __init__(self, workspace: Workspace, store: Store) -> None:
        self.workspace = workspace
        self.shelved: list[str] = []
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

    def shelve(self, record: Record) -> str:
        """Keep a part of the stage's result as an artifact of its own and return its digest."""
        ref = self._store.put(record)
        digest = ref.digest if ref.inline is None else self._store.put_bytes(ref.inline)
        self.shelved.append(digest)
        return digest

    def keep(self, digest: str) -> None:
        """Name an artifact of an earlier run as part of this result."""
        self.shelved.append(digest)

    def has(self, digest: str) -> bool:
        """Tell whether the store still has an artifact."""
        return self._store.has(digest)

    def shards(self, digests: Sequence[str]) -> Iterator[FeatureShard]:
        """Yield feature shards one by one, so that no stage holds a whole tree's features."""
        for digest in digests:
            yield self._store.load(Ref("FeatureShard", digest), FeatureShard)

    def note(self, name: str) -> bytes | None:
        """Return a named blob that an earlier run left to save work; never trusted for more than that."""
        return self._store.get_blob(name)

    def leave(self, name: str, data: bytes) -> None:
        """Leave a named blob for a later run."""
        self._store.set_blob(name, data)
