"""Literal models for tests of single stages, each with what the test does not care about filled in."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # tests are no package: siblings are found beside this file

from driving import plant

sys.path.pop(0)

from rtch.limits import Limits, load_limits
from rtch.models.base import Record
from rtch.models.basket import Basket, Place, Term, TermShape
from rtch.models.intake import Intake
from rtch.models.inventory import ShapeInventory, Survey
from rtch.models.plan import (
    Candidate,
    CostEstimate,
    Hit,
    Probe,
    ProbePlan,
    ProbeResult,
    ProbeTerm,
    ScorePart,
    TermHits,
)
from rtch.models.tree import Listing
from rtch.models.vocab import (
    ClaimAuthority,
    EntryKind,
    ExpectedOutput,
    FanoutLevel,
    MutationRisk,
    Origin,
    ProbeFamily,
    ProbeType,
    TargetProfile,
    Use,
)
from rtch.models.zone import Capabilities, Surroundings, ZoneDescriptor
from rtch.sight import RACY_NS
from rtch.stages.desk import Desk
from rtch.store import MemoryStore, Store
from rtch.workspace import open_workspace

__all__ = ["plant"]


def intake_of(**fields: Any) -> Intake:
    """Return an intake; what is not given is as plain as can be."""
    plain: dict[str, Any] = {
        "goal": "Where is settle defined",
        "target_profile": TargetProfile.CODE_PATH,
        "fanout_level": FanoutLevel.NORMAL,
        "mutation_risk": MutationRisk.READ_ONLY,
        "expected_output": ExpectedOutput.HYDRATION_PACKET,
        "enough_evidence_definition": "it is enough when it is enough",
    }
    return Intake(**plain | fields)


def limits_with(**changed: Mapping[str, Any]) -> Limits:
    """Return the packaged limits with some numbers of some stages changed."""
    limits = load_limits()
    parts: dict[str, Record] = {}
    for stage, numbers in changed.items():
        before: Record = getattr(limits, stage)
        assert numbers.keys() <= type(before).model_fields.keys(), f"{stage} has no such number"
        parts[stage] = before.model_copy(update=dict(numbers))
    return limits.model_copy(update=parts)


def term(text: str, **fields: Any) -> Term:
    """Return a goal word that nothing knows."""
    plain: dict[str, Any] = {
        "shape": TermShape.WORD,
        "origin": Origin.EXPLORATORY,
        "use": Use.EXPLORATORY,
        "weight": 1.0,
    }
    return Term(term=text, **plain | fields)


def seed(text: str, **fields: Any) -> Term:
    """Return an explicit seed."""
    plain: dict[str, Any] = {"shape": TermShape.SEED, "origin": Origin.EXPLICIT_SEED, "use": Use.HYDRATE, "weight": 0.5}
    return Term(term=text, **plain | fields)


def probe_term(text: str = "settle", **fields: Any) -> ProbeTerm:
    """Return an explicit seed as a probe searches it."""
    plain: dict[str, Any] = {
        "spellings": (text,),
        "origin": Origin.EXPLICIT_SEED,
        "use": Use.HYDRATE,
        "pull": 1.0,
    }
    return ProbeTerm(term=text, **plain | fields)


def place(path: str, shape: Origin, *, line: int | None = 1, name: str = "name") -> Place:
    """Return a place where the inventory knows a term from."""
    return Place(path=path, line=line, shape=shape, name=name)


def basket_of(*terms: Term) -> Basket:
    """Return a basket of terms."""
    return Basket(terms=terms)


def cost_of(counts: Mapping[str, Mapping[str, int]], *, terms: Iterable[str] = (), searched: int = 0) -> CostEstimate:
    """Return the estimate of counts: path to term to count."""
    named = tuple(dict.fromkeys([*terms, *(one for found in counts.values() for one in found)]))
    paths = tuple(sorted(counts))
    hits = tuple(
        TermHits(
            tuple(i for i, path in enumerate(paths) if counts[path].get(text)),
            tuple(counts[path][text] for path in paths if counts[path].get(text)),
        )
        for text in named
    )
    return CostEstimate(
        terms=named,
        paths=paths,
        sizes=(1000,) * len(paths),
        hits=hits,
        files_searched=searched or len(counts),
        bytes_searched=1000 * len(counts),
    )


def listing_of(*paths: str, size: int = 1000) -> Listing:
    """Return a listing of regular files."""
    ordered = tuple(sorted(paths))
    return Listing(paths=ordered, kinds=(EntryKind.FILE,) * len(ordered), sizes=(size,) * len(ordered))


def inventory_of(**fields: Any) -> ShapeInventory:
    """Return an inventory that saw nothing but what is given."""
    return ShapeInventory(**{"directories": (), "roles": (), "scans": ()} | fields)


def survey_of(basket: Basket | None = None, **fields: Any) -> Survey:
    """Return a survey that looked into nothing but what is given."""
    plain: dict[str, Any] = {"files": (), "rarity": (), "files_beyond": 0, "scans": ()}
    return Survey(basket=basket or basket_of(), **plain | fields)


def surroundings_of(**fields: Any) -> Surroundings:
    """Return the surroundings of a folder outside git."""
    plain: dict[str, Any] = {
        "zone_root": ".",
        "root_marker": "none",
        "vcs": "none",
        "capabilities": Capabilities(rg="14.1.0", git="2.40"),
    }
    return Surroundings(**plain | fields)


def zone_of(**fields: Any) -> ZoneDescriptor:
    """Return the descriptor of a folder in which nothing stands out."""
    from rtch.models.zone import WorkingState  # noqa: PLC0415  used here alone

    plain: dict[str, Any] = {
        "zone_name": "",
        "zone_root": ".",
        "root_marker": "none",
        "listing_fingerprint": "0" * 64,
        "working_state": WorkingState(
            vcs="none", listed_by="git", files=0, directories=0, other_entries=0, size_bytes=0
        ),
        "capabilities": Capabilities(rg="14.1.0", git="2.40"),
    }
    return ZoneDescriptor(**plain | fields)


def desk_of(root: Path, files: Mapping[str, str | bytes] | None = None) -> Desk:
    """Write files below a root and return a stage's view of it."""
    plant(root, files or {})
    return Desk(open_workspace(root), MemoryStore())


