"""Stage 5: the settled basket becomes declared, bounded probes.

Drafts are made family by family; families take turns, within their quotas, until the level's
number of probes is reached. Each target set is cut by the dry run's counts before the probe is
declared, and what was cut or not declared is recorded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from rtch.limits import FanoutBudget, PlanLimits
from rtch.models.base import canonical_json
from rtch.models.basket import Basket
from rtch.models.intake import AcceptedIntake
from rtch.models.inventory import ShapeInventory
from rtch.models.plan import CostEstimate, DroppedProbe, PlanCaution, Probe, ProbePlan
from rtch.models.tree import Listing
from rtch.models.vocab import CautionFlag, FanoutLevel, ProbeFamily
from rtch.models.zone import ZoneDescriptor
from rtch.pairing import settled
from rtch.rank import Ranker, facts_of, query_of
from rtch.scope import paths_in_scope
from rtch.stages.desk import Desk
from rtch.stages.drafts import Draft, Field, drafts_for


def plan(
    accepted: AcceptedIntake,
    listing: Listing,
    zone: ZoneDescriptor,
    inventory: ShapeInventory,
    basket: Basket,
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
    terms = settled(basket, cost, limits.words)
    facts = facts_of(desk.shards(inventory.shards), query_of(terms))
    paths = tuple(listing.files())
    ranker = Ranker(paths, terms, cost, facts)
    ranked = ranker.candidates(limits.priors[intake.target_profile], len(paths))
    allowed = paths_in_scope(intake.scope, paths, terms.terms, facts)
    if allowed is not None:
        ranked = tuple(one for one in ranked if one.path in allowed)
    field = Field(intake, zone, inventory, terms, cost, tuple(paths), ranked, allowed)
    drafts = drafts_for(field, budget, limits)
    chosen, dropped = _take_turns(drafts, budget)
    cutter = _Cutter(field, budget, limits)
    probes, impossible = cutter.declare(chosen)
    spare, _ = cutter.declare(dropped, first=len(probes) + 1)
    rests = cutter.rests(chosen, first=len(probes) + len(spare) + 1)
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
        ),
        next_legal_probes=(*impossible, *spare, *rests)[: budget.max_probes],
        predicted_files=len({path for probe in probes for path in probe.target_set}),
        predicted_bytes=sum(probe.predicted_bytes for probe in probes),
        predicted_lines=sum(probe.predicted_lines for probe in probes),
        read_budget_lines=read_budget,
        surface_cap=intake.surface_cap or budget.surfaces,
        basket=terms,
        candidates=ranked[: limits.max_candidates],
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


class _Cutter:
    """Cuts target sets to what the cost rule allows and turns drafts into probes."""

    def __init__(self, field: Field, budget: FanoutBudget, limits: PlanLimits) -> None:
        self._sizes: Mapping[str, int] = {file.path: file.size_bytes for file in field.cost.files}
        self._limits = limits
        self._budget = budget
        self._wide = field.intake.fanout_level is FanoutLevel.WIDE
        self._scope = "zone" if field.intake.scope is None else field.intake.scope.value

    def declare(self, drafts: Iterable[Draft], *, first: int = 1) -> tuple[tuple[Probe, ...], tuple[Probe, ...]]:
        """Return the probes that can run, and those whose targets cannot be cut small enough."""
        probes: list[Probe] = []
        impossible: list[Probe] = []
        for draft in drafts:
            kept = self._cut(draft.targets)
            made = self._probe(draft, kept or draft.targets[:1], first + len(probes) + len(impossible))
            (probes if kept else impossible).append(made)
        return tuple(probes), tuple(impossible)

    def rests(self, drafts: Iterable[Draft], *, first: int) -> tuple[Probe, ...]:
        """Return probes over the targets that were cut off, for a later run."""
        rests: list[Probe] = []
        for draft in drafts:
            kept = self._cut(draft.targets)
            rest = draft.targets[len(kept) :]
            if kept and rest:
                rests.append(self._probe(draft, self._cut(rest) or rest[:1], first + len(rests)))
        return tuple(rests)

    def _cut(self, targets: Sequence[str]) -> tuple[str, ...]:
        files = self._limits.wide_target_files if self._wide else self._limits.target_files
        lines, kept = 0, []
        for path in targets[:files]:
            lines += self._lines(path)
            if not self._wide and lines > self._limits.target_lines:
                break
            kept.append(path)
        return tuple(kept)

    def _lines(self, path: str) -> int:
        return self._sizes.get(path, 0) // self._limits.bytes_per_line + 1

    def _probe(self, draft: Draft, kept: Sequence[str], number: int) -> Probe:
        return Probe(
            probe_id=f"rtch_probe_{number}",
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


def _cautions(cost: CostEstimate, zone: ZoneDescriptor) -> Iterable[PlanCaution]:
    if cost.timed_out:
        yield PlanCaution(
            flag=CautionFlag.TIMEOUT, path=".", note="the cost dry run ran out of time; counts are incomplete"
        )
    elif cost.truncated:
        note = "the cost dry run reached its ceiling in some files; counts there are floors"
        yield PlanCaution(flag=CautionFlag.COST_CEILING, path=".", note=note)
    if not zone.capabilities.git:
        yield PlanCaution(
            flag=CautionFlag.TOOL_FAILED, path=".", note="git was not found; the tree was listed without it"
        )
