"""Ledgers and their corrections on a generated zone, by the installed command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from driving import Ask, Packet, Rtch, corpus, hold_to_the_laws, plant, skipped

ZONE = corpus("zone")
CORRECTIONS = corpus("zone_corrections")
OLD, NEW = "the draught was measured with a feather", "the draught was measured with a candle"
RECORD = "cpr_draught_measure_tic199"
ASK = Ask("How was the draught measured?", seeds=[RECORD, "draught"], profile="audit_history")


@pytest.fixture
def rtch(tmp_path: Path) -> Rtch:
    return Rtch(tmp_path)


@pytest.fixture
def zone(tmp_path: Path) -> Path:
    root = tmp_path / "zone"
    ZONE.build(root)
    CORRECTIONS.append(root, ZONE.QUEUE, {"type": "cpr", "id": RECORD, "status": "extracted", "lesson": OLD})
    CORRECTIONS.receipt(root)
    return root


def _correct(root: Path, **more: object) -> None:
    row = CORRECTIONS.correction(RECORD, ZONE.QUEUE, {"lesson": NEW}) | more
    CORRECTIONS.append(root, CORRECTIONS.LEDGER, row)


def _asked(rtch: Rtch, root: Path, ask: Ask = ASK) -> Packet:
    """Return a packet that is not held to the law that chunks are the disk's bytes."""
    ran = rtch.run("hydrate", "--root", str(root), *ask.flags(), "--format", "json")
    assert ran.code == 0, ran.err
    return ran.packet


def _cautions(packet: Packet, flag: str) -> list[tuple[str, int | None, str]]:
    return [(one["path"], one["line"], one["note"]) for one in packet["caution_map"] if one["flag"] == flag]


def _line_of(root: Path, path: str, *words: str) -> int:
    lines = (root / path).read_text().split("\n")
    return next(n for n, line in enumerate(lines, 1) if all(word in line for word in words))


def _everything(rtch: Rtch, root: Path, packet: Packet) -> Iterable[str]:
    """Yield all that the commands print of the queue and of a packet."""
    yield json.dumps(packet, ensure_ascii=False)
    kept = root.parent / "packet.json"
    kept.write_text(json.dumps(packet))
    for arguments in (
        ("read", "--root", str(root), ZONE.QUEUE),
        ("read", "--root", str(root / "audit-logs"), "cprs/queue.jsonl"),
        ("read", "--root", str(root), ZONE.QUEUE, "--format", "json"),
        ("show", str(kept), "--format", "markdown"),
        ("show", str(kept), "--format", "yaml"),
        ("verify", str(kept), "--root", str(root)),
    ):
        ran = rtch.run(*arguments)
        yield ran.out + ran.err


def test_a_row_that_was_promoted_later_is_in_the_caution_map_with_the_row_that_counts(rtch: Rtch, zone: Path) -> None:
    packet = rtch.hydrate(zone, ASK.but(goal="What became of the glaze before firing?", seeds=[ZONE.PROMOTED_ID]))
    first, last = (_line_of(zone, ZONE.QUEUE, ZONE.PROMOTED_ID, status) for status in ('"extracted"', '"promoted"'))
    ((_, _, note),) = [row for row in _cautions(packet, "overtaken_row") if row[:2] == (ZONE.QUEUE, first)]
    assert f"promoted by its row at L{last}" in note
    command = note.partition(": ")[2]
    assert command == f"rtch read '{ZONE.QUEUE}:L{last}-L{last}'"
    assert ZONE.PROMOTED_ID in rtch.run("read", f"{ZONE.QUEUE}:L{last}-L{last}", "--root", str(zone)).out


