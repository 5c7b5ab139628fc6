"""The sidecar vocabulary becomes the canonical one, and its level is stepped down where it is not legal.

The dialect is chosen by an ``intent:`` block or by asking for it, never guessed from the words used. Its five
fields stand in the block; canonical fields that it has no word for may stand beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rtch.legality import ceiling_of, legal_levels
from rtch.models.intake import Intake
from rtch.models.vocab import Dialect, ExpectedOutput, FanoutLevel, MutationRisk, Scope, TargetProfile
from rtch.plain_data import Path, Problem, shown

CAP_SENTENCE = "the surface cap is reached or the read budget is spent"
"""The halting definition of a sidecar request, which has no field for one."""

BLOCK = "intent"

PROFILES: Mapping[str, Scope] = {"narrow": Scope.NARROW, "mixed": Scope.ADJACENT, "broad": Scope.BROAD}
FANOUTS: Mapping[str, tuple[FanoutLevel, int]] = {
    "conservative": (FanoutLevel.CONSERVATIVE, 3),
    "moderate": (FanoutLevel.NORMAL, 7),
    "aggressive": (FanoutLevel.WIDE, 15),
}
"""The level and the most surfaces; the cap stays when the level is stepped down."""
RISKS: Mapping[str, MutationRisk] = {
    "read_only": MutationRisk.READ_ONLY,
    "local_mutation": MutationRisk.LOW_MUTATION,
    "cross_repo_mutation": MutationRisk.HIGH_MUTATION,
}

WORDS: Mapping[str, tuple[str, ...]] = {
    "profile": tuple(PROFILES),
    "fanout": tuple(FANOUTS),
    "mutation_risk": tuple(RISKS),
}
"""The words of each closed field of the block."""
FIELDS: tuple[str, ...] = ("goal", "seeds", *WORDS)
REQUIRED: tuple[str, ...] = ("goal", *WORDS)
CANONICAL: Mapping[str, str] = {
    "goal": "goal",
    "seeds": "explicit_seeds",
    "profile": "scope",
    "fanout": "fanout_level",
    "mutation_risk": "mutation_risk",
}
"""Where a field of the block ends up."""
FLAG_FIELDS: Mapping[str, str] = {
    "goal": "goal",
    "explicit_seeds": "seeds",
    "target_profile": "profile",
    "fanout_level": "fanout",
    "mutation_risk": "mutation_risk",
}
"""Which field of the block a flag sets, by the canonical field that it sets otherwise."""
BESIDE: tuple[str, ...] = (
    "expected_output",
    "enough_evidence_definition",
    "enough_evidence",
    "known_target",
    "forbidden_assumptions",
    "known_neighbor_surfaces",
    "read_budget",
    "investigation",
)
"""Canonical fields that may stand beside the block."""


class Translation(NamedTuple):
    """Canonical fields, what is wrong with the words they came from, and where the person wrote each."""

    fields: dict[str, object]
    problems: tuple[Problem, ...]
    written_as: dict[str, Path]


def uses_sidecar(fields: Mapping[str, object], asked: Dialect | None) -> bool:
    """Say whether a request is in the sidecar vocabulary."""
    return asked is Dialect.SIDECAR or (asked is None and BLOCK in fields)


def translate(block: Mapping[str, object], beside: Mapping[str, object], where: Path) -> Translation:
    """Translate the block's known fields; a closed field that is absent or wrong is left out.

    Args:
        block: the five fields, or some of them.
        beside: canonical fields that stand beside the block; they win over what the dialect sets.
        where: the path of the block, for messages.
    """
    problems: list[Problem] = []
    fields: dict[str, object] = {
        "target_profile": TargetProfile.MIXED.value,
        "expected_output": ExpectedOutput.HYDRATION_PACKET.value,
        "enough_evidence_definition": CAP_SENTENCE,
    }
    fields |= {name: value for name, value in beside.items() if value is not None or name not in fields}
    fields |= {CANONICAL[name]: block[name] for name in ("goal", "seeds") if name in block}
    fields["dialect"] = Dialect.SIDECAR.value
    for name, words in WORDS.items():
        value = block.get(name)
        if isinstance(value, str) and value in words:
            fields |= _canonical(name, value)
        elif value is not None and value != "":
            problems.append(
                Problem((*where, name), f"must be one of {', '.join(words)}, found {shown(value)}", _hint(value))
            )
    return Translation(fields, tuple(problems), {CANONICAL[name]: (*where, name) for name in FIELDS})


def _canonical(name: str, word: str) -> dict[str, object]:
    match name:
        case "profile":
            return {"scope": PROFILES[word].value}
        case "fanout":
            level, cap = FANOUTS[word]
            return {"fanout_level": level.value, "surface_cap": cap}
        case _:
            return {"mutation_risk": RISKS[word].value}


def _hint(value: object) -> str:
    canonical = {member.value for words in (TargetProfile, FanoutLevel, MutationRisk) for member in words}
    if isinstance(value, str) and value in canonical:
        return "that word is the tactical dialect's; the intent block has its own"
    return ""


def step_down(intake: Intake) -> Intake:
    """Return a sidecar intake with a legal level; one that was stepped down says so in its notes, and keeps its cap."""
    if intake.dialect is not Dialect.SIDECAR or intake.fanout_level in legal_levels(intake):
        return intake
    top = ceiling_of(intake)
    note = f"fanout_level was stepped down from {intake.fanout_level.value} to {top.level.value}: {top.because}"
    return intake.model_copy(update={"fanout_level": top.level, "notes": (*intake.notes, note)})
