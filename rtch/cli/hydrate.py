"""``rtch hydrate``: an intake and a tree become a packet, in this process or as a Prefect flow."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.cli import handing
from rtch.cli.flags import add_intake_flags, asked_file, intake_from_args
from rtch.collector import paused_collector
from rtch.errors import ArtifactError, IntakeError
from rtch.models.vocab import Engine

if TYPE_CHECKING:
    from rtch.models.packet import Packet
    from rtch.models.plan import ProbePlan

FORMATS = ("yaml", "json", "markdown", "surfaces")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "hydrate",
        help="turn an intake into an evidence packet",
        description="Turn an intake into an evidence packet. Exit 0 with evidence, 1 with none, 2 to 7 as documented.",
        allow_abbrev=False,
    )
    add_intake_flags(parser)
    add_run_flags(parser)
    parser.add_argument("--engine", choices=[engine.value for engine in Engine], help="default: direct, or RTCH_ENGINE")
    parser.set_defaults(func=run, runner="")


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say where to look and what to do with the packet."""
    parser.add_argument(
        "--root", type=Path, help="the zone root; default: nearest .ticzone, git toplevel, working folder"
    )
    parser.add_argument("--no-parents", action="store_true", help="do not look for rung markers above the root")
    add_outside_flags(parser)
    parser.add_argument("--format", choices=FORMATS, default="yaml", help="how the packet is printed (default: yaml)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the packet there and not to stdout")
    parser.add_argument("--max-chars", type=int, metavar="N", help="leave out what does not fit, and say so")
    parser.add_argument("--persist", action="store_true", help="keep the packet for good, and say where")
    parser.add_argument("--plan-only", action="store_true", help="declare the probes and stop")
    parser.add_argument("--explain", action="store_true", help="say on stderr why each surface stands where it stands")
    parser.add_argument("--why-not", metavar="PATH", help="say on stderr why a path was not selected")
    parser.add_argument(
        "--refresh", action="append", nargs="?", const="", default=[], metavar="STAGE",
        help="make every stage again, or one (repeatable)",
    )  # fmt: skip
    parser.add_argument("--no-cache", action="store_true", help="neither read nor write the artifact store")
    parser.add_argument(
        "--handoff-to-consolidate",
        action="store_true",
        help="write a dump of the chunks, and the argv for a consolidator; run one that is configured",
    )
    handing.add_handoff_flags(parser)


