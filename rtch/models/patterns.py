"""The vocabulary by which durable ids and marker phrases are recognised."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from rtch.models.base import Record
from rtch.models.vocab import MarkerKind

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,40}$")]


class IdBody(StrEnum):
    """What may follow an id's prefix."""

    DIGITS = "digits"
    HEX = "hex"
    WORD = "word"
    SLUG = "slug"


class IdShape(Record):
    """One form of durable id: a prefix, then a body.

    Built from these parts, a zone's own configuration can add a form without writing a regular
    expression, which could be made to run for hours.
    """

    name: Name
    prefix: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9]{0,30}$")] | None = None
    """None stands for any word of 2 to 10 capitals, as in ADR-7 or CVE-2024-1."""
    joiner: Annotated[str, StringConstraints(pattern=r"^[-_ .:#]{0,4}$")] = ""
    """The characters of which one may, or with ``joined`` must, stand between prefix and body."""
    joined: bool = True
    body: IdBody
    ignore_case: bool = False


class PhraseSet(Record):
    """Phrases of one kind; a space in a phrase matches any run of blanks within the line."""

    kind: MarkerKind
    phrases: Annotated[tuple[Annotated[str, StringConstraints(min_length=3, max_length=80)], ...], Field(max_length=60)]
    ignore_case: bool = True


class Patterns(Record):
    """Everything that ``marks`` looks for."""

    durable_ids: Annotated[tuple[IdShape, ...], Field(max_length=60)] = ()
    markers: Annotated[tuple[PhraseSet, ...], Field(max_length=20)] = ()
