"""Where every run begins: the root chosen, the tree listed once, the store opened.

What costs more (limits, models, stages) is left to ``session``, for a run on an unchanged tree that
was asked the same before needs none of it. The clock, the environment and the working folder are
looked at here and in ``session``, and in no stage.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rtch import home
from rtch.errors import IntakeError, ToolError, ZoneError
from rtch.git import git_program
from rtch.keys import logic_digest, zone_id
from rtch.layout import layout, layout_bytes
from rtch.models.intake import Intake
from rtch.models.run import RunRecord, StageTiming
from rtch.models.vocab import Engine, SkipReason, StageName
from rtch.own_words import own_bytes
from rtch.places import own_folder, store_place
from rtch.reading import SkippedFile
from rtch.relative_times import origin_of
from rtch.rg_calls import rg_program
from rtch.store import MemoryStore, Store, open_store
from rtch.tic_words import tic_digest, tic_words
from rtch.version import VERSION
from rtch.workspace import RootChoice, Workspace, find_root, open_workspace
from rtch.zone_marker import declared_packets

CONFIG = Path(__file__).parent / "config"


@dataclass(frozen=True, slots=True)
class Refresh:
    """Which stages are made again although the store has them."""

    everything: bool = False
    stages: frozenset[StageName] = frozenset()

    def covers(self, stage: StageName) -> bool:
        """Tell whether a stage is to be made again."""
        return self.everything or stage in self.stages

    def __bool__(self) -> bool:
        return self.everything or bool(self.stages)


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is carried out; nothing here changes what it finds."""

    root: Path | None = None
    cwd: Path | None = None
    """Where the caller stands; None is the working folder of this process."""
    parents: bool = True
    cached: bool = True
    refresh: Refresh = field(default_factory=Refresh)
    own_outputs: tuple[Path, ...] = ()
    allowed_roots: tuple[Path, ...] = ()
    """Folders outside the zone in which its audit logs may lie."""
    with_memory: bool = False
    """Whether the user's own memory of the zone is told of."""
    runner: str = ""
    """What carries the tasks of a flow; a direct run has none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An intake on a listed tree."""

    intake: Intake
    options: Options
    choice: RootChoice
    workspace: Workspace
    store: Store
    cwd: Path
    own_outputs: tuple[Path, ...]


def enter(intake: Intake, options: Options) -> Entry:
    """Choose the root, list the tree once and open the store.

    Raises:
        ZoneError: there is no readable root.
    """
    cwd = starting_folder(options)
    choice = find_root(cwd, options.root)
    places = (place for place in home.locations() if place is not None)
    shared = own_folder()
    own = (*options.own_outputs, *places, *([shared] if shared else ()), *declared_packets(choice.root))
    store: Store = open_store(store_place()) if options.cached else MemoryStore()
    memory = (store.get_blob(_list_name(choice.root)) or b"") if options.cached else None
    workspace = open_workspace(choice.root, own_outputs=own, memory=memory)
    workspace.notes = store
    return Entry(
        intake=_located(intake, workspace, cwd),
        options=options,
        choice=choice,
        workspace=workspace,
        store=store,
        cwd=cwd,
        own_outputs=own,
    )


def leave(entry: Entry) -> None:
    """Keep the tree's list for the next run; called when the answer has been given, for it may take a while."""
    memory = entry.workspace.memory() if entry.options.cached else None
    if memory:
        entry.store.set_blob(_list_name(entry.choice.root), memory)


def _list_name(root: Path) -> str:
    return f"list/{zone_id(root)}"


def starting_folder(options: Options) -> Path:
    """Return the folder a run starts from; where the working folder has been deleted, a root must be named.

    Raises:
        ZoneError: there is neither a folder nor a root.
    """
    if options.cwd is not None:
        return options.cwd
    try:
        return Path.cwd()
    except FileNotFoundError:
        if options.root is None:
            raise ZoneError("the working folder no longer exists", hint="name a root with --root") from None
        return Path(os.sep)


def _located(intake: Intake, workspace: Workspace, cwd: Path) -> Intake:
    """Return the intake with its target as a zone path; one that leads nowhere stays as it was written.

    Raises:
        ZoneError: it leads out of the zone.
    """
    if intake.known_target is None:
        return intake
    try:
        path = workspace.locate(intake.known_target, cwd)
    except SkippedFile as skipped:
        if skipped.reason is SkipReason.OUTSIDE_ZONE and _exists(intake.known_target, workspace.root, cwd):
            raise ZoneError(
                f"known_target {intake.known_target} lies outside the zone {workspace.root}",
                hint="name a path below it, or pin another root with --root",
            ) from skipped
        return intake
    return intake.model_copy(update={"known_target": path})


def _exists(text: str, *folders: Path) -> bool:
    return any(os.path.lexists(folder / text) for folder in folders)


