"""The packets there are as a history: which are superseded, which are pinned, and which may go.

A packet is whole in its file: showing, comparing and verifying it read no artifact of the store. So a pin keeps
the file, and leaves the store's own pins alone: ``rtch cache gc`` can cost a pinned packet nothing.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rtch import home, packets
from rtch.documents import ID_PREFIX, canonical_bytes, document_of
from rtch.errors import ArtifactError
from rtch.heat import age_days, moment_of
from rtch.packet_files import create_file, parse_document, read_file, replace_file

if TYPE_CHECKING:
    from rtch.models.chunk import Chunk
    from rtch.models.packet import Packet

_PACKET_NAME = re.compile(rf"({ID_PREFIX}[0-9a-f]{{64}})\.(?:json|ya?ml)")
_NOT_ASKED = frozenset({"schema_version", "notes"})
"""Fields of an intake that say how it was written, and not what is asked."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


# Supersession.


class Entry(NamedTuple):
    """A packet that can be named, with what it says where it can be read."""

    packet_id: str
    path: Path
    mtime: float
    packet: Packet | None
    trouble: str = ""


def entries(*, roots: Sequence[Path] = (), goal: str | None = None) -> list[Entry]:
    """Read every packet that is kept or remembered, newest file first; an unreadable one says why.

    Args:
        roots: zones whose kept packets count as well.
        goal: of an intake; files that cannot be of it are not parsed, which takes most of the time.
    """
    found = packets.listed(roots=roots)
    if goal is not None:
        written = {json.dumps(goal, ensure_ascii=form).encode("utf-8", "surrogatepass") for form in (False, True)}
        found = [one for one in found if _may_hold(one.path, written)]
    return [_entry(one) for one in found]


def _may_hold(place: Path, written: Iterable[bytes]) -> bool:
    """Tell whether a file may hold some text, in one of the ways in which JSON writes it; YAML has too many ways."""
    if place.suffix != ".json":
        return True
    try:
        data = read_file(place)
    except ArtifactError:
        return True
    return any(one in data for one in written)


def _entry(one: packets.Listed) -> Entry:
    try:
        packet = packets.peek(one.path)
    except ArtifactError as error:
        return Entry(*one, None, str(error))
    if packet.packet_id != one.packet_id:
        return Entry(*one, None, f"{one.path} does not hold the packet that its name says")
    return Entry(*one, packet)


def question_of(packet: Packet) -> bytes:
    """Return what makes two packets answers to one question: the same request of the same zone root."""
    document = document_of(packet)
    asked = {name: value for name, value in document["intake"].items() if name not in _NOT_ASKED}
    return canonical_bytes([asked, document["run"]["zone_root"]])


def superseding(found: Iterable[Entry]) -> dict[str, str]:
    """Return, for each packet that a newer one of its question supersedes, the newest one's id.

    A packet that says of no time when it was made neither supersedes nor is superseded; nor does one supersede that
    was made of another and has no chunk that the other has not.
    """
    found = list(found)
    empty = _bringing_nothing(found)
    by_question: dict[bytes, list[tuple[datetime, str]]] = {}
    for one in found:
        moment = None if one.packet is None else moment_of(one.packet.generated_at)
        if one.packet is not None and moment is not None:
            by_question.setdefault(question_of(one.packet), []).append((moment, one.packet_id))
    bringing = {question: [row for row in rows if row[1] not in empty] for question, rows in by_question.items()}
    newest = {question: max(rows)[1] for question, rows in bringing.items() if rows}
    return {
        packet_id: newest[question]
        for question, rows in by_question.items()
        for _, packet_id in rows
        if question in newest and packet_id != newest[question]
    }


def brings_something(packet: Packet, parent: Packet) -> bool:
    """Tell whether a packet has a chunk that the one it was made of has not, at these lines and with this text."""
    had = {_span(chunk) for chunk in parent.hydrated_chunks}
    return any(_span(chunk) not in had for chunk in packet.hydrated_chunks)


def _span(chunk: Chunk) -> tuple[str, int, int, str]:
    return chunk.path, chunk.start_line, chunk.end_line, chunk.text_sha256


def _bringing_nothing(found: Iterable[Entry]) -> set[str]:
    """Return the ids of packets that were made of another of these, and have no chunk that it has not."""
    by_id = {one.packet_id: one.packet for one in found if one.packet is not None}
    of = {name: by_id.get(getattr(packet, "parent_packet_id", None) or "") for name, packet in by_id.items()}
    return {name for name, parent in of.items() if parent is not None and not brings_something(by_id[name], parent)}


# Pins.


def pin(ref: str | Path, *, why: str, now: datetime, roots: Sequence[Path] = ()) -> str:
    """Pin a packet and return its id; pinning again changes the reason.

    What is remembered alone is copied to where packets are kept, in rtch's data folder and never in a zone, for
    the oldest remembered ones make room. It stays kept when it is unpinned.

    Raises:
        ArtifactError: there is no such packet, it is unreadable, or the data folder cannot be written.
    """
    from rtch.yaml_text import to_yaml_text  # noqa: PLC0415

    packet = packets.peek(ref, roots=roots)
    data = to_yaml_text(document_of(packet)).encode()
    kept = data_folder("packets") / f"{packet.packet_id}.yaml"
    if not create_file(kept.parent, kept.name, data, mode=0o600):
        packets.load(kept)
    note = {"packet_id": packet.packet_id, "why": why, "pinned_at": now.isoformat(timespec="seconds")}
    replace_file(_pin_file(packet.packet_id), json.dumps(note).encode())
    return packet.packet_id