def probe_of(*targets: str, **fields: Any) -> Probe:
    """Return a probe for a seed in some files."""
    plain: dict[str, Any] = {
        "probe_id": "rtch_probe_1",
        "family": ProbeFamily.EXPLICIT_SEED,
        "type": ProbeType.GREP,
        "wave": 1,
        "purpose": "find where the seeds stand",
        "terms": (probe_term(),),
        "target_set": targets,
        "scope": "zone",
        "expected_signal": "the seed",
        "limitation": "a spelling is no proof",
        "claim_authority": ClaimAuthority.CLAIM_SUPPORTING,
        "predicted_files": len(targets),
        "predicted_bytes": 0,
        "predicted_lines": 0,
        "read_budget_lines": 2000,
        "termination": "every target searched once",
    }
    made = plain | fields
    return Probe(input_terms=tuple(one.term for one in made["terms"]), **made)


def plan_of(**fields: Any) -> ProbePlan:
    """Return a plan without probes."""
    plain: dict[str, Any] = {
        "plan_id": "rtch_plan_0",
        "fanout_level": FanoutLevel.NORMAL,
        "max_probes": 12,
        "probes": (),
        "remaining_probes": 12 - len(fields.get("probes", ())),
        "predicted_files": 0,
        "predicted_bytes": 0,
        "predicted_lines": 0,
        "read_budget_lines": 2000,
        "surface_cap": 20,
        "basket": basket_of(),
    }
    return ProbePlan(**plain | fields)


def hit_of(path: str, line: int, text: str = "settle", **fields: Any) -> Hit:
    """Return a place where a term stands."""
    plain: dict[str, Any] = {"byte_offset": 0, "matched": text}
    return Hit(path=path, line=line, term=text, **plain | fields)


def result_of(*hits: Hit, **fields: Any) -> ProbeResult:
    """Return what a probe found."""
    plain: dict[str, Any] = {
        "probe_id": "rtch_probe_1",
        "files_searched": len({hit.path for hit in hits}),
        "bytes_searched": 0,
        "hit_count": len(hits),
    }
    return ProbeResult(hits=hits, **plain | fields)


def candidate(path: str, score: float = 1.0, name: str = "text.body") -> Candidate:
    """Return a ranked file."""
    return Candidate(path=path, score=score, parts=(ScorePart(name=name, value=score),))


def settled_desk(root: Path, store: Store) -> Desk:
    """Return a stage's view of a folder that is old enough for its time stamps to be trusted."""
    settle_down(root)
    return Desk(open_workspace(root), store)


def settle_down(root: Path) -> None:
    """Wait until nothing in a folder was changed so recently that its time stamps prove nothing."""
    newest = max((path.lstat().st_ctime_ns for path in (root, *root.rglob("*"))), default=0)
    time.sleep(max(0.0, (newest + RACY_NS - time.time_ns()) / 1e9 + 0.002))
