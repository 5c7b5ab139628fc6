"""``rtch cache``: what the artifact store holds, why a stage ran again, and how to make room."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtch.errors import ArtifactError, Dangling, IntakeError
from rtch.models.vocab import StageName
from rtch.nearest import nearest_of

if TYPE_CHECKING:
    from rtch.history import ZoneHistory
    from rtch.store import Store

PACKET_ID = re.compile(r"rtch_packet_[0-9a-f]+")
SHORT_ID = re.compile(r"(?:rtch_packet_)?[0-9a-f]{8,63}")
SIZE = re.compile(r"(\d+)\s*([kmgt]?)i?b?", re.IGNORECASE)
AGE = re.compile(r"(\d+)\s*([smhdw])", re.IGNORECASE)
SIZE_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
AGE_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
PACKET_FILE_BYTES = 2**24

Words = list[tuple[StageName, tuple[str, ...]]]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with its four actions."""
    cache = subparsers.add_parser(
        "cache",
        help="look into the artifact store, or make room in it",
        description="Look into the store of artifacts, or make room in it. Losing it costs time and no result.",
    )
    actions = cache.add_subparsers(dest="action", required=True, metavar="ACTION")
    stats = actions.add_parser("stats", help="count what the store holds")
    why = actions.add_parser(
        "why",
        help="say which part of a key changed",
        description="Say in words why a stage ran again. Exit 0: it is known. Exit 1: nothing is remembered of it.",
    )
    why.add_argument("subject", metavar="PACKET|STAGE", help="an id or 8 digits of one, a file, or a stage")
    why.add_argument("--root", type=Path, default=Path(), metavar="DIR", help="a folder of the zone (default: here)")
    gc = actions.add_parser(
        "gc",
        help="remove what was not used for longest",
        description="Remove the least recently used artifacts until the rest fits. Pinned ones stay.",
    )
    gc.add_argument("--max-bytes", type=_size, default=_size("512m"), metavar="SIZE", help="default: 512M")
    gc.add_argument("--max-age", type=_age, metavar="AGE", help="remove what was not used for so long, as in 30d")
    clear = actions.add_parser("clear", help="remove everything, pinned or not")
    for parser in (stats, why, gc, clear):
        parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
        parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Run one action; the result goes to stdout."""
    from rtch.places import store_place  # noqa: PLC0415  loaded by the command that needs it
    from rtch.store import open_store  # noqa: PLC0415  loaded by the command that needs it

    actions: dict[str, Callable[[Store, argparse.Namespace], int]] = {
        "stats": _stats,
        "why": _why,
        "gc": _gc,
        "clear": _clear,
    }
    store = open_store(store_place())
    try:
        return actions[args.action](store, args)
    finally:
        store.close()


def _stats(store: Store, args: argparse.Namespace) -> int:
    record = store.stats()._asdict()
    if args.format == "text":
        record["size_bytes"] = _shown(record["size_bytes"])
    _print(record, args.format)
    return 0


def _gc(store: Store, args: argparse.Namespace) -> int:
    report = store.gc(args.max_bytes, args.max_age)
    if args.format == "text":
        print(f"removed {report.removed} rows ({_shown(report.freed_bytes)}) and {report.swept} strays")
        print(f"left {report.left} rows ({_shown(report.left_bytes)})")
    else:
        _print(report._asdict(), "json")
    return 0


def _clear(store: Store, args: argparse.Namespace) -> int:
    removed = store.clear()
    _print({"removed": removed}, args.format)
    return 0


def _why(store: Store, args: argparse.Namespace) -> int:
    stage = _stage(args.subject)
    subject, found = _why_stage(store, stage, args.root) if stage else _why_packet(store, _packet_id(args.subject))
    if args.format == "json":
        stages = [{"stage": name, "words": words} for name, words in found or ()]
        _print({"subject": subject, "known": found is not None, "stages": stages}, "json")
    elif found is None:
        print(f"{subject}: never run here" if stage else f"{subject}: no run is remembered that made it")
    else:
        for name, words in found:
            for word in words:
                print(f"{name}: {word}")
    return 1 if found is None else 0


def _why_stage(store: Store, stage: StageName, root: Path) -> tuple[str, Words | None]:
    from rtch.history import why_stage  # noqa: PLC0415  loaded by the command that needs it

    history = _zone_history(store, root)
    for one in history.stages if history else ():
        if one.stage is stage:
            words = why_stage(one, _state_loader(store)) if one.previous else ("run here under one key so far",)
            return stage.value, [(stage, words)]
    return stage.value, None


def _why_packet(store: Store, packet_id: str) -> tuple[str, Words | None]:
    from rtch.history import why_packet  # noqa: PLC0415  loaded by the command that needs it

    history = store.packet_history(packet_id)
    return packet_id, None if history is None else list(why_packet(history, _state_loader(store)))


def _zone_history(store: Store, root: Path) -> ZoneHistory | None:
    """Return the history of the innermost zone around a folder in which a run is remembered."""
    from rtch.keys import zone_id  # noqa: PLC0415  loaded by the command that needs it

    place = root.resolve()
    for folder in (place, *place.parents):
        history = store.zone_history(zone_id(folder))
        if history is not None:
            return history
    return None


def _state_loader(store: Store) -> Callable[[str], bytes | None]:
    def load(digest: str) -> bytes | None:
        try:
            return store.load_bytes(digest)
        except Dangling:
            return None

    return load


def _stage(subject: str) -> StageName | None:
    try:
        return StageName(subject)
    except ValueError:
        return None


def _packet_id(subject: str) -> str:
    """Return the packet id that the subject is or begins, or that the file it names holds first."""
    if SHORT_ID.fullmatch(subject) and not Path(subject).exists():
        from rtch.packets import find  # noqa: PLC0415  loaded by the command that needs it

        with contextlib.suppress(ArtifactError):
            return find(subject).stem
    if PACKET_ID.fullmatch(subject):
        return subject
    try:
        with Path(subject).open("rb") as file:
            text = file.read(PACKET_FILE_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        names = [stage.value for stage in StageName]
        near = nearest_of(subject, names)
        hint = f"did you mean {near}?" if near else f"stages are {', '.join(names)}"
        raise IntakeError(f"{subject!r} is no stage, no packet id and no readable file", hint=hint) from error
    found = re.search(r"packet_id[\"']?\s*:\s*[\"']?(rtch_packet_[0-9a-f]+)", text)
    if found is None:
        raise IntakeError(f"{subject} holds no packet_id")
    return found[1]


def _size(text: str) -> int:
    match = SIZE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 500M")
    return int(match[1]) * SIZE_UNITS[match[2].lower()]


def _age(text: str) -> int:
    match = AGE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no age such as 30d")
    return int(match[1]) * AGE_UNITS[match[2].lower()]


def _shown(size_bytes: int) -> str:
    size = float(size_bytes)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def _print(record: dict[str, Any], form: str) -> None:
    if form == "json":
        json.dump(record, sys.stdout, indent=2)
        print()
    else:
        for name, value in record.items():
            print(f"{name}: {value}")
