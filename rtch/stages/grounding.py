"""What the tree knows of a word: path parts, headings, symbols, keys and ids that bear it."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable

from rtch.models.basket import Place
from rtch.models.features import FileFeatures
from rtch.models.inventory import FeatureShard
from rtch.models.vocab import KeyKind, Origin
from rtch.words import HEAD, heads, joined, stem, text_tokens

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


class Grounding:
    """Places of the wanted names, gathered shard by shard.

    A name is known by its form without separators; a word also by its stem, so that ``caching``
    finds the heading ``Caches`` and the folder ``cache``.
    """

    def __init__(self, wanted: Iterable[str], registries: Iterable[str], max_places: int) -> None:
        self._names: dict[str, list[str]] = defaultdict(list)
        self._tails: dict[str, str] = {}
        for text in dict.fromkeys(wanted):
            if "/" in text.strip("/"):
                self._tails[text] = text.removeprefix("./").strip("/")
            for form in {joined(text), stem(text.lower()) if text.isalpha() else joined(text)}:
                self._names[form].append(text)
        self._sieve = heads(self._names)
        self._heads = frozenset(form[:HEAD] for form in self._names)
        self._registries = frozenset(registries)
        self._max_places = max_places
        self._places: dict[tuple[str, Origin], list[Place]] = defaultdict(list)
        self._cut: dict[str, int] = defaultdict(int)

    def paths(self, paths: Iterable[str]) -> None:
        """Take in the parts of paths: folders, file names with and without their endings, and named paths whole."""
        folders: set[str] = set()
        for path in paths:
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

    def shard(self, shard: FeatureShard) -> None:
        """Take in the features of a shard's files."""
        for file in shard.files:
            self._file(file)

    def _file(self, file: FileFeatures) -> None:
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
