"""The flags that describe a request, shared by the commands that take one, and the intake made of them."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rtch.errors import IntakeError
from rtch.field_guide import FIELDS, words_of
from rtch.models.vocab import Dialect

if TYPE_CHECKING:
    from rtch.models.intake import Intake
    from rtch.plain_data import Reading

_ONE = ("goal", "target_profile", "fanout_level", "mutation_risk", "expected_output", "enough_evidence_definition")
_ONE_OPTIONAL = ("known_target", "scope", "investigation", "read_budget")
_MANY = ("explicit_seeds", "known_neighbor_surfaces", "forbidden_assumptions")
_METAVARS = {
    "goal": "SENTENCE",
    "enough_evidence_definition": "SENTENCE",
    "known_target": "PATH",
    "read_budget": "LINES",
    "explicit_seeds": "TERM",
    "known_neighbor_surfaces": "PATH",
    "forbidden_assumptions": "TERM",
}
_STDIN = "-"


def add_intake_flags(parser: argparse.ArgumentParser) -> None:
    """Add INTAKE and the flags that win over its fields."""
    request = parser.add_argument_group(
        "request", "An intake from a file, standard input, an example or flags; flags win over the intake's fields."
    )
    request.add_argument(
        "intake", nargs="?", metavar="INTAKE", help="path or name of an intake, or - for standard input"
    )
    request.add_argument("--intake", dest="intake_flag", metavar="INTAKE", help="the same as INTAKE")
    request.add_argument("--example", metavar="NAME", help="a worked example: 10.1 to 10.5, or its target profile")
    add_field_flags(request)


def add_field_flags(group: argparse._ActionsContainer) -> None:
    """Add one flag a field; a value that starts with a dash is given as ``--seed=--help``."""
    for name in (*_ONE, *_ONE_OPTIONAL, *_MANY):
        field = FIELDS[name]
        many = name in _MANY
        allowed = f": {words_of(field.words)}" if field.words else ""
        group.add_argument(
            field.flag,
            dest=f"field_{name}",
            metavar=_METAVARS.get(name, "WORD"),
            action="append" if many else "store",
            help=f"{field.says}{allowed}{' (repeatable)' if many else ''}",
        )
    group.add_argument(
        "--dialect",
        choices=[member.value for member in Dialect],
        help="vocabulary of the fields; default: sidecar with an intent block, else tactical",
    )
    group.add_argument("--preset", metavar="NAME", help="fill what is missing; rtch intake list shows the presets")


def field_values(args: argparse.Namespace) -> dict[str, object]:
    """Return the fields that were given as flags, by canonical name."""
    given = {name: getattr(args, f"field_{name}") for name in (*_ONE, *_ONE_OPTIONAL, *_MANY)}
    budget = given["read_budget"]
    if budget is not None and re.fullmatch(r"-?[0-9]{1,18}", budget):
        given["read_budget"] = int(budget)  # any other text is refused together with what else is wrong
    return {name: value for name, value in given.items() if value is not None}


def intake_from_args(args: argparse.Namespace, stdin: TextIO) -> Intake:
    """Return the checked intake of a command line; on a terminal and without any argument, ask for it.

    Args:
        args: parsed with the flags of ``add_intake_flags``.
        stdin: read when INTAKE is ``-``, and asked for an interview when it is a terminal.

    Raises:
        IntakeError: the request is incomplete, contradictory or cannot be read.
        KeyboardInterrupt: the interview was broken off.
    """
    intake = requested_intake(args, stdin)
    if intake is not None:
        return intake
    if not is_terminal(stdin):
        return build(args)
    from rtch import interview  # noqa: PLC0415  only people are asked

    ask = interview.ask_on_terminal(stdin, sys.stderr)
    intake = interview.hold(ask)
    interview.offer_to_save(ask, lambda line: print(f"rtch: {line}", file=sys.stderr), intake)
    return intake


def requested_intake(args: argparse.Namespace, stdin: TextIO) -> Intake | None:
    """Return the checked intake of a command line, or None when it says nothing about one.

    Raises:
        IntakeError: the request is incomplete, contradictory or cannot be read.
    """
    source = _source(args, stdin)
    if source is None:
        said = field_values(args) or args.preset or args.dialect
        return build(args) if said else None
    from rtch.plain_data import read_plain  # noqa: PLC0415  help needs it not

    name, data = source
    return build(args, read_plain(data, name=name), name=name)


def build(args: argparse.Namespace, request: Reading | None = None, *, name: str = "the request") -> Intake:
    """Return the checked intake of a document, or of nothing, with the flags and the preset."""
    from rtch import intake_files, intake_io  # noqa: PLC0415  help needs neither

    return intake_io.build_intake(
        request or {},
        name=name,
        dialect=Dialect(args.dialect) if args.dialect else None,
        flags=field_values(args),
        preset=intake_files.find_preset(args.preset) if args.preset else None,
    )


def asked_file(args: argparse.Namespace) -> Path | None:
    """Return the file that the request is read from; it is the question, and no part of what is asked.

    Raises:
        IntakeError: there is none of that name.
    """
    from rtch import intake_files  # noqa: PLC0415  help needs it not

    value = args.intake if args.intake is not None else args.intake_flag
    return None if value is None or value == _STDIN else intake_files.find_saved(value).path


def _source(args: argparse.Namespace, stdin: TextIO) -> tuple[str, bytes] | None:
    """Return the name and bytes of the document that the request starts from, if any."""
    from rtch import intake_files  # noqa: PLC0415  help needs it not

    named = [("INTAKE", args.intake), ("--intake", args.intake_flag), ("--example", args.example)]
    given = [(flag, value) for flag, value in named if value is not None]
    if len(given) > 1:
        raise IntakeError(f"{' and '.join(flag for flag, _ in given)} are given together", hint="give one of them")
    if not given:
        return None
    flag, value = given[0]
    if flag == "--example":
        example = intake_files.find_example(value)
        return f"example {example.name}", intake_files.read_source(example.path)
    if value == _STDIN:
        return "standard input", intake_files.read_stream(stdin.buffer, name="standard input")
    saved = intake_files.find_saved(value)
    return str(saved.path), intake_files.read_source(saved.path)


def is_terminal(stdin: TextIO) -> bool:
    """Say whether there is a person to ask."""
    try:
        return stdin.isatty() and sys.stderr.isatty()
    except ValueError:  # a closed stream is no terminal
        return False
