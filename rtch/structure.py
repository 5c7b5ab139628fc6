"""What is in a document or a data file: headings, keys, ids, markers and links, from its bytes.

The notations have modules of their own; here it is decided which one reads a file, how much of it,
and what a section is. Code is the business of ``symbols``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import NamedTuple

from rtch.data_keys import KeyScan, ceiling
from rtch.front_matter import front_matter
from rtch.json_keys import json_keys, json_line_keys
from rtch.markdown import scan_markdown
from rtch.marks import MarkFinder, MarkScan
from rtch.models.features import (
    DurableId,
    FeatureLimits,
    FileFeatures,
    Heading,
    Key,
    Problem,
    Reference,
    Section,
    Symbol,
)
from rtch.models.patterns import Patterns
from rtch.models.vocab import CautionFlag, FileRole
from rtch.notebooks import read_notebook
from rtch.roles import role_of
from rtch.symbols import from_lines
from rtch.text import decode, is_binary
from rtch.titles import scan_asciidoc, scan_rst
from rtch.toml_keys import toml_keys
from rtch.yaml_keys import yaml_keys


class Notation(Enum):
    """How a document or data file is written."""

    MARKDOWN = auto()
    RST = auto()
    ASCIIDOC = auto()
    JSON = auto()
    JSON_LINES = auto()
    YAML = auto()
    TOML = auto()
    NOTEBOOK = auto()


_BY_ENDING = {
    ending: notation
    for notation, endings in (
        (Notation.MARKDOWN, "md markdown mdown mkd mdx mdc"),
        # Plain text has its titles underlined too, if any.
        (Notation.RST, "rst rest txt text"),
        (Notation.ASCIIDOC, "adoc asciidoc"),
        (Notation.JSON, "json jsonc json5 webmanifest geojson code-workspace ticzone"),
        (Notation.JSON_LINES, "jsonl ndjson"),
        (Notation.YAML, "yaml yml cff"),
        (Notation.TOML, "toml"),
        (Notation.NOTEBOOK, "ipynb"),
    )
    for ending in endings.split()
}
_BY_NAME = {
    "pipfile": Notation.TOML,
    ".clang-format": Notation.YAML,
    ".prettierrc": Notation.YAML,  # of which JSON is a part
    ".babelrc": Notation.JSON,
    **dict.fromkeys(
        ("readme", "changes", "changelog", "news", "history", "todo", "install", "authors", "contributing", "license"),
        Notation.RST,
    ),
}


def notation_of(path: str) -> Notation | None:
    """Return the notation that a path's name tells, if it is a document's or data file's."""
    name = path.rpartition("/")[2].lower()
    return _BY_NAME.get(name) or (_BY_ENDING.get(name.rpartition(".")[2]) if "." in name else None)


def is_document(path: str) -> bool:
    """Tell whether ``document_features`` knows this notation (md, rst, adoc, txt, json, yaml, toml, ipynb...)."""
    return notation_of(path) is not None


class _Source(NamedTuple):
    """The part of a file that is looked at: as text, and as UTF-8 bytes; without byte order mark."""

    text: str
    data: bytes
    complete: bool
    problems: tuple[Problem, ...]


