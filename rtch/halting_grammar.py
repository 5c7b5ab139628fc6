r"""A sentence that says when to stop becomes criteria, and the clauses that no machine can check.

The sentence is cut at ``. ; ! ?`` and line breaks, and each part at commas, ``and``, ``plus``, ``as well as`` and
``along with``, never inside quotes or names. A clause is read for

    count       [at least | more than | exactly] N [+ | or more | to M] [adjectives] NOUN
                surfaces, files, documents, modules, paths, sources       -> min_surfaces, of a class if named
                chunks, snippets, excerpts, passages, citations, spans    -> min_chunks, or min_class with a class
                definitions, declarations                                 -> definition
                hits, matches, evidence (with a class only)               -> min_class
    class       claim-supporting | source-bearing | hydrated, before a noun, with a count or alone
    definition  definition of, defined, declares, ... with a name         -> definition
    seeds       each | every | all [of the] seed[s], per seed             -> per_seed_coverage
    target      the known target                                          -> required_path
    names       "quoted", 'quoted', `backticked`, snake_case, CamelCase, dotted.name, call(), --option,
                ID-123                                                    -> required_term
                dir/file.ext, file.ext, a/b/c, `quoted/dir`               -> required_path

A clause is kept verbatim as not machine checked when it is negated or says "at most", when nothing in it was
read, when words that carry meaning are left over, or when it relates two things to each other: "3 files that
mention `x`" checks the files and the word, and not that they are the same. A part with "or", "if" or "unless" is
kept whole and not read, for a criterion from half of it could be wrong either way. Numbers are digits or the words
to twenty and "a dozen"; "several" is no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rtch.halting_names import BLOT, Part, clauses_of, parts_of
from rtch.models.intake import CompiledCriterion
from rtch.models.vocab import ConfidenceClass, CriterionKind

MAX_COUNT = 10_000
"""No level selects as many; a larger number is prose."""


class Clause(NamedTuple):
    """A clause in the person's words, its criteria, and whether these are all that it says."""

    text: str
    criteria: tuple[CompiledCriterion, ...] = ()
    whole: bool = False


def read_sentence(sentence: str, *, seeds: tuple[str, ...] = (), known_target: str | None = None) -> tuple[Clause, ...]:
    """Read a halting sentence clause by clause, in its own order.

    Args:
        sentence: the person's words.
        seeds: the explicit seeds, each of which "every seed" asks for.
        known_target: the path that "the known target" names.
    """
    clauses: list[Clause] = []
    for part in parts_of(sentence):
        if _UNDECIDED.search(_OR_MORE.sub(" ", part.masked)):
            clauses.append(Clause(part.verbatim))
        else:
            clauses += _read_part(part, seeds, known_target)
    return tuple(clauses)


_UNDECIDED = re.compile(r"\b(?:or|nor|if|unless|except|otherwise|either|neither|depending)\b")
_OR_MORE = re.compile(r"\bor (?:more|greater)\b")
_FOR_EACH = re.compile(r"\b(?:each|every|per|apiece)\b")
_SEEDS = re.compile(
    r"\b(?:each|every|all)(?: of)?(?: the| my| its| these)?(?: explicit| given| listed| named)? seeds?\b"
    r"|\bper[ -]seed\b"
)
_TARGET = re.compile(r"\b(?:the )?known target\b")
_DEFINES = re.compile(r"\b(?:defin(?:ition|itions|ed|es|ing)|declar(?:ation|ations|ed|es|ing))\b")
_THE_DEFINITION = re.compile(r"\b(?:the|its|their) (?:definitions?|declarations?)\b")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*")
_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*|\d+")

