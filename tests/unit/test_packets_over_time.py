"""Supersession, pins, pruning and differences of packets."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import samples as sample

from rtch import packets
from rtch.cli.main import main
from rtch.errors import ArtifactError
from rtch.models.packet import Packet
from rtch.models.packet_diff import PacketDiff
from rtch.packet_diff import diff
from rtch.packet_history import Doomed, Prune, entries, pin, pins, prunable, remove, superseding, unpin
from rtch.render.diff import to_human, to_markdown

NOW = datetime(2030, 1, 11, tzinfo=UTC)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def made(day: int, **changes: Any) -> Packet:
    return sample.packet(halting_detail=f"day {day}", generated_at=f"2030-01-{day:02}T00:00:00+00:00", **changes)


def three() -> list[Packet]:
    found = [made(day) for day in (1, 2, 3)]
    for packet in found:
        packets.remember(packet)
    return found


def gone(wanted: Prune = Prune()) -> set[str]:  # noqa: B008  it is frozen
    return {one.packet_id for one in prunable(wanted, now=NOW)}


def test_newest_of_a_question_supersedes_the_others() -> None:
    one, two, last = three()
    assert superseding(entries()) == {one.packet_id: last.packet_id, two.packet_id: last.packet_id}


def test_other_request_or_other_zone_is_another_question() -> None:
    three()
    asked = made(4).intake
    packets.remember(made(4, intake=asked.model_copy(update={"goal": "another"})))
    packets.remember(made(5, run=sample.run_record(zone_root="/elsewhere")))
    assert len(superseding(entries())) == 2
    packets.remember(made(6, intake=asked.model_copy(update={"notes": ("filled in",)})))
    assert len(superseding(entries())) == 3


def test_only_superseded_unpinned_unkept_packets_go() -> None:
    one, two, _ = three()
    assert gone() == {one.packet_id, two.packet_id}
    assert gone(Prune(keep=2)) == {one.packet_id}
    assert gone(Prune(older_than_days=9.5)) == {one.packet_id}
    pin(one.packet_id, why="cited", now=NOW)
    assert gone() == {two.packet_id}
    packets.persist(two)
    assert gone() == set()
    assert gone(Prune(persisted=True)) == {two.packet_id}


def test_pinned_packet_outlives_the_remembered_ones(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, *_ = three()
    assert pin(one.packet_id[12:22], why="cited", now=NOW) == one.packet_id
    assert pins() == {one.packet_id: "cited"}
    monkeypatch.setattr(packets, "MAX_RECENT", 1)
    packets.remember(made(9))
    assert not (home / "recent" / f"{one.packet_id}.json").exists()
    assert packets.load(one.packet_id) == one
    assert unpin(one.packet_id) == one.packet_id
    assert pins() == {}
    with pytest.raises(ArtifactError, match="is not pinned"):
        unpin(one.packet_id)


def test_pin_that_cannot_be_read_still_holds(home: Path) -> None:
    one, *_ = three()
    pin(one.packet_id, why="", now=NOW)
    (home / "pins" / f"{one.packet_id}.json").write_text("{")
    assert one.packet_id not in gone(Prune(persisted=True))


@pytest.mark.parametrize("ref", ["../../etc", "..", "rtch_packet_../../x", "", "*", "abc"])
def test_reference_that_is_no_id_leads_nowhere(ref: str) -> None:
    three()
    for command in ("pin", "unpin"):
        assert main(["packet", command, ref]) == 6


def test_links_are_neither_followed_nor_removed(home: Path, tmp_path: Path) -> None:
    one, two, _ = three()
    outside = tmp_path / "outside.json"
    planted = home / "recent" / f"{one.packet_id}.json"
    planted.rename(outside)
    planted.symlink_to(outside)
    assert gone() == {two.packet_id}
    assert remove([Doomed(one.packet_id, planted, "raced")]) == 0
    assert outside.exists()
    assert planted.is_symlink()


def test_folder_that_became_a_link_is_refused(home: Path, tmp_path: Path) -> None:
    three()
    doomed = prunable(Prune(), now=NOW)
    (home / "recent").rename(tmp_path / "moved")
    (home / "recent").symlink_to(tmp_path / "moved")
    with pytest.raises(ArtifactError, match="cannot be removed"):
        remove(doomed)
    assert len(list((tmp_path / "moved").glob("rtch_packet_*"))) == 3


def test_zone_folder_that_leads_out_of_the_zone_is_left(tmp_path: Path) -> None:
    *_, last = three()
    outside, zone = tmp_path / "outside", tmp_path / "zone"
    outside.mkdir()
    kept = outside / f"{made(1).packet_id}.json"
    kept.write_text("{}")
    (zone / "audit-logs" / "rtch").mkdir(parents=True)
    (zone / "audit-logs" / "rtch" / "packets").symlink_to(outside)
    doomed = prunable(Prune(persisted=True, zone=zone), now=NOW, roots=(zone,))
    assert not any(one.path.is_relative_to(outside) for one in doomed)
    assert last.packet_id not in {one.packet_id for one in doomed}


def test_file_of_another_name_is_never_removed(tmp_path: Path) -> None:
    other = tmp_path / "notes.json"
    other.write_text("{}")
    with pytest.raises(ArtifactError, match="is not named like a packet"):
        remove([Doomed("", other, "")])
    assert other.exists()


def test_dry_run_says_the_same_and_removes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    three()
    assert main(["packet", "prune", "--dry-run"]) == 0
    promised = capsys.readouterr().out
    assert len(list((home / "recent").glob("rtch_packet_*"))) == 3
    assert main(["packet", "prune"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 2
    assert [row.rpartition(";")[0] for row in out.split("\n")] == [
        row.rpartition(";")[0].removeprefix("would ") for row in promised.split("\n")
    ]
    assert err == "rtch: 2 packet files removed\n"
    assert len(list((home / "recent").glob("rtch_packet_*"))) == 1


def test_list_marks_heat_supersession_and_pins(capsys: pytest.CaptureFixture[str]) -> None:
    one, _, last = three()
    assert main(["packet", "pin", one.packet_id, "--why", "cited"]) == 0
    capsys.readouterr()
    assert main(["packet", "list", "--format", "json", "--ttl-days", "1e9"]) == 0
    rows = {row["packet_id"]: row for row in json.loads(capsys.readouterr().out)["packets"]}
    told = [rows[one.packet_id][name] for name in ("heat", "superseded_by", "pinned")]
    assert told == ["active", last.packet_id, "cited"]
    assert main(["packet", "list", "--current"]) == 0
    assert [row.split("  ")[0] for row in capsys.readouterr().out.splitlines()] == [last.packet_id]


def changed() -> Packet:
    base = sample.packet()
    surface, chunk = base.selected_surfaces[0], base.hydrated_chunks[0]
    return sample.packet(
        selected_surfaces=(surface.model_copy(update={"path": "new.py"}), *base.selected_surfaces[1:]),
        hydrated_chunks=(chunk.model_copy(update={"text_sha256": "0" * 64}), *base.hydrated_chunks[1:]),
        halting_detail="otherwise",
    )


def test_packet_does_not_differ_from_itself() -> None:
    same = diff(sample.packet(), sample.packet(generated_at="later"))
    assert same.same
    rows = same.model_dump(exclude={"schema_version", "before", "after"})
    assert not any(rows.values())
    assert to_human(same).startswith("the same: rtch_packet_")


def mirrored(one: PacketDiff) -> dict[str, Any]:
    dump = one.model_dump(mode="json")
    for left, right in (("before", "after"), ("surfaces_entered", "surfaces_left"), ("chunks_added", "chunks_removed")):
        dump[left], dump[right] = dump[right], dump[left]
    for name in ("surfaces_moved", "chunks_changed", "criteria", "halting", "state"):
        for row in dump[name]:
            for end in {key.removesuffix("before") for key in row if key.endswith("before")}:
                row[f"{end}before"], row[f"{end}after"] = row[f"{end}after"], row[f"{end}before"]
    return dump


def test_difference_mirrors_its_reverse() -> None:
    one, other = sample.packet(), changed()
    there, back = diff(one, other), diff(other, one)
    assert mirrored(there) == back.model_dump(mode="json")
    assert [row.path for row in there.surfaces_entered] == ["new.py"]
    assert len(there.chunks_changed) == 1
    assert there.halting[0].after == "otherwise"
    assert "hydrated_chunks" in there.fields
    assert PacketDiff.parse(there.canonical()) == there
    assert "new.py (rank" in to_human(there)
    assert "## Surfaces entered" in to_markdown(there)


def test_exit_codes_of_diff(capsys: pytest.CaptureFixture[str]) -> None:
    for packet in (sample.packet(), changed()):
        packets.remember(packet)
    one, other = sample.packet().packet_id, changed().packet_id
    assert main(["packet", "diff", one, one]) == 0
    assert main(["packet", "diff", one, other, "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["schema_version"] == "rtch.packet_diff/1"
    assert main(["packet", "diff", one, "0" * 64]) == 6


def test_show_says_that_a_packet_is_old(capsys: pytest.CaptureFixture[str]) -> None:
    packets.remember(sample.packet(generated_at="2001-01-01T00:00:00+00:00"))
    assert main(["packet", "show", sample.packet().packet_id]) == 0
    assert capsys.readouterr().err.startswith("rtch: caution_only: made 2001-01-01T00:00:00+00:00, and active for 14 ")


def test_store_is_not_needed_by_a_pinned_packet() -> None:
    one, *_ = three()
    pin(one.packet_id, why="", now=NOW)
    assert main(["cache", "clear"]) == 0
    assert packets.load(one.packet_id) == one
