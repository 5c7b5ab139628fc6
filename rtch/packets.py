"""Packets after they are made: sealed under an id, kept, found and read again.

The id is the digest of the findings, so a packet is immutable: keeping one that is already kept changes
nothing, and a file whose findings do not have their id is not shown. Nothing here imports the models at
module level; see ``documents``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rtch.documents import ID_PREFIX, Document, document_id, document_of, parsed, view_of
from rtch.errors import ArtifactError
from rtch.packet_files import create_file, parse_document, read_file, replace_file, zone_packet_folder
from rtch.version import VERSION
from rtch.zone_marker import declared_packets

if TYPE_CHECKING:
    from rtch.models.chunk import Chunk
    from rtch.models.packet import Findings, Packet
    from rtch.models.run import RunRecord

SCHEMA = "rtch.packet/1"
MAX_RECENT = 200
"""Packets remembered without being kept for good: some days of an agent's work."""
_ID = re.compile(rf"{ID_PREFIX}[0-9a-f]{{64}}")
_ID_OR_PREFIX = re.compile(rf"(?:{ID_PREFIX})?([0-9a-f]{{8,64}})")
_ID_LINE = re.compile(rb"(?m)^packet_id: (rtch_packet_[0-9a-f]{64})$")
_SUFFIXES = (".yaml", ".yml", ".json")
_LAST = "last"


# Sealing.


def packet_id(findings: Findings, parent: str | None = None) -> str:
    """Return the id of some findings, or of a packet with its parent; ``parent`` is that of a packet to be."""
    made = {} if parent is None else {"parent_packet_id": parent}
    return document_id(findings.model_dump(mode="json") | made)


def seal(
    findings: Findings, run: RunRecord, generated_at: str, tic: int | None, *, parent: str | None = None
) -> Packet:
    """Return the packet of some findings.

    Args:
        findings: stage 7's artifact.
        run: the record of the run that made this copy.
        generated_at: ISO 8601.
        tic: the zone's counter, where it has one.
        parent: the id of the packet that this one takes the place of.
    """
    from rtch.models.packet import Findings as Model  # noqa: PLC0415
    from rtch.models.packet import Packet  # noqa: PLC0415

    return Packet(
        **{name: getattr(findings, name) for name in Model.model_fields},
        packet_id=packet_id(findings, parent),
        parent_packet_id=parent,
        generated_at=generated_at,
        generated_at_tic=tic,
        run=run,
    )


# Keeping.


def persist(packet: Packet, *, allowed: tuple[Path, ...] = ()) -> Packet:
    """Keep a packet for good, in its own zone or else in rtch's data folder; return it with the place.

    Raises:
        ZoneError: the zone's audit folder leads out of the zone.
        ArtifactError: the file cannot be written.
    """
    place = target_path(packet, Path(packet.run.zone_root), allowed=allowed)
    placed = packet.model_copy(update={"run": packet.run.model_copy(update={"persisted_at": str(place)})})
    _keep(placed, place)
    return placed


def save(packet: Packet, zone_root: Path, *, allowed: tuple[Path, ...] = ()) -> Path:
    """Write a packet where its zone keeps packets and return the path; a file that is there is left.

    Raises:
        ZoneError: the zone's audit folder leads out of the zone.
        ArtifactError: the file cannot be written, or another file stands under the packet's id.
    """
    place = target_path(packet, zone_root, allowed=allowed)
    _keep(packet, place)
    return place


def target_path(packet: Packet, zone_root: Path, *, allowed: tuple[Path, ...] = ()) -> Path:
    """Return where a packet of this zone is kept, making the folder.

    That is ``rtch/packets`` in the zone's audit folder where there is one, and never a zone folder that
    does not exist already; else ``packets`` in rtch's data folder.
    """
    audit_logs = packet.zone_descriptor.audit_logs
    if audit_logs and (zone_root / audit_logs).is_dir():
        folder = zone_packet_folder(zone_root, audit_logs, allowed=allowed)
    else:
        folder = _data_folder("packets")
    return folder / f"{_checked_id(packet.packet_id)}.yaml"


def _keep(packet: Packet, place: Path) -> None:
    from rtch.yaml_text import to_yaml_text  # noqa: PLC0415

    data = to_yaml_text(document_of(packet)).encode()
    in_zone = place.parent != _data_folder("packets")
    if not create_file(place.parent, place.name, data, mode=0o644 if in_zone else 0o600):
        _document_at(place, expected=packet.packet_id)


