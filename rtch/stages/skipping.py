"""What was named, met or hit and is not hydrated, told row by row, and folded where rows are many."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from rtch.models.basket import Basket, Term
from rtch.models.chunk import SkippedSurface
from rtch.models.intake import Intake
from rtch.models.plan import ProbePlan, ProbeResult
from rtch.models.vocab import EntryKind, SkipReason, Use
from rtch.models.zone import Section, ZoneDescriptor
from rtch.query import moment_in
from rtch.reading import SkippedFile
from rtch.stages.bearing import whole_forms
from rtch.words import joined, text_tokens
from rtch.workspace import Workspace

_SECTIONS = 5
"""Sections of one document outside the zone that are told with their commands."""
_BELOW = "/** ("
_ODD = {
    EntryKind.SYMLINK: SkipReason.SYMLINK,
    EntryKind.SUBMODULE: SkipReason.SUBMODULE,
    EntryKind.FIFO: SkipReason.NOT_REGULAR,
    EntryKind.SOCKET: SkipReason.NOT_REGULAR,
    EntryKind.DEVICE: SkipReason.NOT_REGULAR,
    EntryKind.DIRECTORY: SkipReason.NOT_REGULAR,
    EntryKind.UNREADABLE: SkipReason.UNREADABLE,
    EntryKind.ABSENT: SkipReason.VANISHED,
}


def named_but_absent(intake: Intake, workspace: Workspace) -> Iterable[SkippedSurface]:
    """Yield the target and neighbours that lead nowhere, out of the zone, or to what does not belong to it."""
    for text in dict.fromkeys(_named(intake)):
        try:
            path = workspace.locate(text)
        except SkippedFile as skipped:
            yield SkippedSurface(
                path=skipped.path, reason=skipped.reason, detail=skipped.detail or "named in the intake"
            )
            continue
        if path == "." or path in workspace.index or workspace.under(path):
            continue
        kind = workspace.kind(path)
        if kind in _ODD:
            yield SkippedSurface(path=path, reason=_ODD[kind], detail=f"{kind}, named in the intake")
        else:
            detail = "named in the intake, and left out of the tree by its ignore rules"
            yield SkippedSurface(path=path, reason=SkipReason.EXCLUDED, detail=detail)


def named_but_unread(intake: Intake, workspace: Workspace, told: AbstractSet[str]) -> Iterable[SkippedSurface]:
    """Yield the target and neighbours that are in the tree and that no probe which ran reaches."""
    for text in dict.fromkeys(_named(intake)):
        try:
            path = workspace.locate(text)
        except SkippedFile:
            continue
        below = workspace.under(path)
        if below and path not in told and told.isdisjoint(below) and not _is_folded(path, told):
            detail = "named in the intake, and no probe that ran reaches it"
            yield SkippedSurface(path=path, reason=SkipReason.TARGET_CUT, detail=detail, count=len(below))


def _is_folded(path: str, told: AbstractSet[str]) -> bool:
    """Tell whether a row of a folder counts something at or below a path, or all of what holds it."""
    folders = (one.rpartition(_BELOW)[0] for one in told if _BELOW in one)
    return any(
        folder in {".", path} or path.startswith(folder + "/") or folder.startswith(path + "/") for folder in folders
    )


def _named(intake: Intake) -> Iterable[str]:
    return (*([intake.known_target] if intake.known_target else []), *intake.known_neighbor_surfaces)


def outside_the_zone(zone: ZoneDescriptor, basket: Basket) -> Iterable[SkippedSurface]:
    """Yield the user's own documents outside the zone that bear a term, with the sections to read.

    They are no part of the tree: nothing of them is hydrated, and they support no claim about it. A section is told by
    its title and its durable ids, which is what was looked at.
    """
    terms = [one for one in basket.terms if one.use not in {Use.CAUTION, Use.EXCLUDE, Use.NEIGHBOR_ONLY}]
    for document in zone.outside:
        told = []
        for section in document.sections:
            met = [one.term for one in terms if _bears(section, one)]
            if met:
                told.append(
                    f"{', '.join(met[:3])} in L{section.start_line}-L{section.end_line}: {section.re_entry_command}"
                )
        if told:
            more = f"; and {len(told) - _SECTIONS} sections more" if len(told) > _SECTIONS else ""
            detail = f"your memory of the zone, outside of it: {'; '.join(told[:_SECTIONS])}{more}"
            yield SkippedSurface(path=document.path, reason=SkipReason.OUTSIDE_ZONE, detail=detail)


def _bears(section: Section, term: Term) -> bool:
    moment = moment_in(term)
    if moment is not None:
        return any(map(moment.holds, (section.title, *section.ids)))
    form = joined(term.term)
    return not term.generic and (
        any(joined(one) == form for one in section.ids)
        or not set(whole_forms(term)).isdisjoint(text_tokens(section.title))
    )


def odd_surfaces(zone: ZoneDescriptor) -> Iterable[SkippedSurface]:
    """Yield what is no readable regular file; those past orient's limit as one row."""
    for entry in zone.odd_entries:
        yield SkippedSurface(path=entry.path, reason=_ODD[entry.kind], detail=f"{entry.kind}, not read")
    rest = zone.working_state.other_entries - len(zone.odd_entries)
    if rest > 0:
        detail = "further entries that are no regular files"
        yield SkippedSurface(path=f"./** ({rest})", reason=SkipReason.NOT_REGULAR, detail=detail, count=rest)


