"""One of a packet's next legal probes, run: what the child has, and what it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driving import hold_to_the_laws
from making import intake_of, plant

from rtch import packets
from rtch.api import hydrate
from rtch.cli.main import main
from rtch.documents import document_of
from rtch.errors import IntakeError
from rtch.models.packet import Packet
from rtch.models.rehydration import Outcome
from rtch.models.vocab import ConfidenceClass
from rtch.packet_history import entries, superseding
from rtch.probing import Probed, run_probe
from rtch.rehydration import rehydrate

BODY = "".join(f"# filler {n}\n" for n in range(60))
SETTLE = f"def settle_route(route):\n    return route\n{BODY}def weigh(route):\n    return settle_route(route)\n"
TREE = {
    "src/settle.py": SETTLE,
    **{f"docs/log_{n}.md": f"# Log {n}\n{BODY}\nThe pilot of harbor {n} came.\n{BODY}" for n in range(26)},
}
"""More files with a pilot than a packet of the normal level has surfaces."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTCH_HOME", str(tmp_path / "home"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return plant(tmp_path / "zone", TREE)


def asked(root: Path, **fields: Any) -> Packet:
    plain = {
        "goal": "Where is settle_route used, and who is the pilot of the harbor",
        "explicit_seeds": ("settle_route",),
        "enough_evidence_definition": "at least 1 surface",
    }
    return hydrate(intake_of(**plain | fields), root=root)


def numbered(packet: Packet) -> list[int]:
    return list(range(1, len(packet.next_legal_probes) + 1))


def bringing(packet: Packet, **more: Any) -> Probed:
    """Run the first probe that brings a new chunk."""
    tried = (run_probe(packet, number, **more) for number in numbered(packet))
    return next(one for one in tried if one.chunk_count)


def test_every_next_legal_probe_runs_as_it_is_and_makes_a_child_that_keeps_the_laws(root: Path) -> None:
    packet = asked(root)
    assert packet.next_legal_probes
    for number in numbered(packet):
        probe = packet.next_legal_probes[number - 1]
        child = run_probe(packet, number).packet
        hold_to_the_laws(json.loads(child.canonical()) | {"packet_id": child.packet_id}, root)
        assert child.parent_packet_id == packet.packet_id
        assert packets.packet_id(child, packet.packet_id) == child.packet_id
        ran = [outcome.probe for outcome in child.probe_plan.probes if outcome.ran]
        assert probe in ran
        assert [one.probe_id for one in child.next_legal_probes] == [
            one.probe_id for one in packet.next_legal_probes if one != probe
        ]
        assert child.intake == packet.intake


def test_the_child_has_the_parents_chunks_and_the_hits(root: Path) -> None:
    packet = asked(root)
    done = bringing(packet)
    child = done.packet
    count = len(packet.hydrated_chunks)
    assert [one.text_sha256 for one in child.hydrated_chunks[:count]] == [
        one.text_sha256 for one in packet.hydrated_chunks
    ]
    assert len(child.hydrated_chunks) == count + done.chunk_count
    ids = {one.probe_id for one in packet.next_legal_probes}
    assert any(hit.probe_id in ids for one in child.hydrated_chunks[count:] for hit in one.hits)
    assert child.read_budget.total == packet.read_budget.total
    assert child.read_budget.consumed > packet.read_budget.consumed


def test_a_chain_of_probes_ends_with_none_left(root: Path) -> None:
    packet = asked(root)
    seen = set()
    while packet.next_legal_probes:
        seen.add(packet.packet_id)
        packet = run_probe(packet, 1).packet
        hold_budget(packet)
    assert packet.packet_id not in seen
    with pytest.raises(IntakeError, match="has no next legal probe; ask again"):
        run_probe(packet, 1)


def hold_budget(packet: Packet) -> None:
    budget = packet.read_budget
    lines = sum(one.end_line - one.start_line + 1 for one in packet.hydrated_chunks)
    assert (budget.consumed, budget.remaining) == (lines, budget.total - lines)


def test_the_same_probe_on_the_same_tree_is_the_same_child(root: Path) -> None:
    packet = asked(root)
    assert run_probe(packet, 1).packet.packet_id == run_probe(packet, 1, cached=False).packet.packet_id


def test_chunks_stay_within_what_is_left_of_the_budget(root: Path) -> None:
    packet = asked(root, read_budget=asked(root).read_budget.consumed)
    assert packet.read_budget.remaining == 0
    for number in numbered(packet):
        done = run_probe(packet, number)
        assert done.chunk_count == 0
        hold_budget(done.packet)
    done = bringing(packet, more_lines=5)
    assert done.packet.read_budget.consumed <= packet.read_budget.total + 5 == done.packet.read_budget.total
    hold_budget(done.packet)


def test_chunks_that_changed_since_are_none_of_the_child(root: Path) -> None:
    packet = asked(root)
    plant(root, {"src/settle.py": "def settle_route(way):\n    return way\n"})
    child = run_probe(packet, 1).packet
    assert all("return route" not in one.text for one in child.hydrated_chunks)
    assert any(one.path == "src/settle.py" for one in child.skipped_surfaces)


def test_a_probe_of_a_foreign_packet_leads_nowhere_but_into_the_tree(root: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"outside.txt": "the pilot is a secret\n"})
    plant(root, {".env": "PILOT_KEY=pilot\n"})
    packet = asked(root)
    probe = packet.next_legal_probes[0]
    aimed = probe.model_copy(update={"target_set": ("../outside.txt", "/etc/passwd", ".env", "gone.txt")})
    forged = packet.model_copy(update={"next_legal_probes": (aimed,)})
    done = run_probe(forged, 1)
    assert done.chunk_count == 0
    outcome = next(one for one in done.packet.probe_plan.probes if one.probe.probe_id == probe.probe_id)
    assert {one.partition(":")[0] for one in outcome.errors} >= {"../outside.txt", "/etc/passwd", "gone.txt"}
    assert "a secret" not in done.packet.canonical().decode()