_WEAK_ONE = frozenset({"a", "an"})
_NUMBER_WORDS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_NUMBERS = {"an": 1, "a single": 1, "single": 1, "both": 2, "a couple of": 2, "a pair of": 2, "a dozen": 12, "a": 1}
_NUMBERS |= {word: value for value, word in enumerate(_NUMBER_WORDS, start=1)}
_NUMBER = r"\d{1,6}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
_CLASSES = {
    "claim": ConfidenceClass.CLAIM_SUPPORTING,
    "source": ConfidenceClass.SOURCE_BEARING_HIT,
    "hydrated": ConfidenceClass.HYDRATED_EVIDENCE,
}
_CLASS = r"claim[ -]supporting|source[ -]bearing|hydrated"
_NOUNS = (
    r"(?P<surfaces>surfaces?|files?|documents?|modules?|paths?|sources?)"
    r"|(?P<chunks>chunks?|snippets?|excerpts?|passages?|citations?|spans?)"
    r"|(?P<definitions>definitions?|declarations?)"
    r"|(?P<evidence>hits?|matches|match|evidence)"
)
_COUNT = re.compile(
    r"(?P<least>\bat least |\bno(?:t)? (?:fewer|less) than |\b(?:a )?minimum (?:of )?|\bmin |>=\s*|≥\s*)?"
    r"(?P<over>\bmore than |\bover |>\s*)?(?P<exactly>\bexactly |\bonly |\bjust )?"
    rf"(?<![\w.,-])(?P<number>{_NUMBER})(?:\s*\+|\s+or more|\s+or greater)?"
    rf"(?:\s*[-\u2013]\s*\d{{1,6}}|\s+to\s+(?:{_NUMBER}))?(?![\w%-])(?:\s+of(?:\s+the)?)?"
    rf"(?P<before>(?:\s+(?!(?:{_CLASS})\b)[a-z][\w-]*){{0,3}}?)(?:,?\s+(?P<class>{_CLASS}))?"
    rf"(?P<after>(?:\s+[a-z][\w-]*){{0,2}}?)\s+(?:{_NOUNS})\b"
)
_LONE_CLASS = re.compile(rf"\b(?P<class>{_CLASS})\s+(?:{_NOUNS})\b")
_NEGATED = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|without|lacks?|lacking|absent|absence|excluding|cannot)\b"
    r"|\b(?:rather than|instead of)\b|n['\u2019]t\b"
    r"|(?:\b(?:at most|up to|fewer than|less than|under|below|max|(?:a )?maximum(?: of)?)|<=?|≤)"
    rf"\s*(?:#|(?:{_NUMBER})\b)"
)
_BARE_WORDS = frozenset({"where", "the", "of", "for", "both", "each", "all"})
_GLUE = frozenset(
    """
    a about after all also an any are as at be been being bounded by can chunk chunks cite cited cites contain
    contained contains cover covered covers different distinct done each enough every evidence exist exists
    explicit file files find for found from given halt has have hydrate hydrated identified identify in
    independent into is it least listed locate located locates location mention mentioned mentions must named of
    on once one our packet path paths present quoted read seed seeds seen selected separate shall should show
    shown shows so source sources stop sufficient surface surfaces that the their them then there these they
    this those to total until was we were when where which will with you
    """.split()  # noqa: SIM905  a page of words reads better than a page of quotes
)
"""Words that ask for nothing by themselves; any other word left over keeps its clause as not checked."""


def _read_part(part: Part, seeds: tuple[str, ...], known_target: str | None) -> Iterator[Clause]:
    """Read the clauses of a part; one that is a bare name takes its sense from the clauses beside it."""
    clauses = [clause for clause in clauses_of(part) if clause.names or _WORD.search(clause.masked)]
    bare = [all(word[0] in _BARE_WORDS for word in _WORD.finditer(clause.masked)) for clause in clauses]
    negated = _spread([_NEGATED.search(_COUNT.sub("#", clause.masked)) is not None for clause in clauses], bare)
    defining = [_DEFINES.search(clause.masked) is not None for clause in clauses]
    named = [here and bool(clause.names) for here, clause in zip(defining, clauses, strict=True)]
    before = _spread(named, bare)
    after = _spread(named[::-1], bare[::-1])[::-1]
    for clause, no, *defines in zip(clauses, negated, defining, before, after, strict=True):
        yield Clause(clause.verbatim) if no else _ClauseReading(clause, defining=any(defines)).read(seeds, known_target)


def _spread(marks: list[bool], bare: list[bool]) -> list[bool]:
    """Return the marks, each carried on over the bare clauses that follow it."""
    carried: list[bool] = []
    for mark, alone in zip(marks, bare, strict=True):
        carried.append(mark or (alone and bool(carried) and carried[-1]))
    return carried


