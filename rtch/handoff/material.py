"""What of a packet may be handed on, and the whole files that are: all that packaging reads of the tree.

A packet keeps the text that was shown when it was made, and ledgers are corrected since. So each ledger that a packet
cites is looked at again, as corrections of its zone show it now; every other chunk is handed on as it is.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rtch.anchors import stands
from rtch.effective import has_rows, view_on
from rtch.errors import RtchError
from rtch.masking import mask, secret_name
from rtch.reading import SkippedFile
from rtch.reentry import path_bytes
from rtch.text import decode
from rtch.verification import read_now

if TYPE_CHECKING:
    from rtch.models.chunk import Chunk, Surface
    from rtch.models.packet import Packet

MAX_FILE_BYTES = 2 * 1024 * 1024
"""Of one file that is handed on whole; consumers read dumps, and of a larger file they read the chunks."""
MAX_ALL_BYTES = 16 * 1024 * 1024
"""Of all of them."""
UNTELLABLE = "whether it is corrected cannot be told"


class WholeFile(NamedTuple):
    """A selected surface as it is now."""

    text: str
    lines: int
    masked: bool
    changed: bool
    """Whether it has other bytes than the packet saw."""


class Material(NamedTuple):
    """What packaging has read of the tree, and why it hands on less than there is."""

    whole: Mapping[str, WholeFile] = {}
    """By path."""
    chunks_only: Mapping[str, str] = {}
    """Why a path is not handed on whole though that was asked for."""
    untold: Mapping[str, str] = {}
    """Why a chunk, by its id, is not handed on."""
    no_targets: Mapping[str, str] = {}
    """Why a path must not be given to a program that reads the file itself."""
    doubted: Mapping[str, str] = {}
    """Why a ledger that is shown supports no claim."""


def material_of(packet: Packet, root: Path, *, whole_files: bool = False) -> Material:
    """Look at what a packet cites, as far as it has to be looked at.

    Args:
        packet: the packet.
        root: the zone root.
        whole_files: whether the selected surfaces are handed on whole.

    Bounds: ledgers that are cited; with ``whole_files`` 2 MiB a file and 16 MiB in all, best ranks first.
    """
    no_targets = {one.path: why for one in packet.selected_surfaces if (why := _off_limits(one, root))}
    untold: dict[str, str] = {}
    doubted: dict[str, str] = {}
    for path, chunks in _ledgers(packet).items():
        why, doubt = _corrected(root, path, encoded=any(chunk.path_encoded for chunk in chunks))
        if doubt:
            doubted[path] = doubt
        if why:
            no_targets[path] = why
            untold.update(_out_of_date(root, path, chunks, why))
    if not whole_files:
        return Material({}, {}, untold, no_targets, doubted)
    whole, chunks_only = _whole(packet.selected_surfaces, root)
    return Material(whole, chunks_only, untold, no_targets, doubted)


def _off_limits(surface: Surface, root: Path) -> str:
    """Return why no program may be sent to a path: what a packet names may have been written by anybody."""
    try:
        name = path_bytes(surface.path, encoded=surface.path_encoded)
        place = os.path.realpath(os.fsencode(root) + b"/" + name)
    except ValueError:
        return "it is no path"
    top = os.path.realpath(os.fsencode(root)).rstrip(b"/") + b"/"
    if name.startswith(b"/") or b".." in name.split(b"/") or not place.startswith(top):
        return "it leads out of the tree"
    return secret_name(surface.path) or ""


# Corrections.


def _ledgers(packet: Packet) -> dict[str, list[Chunk]]:
    found: dict[str, list[Chunk]] = {one.path: [] for one in packet.selected_surfaces if _has_rows(one)}
    for chunk in packet.hydrated_chunks:
        if _has_rows(chunk):
            found.setdefault(chunk.path, []).append(chunk)
    return found


def _has_rows(one: Surface | Chunk) -> bool:
    try:
        name = path_bytes(one.path, encoded=one.path_encoded)
    except ValueError:
        return False
    return has_rows(name)


def _corrected(root: Path, path: str, *, encoded: bool) -> tuple[str, str]:
    """Return why a ledger's own bytes are not what it says, and why it supports no claim; empty where neither is so."""
    try:
        viewed = view_on(root, path_bytes(path, encoded=encoded))
    except (RtchError, ImportError, OSError, ValueError) as error:
        return f"{UNTELLABLE}: {error}", ""
    if viewed is None:
        return "", ""
    view, name = viewed
    held = view.withheld(name)
    if held is not None:
        return f"held, {held.reason}: {held.detail} ({held.source}:L{held.line})", ""
    doubt = next((f"{one.reason}: {one.detail}" for one in view.held if one.surface == name), "")
    return ("rows of it are corrected" if view.replaces(name) else ""), doubt


def _out_of_date(root: Path, path: str, chunks: Sequence[Chunk], why: str) -> Iterator[tuple[str, str]]:
    """Yield the chunks of a corrected ledger that do not show it as it is corrected."""
    for chunk in chunks:
        try:
            if stands(read_now(root, path, encoded=chunk.path_encoded), chunk):
                continue
            yield chunk.chunk_id, f"{why}, and the packet has its text of before"
        except (SkippedFile, RtchError, ImportError, ValueError):
            yield chunk.chunk_id, why


# Whole files.


def _whole(surfaces: Iterable[Surface], root: Path) -> tuple[dict[str, WholeFile], dict[str, str]]:
    whole: dict[str, WholeFile] = {}
    chunks_only: dict[str, str] = {}
    left = MAX_ALL_BYTES
    for surface in surfaces:
        secret = secret_name(surface.path)
        if secret is not None:
            chunks_only[surface.path] = secret
            continue
        try:
            data = read_now(root, surface.path, encoded=surface.path_encoded).data
        except SkippedFile as skipped:
            chunks_only[surface.path] = ", ".join(filter(None, (skipped.reason, skipped.detail)))
            continue
        except (RtchError, ImportError, ValueError) as error:
            chunks_only[surface.path] = str(error)
            continue
        if len(data) > min(MAX_FILE_BYTES, left):
            limit = f"{MAX_FILE_BYTES} a file" if len(data) > MAX_FILE_BYTES else f"{MAX_ALL_BYTES} for all"
            chunks_only[surface.path] = f"{len(data)} bytes, limit {limit}"
            continue
        left -= len(data)
        whole[surface.path] = _shown(data, surface.sha256)
    return whole, chunks_only


def _shown(data: bytes, digest: str) -> WholeFile:
    text, masked = mask(decode(data).text)
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    return WholeFile(text, lines, bool(masked), hashlib.sha256(data).hexdigest() != digest)


def root_of(packet: Packet, root: Path | None) -> Path:
    """Return the zone root that a packet's paths are relative to, as it was named; it need not be there."""
    return Path(os.path.abspath(root or packet.run.zone_root))  # noqa: PTH100  links stay as they are named