def test_the_valve_keeps_what_is_promoted_and_a_deferred_record_goes_on(rtch: Rtch, zone: Path) -> None:
    ask = ASK.but(goal="Where do they stand?", seeds=[ZONE.VALVE_ID, ZONE.DEFERRED_ID])
    told = {(path, line): note for path, line, note in _cautions(rtch.hydrate(zone, ask), "overtaken_row")}
    promoted = _line_of(zone, ZONE.QUEUE, ZONE.VALVE_ID, '"promoted"')
    late = _line_of(zone, ZONE.QUEUE, ZONE.VALVE_ID, '"birth_tic": 208')
    deferred = _line_of(zone, ZONE.QUEUE, ZONE.DEFERRED_ID, '"deferred"')
    again = _line_of(zone, ZONE.QUEUE, ZONE.DEFERRED_ID, '"birth_tic": 221')
    assert f"at L{promoted}" in told[ZONE.QUEUE, late]
    assert f"at L{again}" in told[ZONE.QUEUE, deferred]
    assert (ZONE.QUEUE, promoted) not in told
    assert (ZONE.QUEUE, again) not in told


def test_ids_that_the_goal_does_not_lead_to_are_probed_by_nothing(rtch: Rtch, zone: Path) -> None:
    packet = rtch.hydrate(zone, ASK.but(goal="How is the queue compiled?", seeds=["compile_queue_state"]))
    probed = {term["term"] for one in packet["probe_plan"]["probes"] for term in one["probe"]["terms"]}
    assert not {term for term in probed if term.lower().startswith(("cpr_", "sig_", "ent_", "tic", "cogpr"))}


def test_an_id_keeps_its_case_and_its_borders(rtch: Rtch, tmp_path: Path) -> None:
    root, ids = tmp_path / "small", ("OAVPLT-77", "Tic 412", "CPR_Foo_bar")
    lines = [
        "Static 412 and tic-tac; tic 4123",
        "OAVPLT-77 came at Tic 412 with CPR_Foo_bar",
        "OAVPLT-777 did not",
    ]
    CORRECTIONS.append(root, "notes.md", "\n".join(lines).encode() + b"\n")
    packet = rtch.hydrate(root, ASK.but(goal="What came at Tic 412?", seeds=ids))
    hit = {(one["term"], one["line"]) for chunk in packet["hydrated_chunks"] for one in chunk["hits"]}
    assert {(term, line) for term, line in hit if term in ids} == {(term, 2) for term in ids}


def test_corrected_text_is_shown_and_the_old_one_by_nothing(rtch: Rtch, zone: Path) -> None:
    before = _asked(rtch, zone)
    assert OLD in json.dumps(before)
    assert "effective_records" not in before
    assert "holds" not in before
    _correct(zone)
    packet = _asked(rtch, zone)
    line = _line_of(zone, ZONE.QUEUE, RECORD)
    assert packet["packet_id"] != before["packet_id"]
    for text in _everything(rtch, zone, packet):
        assert OLD not in text
    (record,) = packet["effective_records"]
    assert (record["surface"], record["line"], record["record_id"]) == (ZONE.QUEUE, line, RECORD)
    assert _cautions(packet, "effective_record")[0][:2] == (ZONE.QUEUE, line)
    (chunk,) = [one for one in packet["hydrated_chunks"] if NEW in one["text"] and one["path"] == ZONE.QUEUE]
    assert "effective_record_view" in chunk["tags"]
    assert NEW in rtch.run(*record["re_entry_command"].replace("'", "").split()[1:], "--root", str(zone)).out


def test_rows_that_share_the_file_keep_their_text(rtch: Rtch, zone: Path) -> None:
    _correct(zone)
    raw = (zone / ZONE.QUEUE).read_text().split("\n")
    shown = rtch.run("read", "--root", str(zone), ZONE.QUEUE).out.split("\n")
    differs = [n for n, (a, b) in enumerate(zip(raw, shown, strict=True), 1) if a != b]
    assert differs == [_line_of(zone, ZONE.QUEUE, RECORD)]


