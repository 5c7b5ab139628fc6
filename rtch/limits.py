"""The numbers and word lists that bound each stage, read once from ``config/``.

Each stage has a record of its own, so that an edit to one stage's numbers leaves the artifacts of
the others in the store. The reason for each number stands beside it in the YAML.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field, ValidationError

from rtch.errors import IntakeError
from rtch.keys import logic_digest
from rtch.layout import Layout, layout, packaged_layout
from rtch.masking import names_digest
from rtch.models.base import Digest, Record
from rtch.models.features import FeatureLimits
from rtch.models.ledgers import LedgerRules
from rtch.models.patterns import Patterns
from rtch.models.vocab import FanoutLevel, FileRole, Origin, ProbeFamily, TargetProfile
from rtch.models.zone import RungKind
from rtch.plain_data import shown
from rtch.tic_words import packaged_words, tic_digest, tic_words

if TYPE_CHECKING:
    from rtch.store import Store

CONFIG = Path(__file__).parent / "config"
"""The packaged files. Not by importlib.resources: that costs more than to read them."""

Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, le=1)]
Seconds = Annotated[float, Field(gt=0)]
Priors = dict[TargetProfile, dict[FileRole, Share]]
"""A factor for each role of a file, a profile."""


class OrientLimits(Record):
    """What orient takes for a truth file, manifest or registry, and how much it keeps."""

    truth_names: tuple[str, ...]
    registry_words: tuple[str, ...]
    manifest_names: tuple[str, ...]
    root_marker: str
    markers: dict[str, RungKind]
    audit_folders: tuple[str, ...]
    rung_documents: tuple[str, ...]
    ledgers: tuple[str, ...]
    """Where a rung's ledger may lie, as patterns relative to the rung."""
    max_truth_files: Positive
    max_registries: Positive
    max_odd_entries: Positive
    max_parents: Positive
    max_marker_bytes: Positive


class ScoutLimits(Record):
    """How much of a tree's shape scout keeps."""

    max_directories: Positive


class Words(Record):
    """Which words are weak, and which say nothing."""

    generic: tuple[str, ...]
    generic_share: Share
    generic_min_files: Positive
    stop: str


class BasketLimits(Record):
    """How many terms, and how they are judged."""

    tic_words: Digest
    """Of the words by which a time is told."""
    max_terms: Positive
    max_variants: Positive
    words: Words


class CostLimits(Record):
    """The ceiling of the counting pass."""

    tic_words: Digest
    """Of the words by which a time is told."""
    max_lines_per_file: Positive
    max_file_bytes: Positive
    count_lines_bytes: Positive
    timeout_s: Seconds
    secret_names: Digest
    """Of the rules by which a file is not searched because of its name."""


class SurveyLimits(Record):
    """How many files are looked into, and how much of each."""

    tic_words: Digest
    """Of the words by which a time is told."""
    max_files: dict[FanoutLevel, Positive]
    max_file_bytes: Positive
    max_places: Positive
    max_problems: Positive
    max_marked: Positive
    max_unread: Positive
    features: FeatureLimits = FeatureLimits()
    patterns: Patterns
    words: Words
    priors: Priors


class FanoutBudget(Record):
    """What a level may spend: probes, lines, surfaces, and each family's share of the probes."""

    max_probes: Positive
    read_budget_lines: Positive
    surfaces: Positive
    quotas: dict[ProbeFamily, Positive]
    origins: tuple[Origin, ...]


class PlanLimits(Record):
    """Target sets, levels and the profiles' priors."""

    tic_words: Digest
    """Of the words by which a time is told."""
    target_files: Positive
    target_lines: Positive
    wide_target_files: Positive
    bytes_per_line: Positive
    max_candidates: Positive
    max_unreached: Positive
    terms_per_probe: Positive
    words: Words
    fanout: dict[FanoutLevel, FanoutBudget]
    priors: Priors


class ProbeLimits(Record):
    """What one probe may take."""

    tic_words: Digest
    """Of the words by which a time is told."""
    max_lines_per_file: Positive
    max_hits: Positive
    timeout_s: Seconds
    workers: Positive


