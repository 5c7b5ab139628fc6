"""A governance zone of the size that people keep, grown from the hand-made one; the same bytes on every run.

    python tests/corpora/large_zone.py DIR [--git] [--audit-mib 0]

Eighty rules on three rungs whose documents are indexes, four hundred entries in three ledgers, six manifests and
more, three sections of memory, and audit logs of as many MiB as asked for. Words are drawn by number; all text is ours.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))  # tests are no package: siblings are found beside this file

import zone

sys.path.pop(0)

ESTATE_LEDGER = f"{zone.ESTATE}/workshop-ledger/ledger.md"
SUBJECTS = ("lamp", "kiln", "bench", "ledger", "queue", "signal", "seal", "shelf", "draught", "glaze", "wick", "mould")
ACTS = ("waits for", "speaks before", "answers", "outlives", "is counted with", "gives way to", "is sealed by")
OBJECTS = ("the morning sweep", "its own rung", "a second reader", "the warden", "the last row", "an open door",
           "the clerk's copy", "a cold firing", "the index", "the tic that bore it", "a torn page")  # fmt: skip
REASONS = (
    "The bench was full and nobody could say of what.",
    "A copy was read in place of the row that had taken its place.",
    "Two offices had each thought that the other one looked.",
    "What was left out had not been counted, and so it was taken for nothing.",
    "The door was locked, and an empty room was reported.",
)


DOCKET_TIC = 225
"""The tic of the docket: proposals came up in it, others were decided, and a lesson of its session was written down."""
BORN = f"audit-logs/governance/borns-tic{DOCKET_TIC}-shelf.md"
OFFICE_ROLL = f"{zone.DOMAIN}/cgg-runtime/scripts/office_roll.py"
SYNC_OUT = f"{zone.DOMAIN}/cgg-runtime/scripts/sync_out.py"
INSTALL_MANIFEST = f"{zone.DOMAIN}/install-manifest.yaml"
TOOL_MANIFEST = f"{zone.ESTATE}/tool-manifest.json"


class Rung(NamedTuple):
    """One rung of the grown zone."""

    name: str
    document: str
    ledger: str
    link: str
    """The ledger's path as the document links it."""
    rules: int
    entries: int


RUNGS = (
    Rung("federation", "CLAUDE.md", zone.FEDERATION_LEDGER, zone.FEDERATION_LEDGER, 40, 250),
    Rung("estate", f"{zone.ESTATE}/CLAUDE.md", ESTATE_LEDGER, "workshop-ledger/ledger.md", 10, 30),
    Rung("domain", f"{zone.DOMAIN}/CLAUDE.md", zone.DOMAIN_LEDGER, "kiln-ledger/ledger.md", 30, 120),
)
RULES, ENTRIES = sum(one.rules for one in RUNGS), sum(one.entries for one in RUNGS)


def _draw(words: tuple[str, ...], *seed: object) -> str:
    digest = hashlib.sha256(repr(seed).encode()).digest()
    return words[int.from_bytes(digest[:4], "big") % len(words)]


def title(rung: str, number: int) -> str:
    """Return the title of an entry; the number makes it the only one."""
    said = f"{_draw(SUBJECTS, rung, number, 's')} {_draw(ACTS, rung, number, 'a')} {_draw(OBJECTS, rung, number, 'o')}"
    return f"The {said}, {rung} {number}"


def slug(rung: str, number: int) -> str:
    """Return GitHub's anchor of an entry's title."""
    return title(rung, number).lower().replace("'", "").replace(",", "").replace(" ", "-")


def _rule(rung: Rung, number: int) -> str:
    name, anchor = title(rung.name, number), slug(rung.name, number)
    sentence = f"{_draw(REASONS, rung.name, number)} Since then it is held to."
    return f"- **{name}.** {sentence}\n  - *Ledger: [{rung.link}]({rung.link}#{anchor})*\n"


def _entry(rung: Rung, number: int) -> str:
    born = 100 + number % 120
    more = " ".join(_draw(REASONS, rung.name, number, part) for part in range(1 + number % 9 * (number % 5)))
    return (
        f'\n## {title(rung.name, number)}\n\n<a id="{slug(rung.name, number)}"></a>\n'
        f"<!-- ledger-tags: authority_class=ratified | rung={rung.name} | born_tic={born} -->\n\n"
        f"**Constraint.** {more}\n\n**Evidence.** Row {number} of the queue, tic {born}.\n\n"
        f"<!-- promoted from cpr_{rung.name}_{number}_tic{born} (tic {born} -> {born + 4}). Source: {zone.QUEUE} -->\n"
        "\n---\n"
    )


