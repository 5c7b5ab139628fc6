"""Stage 5: the settled basket becomes declared, bounded probes.

Drafts are made family by family; families take turns, within their quotas, until the level's
number of probes is reached. Each target set is cut by the dry run's counts before the probe is
declared, and what was cut or not declared is recorded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from rtch.limits import FanoutBudget, PlanLimits
from rtch.models.base import canonical_json
from rtch.models.basket import Basket
from rtch.models.intake import AcceptedIntake, Intake
from rtch.models.inventory import Survey
from rtch.models.plan import CostEstimate, DroppedProbe, PlanCaution, Probe, ProbePlan, Unreached
from rtch.models.tree import Listing
from rtch.models.vocab import CautionFlag, FanoutLevel, Origin, ProbeFamily, Scope, SkipReason, TargetProfile
from rtch.models.zone import ZoneDescriptor
from rtch.pairing import settled
from rtch.path_words import PathWords
from rtch.rank import Ranker
from rtch.scope import paths_in_scope, paths_of_time
from rtch.stages.desk import Desk
from rtch.stages.drafts import Draft, Field, drafts_for
from rtch.stages.skipping import by_folder

TRIED = 10
"""How many targets are tried for each that a probe may have."""


def plan(
    accepted: AcceptedIntake,
    listing: Listing,
    zone: ZoneDescriptor,
    survey: Survey,
    cost: CostEstimate,
    limits: PlanLimits,
    desk: Desk,
) -> ProbePlan:
    """Declare every probe before any runs.

    Returns:
        At most the level's number of probes, by wave; the files ranked before probing; what was
        dropped; and the probes that would be legal next.
    """
    intake = accepted.intake
    budget = limits.fanout[intake.fanout_level]
    del desk
    terms = settled(survey.basket, cost, limits.words)
    paths = tuple(listing.files())
    ranker = Ranker(PathWords(paths), terms, cost, survey.files, dict(survey.rarity))
    governed = zone.rungs and intake.target_profile is TargetProfile.MANIFEST_REGISTRY
    standing = {one.path: one.why for one in zone.registries} if governed else {}
    ranked = ranker.candidates(limits.priors[intake.target_profile], limits.max_candidates, standing)
    allowed = paths_in_scope(intake.scope, paths, terms.terms, survey.files)
    timely = paths_of_time(intake, paths, terms.terms, cost)
    if timely:
        allowed = timely if allowed is None else allowed & timely
    everywhere = Field(intake, zone, survey, terms, cost, paths, ranked, None)
    field = everywhere
    if allowed is not None:
        field = everywhere._replace(ranked=tuple(one for one in ranked if one.path in allowed), allowed=allowed)
    chosen, dropped = _take_turns(drafts_for(field, budget, limits), budget)
    sizes = dict(zip(listing.paths, listing.sizes, strict=True))
    lines = {cost.paths[i]: count for i, count in cost.lines}
    cutter = _Cutter(intake, (sizes, lines), budget, limits)
    probes, impossible = cutter.declare(chosen)
    spare = [one for found in cutter.declare(dropped) for one in found]
    rests = cutter.rests(chosen)
    beyond = [] if allowed is None else drafts_for(everywhere, budget, limits)
    outside = () if allowed is None else cutter.outside(beyond, allowed)
    legal = (*impossible, *spare, *rests, *outside)
    read_budget = intake.read_budget or budget.read_budget_lines
    return ProbePlan(
        plan_id="rtch_plan_" + _digest(probes),
        fanout_level=intake.fanout_level,
        max_probes=budget.max_probes,
        probes=probes,
        remaining_probes=budget.max_probes - len(probes),
        dropped=tuple(
            DroppedProbe(
                family=draft.family, input_terms=draft.texts, why="the level's probes or the family's quota are used up"
            )
            for draft in dropped
        )
        + tuple(_shut_out(terms, intake.fanout_level, budget)),
        next_legal_probes=legal[: budget.max_probes],
        next_legal_probes_cut=max(0, len(legal) - budget.max_probes),
        predicted_files=len({path for probe in probes for path in probe.target_set}),
        predicted_bytes=sum(probe.predicted_bytes for probe in probes),
        predicted_lines=sum(probe.predicted_lines for probe in probes),
        read_budget_lines=read_budget,
        surface_cap=intake.surface_cap or budget.surfaces,
        basket=terms,
        candidates=field.ranked[: limits.max_candidates],
        pulls=ranker.pulls(),
        admitted=tuple(origin for origin in Origin if origin in budget.origins),
        unreached=_unreached(_unsearched(cost, survey), probes, (chosen, dropped, beyond), limits.max_unreached),
        cautions=tuple(_cautions(cost, zone)),
    )


def _digest(probes: Sequence[Probe]) -> str:
    return hashlib.sha256(canonical_json([probe.model_dump(mode="json") for probe in probes])).hexdigest()[:16]


def _take_turns(drafts: Sequence[Draft], budget: FanoutBudget) -> tuple[list[Draft], list[Draft]]:
    """Let each family declare one probe a round, in the order in which the families were drafted."""
    queues: dict[ProbeFamily, list[Draft]] = {}
    for draft in drafts:
        queues.setdefault(draft.family, []).append(draft)
    chosen: list[Draft] = []
    for turn in range(max(map(len, queues.values()), default=0)):
        for family, queue in queues.items():
            if turn < min(len(queue), budget.quotas.get(family, 1)) and len(chosen) < budget.max_probes:
                chosen.append(queue[turn])
    dropped = [draft for draft in drafts if draft not in chosen]
    order = {id(draft): place for place, draft in enumerate(drafts)}
    return sorted(chosen, key=lambda draft: (draft.wave, order[id(draft)])), dropped


def _shut_out(terms: Basket, level: FanoutLevel, budget: FanoutBudget) -> Iterable[DroppedProbe]:
    """Yield what is not looked for because the level admits no term of its origin."""
    families = {Origin.CAUTION: ProbeFamily.CAUTION, Origin.REF_NEIGHBORHOOD: ProbeFamily.REFERENCE}
    for origin in Origin:
        texts = tuple(term.term for term in terms.terms if term.origin is origin)
        if texts and origin not in budget.origins:
            family = families.get(origin, ProbeFamily.EXPLICIT_SEED)
            yield DroppedProbe(family=family, input_terms=texts, why=f"{level} admits no {origin} term")


class _Cutter:
    """Cuts target sets to what the cost rule allows and turns drafts into probes, numbered as they come."""

    def __init__(
        self,
        intake: Intake,
        known: tuple[Mapping[str, int], Mapping[str, int]],
        budget: FanoutBudget,
        limits: PlanLimits,
    ) -> None:
        """Take the sizes of all files, and the lines of those where they were counted."""
        self._sizes, self._counted = known
        self._limits = limits
        self._budget = budget
        self._wide = intake.fanout_level is FanoutLevel.WIDE
        self._scope = "zone" if intake.scope is None else intake.scope.value
        self._made = 0

    def declare(self, drafts: Iterable[Draft]) -> tuple[tuple[Probe, ...], tuple[Probe, ...]]:
        """Return the probes that can run, and those whose targets cannot be cut small enough."""
        probes: list[Probe] = []
        impossible: list[Probe] = []
        for draft in drafts:
            kept = self._cut(draft.targets)
            made = self._probe(draft, kept or draft.targets[:1])
            (probes if kept else impossible).append(made)
        return tuple(probes), tuple(impossible)

    def rests(self, drafts: Iterable[Draft]) -> tuple[Probe, ...]:
        """Return probes over the targets that were cut off, for a later run."""
        rests: list[Probe] = []
        for draft in drafts:
            kept = frozenset(self._cut(draft.targets))
            rest = [path for path in draft.targets if path not in kept]
            if kept and rest:
                rests.append(self._probe(draft, self._cut(rest) or rest[:1]))
        return tuple(rests)

    def outside(self, drafts: Iterable[Draft], allowed: AbstractSet[str]) -> tuple[Probe, ...]:
        """Return probes over what lies out of scope."""
        probes: list[Probe] = []
        for draft in drafts:
            beyond = tuple(path for path in draft.targets if path not in allowed)
            if beyond:
                made = self._probe(replace(draft, targets=beyond), self._cut(beyond) or beyond[:1])
                probes.append(made.model_copy(update={"scope": Scope.BROAD.value}))
        return tuple(probes)

    def _cut(self, targets: Sequence[str]) -> tuple[str, ...]:
        """Return the best targets that fit; one that is too long for the rest leaves room for shorter ones.

        A term may stand in every file of a large tree: what comes far behind is not tried any more.
        """
        files = self._limits.wide_target_files if self._wide else self._limits.target_files
        lines = 0
        kept: list[str] = []
        for tried, path in enumerate(targets):
            if len(kept) == files or (kept and tried >= TRIED * files):
                break
            if self._wide or lines + self._lines(path) <= self._limits.target_lines:
                lines += self._lines(path)
                kept.append(path)
        return tuple(kept)

    def _lines(self, path: str) -> int:
        counted = self._counted.get(path)
        return self._sizes.get(path, 0) // self._limits.bytes_per_line + 1 if counted is None else counted

    def _probe(self, draft: Draft, kept: Sequence[str]) -> Probe:
        self._made += 1
        return Probe(
            probe_id=f"rtch_probe_{self._made}",
            family=draft.family,
            type=draft.type,
            wave=draft.wave,
            purpose=draft.purpose,
            input_terms=draft.texts,
            terms=draft.terms,
            target_set=tuple(sorted(kept)),
            targets_cut=len(draft.targets) - len(kept),
            scope=self._scope,
            expected_signal=draft.expected_signal,
            limitation=draft.limitation,
            claim_authority=draft.authority,
            predicted_files=len(kept),
            predicted_bytes=sum(self._sizes.get(path, 0) for path in kept),
            predicted_lines=sum(map(self._lines, kept)),
            read_budget_lines=self._budget.read_budget_lines,
            termination="every target searched once, or the probe's limit of hits or seconds",
        )


def _unsearched(cost: CostEstimate, survey: Survey) -> tuple[Unreached, ...]:
    """Return what the dry run could not search, and files that turned out to be no text."""
    binary = SkipReason.BINARY
    found = {
        one.path: Unreached(path=one.path, reason=binary, detail=one.detail)
        for one in survey.unread
        if one.reason is binary
    }
    found |= {one.path: one for one in cost.unsearched}
    return tuple(found[path] for path in sorted(found))


def _unreached(
    unsearched: tuple[Unreached, ...],
    probes: Iterable[Probe],
    drafts: tuple[Iterable[Draft], Iterable[Draft], Iterable[Draft]],
    most: int,
) -> tuple[Unreached, ...]:
    """Return what was not searched, and what some draft would look at and no probe does.

    Of ``drafts`` the first were declared, the second not, and the last go out of scope.
    """
    found = list(unsearched)
    told = {path for probe in probes for path in probe.target_set} | {one.path for one in unsearched}
    chosen, dropped, beyond = drafts
    for reason, detail, some in (
        (SkipReason.TARGET_CUT, "holds a term, and no declared probe reaches it", (*chosen, *dropped)),
        (SkipReason.OUT_OF_SCOPE, "holds a term, and lies out of scope", beyond),
    ):
        left = sorted({path for draft in some for path in draft.targets} - told)
        told.update(left)
        rows = [(path, 1) for path in left]
        rows = rows if len(rows) <= most else by_folder(rows, most)
        found += (Unreached(path=path, reason=reason, detail=detail, count=count) for path, count in rows)
    return tuple(found)


def _cautions(cost: CostEstimate, zone: ZoneDescriptor) -> Iterable[PlanCaution]:
    if cost.timed_out:
        yield PlanCaution(
            flag=CautionFlag.TIMEOUT, path=".", note="the cost dry run ran out of time; counts are incomplete"
        )
    if not zone.capabilities.git:
        yield PlanCaution(
            flag=CautionFlag.TOOL_FAILED, path=".", note="git was not found; the tree was listed without it"
        )
