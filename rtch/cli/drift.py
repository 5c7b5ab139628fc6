"""``rtch drift``: saved questions asked again, and what has drifted from their baselines."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.cli.hydrate import emit, working
from rtch.errors import IntakeError
from rtch.models.vocab import Engine

if TYPE_CHECKING:
    from rtch.drift.investigation import Wishes
    from rtch.drift.questions import Question
    from rtch.entry import Options
    from rtch.models.drift import DriftReport

FORMATS = ("human", "json", "markdown", "sarif", "junit")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "drift",
        help="ask saved questions again, and say what has drifted",
        description="Ask saved questions again and hold each answer against its baseline: the packet of the first"
        " run, or what was accepted since. Exit 0 if something was compared and nothing new drifted, 1 if something"
        " did, 7 if it could not be judged or there was nothing to compare with, else as documented.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "saved", nargs="*", metavar="SAVED", help="path or name of a saved intake; none are all that you have saved"
    )
    parser.add_argument("--fleet", type=Path, metavar="FILE", help="ask what a fleet file says, of all its zones")
    parser.add_argument(
        "--root", type=Path, help="the zone root; default: nearest .ticzone, git toplevel, working folder"
    )
    parser.add_argument("--no-parents", action="store_true", help="do not look for rung markers above the root")
    parser.add_argument("--format", choices=FORMATS, default="human", help="default: human")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there and not to stdout")
    parser.add_argument(
        "--engine", choices=[engine.value for engine in Engine], help="default: prefect, or RTCH_ENGINE"
    )
    parser.add_argument(
        "--runner", default="", metavar="NAME", help="what carries the flow's tasks: docs/machines.md; or RTCH_RUNNER"
    )
    parser.add_argument("--no-cache", action="store_true", help="neither read nor write the artifact store")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "note"),
        default="warning",
        help="the least that fails: default warning",
    )
    parser.add_argument("--history", action="store_true", help="show the runs there were, and run nothing")
    _add_baseline_flags(parser)
    parser.set_defaults(func=run)


def _add_baseline_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("baseline", "What is accepted is kept with the reason, and is no drift any more.")
    group.add_argument(
        "--baseline", type=Path, metavar="FILE",
        help="its file; default: NAME.baseline.yaml beside the intake if it is there, else in rtch's data folder",
    )  # fmt: skip
    group.add_argument("--accept", metavar="REASON", help="accept what is found now; without --only all of it")
    group.add_argument("--suppress", metavar="REASON", help="let something not count until a day")
    group.add_argument("--until", metavar="DAY", help="the last day of a suppression, such as 2031-01-31")
    group.add_argument("--only", action="append", default=[], metavar="ID", help="this finding alone (repeatable)")
    group.add_argument("--kind", metavar="KIND", help="suppress all findings of a kind")
    group.add_argument("--paths", metavar="GLOB", help="suppress all findings at such paths, as docs/**")
    group.add_argument("--by", default="", metavar="NAME", help="who accepts or suppresses; default: your user name")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch.drift.questions import questions  # noqa: PLC0415  help needs it not

    if args.fleet is not None:
        return _deliver(_fleet(args), args)
    args.saved = args.saved or _all_saved()
    if args.baseline is not None and len(args.saved) > 1:
        raise IntakeError(f"--baseline names one file for {len(args.saved)} questions", hint="ask them one by one")
    root = None if args.root is None else args.root.absolute()
    baseline = None if args.baseline is None else args.baseline.absolute()
    asked = questions(args.saved, root=root, baseline=baseline)
    if args.history:
        return _show_history(asked, args)
    return _deliver(_investigated(asked, args), args)


def _deliver(report: DriftReport, args: argparse.Namespace) -> int:
    from rtch.cli.drift_report import rendered  # noqa: PLC0415

    emit(rendered(report, args.format), args.output)
    return report.exit_code


def _all_saved() -> list[str]:
    from rtch.intake_files import saved_intakes  # noqa: PLC0415

    names = [one.name for one in saved_intakes() if not one.packaged]
    if not names:
        raise IntakeError("no saved intake is named, and none is saved", hint="rtch intake new --save NAME saves one")
    return names


def _fleet(args: argparse.Namespace) -> DriftReport:
    given = {
        "SAVED": args.saved, "--root": args.root, "--baseline": args.baseline, "--accept": args.accept,
        "--suppress": args.suppress, "--history": args.history, "--no-cache": args.no_cache,
    }  # fmt: skip
    other = next((name for name, value in given.items() if value), None)
    if other is not None:
        raise IntakeError(f"{other} is given with --fleet", hint="a fleet's file says what is asked, and where")
    if _engine(args) is Engine.DIRECT:
        raise IntakeError("--fleet is asked of the direct engine", hint="a fleet runs as a Prefect flow")
    from rtch.fleets import read_fleet  # noqa: PLC0415
    from rtch.flows.launch import fleet_as_flow  # noqa: PLC0415  Prefect, where it is asked for

    read_fleet(args.fleet)  # what is wrong in it is told before a server is started
    with working("investigating"):
        return fleet_as_flow(args.fleet, say=_say)


def _investigated(asked: Sequence[Question], args: argparse.Namespace) -> DriftReport:
    from rtch.entry import Options  # noqa: PLC0415

    wishes = _wishes(args)
    own = () if args.output is None else (args.output.absolute(),)
    options = Options(parents=not args.no_parents, cached=not args.no_cache, runner=args.runner, own_outputs=own)
    engine = _engine(args)
    with working("investigating"):
        if engine is Engine.PREFECT:
            return _as_flow(args.saved, args, options, wishes)
        return _in_this_process(asked, options, wishes)


def _engine(args: argparse.Namespace) -> Engine:
    name = args.engine or os.environ.get("RTCH_ENGINE") or Engine.PREFECT.value
    if name not in set(Engine):
        raise IntakeError(f"RTCH_ENGINE is {name}", hint="use direct or prefect")
    return Engine(name)


def _say(text: str) -> None:
    print(f"rtch: {text}", file=sys.stderr)


def _in_this_process(asked: Sequence[Question], options: Options, wishes: Wishes) -> DriftReport:
    from rtch.drift.investigation import investigate, report_of  # noqa: PLC0415
    from rtch.jobs import DirectRunner  # noqa: PLC0415

    return report_of(
        [
            investigate(one, options, lambda session: DirectRunner(session.limits.probe.workers), wishes=wishes)
            for one in asked
        ]
    )


def _wishes(args: argparse.Namespace) -> Wishes:
    from rtch.drift.investigation import Wishes, user_name  # noqa: PLC0415
    from rtch.entry import now  # noqa: PLC0415
    from rtch.models.baseline import Suppression  # noqa: PLC0415
    from rtch.models.drift import DriftKind, Level  # noqa: PLC0415

    by = args.by or user_name()
    if args.accept is not None and not args.accept.strip():
        raise IntakeError("--accept has no reason", hint="say in words why it is right as it is")
    if args.suppress is None:
        for flag, given in (("--until", args.until), ("--kind", args.kind), ("--paths", args.paths)):
            if given is not None:
                raise IntakeError(f"{flag} is of a suppression, and none is asked for", hint="give --suppress REASON")
        if args.only and args.accept is None:
            raise IntakeError("--only selects what is accepted or suppressed", hint="give --accept or --suppress too")
        return Wishes(fail_on=Level(args.fail_on), accept=args.accept or "", only=tuple(args.only), by=by)
    if args.accept is not None:
        raise IntakeError("--accept and --suppress are given together", hint="give one of them")
    if not args.suppress.strip():
        raise IntakeError("--suppress has no reason", hint="say in words why it shall not count")
    if len(args.only) > 1 or not (args.only or args.kind or args.paths):
        raise IntakeError("a suppression selects one finding, a kind or paths", hint="give --only, --kind or --paths")
    if args.kind is not None and args.kind not in set(DriftKind):
        raise IntakeError(f"--kind {args.kind} is no kind of finding", hint=f"known are {', '.join(sorted(DriftKind))}")
    suppression = Suppression(
        finding_id=args.only[0] if args.only else "",
        kind=None if args.kind is None else DriftKind(args.kind),
        paths=args.paths or "",
        until=_day(args.until),
        reason=args.suppress,
        by=by,
        at=now(),
    )
    return Wishes(fail_on=Level(args.fail_on), suppress=suppression, by=by)


def _day(text: str | None) -> str:
    if text is None:
        raise IntakeError("a suppression has to end", hint="give --until with its last day, such as 2031-01-31")
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise IntakeError(f"--until {text} is no day", hint="write it as 2031-01-31") from None
    from rtch.drift.investigation import today  # noqa: PLC0415

    if day < today():
        raise IntakeError(f"--until {text} is over", hint="name a day that is yet to come")
    return day.isoformat()


def _as_flow(saved: Sequence[str], args: argparse.Namespace, options: Options, wishes: Wishes) -> DriftReport:
    from rtch.flows.launch import drift_as_flow  # noqa: PLC0415  Prefect, where it is asked for

    return drift_as_flow(
        saved,
        options,
        wishes,
        root=args.root,
        baseline=args.baseline,
        say=_say,
    )


def _show_history(asked: Sequence[Question], args: argparse.Namespace) -> int:
    from rtch.cli.drift_report import timeline  # noqa: PLC0415
    from rtch.drift.baselines import history  # noqa: PLC0415
    from rtch.entry import Options, starting_folder  # noqa: PLC0415
    from rtch.workspace import find_root  # noqa: PLC0415

    for one in asked:
        root = find_root(starting_folder(Options(root=one.root)), one.root).root
        emit(timeline(one.saved, root, history(one, root), args.format), args.output)
    return 0
