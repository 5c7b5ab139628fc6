"""One pass over a ledger's rows: which say that they correct another, and which cannot be read.

An append-only file that has grown is not read as rows again but for what was appended.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from rtch.corrections import is_correction
from rtch.effective import Held
from rtch.ledgers import parsed_row
from rtch.models.ledgers import HoldReason, LedgerRules
from rtch.models.vocab import SkipReason
from rtch.reading import OpenFile, SkippedFile

BLOCK_BYTES = 4 << 20
MAX_NOISE = 20
"""Rows that cannot be read whose lines are told; the others are counted."""


class Scan(NamedTuple):
    """What one pass found.

    Attributes:
        size: bytes up to the end of the last whole row.
        sha256: of those bytes.
        lines: whole rows.
        corrections: (line, text) of the rows that say they correct another.
        noise: lines of rows that are no JSON object, the first ``MAX_NOISE``.
        noise_count: how many there are.
        torn: the line of a last row without a line end that cannot be read; 0 where there is none.
        doubtful: the line of the first row that cannot be read and may be a correction; 0 where there is none.
    """

    size: int = 0
    sha256: str = hashlib.sha256().hexdigest()
    lines: int = 0
    corrections: tuple[tuple[int, str], ...] = ()
    noise: tuple[int, ...] = ()
    noise_count: int = 0
    torn: int = 0
    doubtful: int = 0

    def dumped(self) -> bytes:
        """Return the scan as JSON, for a note."""
        return json.dumps(self).encode()


def loaded(note: bytes | None) -> Scan:
    """Return the scan that a note holds; an empty one where it holds something else."""
    try:
        size, sha256, lines, corrections, noise, count, torn, doubtful = json.loads(note or b"")
        rows = tuple((int(line), str(text)) for line, text in corrections)
        told = tuple(map(int, noise))
        return Scan(int(size), str(sha256), int(lines), rows, told, int(count), int(torn), int(doubtful))
    except (ValueError, TypeError):
        return Scan()


def scan_of(file: OpenFile, known: Scan, rules: LedgerRules) -> Scan:
    """Return what a ledger's rows are.

    Args:
        file: the ledger, open.
        known: an earlier scan; what it covers is read for its digest alone, and anew where the digest differs.
        rules: the words.
    Bounds: holds a block and the longest row; ``rules.max_ledger_bytes``.

    Raises:
        SkippedFile: OVERSIZED.
    """
    if file.row.size > rules.max_ledger_bytes:
        raise SkippedFile(SkipReason.OVERSIZED, file.path, f"{file.row.size} bytes")
    hasher = hashlib.sha256()
    begun = Scan()
    if 0 < known.size <= file.row.size:
        for start in range(0, known.size, BLOCK_BYTES):
            hasher.update(file.pread(start, min(BLOCK_BYTES, known.size - start)))
        if hasher.hexdigest() == known.sha256:
            begun = known._replace(torn=0, doubtful=0 if known.doubtful > known.lines else known.doubtful)
        else:
            hasher = hashlib.sha256()
    corrections, noise = list(begun.corrections), list(begun.noise)
    size, lines, count, torn, doubtful = begun.size, begun.lines, begun.noise_count, 0, begun.doubtful
    for raw in _rows(file, begun.size):
        row = parsed_row(raw)
        line = lines + 1
        if raw.endswith(b"\n"):
            size, lines = size + len(raw), line
            hasher.update(raw)
        if row is None and raw.strip():
            doubtful = doubtful or (line if _may_correct(raw, rules) else 0)
            if not raw.endswith(b"\n"):
                torn = line
                continue
            count += 1
            if len(noise) < MAX_NOISE:
                noise.append(line)
        elif row is not None and is_correction(row, rules):
            corrections.append((line, raw.decode("utf-8-sig").strip()))
    return Scan(size, hasher.hexdigest(), lines, tuple(corrections), tuple(noise), count, torn, doubtful)


def _may_correct(raw: bytes, rules: LedgerRules) -> bool:
    """Tell whether a row that cannot be read may correct another; its words may be written with escapes."""
    words = (rules.correction_type, *rules.legacy_actions)
    return b"\\u" in raw or any(word.encode() in raw for word in words)


def _rows(file: OpenFile, start: int) -> Iterator[bytes]:
    """Yield rows with their line ends, block by block; the last may have none."""
    pieces: list[bytes] = []
    while start < file.row.size and (block := file.pread(start, min(BLOCK_BYTES, file.row.size - start))):
        start += len(block)
        head, feed, rest = block.partition(b"\n")
        pieces.append(head + feed)
        if not feed:
            continue
        yield b"".join(pieces)
        *whole, last = rest.split(b"\n")
        yield from (row + b"\n" for row in whole)
        pieces = [last] if last else []
    if pieces:
        yield b"".join(pieces)


def holds_of_noise(scans: Mapping[str, Scan], withheld: Collection[str]) -> Iterator[Held]:
    """Yield the ledgers with rows that cannot be read: they are shown, and support no claim."""
    for path, scan in scans.items():
        if path in withheld:
            continue
        if scan.noise_count:
            rest = f" and {scan.noise_count - 1} more" if scan.noise_count > 1 else ""
            detail = f"L{scan.noise[0]}{rest} cannot be read as a row"
            yield Held(path, "", HoldReason.MALFORMED_ROW, detail, path, scan.noise[0], withheld=False)
        if scan.torn:
            yield Held(path, "", HoldReason.TORN_TAIL, "its last row is torn", path, scan.torn, withheld=False)


def holds_of_doubt(scans: Mapping[str, Scan]) -> Iterator[Held]:
    """Yield holds of all ledgers where a row that cannot be read may correct any of them: none supports a claim."""
    source = next((path for path, scan in scans.items() if scan.doubtful), None)
    if source is None:
        return
    line = scans[source].doubtful
    detail = "a row that may be a correction of it cannot be read"
    for path in scans:
        yield Held(path, "", HoldReason.MALFORMED_ROW, detail, source, line, withheld=False)
