"""The same question on the same tree: the packet is shown again without asking any stage.

A direct run leaves its packet under one digest of everything that the findings follow from. That is a
copy of what the stages keep, for speed alone: it is checked when it is read, and where it is missing,
damaged or to be refreshed the pipeline runs and finds its own artifacts. A Prefect run always asks every
stage, so that the UI shows each as cached.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from rtch.decisions import is_disposition
from rtch.documents import Document, document_id, document_of, model_of, view_of
from rtch.entry import Entry, now, question_digest, run_record
from rtch.models.vocab import Engine
from rtch.tics import zone_tic

if TYPE_CHECKING:
    from rtch.models.packet import Packet

log = logging.getLogger("rtch.shortcut")


def hydrate_direct(entry: Entry) -> Packet:
    """Return the packet of an entered tree, by the pipeline in this process where it must be.

    Raises:
        RtchError: whatever the stages raise.
    """
    digest = question_digest(entry)
    known = None if entry.options.refresh else _recalled(entry, digest)
    if known is not None:
        return known
    from rtch.session import open_session, run_direct  # noqa: PLC0415  the stages and their models

    packet = run_direct(open_session(entry))
    # A stage that did not see all it should has left nothing under its key, and its packet is not shown again.
    if not entry.workspace.unstable and all(entry.store.get_stage(one.key) for one in packet.run.stages):
        # What the index has other bytes of is asked again where its own bytes are others: git takes a while to say.
        told = {"index": entry.workspace.index_digest, "differs": packet.run.index_differs}
        kept = document_of(packet) | {"run": told}
        entry.store.set_blob(_name(digest), json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return packet


def _name(digest: str) -> str:
    return f"packet/{digest}"


def _recalled(entry: Entry, digest: str) -> Packet | None:
    """Return the packet that an earlier run left, with the record of this one."""
    data = entry.store.get_blob(_name(digest))
    if data is None:
        return None
    try:
        document: Document = json.loads(data)
        genuine = document["packet_id"] == document_id(document)
        blobs = {chunk["path"]: chunk["blob_id"] for chunk in document["hydrated_chunks"]}
        known = document["run"]["index"] == entry.workspace.index_digest != ""
        differs = tuple(map(str, document["run"]["differs"])) if known else None
    except (ValueError, KeyError, TypeError) as error:
        log.warning("the packet kept for this question is unreadable and made again: %s", error)
        return None
    if not genuine:
        log.warning("the packet kept for this question does not have its id and is made again")
        return None
    document["generated_at"] = now()
    document["generated_at_tic"] = zone_tic(entry.choice.root)
    document["run"] = run_record(entry, Engine.DIRECT, blobs, differs=differs).model_dump(mode="json")
    packet = view_of(document)
    if not is_disposition(packet.intake):
        return packet
    from rtch.complementing import with_complement  # noqa: PLC0415  few goals decide what becomes of an artifact

    return with_complement(model_of(packet), entry.choice.root)
