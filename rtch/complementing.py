"""What stands around an artifact whose keeping is to be decided: its relational surface, and the /complement block.

The packet's basket has what the tree tells of it (``relations``). Here it stands with what git's log tells, which is
no part of a packet's findings and lies in the record of the run. Each signal that cannot be told is named with why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rtch.decisions import is_disposition
from rtch.errors import RtchError, ToolError
from rtch.git import find_repository
from rtch.models.complement import Complement, Criterion, Maintenance, RelationalSurface
from rtch.owners import Owners
from rtch.relations import artifact_of, compared, published, served_by
from rtch.repository import Repository, RepositoryRefused
from rtch.roots import readable_root
from rtch.since import History
from rtch.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from rtch.models.packet import Packet

MAX_MAINTAINED = 8
"""Paths of which git is asked; each question takes 0.03 to 0.3 s."""


def complement_of(packet: Packet, root: Path) -> Complement:
    """Return what stands around the artifact that a packet's goal decides on.

    The artifact is that of the basket: the intake's known target, the first path that the goal names, or the name
    of a file that it bears; else the best surface.

    Args:
        packet: the packet.
        root: the zone root.

    Raises:
        ZoneError: the root cannot be read.
        ToolError: rg is missing.
    """
    ws = open_workspace(readable_root(root))
    artifact = packet.candidate_basket.artifact or artifact_of(packet.intake, ws) or _best(packet)
    twins = [twin for one in packet.selected_surfaces if one.path == artifact for twin in one.twins]
    targets = compared(packet.intake, ws, artifact, twins)
    served = served_by(ws, artifact, {one.path for one in targets})
    maintained, more = _maintained(packet, ws, (artifact, *(one.path for one in targets)))
    manifests, unread = published(ws, artifact)
    around = RelationalSurface(
        artifact=artifact,
        served_party=served.shown,
        served_party_cut=served.cut,
        comparison_targets=targets,
        maintenance=maintained,
        publication=manifests,
        unknown=(*served.doubts, *more, *unread),
    )
    return _block(packet, around)


def _block(packet: Packet, around: RelationalSurface) -> Complement:
    met = tuple(one for one in Criterion if _HOLDS[one](around))
    left = tuple(one for one in Criterion if one not in met)
    named = [one.path for one in (*around.served_party, *around.comparison_targets)]
    shown = {one.path for one in packet.selected_surfaces}
    return Complement(
        timestamp=packet.generated_at,
        tic=packet.generated_at_tic,
        centroid=around.artifact,
        active_ray=packet.intake.goal,
        complement_candidate=next((path for path in named if path not in shown), named[0] if named else ""),
        scope=str(packet.intake.scope or packet.intake.target_profile),
        structural_criteria_met=met,
        structural_criteria_open=left,
        relational_surface=around,
    )


def with_complement(packet: Packet, root: Path) -> Packet:
    """Return a packet with what stands around its artifact, where its goal decides what becomes of one.

    Any other packet is returned as it is. A tree that cannot be read is no reason to fail: the block then says so.
    """
    if packet.run.complement is not None or not is_disposition(packet.intake):
        return packet
    try:
        made = complement_of(packet, root)
    except RtchError as error:
        artifact = packet.candidate_basket.artifact or _best(packet)
        around = RelationalSurface(
            artifact=artifact,
            served_party=(),
            comparison_targets=(),
            maintenance=(),
            publication=(),
            unknown=(f"the tree: {error}",),
        )
        made = _block(packet, around)
    return packet.model_copy(update={"run": packet.run.model_copy(update={"complement": made})})


_HOLDS: Mapping[Criterion, Callable[[RelationalSurface], bool]] = {
    Criterion.SERVED_PARTY: lambda around: bool(around.served_party),
    Criterion.COMPARISON_TARGET: lambda around: bool(around.comparison_targets),
    Criterion.LAST_TOUCHED: lambda around: any(one.last_touched for one in around.maintenance),
    Criterion.OWNER: lambda around: any(one.owners for one in around.maintenance),
    Criterion.PUBLISH_STATUS: lambda around: any(one.status != "unsaid" for one in around.publication),
}


def _best(packet: Packet) -> str:
    return packet.selected_surfaces[0].path if packet.selected_surfaces else ""


# Who looks after it.


def _maintained(packet: Packet, ws: Workspace, named: Sequence[str]) -> tuple[tuple[Maintenance, ...], tuple[str, ...]]:
    paths = [one for path in named for one in _files_of(packet, ws, path)][:MAX_MAINTAINED]
    repository, doubt = _repository(ws.root)
    owners = Owners.of(ws.root, repository.top if repository else None)
    history = History(ws.root, repository)
    rows = []
    for path in dict.fromkeys(paths):
        commit = None if repository is None else history.changed(path, None)
        rows.append(
            Maintenance(
                path=path,
                last_touched=commit.date if commit else "",
                commit=commit.id if commit else "",
                summary=commit.summary if commit else "",
                owners=owners.of_path(path),
                owners_from=owners.place,
            )
        )
    unknown = []
    if repository is None:
        unknown.append(f"last touched: {doubt or 'the tree is in no git repository'}")
    elif history.doubt:
        unknown.append(f"last touched: {history.doubt}")
    if not owners.place:
        unknown.append("owner: there is no CODEOWNERS file")
    unknown += [f"owner: {one.what}: {one.why}" for one in owners.problems[:3]]
    return tuple(rows), tuple(unknown)


def _files_of(packet: Packet, ws: Workspace, path: str) -> list[str]:
    """Return a path that is a file, or the packet's surfaces below one that is a folder."""
    if path in ws.index:
        return [path]
    return [one.path for one in packet.selected_surfaces if one.path.startswith(f"{path}/") and not one.path_encoded]


def _repository(root: Path) -> tuple[Repository | None, str]:
    try:
        return find_repository(root), ""
    except (RepositoryRefused, ToolError) as error:
        return None, str(error)
