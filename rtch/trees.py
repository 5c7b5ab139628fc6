"""Trees by reference: what a job carries of a zone, and the open workspace behind it."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from rtch.effective import Notes
from rtch.errors import ZoneError
from rtch.workspace import Workspace, open_workspace


class TreeRef:
    """A zone in one state; a plain class with slots, so that it travels in a job as it is."""

    __slots__ = ("own_outputs", "root", "state")

    def __init__(self, root: str, state: str, own_outputs: tuple[str, ...] = ()) -> None:
        self.root = root
        self.state = state
        self.own_outputs = own_outputs


_open: dict[tuple[str, str], Workspace] = {}
_lock = Lock()
_KEPT = 4
"""Workspaces that a long-lived process keeps; each holds one listing."""


def tree_ref(workspace: Workspace, own_outputs: tuple[Path, ...] = ()) -> TreeRef:
    """Return the reference to an open workspace and keep it at hand for this process."""
    ref = TreeRef(str(workspace.root), workspace.state(), tuple(map(str, own_outputs)))
    with _lock:
        _open[ref.root, ref.state] = workspace
        while len(_open) > _KEPT:
            del _open[next(iter(_open))]
    return ref


def workspace_of(ref: TreeRef, notes: Notes | None = None) -> Workspace:
    """Return the workspace behind a reference, opening it in a process that has not seen it.

    Args:
        ref: the reference.
        notes: where a workspace that is opened looks up what earlier runs left.

    Raises:
        ZoneError: the tree is no longer in the state that the reference names.
    """
    with _lock:
        known = _open.get((ref.root, ref.state))
    if known is not None:
        return known
    workspace = open_workspace(Path(ref.root), own_outputs=tuple(map(Path, ref.own_outputs)))
    workspace.notes = notes
    if workspace.state() != ref.state:
        raise ZoneError(f"the tree {ref.root} changed while the run was under way", hint="run it again")
    with _lock:
        return _open.setdefault((ref.root, ref.state), workspace)