def add_outside_flags(parser: argparse.ArgumentParser) -> None:
    """Add what only a user may ask for: something that lies outside the zone."""
    parser.add_argument(
        "--allow-root", action="append", type=Path, default=[], metavar="DIR",
        help="the zone's audit folder may lie in DIR, outside the zone (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--with-memory", action="store_true", help="tell of your own memory of this zone, which lies outside of it"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from rtch.entry import Options, enter, leave, refresh_of  # noqa: PLC0415  help needs it not

    if args.plan_only:
        _check_plan_flags(args)
    _check_handoff_flags(args)
    intake = intake_from_args(args, sys.stdin)
    engine = Engine(args.engine or _engine_of_environment())
    options = Options(
        root=args.root,
        parents=not args.no_parents,
        cached=not args.no_cache,
        refresh=refresh_of(args.refresh),
        own_outputs=tuple(filter(None, (args.output, asked_file(args)))),
        runner=args.runner,
        allowed_roots=tuple(args.allow_root),
        with_memory=args.with_memory,
    )
    if args.plan_only:
        from rtch.session import open_session, plan_of  # noqa: PLC0415

        return _show_plan(plan_of(open_session(enter(intake, options))), args)
    if engine is Engine.PREFECT:
        from rtch.flows.launch import hydrate_as_flow  # noqa: PLC0415  Prefect, where it is asked for

        with working("hydrating"):
            packet = hydrate_as_flow(intake, options, say=_say)
        return deliver(packet, args)
    # One question, and the process ends: the collector would find little, and take an eighth of the time to look.
    with paused_collector():
        from rtch.shortcut import hydrate_direct  # noqa: PLC0415

        with working("hydrating"):
            entry = enter(intake, options)
            packet = hydrate_direct(entry)
        code = deliver(packet, args)
        sys.stdout.flush()
        leave(entry)
    return code


def _engine_of_environment() -> str:
    value = os.environ.get("RTCH_ENGINE") or Engine.DIRECT.value
    if value not in set(Engine):
        raise IntakeError(f"RTCH_ENGINE is {value}", hint="use direct or prefect")
    return value


def _say(text: str) -> None:
    print(f"rtch: {text}", file=sys.stderr)


def _check_plan_flags(args: argparse.Namespace) -> None:
    """Refuse, with --plan-only, what only a packet can be asked for."""
    asked = {
        "--persist": args.persist,
        "--handoff-to-consolidate": args.handoff_to_consolidate,
        "--max-chars": args.max_chars is not None,
        "--format surfaces": args.format == "surfaces",
    }
    for flag, given in asked.items():
        if given:
            raise IntakeError(f"{flag} asks for a packet, and --plan-only makes none", hint="leave one of them out")


def _check_handoff_flags(args: argparse.Namespace) -> None:
    """Refuse what says how to hand over where nothing is handed over."""
    flag = handing.given(args)
    if flag and not args.handoff_to_consolidate:
        raise IntakeError(f"{flag} is of a handoff, and none is asked for", hint="give --handoff-to-consolidate too")


def _show_plan(plan: ProbePlan, args: argparse.Namespace) -> int:
    from rtch import render  # noqa: PLC0415

    emit(render.rendered_plan(plan, args.format), args.output)
    if args.explain:
        print(render.explain_plan(plan), file=sys.stderr)
    if args.why_not:
        print(render.why_not_planned(plan, args.why_not), file=sys.stderr)
    return 0


def deliver(packet: Packet, args: argparse.Namespace) -> int:
    """Keep, hand over, explain and print a packet; return the exit code."""
    from rtch import packets, render  # noqa: PLC0415
    from rtch.documents import model_of  # noqa: PLC0415

    if args.persist or args.handoff_to_consolidate:
        packet = model_of(packet)
    if args.persist:
        from rtch.outside import permitted_roots  # noqa: PLC0415

        packet = packets.persist(packet, allowed=permitted_roots(args.allow_root))
        print(f"rtch: kept at {packet.run.persisted_at}", file=sys.stderr)
    if args.handoff_to_consolidate:
        packet = _handed_over(packet, args)
    try:
        packets.remember(packet)
    except ArtifactError as error:  # the answer is not less true where it cannot be kept
        print(f"rtch: the packet is not remembered: {error}", file=sys.stderr)
    emit(render.rendered(packet, args.format, max_chars=args.max_chars), args.output)
    found = [surface.path for surface in packet.selected_surfaces]
    if found == [packet.intake.known_target]:
        _say(f"the target is all that was found; without a search: rtch read {shlex.quote(found[0])}")
    if args.explain:
        print(render.explain(packet), file=sys.stderr)
    if args.why_not:
        print(render.why_not(packet, args.why_not), file=sys.stderr)
    if packet.run.handoff is not None and packet.run.handoff.failure:
        return handing.FAILED
    return 0 if packet.hydrated_chunks else 1


def _handed_over(packet: Packet, args: argparse.Namespace) -> Packet:
    from rtch import handoff  # noqa: PLC0415

    consolidator = handing.consolidator_of(args, Path(packet.run.zone_root))
    packet = handoff.hand_over(packet, whole_files=args.whole_files, consolidator=consolidator)
    assert packet.run.handoff is not None
    _say(f"dump at {packet.run.handoff.dump_path}")
    handing.tell(packet.run.handoff)
    return packet


def emit(text: str, output: Path | None) -> None:
    """Write a result to a file or to stdout, as UTF-8 whatever the locale is.

    Raises:
        ArtifactError: the file cannot be written.
    """
    data = text.encode("utf-8", "surrogateescape")
    if output is None:
        sys.stdout.buffer.write(data)
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        raise ArtifactError(f"{output} cannot be written: {error.strerror}") from error


class working:  # noqa: N801  reads as a statement: with working("hydrating")
    """Shows on a terminal that work of more than a second is under way, and for how long."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        import threading  # noqa: PLC0415

        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._tick, daemon=True)
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _tick(self) -> None:
        seconds = 0
        while not self._done.wait(1.0):
            seconds += 1
            print(f"\r{self._what}: {seconds} s", end="", file=sys.stderr, flush=True)
        if seconds:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
