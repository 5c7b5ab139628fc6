"""A packet taken up again: each outcome, what may still be claimed, and that nothing restores what is taken back."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import samples as sample
from citing import cited, citing
from driving import corpus
from making import plant

import rtch
from rtch import packets
from rtch.cli.main import main
from rtch.errors import ZoneError
from rtch.models.packet import Packet
from rtch.models.rehydration import ClaimForce, Outcome, Rehydration
from rtch.models.vocab import ConfidenceClass
from rtch.probing import run_probe
from rtch.rehydration import Rehydrated, rehydrate

CORRECTIONS = corpus("zone_corrections")
QUEUE = "audit-logs/cprs/queue.jsonl"
CODE = "".join(f"line {n} of some text\n" for n in range(1, 21))
ROWS = "".join(json.dumps({"id": f"cpr_{name}", "lesson": f"lesson {name}"}) + "\n" for name in "bac")
MADE = datetime.fromisoformat(sample.MADE)
SOON = MADE + timedelta(hours=1)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def zone(tmp_path: Path) -> Path:
    return plant(tmp_path / "zone", {".ticzone": "{}", "a.txt": CODE, "b.txt": CODE, QUEUE: ROWS})


def of(zone: Path, **changes: Any) -> Packet:
    return citing(zone, cited(zone, "a.txt", 3, 5), cited(zone, "b.txt", 1, 20, number=2), **changes)


def forces(found: Rehydrated) -> list[str]:
    return [str(one.claim_force) for one in found.rehydration.chunks]


def told(found: Rehydrated) -> tuple[Outcome, ClaimForce, list[str]]:
    return found.rehydration.outcome, found.rehydration.claim_force, forces(found)


def test_what_stands_is_refreshed_and_no_packet_is_made(zone: Path) -> None:
    found = rehydrate(of(zone), now=SOON)
    assert told(found) == (Outcome.REFRESHED, ClaimForce.ACTIVE, ["active", "active"])
    assert found.rehydration.because == "all 2 chunks stand"
    assert (found.packet, found.rehydration.refreshed_as) == (None, None)


def test_it_is_there_from_python(zone: Path) -> None:
    packet = of(zone)
    packets.remember(packet)
    assert rtch.rehydrate(packet.packet_id, root=zone).rehydration.packet_id == packet.packet_id
    assert rtch.run_probe is run_probe


def test_lines_that_moved_make_a_packet_with_its_parent(zone: Path) -> None:
    packet = of(zone)
    plant(zone, {"a.txt": f"\n{CODE}"})
    found = rehydrate(packet, now=SOON)
    assert told(found) == (Outcome.REFRESHED, ClaimForce.ACTIVE, ["active", "active"])
    assert found.rehydration.because == "all 2 chunks stand, 1 of them at other lines"
    assert found.packet is not None
    assert found.packet.parent_packet_id == packet.packet_id
    assert found.packet.packet_id == found.rehydration.refreshed_as
    assert [one.line_range for one in found.packet.hydrated_chunks] == ["L4-L6", "L1-L20"]


def gone(path: Path) -> None:
    path.unlink()


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("change", "outcome", "force"),
    [
        (lambda path: path.write_text(CODE.replace("line 4", "line four")), Outcome.DRIFT_DETECTED, "caution_only"),
        (lambda path: path.write_text(f"{CODE}{CODE}"[22:]), Outcome.DRIFT_DETECTED, None),
        (lambda path: path.write_text("other\n"), Outcome.DRIFT_DETECTED, "none"),
        (lambda path: path.rename(path.with_name("c.txt")), Outcome.DRIFT_DETECTED, None),
        (gone, Outcome.DRIFT_DETECTED, None),
        (fifo, Outcome.FAILED, "none"),
        (lambda path: path.write_bytes(b"\0"), Outcome.FAILED, "none"),
    ],
    ids=["edited", "twice", "deleted", "renamed", "file gone", "fifo", "binary"],
)
def test_a_change_is_drift_and_what_cannot_be_judged_failed(
    zone: Path, change: Callable[[Path], object], outcome: Outcome, force: str | None
) -> None:
    packet = of(zone)
    change(zone / "a.txt")
    found = rehydrate(packet, now=SOON)
    assert found.rehydration.outcome is outcome
    assert force in {None, forces(found)[0]}
    assert forces(found)[0] != "active" or outcome is Outcome.REFRESHED
    assert forces(found)[1] == "active", "what stands may still be claimed"
    assert found.packet is None


def test_age_bounds_what_may_be_claimed(zone: Path) -> None:
    packet = of(zone)
    days = {1: "active", 20: "restored_with_caveat", 40: "caution_only"}
    for age, force in days.items():
        found = rehydrate(packet, now=MADE + timedelta(days=age))
        assert told(found) == (Outcome.REFRESHED, ClaimForce(force), [force, force])


def test_age_is_counted_in_tics_where_the_zone_counts_them(zone: Path) -> None:
    packet = of(zone, tic=700)
    long_after = MADE + timedelta(days=400)
    ages = {700: "active", 730: "active", 731: "restored_with_caveat", 761: "caution_only"}
    for tic, force in ages.items():
        row = {"type": "tic", "count_mode": "counted", "global_counter_before": tic - 1, "global_counter_after": tic}
        plant(zone, {"audit-logs/tics/2026-03-01.jsonl": json.dumps(row) + "\n"})
        assert told(rehydrate(packet, now=long_after)) == (Outcome.REFRESHED, ClaimForce(force), [force, force])
    plant(zone, {"a.txt": f"\n{CODE}"})
    child = rehydrate(packet, now=long_after).packet
    assert child is not None
    assert child.generated_at_tic == 761


def test_a_hint_stays_a_hint(zone: Path) -> None:
    chunk = cited(zone, "a.txt", 3, 5).model_copy(update={"confidence_class": ConfidenceClass.NEIGHBOR_ONLY})
    assert forces(rehydrate(citing(zone, chunk), now=SOON)) == ["caution_only"]


def test_a_packet_without_chunks_claims_nothing(zone: Path) -> None:
    found = rehydrate(citing(zone), now=SOON)
    assert told(found) == (Outcome.REFRESHED, ClaimForce.NONE, [])


def test_a_newer_packet_of_the_question_supersedes(zone: Path) -> None:
    packet = of(zone)
    later = citing(zone, cited(zone, "a.txt", 3, 5), generated_at="2026-03-02T09:30:00+00:00")
    packets.remember(packet)
    packets.remember(later)
    found = rehydrate(packet, now=SOON)
    assert told(found) == (Outcome.SUPERSEDED, ClaimForce.CAUTION_ONLY, ["restored_with_caveat"] * 2)
    assert found.rehydration.superseded_by == later.packet_id
    assert rehydrate(later, now=SOON).rehydration.outcome is Outcome.REFRESHED


@pytest.mark.parametrize("goal", ["plain", 'of "quotes" \\ and\nlines', "wärmer als 日本 \u2028"])
@pytest.mark.parametrize("kept", [False, True])
def test_a_newer_packet_is_found_however_its_goal_is_written(zone: Path, goal: str, *, kept: bool) -> None:
    intake = sample.packet().intake.model_copy(update={"goal": goal})
    later = citing(zone, cited(zone, "a.txt", 3, 5), generated_at="2026-03-02T09:30:00+00:00", intake=intake)
    if kept:
        packets.save(later, zone)
    else:
        packets.remember(later)
    packets.remember(citing(zone, generated_at="2026-03-03T09:30:00+00:00"))
    assert rehydrate(of(zone, intake=intake), now=SOON).rehydration.superseded_by == later.packet_id


def test_packets_of_one_second_do_not_supersede_each_other_unless_one_was_made_of_the_other(zone: Path) -> None:
    packet, other = of(zone), citing(zone, cited(zone, "a.txt", 3, 5))
    packets.remember(packet)
    packets.remember(other)
    assert {rehydrate(one, now=SOON).rehydration.outcome for one in (packet, other)} == {Outcome.REFRESHED}
    wider = citing(zone, cited(zone, "a.txt", 2, 6))
    child = packets.seal(wider, wider.run, packet.generated_at, None, parent=packet.packet_id)
    packets.remember(child)
    assert rehydrate(packet, now=SOON).rehydration.superseded_by == child.packet_id
    assert rehydrate(child, now=SOON).rehydration.outcome is Outcome.REFRESHED


def test_a_tree_that_is_gone_is_an_error_and_no_outcome(zone: Path) -> None:
    packet = of(zone)
    with pytest.raises(ZoneError):
        rehydrate(packet, now=SOON, root=zone / "nowhere")


# Corrections.


def governed(zone: Path) -> Packet:
    chunks = (cited(zone, QUEUE, 2, 2), cited(zone, QUEUE, 3, 3, number=2), cited(zone, "a.txt", 1, 2, number=3))
    return citing(zone, *chunks)


def correct(zone: Path, **more: Any) -> None:
    CORRECTIONS.receipt(zone)
    CORRECTIONS.append(
        zone, CORRECTIONS.LEDGER, CORRECTIONS.correction("cpr_a", QUEUE, {"lesson": "what is true"}) | more
    )


def test_a_correction_holds_the_packet_and_restores_no_claim(zone: Path, tmp_path: Path) -> None:
    packet = governed(zone)
    archive = packets.save(packet, zone)
    before = archive.read_bytes(), archive.stat().st_mtime_ns
    correct(zone)
    found = rehydrate(packet, now=SOON)
    assert told(found) == (
        Outcome.HELD,
        ClaimForce.NONE,
        ["none", "restored_with_caveat", "restored_with_caveat"],
    )
    assert found.rehydration.held_chunks == 1
    assert found.rehydration.because.startswith("corrections keep back rtch_chunk_1: ")
    assert found.packet is None
    assert (archive.read_bytes(), archive.stat().st_mtime_ns) == before


def test_a_packet_that_shows_the_row_as_corrected_is_not_held(zone: Path) -> None:
    correct(zone)
    from rtch.api import hydrate  # noqa: PLC0415

    packet = hydrate(sample.packet().intake.model_copy(update={"explicit_seeds": ("cpr_a",)}), root=zone)
    shown = [one.text for one in packet.hydrated_chunks if one.path == QUEUE]
    assert shown
    assert all("lesson a" not in text and "what is true" in text for text in shown)
    assert rehydrate(packet, now=datetime.now(UTC)).rehydration.outcome is Outcome.REFRESHED


@pytest.mark.parametrize("more", [{"authority": None}, {"lifecycle_state": "final"}, {"receipt_path": "nowhere.json"}])
def test_what_only_claims_to_correct_holds_as_well(zone: Path, more: dict[str, Any]) -> None:
    packet = governed(zone)
    correct(zone, **more)
    found = rehydrate(packet, now=SOON)
    assert found.rehydration.outcome is Outcome.HELD
    assert forces(found) == ["none", "none", "restored_with_caveat"]


def test_where_corrections_cannot_be_told_the_packet_is_held(zone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packet = governed(zone)
    monkeypatch.setitem(sys.modules, "rtch.view_making", None)
    found = rehydrate(packet, now=SOON)
    assert found.rehydration.outcome is Outcome.HELD
    assert "whether it is corrected cannot be told" in found.rehydration.because
    assert set(forces(found)) == {"none"}
    assert rehydrate(of(zone), now=SOON).rehydration.outcome is Outcome.REFRESHED, "ledgers alone are governed"


def test_a_ledger_that_cannot_be_read_whole_supports_no_claim(zone: Path) -> None:
    packet = governed(zone)
    with (zone / QUEUE).open("a") as file:
        file.write("{broken\n" + ROWS.splitlines()[0] + "\n")
    assert forces(rehydrate(packet, now=SOON)) == ["caution_only", "caution_only", "active"]


# The command.


def command(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(["rehydrate", *argv])
    return code, *capsys.readouterr()


def fresh(zone: Path) -> Packet:
    packet = of(zone, generated_at=datetime.now(UTC).isoformat(timespec="seconds"))
    packets.remember(packet)
    return packet


def test_one_line_a_chunk_and_the_outcome(zone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packet = fresh(zone)
    plant(zone, {"a.txt": f"\n{CODE}"})
    code, out, err = command(capsys, packet.packet_id)
    assert code == 0
    assert out == (
        "active                moved       rtch_chunk_1  a.txt:L3-L5 -> L4-L6 (1 line down)\n"
        "active                unchanged   rtch_chunk_2  b.txt:L1-L20\n"
        "refreshed: all 2 chunks stand, 1 of them at other lines; claim force active\n"
    )
    child = packets.last_packet(zone)
    assert child is not None
    assert child.parent_packet_id == packet.packet_id
    assert f"{child.packet_id} has the chunks where they are now, parent {packet.packet_id}" in err
    assert command(capsys, packet.packet_id)[0] == 1, "its child supersedes it"
    assert command(capsys, child.packet_id)[0] == 0


def test_json_is_the_record(zone: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    packet = fresh(zone)
    plant(zone, {"a.txt": f"\n{CODE}"})
    code, out, _ = command(capsys, packet.packet_id, "--format", "json", "--output", str(tmp_path / "n.json"))
    found = Rehydration.parse(out)
    assert (code, found.outcome, found.packet_id) == (0, Outcome.REFRESHED, packet.packet_id)
    assert packets.load(tmp_path / "n.json").packet_id == found.refreshed_as


@pytest.mark.parametrize(("text", "code"), [(CODE.replace("line 4", "x"), 1), ("\0", 7), (CODE, 0)])
def test_exit_codes(zone: Path, capsys: pytest.CaptureFixture[str], text: str, code: int) -> None:
    packet = fresh(zone)
    plant(zone, {"a.txt": text})
    assert command(capsys, packet.packet_id)[0] == code
    assert command(capsys, packet.packet_id, "--format", "json")[0] == code


def test_held_and_missing_exit_codes(zone: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    packet = governed(zone)
    packets.remember(packet)
    correct(zone)
    assert command(capsys, packet.packet_id)[0] == 7
    assert command(capsys, "0" * 12)[0] == 6
    assert command(capsys, packet.packet_id, "--root", str(tmp_path / "nowhere"))[0] == 3