class _Found(NamedTuple):
    """What a notation's reader found."""

    headings: tuple[Heading, ...] = ()
    keys: tuple[Key, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    references: tuple[Reference, ...] = ()
    problems: tuple[Problem, ...] = ()
    truncated: bool = False
    marks: MarkScan | None = None


_Reader = Callable[[_Source, FeatureLimits, MarkFinder], _Found]


def document_features(
    path: str, data: bytes, limits: FeatureLimits | None = None, *, patterns: Patterns | None = None
) -> FileFeatures:
    """Read what one document or data file shows.

    Args:
        path: POSIX, relative to the zone root; its name chooses the notation.
        data: all of the file's bytes.
        limits: how much is looked at and kept.
        patterns: durable ids and marker phrases; the packaged ones by default.

    Bounds: ``limits.max_bytes`` of the file, for YAML and TOML keys ``limits.max_slow_bytes``. No
        input raises; what cannot be read becomes a problem. A lock file's keys are left out, for
        they repeat what the manifest beside it says.
    """
    limits = limits or FeatureLimits()
    role, notation = role_of(path), notation_of(path)
    if is_binary(data):
        problem = Problem(CautionFlag.ENCODING, 1, "it holds NUL bytes and is taken for binary")
        return FileFeatures(path=path, role=role, problems=(problem,))
    finder = _finder(patterns)
    source = _source(data, limits.max_bytes)
    found = _Found()
    if notation is not None and role is not FileRole.LOCK:
        found = _READERS[notation](source, limits, finder)
    marks = found.marks or finder.find(source.text, limits)
    markers = (*marks.markers, *finder.in_headings(found.headings))
    return FileFeatures(
        path=path,
        role=role,
        headings=found.headings,
        keys=found.keys,
        symbols=found.symbols,
        ids=marks.ids,
        markers=tuple(sorted(markers, key=lambda marker: marker.line)[: limits.max_markers]),
        references=found.references,
        problems=tuple(sorted((*source.problems, *found.problems), key=lambda problem: problem.line)),
        truncated=found.truncated or marks.truncated or not source.complete or len(markers) > limits.max_markers,
    )


def headings_of(path: str, data: bytes, limits: FeatureLimits | None = None) -> tuple[Heading, ...]:
    """Return the headings of one document, as ``document_features`` has them, without all else that it looks for."""
    notation = notation_of(path)
    if notation not in _HEADED or is_binary(data) or role_of(path) is FileRole.LOCK:
        return ()
    limits = limits or FeatureLimits()
    return _READERS[notation](_source(data, limits.max_bytes), limits, _finder(None)).headings


_FINDERS: list[tuple[Patterns, MarkFinder]] = []


def _finder(patterns: Patterns | None) -> MarkFinder:
    """Return the compiled patterns, the last ones from memory; by identity, as hashing them takes 0.2 ms."""
    for known, finder in _FINDERS:
        if known is patterns:
            return finder
    if patterns is None:
        from rtch.limits import load_limits  # noqa: PLC0415  reads configuration, which a caller with patterns need not

        return _finder(load_limits().survey.patterns)
    _FINDERS[:] = [(patterns, MarkFinder(patterns)), *_FINDERS[:3]]
    return _FINDERS[0][1]


def _source(data: bytes, max_bytes: int) -> _Source:
    kept = data if len(data) <= max_bytes else data[: _cut(data, max_bytes)]
    decoded = decode(kept)
    problems = [] if len(kept) == len(data) else [ceiling(len(kept), len(data))]
    if decoded.encoding == "latin-1":
        problems.append(Problem(CautionFlag.ENCODING, 1, "it is not UTF-8 and was read as Latin-1, which is a guess"))
    elif not decoded.exact:
        problems.append(Problem(CautionFlag.ENCODING, 1, f"it is damaged {decoded.encoding.upper()}"))
    plain = decoded.encoding == "utf-8"
    utf8 = (kept[3:] if decoded.bom else kept) if plain else decoded.text.encode()
    return _Source(decoded.text, utf8, len(kept) == len(data), tuple(problems))


def _cut(data: bytes, most: int) -> int:
    """Return where to cut: after a line, or where there is none between two characters."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return most - most % 4
    after_line = data.rfind(b"\n", 0, most) + 1
    if after_line:
        return after_line
    while most and data[most] & 0xC0 == 0x80:
        most -= 1
    return most


def _short(source: _Source, limits: FeatureLimits) -> tuple[str, bool, tuple[Problem, ...]]:
    """Return what a slow scanner is given, whether that is all, and the problem that it is not."""
    if len(source.data) <= limits.max_slow_bytes:
        return source.text, source.complete, ()
    kept = source.data[: _cut(source.data, limits.max_slow_bytes)]
    problem = ceiling(len(kept), len(source.data))
    return kept.decode(), False, (problem._replace(detail=f"{problem.detail} for keys"),)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def _read_markdown(source: _Source, limits: FeatureLimits, _: MarkFinder) -> _Found:
    lines = _lines(source.text)
    front = front_matter(source.text, limits)
    skipped = front.end_line if front else 0
    scan = scan_markdown(lines[skipped:], limits, first_line=skipped + 1)
    keys = front.scan if front else KeyScan((), (), truncated=False)
    problems = keys.problems
    if scan.unclosed_fence is not None and source.complete:
        detail = "a code fence is opened here and never closed; # lines after it are listed as possible headings"
        problems += (Problem(CautionFlag.UNCLOSED_FENCE, scan.unclosed_fence, detail),)
    return _Found(
        headings=scan.headings,
        keys=keys.keys,
        references=scan.links,
        problems=problems,
        truncated=scan.truncated or keys.truncated,
    )


def _read_rst(source: _Source, limits: FeatureLimits, _: MarkFinder) -> _Found:
    scan = scan_rst(_lines(source.text), limits)
    return _Found(headings=scan.headings, references=scan.references, truncated=scan.truncated)


def _read_asciidoc(source: _Source, limits: FeatureLimits, _: MarkFinder) -> _Found:
    front = front_matter(source.text, limits)
    skipped = front.end_line if front else 0
    scan = scan_asciidoc(_lines(source.text)[skipped:], limits, first_line=skipped + 1)
    keys = front.scan if front else KeyScan((), (), truncated=False)
    return _keyed(keys)._replace(
        headings=scan.headings, references=scan.references, truncated=scan.truncated or keys.truncated
    )


def _keyed(scan: KeyScan) -> _Found:
    return _Found(keys=scan.keys, problems=scan.problems, truncated=scan.truncated)


def _read_json(source: _Source, limits: FeatureLimits, _: MarkFinder) -> _Found:
    return _keyed(json_keys(source.data, limits, complete=source.complete))


def _read_json_lines(source: _Source, limits: FeatureLimits, _: MarkFinder) -> _Found:
    return _keyed(json_line_keys(source.data, limits, complete=source.complete))


def _read_yaml(source: _Source, limits: FeatureLimits, _: MarkFinder) -> _Found:
    text, complete, problems = _short(source, limits)
    scan = yaml_keys(text, limits, complete=complete)
    return _keyed(scan)._replace(problems=problems + scan.problems, truncated=scan.truncated or not complete)


def _read_toml(source: _Source, limits: FeatureLimits, _: MarkFinder) -> _Found:
    text, complete, problems = _short(source, limits)
    scan = toml_keys(text, limits, complete=complete)
    return _keyed(scan)._replace(problems=problems + scan.problems, truncated=scan.truncated or not complete)


def _read_notebook(source: _Source, limits: FeatureLimits, finder: MarkFinder) -> _Found:
    """Read each cell's source in its own notation; what is found gets the line of the file it stands in."""
    notebook = read_notebook(source.data, complete=source.complete)
    headings: list[Heading] = []
    links: list[Reference] = []
    symbols: list[Symbol] = []
    for cell in notebook.cells:
        if cell.is_markdown:
            scan = scan_markdown([line.removesuffix("\r") for line in cell.lines], limits)
            headings += (one._replace(line=cell.numbers[one.line - 1]) for one in scan.headings)
            links += (one._replace(line=cell.numbers[one.line - 1]) for one in scan.links)
        else:
            rows = ((number, line.encode()) for number, line in zip(cell.numbers, cell.lines, strict=True))
            defined, imported = from_lines("cell.py", rows)
            symbols += defined
            links += imported
    numbers = [number for cell in notebook.cells for number in cell.numbers]
    marks = finder.find("\n".join(line for cell in notebook.cells for line in cell.lines), limits)
    placed: tuple[DurableId, ...] = tuple(one._replace(line=numbers[one.line - 1]) for one in marks.ids)
    return _Found(
        headings=tuple(headings[: limits.max_headings]),
        symbols=tuple(symbols[: limits.max_symbols]),
        references=tuple(links[: limits.max_references]),
        problems=notebook.problems,
        truncated=len(headings) > limits.max_headings or len(links) > limits.max_references,
        marks=marks._replace(
            ids=placed, markers=tuple(one._replace(line=numbers[one.line - 1]) for one in marks.markers)
        ),
    )


_READERS: dict[Notation, _Reader] = {
    Notation.MARKDOWN: _read_markdown,
    Notation.RST: _read_rst,
    Notation.ASCIIDOC: _read_asciidoc,
    Notation.JSON: _read_json,
    Notation.JSON_LINES: _read_json_lines,
    Notation.YAML: _read_yaml,
    Notation.TOML: _read_toml,
    Notation.NOTEBOOK: _read_notebook,
}


_HEADED = frozenset({Notation.MARKDOWN, Notation.RST, Notation.ASCIIDOC, Notation.NOTEBOOK})
"""Notations of documents; data has keys and no headings."""


def sections(headings: Sequence[Heading], line_count: int) -> tuple[Section, ...]:
    """Return each heading's reach, in the order of the headings; the headings are by line."""
    ends = [max(line_count, heading.line) for heading in headings]
    above: list[int] = []
    paths: list[tuple[str, ...]] = []
    for place, heading in enumerate(headings):
        while above and headings[above[-1]].level >= heading.level:
            closed = above.pop()
            ends[closed] = max(heading.line - 1, headings[closed].line)
        above.append(place)
        paths.append(tuple(headings[one].text for one in above))
    return tuple(
        Section(path, heading.level, heading.line, end)
        for path, heading, end in zip(paths, headings, ends, strict=True)
    )


def enclosing(sections: Sequence[Section], line: int) -> Section | None:
    """Return the innermost section that holds a line; the sections are as ``sections`` returns them."""
    place = bisect_right(sections, line, key=lambda section: section.start_line)
    section = sections[place - 1] if place else None
    return section if section is not None and line <= section.end_line else None
