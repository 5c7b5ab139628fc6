"""A written request becomes a checked intake, or one error that lists everything wrong with it.

``read_plain`` has made plain values of the bytes; here the vocabulary is chosen, flags and a preset are laid
over and under the fields, and the model's own checks are turned into sentences that name the field, the value
and the remedy. Nothing here reads a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic import ValidationError

from rtch import dialects
from rtch.complaints import as_problem, nearest, refuse
from rtch.errors import IntakeError
from rtch.field_guide import FIELDS, REQUIRED, Field, words_of
from rtch.legality import violation
from rtch.models.intake import Intake
from rtch.models.vocab import Dialect
from rtch.plain_data import Path, Problem, Reading, read_plain, shown

_TERM_LISTS = frozenset({"explicit_seeds", "forbidden_assumptions", "required_terms"})
"""Lists whose entries are searched for, line by line."""

_FLAGS = {word: field for field, word in dialects.FLAG_FIELDS.items()}


class Preset(NamedTuple):
    """Fields that are filled where the request leaves them out."""

    name: str
    description: str
    fields: Mapping[str, object]


class _Draft(NamedTuple):
    """Canonical fields as they were written, what is wrong so far, and where each was written."""

    fields: dict[str, object]
    problems: list[Problem]
    written_as: Mapping[str, Path]

    def written(self, path: Path) -> Path:
        """Return where the person wrote what the model knows under ``path``."""
        if path and isinstance(path[0], str) and path[0] in self.written_as:
            return (*self.written_as[path[0]], *path[1:])
        return path

    def covers(self, path: Path) -> bool:
        """Say whether something at or above a written path has been reported already."""
        return any(problem.path and path[: len(problem.path)] == problem.path for problem in self.problems)


def parse_intake(
    source: bytes,
    *,
    name: str,
    dialect: Dialect | None = None,
    flags: Mapping[str, object] | None = None,
    preset: Preset | None = None,
) -> Intake:
    """Read a YAML or JSON document as an intake; see ``build_intake``."""
    return build_intake(read_plain(source, name=name), name=name, dialect=dialect, flags=flags, preset=preset)


def build_intake(
    request: Reading | Mapping[str, object],
    *,
    name: str = "the intake",
    dialect: Dialect | None = None,
    flags: Mapping[str, object] | None = None,
    preset: Preset | None = None,
) -> Intake:
    """Check a request and return its intake.

    Args:
        request: the fields as written, in either vocabulary.
        name: what the request is called in messages.
        dialect: the vocabulary asked for; None reads an ``intent`` block as sidecar and anything else as tactical.
        flags: values that win over the request's, by canonical field name; None is not given.
        preset: fills required and optional fields that are absent or blank; each is told in the notes.

    Raises:
        IntakeError: anything is missing, unknown, of the wrong type, or illegal together; all of it in one message.
    """
    reading = request if isinstance(request, Reading) else Reading(dict(request), ())
    given = {field: value for field, value in (flags or {}).items() if value is not None}
    schema = reading.fields.get("schema_version")
    if isinstance(schema, str) and schema.startswith("rtch.") and not schema.startswith("rtch.intake/"):
        raise IntakeError(f"{name} is no intake: it has the schema {shown(schema)}", hint="name the intake itself")
    if dialects.uses_sidecar(reading.fields, dialect):
        draft = _sidecar(reading, given, preset)
    else:
        draft = _tactical(reading, given, preset)
    _check_texts(draft)
    intake = _validated(draft)
    if intake is not None and not draft.problems:
        intake = dialects.step_down(intake)
        draft.problems.extend(_contradictions(intake))
    if intake is None or draft.problems:
        refuse(name, draft.problems)
    return intake


def dump_intake(intake: Intake) -> str:
    """Return the intake as YAML that ``parse_intake`` reads back; fields at their default are left out."""
    import yaml  # noqa: PLC0415  15 ms that only writing needs

    class Dumper(yaml.SafeDumper):
        """Escapes the line breaks that only YAML knows, which would be folded into spaces."""

        def represent_str(self, data: str) -> yaml.ScalarNode:
            style = '"' if any(char in data for char in "\x85\u2028\u2029") else None
            return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    Dumper.add_representer(str, Dumper.represent_str)
    fields = intake.model_dump(mode="json", exclude_defaults=True)
    text: str = yaml.dump(fields, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _tactical(reading: Reading, flags: Mapping[str, object], preset: Preset | None) -> _Draft:
    draft = _Draft(dict(reading.fields), list(reading.problems), {})
    draft.fields.update(flags)
    _drop_stale_notes(draft.fields, flags)
    _drop_unknown(draft.fields, FIELDS, (), draft.problems)
    _fill(draft, preset)
    for field in REQUIRED:
        if _blank(draft.fields.get(field.name)) and not draft.covers((field.name,)):
            draft.problems.append(Problem((field.name,), _missing(field)))
    return draft


def _sidecar(reading: Reading, flags: Mapping[str, object], preset: Preset | None) -> _Draft:
    problems = list(reading.problems)
    beside = dict(reading.fields)
    where: Path = (dialects.BLOCK,) if dialects.BLOCK in beside else ()
    if where:
        written = beside.pop(dialects.BLOCK)
        block = dict(written) if isinstance(written, dict) else {}
        if not isinstance(written, dict):
            problems.append(
                Problem(where, f"must be a mapping of {', '.join(dialects.FIELDS)}, found {shown(written)}")
            )
    else:
        block = {field: beside.pop(field) for field in dialects.FIELDS if field in beside}
    for field, value in flags.items():
        target = block if field in dialects.FLAG_FIELDS else beside
        target[dialects.FLAG_FIELDS.get(field, field)] = value
    if preset is not None:
        problems.append(
            Problem((), f"is in the sidecar dialect, which preset {preset.name} does not fill", "leave one out")
        )
    _drop_unknown(block, dialects.FIELDS, where, problems)
    _drop_unknown(beside, dialects.BESIDE, (), problems)
    made = dialects.translate(block, beside, where)
    draft = _Draft(made.fields, [*problems, *made.problems], made.written_as)
    for field in dialects.REQUIRED:
        path = (*where, field)
        flag = FIELDS[_FLAGS[field]].flag
        if _blank(block.get(field)) and not draft.covers(path):
            allowed = f"one of {', '.join(dialects.WORDS[field])}" if field in dialects.WORDS else "write one sentence"
            draft.problems.append(Problem(path, f"is missing ({flag}): {allowed}"))
    return draft


def _blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _missing(field: Field) -> str:
    if field.words is not None:
        return f"is missing ({field.flag}): one of {words_of(field.words)}"
    return f"is missing ({field.flag}): {field.says}, such as '{field.example}'"


def _fill(draft: _Draft, preset: Preset | None) -> None:
    if preset is None:
        return
    notes: list[str] = []
    for field, value in preset.fields.items():
        if _blank(draft.fields.get(field)) and not draft.covers((field,)):
            draft.fields[field] = value
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            notes.append(f"{field} was filled by preset {preset.name}: {told}")
    before = draft.fields.get("notes")
    if notes and (before is None or isinstance(before, list)):
        draft.fields["notes"] = [*(before or []), *notes]


def _drop_stale_notes(fields: dict[str, object], flags: Iterable[str]) -> None:
    """Take out what a saved intake tells of a preset's value where a flag has replaced the value."""
    notes = fields.get("notes")
    if isinstance(notes, list):
        told = tuple(f"{field} was filled by preset " for field in flags)
        kept = [note for note in notes if not (isinstance(note, str) and note.startswith(told))]
        if kept != notes:
            fields["notes"] = kept


