"""The installed rtch: dumps, consolidators, next legal probes, and packets taken up again under corrections."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from driving import RTCH, Ask, Packet, Rtch, corpus, hold_to_the_laws, plant, tree_state

zone = corpus("zone")
corrections = corpus("zone_corrections")

COMPILER = Ask("How does queue_state_compile fold the queue", ["queue_state_compile"])
DECISION = COMPILER.but(goal="Should we keep queue_state_compile.py, or merge it into another compiler?")
ROWS = [
    {"id": "cpr_bell", "status": "extracted", "lesson": "ring the lantern bell twice"},
    {"id": "cpr_wick", "status": "extracted", "lesson": "the lantern wick is trimmed at dawn"},
    {"id": "cpr_glass", "status": "extracted", "lesson": "lantern glass is wiped with sand"},
]
QUEUE = "audit-logs/cprs/queue.jsonl"
SIGNALS = "audit-logs/signals/lantern.jsonl"
OLD, NEW = "trimmed at dawn", "trimmed at dusk"
LANTERN = Ask("When is the lantern wick trimmed", ["cpr_wick", "cpr_bell"], profile="audit_history")
CONSOLIDATE = """\
import json, pathlib, sys
output = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
output.write_text(json.dumps(sys.argv[1:]))
"""


@pytest.fixture
def rtch(tmp_path: Path) -> Rtch:
    home = tmp_path / "home"
    home.mkdir()
    return Rtch(home)


@pytest.fixture(scope="module")
def lantern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("lantern") / "zone"
    zone.build(root, git=True)
    return root


@pytest.fixture
def governed(tmp_path: Path) -> Path:
    """A zone with two ledgers and no correction yet."""
    rows = "".join(json.dumps(row) + "\n" for row in ROWS)
    signal = json.dumps({"id": "sig_lantern", "status": "active", "lesson": "cpr_wick was asked about"}) + "\n"
    return plant(
        tmp_path / "zone", {".ticzone": '{"name": "kiln"}', QUEUE: rows, SIGNALS: signal, "notes.md": "# cpr_wick\n"}
    )


def correct(root: Path, **more: Any) -> None:
    corrections.receipt(root)
    row = corrections.correction("cpr_wick", QUEUE, {"lesson": f"the lantern wick is {NEW}"}) | more
    corrections.append(root, corrections.LEDGER, row)


# --- handoffs --------------------------------------------------------------------------------------------------------


def test_packet_and_dump_are_both_given_and_the_tree_is_left(rtch: Rtch, lantern: Path) -> None:
    before = tree_state(lantern)
    packet = rtch.hydrate(lantern, COMPILER, "--handoff-to-consolidate")
    handoff = packet["run"]["handoff"]
    text = Path(handoff["dump_path"]).read_text()
    assert f"> **RTCH source selection**: rtch_packet_id={packet['packet_id']}\n" in text
    assert handoff["exit_code"] is None
    assert "## /complement" not in text
    assert "complement" not in packet["run"]
    again = rtch.run("package", packet["packet_id"], "--whole-files")
    told = json.loads(again.out)
    assert json.loads(Path(told["packet_path"]).read_text())["packet_id"] == packet["packet_id"]
    whole = Path(told["dump_path"]).read_text()
    assert (lantern / zone.QUEUE_COMPILER).read_text().rstrip("\n") in whole
    assert tree_state(lantern) == before


def test_a_consolidator_of_the_command_line_is_run(rtch: Rtch, lantern: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"tools/consolidate.py": CONSOLIDATE})
    command = f"{sys.executable} tools/consolidate.py"
    ran = rtch.run(
        "hydrate", "--root", str(lantern), *COMPILER.flags(), "--format", "json", "--handoff-to-consolidate",
        "--consolidate-command", command, cwd=tmp_path,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    handoff = ran.packet["run"]["handoff"]
    assert handoff["exit_code"] == 0
    assert json.loads(Path(handoff["consolidated_path"]).read_text()) == handoff["argv"][2:]
    assert f"consolidated at {handoff['consolidated_path']}" in ran.err


def test_a_consolidators_failure_costs_neither_packet_nor_dump(rtch: Rtch, lantern: Path) -> None:
    for command, why in {
        "sh -c 'exit 3'": "ended with exit code 3: corrections hold it",
        "no-such-program": "is not on PATH",
        "sh -c 'sleep 30'": "did not finish within 0.5 s",
    }.items():
        ran = rtch.run(
            "hydrate", "--root", str(lantern), *COMPILER.flags(), "--format", "json", "--handoff-to-consolidate",
            "--consolidate-command", command, "--consolidate-timeout", "0.5",
        )  # fmt: skip
        assert ran.code == 5
        assert why in ran.err
        handoff = ran.packet["run"]["handoff"]
        assert handoff["failure"]
        assert Path(handoff["dump_path"]).is_file()
        assert rtch.run("packet", "show", ran.packet["packet_id"], "--format", "json").code == 0
        packaged = rtch.run(
            "package", ran.packet["packet_id"], "--consolidate-command", command, "--consolidate-timeout", "0.5"
        )
        assert packaged.code == 5
        assert Path(json.loads(packaged.out)["dump_path"]).is_file()


def test_a_zone_names_no_consolidator_and_its_user_does(rtch: Rtch, tmp_path: Path) -> None:
    root = plant(tmp_path / "zone", {".ticzone": "{}", "a.py": "def settle():\n    return 1\n"})
    packet = rtch.hydrate(root, Ask("Where is settle", ["settle"]))
    plant(root, {"config.yaml": "consolidate_command: [touch, pwned]\n", "consolidate": "#!/bin/sh\ntouch pwned\n"})
    plant(root, {".rtch.yaml": "consolidate_command: [touch, pwned]\n"})
    (root / "consolidate").chmod(0o755)
    told = json.loads(rtch.run("package", packet["packet_id"], cwd=root).out)
    assert told["exit_code"] is None
    refused = rtch.run("hydrate", "--root", str(root), *Ask("x", ["settle"]).flags(), "--handoff-to-consolidate")
    assert (refused.code, refused.out) == (2, "")
    plant(tmp_path, {"tools/consolidate.py": CONSOLIDATE})
    config = {"consolidate_command": [sys.executable, str(tmp_path / "tools/consolidate.py")]}
    plant(rtch.home, {"rtch/config.yaml": json.dumps(config)})
    ran = rtch.run("package", packet["packet_id"], cwd=root)
    assert (ran.code, json.loads(ran.out)["exit_code"]) == (0, 0)
    assert not list(tmp_path.rglob("pwned"))


def test_flags_of_a_handoff_without_one_are_refused(rtch: Rtch, lantern: Path) -> None:
    ran = rtch.run("hydrate", "--root", str(lantern), *COMPILER.flags(), "--whole-files")
    assert (ran.code, ran.err) == (
        2, "rtch: --whole-files is of a handoff, and none is asked for; give --handoff-to-consolidate too\n",
    )  # fmt: skip


def test_a_decision_gets_its_relational_surface_and_the_block(rtch: Rtch, lantern: Path) -> None:
    packet = rtch.hydrate(lantern, DECISION, "--handoff-to-consolidate")
    complement = packet["run"]["complement"]
    around = complement["relational_surface"]
    assert complement["centroid"] == zone.QUEUE_COMPILER
    served = {one["path"] for one in around["served_party"]}
    assert "SYSTEM_MAP.md" in served
    assert around["maintenance"][0]["last_touched"]
    assert complement["decision"] is None
    text = Path(packet["run"]["handoff"]["dump_path"]).read_text()
    assert "## Relational Surface\n" in text
    assert "## /complement\n" in text
    again = rtch.hydrate(lantern, DECISION)
    assert again["packet_id"] == packet["packet_id"]
    assert again["run"]["complement"]["relational_surface"] == around
    read = subprocess.run(
        f"rtch {around['served_party'][0]['re_entry_command'].removeprefix('rtch ')}", shell=True, cwd=lantern,
        env=rtch.env() | {"PATH": f"{Path(RTCH).parent}:{rtch.env()['PATH']}"}, capture_output=True, check=False,
    )  # fmt: skip
    assert read.returncode == 0
    short = rtch.run("hydrate", "--root", str(lantern), *DECISION.flags(), "--format", "json", "--max-chars", "20000")
    assert short.code == 0
    assert len(short.out) <= 20_000


# --- probes ----------------------------------------------------------------------------------------------------------


def test_next_legal_probes_run_as_they_are(rtch: Rtch, lantern: Path) -> None:
    packet = rtch.hydrate(lantern, DECISION)
    legal = packet["next_legal_probes"]
    assert legal
    listed = rtch.run("probe", packet["packet_id"])
    assert [row.split()[1] for row in listed.out.splitlines()] == [one["family"] for one in legal]
    codes = []
    for number, probe in enumerate(legal, start=1):
        ran = rtch.run("probe", packet["packet_id"], str(number), "--format", "json")
        codes.append(ran.code)
        child = ran.packet
        hold_to_the_laws(child, lantern)
        assert child["parent_packet_id"] == packet["packet_id"]
        assert child["run"]["complement"]["centroid"] == zone.QUEUE_COMPILER
        assert probe not in child["next_legal_probes"]
        assert probe in [one["probe"] for one in child["probe_plan"]["probes"] if one["ran"]]
        shown = rtch.run("packet", "show", child["packet_id"], "--format", "json")
        assert shown.code == (0 if ran.code == 0 else 6)
        assert ran.code or shown.packet == child
    assert 0 in codes
    assert set(codes) <= {0, 1}
    assert rtch.run("probe", packet["packet_id"], "0").code == 2


# --- packets taken up again ------------------------------------------------------------------------------------------


def rehydrated(rtch: Rtch, packet: Packet, *more: str) -> tuple[int, Packet]:
    ran = rtch.run("rehydrate", packet["packet_id"], "--format", "json", *more)
    return ran.code, json.loads(ran.out)


def test_persist_and_rehydrate_round_trip(rtch: Rtch, governed: Path) -> None:
    packet = rtch.hydrate(governed, LANTERN, "--persist")
    assert rehydrated(rtch, packet)[1]["outcome"] == "refreshed"
    plant(governed, {"notes.md": "one more line\n\n# cpr_wick\n"})
    code, found = rehydrated(rtch, packet)
    assert (code, found["outcome"], found["claim_force"]) == (0, "refreshed", "active")
    child = rtch.run("packet", "show", found["refreshed_as"], "--format", "json").packet
    assert child["parent_packet_id"] == packet["packet_id"]
    assert rehydrated(rtch, packet)[:1] == (1,)
    assert rehydrated(rtch, child)[0] == 0
    plant(governed, {"notes.md": "something else\n"})
    code, found = rehydrated(rtch, child)
    assert (code, found["outcome"]) == (1, "drift_detected")
    time.sleep(1.1)  # packets say when they were made in whole seconds
    newer = rtch.hydrate(governed, LANTERN)
    code, found = rehydrated(rtch, child)
    assert (code, found["outcome"], found["superseded_by"]) == (1, "superseded", newer["packet_id"])


# Behaviours 25 to 31 of what any RTCH must do, in their order.


def test_the_resolver_of_corrections_loads_where_it_is_installed(governed: Path, rtch: Rtch) -> None:
    correct(governed)
    code = (
        "import sys; from pathlib import Path; from rtch.view_making import view_at;"
        f"print(view_at(Path(sys.argv[1])).replaces({QUEUE!r}))"
    )
    python = Path(RTCH).parent / "python"
    ran = subprocess.run(
        [python, "-I", "-c", code, governed], cwd="/", env=rtch.env(), capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "True\n", "")


def without_corrections(rtch: Rtch, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run a command of an installation whose resolver of corrections is missing."""
    hidden = "import sys; sys.modules['rtch.view_making'] = None; "
    code = f"{hidden}from rtch.cli.main import main; sys.exit(main(sys.argv[1:]))"
    python = Path(RTCH).parent / "python"
    return subprocess.run(
        [python, "-c", code, *argv], cwd=rtch.home, env=rtch.env(), capture_output=True, text=True, check=False
    )


