"""The user's own words for ledgers and durable ids: ``ledgers.yaml`` and ``patterns.yaml`` in rtch's data folder.

They take the place of the packaged ones, name by name. A zone has no say in it: what corrects its records, and what
counts as terminal, is not for the corrected to decide.
"""

from __future__ import annotations

import contextlib
import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rtch import home
from rtch.errors import IntakeError
from rtch.models.base import Record

if TYPE_CHECKING:
    from rtch.limits import Limits
    from rtch.models.ledgers import LedgerRules
    from rtch.models.patterns import Patterns

R = TypeVar("R", bound=Record)
LEDGERS, PATTERNS = "ledgers.yaml", "patterns.yaml"
_MAX_BYTES = 65_536


def own_bytes() -> bytes:
    """Return what the user's files say, to be compared between runs; empty where there are none."""
    return b"\0".join(filter(None, map(_bytes_of, (LEDGERS, PATTERNS))))


def load_rules() -> LedgerRules:
    """Return the rules by which ledgers are read for this process's user.

    Raises:
        IntakeError: the user's file cannot be read, or does not have the shape of the packaged one.
    """
    return _rules(_bytes_of(LEDGERS))


def with_own_words(limits: Limits) -> Limits:
    """Return limits with the user's own words.

    Raises:
        IntakeError: one of the user's files is wrong.
    """
    if not own_bytes():
        return limits
    survey = limits.survey.model_copy(update={"patterns": _patterns(_bytes_of(PATTERNS))})
    return limits.model_copy(
        update={
            "hydrate": limits.hydrate.model_copy(update={"ledgers": load_rules()}),
            "survey": survey,
            "drift": limits.drift.model_copy(update={"survey": survey}),
        }
    )


def _place(name: str) -> Path | None:
    data = home.locations().data
    return None if data is None else data / name


def _bytes_of(name: str) -> bytes:
    place = _place(name)
    if place is None:
        return b""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        try:
            with place.open("rb") as file:
                data = file.read(_MAX_BYTES + 1)
        except (PermissionError, IsADirectoryError) as error:
            raise IntakeError(f"{place} cannot be read: {error.strerror}") from error
        if len(data) > _MAX_BYTES:
            raise IntakeError(f"{place} is larger than {_MAX_BYTES} bytes", hint="it is a list of words")
        return data
    return b""


@lru_cache(maxsize=4)
def _rules(data: bytes) -> LedgerRules:
    from rtch.models.ledgers import LedgerRules  # noqa: PLC0415  only the bytes are looked at in every run

    return _made(LedgerRules, LEDGERS, data)


@lru_cache(maxsize=4)
def _patterns(data: bytes) -> Patterns:
    from rtch.models.patterns import Patterns  # noqa: PLC0415

    return _made(Patterns, PATTERNS, data)


def _made(model: type[R], name: str, data: bytes) -> R:
    from pydantic import ValidationError  # noqa: PLC0415

    from rtch.limits import config_yaml  # noqa: PLC0415

    values: dict[str, Any] = config_yaml(name)
    if not data:
        return model.parse(json.dumps(values))
    import yaml  # noqa: PLC0415  only for those who have such a file

    try:
        own = yaml.safe_load(data)
        if not isinstance(own, dict):
            raise IntakeError(f"{_place(name)} must be a mapping of the names of config/{name}")
        return model.parse(json.dumps(values | own))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise IntakeError(f"{_place(name)}: {where} is wrong: {first['msg']}") from error
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise IntakeError(f"{_place(name)} cannot be read: {str(error).partition(chr(10))[0]}") from error
