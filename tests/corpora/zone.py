"""A hand-made governance zone, the same bytes on every run.

    python tests/corpora/zone.py DIR [--git] [--proposals 60]

Federation, estate and domain rungs with their markers (one of them empty), a nested site, doctrine
and ledgers, audit logs with several rows an id, mailboxes, registries, session lessons, and a small
code folder. What tests ask for by name stands in the constants; all text is ours.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # tests are no package: siblings are found beside this file

import tree
import zone_text as text

sys.path.pop(0)

CURRENT_TIC = 231
ESTATE = "workshop"
DOMAIN = "workshop/signal-kiln"
STAGE = f"{DOMAIN}/stage"
QUEUE = "audit-logs/cprs/queue.jsonl"
EFFECTIVE_STATE = "audit-logs/cprs/effective-state/effective_state.json"
QUEUE_COMPILER = f"{DOMAIN}/cgg-runtime/scripts/queue_state_compile.py"
FEDERATION_LEDGER = "audit-logs/governance/constitution-ledger/ledger.md"
DOMAIN_LEDGER = f"{DOMAIN}/kiln-ledger/ledger.md"
ACTOR_REGISTRY = "autonomous_kernel/actor-registry.json"
SYNC_MANIFEST = "sync-manifest.json"
PROMOTED_ID = "cpr_glaze_before_firing_tic198"
"""Extracted in one row, promoted in a later one."""
VALVE_ID = "cpr_lamp_order_tic201"
"""Promoted, then extracted again by a late harvest: the valve keeps it promoted."""
DEFERRED_ID = "cpr_bench_sweep_tic205"
"""Deferred, then extracted: suspensive, so the later row counts."""
OFFICES = ("ent_lamplighter", "ent_kiln_warden", "ent_clerk")


def _hex(text_: str, length: int) -> str:
    return hashlib.sha256(text_.encode()).hexdigest()[:length]


def _day(tic: int) -> str:
    """Return the day of a tic: eight tics a day from 1 February 2025."""
    number = tic // 8
    return f"2025-{2 + number // 28:02d}-{1 + number % 28:02d}"


def _when(tic: int) -> str:
    return f"{_day(tic)}T{8 + tic % 8:02d}:00:00Z"


def _rows(rows: Iterable[object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _ledger(title: str, principles: Iterable[tuple[str, str, str]], rung: str) -> str:
    parts = [f"# {title}\n\nThis ledger is the single source of the bodies that CLAUDE.md points to.\n"]
    for number, (name, slug, sentence) in enumerate(principles):
        tic = 180 + 7 * number
        lead = f"**Constraint.** {sentence} " + f"It was seen {number + 2} times before it was written down. " * 8
        parts.append(
            f'\n## {name}\n\n<a id="{slug}"></a>\n'
            f"<!-- ledger-tags: authority_class=ratified | rung={rung} | domain=kiln | born_tic={tic} -->\n\n{lead}\n\n"
            f"**Explanation.** See tic {tic} and tic-{tic + 3}.\n\n"
            f"<!-- promoted from cpr_{slug.replace('-', '_')}_tic{tic} (tic {tic} -> {tic + 4}). Source: {QUEUE} -->\n"
            "\n---\n"
        )
    return "".join(parts)


def _proposal(identity: str, status: str, tic: int, lesson: str, **more: object) -> dict[str, object]:
    base: dict[str, object] = {
        "type": "cpr", "id": identity, "dedup_hash": _hex(identity, 16), "status": status, "lesson": lesson,
        "source": f"MEMORY.md:{tic % 40 + 1}", "source_date": _day(tic), "band": "COGNITIVE",
        "motivation_layer": "craft", "subsystem": "queue", "recommended_scopes": ["domain"], "birth_tic": tic,
        "posture": "candidate", "extracted_at": _when(tic), "extracted_by": "ent_clerk", "enrichment": [],
    }  # fmt: skip
    return base | more


def _patch(identity: str, status: str, tic: int, **more: object) -> dict[str, object]:
    return {
        "type": "cpr", "schema_version": 2, "object_version": 2, "id": identity, "status": status,
        "event_id": _hex(f"{identity}{tic}", 16), "event_type": "lifecycle_patch", "review_tic": tic,
    } | more  # fmt: skip


def _queue(proposals: int) -> Iterator[dict[str, object]]:
    """Yield the queue's rows in the order in which they were appended."""
    yield _proposal(PROMOTED_ID, "extracted", 198, "Evidence is read before a claim is made of it")
    yield _proposal(VALVE_ID, "extracted", 201, "A rung never speaks for the rung above it")
    yield _patch(VALVE_ID, "promoted", 204, promoted_to="constitution-ledger#lamps-are-lit-in-order")
    yield _proposal(DEFERRED_ID, "extracted", 205, "A bench packet is removed when its review has closed")
    for number in range(proposals):
        tic = 130 + number
        identity = f"cpr_{_hex(f'p{number}', 16)}" if number % 3 else f"cpr_kiln_note_{number}_tic{tic}"
        yield _proposal(identity, "extracted", tic, f"Note {number} of the kiln: the glaze ran at firing {number % 7}")
        if number % 4 == 0:
            yield _patch(identity, ("promoted", "rejected", "absorbed")[number % 3], tic + 9, promoted_to="kiln-ledger")
    yield _patch(PROMOTED_ID, "promoted", 206, promoted_to="kiln-ledger#glaze-before-firing")
    yield _patch(DEFERRED_ID, "deferred", 207, re_eval_tic=220)
    yield _proposal(VALVE_ID, "extracted", 208, "A rung never speaks for the rung above it")
    yield _proposal(DEFERRED_ID, "extracted", 221, "A bench packet is removed when its review has closed")


