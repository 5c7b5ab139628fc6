"""What rungs say, as surfaces: a chain's documents in its order, and the ledger sections that an index leads to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from rtch.evidence import at_least
from rtch.ledger_index import IndexLine, LedgerSection, index_lines, ledger_of, ledger_sections, section_at
from rtch.models.chunk import SkippedSurface
from rtch.models.intake import Intake
from rtch.models.plan import Candidate, Hit, ProbeTerm, ScorePart
from rtch.models.vocab import ClaimAuthority, ConfidenceClass, Origin, SkipReason, TargetProfile, Use
from rtch.models.zone import ZoneDescriptor
from rtch.rungs import chain_of, documents_of
from rtch.stages.chunks import SourceFile
from rtch.stages.selecting import Found, Judging, Selection, Taken

INDEX = "rtch_index"
"""Stands for a probe where an index leads to a section of a ledger, or a rung to what it says."""
MOST_SECTIONS = 8
"""Sections that the indexes of one question lead to, best first; more would take the budget of what was hit."""
_SOURCED = ConfidenceClass.SOURCE_BEARING_HIT
_LEAST_PULL = 0.05
"""What a document of the chain pulls to its first line when no word of the goal stands in it."""


def chain_paths(intake: Intake, zone: ZoneDescriptor, listed: Collection[str]) -> tuple[str, ...]:
    """Return the documents of the chain that the intake asks for, lowest rung first; none for other profiles."""
    if intake.target_profile is not TargetProfile.DOCTRINE_CHAIN:
        return ()
    return tuple(path for path in documents_of(chain_of(zone.rungs, intake.known_target)) if path in listed)


def found_by_rung(paths: Iterable[str], *, of_a_path: bool) -> Iterator[tuple[str, Found]]:
    """Yield, of each document of a chain, that its rung leads to it.

    That says something of the subject only where the chain is that of a path which the intake names.
    """
    for path in paths:
        yield path, _found(path, 1, _LEAST_PULL, is_sourced=of_a_path)


def above_the_zone(intake: Intake, zone: ZoneDescriptor) -> Iterator[SkippedSurface]:
    """Yield the documents of the chain that lie above the zone root, where nothing is hydrated."""
    if intake.target_profile is TargetProfile.DOCTRINE_CHAIN:
        target = intake.known_target or "."
        for path in documents_of([rung for rung in zone.rungs if rung.path.startswith("..")]):
            detail = f"above the zone root; rtch chain {_quoted(target)} shows it"
            yield SkippedSurface(path=path, reason=SkipReason.OUTSIDE_ZONE, detail=detail)


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"


class _Lead(NamedTuple):
    """An entry of an index that was hit, and the ledger that it leads to, which says no more than the hits do."""

    pull: float
    is_sourced: bool
    document: str
    line: IndexLine
    ledger: str


class Indexes:
    """The indexes of a zone's rungs."""

    def __init__(self, zone: ZoneDescriptor, listed: Collection[str]) -> None:
        self._ledgers: dict[str, set[str]] = defaultdict(set)
        every = {path for rung in zone.rungs for path in rung.ledgers if path in listed}
        for rung in zone.rungs:
            for document in rung.documents:
                # An index may lead to a ledger of a rung above as well.
                self._ledgers[document] |= every

    def follow(self, taken: list[Taken], selection: Selection, judging: Judging, cap: int) -> list[SkippedSurface]:
        """Add the sections that hits in indexes lead to, to the ledgers that are taken or to ones taken for it.

        Returns:
            The ledgers for which no place was left, with the lines of the section.
        """
        leads = sorted(
            (lead for one in taken for lead in self._leads(one, judging)),
            key=lambda lead: (-lead.pull, lead.document, lead.line),
        )[:MOST_SECTIONS]
        share = {one.file.path: one.share for one in taken}
        places = {one.file.path: place for place, one in enumerate(taken)}
        without: list[SkippedSurface] = []
        sections: dict[str, tuple[LedgerSection, ...]] = {}
        for lead in leads:
            place = places.get(lead.ledger)
            file = taken[place].file if place is not None else selection.read(lead.ledger)
            if file is None:
                continue
            if lead.ledger not in sections:
                sections[lead.ledger] = ledger_sections(file.decoded.text.split("\n"))
            section = section_at(sections[lead.ledger], lead.line.anchor)
            if section is None:
                continue
            if place is None and len(taken) >= cap:
                where = f"L{section.start}-L{section.end} is what {lead.document}:L{lead.line.start} leads to"
                without.append(SkippedSurface(path=lead.ledger, reason=SkipReason.SURFACE_CAP, detail=where))
                continue
            if place is None:
                places[lead.ledger] = len(taken)
                taken.append(_taken(file, lead, share[lead.document], selection))
            taken[places[lead.ledger]].found.append(
                _found(lead.ledger, section.start, lead.pull, is_sourced=lead.is_sourced)
            )
        return without

    def _leads(self, one: Taken, judging: Judging) -> Iterator[_Lead]:
        ledgers = self._ledgers.get(one.file.path)
        if not ledgers:
            return
        pulls: dict[int, float] = defaultdict(float)
        sourced: set[int] = set()
        for found in one.found:
            if found.term.origin is not Origin.FILE_PATH:
                pulls[found.hit.line] += found.term.pull
                if at_least(judging.of_hit(found, read=True, truth=False), _SOURCED):
                    sourced.add(found.hit.line)
        for mark in one.marks:
            if mark.term is not None:
                pulls[mark.line] += mark.pull
                if at_least(judging.of_mark(mark.term, one.file.path), _SOURCED):
                    sourced.add(mark.line)
        for line in index_lines(one.file.decoded.text.split("\n")):
            numbers = range(line.start, line.end + 1)
            pull = sum(pulls.get(number, 0.0) for number in numbers)
            ledger = ledger_of(one.file.path, line.target, ledgers) if pull > 0 else None
            if ledger is not None:
                yield _Lead(pull, not sourced.isdisjoint(numbers), one.file.path, line, ledger)


