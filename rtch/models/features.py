"""What one file shows: headings, keys, symbols, ids, markers and references.

The items are named tuples and not records: a tree has hundreds of thousands of them, and as a
pydantic model each took 570 bytes and 12 us against 170 bytes and 2 us (measured). Inside a
record they are validated all the same, and become JSON arrays.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

from rtch.models.base import LineNumber, Record
from rtch.models.vocab import CautionFlag, FileRole, KeyKind, MarkerKind, SymbolKind


class Heading(NamedTuple):
    """A section title; levels count from 1, the outermost."""

    level: int
    text: str
    line: LineNumber


class Symbol(NamedTuple):
    """A definition in code; ``container`` is the class or type around it, or empty."""

    name: str
    kind: SymbolKind
    line: LineNumber
    container: str = ""


class Key(NamedTuple):
    """A key of structured data; ``path`` is dotted from the document's root, ``[]`` for an array's items."""

    name: str
    path: str
    kind: KeyKind
    line: LineNumber


class DurableId(NamedTuple):
    """A registered handle as it is written, case kept."""

    id: str
    line: LineNumber


class Marker(NamedTuple):
    """A phrase about the standing of the text around it, as it is written."""

    kind: MarkerKind
    phrase: str
    line: LineNumber


class Reference(NamedTuple):
    """What a file names as needed or related: an import, include or require; in documents a relative link.

    ``target`` is as written (``..pkg.mod``, ``./util.js``, ``std::io``, ``docs/a.md``), less a link's fragment.
    """

    target: str
    line: LineNumber


class Problem(NamedTuple):
    """Something about a file that a reader must know; ``detail`` is one sentence."""

    flag: CautionFlag
    line: LineNumber
    detail: str


Ceiling = Annotated[int, Field(ge=1)]


class FeatureLimits(Record):
    """How much of one file is looked at and kept; reaching any of these sets ``truncated``."""

    max_bytes: Ceiling = 1_000_000
    """Bytes of one document that are scanned: 0.1 s of the slowest scanner."""
    max_slow_bytes: Ceiling = 256_000
    """The same for YAML and TOML, whose scanners do 1 to 2 MB/s; hand-written files are far below."""
    max_headings: Ceiling = 2_000
    """A 4,000-line ledger has about 300."""
    max_keys: Ceiling = 2_000
    """Distinct key paths of one file; past it a data file is data and no registry."""
    max_depth: Ceiling = 12
    """Levels of nesting of which keys are kept; deeper levels are scanned over."""
    max_rows: Ceiling = 20
    """Rows of a JSONL file of which keys are kept; ids are taken from every row."""
    max_ids: Ceiling = 2_000
    """Distinct durable ids of one file."""
    max_markers: Ceiling = 200
    """Marker phrases of one file."""
    max_symbols: Ceiling = 5_000
    """Definitions of one file; the largest hand-written files have about 2,000."""
    max_references: Ceiling = 1_000
    """Imports or links of one file."""
    max_text: Ceiling = 200
    """Characters of one heading, name or target; a longer one is cut and ends in an ellipsis."""


class FileFeatures(Record):
    """What was seen in one file; each tuple is in order of line.

    A key or an id that a file repeats is listed once, at its first line.
    """

    path: str
    role: FileRole
    headings: tuple[Heading, ...] = ()
    keys: tuple[Key, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    ids: tuple[DurableId, ...] = ()
    markers: tuple[Marker, ...] = ()
    references: tuple[Reference, ...] = ()
    problems: tuple[Problem, ...] = ()
    truncated: bool = False


class Section(NamedTuple):
    """A heading's reach: from its line to the line before the next heading of its level or above."""

    path: tuple[str, ...]
    level: int
    start_line: LineNumber
    end_line: LineNumber
