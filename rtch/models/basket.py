"""The candidate basket: every term with where it comes from and what it may be used for."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from rtch.models.base import Count, LineNumber, Record, is_empty
from rtch.models.vocab import Origin, Use


class TermShape(StrEnum):
    """The form in which a term stood in the request."""

    SEED = "seed"
    IDENTIFIER = "identifier"
    PATH = "path"
    QUOTE = "quote"
    MOMENT = "moment"
    FRAME = "frame"
    PHRASE = "phrase"
    WORD = "word"
    JOINED = "joined"
    TARGET = "target"
    NEIGHBOR = "neighbor"
    ASSUMPTION = "assumption"
    RELATION = "relation"
    """In no request: what stands around the artifact that a request decides on."""


class Place(Record):
    """Where the inventory knows a term from."""

    path: str
    line: LineNumber | None = None
    shape: Origin
    name: str
    """The heading, symbol, key, id or path part as it stands there."""


class Term(Record):
    """One candidate.

    ``weight`` is its share in ranking, from how it stood in the request; ``variants`` are the
    other spellings searched with it; ``pairs_with`` are the terms that lend a generic term
    strength, if they hit.
    """

    term: str
    shape: TermShape
    origin: Origin
    use: Use
    weight: float
    generic: bool = False
    why_generic: str = ""
    variants: tuple[str, ...] = ()
    pairs_with: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    places_cut: Count = 0


class FrameRef(Record):
    """A stack frame named in the goal; ``depth`` counts from 1 at the innermost."""

    path: str
    line: LineNumber | None
    depth: Count


class GenericWarning(Record):
    """A generic term that nothing strong stands beside."""

    term: str
    warning: str


class TimeOrigin(Record):
    """What the relative times of a goal are counted from; the same for every goal that names none."""

    tic: Count | None = None
    """The zone's last tic."""
    date: str = ""
    """Its day, as ISO 8601; empty where the zone does not tell it."""


class RelativeTime(Record):
    """A time that the goal names by where it stands, such as ``the last 5 tics``."""

    said: str
    called: str
    """What it was taken for; empty where there is nothing to count from, and it stays words."""
    because: str


class Basket(Record):
    """Stage 4's artifact: terms by descending trust, then as they stood in the request."""

    schema_version: Literal["rtch.basket/1"] = "rtch.basket/1"
    terms: tuple[Term, ...]
    frames: tuple[FrameRef, ...] = ()
    noise: tuple[str, ...] = ()
    """Words of the goal that are never probed."""
    terms_cut: Count = 0
    artifact: str = Field(default="", exclude_if=is_empty)
    """The file or folder that a disposition is about, where the request names one that is there."""
    relative_times: tuple[RelativeTime, ...] = Field(default=(), exclude_if=is_empty)
