"""The known word that is meant by an unknown one."""

from __future__ import annotations

from collections.abc import Iterable


def nearest_of(word: str, known: Iterable[str]) -> str:
    """Return the known word that is spelled most like this one, or empty text where none is near."""
    from difflib import get_close_matches  # noqa: PLC0415  only what is refused needs it

    return "".join(get_close_matches(word, list(known), n=1))