def _signals() -> Iterator[dict[str, object]]:
    for number in range(12):
        identity = f"sig_kiln_draught_{_hex(f's{number}', 12)}"
        for tick, status in enumerate(("active", "acknowledged", "resolved")[: 1 + number % 3]):
            yield {
                "type": "signal", "id": identity, "kind": ("BEACON", "TENSION")[number % 2], "band": "PRIMITIVE",
                "source": "signal-kiln", "subsystem": "queue", "volume": 40 - 5 * tick, "volume_rate": -5,
                "max_volume": 100, "hearing_targets": [{"actor": "ent_kiln_warden", "threshold": 20}],
                "escalation": {"warrant_threshold": 80, "warrant_id": None}, "status": status,
                "payload": {"signature": _hex(identity, 8), "summary": f"draught {number} at the kiln door"},
                "last_tick_at": _when(200 + tick), "tick_count": tick,
            }  # fmt: skip


def _tics() -> dict[str, str]:
    days: dict[str, list[dict[str, object]]] = {}
    for tic in range(CURRENT_TIC - 30, CURRENT_TIC + 1):
        row = {
            "type": "tic", "tic": _when(tic), "tic_zone": "lantern", "cadence_position": "downbeat",
            "count_mode": "counted", "emission_id": _hex(f"tic{tic}", 12), "domain_counter_before": tic - 101,
            "domain_counter_after": tic - 100, "global_counter_before": tic - 1, "global_counter_after": tic,
        }  # fmt: skip
        days.setdefault(_day(tic), []).append(row)
    return {f"audit-logs/tics/{day}.jsonl": _rows(rows) for day, rows in days.items()}


def _mailbox(entity: str) -> dict[str, str]:
    folder = f"audit-logs/agent-mailboxes/{entity}"
    messages: dict[str, object] = {}
    keys: dict[str, object] = {}
    files: dict[str, str] = {}
    for number, state in enumerate(("WAIT", "ACTIVE", "DONE")):
        identity, key = _hex(f"{entity}{number}", 8), _hex(f"key{entity}{number}", 16)
        envelope = {
            "message_id": identity, "envelope_version": 1, "idempotency_key": key,
            "sender": {"entity_id": OFFICES[number]}, "recipient": {"entity_id": entity},
            "routing": {"priority": "normal", "category": "review", "delivery_mode": "inbox", "trust_level": "office"},
            "content": {"subject": f"Sweep {number}", "envelope_type": "request", "body": "Please look at the bench."},
            "lifecycle": {"state": state, "source_tic": 210 + number, "created_at": _when(210 + number)},
        }  # fmt: skip
        place = {"WAIT": "inbound", "ACTIVE": "processing", "DONE": "archive"}[state]
        files[f"{folder}/{place}/{state}_{identity}.json"] = _pretty(envelope)
        messages[identity] = {"state": state, "path": f"{place}/{state}_{identity}.json"}
        keys[key] = {"message_id": identity, "state": state}
    files[f"{folder}/indexes/inbox-registry.json"] = _pretty({"messages": messages, "idempotency_index": keys})
    files[f"{folder}/INBOX.md"] = f"# Inbox of {entity}\n\nThree messages; one waits.\n"
    return files