def _drop_unknown(fields: dict[str, object], known: Iterable[str], where: Path, problems: list[Problem]) -> None:
    """Take unknown keys out and report each with the nearest known name."""
    names = tuple(known)
    for key in [key for key in fields if key not in names]:
        del fields[key]
        problems.append(Problem((*where, key), "is no field of an intake", nearest(key, names)))


def _check_texts(draft: _Draft) -> None:
    """Report text that no file can hold, and searched terms of more than one line."""
    for path, text in _texts(draft.fields, ()):
        written = draft.written(path)
        if draft.covers(written):
            continue
        if any("\ud800" <= char <= "\udfff" for char in text):
            draft.problems.append(
                Problem(written, "holds bytes or escapes that are no UTF-8 text", "write the text itself")
            )
        elif "\0" in text:
            draft.problems.append(Problem(written, "holds a NUL character", "remove it"))
        elif len(path) > 1 and path[-2] in _TERM_LISTS and "\n" in text.strip():
            draft.problems.append(
                Problem(written, "holds a line break", "a term is one line: write each as its own entry")
            )


def _texts(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from _texts(inner, (*path, place))


def _validated(draft: _Draft) -> Intake | None:
    """Return the model, or None with every complaint of its checks as a problem."""
    try:
        # What cannot be encoded has been reported above; it must not hide the other complaints.
        return Intake.model_validate_json(json.dumps(draft.fields, ensure_ascii=False).encode("utf-8", "replace"))
    except ValidationError as error:
        for complaint in error.errors(include_url=False):
            path = draft.written(complaint["loc"])
            if not draft.covers(path):
                draft.problems.append(as_problem(path, complaint))
    return None


def _contradictions(intake: Intake) -> Iterator[Problem]:
    """Yield what is legal by itself and not together."""
    if sentence := violation(intake):
        path, _, says = sentence.partition(" ")
        yield Problem((path,), says)
    if intake.surface_cap is not None and intake.dialect is not Dialect.SIDECAR:
        yield Problem(("surface_cap",), "is set by the sidecar dialect alone", "leave it out")
    exact = intake.enough_evidence
    if exact is None:
        return
    if exact.per_seed_coverage and not intake.explicit_seeds:
        yield Problem(
            ("enough_evidence", "per_seed_coverage"), "is true, and there are no explicit_seeds", "name a seed"
        )
    elif not any(
        (
            exact.min_surfaces,
            exact.min_claim_supporting,
            exact.required_terms,
            exact.required_paths,
            exact.per_seed_coverage,
        )
    ):
        yield Problem(("enough_evidence",), "names no criterion", "leave it out, and the sentence is compiled")
