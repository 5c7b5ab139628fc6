"""What is wrong with a request, in sentences: what, where, the value, the remedy.

The model's own checks are the only rules; here their complaints are put into words. ``intake_io`` gathers them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, NoReturn

from rtch import dialects
from rtch.errors import IntakeError
from rtch.field_guide import FIELDS
from rtch.models.intake import EnoughEvidence
from rtch.models.vocab import Dialect
from rtch.nearest import nearest_of
from rtch.plain_data import Path, Problem, shown

MAX_SHOWN = 30
"""Problems listed in one message; the rest is counted."""

_SIDECAR = f"an {dialects.BLOCK} block (or --dialect {Dialect.SIDECAR.value})"
_UNMENTIONED = frozenset({"dialect", "notes", "schema_version", "surface_cap"})
"""Fields that a saved intake may have and nobody needs to write."""
_CRITERIA = tuple(EnoughEvidence.model_fields)
_SHAPES = {
    "string_type": "text",
    "tuple_type": "a list",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "model_type": f"a mapping of {', '.join(_CRITERIA)}",
    "model_attributes_type": f"a mapping of {', '.join(_CRITERIA)}",
}
_REMEDIES: dict[tuple[str, type], str] = {
    ("string_type", int): "put it in quotes",
    ("string_type", bool): "put it in quotes",
    ("string_type", list): "only one value fits here",
    ("tuple_type", str): "write it as a list of one",
    ("tuple_type", NoneType): "leave it out, or write []",
    ("int_type", str): "write plain digits without quotes",
}
_BOUNDS = {
    "string_too_short": "is blank",
    "string_too_long": "has {size} characters, and at most {max_length} are read",
    "too_long": "has {size} entries, and at most {max_length} are read",
    "greater_than_equal": "must be at least {ge}, found {value}",
    "less_than_equal": "must be at most {le}, found {value}",
    "literal_error": "must be {expected}, found {value}",
}


def as_problem(path: Path, complaint: Mapping[str, Any]) -> Problem:
    """Turn one complaint of the intake's model into a problem of the written path."""
    kind, value = complaint["type"], complaint["input"]
    if kind == "enum":
        return _wrong_word(path, value)
    if kind == "extra_forbidden":
        return Problem(path, "is no criterion", nearest(str(path[-1]), _CRITERIA))
    if kind in _SHAPES:
        remedy = _REMEDIES.get((kind, type(value)), "")
        return Problem(path, f"must be {_SHAPES[kind]}, found {shown(value)}", remedy)
    if kind in _BOUNDS:
        size = len(value) if isinstance(value, str | list) else 0
        told = value if isinstance(value, int) else shown(value)
        return Problem(path, _BOUNDS[kind].format(size=size, value=told, **complaint.get("ctx", {})))
    return Problem(path, f"is wrong: {complaint['msg']}; found {shown(value)}")


def nearest(key: str, names: Sequence[str]) -> str:
    """Return the remedy for an unknown key: the nearest known name, or all of them.

    A flag's spelling counts as its field's, so that ``risk`` leads to ``mutation_risk``.
    """
    spellings = {name: name for name in names}
    for field in FIELDS.values():
        if field.flag and field.name in names:
            spellings[field.flag.removeprefix("--").replace("-", "_")] = field.name
    close = nearest_of(key.lower().replace("-", "_"), spellings)
    named = ", ".join(name for name in names if name not in _UNMENTIONED)
    known = f"did you mean {spellings[close]}?" if close else f"known are {named}"
    if key in dialects.FIELDS and key not in names and close:
        return f"{known} Or is this for {_SIDECAR}?"
    return known


def refuse(name: str, problems: Sequence[Problem]) -> NoReturn:
    """Raise one error with a sentence for each problem.

    Raises:
        IntakeError: always.
    """
    sentences = [_sentence(problem) for problem in dict.fromkeys(problems)]
    if len(sentences) == 1:
        raise IntakeError(f"{name}: {sentences[0]}")
    rest = len(sentences) - MAX_SHOWN
    listed = [*sentences[:MAX_SHOWN], f"and {rest} more"] if rest > 0 else sentences
    raise IntakeError(f"{name} has {len(sentences)} problems:\n" + "\n".join(f"- {sentence}" for sentence in listed))


def _wrong_word(path: Path, value: object) -> Problem:
    field = FIELDS.get(str(path[0])) if path else None
    allowed = [member.value for member in field.words] if field and field.words else []
    says = f"must be one of {', '.join(allowed)}, found {shown(value)}"
    if not isinstance(value, str):
        return Problem(path, says)
    close = nearest_of(value.strip().lower().replace("-", "_"), allowed)
    if any(value in words for words in dialects.WORDS.values()):
        return Problem(path, says, f"that word is for {_SIDECAR}")
    return Problem(path, says, f"did you mean {close}?" if close else "")


def _sentence(problem: Problem) -> str:
    where = ""
    for part in problem.path:
        if isinstance(part, int):
            where += f"[{part}]"
        else:
            where += ("." if where else "") + (part if part.isidentifier() else shown(part))
    says = f"{where or 'it'} {problem.says}"
    return f"{says}; {problem.remedy}" if problem.remedy else says