def test_without_the_resolver_a_packet_of_ledgers_is_held_with_a_typed_receipt(rtch: Rtch, governed: Path) -> None:
    packet = rtch.hydrate(governed, LANTERN)
    ran = without_corrections(rtch, "rehydrate", packet["packet_id"], "--format", "json")
    found = json.loads(ran.stdout)
    assert (ran.returncode, found["outcome"], found["claim_force"]) == (7, "held", "none")
    assert found["schema_version"] == "rtch.rehydration/1"
    assert found["refreshed_as"] is None
    assert "whether it is corrected cannot be told" in found["because"]


def test_old_text_is_nowhere_and_corrected_text_is_where_it_was(rtch: Rtch, governed: Path) -> None:
    correct(governed)
    packet = governed_packet(rtch, governed)
    text = json.dumps(packet)
    assert OLD not in text
    shown = [one["text"] for one in packet["hydrated_chunks"] if one["path"] == QUEUE]
    assert any(NEW in one and "effective_record_view" in one for one in shown)
    ran = rtch.run("package", packet["packet_id"], "--whole-files")
    dump = Path(json.loads(ran.out)["dump_path"]).read_text()
    assert OLD not in dump
    assert NEW in dump
    for number in range(1, len(packet["next_legal_probes"]) + 1):
        assert OLD not in rtch.run("probe", packet["packet_id"], str(number), "--format", "json").out