def test_a_packet_from_before_does_not_stand_after(rtch: Rtch, zone: Path) -> None:
    packet = _asked(rtch, zone)
    kept = zone.parent / "before.json"
    kept.write_text(json.dumps(packet))
    assert rtch.run("verify", str(kept), "--root", str(zone)).code == 0
    assert "corrected" not in rtch.run("show", str(kept)).err
    _correct(zone)
    shown = rtch.run("show", str(kept))
    assert shown.code == 0
    assert f"{ZONE.QUEUE}: rows of it are corrected" in shown.err
    assert f"rtch rehydrate {kept}" in shown.err
    ran = rtch.run("verify", str(kept), "--root", str(zone))
    assert ran.code != 0
    assert OLD not in ran.out


def test_a_correction_without_its_receipt_holds_its_surface_with_one_of_its_own(rtch: Rtch, zone: Path) -> None:
    _correct(zone, receipt_path="audit-logs/corrections/receipts/none.json")
    packet = _asked(rtch, zone)
    (hold,) = packet["holds"]
    assert (hold["surface"], hold["reason"], hold["withheld"]) == (ZONE.QUEUE, "unauthorised", True)
    assert (ZONE.QUEUE, "held") in {(one["path"], one["reason"]) for one in packet["skipped_surfaces"]}
    assert packet["hydrated_chunks"]
    for text in _everything(rtch, zone, packet):
        assert OLD not in text
    assert all(
        one["confidence_class"] != "claim_supporting"
        for one in packet["hydrated_chunks"]
        if one["path"] == CORRECTIONS.LEDGER
    )


@pytest.mark.parametrize("receipt", [CORRECTIONS.RECEIPT, "none.json"])
def test_a_corrected_id_that_is_half_a_pair_leaves_a_packet_that_can_be_read(
    rtch: Rtch, zone: Path, receipt: str
) -> None:
    half = RECORD + "\ud800"
    CORRECTIONS.append(zone, ZONE.QUEUE, {"type": "cpr", "id": half, "status": "extracted", "lesson": OLD})
    _correct(zone)
    _correct(zone, target_record_id=half, correction_id="rc_half_\ud800", receipt_path=receipt)
    packet = _asked(rtch, zone)
    assert packet["effective_records" if receipt == CORRECTIONS.RECEIPT else "holds"]
    assert rtch.run("package", packet["packet_id"], "--root", str(zone)).code == 0


def test_one_malformed_row_costs_its_own_surface_its_claims_and_no_other(rtch: Rtch, zone: Path) -> None:
    other = "audit-logs/other/thing.jsonl"
    CORRECTIONS.append(zone, other, {"id": RECORD, "status": "noted", "draught": 1}, b"{broken\n")
    packet = _asked(rtch, zone)
    assert [(one["surface"], one["reason"], one["withheld"]) for one in packet["holds"]] == [
        (other, "malformed_row", False)
    ]
    classes = {one["path"]: one["confidence_class"] for one in packet["hydrated_chunks"]}
    assert classes[other] != "claim_supporting"
    assert classes[ZONE.QUEUE] == "claim_supporting"


def test_a_settled_hold_is_gone(rtch: Rtch, zone: Path) -> None:
    _correct(zone)
    (zone / CORRECTIONS.RECEIPT).unlink()
    assert _asked(rtch, zone)["holds"]
    CORRECTIONS.receipt(zone)
    packet = _asked(rtch, zone)
    assert "holds" not in packet
    assert NEW in json.dumps(packet)


def test_a_drift_report_tells_of_a_correction_and_not_of_the_old_text(rtch: Rtch, zone: Path) -> None:
    saved = rtch.run("intake", "new", *ASK.flags(), "--save", "draught")
    assert saved.code == 0, saved.err
    rtch.run("drift", "draught", "--root", str(zone), "--engine", "direct")
    _correct(zone)
    for form in ("human", "json", "markdown"):
        ran = rtch.run("drift", "draught", "--root", str(zone), "--format", form, "--engine", "direct")
        assert ZONE.QUEUE in ran.out
        assert OLD not in ran.out + ran.err


