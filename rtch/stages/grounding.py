"""What the tree knows of a word: path parts, headings, symbols, keys and ids that bear it."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable

from rtch.models.basket import Place
from rtch.models.features import FileFeatures
from rtch.models.inventory import FeatureShard
from rtch.models.vocab import KeyKind, Origin
from rtch.words import joined, stem, text_tokens

_KEY_ORIGIN = {
    KeyKind.JSON: Origin.JSON_KEY,
    KeyKind.TOML: Origin.JSON_KEY,
    KeyKind.YAML: Origin.YAML_KEY,
    KeyKind.FRONT_MATTER: Origin.YAML_KEY,
}
TRUST = {origin: place for place, origin in enumerate(Origin)}
"""Origins by descending trust at face value: the order of the closed set."""


class Grounding:
    """Places of the wanted names, gathered shard by shard.

    A name is known by its form without separators; a word also by its stem, so that ``caching``
    finds the heading ``Caches`` and the folder ``cache``.
    """

    def __init__(self, wanted: Iterable[str], registries: Iterable[str], max_places: int) -> None:
        self._names: dict[str, list[str]] = defaultdict(list)
        for text in dict.fromkeys(wanted):
            for form in {joined(text), stem(text.lower()) if text.isalpha() else joined(text)}:
                self._names[form].append(text)
        self._registries = frozenset(registries)
        self._max_places = max_places
        self._places: dict[str, list[Place]] = defaultdict(list)
        self.cut: dict[str, int] = defaultdict(int)

    def paths(self, paths: Iterable[str]) -> None:
        """Take in the parts of paths: folders, and file names with and without their endings."""
        folders: set[str] = set()
        for path in paths:
            folder, name = posixpath.split(path)
            self._known(joined(name), path, None, (Origin.FILE_PATH, name))
            self._stem_or_name(posixpath.splitext(name)[0], path, None, Origin.FILE_PATH)
            while folder and folder not in folders:
                folders.add(folder)
                folder, name = posixpath.split(folder)
                self._stem_or_name(name, f"{folder}/{name}".lstrip("/"), None, Origin.FILE_PATH)

    def shard(self, shard: FeatureShard) -> None:
        """Take in the features of a shard's files."""
        for file in shard.files:
            self._file(file)

    def _file(self, file: FileFeatures) -> None:
        for symbol in file.symbols:
            self._stem_or_name(symbol.name, file.path, symbol.line, Origin.CODE_SYMBOL)
        for heading in file.headings:
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
        if not self._known(plain, path, line, (origin, name)) and plain.isalpha():
            self._known(stem(plain), path, line, (origin, name))

    def _known(self, form: str, path: str, line: int | None, what: tuple[Origin, str]) -> bool:
        texts = self._names.get(form)
        if texts is None:
            return False
        for text in texts:
            places = self._places[text]
            if len(places) < self._max_places * 8:
                places.append(Place(path=path, line=line, shape=what[0], name=what[1][:200]))
            else:
                self.cut[text] += 1
        return True

    def places(self, text: str) -> tuple[tuple[Place, ...], int]:
        """Return the most trusted places of a name, and how many were cut."""
        found = sorted(self._places.get(text, ()), key=lambda one: (TRUST[one.shape], one.path, one.line or 0))
        unique = list(dict.fromkeys(found))
        return tuple(unique[: self._max_places]), max(0, len(unique) - self._max_places) + self.cut[text]
