"""The dump: a packet's chunks as one text for a consumer that packages or reads files."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rtch.models.base import Count, Record


class Dump(Record):
    """Stage 8's artifact.

    ``nonce`` closes each file's block and stands nowhere else in what was copied, so no content
    can end its own block or open another.
    """

    schema_version: Literal["rtch.dump/1"] = "rtch.dump/1"
    packet_id: str
    nonce: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    files: Count
    lines: Count
    text: str
