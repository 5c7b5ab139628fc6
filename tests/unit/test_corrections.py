"""Which corrections apply, in which order, and which hold the surface that they name."""

from __future__ import annotations

from typing import Any

import pytest
from driving import corpus

from rtch.corrections import CorrectionRow, Resolved, merged, resolve
from rtch.models.ledgers import HoldReason
from rtch.own_words import load_rules

RULES = load_rules()
CORRECTIONS = corpus("zone_corrections")
SURFACE = "audit-logs/cprs/queue.jsonl"
AT = "audit-logs/corrections/corrections.jsonl"


def _row(name: str = "rc_one", **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = CORRECTIONS.correction("cpr_a", SURFACE, {"lesson": "new"}, correction_id=name, **more)
    return row


def _resolved(*rows: dict[str, Any], receipts: bool = True) -> Resolved:
    return resolve([CorrectionRow(AT, n, row) for n, row in enumerate(rows, 1)], RULES, lambda *_: receipts)


def _applied(found: Resolved) -> dict[tuple[str, str], list[str]]:
    return {key: [one.correction_id for one in chain] for key, chain in found.chains.items()}


def _reasons(found: Resolved) -> set[tuple[str, HoldReason]]:
    return {(one.surface, one.reason) for one in found.held}


def test_an_authorised_correction_applies() -> None:
    found = _resolved(_row())
    assert (_applied(found), found.held) == ({(SURFACE, "cpr_a"): ["rc_one"]}, [])


def test_corrections_apply_by_tic_time_and_id_wherever_they_stand() -> None:
    rows = [
        _row("rc_d", effective_tic=9, effective_at="2025-01-02T00:00:00Z"),
        _row("rc_b", effective_tic=9, effective_at="2025-01-01T00:00:00Z"),
        _row("rc_c", effective_tic=9, effective_at="2025-01-01T00:00:00Z"),
        _row("rc_z", effective_tic=8),
    ]
    assert _applied(_resolved(*rows))[SURFACE, "cpr_a"] == ["rc_z", "rc_b", "rc_c", "rc_d"]


@pytest.mark.parametrize(
    "more",
    [
        {"lifecycle_state": "final"},
        {"lifecycle_state": 7},
        {"authority": None},
        {"authority": {"author_id": "a", "authority_class": "guest", "authorization_ref": "r"}},
        {"authority": {"author_id": "", "authority_class": "maintainer", "authorization_ref": "r"}},
        {"schema_version": 2},
        {"schema_version": True},
        {"effective_tic": -1},
        {"effective_tic": "9"},
        {"patch": {}},
        {"patch": []},
        {"supersedes": "rc_zero"},
        {"source": {"repository": "a"}},
        {"consequence_class": "grave"},
        {"reversible": "yes"},
        {"correction_id": ""},
    ],
)
def test_what_only_claims_to_be_authorised_holds_its_surface(more: dict[str, Any]) -> None:
    found = _resolved(_row() | more)
    assert (_applied(found), _reasons(found)) == ({}, {(SURFACE, HoldReason.UNAUTHORISED)})


def test_a_receipt_that_is_not_in_the_zone_authorises_nothing() -> None:
    assert _reasons(_resolved(_row(), receipts=False)) == {(SURFACE, HoldReason.UNAUTHORISED)}


@pytest.mark.parametrize("state", ["proposed", "superseded", "revoked"])
def test_what_is_proposed_or_over_changes_nothing(state: str) -> None:
    assert _resolved(_row(lifecycle_state=state)) == Resolved({}, [])


def test_what_takes_the_place_of_another_is_applied_alone() -> None:
    found = _resolved(_row("rc_one"), _row("rc_two", supersedes=["rc_one"]))
    assert (_applied(found), found.held) == ({(SURFACE, "cpr_a"): ["rc_two"]}, [])


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([_row("rc_one"), _row("rc_one", reason="again")], HoldReason.DUPLICATE),
        ([_row("rc_one"), _row("rc_one", lifecycle_state="revoked")], HoldReason.DUPLICATE),
        ([_row("rc_one", supersedes=["rc_none"])], HoldReason.MISSING_SUPERSEDED),
        ([_row("rc_one", supersedes=["rc_two"]), _row("rc_two", supersedes=["rc_one"])], HoldReason.CYCLE),
        ([_row("rc_one", supersedes=["rc_one"])], HoldReason.CYCLE),
        ([{"action": "record_correction", "target_surface": SURFACE}], HoldReason.LEGACY),
    ],
)
def test_a_chain_without_an_end_holds_its_surface_and_no_other(rows: list[dict[str, Any]], reason: HoldReason) -> None:
    other = _row("rc_other") | {"target_surface": "audit-logs/b.jsonl"}
    found = _resolved(*rows, other)
    assert (_applied(found), _reasons(found)) == (
        {("audit-logs/b.jsonl", "cpr_a"): ["rc_other"]},
        {(SURFACE, reason)},
    )


def test_a_correction_of_another_record_is_not_superseded() -> None:
    rows = [_row("rc_one") | {"target_record_id": "cpr_b"}, _row("rc_two", supersedes=["rc_one"])]
    assert _reasons(_resolved(*rows)) == {(SURFACE, HoldReason.MISSING_SUPERSEDED)}


def test_a_row_that_names_no_surface_holds_its_own() -> None:
    row = _row()
    del row["target_surface"]
    assert _reasons(_resolved(row)) == {(AT, HoldReason.UNAUTHORISED)}


def test_a_long_chain_and_a_deep_patch_end() -> None:
    rows = [_row(f"rc_{n}", supersedes=[f"rc_{n - 1}"] if n else []) for n in range(5000)]
    assert _applied(_resolved(*rows)) == {(SURFACE, "cpr_a"): ["rc_4999"]}
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"a": deep}
    assert merged({}, deep)


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": "foo"}, "bar", "bar"),
    ],
)
def test_patches_merge_as_the_standard_says(target: Any, patch: Any, result: Any) -> None:
    """The cases of RFC 7396, appendix A."""
    before = repr(target)
    assert merged(target, patch) == result
    assert repr(target) == before
