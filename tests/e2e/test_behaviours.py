"""What any tactical hydration must do, seen from outside."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from driving import (
    Ask,
    Packet,
    Rtch,
    corpus,
    flags_of,
    paths_of,
    plant,
    same_part,
    skipped,
    text_of,
    together,
    tree_state,
)

tree = corpus("tree")
zone = corpus("zone")

SETTLE = Ask(f"Where is {tree.SYMBOL} defined and who calls it", [tree.SYMBOL])
COMPILER = Ask("How does queue_state_compile fold the queue", ["queue_state_compile", "compile_queue_state"])
GENERIC = ("domain", "estate", "site", "runtime", "state", "handler", "router", "agent", "surface", "principal")

CONSERVATIVE_ORIGINS = {
    "durable_handle", "explicit_seed", "file_path", "heading", "code_symbol", "json_key", "yaml_key", "manifest_key",
}  # fmt: skip


@pytest.fixture(scope="module")
def rtch(tmp_path_factory: pytest.TempPathFactory) -> Rtch:
    return Rtch(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ordinary project of 200 files, in git."""
    root: Path = tmp_path_factory.mktemp("harbor") / "tree"
    tree.build(root, files=200, git=True)
    return root


@pytest.fixture(scope="module")
def lantern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A governance zone, in git."""
    root: Path = tmp_path_factory.mktemp("lantern") / "zone"
    zone.build(root, git=True)
    return root


@pytest.fixture(scope="module")
def settled(rtch: Rtch, harbor: Path) -> Packet:
    return rtch.hydrate(harbor, SETTLE)


@pytest.fixture(scope="module")
def compiled(rtch: Rtch, lantern: Path) -> Packet:
    return rtch.hydrate(lantern, COMPILER, "--known-target", zone.QUEUE_COMPILER)


# --- the request ---------------------------------------------------------------------------------------------------


def test_the_built_in_code_path_example_names_the_queue_compiler(rtch: Rtch, lantern: Path) -> None:
    ran = rtch.run("hydrate", "--example", "code_path", "--root", str(lantern), "--format", "json")
    assert ran.code in {0, 1}
    intake = ran.packet["intake"]
    assert intake["target_profile"] == "code_path"
    assert any("queue_state_compile" in seed for seed in intake["explicit_seeds"])


def test_a_checked_intake_has_a_content_hash(rtch: Rtch, tmp_path: Path) -> None:
    plant(
        tmp_path,
        {"one.yaml": INTAKE, "same.json": json.dumps(INTAKE_FIELDS), "other.yaml": INTAKE + "read_budget: 9\n"},
    )
    names = ("one.yaml", "same.json", "other.yaml")
    found = together(lambda name: rtch.run("intake", "check", str(tmp_path / name)), names)
    assert [each.code for each in found] == [0, 0, 0]
    one, same, other = (re.findall(r"\b[0-9a-f]{12,64}\b", each.out) for each in found)
    assert one
    assert one == same != other


INTAKE_FIELDS = {
    "goal": "Where is the route settled",
    "target_profile": "code_path",
    "fanout_level": "conservative",
    "mutation_risk": "read_only",
    "expected_output": "hydration_packet",
    "enough_evidence_definition": "at least 1 surface",
}
INTAKE = "".join(f"{name}: {value}\n" for name, value in INTAKE_FIELDS.items())


def test_an_unknown_profile_is_refused_with_the_allowed_ones(rtch: Rtch, harbor: Path) -> None:
    ran = rtch.run("hydrate", "--root", str(harbor), *SETTLE.but(profile="code_pth").flags())
    assert (ran.code, ran.out) == (2, "")
    assert "code_pth" in ran.err
    for profile in ("doctrine_chain", "audit_history", "code_path", "manifest_registry", "vague_intent", "mixed"):
        assert profile in ran.err


@pytest.mark.parametrize("missing", INTAKE_FIELDS)
def test_a_missing_field_is_refused_by_its_name(rtch: Rtch, tmp_path: Path, missing: str) -> None:
    fields = {name: value for name, value in INTAKE_FIELDS.items() if name != missing}
    plant(tmp_path, {"intake.json": json.dumps(fields)})
    ran = rtch.run("hydrate", str(tmp_path / "intake.json"), "--root", str(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert missing in ran.err


def test_every_missing_field_is_named_at_once(rtch: Rtch, tmp_path: Path) -> None:
    ran = rtch.run("hydrate", "--root", str(tmp_path), "--goal", "Where is the route settled")
    assert (ran.code, ran.out) == (2, "")
    assert [name for name in INTAKE_FIELDS if name not in ran.err and name != "goal"] == []
    assert "claim_evidence" in ran.err
    assert "conservative" in ran.err


# --- where it looks ------------------------------------------------------------------------------------------------


def test_the_zone_root_is_an_ancestor_of_the_known_target(compiled: Packet, lantern: Path) -> None:
    assert Path(compiled["run"]["zone_root"]) == lantern
    assert (lantern / zone.QUEUE_COMPILER).is_relative_to(compiled["run"]["zone_root"])
    descriptor = compiled["zone_descriptor"]
    assert {"CLAUDE.md", "SYSTEM_MAP.md"} <= {row["path"] for row in descriptor["truth_files"]}
    assert {zone.ACTOR_REGISTRY, zone.SYNC_MANIFEST} <= {
        row["path"] for row in (*descriptor["registries"], *descriptor["truth_files"])
    }
    assert zone.QUEUE_COMPILER in paths_of(compiled)


def test_the_rung_chain_goes_through_nested_zones(rtch: Rtch, lantern: Path) -> None:
    packet, alone = together(
        lambda more: rtch.hydrate(None, COMPILER, *more, cwd=lantern / zone.STAGE, codes=(0, 1)),
        [(), ("--no-parents",)],
    )
    assert Path(packet["run"]["zone_root"]) == lantern / zone.STAGE
    kinds = [rung["kind"] for rung in packet["zone_descriptor"]["rungs"]]
    assert kinds[-3:] == ["domain", "estate", "federation"]
    above = [document for rung in packet["zone_descriptor"]["rungs"] for document in rung["documents"]]
    assert {path for path in above if path.endswith("CLAUDE.md")} == {
        "../CLAUDE.md",
        "../../CLAUDE.md",
        "../../../CLAUDE.md",
    }
    assert [rung for rung in alone["zone_descriptor"]["rungs"] if rung["path"].startswith("..")] == []
    assert "../" not in json.dumps({name: value for name, value in alone.items() if name != "run"})


@pytest.mark.parametrize("target", ["nowhere.py", "no/such/folder/nowhere.py"])
def test_a_known_target_that_does_not_exist_is_told_and_crashes_nothing(rtch: Rtch, harbor: Path, target: str) -> None:
    packet = rtch.hydrate(harbor, SETTLE.but(target=target))
    assert Path(packet["run"]["zone_root"]).is_dir()
    assert skipped(packet)[target] == "not_found"
    assert tree.DEFINITION in paths_of(packet)


def test_a_folder_outside_every_zone_is_a_zone_of_its_own(rtch: Rtch, tmp_path: Path) -> None:
    inner = plant(tmp_path, {"outer.py": "harpoon = 1\n", "in/own.py": "def harpoon():\n    pass\n"}) / "in"
    packet = rtch.hydrate(None, Ask("Where is harpoon defined", ["harpoon"]), cwd=inner)
    assert (packet["run"]["cwd"], packet["run"]["zone_root"]) == (str(inner), str(inner))
    assert paths_of(packet) == ["own.py"]
    assert packet["zone_descriptor"]["working_state"]["vcs"] == "none"


def test_the_working_folder_does_not_matter_under_a_pinned_root(rtch: Rtch, harbor: Path, settled: Packet) -> None:
    inner = harbor / "src/harbor/routing"
    found = together(
        lambda place: rtch.hydrate(place[0], SETTLE, cwd=place[1]),
        [(harbor, inner), (harbor, Path("/")), (None, inner)],
    )
    assert [same_part(packet) == same_part(settled) for packet in found] == [True, True, True]


# --- what it sees --------------------------------------------------------------------------------------------------


def test_the_inventory_tells_of_every_kind_of_shape(compiled: Packet) -> None:
    inventory = compiled["shape_inventory"]
    assert "workshop/signal-kiln" in {row["path"] for row in inventory["directories"]}
    scans = " ".join(f"{scan['name']} {scan['pattern']}" for scan in inventory["scans"]).lower()
    for kind in ("heading", "front", "json", "yaml", "symbol", "id", "tic", "source", "deprecat"):
        assert kind in scans, scans
    assert all(scan["files_touched"] >= 0 and scan["hits"] >= 0 for scan in inventory["scans"])


def test_only_files_that_a_question_may_be_about_are_looked_into_and_the_scans_say_so(
    rtch: Rtch, tmp_path: Path
) -> None:
    apart = {f"notes/{n}.md": f"# Note {n}\n\nNothing of the kind.\n" for n in range(40)}
    code = {f"src/f{n}.py": f"def f{n}():\n    pass\n" for n in range(40)}
    told = {"docs/reef.md": "# Reef\n\nThe harpoon.\n", "src/gun.py": "def harpoon():\n    pass\n"}
    plant(tmp_path, apart | code | told | {"harpoon/empty.md": ""})
    packet = rtch.hydrate(tmp_path, Ask("Where is harpoon defined", ["harpoon"]))
    scans = {scan["name"]: scan for scan in packet["shape_inventory"]["scans"]}
    touched = {name: (scans[name]["files_touched"], scans[name]["hits"]) for name in ("headings", "code_symbols")}
    assert touched == {"headings": (1, 1), "code_symbols": (1, 1)}
    assert scans["headings"]["note"] == "files that hold or bear a word of the request"
    (term,) = [term for term in packet["candidate_basket"]["terms"] if term["term"] == "harpoon"]
    assert {(place["path"], place["shape"]) for place in term["places"]} == {
        ("src/gun.py", "code_symbol"),
        ("harpoon", "file_path"),
    }


def test_the_directory_map_keeps_its_limit_and_counts_the_rest(rtch: Rtch, tmp_path: Path) -> None:
    plant(tmp_path, {f"d{n:03}/f.txt": "harpoon\n" if n == 7 else "x\n" for n in range(450)})
    inventory = rtch.hydrate(tmp_path, Ask("Where is harpoon", ["harpoon"]))["shape_inventory"]
    assert 10 <= len(inventory["directories"]) <= 100
    assert len(inventory["directories"]) + inventory["directories_cut"] == 451


def test_a_document_of_many_headings_stays_bounded(rtch: Rtch, tmp_path: Path) -> None:
    sections = "".join(f"## Part {n}\n\nwords of part {n}\n\n" for n in range(1, 501))
    packet = rtch.hydrate(plant(tmp_path, {"long.md": sections}), Ask("What does Part 321 say", ["words of part 321"]))
    assert "words of part 321" in packet["hydrated_chunks"][0]["text"]
    assert packet["read_budget"]["consumed"] <= 20 * 40
    assert len(json.dumps(packet)) < 200_000


# --- what it reads -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def thousand(rtch: Rtch, tmp_path_factory: pytest.TempPathFactory) -> tuple[Packet, str]:
    text = "".join(f"value_{n} = {n}\n" for n in range(1, 601)) + "grapnel = 7\n" + "tail = 0\n" * 399
    root = plant(tmp_path_factory.mktemp("thousand"), {"pkg/long.py": text})
    return rtch.hydrate(root, Ask("Where is grapnel set", ["grapnel"])), text


def test_a_hit_in_a_long_file_gives_one_chunk_with_its_provenance(thousand: tuple[Packet, str]) -> None:
    (chunk,) = thousand[0]["hydrated_chunks"]
    assert chunk["path"] == "pkg/long.py"
    assert re.fullmatch(r"L\d+-L\d+", chunk["line_range"])
    assert chunk["start_line"] <= 601 <= chunk["end_line"]
    assert "grapnel = 7\n" in chunk["text"]
    assert chunk["confidence_class"] == "hydrated_evidence"
    assert chunk["next_re_entry_command"] == f"rtch read 'pkg/long.py:{chunk['line_range']}'"


def test_a_chunk_is_far_smaller_than_its_file(thousand: tuple[Packet, str]) -> None:
    (chunk,) = thousand[0]["hydrated_chunks"]
    assert len(chunk["text"]) * 10 < len(thousand[1])
    assert 1 <= chunk["start_line"] < chunk["end_line"] <= 1000
    assert chunk["end_line"] - chunk["start_line"] + 1 <= 45


def test_the_definition_stands_first_and_its_caller_is_there(settled: Packet) -> None:
    assert paths_of(settled)[0] == tree.DEFINITION
    assert tree.CALLER in paths_of(settled)
    assert f"def {tree.SYMBOL}" in text_of(settled)


def test_two_seeds_close_together_show_no_line_twice(rtch: Rtch, tmp_path: Path) -> None:
    text = "".join(f"# {'bollard' if n % 9 == 0 else 'fairlead' if n % 7 == 0 else 'x'} {n}\n" for n in range(1, 700))
    packet = rtch.hydrate(plant(tmp_path, {"deck.py": text}), Ask("What holds", ["bollard", "fairlead"]))
    assert len(packet["hydrated_chunks"]) >= 2


# --- what a term is worth ------------------------------------------------------------------------------------------


def test_generic_seeds_alone_are_warned_of_and_support_nothing(rtch: Rtch, lantern: Path) -> None:
    packet = rtch.hydrate(lantern, Ask("Find it", GENERIC, profile="vague_intent", kind="claim_evidence"), codes=(0, 1))
    assert set(GENERIC) <= {row["term"] for row in packet["generic_alone_warnings"]}
    terms = {row["term"]: row for row in packet["candidate_basket"]["terms"]}
    assert {(terms[term]["origin"], terms[term]["use"]) for term in GENERIC} == {("exploratory", "exploratory")}
    assert {chunk["confidence_class"] for chunk in packet["hydrated_chunks"]} <= {"weak_hit", "hit", "caution_only"}
    assert packet["halting_reason"] != "enough_evidence_definition_satisfied"
    assert packet["result"]["chunk_ids"] == []


def test_a_generic_seed_beside_a_specific_one_is_kept_and_paired(rtch: Rtch, lantern: Path) -> None:
    packet = rtch.hydrate(lantern, Ask("How is it folded", ["state", "compile_queue_state"]))
    terms = {row["term"]: row for row in packet["candidate_basket"]["terms"]}
    assert terms["state"]["origin"] == "explicit_seed"
    assert terms["state"]["pairs_with"]
    assert zone.QUEUE_COMPILER in paths_of(packet)


def test_a_partner_that_hits_nothing_lifts_nothing(rtch: Rtch, lantern: Path) -> None:
    packet = rtch.hydrate(lantern, Ask("How is it folded", ["state", "zzz_no_such_name"]), codes=(0, 1))
    term = next(row for row in packet["candidate_basket"]["terms"] if row["term"] == "state")
    assert "zzz_no_such_name" not in term["pairs_with"]
    strong = {"hydrated_evidence", "claim_supporting", "source_bearing_hit"}
    assert [chunk for chunk in packet["hydrated_chunks"] if chunk["confidence_class"] in strong] == []
    assert "state" in {row["term"] for row in packet["generic_alone_warnings"]}
    assert packet["halting_reason"] != "enough_evidence_definition_satisfied"


def test_only_a_source_of_truth_supports_a_claim(compiled: Packet) -> None:
    truth = {row["path"] for row in compiled["zone_descriptor"]["truth_files"]}
    truth |= {row["path"] for row in compiled["zone_descriptor"]["registries"]}
    for chunk in compiled["hydrated_chunks"]:
        if chunk["confidence_class"] == "claim_supporting" and chunk["path"] not in truth:
            assert re.search("authoritative|source of truth|single source|canonical", chunk["text"], re.IGNORECASE)


# --- the packet ----------------------------------------------------------------------------------------------------


def test_a_packet_says_what_it_leaves_open(settled: Packet, compiled: Packet) -> None:
    for packet in (settled, compiled):
        assert packet["schema_version"]
        assert all(row["question"] and row["tied_to"] for row in packet["unresolved_questions"])
        assert isinstance(packet["skipped_surfaces"], list)
        assert packet["fanout_level_used"] == "normal"
        assert packet["criteria"]["compiled"]


def test_nothing_found_is_an_answer_of_its_own(rtch: Rtch, harbor: Path) -> None:
    packet = rtch.hydrate(harbor, Ask("Where is zzqqxx", ["zzqqxx_nowhere"], fanout="conservative"), codes=(1,))
    assert (packet["halting_reason"], packet["hydrated_chunks"]) == ("no_signal_at_conservative", [])


def test_prose_alone_is_never_satisfied(rtch: Rtch, harbor: Path) -> None:
    sentences = ("we feel that we understand it well", "at least 500 surfaces")
    packet, counted = together(lambda enough: rtch.hydrate(harbor, SETTLE.but(enough=enough)), sentences)
    assert packet["halting_reason"] == "budget_exhausted"
    assert packet["criteria"]["not_machine_checked"]
    assert counted["halting_reason"] == "budget_exhausted"
    assert [row["verdict"] for row in counted["criteria"]["compiled"]] == ["unmet"]


def test_the_same_request_gives_the_same_bytes_in_another_process_and_home(
    rtch: Rtch, harbor: Path, settled: Packet, tmp_path: Path
) -> None:
    cold = Rtch(tmp_path).hydrate(harbor, SETTLE, "--no-cache")
    warm = rtch.hydrate(harbor, SETTLE)
    assert same_part(cold) == same_part(warm) == same_part(settled)
    assert cold["packet_id"] == warm["packet_id"] == settled["packet_id"]


def test_the_order_of_seeds_does_not_matter_to_what_is_found(rtch: Rtch, harbor: Path) -> None:
    seeds = [tree.SYMBOL, "max_route_hops", "plan_day"]
    one, other = together(lambda order: rtch.hydrate(harbor, SETTLE.but(seeds=order)), (seeds, seeds[::-1]))
    spans = [[(c["path"], c["line_range"]) for c in packet["hydrated_chunks"]] for packet in (one, other)]
    assert sorted(spans[0]) == sorted(spans[1])


def test_an_edit_is_seen_at_once(rtch: Rtch, tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "def halyard():\n    return 1\n"})
    before = rtch.hydrate(tmp_path, Ask("Where is halyard", ["halyard"]))
    stat = (tmp_path / "a.py").stat()
    plant(tmp_path, {"a.py": "def halyard():\n    return 2\n"})
    os.utime(tmp_path / "a.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    after = rtch.hydrate(tmp_path, Ask("Where is halyard", ["halyard"]))
    assert "return 2" in text_of(after)
    assert before["packet_id"] != after["packet_id"]


def test_nothing_is_written_into_the_tree(rtch: Rtch, harbor: Path) -> None:
    before = tree_state(harbor)
    rtch.hydrate(harbor, SETTLE.but(goal=f"Who else uses {tree.SYMBOL}"), "--no-cache")
    assert tree_state(harbor) == before


# --- the plan ------------------------------------------------------------------------------------------------------


def test_a_conservative_plan_is_small_and_declared(rtch: Rtch, harbor: Path) -> None:
    packet = rtch.hydrate(harbor, SETTLE.but(fanout="conservative"))
    plan = packet["probe_plan"]
    assert plan["plan_id"]
    assert 1 <= len(plan["probes"]) <= 5
    for outcome in plan["probes"]:
        probe = outcome["probe"]
        assert {term["origin"] for term in probe["terms"]} <= CONSERVATIVE_ORIGINS
        for name in (
            "probe_id",
            "family",
            "purpose",
            "expected_signal",
            "limitation",
            "claim_authority",
            "termination",
        ):
            assert probe[name], name
        assert probe["type"] in {"grep", "glob", "rg-window", "read-lines", "json-key", "yaml-key"}
        assert len(probe["target_set"]) <= 100


def test_a_plan_can_be_seen_before_anything_is_probed(rtch: Rtch, harbor: Path) -> None:
    ran = rtch.run("hydrate", "--root", str(harbor), *SETTLE.flags(), "--plan-only", "--format", "json")
    assert ran.code == 0
    plan: dict[str, Any] = ran.packet
    plan = plan.get("probe_plan", plan)
    assert len(plan["probes"]) + plan["remaining_probes"] == plan["max_probes"] == 12
    assert plan["plan_id"]
    assert plan["fanout_level"] == "normal"
    assert "hydrated_chunks" not in ran.packet or ran.packet["hydrated_chunks"] == []


@pytest.mark.parametrize(
    ("changed", "legal"),
    [
        ({"fanout": "wide"}, "normal"),
        ({"fanout": "normal", "risk": "high_mutation"}, "conservative"),
        ({"fanout": "normal", "profile": "doctrine_chain", "kind": "claim_evidence"}, "conservative"),
        ({"fanout": "wide", "profile": "vague_intent", "risk": "low_mutation"}, "normal"),
    ],
)
def test_an_illegal_level_is_refused_and_the_legal_one_named(
    rtch: Rtch, harbor: Path, changed: dict[str, str], legal: str
) -> None:
    ran = rtch.run("hydrate", "--root", str(harbor), *SETTLE.but(**changed).flags())
    assert (ran.code, ran.out) == (2, "")
    assert legal in ran.err


def test_wide_has_room_for_more(rtch: Rtch, lantern: Path) -> None:
    packet = rtch.hydrate(lantern, COMPILER.but(fanout="wide", profile="vague_intent"))
    assert packet["probe_plan"]["max_probes"] == 25
    families = [outcome["probe"]["family"] for outcome in packet["probe_plan"]["probes"]]
    assert max(families.count(name) for name in set(families)) <= 8


def test_a_risky_change_shows_its_constraints_first(rtch: Rtch, harbor: Path) -> None:
    packet = rtch.hydrate(harbor, SETTLE.but(fanout="conservative", risk="high_mutation"))
    assert len(packet["constraint_stack"]) >= 8


# --- what the request's fields do ----------------------------------------------------------------------------------


def test_no_field_of_the_request_is_inert(rtch: Rtch, harbor: Path, settled: Packet) -> None:
    """Each change shows beyond the echoed intake."""
    changes: dict[str, tuple[Ask, tuple[str, ...]]] = {
        "goal": (SETTLE.but(goal=f"Which settings bound {tree.SYMBOL} and its max_route_hops"), ()),
        "risk": (SETTLE.but(risk="low_mutation"), ()),
        "kind": (SETTLE.but(kind="single_chunk"), ()),
        "enough": (SETTLE.but(enough="at least 500 surfaces"), ()),
        "profile": (SETTLE.but(profile="doctrine_chain"), ()),
        "fanout": (SETTLE.but(fanout="conservative"), ()),
        "forbid": (SETTLE, ("--forbid", "A parcel without a quay stays where it is")),
        "neighbor": (SETTLE, ("--neighbor", "ARCHITECTURE.md")),
        "budget": (SETTLE, ("--read-budget", "20")),
        "scope": (SETTLE, ("--scope", "narrow")),
    }
    unchanged = {name: value for name, value in settled.items() if name not in {"intake", "packet_id", "run"}}
    found = together(lambda change: rtch.hydrate(harbor, change[0], *change[1]), changes.values())
    inert = [
        name
        for name, packet in zip(changes, found, strict=True)
        if all(packet[field] == value for field, value in unchanged.items() if not field.startswith("generated"))
    ]
    assert inert == []


def test_a_read_budget_is_never_exceeded(rtch: Rtch, harbor: Path) -> None:
    lines = (1, 7, 60)
    found = together(lambda most: rtch.hydrate(harbor, SETTLE, "--read-budget", str(most), codes=(0, 1)), lines)
    assert [packet["read_budget"]["total"] for packet in found] == list(lines)
    assert all(packet["read_budget"]["consumed"] <= most for packet, most in zip(found, lines, strict=True))


def test_each_kind_of_output_has_its_result(rtch: Rtch, harbor: Path, settled: Packet) -> None:
    assert settled["result"]["kind"] == "hydration_packet"
    kinds = ("target_set_for_consolidate", "single_chunk")
    targets, one = together(lambda kind: rtch.hydrate(harbor, SETTLE.but(kind=kind)), kinds)
    assert targets["result"]["targets"][0]["path"] == tree.DEFINITION
    assert all(row["reason"] for row in targets["result"]["targets"])
    chosen = [chunk for chunk in one["hydrated_chunks"] if chunk["chunk_id"] == one["result"]["chunk_id"]]
    assert [chunk["path"] for chunk in chosen] == [tree.DEFINITION]


def test_a_neighbor_stays_below_every_target(rtch: Rtch, harbor: Path) -> None:
    packet = rtch.hydrate(harbor, SETTLE, "--neighbor", tree.CALLER)
    classes = {surface["path"]: surface["confidence_class"] for surface in packet["selected_surfaces"]}
    assert classes[tree.CALLER] == "neighbor_only"
    ranks = [surface["confidence_class"] == "neighbor_only" for surface in packet["selected_surfaces"]]
    assert ranks == sorted(ranks)


def test_a_forbidden_assumption_becomes_a_caution(rtch: Rtch, harbor: Path) -> None:
    """The definition of enough is not met, so that the last wave runs, which holds the cautions."""
    packet = rtch.hydrate(harbor, SETTLE.but(enough="at least 99 surfaces"), "--forbid", "settle_with")
    assert "caution_term" in flags_of(packet, "config/routing.yaml")
    caught = [chunk for chunk in packet["hydrated_chunks"] if chunk["confidence_class"] == "caution_only"]
    assert caught
    assert all("settle_with" in chunk["text"] for chunk in caught)


# --- keeping it ----------------------------------------------------------------------------------------------------


def test_a_zone_with_audit_logs_keeps_its_own_packets(rtch: Rtch, tmp_path: Path) -> None:
    zone.build(tmp_path / "zone", proposals=8)
    packet = rtch.hydrate(tmp_path / "zone", COMPILER, "--persist")
    kept = list((tmp_path / "zone/audit-logs/rtch/packets").iterdir())
    assert [path.name for path in kept] == [f"{packet['packet_id']}.yaml"]
    again = rtch.hydrate(tmp_path / "zone", COMPILER, "--persist")
    assert again["packet_id"] == packet["packet_id"], "a packet that was kept is no part of the tree it tells of"


def test_an_audit_path_of_the_zone_is_honoured(rtch: Rtch, tmp_path: Path) -> None:
    plant(
        tmp_path, {".ticzone": '{"name": "z", "audit_logs_path": "gov"}', "gov/x.md": "# x\n", "a.py": "bowsprit = 1\n"}
    )
    packet = rtch.hydrate(tmp_path, Ask("Where is bowsprit", ["bowsprit"]), "--persist")
    assert (tmp_path / f"gov/rtch/packets/{packet['packet_id']}.yaml").is_file()
    assert not (tmp_path / "audit-logs").exists()


def test_an_ordinary_tree_is_not_written_into_by_persist(rtch: Rtch, tmp_path: Path) -> None:
    plant(tmp_path / "tree", {"a.py": "def bobstay():\n    pass\n"})
    before = tree_state(tmp_path / "tree")
    packet = rtch.hydrate(tmp_path / "tree", Ask("Where is bobstay", ["bobstay"]), "--persist")
    assert tree_state(tmp_path / "tree") == before
    (kept,) = (rtch.home / "rtch/packets").rglob(f"{packet['packet_id']}.yaml")
    assert kept.stat().st_mode & 0o077 == 0


def test_a_kept_packet_is_never_rewritten(rtch: Rtch, tmp_path: Path) -> None:
    plant(tmp_path, {"audit-logs/x.md": "# x\n", ".ticzone": "{}", "a.py": "def spinnaker():\n    return 1\n"})
    ask = Ask("Where is spinnaker", ["spinnaker"])
    first = rtch.hydrate(tmp_path, ask, "--persist")
    folder = tmp_path / "audit-logs/rtch/packets"
    before = tree_state(folder)
    assert rtch.hydrate(tmp_path, ask, "--persist")["packet_id"] == first["packet_id"]
    assert tree_state(folder) == before
    plant(tmp_path, {"a.py": "def spinnaker():\n    return 2\n"})
    second = rtch.hydrate(tmp_path, ask, "--persist")
    assert second["packet_id"] != first["packet_id"]
    assert tree_state(folder).items() >= before.items()
    assert len(list(folder.iterdir())) == 2
