"""A record that a person wrote in a file: read by its model, with what is wrong said in sentences."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from rtch.complaints import refuse
from rtch.errors import IntakeError
from rtch.intake_files import read_source
from rtch.models.base import Record, canonical_json
from rtch.nearest import nearest_of
from rtch.plain_data import Problem, read_plain, shown

M = TypeVar("M", bound=Record)

_SHAPES = {
    "string_type": "text",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "int_type": "a whole number",
    "bool_type": "true or false",
}
_BOUNDS = {
    "string_too_short": "is blank",
    "too_short": "is an empty list",
    "greater_than_equal": "must be at least {ge}, found {value}",
    "less_than_equal": "must be at most {le}, found {value}",
    "enum": "must be one of {expected}, found {value}",
    "literal_error": "must be {expected}, found {value}",
}


def read_record(path: Path, model: type[M], *, example: str) -> M:
    """Return the record of a YAML or JSON file.

    Args:
        path: the file.
        model: what it holds.
        example: where one is shown, for a file that holds nothing.

    Raises:
        IntakeError: it cannot be read, or is not of the model; every problem is told.
    """
    if not os.path.lexists(path):
        raise IntakeError(f"{path} does not exist", hint=f"{example} shows one")
    data = read_source(path)
    if not data.strip():
        raise IntakeError(f"{path} is empty", hint=f"{example} shows one")
    fields, problems = read_plain(data, name=str(path))
    if problems:
        refuse(str(path), problems)
    try:
        return model.parse(canonical_json(fields))
    except ValidationError as error:
        found = error.errors(include_url=False)
        # Of a list in which an entry is wrong it is said as well that the list is too short.
        deepest = [one for one in found if not any(_holds(one["loc"], other["loc"]) for other in found)]
        refuse(str(path), [_problem(each, model) for each in deepest])


def _holds(outer: tuple[int | str, ...], inner: tuple[int | str, ...]) -> bool:
    return len(outer) < len(inner) and inner[: len(outer)] == outer


def _problem(complaint: Mapping[str, Any], model: type[Record]) -> Problem:
    kind, where, value = complaint["type"], tuple(complaint["loc"]), complaint["input"]
    if kind == "missing":
        return Problem(where, "is missing")
    if kind == "extra_forbidden":
        known = _fields_at(model, where[:-1])
        near = nearest_of(str(where[-1]), known)
        return Problem(where, "is no field", f"did you mean {near}?" if near else f"known are {', '.join(known)}")
    if kind in _SHAPES:
        return Problem(where, f"must be {_SHAPES[kind]}, found {shown(value)}")
    if kind in _BOUNDS:
        told = value if isinstance(value, int) else shown(value)
        return Problem(where, _BOUNDS[kind].format(value=told, **complaint.get("ctx", {})))
    if kind == "string_pattern_mismatch":
        return Problem(where, f"cannot be {shown(value)}", _PATTERNS.get(str(where[-1]), ""))
    return Problem(where, f"is wrong: {complaint['msg']}; found {shown(value)}")


_PATTERNS = {
    "name": "use letters, digits, dots, dashes and spaces",
    "flow": "name it by its module path, such as rtch.flows.drift.drift",
}


def _fields_at(model: type[Record], where: tuple[str | int, ...]) -> list[str]:
    """Return the fields of the record at a place of another."""
    for part in where:
        if isinstance(part, str) and part in model.model_fields:
            found = _record_in(model.model_fields[part].annotation)
            model = found or model
    return [name for name in model.model_fields if name != "schema_version"]


def _record_in(annotation: Any) -> type[Record] | None:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    inner = (_record_in(each) for each in getattr(annotation, "__args__", ()))
    return next((each for each in inner if each is not None), None)