def _signals(mib: int) -> Iterator[tuple[str, str]]:
    """Yield files of rows, a MiB each."""
    for part in range(mib):
        rows, size, number = [], 0, 0
        while size < 1 << 20:
            identity = f"sig_draught_{hashlib.sha256(f'{part}.{number}'.encode()).hexdigest()[:12]}"
            row = {
                "type": "signal", "id": identity, "kind": "BEACON", "band": "PRIMITIVE", "source": "signal-kiln",
                "volume": number % 100, "status": "active", "tick_count": part,
                "payload": {"summary": f"{_draw(SUBJECTS, part, number)} {_draw(ACTS, part, number)} the door"},
            }  # fmt: skip
            rows.append(json.dumps(row) + "\n")
            size += len(rows[-1])
            number += 1
        yield f"audit-logs/signals/2024-{1 + part // 28 % 12:02d}-{1 + part % 28:02d}.jsonl", "".join(rows)


def _docket() -> dict[str, str]:
    """Return the files of the docket's tic; the tics beside it have rows in them too."""
    rows = [
        {"type": "review", "id": f"cpr_note_{number}", "verdict": verdict, "tic": tic, "by": "ent_kiln_warden"}
        for number, (tic, verdict) in enumerate(
            ((224, "reject"), (DOCKET_TIC, "promote"), (DOCKET_TIC, "defer"), (226, "promote"))
        )
    ]  # fmt: skip
    return {
        "audit-logs/reviews/2025-03-01.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        BORN: f"# Born in tic {DOCKET_TIC}\n\nThe shelf is read from above.\n",
    }


def _docket_rows() -> str:
    """Return rows of the queue around the docket's tic, as they were appended."""
    rows = [
        {"type": "cpr", "id": f"cpr_shelf_{number}_tic{tic}", "status": status, "birth_tic": tic,
         "lesson": f"Shelf note {number}: {_draw(REASONS, 'docket', number)}"}
        for number, (tic, status) in enumerate(
            ((224, "extracted"), (DOCKET_TIC, "extracted"), (DOCKET_TIC, "extracted"), (226, "extracted"))
        )
    ]  # fmt: skip
    decided = {"type": "cpr", "id": "cpr_shelf_0_tic224", "status": "rejected", "review_tic": DOCKET_TIC}
    return "".join(json.dumps(row) + "\n" for row in (*rows, decided))


def _readers() -> dict[str, str]:
    """Return two scripts that read manifests and registries."""
    return {
        OFFICE_ROLL: (
            '"""Call the roll of actor-registry.json, with the mail that waits by inbox-registry.json."""\n\n'
            "import json\nfrom pathlib import Path\n\n\n"
            "def seated(root: Path) -> list[str]:\n"
            '    actors = json.loads((root / "autonomous_kernel/actor-registry.json").read_text())["actors"]\n'
            '    return [one["entity_id"] for one in actors if one["standing"] == "seated"]\n'
        ),
        SYNC_OUT: (
            '"""Copy what sync-manifest.json and install-manifest.yaml name to where it is installed."""\n\n'
            "import json\nfrom pathlib import Path\n\n\n"
            "def targets(root: Path) -> dict:\n"
            '    return json.loads((root / "sync-manifest.json").read_text())["install_targets"]\n'
        ),
    }


def contents(*, proposals: int = 60, audit_mib: int = 0) -> dict[str, str]:
    """Return every file of the zone by its path, sorted."""
    files = zone.contents(proposals)
    for rung in RUNGS:
        rules = "".join(_rule(rung, number) for number in range(rung.rules))
        files[rung.document] += f"\n## Rules\n\n{rules}"
        before = files.get(rung.ledger, f"# {rung.name.capitalize()} ledger\n")
        files[rung.ledger] = before + "".join(_entry(rung, number) for number in range(rung.entries))
    tools = {"tools": [{"name": name, "reads": [zone.QUEUE], "owner": "ent_clerk"} for name in SUBJECTS]}
    files[zone.QUEUE] += _docket_rows()
    files |= _docket() | _readers()
    files[TOOL_MANIFEST] = json.dumps(tools, indent=2) + "\n"
    files[INSTALL_MANIFEST] = "targets:\n  scripts: cgg-runtime/scripts\n  owner: ent_kiln_warden\n"
    return dict(sorted((files | dict(_signals(audit_mib))).items()))


def build(root: Path, *, git: bool = False, audit_mib: int = 0) -> int:
    """Write the zone below ``root`` (made if need be) and return how many files it has."""
    return zone.write(root, contents(audit_mib=audit_mib), git=git)


def main() -> None:
    """Write a zone as the command line says."""
    parser = argparse.ArgumentParser(description="Write a governance zone of a usual size.")
    parser.add_argument("root", type=Path)
    parser.add_argument("--git", action="store_true")
    parser.add_argument("--audit-mib", type=int, default=0)
    options = parser.parse_args()
    print(f"{build(options.root, git=options.git, audit_mib=options.audit_mib)} files below {options.root}")


if __name__ == "__main__":
    main()