def now() -> str:
    """Return the time, as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def run_record(
    entry: Entry,
    engine: Engine,
    blobs: Mapping[str, str],
    stages: tuple[StageTiming, ...] = (),
    *,
    differs: tuple[str, ...] | None = None,
) -> RunRecord:
    """Return the record of a run.

    Args:
        entry: where it began.
        engine: what ran the stages.
        blobs: the blob id of each hydrated file, computed from its bytes.
        stages: how each stage came about.
        differs: of which files the index has other bytes, where that is known.
    """
    head = entry.workspace.head
    if differs is None:
        index = entry.workspace.index_blob_ids(blobs)
        differs = tuple(sorted(path for path, blob in index.items() if blob != blobs[path]))
    return RunRecord(
        rtch_version=VERSION,
        engine=engine,
        zone_root=str(entry.choice.root),
        repo_root=str(entry.choice.repo_root or ""),
        cwd=str(entry.cwd),
        commit=(head.commit if head else None) or "",
        branch=(head.branch if head else None) or "",
        index_differs=differs,
        stages=stages,
    )


def question_digest(entry: Entry) -> str:
    """Return one digest of everything that a packet's findings follow from.

    It is told without parsing the configuration or starting a tool: the configuration enters by its
    bytes, the tools by where they are and when they were installed, what lies above the root by the
    markers there. It may differ where the findings would not, and never the other way round.
    """
    hasher = hashlib.sha256()
    workspace, choice = entry.workspace, entry.choice
    for part in (
        logic_digest().encode(),
        entry.intake.canonical(),
        workspace.state().encode(),
        *(note.canonical() for note in workspace.listing.notes),
        named_state(entry.intake, workspace).encode(),
        repr((workspace.vcs, workspace.listed_by, workspace.object_format)).encode(),
        repr((str(choice.how), root_in_repository(choice), entry.options.parents)).encode(),
        *(path.read_bytes() for path in sorted(CONFIG.glob("*.yaml"))),
        layout_bytes(),
        own_bytes(),
        tic_digest(tic_words()).encode(),
        repr(origin_of(entry.intake.goal, choice.root)).encode(),
        *_tools(),
        *_packages(),
        *(_above(choice.root) if entry.options.parents else ()),
        *_outside(entry),
    ):
        hasher.update(b"%d:" % len(part))
        hasher.update(part)
    return hasher.hexdigest()


def named_state(intake: Intake, workspace: Workspace) -> str:
    """Return a digest of where each path that an intake names leads to.

    It may lead out of the listing, to an ignored file or through a link, and the tree's state says nothing of that.
    """
    hasher = hashlib.sha256()
    for text in (intake.known_target or "", *intake.known_neighbor_surfaces):
        try:
            path = workspace.locate(text)
            found = repr((text, path, str(workspace.kind(path))))
        except SkippedFile as skipped:
            found = repr((text, str(skipped.reason), skipped.path, skipped.detail))
        hasher.update(hashlib.sha256(found.encode("utf-8", "surrogatepass")).digest())
    return hasher.hexdigest()


def root_in_repository(choice: RootChoice) -> str:
    """Return the zone root relative to the repository's, ``.`` where they are one or there is none."""
    inside = choice.repo_root is not None and choice.root.is_relative_to(choice.repo_root)
    return choice.root.relative_to(choice.repo_root).as_posix() if inside and choice.repo_root else "."


def _tools() -> list[bytes]:
    found = []
    for program in (rg_program, git_program):
        try:
            status = Path(program()).stat()
        except (ToolError, OSError):
            found.append(b"")
            continue
        found.append(f"{program()} {status.st_size} {status.st_mtime_ns}".encode("utf-8", "surrogateescape"))
    return found


def _packages() -> list[bytes]:
    """Return when packages were last installed or removed: grammars decide what is a definition."""
    found = []
    for folder in sys.path:
        with contextlib.suppress(OSError, ValueError):
            found.append(f"{folder} {Path(folder).stat().st_mtime_ns}".encode("utf-8", "surrogateescape"))
    return found


def _above(root: Path) -> list[bytes]:
    """Return what orientation would see above the root: folders with a marker, their dot files and documents."""
    from rtch.rungs import trace_above  # noqa: PLC0415  only where parents are looked at

    return trace_above(root)


def asks_for_memory(options: Options) -> bool:
    """Tell whether the user wants to be told of what lies in the own memory folder, by flag or in the layout."""
    return options.with_memory or layout().with_memory


def _outside(entry: Entry) -> list[bytes]:
    """Return what lies outside the zone and is told of."""
    with_memory = asks_for_memory(entry.options)
    if not with_memory and layout().root_marker not in entry.workspace.index:
        return []
    from rtch.outside import outside_state  # noqa: PLC0415  most trees have no marker

    return outside_state(entry.choice.root, entry.options.allowed_roots, with_memory=with_memory)


def refresh_of(values: Sequence[str]) -> Refresh:
    """Read ``--refresh`` values: an empty one is everything, others name stages.

    Raises:
        IntakeError: no stage bears that name.
    """
    names = {stage.value for stage in StageName}
    for value in values:
        if value and value not in names:
            raise IntakeError(f"--refresh={value} names no stage", hint="known are " + ", ".join(sorted(names)))
    return Refresh(everything="" in values, stages=frozenset(StageName(value) for value in values if value))
