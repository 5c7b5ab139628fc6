"""What belongs to a tree: git's answer, or a reported walk, and what each entry is.

Paths are bytes here; ``columns`` makes what is shown of them and the one order they have. Nothing
is opened but folders.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from rtch.errors import ToolError
from rtch.git import LIST_TIMEOUT_S, PrivateGit, find_repository, private_git
from rtch.layout import layout
from rtch.models.tree import Listing, TreeNote
from rtch.models.vocab import CautionFlag, EntryKind
from rtch.paths import collisions, improper, lies_in, shown, texts_of
from rtch.repository import IgnoreSettings, Repository, RepositoryRefused, Tracked, printable, unopened_folders
from rtch.rule_files import check_rules, would_wait
from rtch.sight import Sight, not_folders
from rtch.zone_marker import unfit

MAX_NESTED = 64
"""Nested repositories that are entered; each costs some calls of git."""
_ITSELF = b"./"
"""What git calls a listed folder that is a submodule without its repository."""
GONE = frozenset({EntryKind.ABSENT, EntryKind.FIFO, EntryKind.SOCKET, EntryKind.DEVICE})
"""What git does not list as untracked, so that a file which has become one since is no longer there."""


@dataclass(slots=True)
class Names:
    """The paths that belong to a tree.

    Attributes:
        root: the listed folder.
        repository: whose index and rules were used.
        tracked: paths that stay in the listing when they are absent.
        untracked: paths that are left out when they have vanished.
        gitlinks: the submodules among the tracked.
        unopened: folders whose contents are unknown.
        hidden: paths that ignore files other than git's leave out.
        indexes: what git's indexes say, each with the folder that its names are relative to.
        notes: what went wrong.
        recalled: whether they are what an earlier run kept, so that git was not asked. All are tracked then, and in
            the order of the listing.
        no_folders: folders on the way to recalled paths that are links or gone.
        distinct: whether no two recalled paths are one where case or accents are folded.
        walked: whether ignore rules could not be applied.
        sight: what the first of the tracked paths are, looked at while git was listing the others.
        looked_ns: the time before the first look.
    """

    root: bytes
    repository: Repository | None = None
    tracked: list[bytes] = field(default_factory=list)
    untracked: list[bytes] = field(default_factory=list)
    gitlinks: set[bytes] = field(default_factory=set)
    unopened: set[bytes] = field(default_factory=set)
    hidden: set[bytes] = field(default_factory=set)
    indexes: list[tuple[bytes, Tracked]] = field(default_factory=list)
    notes: list[TreeNote] = field(default_factory=list)
    recalled: bool = False
    no_folders: set[bytes] = field(default_factory=set)
    distinct: bool = False
    walked: bool = False
    sight: Sight = field(init=False)
    looked_ns: int = field(init=False)

    def __post_init__(self) -> None:
        self.sight = Sight(self.root)
        self.looked_ns = time.time_ns()

    def note(self, flag: CautionFlag, name: bytes, detail: str) -> None:
        """Add a note on a path, or on the whole tree where the name is empty."""
        self.notes.append(TreeNote(flag=flag, path=shown(name), detail=detail))

    def add(self, folder: bytes, other: Names) -> None:
        """Take in the names of a nested folder."""
        prefix = folder + b"/"
        if len(self.sight) == len(self.tracked) and len(other.sight) == len(other.tracked):
            self.sight.extend(other.sight)
        self.tracked += [prefix + name for name in other.tracked]
        self.untracked += [prefix + name for name in other.untracked]
        self.gitlinks |= {prefix + name for name in other.gitlinks}
        self.unopened |= {prefix + name for name in other.unopened}
        self.hidden |= {prefix + name for name in other.hidden}
        self.indexes += [(prefix + inner, tracked) for inner, tracked in other.indexes]
        below = shown(prefix)
        self.notes += [note.model_copy(update={"path": (below + note.path).rstrip("/")}) for note in other.notes]
        self.walked = self.walked or other.walked

    def look(self) -> None:
        """Look at every path that was not looked at yet, in the order of ``everything``."""
        rest = self.everything()[len(self.sight) :]
        if not rest:
            return
        known = dict.fromkeys(self.gitlinks, EntryKind.SUBMODULE) | dict.fromkeys(self.unopened, EntryKind.UNREADABLE)
        # The folders of a recalled list were looked at when it was found to stand.
        if bad := self.no_folders if self.recalled else not_folders(self.root, rest):
            known |= {name: EntryKind.ABSENT for name in rest if name.rpartition(b"/")[0] in bad}
        self.sight.look(rest, known)

    def everything(self) -> list[bytes]:
        """Return all paths, tracked ones first."""
        return [*self.tracked, *self.untracked, *sorted(self.unopened)]


@dataclass(frozen=True, slots=True)
class Columns:
    """The looked-at tree: equal indices name one entry; ``looked_ns`` is what ``is_racy`` takes."""

    listing: Listing
    names: list[bytes]
    sight: Sight
    looked_ns: int


def collect(
    root: Path,
    repository: Repository | None,
    *,
    timeout_s: float = LIST_TIMEOUT_S,
    settings: IgnoreSettings | None = None,
) -> Names:
    """Return the paths that belong to a tree.

    Args:
        root: the zone root, resolved.
        repository: the one that holds the root; None lists the folder with an empty index.
        timeout_s: seconds for each call of git; past it the tree is walked without ignore rules.
        settings: the repository's, where they are known.
    """
    names = _collect(root, repository, timeout_s, [MAX_NESTED], settings)
    if not names.walked:
        _look_at_markers(names)
    return names


def _collect(
    root: Path,
    repository: Repository | None,
    timeout_s: float,
    nested_left: list[int],
    settings: IgnoreSettings | None = None,
) -> Names:
    names = Names(os.fsencode(root), repository)
    nested: list[bytes] = []
    try:
        if would_wait(root / ".gitignore"):
            check_rules(root, root, ".gitignore")
        with private_git(repository, root, timeout_s=timeout_s, settings=settings) as git:
            nested = _ask(git, names)
            own = b"." in nested
            ignored = not own and repository is not None and not names.tracked and root != repository.top
            if own or (ignored and git.ignores_itself()):
                # A folder that its repository leaves out, once it is a root, is a tree of its own.
                repository = None
    except ToolError as error:
        flag = CautionFlag.TIMEOUT if error.timed_out else CautionFlag.TOOL_FAILED
        names.note(flag, b"", str(error))
        names.note(CautionFlag.IGNORE_RULES_UNAVAILABLE, b"", "the tree was walked without ignore rules")
        names.walked = True
        _walk(names)
    if repository is not names.repository:
        names = _collect(root, None, timeout_s, nested_left)
        if own:
            detail = "core.worktree names a folder above the one that holds .git; listed as a tree outside git"
            names.note(CautionFlag.REPOSITORY_REFUSED, b"", detail)
        return names
    for name in nested:
        _enter(root, name, names, timeout_s, nested_left)
    if not names.walked:
        for rules_name in layout().ignore_files:
            _apply_ignore_file(rules_name, root, names, timeout_s)
    return names


def _ask(git: PrivateGit, names: Names) -> list[bytes]:
    """Ask git, and look at the tracked paths while it looks for others; return the nested repositories."""
    answers: list[tuple[list[bytes], list[str]]] = []
    errors: list[ToolError] = []

    def others() -> None:
        try:
            answers.append(git.untracked())
        except ToolError as error:
            errors.append(error)

    thread = threading.Thread(target=others)
    thread.start()
    try:
        tracked = git.tracked()
        names.tracked = tracked.names()
        if odd := improper(names.tracked):
            names.tracked = [name for name in names.tracked if name not in odd]
        odd -= {_ITSELF}
        if gitlinks := tracked.gitlinks():
            names.gitlinks = set(gitlinks).intersection(names.tracked)
        if odd:
            detail = f"git's index names {len(odd)} paths that no tree can hold, such as {shown(min(odd))}; left out"
            names.note(CautionFlag.MALFORMED, b"", detail)
        names.indexes.append((b"", tracked))
        names.look()
    finally:
        thread.join()
    if errors:
        raise errors[0]
    untracked, complaints = answers[0]
    names.untracked = [name for name in untracked if not name.endswith(b"/")]
    folders = unopened_folders(complaints)
    names.unopened |= {os.fsencode(folder) for folder in folders}
    if len(folders) < len(complaints):
        names.note(CautionFlag.SEARCH_INCOMPLETE, b"", "git complained while listing; some paths may be missing")
    return [name[:-1] for name in untracked if name.endswith(b"/")]


def _enter(root: Path, name: bytes, names: Names, timeout_s: float, nested_left: list[int]) -> None:
    """List a repository that lies in the tree without being a submodule."""
    nested_left[0] -= 1
    if nested_left[0] < 0:
        names.gitlinks.add(name)
        names.tracked.append(name)
        names.note(CautionFlag.SEARCH_INCOMPLETE, name, f"more than {MAX_NESTED} nested repositories: not entered")
        return
    folder = root / os.fsdecode(name)
    repository: Repository | None = None
    try:
        repository = find_repository(folder, ceiling=folder.parent)
    except RepositoryRefused as error:
        names.note(error.flag, name, error.detail)
    except ToolError as error:
        names.note(CautionFlag.TOOL_FAILED, name, str(error))
    if repository is not None and repository.top != folder:
        repository = None
    names.add(name, _collect(folder, repository, timeout_s, nested_left))


def _apply_ignore_file(rules_name: str, root: Path, names: Names, timeout_s: float) -> None:
    name = os.fsencode(rules_name)
    suffix = b"/" + name
    met = (name, *(one for one in (*names.tracked, *names.untracked) if one.endswith(suffix)))
    wrong = {shown(one): why for one in met if (why := unfit(names.root + b"/" + one))}
    for path, why in wrong.items():
        _not_applied(names, path, why)
    there = any(shown(one) not in wrong and os.path.lexists(names.root + b"/" + one) for one in met)
    if not there or would_wait(root / rules_name):
        return
    try:
        with private_git(None, root, timeout_s=timeout_s) as git:
            hidden, complaints = git.hidden_by(rules_name)
    except ToolError as error:
        _not_applied(names, rules_name, str(error))
        return
    names.hidden |= set(hidden)
    for line in complaints:
        if rules_name in line and not any(f"'{path}'" in line for path in wrong):
            _not_applied(names, rules_name, printable(line))


def _not_applied(names: Names, path: str, why: str) -> None:
    names.note(CautionFlag.IGNORE_RULES_UNAVAILABLE, b"", f"{path} was not applied: {why}")


def _look_at_markers(names: Names) -> None:
    """Note what stands in the root under a marker's name and is in no listing, for it is neither file nor link."""
    for name in layout().markers:
        place = Path(os.fsdecode(names.root)) / name
        wrong = unfit(place)
        if wrong and not place.is_symlink() and not place.is_file():
            names.note(CautionFlag.MALFORMED, os.fsencode(name), f"marker not read: {wrong}")


