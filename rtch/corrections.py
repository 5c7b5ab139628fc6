"""Corrections of ledger rows: which are authorised, which take the place of others, and in which order they apply.

A correction is a row of its own (envelope v1) that names a record, the surface it lies on and a merge patch
(RFC 7396). What cannot be resolved is no correction and not nothing either: it holds the surface that it names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rtch.models.ledgers import HoldReason, LedgerRules

ENVELOPE_VERSION = 1
CONSEQUENCES = frozenset({"informational", "interpretive", "operational", "publication_blocking"})
MAX_DEPTH = 60
"""Nesting of a patch that is followed; deeper, the record is replaced as a whole."""


class CorrectionRow(NamedTuple):
    """A row that says it corrects another one, and where it stands."""

    source: str
    line: int
    row: dict[str, Any]


class Correction(NamedTuple):
    """An authorised correction."""

    correction_id: str
    record_id: str
    surface: str
    order: tuple[int, str, str]
    patch: dict[str, Any]
    supersedes: tuple[str, ...]
    source: str
    line: int


class Unresolved(NamedTuple):
    """Why a surface is held: the row at fault, and the record that it is about."""

    surface: str
    record_id: str
    reason: HoldReason
    detail: str
    source: str
    line: int


class Resolved(NamedTuple):
    """What corrections come to: those that apply to a (surface, record), in their order, and what is held."""

    chains: dict[tuple[str, str], list[Correction]]
    held: list[Unresolved]


def is_correction(row: Mapping[str, Any], rules: LedgerRules) -> bool:
    """Tell whether a row says that it corrects another one."""
    return row.get("type") == rules.correction_type or row.get("action") in rules.legacy_actions


def merged(target: Any, patch: Any, depth: int = 0) -> Any:
    """Return what a merge patch makes of a value (RFC 7396); neither is changed."""
    if not isinstance(patch, dict) or depth > MAX_DEPTH:
        return patch
    found = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value, depth + 1)
    return found


def resolve(rows: Iterable[CorrectionRow], rules: LedgerRules, has_receipt: Callable[[str, str], bool]) -> Resolved:
    """Sort corrections out.

    Args:
        rows: every row that says it corrects another one.
        rules: the words.
        has_receipt: whether a path is a receipt in the zone for the correction of an id.
    """
    held: list[Unresolved] = []
    known: dict[str, list[Correction]] = defaultdict(list)
    ended: dict[str, list[CorrectionRow]] = defaultdict(list)
    for found in rows:
        state = found.row.get("lifecycle_state")
        migrated = found.row.get("type") == rules.correction_type
        if migrated and state in rules.proposed_states:
            continue
        if migrated and state in rules.ended_states:
            ended[_text(found.row, "correction_id")].append(found)
            continue
        made = _correction(found, rules, has_receipt) if migrated else _fault(found, HoldReason.LEGACY, "no envelope")
        if isinstance(made, Unresolved):
            held.append(made)
        else:
            known[made.correction_id].append(made)
    alone: dict[str, Correction] = {}
    for name, some in known.items():
        times = len(some) + len(ended.get(name, ()))
        if times == 1:
            alone[name] = some[0]
            continue
        held += [_of(one, HoldReason.DUPLICATE, f"correction {name} is given {times} times") for one in some]
    held += _chain_faults(alone, ended)
    broken = {(one.surface, one.record_id) for one in held}
    gone = {name for one in alone.values() for name in one.supersedes}
    chains: dict[tuple[str, str], list[Correction]] = defaultdict(list)
    for one in sorted(alone.values(), key=lambda one: one.order):
        if one.correction_id not in gone and (one.surface, one.record_id) not in broken:
            chains[one.surface, one.record_id].append(one)
    return Resolved(dict(chains), held)


def _chain_faults(alone: Mapping[str, Correction], ended: Collection[str]) -> list[Unresolved]:
    """Return what is wrong with what corrections say they take the place of."""
    found = []
    for one in alone.values():
        for name in one.supersedes:
            other = alone.get(name)
            if other is None and name in ended:
                continue
            if other is None:
                found.append(_of(one, HoldReason.MISSING_SUPERSEDED, f"supersedes {name}, which no ledger has"))
            elif (other.surface, other.record_id) != (one.surface, one.record_id):
                found.append(_of(one, HoldReason.MISSING_SUPERSEDED, f"supersedes {name}, which is of another record"))
    found += [_of(alone[name], HoldReason.CYCLE, f"correction {name} supersedes itself") for name in _cyclic(alone)]
    return found


def _cyclic(alone: Mapping[str, Correction]) -> Sequence[str]:
    """Return the corrections from which ``supersedes`` never comes to an end, by taking away those where it does."""
    left = {name: {other for other in one.supersedes if other in alone} for name, one in alone.items()}
    before: dict[str, list[str]] = defaultdict(list)
    for name, others in left.items():
        for other in others:
            before[other].append(name)
    ready = [name for name, others in left.items() if not others]
    while ready:
        done = ready.pop()
        del left[done]
        for name in before[done]:
            left[name].discard(done)
            if not left[name]:
                ready.append(name)
    return sorted(left)


def _correction(
    found: CorrectionRow, rules: LedgerRules, has_receipt: Callable[[str, str], bool]
) -> Correction | Unresolved:
    row = found.row
    fault = _envelope_fault(row) or _authority_fault(row, rules, has_receipt)
    if fault:
        return _fault(found, HoldReason.UNAUTHORISED, fault)
    return Correction(
        correction_id=row["correction_id"],
        record_id=row["target_record_id"],
        surface=row["target_surface"],
        order=(row["effective_tic"], row["effective_at"], row["correction_id"]),
        patch=row["patch"],
        supersedes=tuple(dict.fromkeys(row["supersedes"])),
        source=found.source,
        line=found.line,
    )


_TEXTS = ("correction_id", "target_record_id", "target_surface", "literal_correction", "reason", "effective_at")


def _envelope_fault(row: Mapping[str, Any]) -> str:
    """Return what is wrong with the form of an envelope; empty where nothing is."""
    tic, supersedes, source = row.get("effective_tic"), row.get("supersedes"), row.get("source")
    checks = {
        "schema_version": row.get("schema_version") == ENVELOPE_VERSION and row["schema_version"] is not True,
        **{name: bool(_text(row, name)) for name in _TEXTS},
        "effective_tic": isinstance(tic, int) and not isinstance(tic, bool) and tic >= 0,
        "consequence_class": _text(row, "consequence_class") in CONSEQUENCES,
        "patch": isinstance(row.get("patch"), dict) and bool(row["patch"]),
        "supersedes": isinstance(supersedes, list) and all(isinstance(one, str) for one in supersedes),
        "reversible": isinstance(row.get("reversible"), bool),
        "source": isinstance(source, dict) and all(_text(source, name) for name in ("repository", "commit", "surface")),
    }
    return next((f"{name} is missing or wrong" for name, fits in checks.items() if not fits), "")


def _authority_fault(row: Mapping[str, Any], rules: LedgerRules, has_receipt: Callable[[str, str], bool]) -> str:
    state, authority = _text(row, "lifecycle_state"), row.get("authority")
    if state not in rules.effective_states:
        return "its lifecycle_state is none that is known"
    if not isinstance(authority, dict) or _text(authority, "authority_class") not in rules.authority_classes:
        return "it bears no authority of a class that may correct"
    if not _text(authority, "author_id") or not _text(authority, "authorization_ref"):
        return "its authority names no author or authorization"
    found = has_receipt(_text(row, "receipt_path"), _text(row, "correction_id"))
    return "" if found else "no receipt that names it lies in the zone"


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _fault(found: CorrectionRow, reason: HoldReason, detail: str) -> Unresolved:
    """Return the hold of a row that is no correction: of the surface it names, or of its own where it names none."""
    surface = _text(found.row, "target_surface") or found.source
    return Unresolved(surface, _text(found.row, "target_record_id"), reason, detail, found.source, found.line)


def _of(one: Correction, reason: HoldReason, detail: str) -> Unresolved:
    return Unresolved(one.surface, one.record_id, reason, detail, one.source, one.line)
