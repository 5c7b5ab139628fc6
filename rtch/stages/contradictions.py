"""Truth files that state different values of one key.

What states a key: a registry, a manifest, a configuration file at the root or in a folder for them, and whatever the
answer cites (JSON, YAML, TOML); the front matter of a document that speaks for its folder,
and what such a document says of a named setting (``prose_values``). Two of them are held against each other only where
the key can mean the same thing:

- The files are of one package (the nearest folder above with a package's manifest, or a rung), and the folder of one
  lies in or above that of the other. Folders that only sort a package's files (``docs``, ``config``) do not count.
- They are not of one kind. Two registries of one kind and notation, two decision records, two files of one name or of
  names that share a word beside each other, and two that share more than half of their keys are instances of one form,
  and about different things. So is a key of which three files say three things a field that each has of its own.
- A manifest is read by its own tool, so its keys are compared with prose alone. Front matter tells of its document:
  two of them are compared by numbers and switches alone.
- Of two structured files the whole dotted path is the same, has two parts or more, and neither leads through what
  every file has (``metadata``, ``properties``), nor ends in what tells of the file itself (``name``, ``updated_at``).
- Prose and a structured file: the same, or a key of one part with at least eight characters and a ``_`` or ``-`` among
  them, in a table of settings or a code span.
- Two documents: the same key in a table of settings, or a bold one of two words or more below the same heading; what a
  line says must hold a digit or be a switch.

A file that states a key twice states nothing of it, and neither does a value that is a template, a path from
different folders, or more than four words. Two ways to write one value are the same (``data_values.plain``).
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from itertools import combinations
from typing import NamedTuple

from rtch.data_values import Unreadable, Value, plain, scalars, yaml_scalars
from rtch.finding import excerpt, finding
from rtch.front_matter import front_matter
from rtch.limits import DriftLimits
from rtch.masking import mask
from rtch.models.drift import Anchor, Certainty, Checked, DriftCounts, DriftKind, Finding, NotJudged
from rtch.models.packet import Findings
from rtch.models.tree import Listing
from rtch.models.vocab import EntryKind, FileRole
from rtch.prose_values import How, stated
from rtch.reading import SkippedFile
from rtch.reentry import reentry_command
from rtch.roles import QUIET, role_of
from rtch.stages.desk import Desk
from rtch.structure import Notation, notation_of
from rtch.text import decode

VALUE_CHARS = 80
VALUE_WORDS = 4
LEAST_KEY = 8
"""Characters of a key of one part that tells what it is."""
LEAST_SHARED = 4
"""Keys from which on two files are told to be instances of one form by what they share."""
MOST_TOLD = 3
MOST_CONFIGURATIONS = 60
"""As many as there may be truth files of each other sort."""
_PAST = frozenset({FileRole.CHANGELOG, FileRole.LEDGER})
_PACKAGES = re.compile(
    r"pyproject\.toml|setup\.py|setup\.cfg|package\.json|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|Gemfile|"
    r"composer\.json|Chart\.yaml|deno\.json|dune-project|meson\.build"
)
_SORTING = frozenset({"doc", "docs", "documentation", "config", "conf", "etc", ".github", "meta"})
_EVERYWHERE = re.compile(
    r"_?meta|metadata|info|header|properties|definitions|\$\w+|items|components|paths|pattern_?properties|\w*dependencies|"
    r"scripts|stats|statistics|summary|counts?|totals?|authors?|sidebar|hero|seo|head|nav|example|examples|defs|engines",
    re.IGNORECASE,
)
_OF_THE_FILE = re.compile(
    r"name|id|type|version|title|description|path|url|uri|key|value|kind|status|state|default|enabled|disabled|label|format|"
    r"author|owner|license|date|tags?|order|weight|icon|layout|slug|comment|notes?|source|target|role|required|"
    r"(?:schema|generated|last|first|updated|created|modified|total|count|num|n|file|document|doc|format)[_-].+|"
    r".+[_-](?:at|on|date|by|count|total|hash|sha\d*|digest|version|id|path|file|url|name|type|title|description|status|"
    r"state|time|timestamp|tic)",
    re.IGNORECASE,
)
_OF_THE_DOCUMENT = re.compile(
    r"\b(?:updated?|version|status|date|authors?|owners?|licen[cs]e|created|revision|reviewed|last|released?|note|"
    r"example|step|phase|part|section|table|figure|total|count|number of|tic)\b"
)
_CONFIGURED = frozenset({"", "config", "conf", "etc", "settings"})
_DATA = frozenset({Notation.JSON, Notation.YAML, Notation.TOML})
_TEMPLATE = re.compile(r"[${<%]|\.\.\.|…")
_SECRET = re.compile(
    r"pass(?:word|wd|phrase)?|pwd|secrets?|tokens?|keys?|api_?key|credentials?|auth|private", re.IGNORECASE
)
_STEM_WORD = re.compile(r"[a-z]{3,}")
_WORD = re.compile(r"[A-Z]?[a-z\d]+|[A-Z]+(?![a-z])")


class _Form(Enum):
    DATA = auto()
    MANIFEST = auto()
    FRONT_MATTER = auto()
    PROSE = auto()


_STRUCTURED = frozenset({_Form.DATA, _Form.FRONT_MATTER})


class _Source(NamedTuple):
    """A truth file with what it states; ``sort`` is what others are instances of too."""

    path: str
    form: _Form
    sort: str
    values: Mapping[str, Value]
    hows: Mapping[str, How]
    headings: Mapping[str, str]


class _Said(NamedTuple):
    """One value of a key."""

    path: str
    value: Value


def contradictions(before: Findings, after: Findings, listing: Listing, limits: DriftLimits, desk: Desk) -> Checked:
    """Return a finding for each key that truth files contradict each other on.

    Args:
        before: what the baseline has.
        after: what the same question gives now.
        listing: the tree as it is.
        limits: how far to look.
        desk: the tree's reader.
    """
    del before
    left: list[NotJudged] = []
    sources = [one for path, why in _truth_files(after, listing) for one in _sources(path, why, limits, desk, left)]
    placing = _Placing(after, listing)
    said: dict[str, dict[str, Value]] = defaultdict(dict)
    certain: set[str] = set()
    stated_twice: set[str] = set()
    for one, other in combinations(sources, 2):
        if not _comparable(one, other) or not placing.is_one_place(one.path, other.path):
            continue
        for key in _shared(one, other):
            stated_twice.add(key)
            if _contradict(one, other, key):
                said[key] |= {one.path: one.values[key], other.path: other.values[key]}
                certain |= {key} if one.form in _STRUCTURED and other.form in _STRUCTURED else set()
    encoded = frozenset(listing.paths[i] for i in listing.encoded)
    told_apart = [key for key in sorted(said) if len({plain(one.text) for one in said[key].values()}) == 2]
    found = [_finding(key, said[key], encoded, certain=key in certain) for key in told_apart]
    cut = max(0, len(found) - limits.max_findings)
    if cut:
        left.append(NotJudged(what="contradictions", why=f"{cut} more keys are contradicted than are kept"))
    counts = DriftCounts(truth_files=len({one.path for one in sources}), keys=len(stated_twice))
    kept = tuple(found[: limits.max_findings])
    return Checked(findings=kept, findings_cut=cut, counts=counts, not_judged=tuple(left))


# What is stated.


def _truth_files(after: Findings, listing: Listing) -> list[tuple[str, str]]:
    """Return the truth files that are there and speak of now, with why each is one."""
    zone = after.zone_descriptor
    files = dict(zip(listing.paths, listing.kinds, strict=True))
    found = dict.fromkeys(_configuration(listing), "a configuration file")
    # What an answer is built on speaks for it, whatever it is called.
    found |= {one.path: "cited" for one in after.selected_surfaces}
    found |= {one.path: one.why for one in zone.registries} | {one.path: one.why for one in zone.truth_files}
    silent = QUIET | _PAST
    return [
        (path, why)
        for path, why in sorted(found.items())
        if files.get(path) is EntryKind.FILE and role_of(path) not in silent
    ]


def _configuration(listing: Listing) -> list[str]:
    """Return the configuration files at the root, or in a folder of it that is for them, by name."""
    found = [
        path
        for path in listing.files()
        if path.rpartition("/")[0] in _CONFIGURED and notation_of(path) in _DATA and role_of(path) is FileRole.CONFIG
    ]
    return found[:MOST_CONFIGURATIONS]


def _sources(path: str, why: str, limits: DriftLimits, desk: Desk, left: list[NotJudged]) -> list[_Source]:
    """Read what one truth file states; what cannot be read is noted in ``left``."""
    notation = notation_of(path)
    if notation not in _DATA | {Notation.MARKDOWN}:
        return []
    try:
        text = decode(desk.workspace.read(path, max_bytes=limits.max_truth_bytes).data).text
        if notation is Notation.MARKDOWN:
            return _of_document(path, why, text, limits)
        form = _Form.MANIFEST if why == "a manifest by its name" else _Form.DATA
        return [_Source(path, form, f"{why} {notation.name}", _settings(scalars(path, text)), {}, {})]
    except SkippedFile as skipped:
        left.append(NotJudged(what=path, why=f"its keys: {skipped.detail or skipped.reason}"))
    except Unreadable as unreadable:
        left.append(NotJudged(what=path, why=f"its keys: {unreadable}"))
    return []


def _of_document(path: str, why: str, text: str, limits: DriftLimits) -> list[_Source]:
    front = front_matter(text, limits.survey.features)
    lines = text.split("\n")
    found = []
    end = 0 if front is None else front.end_line
    if front is not None:
        block = "\n".join(lines[1 : end - 1])
        values = yaml_scalars(block, first_line=2) if lines[0].startswith("---") else _below(scalars("a.toml", block))
        found.append(_Source(path, _Form.FRONT_MATTER, why, _settings(values), {}, {}))
    if why != "a decision record":  # which tells what held on its day
        rows = [one for one in stated(lines[end:], first_line=end + 1) if _is_setting(one.text)]
        texts: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            texts[row.key].add(plain(row.text))
        once = {row.key: row for row in reversed(rows) if len(texts[row.key]) == 1}
        values = {key: Value(row.text, row.line) for key, row in once.items()}
        hows = {key: row.how for key, row in once.items()}
        found.append(_Source(path, _Form.PROSE, why, values, hows, {key: row.heading for key, row in once.items()}))
    return found


def _below(values: Mapping[str, Value]) -> dict[str, Value]:
    return {key: value._replace(line=value.line + 1) for key, value in values.items()}


def _settings(values: Mapping[str, Value]) -> dict[str, Value]:
    return {key: value for key, value in values.items() if _is_setting(value.text)}


def _is_setting(text: str) -> bool:
    return (
        len(text) <= VALUE_CHARS
        and len(text.split()) <= VALUE_WORDS
        and not _TEMPLATE.search(text)
        and plain(text) != ""
    )


# What may be compared.


class _Placing:
    """Tells whether two files are about one part of the tree."""

    def __init__(self, after: Findings, listing: Listing) -> None:
        folders = {posixpath.dirname(path) for path in listing.files() if _PACKAGES.fullmatch(posixpath.basename(path))}
        rungs = (one.path for one in after.zone_descriptor.rungs)
        self._homes = folders | {"" if path == "." else path for path in rungs} | {""}

    def is_one_place(self, one: str, other: str) -> bool:
        """Tell whether both are of one package, and one's folder is in or above the other's."""
        if self._home(one) != self._home(other):
            return False
        short, long = sorted((_folders(one), _folders(other)), key=len)
        return long[: len(short)] == short

    def _home(self, path: str) -> str:
        folder = posixpath.dirname(path)
        while folder not in self._homes:
            folder = posixpath.dirname(folder)
        return folder


def _folders(path: str) -> list[str]:
    return [part for part in path.split("/")[:-1] if part.lower() not in _SORTING]


def _comparable(one: _Source, other: _Source) -> bool:
    forms = {one.form, other.form}
    if posixpath.basename(one.path) == posixpath.basename(other.path):
        return False
    if _Form.PROSE in forms:
        return _Form.FRONT_MATTER not in forms
    return _Form.MANIFEST not in forms and not _of_one_kind(one, other)


def _of_one_kind(one: _Source, other: _Source) -> bool:
    """Tell whether two structured files are instances of one form."""
    if (
        one.form is other.form
        and one.sort == other.sort
        and (one.form is _Form.DATA or one.sort == "a decision record")
    ):
        return True
    (stem, ending), (stem2, ending2) = (posixpath.splitext(file.path.lower()) for file in (one, other))
    if posixpath.dirname(stem) == posixpath.dirname(stem2) and ending == ending2 and one.form is _Form.DATA:
        words, words2 = (set(_STEM_WORD.findall(posixpath.basename(each))) for each in (stem, stem2))
        if words & words2:
            return True
    fewer = min(len(one.values), len(other.values))
    return fewer >= LEAST_SHARED and 2 * len(one.values.keys() & other.values.keys()) > fewer


def _shared(one: _Source, other: _Source) -> list[str]:
    """Return the keys that mean the same in both."""
    keys = sorted(one.values.keys() & other.values.keys())
    if _Form.PROSE not in {one.form, other.form}:
        front = one.form is other.form is _Form.FRONT_MATTER
        return [key for key in keys if "." in key and _tells(key) and not (front and not _is_switch(one, other, key))]
    if one.form is other.form:
        return [key for key in keys if _same_in_prose(one, other, key)]
    prose = one if one.form is _Form.PROSE else other
    return [key for key in keys if prose.hows[key] is not How.LINE and _tells(key)]


def _same_in_prose(one: _Source, other: _Source, key: str) -> bool:
    if one.hows[key] is not other.hows[key]:
        return False
    if one.hows[key] is How.TABLE:
        return _tells(key)
    return (
        one.hows[key] is How.LINE
        and one.headings[key] == other.headings[key]
        and " " in key
        and not _OF_THE_DOCUMENT.search(key)
        and _is_switch(one, other, key)
    )


def _is_switch(one: _Source, other: _Source, key: str) -> bool:
    """Tell whether both values are numbers, or have one, or are true or false."""
    values = [plain(each.values[key].text) for each in (one, other)]
    return all(value in {"true", "false"} or any(char.isdigit() for char in value) for value in values)


def _tells(key: str) -> bool:
    """Tell whether a dotted key says enough for it to mean one thing."""
    *parents, leaf = key.split(".")
    if "[]" in key or _OF_THE_FILE.fullmatch(leaf) or any(_EVERYWHERE.fullmatch(part) for part in parents):
        return False
    if not parents:
        return len(leaf) >= LEAST_KEY and ("_" in leaf or "-" in leaf)
    return not all(_OF_THE_FILE.fullmatch(part) for part in parents)


def _contradict(one: _Source, other: _Source, key: str) -> bool:
    texts = one.values[key].text, other.values[key].text
    if any("/" in text or text.startswith(".") for text in texts) and _folder(one) != _folder(other):
        return False
    return plain(texts[0]) != plain(texts[1])


def _folder(one: _Source) -> str:
    return posixpath.dirname(one.path)


# What is said of it.


def _finding(key: str, said: Mapping[str, Value], encoded: frozenset[str], *, certain: bool) -> Finding:
    paths = sorted(said)
    places = [
        Anchor(path=path, path_encoded=path in encoded, start_line=said[path].line, end_line=said[path].line)
        for path in paths
    ]
    hidden = _is_secret(key, (value.text for value in said.values()))
    at, shown = places[0], excerpt(key)
    return finding(
        DriftKind.CONTRADICTION,
        subject=(key, *paths),
        state=("hidden",) if hidden else tuple(plain(said[path].text) for path in paths),
        message=f"{shown} {_told([_Said(path, said[path]) for path in paths], hidden=hidden)}",
        at=at,
        certainty=Certainty.LIKELY if certain else Certainty.POSSIBLE,
        found="" if hidden else excerpt(f"{key}: {said[paths[0]].text}"),
        related=tuple(places[1:]),
        next_command=reentry_command(at.path, at.start_line, at.end_line, encoded=at.path_encoded),
    )


def _is_secret(key: str, texts: Iterable[str]) -> bool:
    words = {word.lower() for word in _WORD.findall(key)}
    leaf = key.rpartition(".")[2]
    return any(_SECRET.fullmatch(word) for word in words) or any(mask(f'{leaf} = "{text}"').masked for text in texts)


def _told(said: Sequence[_Said], *, hidden: bool) -> str:
    parts = [
        f"{one.path}:L{one.value.line}" if hidden else f"{excerpt(one.value.text)} in {one.path}:L{one.value.line}"
        for one in said[:MOST_TOLD]
    ]
    more = len(said) - len(parts)
    parts += [f"otherwise in {more} more"] if more > 0 else []
    told = f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"has different values in {told}" if hidden else f"is {told}"
