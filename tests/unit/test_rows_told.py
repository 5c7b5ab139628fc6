"""What is said of ledger rows beside their text."""

from __future__ import annotations

from rtch.ledgers import Overtaken, Standing
from rtch.stages.rows import overtaken_cautions


def _row(line: int, by: int, *, partial: bool = False) -> Overtaken:
    return Overtaken(Standing(line, f"cpr_{line}", "extracted"), Standing(by, f"cpr_{line}", "promoted"), partial)


def test_an_overtaken_row_is_told_of_with_the_row_that_counts_and_how_to_read_it() -> None:
    (caution,) = overtaken_cautions({"q.jsonl": [(1, _row(3, 9))]})
    assert (caution.path, caution.line) == ("q.jsonl", 3)
    assert caution.note == "cpr_3 is extracted here, and promoted by its row at L9: rtch read 'q.jsonl:L9-L9'"


def test_what_was_seen_of_a_large_ledger_is_said() -> None:
    (caution,) = overtaken_cautions({"q.jsonl": [(1, _row(3, 9, partial=True))]})
    assert "as far as the end of the file was looked at" in caution.note


def test_rows_that_were_hit_most_have_a_caution_each_and_the_others_one_with_all_lines() -> None:
    rows = [(9 if line == 40 else 1, _row(line, line + 100)) for line in range(1, 50)]
    *single, rest = overtaken_cautions({"q.jsonl": rows})
    assert [one.line for one in single] == [1, 2, 3, 4, 5, 40]
    assert rest.line is None
    assert rest.note.startswith("43 more rows that were hit are overtaken: L6 by L106, L7 by L107")
    assert rest.note.endswith("L49 by L149")
    (*_, rest) = overtaken_cautions({"q.jsonl": [(1, _row(line, line + 9)) for line in range(1, 500)]})
    assert rest.note.endswith("and 293 more")
