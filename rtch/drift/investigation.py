"""One investigation: a saved question is asked again, and the answer held against its baseline.

Its steps are in ``_look``, in order. Whichever engine runs them is the caller's choice, by a runner. An
investigation never raises for what is wrong with a question or its zone: it ends as ``failed`` and says why, for
others are waiting behind it, and a run that failed must not look like one that was not asked for.
"""

from __future__ import annotations

import getpass
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

from rtch import packet_history, packets
from rtch.drift import baselines
from rtch.drift.cited import cited
from rtch.drift.compared import compared
from rtch.drift.judging import EXIT_CODES, added, counted, judged, status_of
from rtch.drift.provenance import new_copies, stands_in, with_new_names, with_provenance
from rtch.drift.questions import Question
from rtch.effective import View
from rtch.entry import Options, enter, leave, now
from rtch.errors import ArtifactError, IntakeError, JudgementError, RtchError
from rtch.jobs import Runner, settle
from rtch.models.baseline import Baseline, HistoryRow, Suppression
from rtch.models.drift import (
    BaselineRef,
    Checked,
    DriftCounts,
    DriftKind,
    DriftReport,
    DriftStatus,
    Finding,
    Investigation,
    Level,
    NotJudged,
)
from rtch.models.packet import Findings, Packet
from rtch.models.vocab import Engine
from rtch.pipeline import CHECKS, Check, Run
from rtch.session import Session, findings_of, open_session, sealed
from rtch.verification import verify
from rtch.version import VERSION

log = logging.getLogger("rtch.drift")

RunnerOf = Callable[[Session], Runner]
INTERRUPTED = 130
FIRST_LOOK = "the first run took it, for there was no earlier packet of this question"
FROM_PACKET = "the newest packet of this question when it was first investigated"
_GONE = frozenset({DriftKind.DELETED, DriftKind.RENAMED, DriftKind.RELOCATED})
_COME = frozenset({DriftKind.RENAMED, DriftKind.RELOCATED})


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is wanted of an investigation besides looking."""

    fail_on: Level = Level.WARNING
    accept: str = ""
    """A reason; empty accepts nothing."""
    only: tuple[str, ...] = ()
    """The ids of the findings that are accepted or suppressed; none are all."""
    suppress: Suppression | None = None
    by: str = ""
    """Who asks; the user's name where it is empty."""


def investigate(  # noqa: PLR0913  what, where, by which engine, and what for
    question: Question,
    options: Options,
    runner_of: RunnerOf,
    *,
    engine: Engine = Engine.DIRECT,
    flow_run: tuple[str, str] = ("", ""),
    wishes: Wishes = Wishes(),
) -> Investigation:
    """Ask a saved question again and say what drifted; the run is noted in the question's history.

    Args:
        question: what is asked, of which zone.
        options: how it is carried out; its root gives way to the question's.
        runner_of: the engine's runner for an open session.
        engine: what it is.
        flow_run: a Prefect flow run's id and address.
        wishes: what to accept or suppress, and what fails.
    """
    started, clock = now(), time.perf_counter()
    place = question.root or options.root
    # The question itself, and what an earlier baseline or report says of the tree, is no part of it.
    own = (
        *options.own_outputs,
        question.source,
        question.beside,
        *(() if question.baseline is None else (question.baseline,)),
    )
    options = replace(options, root=place, own_outputs=own)
    root: Path | None = None

    def ended(why: str, exit_code: int) -> Investigation:
        where = root or place or Path.cwd()
        return failed(question.saved, where, why, exit_code, goal=question.intake.goal)

    def noted(made: Investigation) -> Investigation:
        wall_ms = round((time.perf_counter() - clock) * 1000, 3)
        run = {"started_at": started, "wall_ms": wall_ms, "flow_run_id": flow_run[0], "flow_run_url": flow_run[1]}
        made = made.model_copy(update=run)
        try:
            baselines.note(question, root, _history_row(made))
        except ArtifactError as error:
            log.warning("the run is not noted in the history: %s", error)
        return made

    try:
        entry = enter(question.intake, options)
        root = entry.choice.root
        with baselines.held(question, root):
            session = open_session(entry)
            made = _Investigator(question, session, runner_of(session), wishes).investigation(engine, flow_run)
        leave(entry)
    except RtchError as error:
        return noted(ended(str(error), error.exit_code))
    except (KeyboardInterrupt, SystemExit):
        noted(ended("it was broken off by a signal", INTERRUPTED))
        raise
    return noted(made)