def _lessons() -> str:
    parts = ["# Memory\n"]
    for number, (lesson, why) in enumerate(text.LESSONS):
        tic = 222 + 3 * number
        fields = {
            "lesson": lesson, "source_date": _day(tic), "source": f"MEMORY.md:{number}", "band": "COGNITIVE",
            "motivation_layer": "craft", "subsystem": "queue", "rationale": why, "birth_tic": str(tic),
            "posture": "candidate", "status": "pending",
        }  # fmt: skip
        block = "".join(f'  {key}: "{value}"\n' for key, value in fields.items())
        parts.append(
            f"\n## Session Lessons (tic {tic})\n\n{lesson}: {why}.\n\n<!-- --agnostic-candidate\n{block}"
            "  recommended_scopes:\n    - domain\n    - estate\n-->\n"
        )
    return "".join(parts)


def _marker(name: str, **more: object) -> str:
    bands = {"PRIMITIVE": {"db_equiv": 60, "muffling_immune": True}, "COGNITIVE": {"db_equiv": 40}}
    governance = {"hearing_threshold": 20, "decay_rate_per_tic": 5, "warrant_eligible_kinds": ["TENSION"]}
    base = {"name": name, "tz": "UTC", "include": ["**"], "bands": bands, "signal_governance": governance}
    return _pretty(base | more)


def _rungs() -> dict[str, str]:
    return {
        ".federation-root": "Lantern Federation\n",
        ".ticzone": _marker("lantern", audit_logs_path="audit-logs", muffling_per_hop=5),
        ".ticignore": "scratch/\n",
        "CLAUDE.md": text.FEDERATION_CLAUDE,
        "SYSTEM_MAP.md": text.SYSTEM_MAP,
        "GLOSSARY.md": text.GLOSSARY,
        "GIT_RULES.md": text.GIT_RULES,
        "MEMORY.md": _lessons(),
        "scratch/needle.txt": "compile_queue_state was once called fold_rows here\n",
        f"{ESTATE}/.estate-root": "Workshop\n",
        f"{ESTATE}/CLAUDE.md": text.ESTATE_CLAUDE,
        f"{DOMAIN}/.domain-root": "",
        f"{DOMAIN}/CLAUDE.md": text.DOMAIN_CLAUDE,
        DOMAIN_LEDGER: _ledger("Kiln ledger", text.KILN_PRINCIPLES, "domain"),
        f"{STAGE}/.ticzone": "",
        f"{STAGE}/.stage.ticignore": "# nothing here is counted\n*\n",
        f"{STAGE}/props.md": "# Props\n\nThe stage of the signal kiln; queue_state_compile is played by a broom.\n",
        QUEUE_COMPILER: text.QUEUE_COMPILER_SOURCE,
        f"{DOMAIN}/cgg-runtime/scripts/zone_paths.py": text.ZONE_PATHS_SOURCE,
        f"{DOMAIN}/cgg-runtime/tests/test_queue_state_compile.py": text.QUEUE_TEST_SOURCE,
    }