def test_a_dump_of_a_packet_from_before_holds_nothing_of_the_old_text(rtch: Rtch, zone: Path) -> None:
    kept = zone.parent / "before.json"
    kept.write_text(json.dumps(_asked(rtch, zone)))
    _correct(zone)
    for more in ((), ("--whole-files",)):
        ran = rtch.run("package", str(kept), "--output", str(zone.parent / f"dump{len(more)}.md"), *more)
        dump = zone.parent / f"dump{len(more)}.md"
        assert dump.exists(), ran.err
        assert OLD not in dump.read_text()


def test_of_a_very_large_ledger_the_end_is_searched_and_the_rest_is_told(rtch: Rtch, tmp_path: Path) -> None:
    pad = "x" * 1000
    row = '{{"type": "cpr", "id": "cpr_wick_{0}_tic7", "status": "{1}", "pad": "{2}"}}\n'
    rows = [row.format(number, "extracted", pad) for number in range(17_000)]
    rows += [row.format(16_990, "promoted", ""), row.format("last", "extracted", "")]
    path = "audit-logs/cprs/queue.jsonl"
    root = plant(tmp_path / "large", {".ticzone": "{}", path: "".join(rows)})
    asked = Ask("What became of cpr_wick_16990_tic7", profile="audit_history")
    packet = rtch.hydrate(root, asked)
    hold_to_the_laws(packet, root)
    chunks = packet["hydrated_chunks"]
    assert [one["line_range"] for one in chunks if one["path"] == path] == ["L16991-L16991", "L17001-L17001"]
    flags = {one["flag"]: one["note"] for one in packet["caution_map"] if one["path"] == path}
    assert "L17001" in flags["overtaken_row"]
    assert re.search(r"read from L\d+ on; L1-L\d+, its first \d+ bytes, were not", flags["cost_ceiling"])
    assert rtch.run("read", f"{path}:L17001-L17001", "--root", str(root)).out.count("promoted") == 1
    kept = tmp_path / "packet.json"
    kept.write_text(json.dumps(packet))
    assert rtch.run("verify", str(kept), "--root", str(root)).code == 0

    gone = rtch.hydrate(root, asked.but(goal="What became of cpr_wick_3_tic7"), codes=(0, 1))
    assert skipped(gone)[path] == "oversized"
    (told,) = [one["question"] for one in gone["unresolved_questions"] if one["reference"] == path]
    assert "L1-L" in told


def test_an_overtaken_entry_of_a_markdown_ledger_is_told_and_supports_no_claim(rtch: Rtch, tmp_path: Path) -> None:
    entries = [
        ("CPR-17", "Dip the wick twice."),
        *((f"CPR-{n}", f"Note {n}.") for n in range(20, 200)),
        ("CPR-17", "Once."),
    ]
    text = "# Ledger\n\n" + "".join(f"## {name} \u2014 Dipping\n\n{said}\n\n" for name, said in entries)
    root = plant(
        tmp_path / "marked", {".ticzone": "{}", "wick-ledger/ledger.md": text, "docs/notes.md": f"{text}End.\n"}
    )
    packet = rtch.hydrate(root, Ask("How often is the wick dipped by CPR-17", seeds=["CPR-17"]))
    notes = {one["path"]: one["note"] for one in packet["caution_map"] if one["flag"] == "overtaken_row"}
    last = text[: text.rindex("## CPR-17")].count("\n") + 1
    assert list(notes) == ["wick-ledger/ledger.md"]
    assert f"CPR-17 has an earlier entry here, and overtaken by its entry at L{last}" in notes["wick-ledger/ledger.md"]
    classes = {
        one["start_line"]: one["confidence_class"] for one in packet["hydrated_chunks"] if "ledger" in one["path"]
    }
    assert classes[max(classes)] == "claim_supporting"
    assert classes[min(classes)] != "claim_supporting"
