"""The base of every record that crosses a stage border, and its canonical bytes."""

from __future__ import annotations

import json
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A sha256 in lower-case hexadecimal."""

LineNumber = Annotated[int, Field(ge=1)]
"""Counts LF bytes from 1; ranges include both ends."""

Count = Annotated[int, Field(ge=0)]


class Record(BaseModel):
    """A frozen record that refuses unknown fields and coerces nothing.

    Python values must have the declared type already; JSON is read with ``parse``, where an
    enum arrives as its string and a tuple as an array.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    def canonical(self) -> bytes:
        """Return the JSON that is hashed and stored: sorted keys, no spaces, UTF-8."""
        return canonical_json(self.model_dump(mode="json"))

    @classmethod
    def parse(cls, data: bytes | str) -> Self:
        """Read JSON; ``parse(x.canonical()) == x``.

        Raises:
            pydantic.ValidationError: the JSON is not this record.
        """
        return cls.model_validate_json(data)


def canonical_json(value: object) -> bytes:
    """Return sorted, compact UTF-8 JSON of plain values; NaN and infinities are refused."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode(
        "utf-8", "surrogatepass"
    )
