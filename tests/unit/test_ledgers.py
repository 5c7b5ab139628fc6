"""Which row of an id counts, and which rows it overtook."""

from __future__ import annotations

import json

import pytest

from rtch.ledgers import Overtaken, overtaken, standing_of
from rtch.own_words import load_rules
from rtch.text import LineIndex

RULES = load_rules()


def _ledger(*rows: tuple[str, str]) -> bytes:
    return b"".join(json.dumps({"id": name, "status": status}).encode() + b"\n" for name, status in rows)


def _told(data: bytes, *lines: int) -> list[tuple[int, int]]:
    return [(one.row.line, one.by.line) for one in overtaken(data, LineIndex(data), lines, RULES)]


def test_the_last_row_of_an_id_counts() -> None:
    data = _ledger(("a", "extracted"), ("b", "extracted"), ("a", "promoted"))
    assert _told(data, 1, 2, 3) == [(1, 3)]


def test_what_is_terminal_is_not_revived_by_a_pending_row() -> None:
    data = _ledger(("a", "extracted"), ("a", "promoted"), ("a", "extracted"))
    assert _told(data, 1, 2, 3) == [(1, 2), (3, 2)]


def test_a_terminal_row_gives_way_to_another_terminal_one_and_to_unknown_words() -> None:
    assert _told(_ledger(("a", "promoted"), ("a", "superseded")), 1, 2) == [(1, 2)]
    assert _told(_ledger(("s", "resolved"), ("s", "active")), 1, 2) == [(1, 2)]


def test_a_suspended_row_is_terminal_only_while_it_is_the_last() -> None:
    assert _told(_ledger(("a", "extracted"), ("a", "deferred")), 1, 2) == [(1, 2)]
    assert _told(_ledger(("a", "deferred"), ("a", "extracted")), 1, 2) == [(1, 2)]


@pytest.mark.parametrize("broken", [b"{not json", b"[1, 2]", b'"text"', b"", b"\xff\xfe", b'{"id": 7, "status": "x"}'])
def test_a_row_that_cannot_be_read_has_no_standing_and_leaves_the_others_theirs(broken: bytes) -> None:
    data = _ledger(("a", "extracted")) + broken + b"\n" + _ledger(("a", "promoted"))
    assert _told(data, 1, 2, 3, 99) == [(1, 3)]


def test_a_torn_tail_is_no_row() -> None:
    assert _told(_ledger(("a", "extracted")) + b'{"id": "a", "status": "promo', 1) == []
    assert _told(_ledger(("a", "extracted")) + b'{"id": "a", "status": "promoted"}', 1) == [(1, 2)]


def test_an_id_that_another_one_begins_with_is_another_id() -> None:
    data = _ledger(("cpr_a", "extracted"), ("cpr_a_tic2", "promoted"))
    assert _told(data, 1, 2) == []


def test_an_id_in_other_letters_is_found_either_way_it_is_escaped() -> None:
    rows = [{"id": "prüfung", "status": "extracted"}, {"id": "prüfung", "status": "promoted"}]
    raw = [json.dumps(row, ensure_ascii=bool(n)).encode() for n, row in enumerate(rows)]
    assert _told(b"\n".join(raw) + b"\n", 1) == [(1, 2)]


def test_other_fields_are_configuration() -> None:
    rules = RULES.model_copy(update={"id_fields": ("key",), "status_fields": ("state",), "terminal": ("closed",)})
    data = b'{"key": "k", "state": "open"}\n{"key": "k", "state": "closed"}\n'
    assert [one.by.status for one in overtaken(data, LineIndex(data), [1], rules)] == ["closed"]
    assert list(overtaken(data, LineIndex(data), [1], RULES)) == []


def test_a_large_ledger_is_looked_at_from_its_end_and_says_so() -> None:
    rules = RULES.model_copy(update={"tail_bytes": 100})
    data = _ledger(("a", "extracted"), *((f"n{n}", "extracted") for n in range(50)), ("a", "promoted"))
    (found,) = overtaken(data, LineIndex(data), [1], rules)
    assert isinstance(found, Overtaken)
    assert (found.by.line, found.partial) == (52, True)


def test_a_corrected_row_stands_as_what_it_was_corrected_to() -> None:
    raw = b'{"type": "effective_record_view", "effective_record": {"id": "a", "status": "rejected"}}'
    found = standing_of(raw, 4, RULES)
    assert found is not None
    assert (found.record_id, found.status) == ("a", "rejected")