def remember(packet: Packet) -> Path:
    """Keep a packet among the last 200, as the last of its zone; return the path.

    Raises:
        ArtifactError: the data folder cannot be written.
    """
    folder = _data_folder("recent")
    place = folder / f"{_checked_id(packet.packet_id)}.json"
    replace_file(
        place,
        json.dumps(document_of(packet), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"),
    )
    for name in (_LAST, _last_of(Path(packet.run.zone_root))):
        replace_file(folder / name, packet.packet_id.encode())
    _forget_oldest(folder)
    return place


def _last_of(zone_root: Path) -> str:
    return f"{_LAST}-{hashlib.sha256(os.fsencode(zone_root)).hexdigest()[:16]}"


def _forget_oldest(folder: Path) -> None:
    rows: list[tuple[float, str]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".json") or entry.name.startswith(f"{_LAST}-"):
                with contextlib.suppress(FileNotFoundError):
                    rows.append((entry.stat().st_mtime, entry.name))
    for kind in (".json", ""):
        names = [name for _, name in sorted(rows, reverse=True) if name.endswith(".json") == bool(kind)]
        for name in names[MAX_RECENT:]:
            (folder / name).unlink(missing_ok=True)


# Finding.


def load(ref: str | Path, *, roots: Sequence[Path] = ()) -> Packet:
    """Return the packet that a path, an id or the beginning of an id names.

    Args:
        ref: a file; or an id, or at least 8 of its hexadecimal digits, of a packet that was kept or remembered.
        roots: zones whose packets are looked through as well.

    Raises:
        ArtifactError: there is none or more than one, it is damaged, or its schema is unknown.
    """
    place = find(ref, roots=roots)
    return _validated(_document_at(place), str(place))


def peek(ref: str | Path, *, roots: Sequence[Path] = ()) -> Packet:
    """Return a packet to be read and shown, without the models where rtch wrote the document itself.

    What rtch wrote is told by the digest: the same findings are remembered, or lie in its data folder. Any
    other document goes through the models first. Raises as ``load`` does.
    """
    place = find(ref, roots=roots)
    data = read_file(place)
    document = _remembered_as(data) or _document_in(data, place)
    if _is_ours(document, place):
        return view_of(document)
    return view_of(document_of(_validated(document, str(place))))


def parsed_from(data: bytes, name: str) -> Packet:
    """Return the packet in some bytes that come from no file.

    Args:
        data: JSON or YAML.
        name: what they are called in messages.

    Raises:
        ArtifactError: they hold none, or one that was changed after it was sealed.
    """
    return _validated(_document_in(data, Path(name)), name)


def last_packet(zone_root: Path | None = None) -> Packet | None:
    """Return the packet that was remembered last, of a zone if one is given and has one; None if there is none.

    Raises:
        ArtifactError: it is damaged.
    """
    folder = _data_folder("recent")
    names = [_LAST] if zone_root is None else [_last_of(zone_root), _LAST]
    for name in names:
        with contextlib.suppress(ArtifactError):
            wanted = read_file(folder / name).decode("ascii", "replace")
            place = folder / f"{_checked_id(wanted)}.json"
            if place.exists():
                return peek(place)
    return None


def find(ref: str | Path, *, roots: Sequence[Path] = ()) -> Path:
    """Return the file that a reference names, as ``load`` does.

    Raises:
        ArtifactError: there is none or more than one.
    """
    text = str(ref)
    match = _ID_OR_PREFIX.fullmatch(text)
    if isinstance(ref, Path) or match is None:
        if "/" in text or text.endswith(_SUFFIXES) or isinstance(ref, Path):
            return Path(ref)
        raise ArtifactError(f"{text!r} is no packet", hint="give a file, an id, or at least 8 digits of an id")
    found = {place.stem: place for place in _named(f"{ID_PREFIX}{match[1]}", roots)}
    if len(found) > 1:
        raise ArtifactError(f"{text} begins {len(found)} packet ids", hint="give more digits")
    if not found:
        raise ArtifactError(f"no packet {text} is kept or remembered", hint="rtch packet list shows those that are")
    return next(iter(found.values()))


class Listed(NamedTuple):
    """A packet that can be named, and where it lies."""

    packet_id: str
    path: Path
    mtime: float


def listed(*, roots: Sequence[Path] = ()) -> list[Listed]:
    """Return what is kept and remembered, newest first, each packet once."""
    found: dict[str, Listed] = {}
    for place in _named(ID_PREFIX, roots):
        with contextlib.suppress(FileNotFoundError):
            found[place.stem] = Listed(place.stem, place, place.stat().st_mtime)
    return sorted(found.values(), key=lambda row: (-row.mtime, row.packet_id))


def chunk_of(packet: Packet, chunk_id: str) -> Chunk:
    """Return a packet's chunk.

    Raises:
        ArtifactError: it has none of that id.
    """
    for chunk in packet.hydrated_chunks:
        if chunk.chunk_id == chunk_id:
            return chunk
    raise ArtifactError(f"{packet.packet_id} has no chunk {chunk_id}", hint=f"it has {len(packet.hydrated_chunks)}")


def zone_folders(root: Path) -> Iterator[Path]:
    """Yield the folders in which a zone may keep packets."""
    yield root / "audit-logs" / "rtch" / "packets"
    yield from (folder for folder in declared_packets(root) if folder.resolve().is_relative_to(root.resolve()))


def _named(beginning: str, roots: Iterable[Path]) -> Iterator[Path]:
    """Yield packet files whose name begins so; of one packet, the remembered copy comes last."""
    folders = [
        *(folder for root in roots for folder in zone_folders(root)),
        _data_folder("packets"),
        _data_folder("recent"),
    ]
    for folder in folders:
        try:
            places = sorted(folder.iterdir())
        except OSError:
            continue
        for place in places:
            if place.suffix in _SUFFIXES and place.stem.startswith(beginning) and _ID.fullmatch(place.stem):
                yield place


def _data_folder(name: str) -> Path:
    from rtch import home  # noqa: PLC0415

    return home.private_dir(home.data_dir() / name)


# Judging what was read.


def _document_at(place: Path, *, expected: str | None = None) -> Document:
    document = _document_in(read_file(place), place)
    if expected is not None and (document.get("packet_id") != expected or not _is_sealed(document)):
        raise ArtifactError(f"{place} does not hold the packet that its name says")
    return document


def _document_in(data: bytes, place: Path) -> Document:
    document = parse_document(data, str(place))
    schema = document.get("schema_version")
    if schema is None:
        raise ArtifactError(f"{place} is no packet: it has no schema_version")
    if schema != SCHEMA:
        raise ArtifactError(f"{place} has the schema {schema!r}, this rtch reads {SCHEMA}")
    if "omitted" in document:
        raise ArtifactError(
            f"{place} is a shortened view of {document.get('packet_id')}", hint="load the whole packet by its id"
        )
    return document


def _remembered_as(data: bytes) -> Document | None:
    """Return the remembered document that these bytes of YAML are of; None where they must be parsed.

    Writing a packet again takes a fifth of the time of parsing it.
    """
    from rtch.yaml_text import to_yaml_text  # noqa: PLC0415

    match = _ID_LINE.search(data)
    if data[:1] == b"{" or match is None:
        return None
    place = _data_folder("recent") / f"{match[1].decode()}.json"
    try:
        document = json.loads(place.read_bytes())
    except (OSError, ValueError):
        return None
    return document if to_yaml_text(document).encode() == data else None


def _is_sealed(document: Document) -> bool:
    try:
        return document_id(document) == document.get("packet_id")
    except (ValueError, TypeError, RecursionError):
        return False


def _is_ours(document: Document, place: Path) -> bool:
    run = document.get("run")
    if not isinstance(run, dict) or run.get("rtch_version") != VERSION or not _is_sealed(document):
        return False
    mine = (_data_folder("recent"), _data_folder("packets"))
    return place.parent in mine or (mine[0] / f"{document['packet_id']}.json").exists()


def _validated(document: Document, where: str) -> Packet:
    """Read a document by the models, and compare its digest with its id."""
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        packet = parsed(document)
    except (ValidationError, ValueError, TypeError) as error:
        raise ArtifactError(f"{where} is no packet: {_complaint(error)}") from error
    if packet_id(packet) != packet.packet_id:
        raise ArtifactError(f"{where} does not have the digest of its id: it was changed after it was sealed")
    return packet


def _complaint(error: Exception) -> str:
    from pydantic import ValidationError  # noqa: PLC0415

    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


def _checked_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise ArtifactError(f"{text[:100]!r} is no packet id")
    return text
