"""The prose and code of the hand-made governance zone that ``zone`` lays out. All of it is ours."""

from __future__ import annotations

QUEUE_COMPILER_SOURCE = '''"""Fold the append-only proposal queue into one row an id.

A queue file has several rows an id; the last row wins, unless an earlier one was terminal: what was
promoted, rejected or dismissed is not revived by a later row.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from zone_paths import audit_root

TERMINAL = frozenset({"promoted", "absorbed", "superseded", "rejected", "dismissed", "resolved", "skipped"})
SUSPENSIVE = frozenset({"deferred"})
QUEUE_NAME = "queue.jsonl"


def read_rows(path: Path) -> list[dict]:
    """Return the rows of a queue file in order; a torn last row is left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").split("\\n"):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def compile_queue_state(rows: list[dict]) -> dict[str, dict]:
    """Return the effective row of every id."""
    state: dict[str, dict] = {}
    for row in rows:
        before = state.get(row["id"])
        if before and before["status"] in TERMINAL:
            continue
        state[row["id"]] = row
    return state


def bucket(row: dict, current_tic: int) -> str:
    """Return where a row belongs: live, parked until a tic, or terminal."""
    if row["status"] in TERMINAL:
        return f"terminal_{row['status']}"
    until = row.get("re_eval_tic", 0)
    if row["status"] in SUSPENSIVE and until > current_tic:
        return f"parked_to_{until}"
    return "live_now"


def main() -> int:
    """Write effective_state.json beside the queue."""
    folder = audit_root(Path.cwd()) / "cprs"
    state = compile_queue_state(read_rows(folder / QUEUE_NAME))
    target = folder / "effective-state" / "effective_state.json"
    target.write_text(json.dumps({"states": state}, sort_keys=True), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''

ZONE_PATHS_SOURCE = '''"""Where the parts of a zone lie."""

from __future__ import annotations

import json
from pathlib import Path

MARKERS = (".federation-root", ".estate-root", ".domain-root", ".ticzone")


def find_zone_root(start: Path) -> Path:
    """Return the nearest folder at or above ``start`` that has a .ticzone."""
    for folder in (start, *start.parents):
        if (folder / ".ticzone").is_file():
            return folder
    return start


def audit_root(start: Path) -> Path:
    """Return the zone's audit folder; the marker may name another one."""
    root = find_zone_root(start)
    try:
        settings = json.loads((root / ".ticzone").read_text(encoding="utf-8"))
    except json.JSONDecodeError:
        settings = {}
    return root / settings.get("audit_logs_path", "audit-logs")