class _ClauseReading:
    """One clause while it is read: what is left of it, what was found, whether that is all it says."""

    def __init__(self, clause: Part, *, defining: bool) -> None:
        self.clause = clause
        self.left = clause.masked
        self.defining = defining
        self.criteria: list[CompiledCriterion] = []
        self.things = 0
        """Of different kinds that the clause speaks of; from two on it relates them."""
        self.partly = False

    def read(self, seeds: tuple[str, ...], known_target: str | None) -> Clause:
        """Return the criteria in the order of the kinds, and the words when they say more."""
        for_seeds = self._seeds(seeds)
        self._target(known_target)
        self._counts(for_seeds=for_seeds)
        self._lone_classes(for_seeds=for_seeds)
        self._definitions()
        self._names()
        says_more = any(word[0] not in _GLUE for word in _WORD.finditer(self.left))
        whole = bool(self.criteria) and self.things < 2 and not self.partly and not says_more
        return Clause(self.clause.verbatim, tuple(self.criteria), whole)

    def _add(self, kind: CriterionKind, **values: object) -> None:
        self.criteria.append(CompiledCriterion(kind=kind, source="sentence", **values))  # type: ignore[arg-type]

    def _blot(self, start: int, end: int) -> None:
        self.left = self.left[:start] + BLOT * (end - start) + self.left[end:]

    def _seeds(self, seeds: tuple[str, ...]) -> bool:
        found = _SEEDS.search(self.left)
        if found is None:
            return False
        if seeds:
            self._blot(*found.span())
            self.things += 1
        for seed in dict.fromkeys(seeds):
            self._add(CriterionKind.PER_SEED_COVERAGE, term=seed)
        return True

    def _target(self, known_target: str | None) -> None:
        found = _TARGET.search(self.left)
        if found is not None and known_target:
            self._blot(*found.span())
            self.things += 1
            self._add(CriterionKind.REQUIRED_PATH, term=known_target)

    def _counts(self, *, for_seeds: bool) -> None:
        spread = _FOR_EACH.search(self.left) is not None
        for found in _COUNT.finditer(self.left):
            count = _number(found)
            confidence = _class(found)
            weak = found["number"] in _WEAK_ONE and not found["least"]
            if not 1 <= count <= MAX_COUNT or (weak and confidence is None and not found["definitions"]):
                continue
            if for_seeds:
                # One read chunk a seed is what coverage means; any more than that is a claim about each seed.
                self.partly |= count > 1 or confidence is ConfidenceClass.CLAIM_SUPPORTING
            elif spread or not self._count(found, count, confidence):
                continue
            self.partly |= found["exactly"] is not None
            self._blot(found.start(), found.start("before"))
            self._blot(found.end("before"), found.start("after"))
            self._blot(found.end("after"), found.end())

    def _count(self, found: re.Match[str], count: int, confidence: ConfidenceClass | None) -> bool:
        """Add the criterion of a count and say whether there is one."""
        if found["definitions"]:
            if count > len(self._identifiers()):
                self._add(CriterionKind.DEFINITION, expected=count)
                self.things += 1
        elif found["surfaces"]:
            self._add(CriterionKind.MIN_SURFACES, expected=count, confidence=confidence)
            self.things += 1
        elif confidence is not None:
            self._add(CriterionKind.MIN_CLASS, expected=count, confidence=confidence)
            self.things += 1
        elif found["chunks"]:
            self._add(CriterionKind.MIN_CHUNKS, expected=count)
            self.things += 1
        else:
            return False
        return True

    def _lone_classes(self, *, for_seeds: bool) -> None:
        for found in _LONE_CLASS.finditer(self.left):
            if for_seeds:
                self.partly |= _class(found) is ConfidenceClass.CLAIM_SUPPORTING
            else:
                kind = CriterionKind.MIN_SURFACES if found["surfaces"] else CriterionKind.MIN_CLASS
                self._add(kind, confidence=_class(found))
                self.things += 1
            self._blot(*found.span())

    def _identifiers(self) -> list[str]:
        return [name.text for name in self.clause.names if not name.is_path and _IDENTIFIER.fullmatch(name.text)]

    def _definitions(self) -> None:
        if not self._identifiers():
            found = _THE_DEFINITION.search(self.left)
            if found is not None:
                self._add(CriterionKind.DEFINITION)
                self.things += 1
                self._blot(*found.span())
            return
        for found in _DEFINES.finditer(self.left):
            self._blot(*found.span())

    def _names(self) -> None:
        identifiers = set(self._identifiers()) if self.defining else set()
        for name in self.clause.names:
            if name.is_path:
                self._add(CriterionKind.REQUIRED_PATH, term=name.text)
            else:
                kind = CriterionKind.DEFINITION if name.text in identifiers else CriterionKind.REQUIRED_TERM
                self._add(kind, term=name.text)
        self.things += len(self.clause.names)


def _number(found: re.Match[str]) -> int:
    word = found["number"]
    value = int(word) if word.isascii() and word.isdigit() else _NUMBERS.get(word, 0)
    return value + 1 if found["over"] else value


def _class(found: re.Match[str]) -> ConfidenceClass | None:
    word = found["class"]
    return _CLASSES[re.split("[ -]", word)[0]] if word else None
