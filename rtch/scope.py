"""Scope: how far from the seeds a surface may lie.

A file family is one folder and one stem less test and type affixes. Narrow keeps the seeds'
families; adjacent adds their folders, what they import and what imports them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence

from rtch.imports import Imports
from rtch.models.basket import Term, TermShape
from rtch.models.intake import Intake
from rtch.models.inventory import FileFacts
from rtch.models.plan import CostEstimate
from rtch.models.vocab import Origin, Scope, TargetProfile
from rtch.query import moment_in
from rtch.words import joined, last_name

_AFFIX = re.compile(r"^test_|^tests?_|[._-](?:tests?|specs?|stories|types|d|module|min)$", re.IGNORECASE)
_ANCHORS = frozenset({TermShape.SEED, TermShape.TARGET, TermShape.PATH})


def family_of(path: str) -> tuple[str, str]:
    """Return a file's family: its folder, a test folder counting as its parent, and its bare stem."""
    folder, name = posixpath.split(path)
    stem = name.split(".", 1)[0] if name.startswith(".") is False else name
    rest = name[: -len(posixpath.splitext(name)[1])] if "." in name[1:] else name
    for text in (rest, stem):
        bare = _AFFIX.sub("", text)
        if bare != text:
            return re.sub(r"(?:^|/)(?:__)?tests?(?:__)?$", "", folder), bare.lower()
    return re.sub(r"(?:^|/)(?:__)?tests?(?:__)?$", "", folder), rest.lower()


def paths_in_scope(
    scope: Scope | None, paths: Sequence[str], terms: Iterable[Term], files: Iterable[FileFacts]
) -> frozenset[str] | None:
    """Return the paths a scope admits; None admits all, as does a scope without an anchor in the tree.

    What imports a file is told by the files that were looked into: those that bear a word of the request.
    """
    if scope is None or scope is Scope.BROAD:
        return None
    anchors = _anchors(paths, terms)
    if not anchors:
        return None
    families = {family_of(path) for path in anchors}
    kept = {path for path in paths if family_of(path) in families}
    if scope is Scope.NARROW:
        return frozenset(kept)
    folders = {posixpath.dirname(path) for path in kept}
    kept |= {path for path in paths if posixpath.dirname(path) in folders}
    resolver = Imports(paths)
    edges = {file.path: set(resolver.targets(file.path, file.references)) for file in files}
    near = set(kept)
    kept |= {target for path in near for target in edges.get(path, ())}
    kept |= {path for path, targets in edges.items() if targets & anchors}
    return frozenset(kept)


def paths_of_time(intake: Intake, paths: Sequence[str], terms: Iterable[Term], cost: CostEstimate) -> frozenset[str]:
    """Return the paths that a question of history may lead to where it names a time; none where it names none.

    These are the files that hold the time, in their text or their name, and what is named outright. A scope that is
    given as broad admits all.
    """
    if intake.target_profile is not TargetProfile.AUDIT_HISTORY or intake.scope is Scope.BROAD:
        return frozenset()
    held: set[str] = set()
    for term in terms:
        moment = moment_in(term)
        if moment is not None:
            held.update(cost.paths[i] for i in cost.hits_of(term.term).files if term.term in cost.terms)
            held.update(path for path in paths if moment.holds(path))
    named = {path for path in paths if path == intake.known_target or path in intake.known_neighbor_surfaces}
    return frozenset(held | named) if held else frozenset()


def _anchors(paths: Sequence[str], terms: Iterable[Term]) -> set[str]:
    known = set(paths)
    anchors: set[str] = set()
    for term in terms:
        if term.shape not in _ANCHORS:
            continue
        tail = term.term.removeprefix("./")
        named = {path for path in known if path == tail or path.endswith("/" + tail)}
        anchors |= named or {
            place.path
            for place in term.places
            if place.shape in {Origin.CODE_SYMBOL, Origin.HEADING, Origin.DURABLE_HANDLE, Origin.MANIFEST_KEY}
            and joined(place.name) == joined(last_name(term.term))
            and place.path in known
        }
    return anchors