@pytest.mark.parametrize("number", [0, -1, 99])
def test_a_number_that_is_none(root: Path, number: int) -> None:
    packet = asked(root)
    with pytest.raises(
        IntakeError, match=f"has no next legal probe {number}; use 1 to {len(packet.next_legal_probes)}"
    ):
        run_probe(packet, number)


def test_no_line_is_shown_twice_and_no_cut_chunk_claims_more(root: Path) -> None:
    packet = asked(root)
    for number in numbered(packet):
        child = run_probe(packet, number).packet
        lines = [(one.path, line) for one in child.hydrated_chunks for line in range(one.start_line, one.end_line + 1)]
        assert len(lines) == len(set(lines))
        new = child.hydrated_chunks[len(packet.hydrated_chunks) :]
        assert all(one.confidence_class is not ConfidenceClass.CLAIM_SUPPORTING for one in new)


# The command.


def test_the_command_lists_runs_and_remembers(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packet = asked(root)
    packets.remember(packet)
    assert main(["probe", packet.packet_id]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == len(packet.next_legal_probes)
    assert rows[0].startswith(f"1  {packet.next_legal_probes[0].family}  ")
    codes = {}
    for number in numbered(packet):
        codes[number] = main(["probe", packet.packet_id[12:24], str(number), "--format", "json"])
        out, err = capsys.readouterr()
        child = json.loads(out)
        assert f"parent {packet.packet_id}" in err
        brought = len(child["hydrated_chunks"]) - len(packet.hydrated_chunks)
        assert codes[number] == (0 if brought else 1)
        if brought:
            assert document_of(packets.load(child["packet_id"])) == child
    assert set(codes.values()) >= {0}
    assert main(["probe", packet.packet_id, "99"]) == 2
    assert main(["probe", "0" * 12, "1"]) == 6
    assert main(["probe", packet.packet_id, "1", "--root", str(root / "nowhere")]) == 3


@pytest.mark.parametrize("how", ["all is shown", "nothing is hit", "no budget is left"])
def test_a_child_that_brings_nothing_is_shown_and_never_kept(
    root: Path, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    packet = asked(root)
    if how == "no budget is left":
        packet = asked(root, read_budget=packet.read_budget.consumed)
    legal, ran = packet.next_legal_probes[0], next(one.probe for one in packet.probe_plan.probes if one.hit_count)
    probe, told = {
        "all is shown": (ran, "its parent shows hits already in rtch_chunk_"),
        "nothing is hit": (legal.model_copy(update={"target_set": ("gone.md",)}), "the probe hits nothing"),
        "no budget is left": (legal, "hits are in no chunk"),
    }[how]
    plain = packet.model_copy(update={"next_legal_probes": (probe,)})
    parent = packets.seal(plain, packet.run, packet.generated_at, None)
    packets.remember(parent)
    kept = {one.packet_id for one in packets.listed()}
    assert main(["probe", parent.packet_id, "1", "--persist", "--format", "json"]) == 1
    out, err = capsys.readouterr()
    child = json.loads(out)
    assert child["parent_packet_id"] == parent.packet_id
    assert {one.packet_id for one in packets.listed()} == kept
    assert "rtch: the packet is not kept: " in err
    assert told in err
    assert "kept at" not in err
    assert rehydrate(parent).rehydration.outcome is Outcome.REFRESHED


def test_a_child_that_brings_nothing_supersedes_nothing_even_where_it_was_kept(root: Path) -> None:
    packet = asked(root)
    probe = packet.next_legal_probes[0].model_copy(update={"target_set": ("gone.md",)})
    packet = packets.seal(
        packet.model_copy(update={"next_legal_probes": (probe,)}), packet.run, packet.generated_at, None
    )
    empty = run_probe(packet, 1).packet.model_copy(update={"generated_at": "2099-01-01T00:00:00+00:00"})
    for one in (packet, empty):
        packets.remember(one)
    assert rehydrate(packet).rehydration.outcome is Outcome.REFRESHED
    assert superseding(entries()) == {empty.packet_id: packet.packet_id}


def test_a_child_that_brings_a_chunk_supersedes(root: Path) -> None:
    packet = asked(root)
    child = bringing(packet).packet
    for one in (packet, child):
        packets.remember(one)
    assert rehydrate(packet).rehydration.superseded_by == child.packet_id