def unpin(ref: str, *, roots: Sequence[Path] = ()) -> str:
    """Let a packet be pruned again and return its id.

    Raises:
        ArtifactError: it is not pinned, or the beginning of an id names more than one.
    """
    digits = ref.removeprefix(ID_PREFIX)
    begun = [one for one in pins() if re.fullmatch("[0-9a-f]{8,64}", digits) and one.startswith(ID_PREFIX + digits)]
    if len(begun) > 1:
        raise ArtifactError(f"{ref} begins {len(begun)} pinned ids", hint="give more digits")
    packet_id = begun[0] if begun else packets.peek(ref, roots=roots).packet_id
    try:
        _pin_file(packet_id).unlink()
    except FileNotFoundError:
        raise ArtifactError(f"{packet_id} is not pinned", hint="rtch packet list shows those that are") from None
    except OSError as error:
        raise ArtifactError(f"{packet_id} cannot be unpinned: {error.strerror or error}") from error
    return packet_id


def pins() -> dict[str, str]:
    """Return the pinned ids with their reasons; a pin that cannot be read still holds."""
    found: dict[str, str] = {}
    for place in sorted(data_folder("pins").iterdir()):
        match = _PACKET_NAME.fullmatch(place.name)
        if match:
            try:
                why = parse_document(read_file(place), str(place)).get("why", "")
            except ArtifactError:
                why = "(the reason cannot be read)"
            found[match[1]] = str(why)
    return found


def _pin_file(packet_id: str) -> Path:
    place = data_folder("pins") / f"{packet_id}.json"
    if not _PACKET_NAME.fullmatch(place.name):
        raise ArtifactError(f"{packet_id[:100]!r} is no packet id")
    return place


def data_folder(name: str) -> Path:
    """Return a folder of rtch's data folder, made if missing."""
    return home.private_dir(home.data_dir() / name)


# Pruning.


class Prune(NamedTuple):
    """What may go."""

    keep: int = 0
    """The newest so many of the files that are looked at stay in any case."""
    older_than_days: float = 0.0
    persisted: bool = False
    """Also what is kept for good: in rtch's data folder, and in the zone that ``zone`` names."""
    zone: Path | None = None


class Doomed(NamedTuple):
    """A file that goes, and why."""

    packet_id: str
    path: Path
    why: str


class _File(NamedTuple):
    packet_id: str
    folder: Path
    name: str


def prunable(wanted: Prune, *, now: datetime, roots: Sequence[Path] = ()) -> list[Doomed]:
    """Return the files that pruning would remove, newest first.

    A file goes if a newer packet of the same question supersedes its packet, and its packet is not pinned, is
    among the oldest, and is old enough. A remembered copy of what is kept goes with the kept file or not at all.
    What cannot be read stays, for nobody can say what it answers.

    Args:
        wanted: how much may go.
        now: with an offset.
        roots: zones whose kept packets count as kept and may supersede.
    """
    found = entries(roots=roots)
    newer, pinned = superseding(found), pins()
    persisted = list(_persisted(roots))
    kept = set() if wanted.persisted else {file.packet_id for file in persisted}
    removable = [*_files(data_folder("recent"))]
    if wanted.persisted:
        removable += [*_files(data_folder("packets")), *(_zone_files(wanted.zone) if wanted.zone else ())]
        within = {file.folder for file in removable}
        kept = {file.packet_id for file in persisted if file.folder not in within}
    by_id: dict[str, list[_File]] = {}
    for file in removable:
        by_id.setdefault(file.packet_id, []).append(file)
    ages = {one.packet_id: age_days(one.packet.generated_at, now=now) for one in found if one.packet is not None}
    aged = sorted((age, packet_id) for packet_id, age in ages.items() if age is not None and packet_id in by_id)
    return [
        Doomed(packet_id, file.folder / file.name, f"{newer[packet_id]} supersedes it; {age:.1f} days old")
        for age, packet_id in aged[max(0, wanted.keep) :]
        if packet_id in newer and packet_id not in pinned and packet_id not in kept and age >= wanted.older_than_days
        for file in by_id[packet_id]
    ]


def remove(doomed: Sequence[Doomed]) -> int:
    """Remove files and return how many there still were; no link is followed, to a folder or to a file.

    Raises:
        ArtifactError: a folder cannot be opened or changed.
    """
    removed = 0
    for one in doomed:
        if not _PACKET_NAME.fullmatch(one.path.name):
            raise ArtifactError(f"{one.path} is not named like a packet", hint="nothing more was removed")
        try:
            folder = os.open(one.path.parent, _FOLDER)
            try:
                removed += _unlinked(folder, one.path.name)
            finally:
                os.close(folder)
        except OSError as error:
            raise ArtifactError(f"{one.path} cannot be removed: {error.strerror or error}") from error
    return removed


def _unlinked(folder: int, name: str) -> bool:
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return False
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True


def _persisted(roots: Iterable[Path]) -> Iterator[_File]:
    yield from _files(data_folder("packets"))
    for root in roots:
        yield from _zone_files(root)


def _zone_files(root: Path) -> Iterator[_File]:
    """Yield the files of a zone's packet folders that lie in the zone, each folder once."""
    real = root.resolve()
    folders = dict.fromkeys(folder.resolve() for folder in packets.zone_folders(root))
    for folder in folders:
        if folder.is_relative_to(real):
            yield from _files(folder)


def _files(folder: Path) -> Iterator[_File]:
    """Yield the regular files of a folder that are named like packets; links are none."""
    try:
        listing = os.open(folder, _FOLDER)
    except OSError:
        return
    try:
        with os.scandir(listing) as rows:
            names = sorted(row.name for row in rows if row.is_file(follow_symlinks=False))
    finally:
        os.close(listing)
    for name in names:
        match = _PACKET_NAME.fullmatch(name)
        if match:
            yield _File(match[1], folder, name)
