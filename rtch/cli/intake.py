"""``rtch intake``: make an intake, check one, list what is saved, print the JSON Schema."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtch.cli import flags
from rtch.errors import IntakeError

if TYPE_CHECKING:
    from rtch.intake_files import SavedIntake
    from rtch.models.intake import Intake


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its four actions."""
    parser = subparsers.add_parser(
        "intake",
        help="make, check and list intakes, or print their JSON Schema",
        description="Intakes are requests in YAML or JSON. Exit 2: the intake is refused, and every reason is told.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="new|check|list|schema")
    new = actions.add_parser(
        "new",
        help="write an intake from flags and a preset, and ask for the rest on a terminal",
        description="Write an intake as YAML. What is missing is asked for on a terminal, and refused elsewhere.",
        allow_abbrev=False,
    )
    flags.add_field_flags(new)
    where = new.add_mutually_exclusive_group()
    where.add_argument("--output", type=Path, metavar="FILE", help="write a new file and not to stdout")
    where.add_argument("--save", metavar="NAME", help="keep it in rtch's data folder, to be run by its name")
    check = actions.add_parser(
        "check",
        help="check an intake and show what it will be held to",
        description="Show the digest, the legal levels and the compiled halting criteria of an intake.",
        allow_abbrev=False,
    )
    flags.add_intake_flags(check)
    check.add_argument("--format", choices=("yaml", "json"), default="yaml", help="default: yaml")
    listing = actions.add_parser(
        "list",
        help="list saved intakes, presets and worked examples",
        description="List saved intakes, presets and worked examples, with what each is for.",
        allow_abbrev=False,
    )
    listing.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    schema = actions.add_parser(
        "schema",
        help="print the JSON Schema of an intake",
        description="Print the JSON Schema (draft 2020-12) of an intake, in both vocabularies.",
        allow_abbrev=False,
    )
    for action, run_it in ((new, _new), (check, _check), (listing, _list), (schema, _schema)):
        action.set_defaults(func=run, run_action=run_it)


def run(args: argparse.Namespace) -> int:
    """Run one action."""
    code: int = args.run_action(args)
    return code


def _new(args: argparse.Namespace) -> int:
    from rtch import intake_files, intake_io  # noqa: PLC0415  help needs neither

    text = intake_io.dump_intake(_written(args))
    if args.output is None and args.save is None:
        _print(text)
        return 0
    path = intake_files.save(text, args.save) if args.save is not None else intake_files.write_new(text, args.output)
    print(f"rtch: written to {path}", file=sys.stderr)
    return 0


def _written(args: argparse.Namespace) -> Intake:
    """Return the intake of the flags; what they leave out is asked for on a terminal."""
    if args.dialect is None and flags.is_terminal(sys.stdin):
        from rtch import intake_files, intake_io, interview  # noqa: PLC0415  only people are asked

        preset = intake_files.find_preset(args.preset) if args.preset else None
        known = (dict(preset.fields) if preset else {}) | flags.field_values(args)
        if interview.missing(known):
            answers = interview.answers(interview.ask_on_terminal(sys.stdin, sys.stderr), known)
            given = {name: value for name, value in answers.items() if preset is None or name not in preset.fields}
            return intake_io.build_intake(given, name="the interview", preset=preset)
    return flags.build(args)


def _check(args: argparse.Namespace) -> int:
    from rtch.criteria import expected_of  # noqa: PLC0415  help needs none of these
    from rtch.decisions import is_disposition  # noqa: PLC0415
    from rtch.legality import legal_levels  # noqa: PLC0415
    from rtch.stages.intake import intake as accept  # noqa: PLC0415

    intake = flags.requested_intake(args, sys.stdin)
    if intake is None:
        raise IntakeError("there is no intake to check", hint="give a file, a saved name, - or flags")
    accepted = accept(intake)
    report: dict[str, Any] = {
        "constraint_stack": list(accepted.constraint_stack),
        "intake_digest": accepted.intake_digest,
        "intake": intake.model_dump(mode="json", exclude_defaults=True),
        "fanout": {"level": intake.fanout_level.value, "legal": [level.value for level in legal_levels(intake)]},
        "disposition": is_disposition(intake),
        "criteria": {
            "compiled": [
                {"kind": one.kind.value, "expected": expected_of(one), "source": one.source}
                for one in accepted.halting.compiled
            ],
            "not_machine_checked": list(accepted.halting.not_machine_checked),
        },
    }
    if not report["constraint_stack"]:
        del report["constraint_stack"]
    if not accepted.halting.compiled:
        print("rtch: nothing of the halting definition can be checked, so it is never satisfied", file=sys.stderr)
    _print(json.dumps(report, indent=2, ensure_ascii=False) + "\n" if args.format == "json" else _yaml(report))
    return 0


def _list(args: argparse.Namespace) -> int:
    from rtch import intake_files  # noqa: PLC0415  help needs it not

    saved = intake_files.saved_intakes()
    rows: dict[str, list[dict[str, str]]] = {
        "saved": [_row(one) for one in saved if not one.packaged],
        "packaged": [_row(one) for one in saved if one.packaged],
        "presets": [{"name": one.name, "about": one.description} for one in intake_files.presets()],
        "examples": [_row(one) for one in intake_files.examples()],
    }
    if args.format == "json":
        _print(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return 0
    for kind, found in rows.items():
        print(f"{kind}:" if found else f"{kind}: none")
        width = max((len(row["name"]) for row in found), default=0)
        for row in found:
            print(f"  {row['name'].ljust(width)}  {row['about']}")
    return 0


def _row(saved: SavedIntake) -> dict[str, str]:
    from rtch import intake_files  # noqa: PLC0415  help needs neither
    from rtch.plain_data import read_plain  # noqa: PLC0415

    try:
        fields = read_plain(intake_files.read_source(saved.path), name=saved.path.name).fields
    except IntakeError as error:
        return {"name": saved.name, "about": f"unreadable: {error}", "path": str(saved.path)}
    block = fields.get("intent")
    goal = fields.get("goal") or (block.get("goal") if isinstance(block, dict) else "")
    about = "".join(char if char.isprintable() else " " for char in str(goal or ""))
    return {"name": saved.name, "about": about, "path": str(saved.path)}


def _schema(_args: argparse.Namespace) -> int:
    from rtch import intake_files, intake_schema  # noqa: PLC0415  help needs neither
    from rtch.plain_data import read_plain  # noqa: PLC0415

    shown = [
        dict(read_plain(intake_files.read_source(example.path), name=example.name).fields)
        for example in intake_files.examples()
    ]
    shown.append({"intent": intake_schema.SIDECAR_EXAMPLE})
    _print(json.dumps(intake_schema.intake_schema(shown), indent=2, ensure_ascii=False) + "\n")
    return 0


def _yaml(value: object) -> str:
    import yaml  # noqa: PLC0415  15 ms that JSON does not need

    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)


def _print(text: str) -> None:
    """Write to stdout as UTF-8, whatever the locale is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
