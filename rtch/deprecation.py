"""Marks of deprecation and supersession: which lines of a text bear one, how plainly, and what takes the place.

``marks`` finds phrases; here it is decided which of them a reader takes for a mark. In code that is an annotation, a
call that warns, or a comment or docstring that says so; a name, a value or a mention is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from rtch.marks import MarkFinder
from rtch.models.features import FeatureLimits, Marker
from rtch.models.vocab import MarkerKind

LINE_CHARS = 400
"""Characters of a line that are looked at; a minified file's one line costs no more than another's."""
_MORE_LINES = 2
"""Lines after a mark in which what takes the place may be named."""
_CALL_CHARS = 600
"""Characters of a call in which it must say of what kind its warning is."""

_WORD = r"(?:deprecated|superseded|obsoleted?|no longer maintained)"
_STANDING = r"(?:superseded|deprecated|obsolete|rejected|absorbed|dismissed|withdrawn|deferred)"
_THING = (
    r"(?:this|the)(?: \w+){0,2}? (?:file|document|page|guide|section|chapter|module|package|library|project|repository|"
    r"script|tool|command|function|method|class|type|interface|api|endpoint|decision|adr|record|plugin|spec)"
)
_LEAD = r"[\s#>*_!\[\]()\"'/|:;,`~.@%-]*"
_PLAIN = re.compile(
    rf"^{_LEAD}(?:status\W{{1,8}}(?:{_STANDING}|terminal)|{_WORD}|deprecation (?:notice|warning))\b"
    rf"|\b(?:{_THING}|this|it) (?:is|are|was|were|has been|have been)(?: now)? {_WORD}\b"
    r"|\b(?:superseded|obsoleted)[ _-]by\b",
    re.IGNORECASE,
)
_SAID = re.compile(
    rf"\b(?:is|are|was|been|now) {_WORD}\b|\bdeprecated(?:[,:;(]|\)| (?:since|in|as of|and will|use)\b)", re.IGNORECASE
)
_NO_MARK = re.compile(
    r"\bdeprecated[\"']?\s*[:=]\s*(?:false|no|null|none|~|0|\"\"|''|\[\]|\{\})\s*,?\s*$"
    r"|\b(?:un|non|not[ -])deprecated\b|\bif (?:it is|it's) deprecated\b",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"^\s*[\"']?(?:superseded|replaced|obsoleted)[_-]?by[\"']?\s*+[:=]\s*+(?!(?:null|none|~|\"\"|''|\[\]|\{\})?\s*,?\s*$)",
    re.IGNORECASE,
)
_MOVED = re.compile(rf"^{_LEAD}(?:{_THING}|this) (?:is|was|has been|has) (?:replaced by|moved to)\b", re.IGNORECASE)
_ELSEWHERE = frozenset({"supersedes", "deprecation", "status: pending"})
"""Phrases that say nothing of the text they stand in: it takes another's place, speaks of the matter, is to come."""

_NAME = (
    r"(?:\[[^\]\n]{1,120}\]\(([^()\s]{1,200})\)|:\w+:`~?([^`\n]{1,120})`|`{1,2}([^`\n]{1,120})`{1,2}"
    r"|\{@link (?:#)?([\w.#]{1,120})[^}\n]*\}|[\"']([^\"'\n]{1,120})[\"']|([A-Z]{2,8}[ -]?\d{1,6})\b"
    r"|([\w@~][\w./\\:@~-]{0,160}))"
)
_SUCCESSOR = re.compile(
    r"\b(?:(?:superseded|obsoleted|replaced)[ _-]?(?:by|with)|in favou?r of|(?:moved|migrate|switch) to|ReplaceWith\()"
    rf"[\"'\s:=*_]*(?:the |a |an )?{_NAME}|\buse (?:the )?{_NAME}(?:\(\))?(?: \w+){{0,2}}?,? instead\b"
    rf"|\buse instead:? {_NAME}",
    re.IGNORECASE,
)
_SUPERSEDED = re.compile(r"\bsuperseded\b", re.IGNORECASE)

