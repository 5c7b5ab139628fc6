"""What is in a document or a data file: headings, keys, ids, markers and links, from its bytes."""

from __future__ import annotations

from collections.abc import Sequence

from rtch.models.features import FeatureLimits, FileFeatures, Heading, Section
from rtch.models.patterns import Patterns


def document_features(
    path: str, data: bytes, limits: FeatureLimits | None = None, *, patterns: Patterns | None = None
) -> FileFeatures:
    """Read what one document or data file shows.

    Args:
        path: POSIX, relative to the zone root; its name chooses the notation.
        data: the file's bytes, or the first ``limits.max_bytes`` and one more of them.
        limits: how much is looked at and kept.
        patterns: durable ids and marker phrases; the packaged ones by default.
    """
    raise NotImplementedError


def is_document(path: str) -> bool:
    """Tell whether ``document_features`` knows this notation (md, rst, adoc, txt, json, yaml, toml, ipynb...)."""
    raise NotImplementedError


def sections(headings: Sequence[Heading], line_count: int) -> tuple[Section, ...]:
    """Return each heading's reach, in the order of the headings."""
    raise NotImplementedError


def enclosing(sections: Sequence[Section], line: int) -> Section | None:
    """Return the innermost section that holds a line."""
    raise NotImplementedError