class HydrateLimits(Record):
    """Sizes of chunks and of what surrounds them."""

    tic_words: Digest
    """Of the words by which a time is told."""
    window_lines: Positive
    stretch_lines: Positive
    full_windows: Positive
    glimpse_lines: Positive
    chunks_per_file: Positive
    whole_file_lines: Positive
    whole_target_lines: Positive
    phrase_lines: Positive
    max_file_bytes: Positive
    max_line_bytes: Positive
    max_skipped_rows: Positive
    max_parse_bytes: Positive
    parse_budget_bytes: Positive
    quote_chars: Positive
    ledgers: LedgerRules
    secret_names: Digest
    """Of the rules by which a file is not read because of its name."""


class PacketLimits(Record):
    """What the packet keeps."""

    ttl_tics: Positive
    max_questions: Positive


class ChainLimits(Record):
    """How much of each document of a doctrine chain is read and shown."""

    max_chars: Positive
    whole_bytes: Positive
    document_head: Share
    ledger_head: Share


class DriftLimits(Record):
    """How far the checks of an investigation look beyond its packet."""

    max_documents: Positive
    max_document_bytes: Positive
    max_truth_bytes: Positive
    max_copies: Positive
    max_copy_bytes: Positive
    max_findings: Positive
    timeout_s: Seconds
    survey: SurveyLimits
    """How a file is looked into, so that what a question noted of it serves here too."""


class IntakeLimits(Record):
    """The intake stage has no number of its own."""


class JudgeLimits(Record):
    """Judging has no number of its own."""


class Limits(Record):
    """All of them; a stage is given its own alone."""

    intake: IntakeLimits = IntakeLimits()
    orient: OrientLimits
    scout: ScoutLimits
    basket: BasketLimits
    cost: CostLimits
    survey: SurveyLimits
    plan: PlanLimits
    probe: ProbeLimits
    judge: JudgeLimits = JudgeLimits()
    hydrate: HydrateLimits
    packet: PacketLimits
    drift: DriftLimits
    chain: ChainLimits


def config_yaml(name: str) -> Any:
    """Return a packaged YAML file of ``config/`` as plain values."""
    import yaml  # noqa: PLC0415  15 ms that the trivial commands do not need

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((CONFIG / name).read_bytes(), Loader=loader)  # noqa: S506  a safe loader, in C where built


@lru_cache(maxsize=1)
def load_limits() -> Limits:
    """Read the packaged defaults.

    Raises:
        IntakeError: a packaged file does not have the declared shape.
    """
    values = config_yaml("defaults.yaml")
    words = config_yaml("words.yaml")
    values["hydrate"]["ledgers"] = config_yaml("ledgers.yaml")
    values["orient"] |= _names_of(packaged_layout())
    values["cost"]["secret_names"] = values["hydrate"]["secret_names"] = names_digest()
    for stage in _TIMED:
        values[stage]["tic_words"] = tic_digest(packaged_words())
    values["basket"]["words"] = words
    ranked = {"words": words, "priors": config_yaml("profiles.yaml")}
    values["survey"] |= ranked | {"patterns": config_yaml("patterns.yaml")}
    values["drift"]["survey"] = values["survey"]
    values["plan"] |= ranked | {"fanout": config_yaml("fanout.yaml")}
    return parse_limits(values)


def with_layout(limits: Limits) -> Limits:
    """Return limits with the names of the user's own layout.

    Raises:
        IntakeError: the user's layout file is wrong.
    """
    names = layout()
    if names is packaged_layout():
        return limits
    orient = json.loads(limits.orient.canonical()) | _names_of(names)
    return limits.model_copy(update={"orient": OrientLimits.parse(json.dumps(orient))})


_TIMED = ("basket", "cost", "survey", "plan", "probe", "hydrate")
"""Stages whose results follow from what a tic is called."""


def with_tic_words(limits: Limits) -> Limits:
    """Return limits with the digest of the user's own words for tics.

    Raises:
        IntakeError: the user's file is wrong.
    """
    digest = tic_digest(tic_words())
    if digest == limits.basket.tic_words:
        return limits
    changed = {stage: getattr(limits, stage).model_copy(update={"tic_words": digest}) for stage in _TIMED}
    drift = limits.drift.model_copy(update={"survey": changed["survey"]})
    return limits.model_copy(update={**changed, "drift": drift})