def _walk(names: Names) -> None:
    """Add every path below the root but ``.git``; the order is made later."""
    known = set(names.tracked)
    stack = [b""]
    while stack:
        folder = stack.pop()
        try:
            with os.scandir(names.root + b"/" + folder) as entries:
                for entry in entries:
                    name = folder + b"/" + entry.name if folder else entry.name
                    if entry.name == b".git" or name in known:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(name)
                    else:
                        names.untracked.append(name)
        except OSError:
            if folder:
                names.unopened.add(folder)


def columns(names: Names, left_out: Collection[bytes]) -> Columns:
    """Look at what is left to look at, and put everything in order.

    Args:
        names: the paths that belong to the tree.
        left_out: paths, files or folders, that are rtch's own outputs.
    """
    names.look()
    everything = names.everything()
    looked_ns = names.sight.settle(everything, names.looked_ns)
    drop = set() if names.recalled else _dropped(names, everything, left_out)
    kept = [i for i in range(len(everything)) if i not in drop] if drop else range(len(everything))
    paths = [everything[i] for i in kept] if drop else everything
    texts, encoded = texts_of(paths)
    sight = names.sight
    if not names.recalled and (drop or texts != sorted(texts)):
        order = sorted(range(len(texts)), key=texts.__getitem__)
        sight = sight.picked([kept[i] for i in order])
        paths, texts = [paths[i] for i in order], [texts[i] for i in order]
    # What is made here needs no check of 100,000 values.
    listing = Listing.model_construct(
        paths=tuple(texts),
        kinds=sight.kinds(),
        sizes=sight.sizes(),
        encoded=tuple(i for i, name in enumerate(paths) if name in encoded) if encoded else (),
        notes=_notes(names, texts),
    )
    return Columns(listing, paths, sight, looked_ns)


