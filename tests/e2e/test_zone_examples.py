"""The five worked examples, questions of time and questions of registries, on a governance zone of a usual size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driving import Ask, Packet, Rtch, corpus, hold_to_the_laws, lines_of, paths_of, skipped, text_of, tree_state

zone = corpus("zone")
large = corpus("large_zone")

TIC = large.DOCKET_TIC
DAY = "2025-03-01"
SATISFIED = "enough_evidence_definition_satisfied"
HISTORY = Ask(f"What was decided at tic {TIC}", profile="audit_history")


@pytest.fixture(scope="module")
def rtch(tmp_path_factory: pytest.TempPathFactory) -> Rtch:
    return Rtch(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("zone") / "zone"
    large.build(place, git=True, audit_mib=3)
    return place


def example(rtch: Rtch, root: Path, name: str) -> Packet:
    before = tree_state(root / "audit-logs/cprs")
    ran = rtch.run("hydrate", "--example", name, "--root", str(root), "--format", "json")
    assert ran.code == 0, ran.err
    hold_to_the_laws(ran.packet, root)
    assert ran.packet["generated_at_tic"] == zone.CURRENT_TIC
    assert tree_state(root / "audit-logs/cprs") == before
    return ran.packet


def read_at(packet: Packet, path: str) -> list[int]:
    return sorted(
        line
        for chunk in packet["hydrated_chunks"]
        if chunk["path"] == path
        for line in range(chunk["start_line"], chunk["end_line"] + 1)
    )


def lines_with(root: Path, path: str, *texts: str) -> list[int]:
    rows = lines_of((root / path).read_bytes())
    return [number for number, row in enumerate(rows, start=1) if any(text.encode() in row for text in texts)]


def halted(packet: Packet) -> None:
    """The reason is the one that its criteria give, and says so."""
    assert packet["halting_reason"] == SATISFIED
    assert packet["criteria"]["compiled"]
    assert {one["verdict"] for one in packet["criteria"]["compiled"]} == {"met"}


# The worked examples


def test_10_1_the_topology_is_told_by_the_map_and_by_every_rung(rtch: Rtch, root: Path) -> None:
    packet = example(rtch, root, "10.1")
    halted(packet)
    assert {one.document for one in large.RUNGS} | {"SYSTEM_MAP.md", f"{zone.ESTATE}/.estate-root"} <= set(
        paths_of(packet)[:10]
    )
    assert packet["selected_surfaces"][0]["confidence_class"] == "claim_supporting"
    assert [one["kind"] for one in packet["zone_descriptor"]["rungs"]] == ["site", "domain", "estate", "federation"]


def test_10_2_a_docket_holds_the_blocks_of_its_tic_and_nothing_else(rtch: Rtch, root: Path) -> None:
    packet = example(rtch, root, "10.2")
    halted(packet)
    lesson = lines_with(root, "MEMORY.md", f"(tic {TIC})")[0]
    after = lines_with(root, "MEMORY.md", "## Session Lessons")
    assert {path: read_at(packet, path) for path in paths_of(packet)} == {
        zone.QUEUE: lines_with(root, zone.QUEUE, f'_tic": {TIC}'),
        f"audit-logs/reviews/{DAY}.jsonl": lines_with(root, f"audit-logs/reviews/{DAY}.jsonl", f'"tic": {TIC}'),
        f"audit-logs/tics/{DAY}.jsonl": lines_with(root, f"audit-logs/tics/{DAY}.jsonl", f'_after": {TIC}}}'),
        "MEMORY.md": list(range(lesson, min(line for line in after if line > lesson))),
        large.BORN: [1, 2, 3],
    }
    assert skipped(packet)[zone.DOMAIN_LEDGER] == "out_of_scope"


def test_10_3_the_code_path_begins_with_its_definition(rtch: Rtch, root: Path) -> None:
    packet = example(rtch, root, "10.3")
    halted(packet)
    assert paths_of(packet)[:2] == [zone.QUEUE_COMPILER, f"{zone.DOMAIN}/cgg-runtime/scripts/zone_paths.py"]
    assert "def compile_queue_state" in text_of(packet)
    assert f"{zone.DOMAIN}/cgg-runtime/tests/test_queue_state_compile.py" in paths_of(packet)


def test_10_4_manifests_come_first_with_what_they_govern_and_what_reads_them(rtch: Rtch, root: Path) -> None:
    packet = example(rtch, root, "10.4")
    halted(packet)
    manifests = {one["path"] for one in packet["zone_descriptor"]["registries"]}
    first = paths_of(packet)[: len(manifests)]
    assert len(manifests) >= 9
    assert set(first) == manifests
    governs = {
        zone.SYNC_MANIFEST: '"install_targets"',
        zone.ACTOR_REGISTRY: '"entity_id": "ent_lamplighter"',
        "autonomous_kernel/sub_telos.yaml": "telos: answer the mail",
        zone.EFFECTIVE_STATE: zone.PROMOTED_ID,
        large.INSTALL_MANIFEST: "scripts: cgg-runtime/scripts",
        large.TOOL_MANIFEST: '"reads"',
    }
    shown = {chunk["path"]: chunk["text"] for chunk in packet["hydrated_chunks"]}
    assert all(text in shown[path] for path, text in governs.items())
    readers = {
        zone.SYNC_MANIFEST: large.SYNC_OUT,
        zone.ACTOR_REGISTRY: large.OFFICE_ROLL,
        zone.EFFECTIVE_STATE: zone.QUEUE_COMPILER,
        f"audit-logs/agent-mailboxes/{zone.OFFICES[0]}/indexes/inbox-registry.json": large.OFFICE_ROLL,
    }
    for manifest, reader in readers.items():
        assert paths_of(packet).index(manifest) < paths_of(packet).index(reader) < 16
        assert Path(manifest).name in shown[reader]


def test_10_5_a_vague_intent_leads_to_rule_ledger_and_rows(rtch: Rtch, root: Path) -> None:
    packet = example(rtch, root, "10.5")
    halted(packet)
    wanted = {f"{zone.DOMAIN}/CLAUDE.md", zone.DOMAIN_LEDGER, "audit-logs/signals/active-manifest.jsonl", ".ticzone"}
    assert wanted <= set(paths_of(packet))
    assert paths_of(packet)[0] == f"{zone.DOMAIN}/CLAUDE.md"
    assert "Quiet signals fade" in text_of(packet)


# Time


@pytest.mark.parametrize(
    ("goal", "texts"),
    [
        (f"What was decided at tic {TIC}", [f'_tic": {TIC}']),
        (f"What was decided at TIC-{TIC}", [f'_tic": {TIC}']),
        (f"What was decided from tic {TIC} to {TIC + 1}", [f'_tic": {TIC}', f'_tic": {TIC + 1}']),
        (f"What came up since tic {TIC}", [f'_tic": {tic}' for tic in range(TIC, 240)]),
        ("What was harvested on 2025-02-19", ['"2025-02-19', "2025-02-19T"]),
    ],
)
def test_a_time_leads_to_its_rows_in_a_ledger(rtch: Rtch, root: Path, goal: str, texts: list[str]) -> None:
    packet = rtch.hydrate(root, HISTORY.but(goal=goal))
    expected = lines_with(root, zone.QUEUE, *texts)
    assert expected
    assert read_at(packet, zone.QUEUE) == expected


def test_a_time_may_be_a_seed(rtch: Rtch, root: Path) -> None:
    asked = HISTORY.but(seeds=[f"tic {TIC}"])
    for packet in (rtch.hydrate(root, asked), rtch.hydrate(root, asked.but(goal="What was decided then"))):
        assert read_at(packet, zone.QUEUE) == lines_with(root, zone.QUEUE, f'_tic": {TIC}')
        assert zone.DOMAIN_LEDGER not in paths_of(packet)


def test_a_tic_leads_to_the_files_that_are_named_after_it(rtch: Rtch, root: Path) -> None:
    packet = rtch.hydrate(root, HISTORY.but(goal=f"What stood at tic {zone.CURRENT_TIC}"))
    assert f"audit-logs/conformations/tic-{zone.CURRENT_TIC}.json" in paths_of(packet)[:3]


def test_a_tic_is_found_by_its_whole_number_alone(rtch: Rtch, tmp_path: Path) -> None:
    rows = [{"id": f"cpr_note_{n}", "status": "extracted", "birth_tic": n} for n in (12, 112, 120, 1207, 12)]
    (tmp_path / "audit-logs/cprs").mkdir(parents=True)
    (tmp_path / ".ticzone").write_text("{}")
    (tmp_path / zone.QUEUE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "notes.md").write_text("# Notes\n\nThe static 12 was replaced; arctic-12 is a name.\n")
    packet = rtch.hydrate(tmp_path, HISTORY.but(goal="What was extracted at tic 12"))
    assert {path: read_at(packet, path) for path in paths_of(packet)} == {zone.QUEUE: [1, 5]}
    longer = rtch.hydrate(tmp_path, HISTORY.but(goal="What was extracted at tic 1207"))
    assert read_at(longer, zone.QUEUE) == [4]


def test_a_tic_without_a_row_halts_with_no_signal(rtch: Rtch, root: Path) -> None:
    packet = rtch.hydrate(root, HISTORY.but(goal="What was at tic 9999"), codes=(1,))
    assert packet["halting_reason"] == "no_signal_at_normal"
    assert packet["hydrated_chunks"] == []


def test_a_broad_scope_shows_what_else_bears_the_words(rtch: Rtch, root: Path) -> None:
    asked = HISTORY.but(goal=f"What was promoted at tic {TIC}", seeds=["promoted"])
    narrow, broad = rtch.hydrate(root, asked), rtch.hydrate(root, asked, "--scope", "broad")
    assert zone.DOMAIN_LEDGER not in paths_of(narrow)
    assert zone.DOMAIN_LEDGER in paths_of(broad)


# Registries


def test_a_registry_that_defines_an_office_comes_before_all_that_mentions_it(rtch: Rtch, root: Path) -> None:
    asked = Ask("Which registry says what standing ent_clerk has", profile="manifest_registry", seeds=["ent_clerk"])
    assert paths_of(rtch.hydrate(root, asked))[0] == zone.ACTOR_REGISTRY


# Ids, and what needs no search


def test_an_id_leads_to_its_rows_and_the_one_that_counts(rtch: Rtch, root: Path) -> None:
    packet = rtch.hydrate(root, HISTORY.but(goal=f"What became of {zone.PROMOTED_ID}"))
    first, counts = lines_with(root, zone.QUEUE, zone.PROMOTED_ID)
    assert read_at(packet, zone.QUEUE) == [first, counts]
    classes = {chunk["start_line"]: chunk["confidence_class"] for chunk in packet["hydrated_chunks"]
               if chunk["path"] == zone.QUEUE}  # fmt: skip
    assert classes == {first: "hydrated_evidence", counts: "claim_supporting"}
    overtaken = [row for row in packet["caution_map"] if row["flag"] == "overtaken_row"]
    assert [(row["line"], f"L{counts}" in row["note"]) for row in overtaken] == [(first, True)]


def test_a_target_that_is_all_there_is_is_sent_to_reading(rtch: Rtch, root: Path) -> None:
    asked = Ask("What does the sync office write", target="GIT_RULES.md")
    known = rtch.run("hydrate", "--root", str(root), *asked.flags(), "--scope", "narrow", "--format", "surfaces")
    assert "without a search: rtch read GIT_RULES.md\n" in known.err
    more = rtch.run("hydrate", "--root", str(root), *asked.flags(), "--format", "surfaces")
    assert more.err == ""


def test_a_relative_time_is_counted_from_the_last_tic_and_says_so(rtch: Rtch, root: Path) -> None:
    back = zone.CURRENT_TIC - TIC
    packet = rtch.hydrate(root, HISTORY.but(goal=f"What was decided {back} tics ago"))
    assert read_at(packet, zone.QUEUE) == lines_with(root, zone.QUEUE, f'_tic": {TIC}')
    (told,) = packet["candidate_basket"]["relative_times"]
    assert (told["said"], told["called"]) == (f"{back} tics ago", f"tic {TIC}")
    assert any("is that what was meant" in one["question"] for one in packet["unresolved_questions"])


def test_a_day_that_nothing_tells_is_a_question_and_never_asked_of_the_clock(rtch: Rtch, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Reviews\n\nThe review of yesterday was moved.\n")
    packet = rtch.hydrate(tmp_path, Ask("Which review was moved yesterday", seeds=["review"]))
    assert packet["candidate_basket"]["relative_times"][0]["called"] == ""
    assert any("the clock is not asked" in one["question"] for one in packet["unresolved_questions"])