_STRING = r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.){0,100}+'"
"""What is not closed ends with its line, so that no line is scanned twice; a single quote may open nothing."""
_HASH = r"#[^\n]*+"
_SLASH = r"/\*.*?(?:\*/|\Z)|//[^\n]*+"
_TRIPLE = r"\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)"
_HASHED = (
    "py pyi pyx pxd pyw sh bash zsh fish rb pl pm r jl ex exs nim cr tcl awk ps1 coffee cmake cfg ini conf mk "
    "properties env tf nix makefile dockerfile"
)
_COMMENTS = {
    ending: re.compile(f"(?P<triple>{triple})|(?P<comment>{comment})|{_STRING}", re.DOTALL)
    for endings, comment, triple in (
        (_HASHED, _HASH, _TRIPLE),
        ("sql lua hs elm vhd ada", r"--\[\[.*?(?:\]\]|\Z)|\{-.*?(?:-\}|\Z)|--[^\n]*+", r"(?!)"),
        ("el lisp scm rkt clj cljs asm s", r";[^\n]*+", r"(?!)"),
        ("erl hrl", r"%[^\n]*+", r"(?!)"),
        ("html htm xml vue svelte", rf"<!--.*?(?:-->|\Z)|{_SLASH}", r"(?!)"),
        ("php", rf"{_SLASH}|#(?!\[)[^\n]*+", r"(?!)"),
    )
    for ending in endings.split()
}
_OTHER = re.compile(f"(?P<triple>(?!))|(?P<comment>{_SLASH})|{_STRING}", re.DOTALL)
_ANNOTATION = re.compile(
    r"@[\w.]*\bdeprecated?\b(?!\s*=[^=])|#\[\s*\\?deprecated\b|\[\[\s*(?:\w+::)?deprecated\b|\[\s*(?:System\.)?Obsolete\b"
    r"|__attribute__\s*\(\(\s*_*deprecated|__declspec\s*\(\s*deprecated|@available\([^)\n]*\bdeprecated\b"
    r"|\bG_DEPRECATED\w*",
    re.IGNORECASE,
)
_WARNS = re.compile(r"\b(?:warn|warn_explicit|emitWarning|trigger_error)\s*\(")
_OF_KIND = re.compile(r"\b(?:Pending)?DeprecationWarning\b|\bE_USER_DEPRECATED\b")
_INDENT = 200
"""Characters in which a line's beginning is looked for."""
_BEFORE = frozenset({"", "r", "u", "b", "@doc", "@moduledoc"})
"""What may stand between a line's beginning and a docstring."""
_NOT_NEWLINE = re.compile(r"[^\n]")


class Mark(NamedTuple):
    """A line that bears a mark.

    Attributes:
        line: from 1.
        text: the line without blanks around it, with those after it where it only opens a call.
        plain: whether it says so of what it stands at, and not only of something.
        superseded: whether it says or implies what takes the place.
        successor: what takes the place, as it is written; empty where no line tells.
    """

    line: int
    text: str
    plain: bool
    superseded: bool
    successor: str


def marks_of_document(texts: Sequence[str], markers: Iterable[Marker]) -> tuple[Mark, ...]:
    """Return the marks of a document or data file.

    Args:
        texts: its lines.
        markers: what was found in it.
    """
    heads = [text[:LINE_CHARS] for text in texts]
    found = {one.line for one in markers if _speaks_of_its_text(one)}
    found |= {number for number, head in enumerate(heads, 1) if _FIELD.match(head) or _MOVED.match(head)}
    made = []
    for line in sorted(line for line in found if line <= len(heads)):
        head = heads[line - 1]
        plain = _is_plain(head)
        if (plain or _SAID.search(head)) and not _NO_MARK.search(head):
            made.append(_mark(heads, line, plain=plain))
    return tuple(made)


