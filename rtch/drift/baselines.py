"""Baselines and the history of runs: read, taken, accepted, and never lost half-written.

A baseline is one YAML file with the packet whole, so that it can be read, committed, and compared with on a machine
that has never seen the packet. The history is one JSON row a run, appended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from rtch import home
from rtch.baseline_files import SCHEMA
from rtch.documents import document_of, model_of, parsed
from rtch.drift.questions import Question
from rtch.errors import ArtifactError
from rtch.heat import moment_of
from rtch.keys import zone_id
from rtch.models.baseline import Accepted, Baseline, BaselineHead, HistoryRow, Suppression
from rtch.models.drift import Finding
from rtch.models.packet import Packet
from rtch.packet_files import parse_document, read_file, replace_file
from rtch.packet_history import Entry, question_of
from rtch.packets import packet_id
from rtch.paths import shown
from rtch.turns import turn
from rtch.yaml_text import to_yaml_text

MAX_HISTORY_BYTES = 4 * 1024 * 1024
"""Of a history that are read, from its end: some thousands of runs."""


# Baselines.


def read(place: Path) -> Baseline | None:
    """Return the baseline of a file; None where there is no such file.

    Raises:
        ArtifactError: it cannot be read, is no baseline, or its packet was changed after it was sealed.
    """
    if not os.path.lexists(place):
        return None
    document = parse_document(read_file(place), str(place))
    schema = document.get("schema_version")
    if schema != SCHEMA:
        raise ArtifactError(f"{place} has the schema {schema!r}, this rtch reads {SCHEMA}")
    try:
        packet = parsed(document.pop("packet"))
        head = BaselineHead.parse(json.dumps(document))
    except (ValidationError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArtifactError(f"{place} is no baseline: {str(error).partition(chr(10))[0]}") from error
    if packet_id(packet, packet.parent_packet_id) != packet.packet_id:
        raise ArtifactError(f"the packet in {place} does not have the digest of its id: it was changed by hand")
    return Baseline(**{name: getattr(head, name) for name in BaselineHead.model_fields}, packet=packet)


def write(place: Path, baseline: Baseline) -> None:
    """Write a baseline, whole or not at all.

    Raises:
        ArtifactError: the file cannot be written.
    """
    head = baseline.model_dump(mode="json", exclude={"packet"})
    # One that lies where its user put it is read by others as well: in a repository, on a CI machine.
    mode = 0o600 if place.is_relative_to(home.data_dir()) else 0o644
    replace_file(place, to_yaml_text(head | {"packet": document_of(baseline.packet)}).encode(), mode=mode)


def taken(question: Question, packet: Packet, *, by: str, reason: str, at: str) -> Baseline:
    """Return the baseline that a packet makes, with nothing accepted."""
    return Baseline(
        saved=question.saved,
        zone_root=packet.run.zone_root,
        taken_at=at,
        taken_by=by,
        reason=reason,
        packet=model_of(packet),
    )


def newest_of(packet: Packet, known: Iterable[Entry]) -> Packet | None:
    """Return the newest of some packets that answers the same question as another, or None."""
    asked = question_of(packet)
    same = [
        (moment, one.packet_id, one.packet)
        for one in known
        if one.packet is not None
        and (moment := moment_of(one.packet.generated_at)) is not None
        and question_of(one.packet) == asked
    ]
    return max(same, key=lambda row: row[:2])[2] if same else None


def accepted(found: Finding, *, reason: str, by: str, at: str) -> Accepted:
    """Return the row that accepts a finding as it is."""
    return Accepted(
        finding_id=found.finding_id,
        state=found.state,
        kind=found.kind,
        path=found.at.path,
        message=found.message,
        reason=reason,
        by=by,
        at=at,
    )


def with_accepted(baseline: Baseline, rows: Iterable[Accepted]) -> Baseline:
    """Return a baseline with findings accepted; an earlier acceptance of the same one gives way."""
    by_id = {row.finding_id: row for row in (*baseline.accepted, *rows)}
    return baseline.model_copy(update={"accepted": tuple(by_id[name] for name in sorted(by_id))})


def with_suppression(baseline: Baseline, row: Suppression) -> Baseline:
    """Return a baseline with one more suppression; one that selects the same gives way."""
    same = row.finding_id, row.kind, row.paths
    kept = tuple(one for one in baseline.suppressions if (one.finding_id, one.kind, one.paths) != same)
    return baseline.model_copy(update={"suppressions": (*kept, row)})


@contextmanager
def held(question: Question, root: Path) -> Iterator[None]:
    """Let one investigation of a question at a time read its baseline and write it again."""
    with turn(str(home.drift_dir(zone_id(root))), question.label):
        yield


# History.


def note(question: Question, root: Path | None, row: HistoryRow) -> None:
    """Append a row to the history of a question on a zone; without a zone it goes where such runs are noted.

    Raises:
        ArtifactError: the file cannot be written.
    """
    place = _history_place(question, root)
    data = row.canonical() + b"\n"
    try:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            if os.write(descriptor, data) != len(data):
                raise ArtifactError(f"{place} took half a row: the disk is full")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ArtifactError(f"{place} cannot be written: {error.strerror}") from error


def history(question: Question, root: Path | None) -> tuple[HistoryRow, ...]:
    """Return the runs of a question on a zone, oldest first; a torn row is left out.

    Raises:
        ArtifactError: the file cannot be read.
    """
    place = _history_place(question, root)
    try:
        with place.open("rb") as file:
            file.seek(max(0, place.stat().st_size - MAX_HISTORY_BYTES))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ArtifactError(f"{place} cannot be read: {error.strerror}") from error
    return tuple(row for line in lines if (row := _row(line)) is not None)


def _row(line: bytes) -> HistoryRow | None:
    try:
        return HistoryRow.parse(line)
    except ValidationError:
        return None


def _history_place(question: Question, root: Path | None) -> Path:
    folder = home.drift_dir("nowhere" if root is None else zone_id(root))
    return folder / f"{question.label}.history.jsonl"


def shown_root(root: Path) -> str:
    """Return a root as records show it."""
    return shown(os.fsencode(root))