'''

QUEUE_TEST_SOURCE = """from queue_state_compile import compile_queue_state


def test_a_terminal_row_is_not_revived():
    rows = [{"id": "a", "status": "promoted"}, {"id": "a", "status": "extracted"}]
    assert compile_queue_state(rows)["a"]["status"] == "promoted"
"""

FEDERATION_CLAUDE = """# Lantern Federation

Up: this is the top rung. Map: [SYSTEM_MAP.md](SYSTEM_MAP.md).

This file is the authoritative index of federation doctrine; bodies lie in the ledger.

## Invariants

- **Lamps are lit in order.** A rung never speaks for the rung above it.
  - *Ledger: [audit-logs/governance/constitution-ledger/ledger.md](audit-logs/governance/constitution-ledger/ledger.md#lamps-are-lit-in-order)*
- **Counted, not guessed.** Whatever was left out is counted where it was left out.
  - *Ledger: [audit-logs/governance/constitution-ledger/ledger.md](audit-logs/governance/constitution-ledger/ledger.md#counted-not-guessed)*
- **Terminal valve.** A proposal that reached its end stays there (tic 212).
  - *Ledger: [audit-logs/governance/constitution-ledger/ledger.md](audit-logs/governance/constitution-ledger/ledger.md#terminal-valve)*

## Topology

Federation, estate, domain, site: four rungs, each with its own CLAUDE.md. The estate is `workshop/`,
the domain is `workshop/signal-kiln/`.

## Deprecated

The hand-written queue index is deprecated; it was superseded by effective-state at tic 209.
"""  # noqa: E501

ESTATE_CLAUDE = """# Workshop estate

Up: [Lantern Federation](../CLAUDE.md).

- **One bench, one owner.** A bench packet names the office that answers for it.
- **Kilns are separate.** A domain reads its neighbours' ledgers and writes its own.
"""

DOMAIN_CLAUDE = """# Signal kiln domain

Up: [Workshop estate](../CLAUDE.md).

- **Glaze before firing.** Evidence is read before a claim is made of it.
  - *Ledger: [kiln-ledger/ledger.md](kiln-ledger/ledger.md#glaze-before-firing)*
- **The queue compiler is the only reader of the queue.** See `cgg-runtime/scripts/queue_state_compile.py`.
  - *Ledger: [kiln-ledger/ledger.md](kiln-ledger/ledger.md#queue-compiler-is-the-only-reader)*
- **Quiet signals fade.** A signal below its hearing threshold loses volume each tic.
  - *Ledger: [kiln-ledger/ledger.md](kiln-ledger/ledger.md#quiet-signals-fade)*
"""

SYSTEM_MAP = """# System map

This page is the source of truth for where things lie.

## Kernel

`autonomous_kernel/actor-registry.json` lists the offices; `autonomous_kernel/sub_telos.yaml` says what each is for.

## Queue

`audit-logs/cprs/queue.jsonl` is appended to; `cgg-runtime/scripts/queue_state_compile.py` folds it into
`audit-logs/cprs/effective-state/effective_state.json`.

## Mailboxes

Each office has a folder below `audit-logs/agent-mailboxes/` with `indexes/inbox-registry.json`.
"""

GLOSSARY = """# Glossary

## Rung

A folder with a marker: site, domain, estate or federation.

## Tic

One turn of the work, counted upward.

## Kiln

The domain where signals are fired into doctrine.

## Valve

What keeps a finished proposal finished.
"""

GIT_RULES = """# Git rules

- main is written by the sync office alone
- a commit that touches a ledger touches nothing else
"""

SUB_TELOS = """version: 2
offices:
  ent_lamplighter:
    telos: keep the order of the lamps
    reads: [audit-logs/tics, audit-logs/signals]
    writes: [audit-logs/mogul/mandates]
  ent_kiln_warden:
    telos: fire no claim without evidence
    reads: [audit-logs/cprs]
    writes: [audit-logs/reviews]
  ent_clerk:
    telos: answer the mail
    reads: [audit-logs/agent-mailboxes]
    writes: [audit-logs/agent-mailboxes]
"""

KERNEL_SPEC = """---
title: Kernel
status: canonical
owner: ent_lamplighter
---

# Kernel

## Offices

An office is an entity with a standing; `ent_kiln_warden` reviews, `ent_clerk` answers.

## Mandates

A mandate says what one cycle does. See OAVPLT-14 for its envelope.
"""

LESSONS = (
    ("Read the queue through its compiler", "a harvest by plain search brought back a proposal promoted long before"),
    ("A folder that cannot be read is not empty", "the map said nothing was there while the door was locked"),
    ("Write the marker last", "a rung with a marker and no doctrine answered with silence"),
)

PRINCIPLES = (
    (
        "Lamps are lit in order",
        "lamps-are-lit-in-order",
        "A rung speaks for what lies below it, and asks what lies above.",
    ),
    ("Counted, not guessed", "counted-not-guessed", "What was cut, skipped or not reached is given as a number."),
    (
        "Terminal valve",
        "terminal-valve",
        "Once promoted, rejected or dismissed, a proposal is not revived by a later row.",
    ),
    ("Mail is answered once", "mail-is-answered-once", "The registry keeps the key of each message that was answered."),
)

KILN_PRINCIPLES = (
    ("Glaze before firing", "glaze-before-firing", "Evidence is read in its place before a claim is made of it."),
    (
        "Queue compiler is the only reader",
        "queue-compiler-is-the-only-reader",
        "The rows of the queue are read by compile_queue_state and by nothing else.",
    ),
    ("Quiet signals fade", "quiet-signals-fade", "A signal below its hearing threshold loses volume each tic."),
    ("Benches are swept", "benches-are-swept", "A bench packet is removed from the bench when its review has closed."),
)