def governed_packet(rtch: Rtch, root: Path) -> Packet:
    """Return the packet of a corrected zone, whose chunks are not the bytes of the disk."""
    ran = rtch.run("hydrate", "--root", str(root), *LANTERN.flags(), "--format", "json")
    assert ran.code == 0, ran.err
    return ran.packet


def test_a_corrected_source_that_cannot_be_read_is_withheld(rtch: Rtch, governed: Path) -> None:
    correct(governed)
    packet = governed_packet(rtch, governed)
    (governed / QUEUE).unlink()
    os.mkfifo(governed / QUEUE)
    code, found = rehydrated(rtch, packet)
    forces = {one["path"]: one["claim_force"] for one in found["chunks"]}
    assert (code, forces[QUEUE]) == (7, "none")
    assert found["outcome"] in {"held", "failed"}
    ran = rtch.run("package", packet["packet_id"], "--whole-files")
    assert OLD not in Path(json.loads(ran.out)["dump_path"]).read_text()


def test_rows_that_share_a_file_with_a_corrected_one_stay(rtch: Rtch, governed: Path) -> None:
    before = rtch.hydrate(governed, LANTERN)
    correct(governed)
    after = governed_packet(rtch, governed)
    bell = json.dumps(ROWS[0])
    assert any(bell in one["text"] for one in before["hydrated_chunks"])
    assert any(bell in one["text"] for one in after["hydrated_chunks"])
    records = after["effective_records"]
    assert [(one["record_id"], one["line"]) for one in records] == [("cpr_wick", 2)]
    assert records[0]["re_entry_command"] == f"rtch read '{QUEUE}:L2-L2'"


