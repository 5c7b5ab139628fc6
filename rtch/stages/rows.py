"""What is said of ledger rows beside their text: which are overtaken, shown as corrected, or held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rtch.effective import Held, View, has_rows
from rtch.ledgers import Overtaken, overtaken
from rtch.models.chunk import Caution, Chunk, SkippedSurface
from rtch.models.ledgers import EffectiveRecord, Hold, HoldReason, LedgerRules
from rtch.models.vocab import CautionFlag, SkipReason
from rtch.paths import typed
from rtch.reentry import reentry_command
from rtch.stages.chunks import SourceFile
from rtch.text import LineIndex

EFFECTIVE_TAG = "effective_record_view"
"""The tag of a chunk with a row that is shown as corrected, or withheld."""
_TOLD = 6
"""Overtaken rows of one file that have a caution each."""
_PAIRS = 200
"""Overtaken rows of one file that are told of by their lines."""


def rows_overtaken(file: SourceFile, lines: Iterable[int], rules: LedgerRules) -> dict[int, Overtaken]:
    """Return which rows of a ledger, by line, no longer count; none for any other file."""
    if not has_rows(file.path):
        return {}
    index = file.lines if file.decoded.encoding == "utf-8" else LineIndex(file.utf8, first_line=file.first_line)
    found = overtaken(file.utf8, index, lines, rules)
    return {one.row.line: one._replace(partial=one.partial or file.first_line > 1) for one in found}


def overtaken_cautions(found: Mapping[str, Iterable[tuple[int, Overtaken]]]) -> Iterable[Caution]:
    """Yield a caution for each overtaken row that was hit, with the row that counts and how to read it.

    Those that were hit most have one of their own, the others of a file one together.
    """
    for path in sorted(found):
        rows = [row for _, row in sorted(found[path], key=lambda one: (-one[0], one[1].row.line))]
        for one in sorted(rows[:_TOLD]):
            note = _overtaken_note(path, one)
            yield Caution(path=path, flag=CautionFlag.OVERTAKEN_ROW, note=note, line=one.row.line)
        rest = sorted(rows[_TOLD:])
        if rest:
            pairs = [f"L{one.row.line} by L{one.by.line}" for one in rest[:_PAIRS]]
            more = f" and {len(rest) - _PAIRS} more" if len(rest) > _PAIRS else ""
            note = f"{len(rest)} more rows that were hit are overtaken: {', '.join(pairs)}{more}"
            yield Caution(path=path, flag=CautionFlag.OVERTAKEN_ROW, note=note)


def _overtaken_note(path: str, one: Overtaken) -> str:
    row, by = one.row, one.by
    what = "entry" if by.end else "row"
    here = f"is {row.status} here" if row.status else "has an earlier entry here"
    now = f"{by.status} by" if by.status else "overtaken by"
    command = reentry_command(path, by.line, by.end or by.line)
    sought = "" if not one.partial else f", as far as the {'ledger' if by.end else 'end of the file'} was looked at"
    return f"{row.record_id} {here}, and {now} its {what} at L{by.line}{sought}: {command}"


class Receipts(NamedTuple):
    """What a packet says of the surfaces that it shows or could not show."""

    records: tuple[EffectiveRecord, ...] = ()
    holds: tuple[Hold, ...] = ()
    cautions: tuple[Caution, ...] = ()


def receipts(view: View, shown: Iterable[str], skipped: Iterable[SkippedSurface], rules: LedgerRules) -> Receipts:
    """Return what a view says of some surfaces.

    Args:
        view: what the zone's ledgers show.
        shown: paths of surfaces.
        skipped: the others that were named, hit or met.
        rules: how many receipts of one kind are kept.
    """
    paths = set(shown)
    if not view.paths:
        return Receipts()
    held_back = {one.path for one in skipped if one.reason is SkipReason.HELD}
    records = sorted(one for one in view.corrected if one.surface in paths)[: rules.max_receipts]
    holds = [one for one in view.held if one.surface in (held_back if one.withheld else paths)]
    cautions = [
        Caution(
            path=one.surface,
            flag=CautionFlag.EFFECTIVE_RECORD,
            note=typed(f"{one.record_id} is shown as corrected by {', '.join(one.correction_ids)}"),
            line=one.line,
        )
        for one in records
    ]
    told = [_hold(one) for one in holds[: rules.max_receipts]]
    cautions += [
        Caution(
            path=one.surface,
            flag=CautionFlag.HELD,
            note=f"{one.reason}: {one.detail}; {'none of it is shown' if one.withheld else 'it supports no claim'}",
            line=one.line if one.source == one.surface else None,
        )
        for one in told
    ]
    made = tuple(
        EffectiveRecord(
            record_id=typed(one.record_id),
            surface=one.surface,
            line=one.line,
            correction_ids=tuple(map(typed, one.correction_ids)),
            withheld_lines=one.withheld,
            re_entry_command=reentry_command(one.surface, one.line, one.line),
        )
        for one in records
    )
    return Receipts(made, tuple(told), tuple(cautions))


def _hold(one: Held) -> Hold:
    return Hold(
        surface=one.surface,
        reason=HoldReason(one.reason),
        withheld=one.withheld,
        detail=typed(one.detail),
        record_id=typed(one.record_id),
        line=one.line,
        source=one.source,
        re_entry_command=reentry_command(one.source, one.line, one.line),
    )


def tagged(chunks: Sequence[Chunk], view: View) -> list[Chunk]:
    """Return chunks, those with a row that is not the file's own tagged."""
    return [
        chunk.model_copy(update={"tags": (*chunk.tags, EFFECTIVE_TAG)})
        if any(chunk.start_line <= line <= chunk.end_line for line in view.rows.get(chunk.path, ()))
        else chunk
        for chunk in chunks
    ]
