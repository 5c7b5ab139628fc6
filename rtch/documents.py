"""A packet as a plain document: what is written, hashed and shown, without loading the models.

Importing the models takes 0.3 s, more than showing a packet may. A document whose digest is its id and that
rtch wrote itself needs no second validation; ``packets`` decides which those are, and views them here.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtch.models.packet import Packet

Document = dict[str, Any]
"""JSON values under the field names of ``Packet``, in the model's order."""

ID_PREFIX = "rtch_packet_"
NOT_HASHED = frozenset({"packet_id", "run", "generated_at", "generated_at_tic"})


def document_of(packet: Packet) -> Document:
    """Return the packet as plain values."""
    if isinstance(packet, _View):
        return packet.raw
    return packet.model_dump(mode="json")


def view_of(document: Document) -> Packet:
    """Return a document to be read like the packet it is a dump of: attributes, tuples, no methods."""
    return cast("Packet", _View(document))


def model_of(packet: Packet) -> Packet:
    """Return the packet as its model, where it is a view."""
    return parsed(packet.raw) if isinstance(packet, _View) else packet


def parsed(document: Document) -> Packet:
    """Return the packet of a document, read by the models.

    The record of a run may hold paths that are not UTF-8, as Python writes them; in JSON the models refuse those.

    Raises:
        pydantic.ValidationError: it is no packet.
    """
    from rtch.models.packet import Packet as Model  # noqa: PLC0415
    from rtch.models.run import RunRecord  # noqa: PLC0415

    try:
        json.dumps(document.get("run"), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        run = RunRecord.model_validate(document["run"], strict=False)
        plain = run.model_copy(
            update={"zone_root": "", "repo_root": "", "cwd": "", "persisted_at": "", "handoff": None}
        )
        packet = Model.parse(json.dumps(document | {"run": plain.model_dump(mode="json")}))
        return packet.model_copy(update={"run": run})
    return Model.parse(json.dumps(document))


def document_id(document: Mapping[str, Any]) -> str:
    """Return the id that a document's findings have."""
    findings = {name: value for name, value in document.items() if name not in NOT_HASHED}
    return ID_PREFIX + hashlib.sha256(canonical_bytes(findings)).hexdigest()


def canonical_bytes(value: object) -> bytes:
    """Return the bytes of ``models.base.canonical_json``, which cannot be imported without the models."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


class _View:
    """Attribute access to a mapping; members of a closed set are their plain strings."""

    __slots__ = ("raw",)

    def __init__(self, raw: Document) -> None:
        self.raw = raw

    def __getattr__(self, name: str) -> Any:
        try:
            return _seen(self.raw[name])
        except KeyError:
            raise AttributeError(name) from None


def _seen(value: object) -> object:
    if isinstance(value, dict):
        return _View(value)
    return tuple(map(_seen, value)) if isinstance(value, list) else value
