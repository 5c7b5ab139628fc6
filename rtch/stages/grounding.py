"""What the tree knows of a request's words: path parts, headings, symbols, keys and ids that bear them."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Sequence

from rtch.models.basket import Basket, Place, Term, TermShape
from rtch.models.features import FileFeatures
from rtch.models.vocab import KeyKind, Origin, Use
from rtch.moments import moment_of
from rtch.path_words import PathWords
from rtch.words import HEAD, beginning, heads, joined, last_name, stem, text_tokens

_KEY_ORIGIN = {
    KeyKind.JSON: Origin.JSON_KEY,
    KeyKind.TOML: Origin.JSON_KEY,
    KeyKind.YAML: Origin.YAML_KEY,
    KeyKind.FRONT_MATTER: Origin.YAML_KEY,
}
TRUST = {origin: place for place, origin in enumerate(Origin)}
"""Origins by descending trust at face value: the order of the closed set."""


_SEEN_PER_KEPT = 8
"""Places of a shape that are looked at for each that may be kept."""


_LOCATING = {
    Origin.DURABLE_HANDLE: Use.HYDRATE,
    Origin.EXPLICIT_SEED: Use.HYDRATE,
    Origin.MANIFEST_KEY: Use.HYDRATE,
    Origin.FILE_PATH: Use.LOCATE,
    Origin.HEADING: Use.LOCATE,
    Origin.CODE_SYMBOL: Use.LOCATE,
    Origin.JSON_KEY: Use.LOCATE,
    Origin.YAML_KEY: Use.LOCATE,
    Origin.LOCAL_SHAPE: Use.LOCATE,
}
_STRONG = frozenset(_LOCATING)
_GOAL_SHAPES = frozenset(
    {TermShape.IDENTIFIER, TermShape.PATH, TermShape.QUOTE, TermShape.MOMENT, TermShape.WORD, TermShape.JOINED}
)
_SHAPES = frozenset(
    {"changelog", "ledger", "manifest", "registry", "config", "configuration", "test", "tests", "schema"}
)
"""Words that name a kind of file rather than a subject."""


class Grounding:
    """Places of the wanted names, gathered from paths and file by file.

    A name is known by its form without separators; a word also by its stem, so that ``caching``
    finds the heading ``Caches`` and the folder ``cache``.
    """

    def __init__(self, wanted: Iterable[str], registries: Iterable[str], max_places: int) -> None:
        self._names: dict[str, list[str]] = defaultdict(list)
        self._tails: dict[str, str] = {}
        for text in dict.fromkeys(wanted):
            if "/" in text.strip("/") and joined(text):
                self._tails[text] = text.removeprefix("./").strip("/")
            for form in {joined(text), stem(text.lower()) if text.isalpha() else joined(text)} - {""}:
                self._names[form].append(text)
        self._sieve = heads(self._names)
        self._heads = frozenset(form[:HEAD] for form in self._names)
        self._registries = frozenset(registries)
        self._max_places = max_places
        self._places: dict[tuple[str, Origin], list[Place]] = defaultdict(list)
        self._cut: dict[str, int] = defaultdict(int)

    def paths(self, words: PathWords) -> None:
        """Take in the parts of paths: folders, file names with and without their endings, and named paths whole."""
        folders: set[str] = set()
        for path in words.holding_any({beginning(form) for form in self._names} | set(self._tails.values())):
            self._whole(path)
            folder, name = posixpath.split(path)
            self._known(joined(name), path, None, (Origin.FILE_PATH, name))
            self._stem_or_name(posixpath.splitext(name)[0], path, None, Origin.FILE_PATH)
            while folder and folder not in folders:
                folders.add(folder)
                folder, name = posixpath.split(folder)
                self._stem_or_name(name, f"{folder}/{name}".lstrip("/"), None, Origin.FILE_PATH)

    def _whole(self, path: str) -> None:
        for text, tail in self._tails.items():
            at = f"/{path}/".find(f"/{tail}/")
            if at >= 0:
                self._place(text, Place(path=path[: at + len(tail)], shape=Origin.FILE_PATH, name=tail))

    def file(self, file: FileFeatures) -> None:
        """Take in the features of a file."""
        for symbol in file.symbols:
            self._stem_or_name(symbol.name, file.path, symbol.line, Origin.CODE_SYMBOL)
        for heading in file.headings:
            if not self._sieve.search(joined(heading.text)):
                continue
            for token in {*text_tokens(heading.text), joined(heading.text)}:
                self._known(token, file.path, heading.line, (Origin.HEADING, heading.text))
        in_registry = file.path in self._registries
        for key in file.keys:
            origin = Origin.MANIFEST_KEY if in_registry else _KEY_ORIGIN[key.kind]
            self._stem_or_name(key.name, file.path, key.line, origin)
        for durable in file.ids:
            self._known(joined(durable.id), file.path, durable.line, (Origin.DURABLE_HANDLE, durable.id))

    def _stem_or_name(self, name: str, path: str, line: int | None, origin: Origin) -> None:
        plain = joined(name)
        if self._known(plain, path, line, (origin, name)) or not plain.isalpha():
            return
        if plain[:HEAD] in self._heads:
            self._known(stem(plain), path, line, (origin, name))

    def _known(self, form: str, path: str, line: int | None, what: tuple[Origin, str]) -> bool:
        texts = self._names.get(form)
        if texts is None:
            return False
        place = Place(path=path, line=line, shape=what[0], name=what[1][:200])
        for text in texts:
            self._place(text, place)
        return True

    def _place(self, text: str, place: Place) -> None:
        places = self._places[text, place.shape]
        if places and places[-1] == place:
            return
        if len(places) < self._max_places * _SEEN_PER_KEPT:
            places.append(place)
        else:
            self._cut[text] += 1

    def places(self, text: str) -> tuple[tuple[Place, ...], int]:
        """Return the best places of a name, by trust, and how many were cut.

        Shapes take turns, so that a word in many paths is still known as the one definition that bears it;
        within a shape the exact name comes before its inflections.
        """
        whole = joined(text)
        turns: list[tuple[int, int, Place]] = []
        for shape, trust in TRUST.items():
            found = dict.fromkeys(self._places.get((text, shape), ()))
            ordered = sorted(found, key=lambda one: (joined(one.name) != whole, one.path, one.line or 0))
            turns += [(turn, trust, place) for turn, place in enumerate(ordered)]
        kept = sorted(turns, key=lambda item: item[:2])[: self._max_places]
        places = tuple(place for _, _, place in sorted(kept, key=lambda item: (item[1], item[0])))
        return places, len(turns) - len(kept) + self._cut[text]


def names_wanted(basket: Basket) -> list[str]:
    """Return the names of a basket that the tree may know: as they stand, and the last parts of qualified ones."""
    known = [term.term for term in basket.terms if term.shape is TermShape.SEED or term.shape in _GOAL_SHAPES]
    return [name for text in known for name in (text, last_name(text))]


def grounded(basket: Basket, known: Grounding, generic: frozenset[str]) -> Basket:
    """Return a basket with the places of its terms and the origins that follow from them.

    A word that is a real path part, heading, symbol, key or id takes that origin; one that is not stays
    exploratory. A generic term is weak alone: it is exploratory unless something strong stands beside it in
    the request, and whether that something really hits is settled after the counting pass.

    Returns:
        Terms by descending trust of their origin, then as they stood.
    """
    terms = _pair([_grounded(term, known) for term in basket.terms], generic)
    ordered = sorted(terms, key=lambda term: TRUST[term.origin])
    return basket.model_copy(update={"terms": tuple(ordered)})


def _grounded(term: Term, known: Grounding) -> Term:
    if term.shape is not TermShape.SEED and term.shape not in _GOAL_SHAPES:
        return term
    places, cut = _places(term.term, known)
    changes: dict[str, object] = {"places": places, "places_cut": cut}
    if term.shape is TermShape.SEED:
        if any(place.shape is Origin.DURABLE_HANDLE and place.name == term.term for place in places):
            changes["origin"] = Origin.DURABLE_HANDLE
    else:
        origin = _origin_of_moment(term.term) if term.shape is TermShape.MOMENT else _origin(term.term, places)
        changes |= {"origin": origin, "use": _LOCATING.get(origin, Use.EXPLORATORY)}
    return term.model_copy(update=changes)


def _origin(text: str, places: Sequence[Place]) -> Origin:
    shapes = sorted({place.shape for place in places}, key=TRUST.__getitem__)
    if shapes:
        return shapes[0]
    return Origin.LOCAL_SHAPE if text in _SHAPES else Origin.EXPLORATORY


def _origin_of_moment(text: str) -> Origin:
    """Return where a time is from: a tic is a registered id, in whichever form a row gives it; a date is none."""
    moment = moment_of(text)
    return Origin.DURABLE_HANDLE if moment is not None and moment.is_tic else Origin.LOCAL_SHAPE


def _places(text: str, known: Grounding) -> tuple[tuple[Place, ...], int]:
    places, cut = known.places(text)
    return (places, cut) if places or last_name(text) == text else known.places(last_name(text))


def _pair(terms: Sequence[Term], generic: frozenset[str]) -> list[Term]:
    """Mark generic terms, name what stands strong beside them, and weaken those with nothing."""
    weak = [_is_generic(term, generic) for term in terms]
    strong = tuple(
        term.term for term, w in zip(terms, weak, strict=True) if not w and term.origin in _STRONG and term.weight > 0
    )[:8]
    return [_weakened(term, strong) if w else term for term, w in zip(terms, weak, strict=True)]


def _is_generic(term: Term, generic: frozenset[str]) -> bool:
    if term.shape not in {TermShape.SEED, TermShape.WORD}:
        return False
    word = term.term.lower()
    return word in generic or stem(word) in {stem(one) for one in generic}


def _weakened(term: Term, strong: tuple[str, ...]) -> Term:
    changes: dict[str, object] = {"generic": True, "why_generic": "listed as generic", "pairs_with": strong}
    if not strong:
        changes |= {"origin": Origin.EXPLORATORY, "use": Use.EXPLORATORY}
    return term.model_copy(update=changes)