def _taken(file: SourceFile, lead: _Lead, share: float, selection: Selection) -> Taken:
    because = f"{lead.document}:L{lead.line.start} leads to it"
    part = ScorePart(name="index", value=round(lead.pull, 6), because=because)
    candidate = Candidate(path=file.path, score=round(lead.pull, 6), parts=(part,))
    return Taken(file, [], selection.marks(file), candidate, share)


def _found(path: str, line: int, pull: float, *, is_sourced: bool) -> Found:
    use = Use.LOCATE if is_sourced else Use.PRESSURE
    term = ProbeTerm(term=path, spellings=(path,), origin=Origin.FILE_PATH, use=use, pull=round(pull, 6))
    hit = Hit(path=path, line=line, byte_offset=0, term=path, matched=path, structural=True)
    return Found(hit, term, INDEX, ClaimAuthority.SOURCE_BEARING)


def arranged(order: Sequence[str], chain: Sequence[str], cap: int, *, of_a_path: bool) -> list[str]:
    """Return paths by rank, every document of a chain among the first ``cap``; what ranks lower gets the last places.

    Args:
        order: paths by rank.
        chain: documents, lowest rung first.
        cap: how many are taken.
        of_a_path: the chain is that of one path, so its documents share their places in the chain's order; otherwise
            each keeps its own, for which rung is nearest to a question that names no place is not known.
    """
    speaking = [path for path in (chain if of_a_path else order) if path in set(chain) & set(order)]
    others = [path for path in order if path not in set(speaking)]
    ranks = sorted(order.index(path) for path in speaking)
    # Of the late ones, the last takes the last place below the cap, the one before it the place above, and so on.
    slots = [min(rank, max(cap, len(ranks)) - len(ranks) + number) for number, rank in enumerate(ranks)]
    for slot, path in zip(slots, speaking, strict=True):
        others.insert(slot, path)
    return others
