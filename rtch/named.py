"""What a request names outright: seeds, paths, file names, stack frames, modules and quoted text."""

from __future__ import annotations

import math
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator

from rtch.models.basket import Basket, TermShape
from rtch.models.plan import CostEstimate
from rtch.named_paths import module_match, module_of, path_match, same_file
from rtch.path_words import PathWords
from rtch.query import Query, moment_in
from rtch.words import joined

Part = tuple[str, float, str]
"""A part's name, its value, and why."""

SEEDS = 1.5
STEEPNESS = 4
"""A seed's share falls with this power of its rarity: one that stands in many files hardly leads."""
NAMED_PATH = 0.4
NAMED_FILE = 0.2
FRAME = 0.6
MODULE = 0.15
QUOTED = 0.1
DATED = 0.6
"""What it counts for that a file's name, or a row of it, is of the tic that was asked for."""
TARGET = 10.0
"""The known target is where the request says it is."""


def seed_rarity(query: Query, cost: CostEstimate, total: int) -> dict[str, float]:
    """Return what each seed tells: 1 if one file holds it, towards 0 if most do; a generic one alone nothing.

    Args:
        query: the request.
        cost: which files hold what.
        total: how many files there are.
    """
    total = max(1, total)
    most = math.log(1 + total / 2)
    return {
        seed.term: min(1.0, math.log(1 + total / (1 + cost.files_with(seed.term))) / most)
        for seed in query.seeds
        if not seed.generic or seed.pairs_with
    }


class Named:
    """Parts of the scores of files, by what the request names; files that it does not speak of are not met."""

    def __init__(self, words: PathWords, basket: Basket, query: Query, cost: CostEstimate) -> None:
        self._words = words
        self._basket = basket
        self._query = query
        self._cost = cost

    def parts(self) -> dict[str, list[Part]]:
        """Return the parts, a path."""
        found: dict[str, list[Part]] = defaultdict(list)
        for gather in (self._seeds, self._paths, self._frames, self._modules, self._quotes, self._moments):
            for path, part in gather():
                found[path].append(part)
        return found

    def _seeds(self) -> Iterator[tuple[str, Part]]:
        """Coverage of distinct seeds, rare ones far more: a seed that stands everywhere points nowhere."""
        rarity = seed_rarity(self._query, self._cost, len(self._words.paths))
        whole = math.fsum(rarity.values()) or 1.0
        listed = frozenset(self._words.paths)
        held: dict[str, list[str]] = defaultdict(list)
        for seed in self._query.seeds:
            if seed.term in rarity:
                known = {place.path for place in seed.places if place.path in listed}
                for path in known.union(map(self._cost.paths.__getitem__, self._cost.hits_of(seed.term).files)):
                    held[path].append(seed.term)
        for path, seeds in held.items():
            value = SEEDS * math.fsum(rarity[term] ** (1 + STEEPNESS) for term in seeds) / whole
            yield path, ("seeds", value, "holds " + ", ".join(seeds))

    def _paths(self) -> Iterator[tuple[str, Part]]:
        targets = [term.term for term in self._basket.terms if term.shape is TermShape.TARGET]
        for path in self._words.paths if targets else ():
            if path in targets:
                yield path, ("target", TARGET, "the known target")
            elif any(path.startswith(f"{target}/") for target in targets):
                yield path, ("target", TARGET, "lies in the known target")
        shapes = {TermShape.PATH, TermShape.SEED}
        named = [term.term.removeprefix("./") for term in self._query.terms if term.shape in shapes]
        for path in self._words.ending_like([*named, *self._query.names]):
            value = max((path_match(path, one) for one in named), default=0.0)
            if value:
                yield path, ("named_path", NAMED_PATH * value, "its path is named")
            elif joined(posixpath.splitext(posixpath.basename(path))[0]) in self._query.names:
                yield path, ("named_file", NAMED_FILE, "it is called what was asked for")

    def _frames(self) -> Iterator[tuple[str, Part]]:
        frames = [(frame.path, frame.depth) for frame in self._basket.frames]
        deepest = max((depth for _, depth in frames), default=1)
        for path in self._words.ending_like(theirs for theirs, _ in frames):
            values = [
                0.25 + 0.75 * (deepest - depth + 1) / deepest for theirs, depth in frames if same_file(path, theirs)
            ]
            if values:
                yield path, ("frame", FRAME * max(values), "stands in a stack trace of the goal")

    def _modules(self) -> Iterator[tuple[str, Part]]:
        written = (term.term for term in self._query.terms)
        dotted = [re.split(r"\.|::", term) for term in written if re.fullmatch(r"\w+(?:(?:\.|::)\w+)+", term)]
        for path in self._words.ending_like(name for names in dotted for name in names):
            module = module_of(path).split("/")
            value = max((module_match(module, names) for names in dotted), default=0.0)
            if value:
                yield path, ("module", MODULE * value, "its module is named")

    def _quotes(self) -> Iterator[tuple[str, Part]]:
        quotes = [t.term for t in self._query.terms if t.shape is TermShape.QUOTE and t.term in self._cost.terms]
        held: dict[int, int] = defaultdict(int)
        for quote in quotes:
            for i in self._cost.hits_of(quote).files:
                held[i] += 1
        for i, count in held.items():
            yield self._cost.paths[i], ("quoted", QUOTED * count / len(quotes), "holds quoted text word for word")

    def _moments(self) -> Iterator[tuple[str, Part]]:
        """Files that hold a tic of the request, in their text or their name."""
        for term in self._query.terms:
            moment = moment_in(term)
            if moment is not None and moment.is_tic and term.term in self._cost.terms:
                held = {self._cost.paths[i] for i in self._cost.hits_of(term.term).files}
                held.update(path for path in self._words.paths if moment.holds(path))
                # A time that most files are of, as a long range, tells little.
                total = max(2, len(self._words.paths))
                tells = min(1.0, math.log(1 + total / (1 + len(held))) / math.log(1 + total / 2))
                yield from ((path, ("dated", DATED * tells, f"is of {term.term}")) for path in sorted(held))