def unsearched(plan: ProbePlan, results: Sequence[ProbeResult], shown: set[str]) -> Iterable[SkippedSurface]:
    """Yield what no probe reaches, what one could not search, and what those would reach that did not run."""
    told = set(shown)
    for one in plan.unreached:
        told.add(one.path)
        yield SkippedSurface(path=one.path, reason=one.reason, detail=one.detail, count=one.count)
    for result in results:
        for error in result.errors:
            path, _, detail = error.rpartition(": ")
            yield SkippedSurface(path=path, reason=_reason(detail), detail=f"{result.probe_id}: {detail}")
    ran = {result.probe_id for result in results}
    told |= {path for probe in plan.probes if probe.probe_id in ran for path in probe.target_set}
    wave = max((probe.wave for probe in plan.probes if probe.probe_id in ran), default=0)
    for probe in plan.probes:
        for path in probe.target_set:
            if path not in told:
                told.add(path)
                detail = (
                    f"{probe.probe_id} would reach it, and did not have to run: the criteria held after wave {wave}"
                )
                yield SkippedSurface(path=path, reason=SkipReason.CRITERIA_MET, detail=detail)


def _reason(detail: str) -> SkipReason:
    word = detail.split(" ", 1)[0]
    return SkipReason(word) if word in set(SkipReason) else SkipReason.UNREADABLE


def folded(skipped: Iterable[SkippedSurface], most: int) -> tuple[SkippedSurface, ...]:
    """Return one row a path and reason, by reason and path; past ``most`` of a reason, rows a folder that add up."""
    by_reason: dict[SkipReason, dict[str, SkippedSurface]] = defaultdict(dict)
    for one in skipped:
        by_reason[one.reason].setdefault(one.path, one)
    rows: list[SkippedSurface] = []
    for reason in sorted(by_reason):
        found = [by_reason[reason][path] for path in sorted(by_reason[reason])]
        if len(found) > most:
            folders = by_folder(((one.path, one.count) for one in found), most)
            found = [
                SkippedSurface(path=path, reason=reason, detail=f"{count} surfaces", count=count)
                for path, count in folders
            ]
        rows += found
    return tuple(rows)


def by_folder(found: Iterable[tuple[str, int]], most: int) -> list[tuple[str, int]]:
    """Return paths with their counts as at most ``most`` rows ``dir/** (n)`` with theirs, as deep as that allows."""
    folders: Counter[str] = Counter()
    for path, count in found:
        folders[path.rpartition("/")[0]] += count
    depth = max((folder.count("/") + 1 for folder in folders), default=0)
    while True:
        counts: Counter[str] = Counter()
        for folder, count in folders.items():
            counts["/".join(folder.split("/")[:depth]) or "."] += count
        if len(counts) <= most or depth == 0:
            return [(f"{folder}{_BELOW}{count})", count) for folder, count in sorted(counts.items())]
        depth -= 1