def _names_of(names: Layout) -> dict[str, Any]:
    return {
        "root_marker": names.root_marker,
        "markers": dict(names.markers),
        "audit_folders": names.audit_folders,
        "rung_documents": names.documents,
        "ledgers": names.ledgers,
    }


def recalled_limits(store: Store) -> Limits:
    """Return the packaged defaults; JSON that a store keeps of these very files is read without a reader of YAML."""
    hasher = hashlib.sha256(logic_digest().encode())
    for path in sorted((*CONFIG.glob("*.yaml"), *CONFIG.glob("*.json"))):
        hasher.update(hashlib.sha256(path.read_bytes()).digest())
    name = f"limits/{hasher.hexdigest()}"
    kept = store.get_blob(name)
    if kept is not None:
        with contextlib.suppress(ValidationError):
            return Limits.parse(kept)
    limits = load_limits()
    store.set_blob(name, limits.canonical())
    return limits


def parse_limits(values: object) -> Limits:
    """Check plain values against the shape of ``Limits``."""
    try:
        return Limits.parse(json.dumps(values))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise IntakeError(f"configuration value {where} is wrong: {first['msg']}") from error


_TIGHTEN = frozenset({"orient", "scout", "basket", "cost", "survey", "plan", "probe", "hydrate", "packet", "drift"})


def tightened(limits: Limits, zone_values: object, *, source: str) -> Limits:
    """Return ``limits`` as a zone's own configuration may change them: words added, numbers lowered.

    Args:
        limits: what is in force.
        zone_values: the parsed ``.rtch.yaml``: ``{generic: [...], stop: [...], limits: {stage: {name: number}}}``.
        source: the file's name, for messages.

    Raises:
        IntakeError: an unknown key, or a number above the one in force.
    """
    if zone_values is None:
        return limits
    if not isinstance(zone_values, dict):
        raise IntakeError(f"{source} must be a mapping of generic, stop and limits")
    unknown = sorted(str(key) for key in zone_values.keys() - {"generic", "stop", "limits"})
    if unknown:
        raise IntakeError(f"{source} has the unknown key {unknown[0]}", hint="known are generic, stop and limits")
    dump = json.loads(limits.canonical())
    generic, stop = (_words(zone_values, name, source) for name in ("generic", "stop"))
    for words in (dump[stage]["words"] for stage in ("basket", "survey", "plan")):
        words["generic"] += generic
        words["stop"] = " ".join([words["stop"], *stop])
    stages = zone_values.get("limits") or {}
    if not isinstance(stages, dict):
        raise IntakeError(f"{source}: limits must be a mapping of stages", hint="limits: {hydrate: {window_lines: 20}}")
    for stage, numbers in stages.items():
        _tighten(dump, cast("str", stage), numbers, source)
    return parse_limits(dump)


def _words(zone_values: dict[Any, Any], name: str, source: str) -> list[str]:
    words = zone_values.get(name) or []
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise IntakeError(f"{source}: {name} must be a list of words", hint=f"{name}: [word, other]")
    return [word.strip().lower() for word in words if word.strip()]


def _shown(value: object) -> str:
    """Return a value as a message shows it; a list may be short to write and endless to print."""
    return repr(value) if isinstance(value, int | float) else shown(value)


def _tighten(dump: dict[str, Any], stage: str, numbers: object, source: str) -> None:
    if stage not in _TIGHTEN or not isinstance(numbers, dict):
        raise IntakeError(f"{source}: limits.{stage} is no stage", hint="known are " + ", ".join(sorted(_TIGHTEN)))
    for name, value in numbers.items():
        old = dump[stage].get(name)
        if isinstance(old, bool) or not isinstance(old, int | float):
            raise IntakeError(f"{source}: limits.{stage}.{name} is no number of that stage")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= old:
            raise IntakeError(
                f"{source}: limits.{stage}.{name} is {_shown(value)}",
                hint=f"a zone may only tighten it, from {old} down",
            )
        dump[stage][name] = value
