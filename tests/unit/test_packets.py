"""Sealing, keeping, finding and reading packets."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any, NoReturn

import pytest
import samples as sample
import yaml

from rtch import packet_files, packets
from rtch.documents import canonical_bytes, document_id, document_of, model_of, view_of
from rtch.errors import ArtifactError, ZoneError
from rtch.models.base import canonical_json
from rtch.models.packet import Findings, Packet
from rtch.render import rendered
from rtch.yaml_text import to_yaml_text


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("RTCH_HOME", str(home))
    return home


@pytest.fixture
def zone(tmp_path: Path) -> Path:
    zone = tmp_path / "zone"
    (zone / "audit-logs").mkdir(parents=True)
    return zone


def names(folder: Path) -> list[str]:
    return sorted(place.name for place in folder.iterdir())


def governed(**changes: Any) -> Packet:
    """A packet of a zone with an audit folder."""
    base = sample.findings().zone_descriptor
    return sample.packet(zone_descriptor=base.model_copy(update={"audit_logs": "audit-logs"}), **changes)


def test_id_is_the_digest_of_the_findings_alone() -> None:
    one = sample.packet()
    other = sample.packet(run=sample.run_record(cwd="/elsewhere", branch="other"), generated_at="later", tic=7)
    assert one.packet_id == other.packet_id == packets.packet_id(sample.findings())
    assert one.packet_id != sample.packet(halting_detail="other").packet_id
    assert packets.packet_id(one) == one.packet_id


def test_id_is_pinned() -> None:
    # A change here changes the id of every packet that was ever kept: a decision, not an accident.
    assert sample.packet().packet_id == "rtch_packet_bf7d286ee314e5538187888324fb300f7ebba810a8600bb4f0ed3aebed5f3d3b"


def test_documents_are_hashed_as_records_are() -> None:
    found = sample.findings()
    value = {"b": [1, 2.5, None, True], "a": "é\U0001f600\u2028", "c": {}}
    assert canonical_bytes(value) == canonical_json(value)
    assert document_id(found.model_dump(mode="json")) == packets.packet_id(found)
    assert Findings.parse(found.canonical()) == found


def test_packet_is_kept_in_the_zones_audit_folder(zone: Path) -> None:
    packet = governed()
    place = packets.save(packet, zone)
    assert place == zone / "audit-logs/rtch/packets" / f"{packet.packet_id}.yaml"
    assert yaml.safe_load(place.read_bytes()) == json.loads(packet.model_dump_json())
    assert packets.load(place) == packet
    assert names(place.parent) == [place.name]


def test_packet_of_a_zone_without_audit_folder_is_kept_at_home(tmp_path: Path, home: Path) -> None:
    for packet, root in ((sample.packet(), tmp_path), (governed(), tmp_path / "ghost")):
        place = packets.save(packet, root)
        assert place == home / "packets" / f"{packet.packet_id}.yaml"
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert not (tmp_path / "ghost").exists()
    assert not (tmp_path / "audit-logs").exists()


def test_declared_audit_folder_is_honoured(tmp_path: Path) -> None:
    zone = tmp_path / "zone"
    (zone / "gov/logs").mkdir(parents=True)
    base = sample.findings().zone_descriptor
    packet = sample.packet(zone_descriptor=base.model_copy(update={"audit_logs": "gov/logs"}))
    assert packets.save(packet, zone).parent == zone / "gov/logs/rtch/packets"
    (zone / ".ticzone").write_text('{"audit_logs_path": "gov/logs"}')
    assert packets.load(packet.packet_id, roots=[zone]) == packet


def test_keeping_a_packet_again_leaves_the_file(zone: Path) -> None:
    packet = governed()
    place = packets.save(packet, zone)
    before = (place.read_bytes(), place.stat().st_ino, place.stat().st_mtime_ns)
    again = packets.save(governed(generated_at="2027-01-01T00:00:00+00:00", tic=9), zone)
    assert again == place
    assert (place.read_bytes(), place.stat().st_ino, place.stat().st_mtime_ns) == before
    assert names(place.parent) == [place.name]


def test_another_file_under_the_id_is_neither_overwritten_nor_taken_for_the_packet(zone: Path) -> None:
    packet = governed()
    place = packets.save(packet, zone)
    for planted in ("nothing", to_yaml_text(document_of(governed(halting_detail="other")))):
        place.write_text(planted)
        with pytest.raises(ArtifactError):
            packets.save(packet, zone)
        assert place.read_text() == planted


def test_persisting_says_where_the_packet_lies(zone: Path) -> None:
    kept = packets.persist(governed(run=sample.run_record(zone_root=str(zone))))
    assert kept.run.persisted_at == str(zone / "audit-logs/rtch/packets" / f"{kept.packet_id}.yaml")
    assert packets.load(kept.run.persisted_at) == kept


@pytest.mark.parametrize("link", ["audit-logs", "audit-logs/rtch", "audit-logs/rtch/packets"])
def test_folder_that_leads_out_of_the_zone_is_refused(tmp_path: Path, link: str) -> None:
    zone, outside = tmp_path / "zone", tmp_path / "outside"
    outside.mkdir()
    (zone / link).parent.mkdir(parents=True)
    (zone / link).symlink_to(outside)
    with pytest.raises(ZoneError, match="leads out of the zone"):
        packets.save(governed(), zone)
    assert names(outside) == []
    place = packets.save(governed(), zone, allowed=(outside,))
    assert place.is_relative_to(outside)


def test_link_within_the_zone_is_followed(zone: Path) -> None:
    (zone / "real").mkdir()
    (zone / "audit-logs/rtch").symlink_to(zone / "real")
    assert packets.save(governed(), zone).parent == zone / "real/packets"


def test_audit_path_out_of_the_zone_is_refused(tmp_path: Path, zone: Path) -> None:
    (tmp_path / "up").mkdir()
    base = sample.findings().zone_descriptor
    for path in ("../up", str(tmp_path / "up")):
        packet = sample.packet(zone_descriptor=base.model_copy(update={"audit_logs": path}))
        with pytest.raises(ZoneError):
            packets.save(packet, zone)
    assert names(tmp_path / "up") == []


def test_planted_link_under_the_id_is_not_followed(zone: Path, tmp_path: Path) -> None:
    packet = governed()
    folder = zone / "audit-logs/rtch/packets"
    folder.mkdir(parents=True)
    (folder / f"{packet.packet_id}.yaml").symlink_to(tmp_path / "target")
    with pytest.raises(ArtifactError):
        packets.save(packet, zone)
    assert not (tmp_path / "target").exists()


def test_many_writers_leave_one_whole_file(zone: Path) -> None:
    packet = governed()
    threads = [threading.Thread(target=packets.save, args=(packet, zone)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    folder = zone / "audit-logs/rtch/packets"
    assert names(folder) == [f"{packet.packet_id}.yaml"]
    assert packets.load(packet.packet_id, roots=[zone]) == packet


def test_file_system_without_hard_links_is_served(zone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr("os.link", refuse)
    packet = governed()
    place = packets.save(packet, zone)
    assert packets.save(packet, zone) == place
    assert packets.load(place) == packet
    assert names(place.parent) == [place.name]


def test_failed_write_leaves_nothing(zone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_descriptor: int) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(ArtifactError, match="No space left"):
        packets.save(governed(), zone)
    assert names(zone / "audit-logs/rtch/packets") == []


def test_packet_is_found_by_file_id_and_beginning_of_id(zone: Path) -> None:
    packet = governed()
    place = packets.save(packet, zone)
    bare = packet.packet_id.removeprefix("rtch_packet_")
    for ref in (place, str(place), packet.packet_id, bare, bare[:8], f"rtch_packet_{bare[:12]}"):
        assert packets.load(ref, roots=[zone]) == packet
        assert packets.peek(ref, roots=[zone]).packet_id == packet.packet_id


def test_beginning_of_two_ids_is_refused(home: Path) -> None:
    place = packets.remember(sample.packet())
    place.with_name(place.name[:25] + "0" * 51 + ".json").write_bytes(b"{}")
    with pytest.raises(ArtifactError, match="begins 2 packet ids"):
        packets.load(place.name[12:20])


@pytest.mark.parametrize("ref", ["1234567", "nope", "rtch_packet_zz", "rtch_packet_", "f" * 65, "", "..", "last"])
def test_what_is_no_reference_is_refused(ref: str) -> None:
    packets.remember(sample.packet())
    with pytest.raises(ArtifactError):
        packets.load(ref)


@pytest.mark.parametrize("ref", ["../recent/last", "rtch_packet_/../../x.yaml", "/etc/passwd", "a\0b/c"])
def test_path_that_is_no_packet_is_refused(ref: str) -> None:
    with pytest.raises(ArtifactError):
        packets.load(ref)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "null",
        "{",
        "a: b: c",
        "schema_version: rtch.packet/1",
        "- 1",
        "!!python/object/apply:os.system [id]",
        "\x00",
        "{}",
        "a: &x [1]\nb: *x\n",
    ],
)
def test_file_that_is_no_packet_is_refused_in_a_sentence(tmp_path: Path, content: str) -> None:
    place = tmp_path / "p.yaml"
    place.write_text(content)
    for read in (packets.load, packets.peek):
        with pytest.raises(ArtifactError) as caught:
            read(place)
        assert str(place) in str(caught.value)
        assert caught.value.exit_code == 6


def test_unknown_schema_is_named(tmp_path: Path) -> None:
    place = tmp_path / "p.json"
    place.write_text(json.dumps(document_of(sample.packet()) | {"schema_version": "rtch.packet/9"}))
    with pytest.raises(ArtifactError) as caught:
        packets.load(place)
    assert str(caught.value) == f"{place} has the schema 'rtch.packet/9', this rtch reads rtch.packet/1"


def test_changed_findings_are_refused_and_changed_run_is_not(tmp_path: Path) -> None:
    place = tmp_path / "p.json"
    packets.remember(sample.packet())
    document = document_of(sample.packet())
    place.write_text(json.dumps(document | {"halting_detail": "all is well"}))
    for read in (packets.load, packets.peek):
        with pytest.raises(ArtifactError, match="does not have the digest of its id"):
            read(place)
    place.write_text(json.dumps(document | {"generated_at": "tomorrow"}))
    assert packets.load(place).generated_at == "tomorrow"
    assert packets.peek(place).generated_at == "tomorrow"


def test_sealed_document_of_another_shape_is_refused_where_rtch_did_not_write_it(tmp_path: Path) -> None:
    document = document_of(sample.packet()) | {"hydrated_chunks": "none"}
    document["packet_id"] = document_id(document)
    place = tmp_path / "p.json"
    place.write_text(json.dumps(document))
    with pytest.raises(ArtifactError, match="hydrated_chunks"):
        packets.peek(place)


def test_shortened_view_is_not_taken_for_the_packet(tmp_path: Path) -> None:
    packet = sample.packet(hydrated_chunks=(sample.chunk(text="line\n" * 4000),))
    place = tmp_path / "p.json"
    place.write_text(rendered(packet, "json", max_chars=12_000))
    with pytest.raises(ArtifactError, match=f"shortened view of {packet.packet_id}"):
        packets.load(place)


def test_yaml_in_which_aliases_grow_is_refused_at_once(tmp_path: Path) -> None:
    place = tmp_path / "p.yaml"
    rows = ["schema_version: rtch.packet/1", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    place.write_text("\n".join(rows))
    with pytest.raises(ArtifactError, match="aliases"):
        packets.load(place)


def test_special_files_and_giants_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.yaml")
    (tmp_path / "folder.yaml").mkdir()
    giant = tmp_path / "giant.yaml"
    with giant.open("wb") as file:
        file.truncate(packet_files.MAX_PACKET_BYTES + 1)
    for name in ("fifo.yaml", "folder.yaml", "giant.yaml", "absent.yaml"):
        with pytest.raises(ArtifactError):
            packets.load(tmp_path / name)


def test_remembered_packet_is_the_last_of_its_zone_and_of_all(home: Path, tmp_path: Path) -> None:
    assert packets.last_packet() is None
    first = sample.packet(run=sample.run_record(zone_root="/zones/a"))
    second = sample.packet(run=sample.run_record(zone_root="/zones/b"), halting_detail="second")
    place = packets.remember(first)
    packets.remember(second)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700

    def last(zone: Path | None = None) -> str | None:
        found = packets.last_packet(zone)
        return found.packet_id if found else None

    assert last() == second.packet_id
    assert last(Path("/zones/a")) == first.packet_id
    assert last(Path("/zones/none")) == second.packet_id
    packets.remember(first)
    assert last() == first.packet_id


def test_remembering_again_keeps_the_newest_run(home: Path) -> None:
    packets.remember(sample.packet())
    packets.remember(sample.packet(generated_at="later"))
    found = packets.last_packet()
    assert found is not None
    assert found.generated_at == "later"


def test_only_so_many_are_remembered(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packets, "MAX_RECENT", 3)
    ids = []
    for n in range(6):
        packet = sample.packet(halting_detail=f"packet {n}")
        place = packets.remember(packet)
        os.utime(place, (1_000_000 + n, 1_000_000 + n))
        ids.append(packet.packet_id)
    packets.remember(sample.packet(halting_detail="packet 5"))
    assert {one.packet_id for one in packets.listed()} == set(ids[3:])


def test_list_names_each_packet_once_newest_first(zone: Path) -> None:
    kept, recent = governed(), sample.packet(halting_detail="recent")
    place = packets.save(kept, zone)
    packets.remember(kept)
    os.utime(packets.remember(recent), (1, 1))
    assert [one.packet_id for one in packets.listed(roots=[zone])] == [kept.packet_id, recent.packet_id]
    assert place.exists()


def test_view_reads_like_the_packet(zone: Path) -> None:
    packet = governed(tic=4)
    packets.remember(packet)
    seen = packets.peek(packet.packet_id)
    assert type(seen) is not Packet
    assert seen.hydrated_chunks[0].text == packet.hydrated_chunks[0].text
    assert seen.selected_surfaces[0].score_parts[1].name == "defines"
    assert seen.halting_reason == packet.halting_reason
    assert seen.generated_at_tic == 4
    with pytest.raises(AttributeError):
        _ = seen.nothing  # type: ignore[attr-defined]
    assert packets.chunk_of(seen, "rtch_chunk_1").path == "src/settle.py"
    with pytest.raises(ArtifactError, match="has no chunk rtch_chunk_9"):
        packets.chunk_of(seen, "rtch_chunk_9")


def test_kept_yaml_is_viewed_without_parsing_where_it_is_remembered(
    zone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packet = packets.persist(governed(run=sample.run_record(zone_root=str(zone))))
    packets.remember(packet)

    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        raise AssertionError("parsed")

    monkeypatch.setattr(packets, "parse_document", refuse)
    assert packets.peek(packet.run.persisted_at).packet_id == packet.packet_id


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_packet_of_a_root_whose_path_is_not_utf8_is_read_again(tmp_path: Path, form: str) -> None:
    root = os.fsdecode(b"/zones/caf\xe9")
    packet = sample.packet(run=sample.run_record(zone_root=root, repo_root=root, cwd=root))
    place = tmp_path / f"p.{form}"
    place.write_text(rendered(packet, form))
    assert packets.load(place) == packet
    assert model_of(view_of(document_of(packet))) == packet
    kept = packets.persist(model_of(view_of(document_of(packet))))
    assert packets.load(kept.run.persisted_at) == kept == packets.persist(kept)