def test_taking_a_packet_up_again_restores_nothing_that_is_corrected(rtch: Rtch, governed: Path) -> None:
    packet = rtch.hydrate(governed, LANTERN, "--persist")
    archive = Path(packet["run"]["persisted_at"])
    before = archive.read_bytes(), archive.stat().st_mtime_ns
    correct(governed)
    code, found = rehydrated(rtch, packet)
    assert (code, found["outcome"], found["claim_force"]) == (7, "held", "none")
    forces = {one["path"]: one["claim_force"] for one in found["chunks"]}
    assert forces[QUEUE] == "none"
    assert forces[SIGNALS] == "restored_with_caveat"
    assert (archive.read_bytes(), archive.stat().st_mtime_ns) == before


@pytest.mark.parametrize("more", [{}, {"authority": None}], ids=["corrected", "held"])
def test_a_handoff_leaves_out_the_corrected_surface_alone(rtch: Rtch, governed: Path, more: dict[str, Any]) -> None:
    packet = rtch.hydrate(governed, LANTERN)
    correct(governed, **more)
    told = json.loads(rtch.run("package", packet["packet_id"]).out)
    dump = Path(told["dump_path"]).read_text()
    assert OLD not in dump
    assert "cpr_wick was asked about" in dump
    targets = told["argv"][told["argv"].index("--targets") + 1 :]
    assert str(governed / QUEUE) not in targets
    assert str(governed / SIGNALS) in targets
    assert [one.partition(":")[0] for one in told["withheld"]] == [QUEUE]


def test_without_the_resolver_a_handoff_leaves_out_ledgers_alone(rtch: Rtch, governed: Path) -> None:
    packet = rtch.hydrate(governed, LANTERN)
    ran = without_corrections(rtch, "package", packet["packet_id"])
    told = json.loads(ran.stdout)
    assert {one.partition(":")[0] for one in told["withheld"]} == {QUEUE, SIGNALS}
    dump = Path(told["dump_path"]).read_text()
    assert "# cpr_wick" in dump
    assert OLD not in dump


def test_zones_in_a_zone_are_corrected_each_by_its_own(rtch: Rtch, governed: Path) -> None:
    """A correction of a nested zone says nothing of the ledger of the same name above it."""
    inner = plant(governed / "inner", {".ticzone": "{}", QUEUE: (governed / QUEUE).read_text().replace("dawn", "noon")})
    packet = rtch.hydrate(governed, LANTERN)
    correct(inner)
    told = json.loads(rtch.run("package", packet["packet_id"]).out)
    assert [one.partition(":")[0] for one in told["withheld"]] == [f"inner/{QUEUE}"]
    dump = Path(told["dump_path"]).read_text()
    assert OLD in dump
    assert "trimmed at noon" not in dump
