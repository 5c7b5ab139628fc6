"""The vocabulary by which durable ids and marker phrases are recognised."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from rtch.models.base import Record
from rtch.models.vocab import MarkerKind

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,40}$")]
Phrase = Annotated[str, StringConstraints(pattern=r"^[^\s\x00]+( [^\s\x00]+){0,9}$", min_length=3, max_length=80)]


class IdBody(StrEnum):
    """What may follow an id's prefix."""

    DIGITS = "digits"
    DASHED_DIGITS = "dashed_digits"
    HEX = "hex"
    WORD = "word"
    SLUG = "slug"


class IdShape(Record):
    """One form of durable id: a prefix, a joiner, a body.

    Built from these parts, a form can be added to the configuration without a regular expression,
    which could be made to run for hours.
    """

    name: Name
    prefix: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,30}$")] | None = None
    """None stands for any word of 2 to 10 capitals, as in ADR-7."""
    joiner: Annotated[str, StringConstraints(pattern=r"^[-_ .:#]{0,6}$")] = ""
    """Characters of which one stands between prefix and body."""
    joined: bool = True
    """Whether the joiner must be there."""
    body: IdBody
    least: Annotated[int, Field(ge=1, le=40)] = 1
    """Fewest characters of the body."""
    ignore_case: bool = False
    in_names: bool = False
    """Whether the id may follow an underscore, as part of a longer name."""
    but_not: Annotated[tuple[str, ...], Field(max_length=200)] = ()
    """Prefixes of capitals that make no id."""

    @model_validator(mode="after")
    def _capitals_need_a_joiner(self) -> Self:
        if self.prefix is None and not (len(self.joiner) == 1 and self.joined):
            raise ValueError(f"id form {self.name} has no prefix, so it needs a joiner of one character")
        return self


class PhraseSet(Record):
    """Phrases of one kind; a blank matches any blanks within the line."""

    kind: MarkerKind
    phrases: Annotated[tuple[Phrase, ...], Field(max_length=60)]
    ignore_case: bool = True


class Patterns(Record):
    """Everything that ``marks`` looks for."""

    durable_ids: Annotated[tuple[IdShape, ...], Field(max_length=60)] = ()
    markers: Annotated[tuple[PhraseSet, ...], Field(max_length=20)] = ()