def marks_of_code(path: str, text: str, finder: MarkFinder, limits: FeatureLimits) -> tuple[Mark, ...]:
    """Return the marks of a code file: by its annotations, its warnings, its comments and docstrings.

    Args:
        path: its name tells what a comment looks like.
        text: the whole file.
        finder: knows the phrases.
        limits: how many of them are looked at.
    """
    said, code = _parted(path, text)
    heads = [line[:LINE_CHARS].strip() for line in text.split("\n")]
    comments, codes = said.split("\n"), code.split("\n")
    found = dict.fromkeys(_in_code(code, limits.max_markers), True)
    for one in filter(_speaks_of_its_text, finder.find(said, limits).markers):
        comment = comments[one.line - 1][:LINE_CHARS]
        if one.phrase == "TERMINAL" or _NO_MARK.search(comment):
            continue
        plain = _is_plain(comment)
        if plain or _SAID.search(comment):
            # Beside code it is about that line.
            found[one.line] = found.get(one.line, False) or (plain and not codes[one.line - 1].strip())
    return tuple(_mark(heads, line, plain=plain) for line, plain in sorted(found.items()))


def _speaks_of_its_text(one: Marker) -> bool:
    phrase = " ".join(one.phrase.lower().split())
    return one.kind is MarkerKind.DEPRECATION and re.sub(r"[\W_]*:[\W_]*", ": ", phrase) not in _ELSEWHERE


def _is_plain(line: str) -> bool:
    return any(form.search(line) for form in (_PLAIN, _FIELD, _MOVED))


def _mark(texts: Sequence[str], line: int, *, plain: bool) -> Mark:
    text = texts[line - 1].strip()
    told = _SUCCESSOR.search(_with_next(texts, line))
    name = "" if told is None else next(group for group in told.groups() if group is not None).rstrip(".,;:")
    name = name.partition(" <")[0]
    superseded = told is not None or _SUPERSEDED.search(text) is not None or _FIELD.match(text) is not None
    whole = "\n".join(text.strip() for text in texts[line - 1 : line + _MORE_LINES]) if text.endswith("(") else text
    return Mark(line, whole, plain, superseded, "" if name.isalpha() and name.islower() else name)


def _with_next(texts: Sequence[str], line: int) -> str:
    """Return a line with those that go on with what it says, as one."""
    parts = [texts[line - 1].strip()]
    for text in texts[line : line + _MORE_LINES]:
        more = text.strip().lstrip("#/*;%->! \t").strip("\"'")
        if not more or _ANNOTATION.search(text):
            break
        parts.append(more)
    return " ".join(parts)


def _parted(path: str, text: str) -> tuple[str, str]:
    """Return a text's comments and docstrings, and its code without strings, each with blanks for the rest."""
    said: list[str] = []
    code: list[str] = []
    at = 0
    for match in _COMMENTS.get(re.split(r"[./]", path.lower())[-1], _OTHER).finditer(text):
        between, found = text[at : match.start()], match[0]
        speaks = match["comment"] is not None or (match["triple"] is not None and _begins_a_line(text, match.start()))
        said += (_blank(between), found if speaks else _blank(found))
        code += (between, _blank(found))
        at = match.end()
    return "".join([*said, _blank(text[at:])]), "".join([*code, text[at:]])


def _blank(text: str) -> str:
    return _NOT_NEWLINE.sub(" ", text)


def _begins_a_line(text: str, start: int) -> bool:
    before = text[max(0, start - _INDENT) : start]
    return before.count("\n") + (start <= _INDENT) > 0 and before.rpartition("\n")[2].strip().lower() in _BEFORE


def _in_code(code: str, most: int) -> Iterator[int]:
    """Yield the lines of the first annotations and of the first calls that warn."""
    starts = [match.start() for match in islice(_ANNOTATION.finditer(code), most)]
    line, counted = 1, 0
    for start in sorted([*starts, *islice(_warnings(code), most)]):
        line += code.count("\n", counted, start)
        counted = start
        yield line


def _warnings(code: str) -> Iterator[int]:
    """Yield where calls begin that have the name of such a warning between their brackets."""
    for kind in _OF_KIND.finditer(code):
        begin = max(0, kind.start() - _CALL_CHARS)
        before = code[begin : kind.start()]
        call = next(reversed(list(_WARNS.finditer(before))), None)
        if call is not None and before.count("(", call.end()) >= before.count(")", call.end()):
            yield begin + call.start()