def _dropped(names: Names, everything: list[bytes], left_out: Collection[bytes]) -> set[int]:
    """Return the indices that the listing leaves out."""
    tracked = len(names.tracked)
    gone = {EntryKind.ABSENT} if names.walked else GONE
    drop = {i for i, kind in names.sight.odd.items() if i >= tracked and kind in gone}
    if names.hidden:
        drop |= {i for i, name in enumerate(everything) if name in names.hidden}
    # One search over all names first: most trees hold nothing of ours.
    whole = b"\0" + b"\0".join(everything)
    if ours := [own for own in left_out if b"\0" + own in whole]:
        drop |= {i for i, name in enumerate(everything) if lies_in(name, ours)}
    if len(set(everything)) < len(everything):
        last = {name: i for i, name in enumerate(everything)}
        drop |= {i for i, name in enumerate(everything) if last[name] != i}
    return drop


def _notes(names: Names, texts: list[str]) -> tuple[TreeNote, ...]:
    incomplete, twins = CautionFlag.SEARCH_INCOMPLETE, CautionFlag.PORTABILITY_COLLISION
    notes = [
        *names.notes,
        *(TreeNote(flag=incomplete, path=shown(name), detail="contents unknown") for name in names.unopened),
        *(
            TreeNote(flag=twins, path=path, detail=f"the same where case or accents are folded: {twin}")
            for path, twin in (() if names.distinct else collisions(texts))
        ),
    ]
    return tuple(sorted(notes, key=lambda note: (note.path, note.flag, note.detail)))
