"""Whose a finding is, and since when: CODEOWNERS and git, asked for what counts alone."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping, Sequence

from rtch.models.drift import Anchor, Commit, DriftKind, Finding
from rtch.models.packet import Packet
from rtch.models.vocab import EntryKind
from rtch.owners import Owners
from rtch.session import Session
from rtch.since import History
from rtch.workspace import Workspace

MAX_ASKED = 60
"""Findings of which git is asked, gravest first: whoever has more will not read them one by one."""
_OF_THE_ANSWER = frozenset(
    {DriftKind.SURFACE_LEFT, DriftKind.RANK_CHANGED, DriftKind.ANSWER_CHANGED, DriftKind.AMBIGUOUS, DriftKind.MOVED}
)
"""What follows from the tree as a whole, and from no one line's history."""


def with_provenance(found: Sequence[Finding], session: Session, before: Packet) -> tuple[Finding, ...]:
    """Return findings with their owners and the commit that they hold since.

    Args:
        found: judged.
        session: the open tree.
        before: the baseline; only commits after its own matter.
    """
    counting = [one.finding_id for one in found if one.counts]
    if not counting:
        return tuple(found)
    owners = Owners.of(session.choice.root, session.choice.repo_root)
    asked = _Asked(session, before.run.commit, frozenset(counting[:MAX_ASKED]))
    return tuple(_traced(one, owners, asked) if one.counts else one for one in found)


def new_copies(found: Sequence[Finding], session: Session, before: Packet) -> list[Finding]:
    """Return findings without the second places of a text that the baseline's own commit had already.

    Where git cannot tell, a second place stays, and is no more than likely to be new.
    """
    copied = [one for one in found if one.kind is DriftKind.DUPLICATED]
    if not copied or session.workspace.repository is None or not before.run.commit:
        return list(found)
    history = History(session.choice.root, session.workspace.repository, after=before.run.commit)
    old = {one.finding_id for one in copied if not any(_is_new(place, history) for place in one.related)}
    return [one for one in found if one.finding_id not in old]


def with_new_names(found: Sequence[Finding]) -> list[Finding]:
    """Return findings in which a reference to a file that was renamed says what it is called now."""
    renamed = {one.at.path: one.now for one in found if one.kind is DriftKind.RENAMED and one.now is not None}
    return [_named_anew(one, renamed) if one.names else one for one in found]


def _named_anew(one: Finding, renamed: Mapping[str, Anchor]) -> Finding:
    now = next((renamed[path] for path in _targets(one) if path in renamed), None)
    if now is None or one.related:
        return one
    place = Anchor(path=now.path, path_encoded=now.path_encoded)
    return one.model_copy(update={"message": f"{one.message} but is {now.path} now", "related": (place,)})


def _targets(one: Finding) -> tuple[str, ...]:
    """Return the paths that a reference may mean: by the root, or by the document's folder."""
    target = one.names.partition("#")[0].strip("/")
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(one.at.path), target))
    return tuple(path for path in dict.fromkeys((target, beside)) if path and not path.startswith(".."))


def _is_new(place: Anchor, history: History) -> bool:
    return _changed(place, history) is not None or bool(history.doubt)


def _changed(place: Anchor, history: History) -> Commit | None:
    lines = None if place.start_line is None else (place.start_line, place.end_line or place.start_line)
    return history.changed(place.path, lines, encoded=place.path_encoded)


def _traced(one: Finding, owners: Owners, asked: _Asked) -> Finding:
    since = asked.since(one)
    update: dict[str, object] = {"since": since, "owners": owners.of_path(one.at.path)}
    if not one.next_command:
        update["next_command"] = _look_back(one, since)
    return one.model_copy(update=update)


def stands_in(tree: Workspace, path: str) -> bool:
    """Tell whether a path is of a tree; one that git tracks is listed after it was deleted, until a commit."""
    return path in tree.index and tree.kind(path) is not EntryKind.ABSENT


def _look_back(one: Finding, since: Commit | None) -> str:
    """Return the command that shows what became of a file that is gone, where git knows it by its name."""
    if since is None or one.at.path_encoded:
        return ""
    if not since.id:
        return f"git show {shlex.quote(f'HEAD:./{one.at.path}')}"
    return f"git show {since.id[:12]} -- {shlex.quote(one.at.path)}"


class _Asked:
    """The history behind a tree, asked for some findings."""

    def __init__(self, session: Session, after: str, ids: frozenset[str]) -> None:
        self._history = History(session.choice.root, session.workspace.repository, after=after)
        self._tree = session.workspace
        self._ids = ids if session.workspace.repository is not None else frozenset()

    def since(self, one: Finding) -> Commit | None:
        """Return the commit that made it so, ``UNCOMMITTED`` where none has it yet, None where nothing tells."""
        if one.finding_id not in self._ids or one.kind in _OF_THE_ANSWER:
            return None
        if one.kind in {DriftKind.DELETED, DriftKind.RENAMED}:
            # That text is gone from a file which is there was the work of any commit that touched it.
            is_there = stands_in(self._tree, one.at.path)
            return None if is_there else self._history.removed(one.at.path, encoded=one.at.path_encoded)
        where = one.now or one.at
        if one.kind is DriftKind.SURFACE_ENTERED:
            return self._history.added(where.path, encoded=where.path_encoded)
        return (self._removed_target(one) if one.names else None) or _changed(where, self._history)

    def _removed_target(self, one: Finding) -> Commit | None:
        """Return the commit that took away what a document refers to."""
        gone = (path for path in _targets(one) if not stands_in(self._tree, path))
        return next((found for path in gone if (found := self._history.removed(path)) is not None), None)
