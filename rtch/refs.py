"""References to artifacts: what runs through the pipeline, and what a stage row holds."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from rtch.keys import KeyParts
from rtch.models.base import Record

T_co = TypeVar("T_co", covariant=True)


class Ref(Generic[T_co]):
    """A reference to an artifact: what runs through the pipeline in the artifact's place.

    A plain class with slots on purpose: Prefect walks dataclasses, models and containers in task
    parameters and would see edges that are none.

    Attributes:
        kind: name of the artifact's model.
        digest: sha256 of its canonical bytes.
        inline: its bytes, when they are few.
    """

    __slots__ = ("digest", "inline", "kind")

    kind: str
    digest: str
    inline: bytes | None

    def __init__(self, kind: str, digest: str, inline: bytes | None = None) -> None:
        for name, value in (("kind", kind), ("digest", digest), ("inline", inline)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a reference is frozen: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a reference is frozen: {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Ref, (self.kind, self.digest, self.inline)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ref):
            return NotImplemented
        return (self.kind, self.digest) == (other.kind, other.digest)

    def __hash__(self) -> int:
        return hash((self.kind, self.digest))

    def __repr__(self) -> str:
        return f"Ref({self.kind} {self.digest[:12]})"


class StageRow(Record):
    """The head of a ``k/`` row; the bytes of an inline artifact follow it after a line break."""

    kind: str
    digest: str
    inline: bool
    key: KeyParts


def loaded_models() -> dict[str, type[Record]]:
    """Return every record model that is loaded, by name; a stored name can never import anything."""
    found: dict[str, type[Record]] = {}
    waiting: list[type[Record]] = [Record]
    while waiting:
        for model in waiting.pop().__subclasses__():
            if model.__name__ not in found or model.__module__.startswith("rtch."):
                found[model.__name__] = model
            waiting.append(model)
    return found
