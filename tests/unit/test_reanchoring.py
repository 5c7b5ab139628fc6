"""A packet with its chunks where they are now: what follows from the file, what stays, and what is left out."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import samples as sample
from citing import bytes_at, cited, citing
from making import plant

from rtch import packets, verify
from rtch.documents import document_id, document_of
from rtch.errors import ArtifactError
from rtch.models.packet import (
    ClaimEvidenceResult,
    Packet,
    PacketResult,
    Result,
    SingleChunkResult,
    TargetReason,
    TargetSetResult,
)
from rtch.models.run import HandoffRecord
from rtch.models.vocab import QuestionTie, SkipReason
from rtch.reanchoring import reanchored
from rtch.reentry import parse_ref

CODE = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(30))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return plant(tmp_path / "zone", {"a.py": CODE, "b.py": f"b = 1\n{CODE}", "c.py": f"c = 1\n{CODE}"})


@pytest.fixture
def packet(root: Path) -> Packet:
    spans = [("a.py", 1, 2), ("b.py", 2, 7), ("a.py", 9, 10), ("c.py", 6, 11)]
    run = sample.run_record(
        zone_root=str(root), persisted_at="/somewhere", handoff=HandoffRecord(dump_path="d", argv=(), exit_code=0)
    )
    return citing(root, *(cited(root, *span, number=n) for n, span in enumerate(spans, 1)), run=run)


def changed(root: Path) -> None:
    """Leave one chunk, move one, rename one and edit one."""
    plant(root, {"a.py": CODE.replace("def f1(", "# one more line\ndef f1("), "b.py": f"\nb = 1\n{CODE}"})
    (root / "b.py").rename(root / "d.py")
    plant(root, {"c.py": f"c = 1\n{CODE.replace('f2(x)', 'f2(y)')}"})


def made(root: Path, packet: Packet) -> Packet:
    return reanchored(packet, verify(packet), root)


def test_what_follows_from_the_file_is_made_anew(root: Path, packet: Packet) -> None:
    changed(root)
    new = made(root, packet)
    assert [(c.chunk_id, c.path, c.line_range) for c in new.hydrated_chunks] == [
        ("rtch_chunk_1", "a.py", "L1-L2"),
        ("rtch_chunk_2", "d.py", "L3-L8"),
        ("rtch_chunk_3", "a.py", "L10-L11"),
    ]
    expected = [
        cited(root, chunk.path, chunk.start_line, chunk.end_line, number=n)
        for n, chunk in enumerate(new.hydrated_chunks, 1)
    ]
    of_the_run = {"why_included", "symbol_path", "defines"}
    for chunk, fresh in zip(new.hydrated_chunks, expected, strict=True):
        assert chunk.model_dump(exclude=of_the_run) == fresh.model_dump(exclude=of_the_run)
        ref = parse_ref(shlex.split(chunk.next_re_entry_command)[-1])
        assert (ref.path, ref.start, ref.end) == (chunk.path, chunk.start_line, chunk.end_line)  # type: ignore[union-attr]
    assert {one.verdict.value for one in verify(new).chunks} == {"unchanged"}


def test_surfaces_go_with_their_chunks(root: Path, packet: Packet) -> None:
    changed(root)
    new = made(root, packet)
    assert [(s.rank, s.path, s.chunks, s.line_range) for s in new.selected_surfaces] == [
        (1, "a.py", ("rtch_chunk_1", "rtch_chunk_3"), "L1-L2"),
        (2, "d.py", ("rtch_chunk_2",), "L3-L8"),
    ]
    assert [(row.path, row.sha256) for row in new.fingerprint.hydrated] == [
        (s.path, s.sha256) for s in new.selected_surfaces
    ]
    assert new.selected_surfaces[1].re_entry_command == "rtch read 'd.py:L3-L8'"


def test_what_changed_is_left_out_with_its_verdict(root: Path, packet: Packet) -> None:
    changed(root)
    new = made(root, packet)
    (row,) = new.skipped_surfaces[len(packet.skipped_surfaces) :]
    assert (row.path, row.reason) == ("c.py", SkipReason.CHANGED_SINCE)
    assert row.detail.startswith("rtch_chunk_4, L6-L11: edited, by its quote")
    question = new.unresolved_questions[-1]
    assert (question.tied_to, question.reference) == (QuestionTie.SKIPPED_SURFACE, "c.py")
    assert question.question.startswith("1 chunk that was counted when the criteria were judged changed since")
    assert new.unresolved_questions[:-1] == packet.unresolved_questions
    assert (new.read_budget.consumed, new.read_budget.remaining) == (10, 19_990)


def test_all_else_is_the_parents(root: Path, packet: Packet) -> None:
    changed(root)
    new = made(root, packet)
    touched = {
        *("hydrated_chunks", "selected_surfaces", "skipped_surfaces", "unresolved_questions", "read_budget"),
        *("fingerprint", "result", "packet_id", "parent_packet_id", "generated_at", "run"),
    }
    assert new.model_dump(exclude=touched) == packet.model_dump(exclude=touched)
    own_copy = {"persisted_at", "handoff"}
    assert new.run.model_dump(exclude=own_copy) == packet.run.model_dump(exclude=own_copy)
    assert (new.run.persisted_at, new.run.handoff) == ("", None)
    assert new.fingerprint.listing == packet.fingerprint.listing


def test_nothing_is_asked_where_nothing_was_left_out(root: Path, packet: Packet) -> None:
    plant(root, {"a.py": f"\n{CODE}"})
    new = made(root, packet)
    assert new.unresolved_questions == packet.unresolved_questions
    assert new.result == packet.result


def test_a_packet_may_be_left_without_chunks(root: Path, packet: Packet) -> None:
    for name in ("a.py", "b.py", "c.py"):
        plant(root, {name: ""})
    new = made(root, packet)
    assert (new.hydrated_chunks, new.selected_surfaces) == ((), ())
    assert new.result == PacketResult(surfaces=0, chunks=0)
    assert Packet.parse(new.canonical()) == new


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            SingleChunkResult(chunk_id="rtch_chunk_1", note="best"),
            SingleChunkResult(chunk_id="rtch_chunk_1", note="best"),
        ),
        (
            SingleChunkResult(chunk_id="rtch_chunk_4", note="best"),
            SingleChunkResult(chunk_id=None, note="none: it changed since it was read"),
        ),
        (SingleChunkResult(chunk_id=None, note="none"), SingleChunkResult(chunk_id=None, note="none")),
        (
            ClaimEvidenceResult(chunk_ids=("rtch_chunk_1", "rtch_chunk_4"), note="2 of 4"),
            ClaimEvidenceResult(chunk_ids=("rtch_chunk_1",), note="1 of 2 are as they were"),
        ),
        (
            TargetSetResult(targets=(TargetReason(path="c.py", reason="defines settle"),)),
            TargetSetResult(
                targets=(
                    TargetReason(path="a.py", reason="defines settle"),
                    TargetReason(path="d.py", reason="defines settle"),
                )
            ),
        ),
    ],
)
def test_the_result_names_nothing_that_is_gone(root: Path, packet: Packet, before: Result, after: Result) -> None:
    changed(root)
    asked = packets.seal(packet.model_copy(update={"result": before}), packet.run, packet.generated_at, None)
    assert made(root, asked).result == after


def test_text_that_was_clipped_or_masked_keeps_its_marks_at_the_new_lines(root: Path) -> None:
    secret, long = 'token = "ghp_' + "a1B2c3D4e5F6" * 3 + '"\n', "data = '" + "0123456789 " * 500 + "'\n"
    plant(root, {"a.py": f"one\n{secret}{long}four\n"})
    chunk = cited(root, "a.py", 1, 4)
    packet = citing(root, chunk)
    plant(root, {"a.py": f"# new\n\none\n{secret}{long}four\n"})
    (new,) = made(root, packet).hydrated_chunks
    assert new.text == chunk.text
    assert [one.line for one in new.masked] == [4]
    assert [one.line for one in new.clipped] == [5]
    data = bytes_at(root, "a.py")
    for before, after in zip(chunk.clipped, new.clipped, strict=True):
        assert data[after.byte_start : after.byte_end] == long.encode()[-(before.byte_end - before.byte_start) :]


def test_a_file_whose_name_tells_of_secrets_is_not_quoted(root: Path) -> None:
    plant(root, {".env": CODE})
    packet = citing(root, cited(root, ".env", 1, 2))
    new = made(root, packet)
    assert new.hydrated_chunks == ()
    row = new.skipped_surfaces[-1]
    assert (row.reason, row.detail) == (
        SkipReason.SECRET,
        "rtch_chunk_1, L1-L2: environment file, where services keep their passwords",
    )


def test_a_file_that_changes_between_the_two_looks_is_left_out(root: Path, packet: Packet) -> None:
    verification = verify(packet)
    plant(root, {"a.py": f"# other\n{CODE}", "b.py": "b = 1\n"})
    (root / "c.py").unlink()
    new = reanchored(packet, verification, root)
    assert new.hydrated_chunks == ()
    assert new.skipped_surfaces[-1].detail == "rtch_chunk_4, L6-L11: written again meanwhile"


# --- the id, and the parent it covers ------------------------------------------------------------------------------


def test_the_id_covers_the_parent(root: Path, packet: Packet) -> None:
    new = made(root, packet)
    assert new.parent_packet_id == packet.packet_id
    assert packets.packet_id(new) == new.packet_id != packet.packet_id
    other = new.model_copy(update={"parent_packet_id": new.packet_id})
    assert packets.packet_id(other) != new.packet_id
    grandchild = made(root, new)
    assert grandchild.parent_packet_id == new.packet_id
    assert packets.packet_id(grandchild) == grandchild.packet_id


def test_a_packet_without_parent_is_written_and_sealed_as_ever(packet: Packet) -> None:
    assert "parent_packet_id" not in document_of(packet)
    written = packets.packet_id(packet)
    assert written == packet.packet_id == document_id(document_of(packet) | {"run": None, "generated_at": ""})


def test_it_is_kept_and_found_like_any_other(root: Path, packet: Packet, tmp_path: Path) -> None:
    new = made(root, packet)
    packets.remember(new)
    kept = packets.save(new, root)
    assert packets.load(kept) == packets.load(new.packet_id[12:30]) == new
    assert packets.peek(kept).parent_packet_id == packet.packet_id
    forged = kept.read_text().replace(f"parent_packet_id: {packet.packet_id}", f"parent_packet_id: {new.packet_id}")
    (tmp_path / "forged.yaml").write_text(forged)
    with pytest.raises(ArtifactError, match="it was changed after it was sealed"):
        packets.load(tmp_path / "forged.yaml")
