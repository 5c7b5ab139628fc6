"""The base of every record that crosses a stage border, and its canonical bytes."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from types import ModuleType
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A sha256 in lower-case hexadecimal."""

LineNumber = Annotated[int, Field(ge=1)]
"""Counts LF bytes from 1; ranges include both ends."""

Count = Annotated[int, Field(ge=0)]


def _leave_metadata_unread() -> None:
    """Load pydantic's finder of plugins without the reader of package metadata that it imports.

    That reader brings email, sockets and archives along: a tenth of ``rtch intake check``. Where plugins are
    turned off nothing calls it; where they are turned on later the real one is imported by the call.
    """
    name = "importlib.metadata"
    if os.environ.get("PYDANTIC_DISABLE_PLUGINS") != "__all__" or name in sys.modules:
        return

    def entry_points(**wanted: Any) -> Any:
        from importlib.metadata import entry_points as real  # noqa: PLC0415

        return real(**wanted)

    stand_in = ModuleType(name)
    stand_in.entry_points = entry_points  # type: ignore[attr-defined]
    sys.modules[name] = stand_in
    with contextlib.suppress(ImportError):
        import pydantic.plugin._loader  # noqa: F401, PLC0415
    del sys.modules[name]


_leave_metadata_unread()


def is_empty(value: object) -> bool:
    """Tell whether a field holds nothing; one that is left out then changes no id of a record without it."""
    return not value


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