def report_of(investigations: Sequence[Investigation]) -> DriftReport:
    """Return the report of some investigations."""
    codes = [one.exit_code for one in investigations]
    failures = [one.exit_code for one in investigations if one.status is DriftStatus.FAILED]
    code = 1 if 1 in codes else max(failures, default=0) or (7 if 7 in codes else 0)
    return DriftReport(rtch_version=VERSION, investigations=tuple(investigations), exit_code=code)


def user_name() -> str:
    """Return who is asking, as the system knows them; empty where it does not."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return str(os.getuid())


class _Looked(NamedTuple):
    """What one look at the tree gave."""

    found: tuple[Finding, ...]
    checked: DriftCounts
    not_judged: tuple[NotJudged, ...]
    blind: bool


class _Investigator:
    def __init__(self, question: Question, session: Session, runner: Runner, wishes: Wishes) -> None:
        self.question = question
        self.session = session
        self.root = session.choice.root
        self.run: Run = session.run_with(runner)
        self.wishes = wishes
        self.by = wishes.by or user_name()
        self.place = question.baseline_place(self.root)

    def investigation(self, engine: Engine, flow_run: tuple[str, str]) -> Investigation:
        """Look, judge, and accept what is asked to be."""
        baseline = baselines.read(self.place)
        earlier = () if baseline is not None else packet_history.entries(roots=(self.root,))
        findings = findings_of(self.session, self.run)
        packet = sealed(self.session, self.run, findings, engine, flow_run=flow_run)
        taken = False
        if baseline is None:
            baseline, taken = self._first(packet, earlier)
        self._check_question(baseline, packet)
        packets.remember(packet)
        if self.wishes.suppress is not None:
            baseline = baselines.with_suppression(baseline, self.wishes.suppress)
            baselines.write(self.place, baseline)
        looked = self._look(baseline, packet)
        if self.wishes.accept:
            baseline = self._accepted(baseline, packet, looked)
            looked, taken = self._look(baseline, packet), False
        elif taken:
            # What is there when a baseline is taken is part of it: only what comes later is new.
            baseline = self._keep(baseline, looked.found, baseline.reason)
        return self._judged(baseline, packet, looked, taken=taken)

    def _first(self, packet: Packet, earlier: Sequence[packet_history.Entry]) -> tuple[Baseline, bool]:
        """Take the baseline of a question that has none: the newest earlier packet, else this one."""
        known = baselines.newest_of(packet, earlier)
        reason = FIRST_LOOK if known is None else FROM_PACKET
        baseline = baselines.taken(self.question, known or packet, by=self.by, reason=reason, at=now())
        baselines.write(self.place, baseline)
        return baseline, known is None

    def _check_question(self, baseline: Baseline, packet: Packet) -> None:
        if self.wishes.accept and not self.wishes.only:
            return
        before, after = (one.intake.model_copy(update={"notes": ()}) for one in (baseline.packet, packet))
        if before != after:
            raise JudgementError(
                f"the baseline {self.place} is of another question than {self.question.source} asks now",
                hint="--accept REASON takes a new one",
            )

    def _look(self, baseline: Baseline, packet: Packet) -> _Looked:
        """Return all that drifted, before anything is known of what was accepted."""
        before = baseline.packet
        verification = verify(before, root=self.root)
        lines = cited(before, verification, self.root, is_there=lambda path: stands_in(self.session.workspace, path))
        checks = self._checks(before, packet)
        found = with_new_names(_told_once([*lines.findings, *(one for each in checks for one in each.findings)]))
        found = new_copies(found, self.session, before)
        found = [_uncorrected(one, self.session.workspace.view) for one in found]
        explained = {one.at.path for one in found if one.kind in _GONE}
        explained |= {one.now.path for one in found if one.kind in _COME and one.now is not None}
        found += compared(before, packet, explained=explained)
        chunks = len(verification.chunks) - len(lines.not_judged)
        surfaces = len({one.path for each in (before, packet) for one in each.selected_surfaces})
        counts = added([DriftCounts(chunks=chunks, surfaces=surfaces), *(each.counts for each in checks)])
        left = (*lines.not_judged, *(row for each in checks for row in each.not_judged))
        return _Looked(
            tuple(found), counts, left, blind=bool(lines.not_judged) or any(each.findings_cut for each in checks)
        )

    def _checks(self, before: Packet, after: Packet) -> list[Checked]:
        refs = [self.run.put(_findings(one)) for one in (before, after)]
        tree = self.run.put(self.session.workspace.listing)

        def made_by(check: Check) -> Checked:
            return settle(lambda: self.run.stage(check, refs[0], refs[1], tree, reads=None), self.session.store)[1]

        return [made_by(check) for check in CHECKS]

    def _accepted(self, baseline: Baseline, packet: Packet, looked: _Looked) -> Baseline:
        """Accept single findings as they are; or everything, by which the packet of now is the baseline."""
        reason, only = self.wishes.accept, set(self.wishes.only)
        known = {one.finding_id for one in looked.found}
        missing = sorted(only - known)
        if missing:
            raise IntakeError(f"{missing[0]} is no finding of {self.question.saved} now", hint="rtch drift shows them")
        if not only:
            made = baselines.taken(self.question, packet, by=self.by, reason=reason, at=now())
            baseline = made.model_copy(update={"suppressions": baseline.suppressions})
            looked = self._look(baseline, packet)
        return self._keep(baseline, [one for one in looked.found if not only or one.finding_id in only], reason)

    def _keep(self, baseline: Baseline, found: Sequence[Finding], reason: str) -> Baseline:
        rows = [baselines.accepted(one, reason=reason, by=self.by, at=now()) for one in found]
        baseline = baselines.with_accepted(baseline, rows)
        baselines.write(self.place, baseline)
        return baseline

    def _judged(self, baseline: Baseline, packet: Packet, looked: _Looked, *, taken: bool) -> Investigation:
        found = judged(looked.found, baseline, today=today(), complete=not looked.blind)
        found = with_provenance(found, self.session, baseline.packet)
        fail_on = self.wishes.fail_on
        counts = counted(found, looked.checked, not_judged=len(looked.not_judged), fail_on=fail_on)
        status = status_of(counts, taken=taken, blind=looked.blind)
        return Investigation(
            saved=self.question.saved,
            goal=self.question.intake.goal,
            zone_name=self.root.name,
            zone_root=baselines.shown_root(self.root),
            status=status,
            fail_on=fail_on,
            baseline=BaselineRef(
                packet_id=baseline.packet.packet_id,
                taken_at=baseline.taken_at,
                taken_by=baseline.taken_by,
                reason=baseline.reason,
                place=baselines.shown_root(self.place),
            ),
            packet_id=packet.packet_id,
            commit=packet.run.commit,
            findings=found,
            counts=counts,
            not_judged=looked.not_judged,
            exit_code=EXIT_CODES[status],
            started_at="",
        )


def _told_once(found: Sequence[Finding]) -> list[Finding]:
    """Return findings without the verdict on a chunk of which it is known that it stands in another file now."""
    elsewhere = {one.chunk_id for one in found if one.kind is DriftKind.RELOCATED}
    verdicts = {DriftKind.DELETED, DriftKind.EDITED}
    return [one for one in found if one.kind not in verdicts or one.chunk_id not in elsewhere]


def _uncorrected(found: Finding, view: View) -> Finding:
    """Return a finding without the captured text of a ledger that is shown otherwise than it was written."""
    path = found.at.path
    hidden = view.replaces(path) or view.withheld(path) is not None
    return found.model_copy(update={"captured": ""}) if hidden and found.captured else found


def _findings(packet: Packet) -> Findings:
    """Return a packet's findings alone: what a check follows from, and no record of a run."""
    return Findings(**{name: getattr(packet, name) for name in Findings.model_fields})


def failed(saved: str, root: Path, why: str, exit_code: int, *, goal: str = "") -> Investigation:
    """Return the investigation of a question that did not come to its end, or could not even be asked."""
    return Investigation(
        saved=saved,
        goal=goal,
        zone_name=root.name,
        zone_root=baselines.shown_root(root),
        status=DriftStatus.FAILED,
        baseline=None,
        failure=why,
        exit_code=exit_code,
        started_at=now(),
    )


def _history_row(made: Investigation) -> HistoryRow:
    return HistoryRow(
        at=made.started_at,
        saved=made.saved,
        zone_root=made.zone_root,
        status=made.status,
        packet_id=made.packet_id,
        baseline_packet_id="" if made.baseline is None else made.baseline.packet_id,
        commit=made.commit,
        counts=made.counts,
        new=tuple(one.finding_id for one in made.findings if one.counts),
        failure=made.failure,
        exit_code=made.exit_code,
        flow_run_id=made.flow_run_id,
        wall_ms=made.wall_ms,
    )


def today() -> date:
    """Return the day, in UTC."""
    return datetime.now(UTC).date()