def _registries() -> dict[str, str]:
    actors = [
        {"entity_id": name, "entity_kind": "office", "actor_mode": "agent", "standing": "seated", "status": "active",
         "roles": ["review", "mail"][: 1 + n % 2]}
        for n, name in enumerate(OFFICES)
    ]  # fmt: skip
    script = {
        "path": "workshop/signal-kiln/cgg-runtime/scripts/queue_state_compile.py", "owner": "ent_kiln_warden",
        "category": "compiler", "invoked_by": ["review"], "writes": ["audit-logs/cprs/effective-state"],
        "install_target": "scripts", "install_reason": "the review reads its output",
    }  # fmt: skip
    target = {
        "canonical_subdir": "cgg-runtime/scripts",
        "installed_subdir": "scripts",
        "pattern": "*.py",
        "type": "file",
    }
    return {
        ACTOR_REGISTRY: _pretty({"actors": actors}),
        "autonomous_kernel/sub_telos.yaml": text.SUB_TELOS,
        "autonomous_kernel/kernel-spec.md": text.KERNEL_SPEC,
        SYNC_MANIFEST: _pretty({
            "_doc": "What is copied where; written on main alone.", "sole_writer_branch": "main",
            "install_targets": {"scripts": target}, "sync_exclude": ["stage"], "exclude_patterns": ["*.pyc"],
            "install_path_overrides": {}, "tracked_external_scripts": [script],
        }),
    }  # fmt: skip


def _audit(proposals: int) -> dict[str, str]:
    rows = list(_queue(proposals))
    mandate = {
        "mandate_id": f"mandate_{_hex('m', 12)}", "status": "running", "supersedes": [], "merged_from": [],
        "actor": {"office": "ent_lamplighter", "embodiment": "session"},
        "trigger": {"kind": "cadence", "source_ref": None},
        "tic_context": {"current_tic": CURRENT_TIC, "review_due_tic": CURRENT_TIC + 4},
        "cycle_request": {"run_now": ["review"], "reason": "the bench is full"}, "created_at": _when(CURRENT_TIC),
    }  # fmt: skip
    conformation = {
        "type": "conformation", "tic_count_physical": CURRENT_TIC, "tic_zone": "lantern",
        "snapshot_at": _when(CURRENT_TIC), "active_signals": [], "pending_cogprs": [DEFERRED_ID],
        "rules_in_force": "CLAUDE.md", "counts": {"rows": len(rows)},
    }  # fmt: skip
    review = {"type": "review", "id": PROMOTED_ID, "verdict": "promote", "tic": 206, "by": "ent_kiln_warden"}
    return {
        QUEUE: _rows(rows),
        EFFECTIVE_STATE: _pretty({"meta": {"compiled_at_tic": CURRENT_TIC}, "states": {
            PROMOTED_ID: {"bucket": "terminal_promoted"}, VALVE_ID: {"bucket": "terminal_promoted"},
            DEFERRED_ID: {"bucket": "live_now"},
        }}),
        "audit-logs/signals/active-manifest.jsonl": _rows(_signals()),
        f"audit-logs/conformations/tic-{CURRENT_TIC}.json": _pretty(conformation),
        f"audit-logs/reviews/{_day(206)}.jsonl": _rows([review]),
        "audit-logs/mogul/mandates/current.json": _pretty(mandate),
        f"audit-logs/mogul/mandates/history/{_day(210)}.jsonl": _rows([mandate | {"status": "completed"}]),
        FEDERATION_LEDGER: _ledger("Constitution ledger", text.PRINCIPLES, "federation"),
        "audit-logs/rtch/README.md": "# Packets\n\nEvidence packets of this zone are kept in packets/.\n",
    } | _tics()  # fmt: skip


def contents(proposals: int = 60) -> dict[str, str]:
    """Return every file of the zone by its path, sorted."""
    files = _rungs() | _registries() | _audit(proposals)
    for office in OFFICES:
        files |= _mailbox(office)
    return dict(sorted(files.items()))


def build(root: Path, *, proposals: int = 60, git: bool = False) -> int:
    """Write the zone below ``root`` (made if need be) and return how many files it has."""
    return write(root, contents(proposals), git=git)


def write(root: Path, files: Mapping[str, str], *, git: bool) -> int:
    """Write the files of a zone, committed where that is asked for, and return how many there are."""
    for path, body in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body.encode())
    if git:
        tree.commit_all(root, "Light the lamps")
    return len(files)


def main() -> None:
    """Write a zone as the command line says."""
    parser = argparse.ArgumentParser(description="Write a governance zone.")
    parser.add_argument("root", type=Path)
    parser.add_argument("--git", action="store_true")
    parser.add_argument("--proposals", type=int, default=60)
    options = parser.parse_args()
    print(f"{build(options.root, proposals=options.proposals, git=options.git)} files below {options.root}")


if __name__ == "__main__":
    main()
