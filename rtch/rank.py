"""Scores of files before any probe has run: every part has a name and a reason.

A score is a sum of parts times the profile's prior for the file's role. The largest part is a
BM25 over fields (text, path, defined names, headings); the others reward what the request names
outright: seeds, definitions, paths, stack frames, dotted modules, quotes. Weights were chosen on
real changes of real projects (docs/ranking.md).
"""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rtch.lending import Part, lend
from rtch.models.basket import Basket, Term, TermShape
from rtch.models.inventory import FeatureShard
from rtch.models.plan import Candidate, CostEstimate, ScorePart
from rtch.models.vocab import FileRole
from rtch.named_paths import module_match, path_match, same_file
from rtch.roles import role_of
from rtch.words import heads, joined, last_name, parts, stem, text_tokens, tokens

K1 = 2.0
"""Saturation: the second mention of a word counts less than the first."""
B = 0.5
"""How far a long file is discounted."""
FIELDS = {"body": 0.5, "path": 5.0, "definitions": 1.0, "headings": 2.0}
SAYS = {
    "body": "its text says {}",
    "path": "its path bears {}",
    "definitions": "it defines names with {}",
    "headings": "its headings bear {}",
}
"""A field's part in words."""
SEEDS = 1.5
STEEPNESS = 4
"""A seed's share falls with this power of its rarity: one that stands in many files hardly leads."""
DEFINES = 0.2
DEFINES_SEED = 0.4
"""What an exact definition of a rare seed adds, so that it stands above what is only called after it."""
NAMED_PATH = 0.4
NAMED_FILE = 0.2
FRAME = 0.6
MODULE = 0.15
QUOTED = 0.1
SIZE = 0.1
"""A file that the request's words are in is more likely meant the more there is of it."""
FULL_SIZE_LOG = 14.0
"""ln(1 + bytes) from which a file is as large as counts: about a megabyte."""
TARGET = 10.0
"""The known target is where the request says it is."""


class FileFacts(NamedTuple):
    """What ranking keeps of a file's features, for the words of the request alone."""

    definitions: Counter[str]
    headings: Counter[str]
    defined: frozenset[str]
    """Joined names, among those asked for, that the file defines exactly."""
    definition_count: int
    heading_count: int
    references: tuple[str, ...]


class Query(NamedTuple):
    """The request as ranking needs it."""

    weights: dict[str, float]
    """A share for each token."""
    names: dict[str, float]
    """Joined identifier-like names, asked for by goal or seeds."""
    seeds: tuple[Term, ...]
    terms: tuple[Term, ...]
    spoken: dict[str, str]
    """How each token stood in the request."""


def query_of(basket: Basket) -> Query:
    """Gather token weights and exact names from the basket's terms."""
    weights: dict[str, float] = defaultdict(float)
    names: dict[str, float] = {}
    spoken: dict[str, str] = {}
    terms = tuple(term for term in basket.terms if term.weight > 0)
    for term in terms:
        for form in (*_pair_forms(term.term), joined(term.term)):
            spoken.setdefault(form, term.term)
        for word in parts(term.term):
            spoken.setdefault(stem(word), word)
        if term.shape is TermShape.JOINED:
            for form in _pair_forms(term.term):
                weights[form] += term.weight
            continue
        for token in set(text_tokens(term.term)):
            weights[token] += term.weight
        if term.shape in {TermShape.SEED, TermShape.IDENTIFIER}:
            names[joined(last_name(term.term))] = term.weight
    seeds = tuple(term for term in terms if term.shape is TermShape.SEED)
    return Query(dict(weights), names, seeds, terms, spoken)


def _pair_forms(text: str) -> tuple[str, ...]:
    """Return how two words written as one count as a token: ``work tree`` as worktree and its stem."""
    whole = joined(text)
    return tuple(dict.fromkeys((whole, stem(whole))))


def facts_of(shards: Iterable[FeatureShard], query: Query) -> dict[str, FileFacts]:
    """Reduce features, shard by shard, to what the request's words meet."""
    facts: dict[str, FileFacts] = {}
    sieve = heads([*query.weights, *query.names])
    for shard in shards:
        for file in shard.files:
            names = [(symbol.name, joined(symbol.name)) for symbol in file.symbols]
            bearing = [name for name, plain in names if sieve.search(plain)]
            titles = [heading.text for heading in file.headings if sieve.search(joined(heading.text))]
            definitions = Counter(token for name in bearing for token in tokens(name) if token in query.weights)
            headings = Counter(token for title in titles for token in text_tokens(title) if token in query.weights)
            defined = frozenset(plain for _, plain in names if plain in query.names)
            facts[file.path] = FileFacts(
                definitions,
                headings,
                defined,
                len(file.symbols),
                len(file.headings),
                tuple(reference.target for reference in file.references),
            )
    return facts


class Ranker:
    """Scores every file that the counts, the inventory or the request itself speak for."""

    def __init__(
        self, paths: Sequence[str], basket: Basket, cost: CostEstimate, facts: Mapping[str, FileFacts]
    ) -> None:
        self.paths = paths
        self.basket = basket
        self.cost = cost
        self.facts = facts
        self.query = query_of(basket)
        self._counts = {file.path: file for file in cost.files}
        self._index = {term: i for i, term in enumerate(cost.terms)}
        self._bodies = self._body_tokens()
        self._listed = frozenset(paths)
        self._total = max(1, len(paths))
        self._rarity: dict[str, float] = {}

    def candidates(self, priors: Mapping[FileRole, float], detailed: int) -> tuple[Candidate, ...]:
        """Return every file that anything speaks for, best first; ties by path.

        Args:
            priors: a factor for each role.
            detailed: how many of the first carry their parts.
        """
        scored = self._scored(priors)
        lend(scored, self.paths, {path: fact.references for path, fact in self.facts.items()})
        totals = {path: math.fsum(value for _, value, _ in found) for path, found in scored.items()}
        best = sorted((path for path, total in totals.items() if total > 0), key=lambda path: (-totals[path], path))
        return tuple(
            Candidate(
                path=path,
                score=round(totals[path], 6),
                parts=tuple(
                    ScorePart(name=name, value=round(value, 6), because=because)
                    for name, value, because in (scored[path] if place < detailed else ())
                ),
            )
            for place, path in enumerate(best)
        )

    def pulls(self) -> tuple[tuple[str, float], ...]:
        """Return each token with its share in the request times its rarity, once candidates are known."""
        rarity = self._rarity
        return tuple((token, round(self.query.weights[token] * rarity[token], 6)) for token in sorted(rarity))

    def _scored(self, priors: Mapping[FileRole, float]) -> dict[str, list[Part]]:
        text = self._bm25()
        best = max((sum(value for value, _ in fields.values()) for fields in text.values()), default=0.0) or 1.0
        named = self._named()
        scored: dict[str, list[Part]] = {}
        for path in text.keys() | named.keys():
            raw: list[Part] = [
                (f"text.{field}", value / best, SAYS[field].format(words))
                for field, (value, words) in text.get(path, {}).items()
            ]
            raw += named.get(path, [])
            raw += self._size(path)
            role = role_of(path)
            prior = priors.get(role, 1.0)
            scored[path] = [
                (name, value if name == "target" else value * prior, because) for name, value, because in raw
            ]
            if prior != 1.0:
                lost = sum(value for name, value, _ in raw if name != "target") * (1 - prior)
                scored[path].append(("role", 0.0, f"{role} x {prior} under this profile, {lost:.3f} taken off"))
        return scored

    # -- BM25 over fields ------------------------------------------------------------------------

    def _body_tokens(self) -> dict[str, dict[str, float]]:
        """Turn the counts of terms into counts of tokens, a file."""
        per_term = [self._tokens_of(term) for term in self.cost.terms]
        bodies: dict[str, dict[str, float]] = {}
        for file in self.cost.files:
            found: dict[str, float] = defaultdict(float)
            for index, count in file.counts:
                for token in per_term[index]:
                    found[token] = max(found[token], float(count))
            bodies[file.path] = {token: count for token, count in found.items() if token in self.query.weights}
        return bodies

    def _tokens_of(self, term: str) -> tuple[str, ...]:
        shape = next((one.shape for one in self.basket.terms if one.term == term), TermShape.WORD)
        if shape is TermShape.JOINED:
            return _pair_forms(term)
        if term.isalpha() and len(parts(term)) == 1:
            return (stem(term.lower()),)
        return (joined(term),) if re.fullmatch(r"[\w-]+", term) else (joined(last_name(term)),)

    def _bm25(self) -> dict[str, dict[str, tuple[float, str]]]:
        """Return, a file, the weight of each field's hits with its best words; fields share one saturation."""
        wanted = self.query.weights
        sizes = {file.path: file.size_bytes for file in self.cost.files}
        mean_size = max(1.0, sum(sizes.values()) / max(1, len(sizes)))
        mean_defs = _mean(fact.definition_count for fact in self.facts.values())
        mean_heads = _mean(fact.heading_count for fact in self.facts.values())
        frequencies: dict[str, dict[str, dict[str, float]]] = {}
        for path in self.paths:
            rows = self._fields(path, (sizes.get(path, 0) / mean_size, mean_defs, mean_heads))
            if rows:
                frequencies[path] = rows
        seen = Counter(token for rows in frequencies.values() for token in rows)
        self._rarity = idf = {t: math.log(1 + (self._total - n + 0.5) / (n + 0.5)) for t, n in seen.items()}
        scores: dict[str, dict[str, tuple[float, str]]] = {}
        for path, rows in frequencies.items():
            shares: dict[str, dict[str, float]] = defaultdict(dict)
            for token, per_field in rows.items():
                total = sum(per_field.values())
                value = wanted[token] * idf[token] * total * (K1 + 1) / (total + K1)
                for field, share in per_field.items():
                    shares[field][token] = value * share / total
            scores[path] = {field: (math.fsum(found.values()), self._first(found)) for field, found in shares.items()}
        return scores

    def _first(self, found: Mapping[str, float]) -> str:
        """Return the words that weigh most as the request has them, best first."""
        best = sorted(found, key=lambda token: (-found[token], token))
        return ", ".join(list(dict.fromkeys(self.query.spoken.get(token, token) for token in best))[:3])

    def _fields(self, path: str, means: tuple[float, float, float]) -> dict[str, dict[str, float]]:
        wanted = self.query.weights
        fact = self.facts.get(path)
        rows: dict[str, dict[str, float]] = defaultdict(dict)
        body = FIELDS["body"] / (1 - B + B * means[0])
        for token, count in self._bodies.get(path, {}).items():
            rows[token]["body"] = body * count
        for token, count in Counter(t for t in text_tokens(path) if t in wanted).items():
            rows[token]["path"] = FIELDS["path"] * count
        if fact is not None:
            shape = FIELDS["definitions"] / (1 - B + B * fact.definition_count / means[1])
            for token, count in fact.definitions.items():
                rows[token]["definitions"] = shape * count
            shape = FIELDS["headings"] / (1 - B + B * fact.heading_count / means[2])
            for token, count in fact.headings.items():
                rows[token]["headings"] = shape * count
        return rows

    # -- what the request names outright ---------------------------------------------------------

    def _named(self) -> dict[str, list[tuple[str, float, str]]]:
        found: dict[str, list[tuple[str, float, str]]] = defaultdict(list)
        for gather in (self._seeds, self._definitions, self._paths, self._frames, self._modules, self._quotes):
            for path, part in gather():
                found[path].append(part)
        return found

    def _rarity_of_seeds(self) -> dict[str, float]:
        """Return what each seed tells: 1 if one file holds it, towards 0 if most do; a generic one alone nothing."""
        most = math.log(1 + self._total / 2)
        rarity = {}
        for seed in self.query.seeds:
            if seed.generic and not seed.pairs_with:
                continue
            files = self.cost.document_frequency[self._index[seed.term]] if seed.term in self._index else 0
            rarity[seed.term] = min(1.0, math.log(1 + self._total / (1 + files)) / most)
        return rarity

    def _seeds(self) -> Iterable[tuple[str, Part]]:
        """Coverage of distinct seeds, rare ones far more: a seed that stands everywhere points nowhere."""
        rarity = self._rarity_of_seeds()
        if not rarity:
            return
        whole = math.fsum(rarity.values()) or 1.0
        seeds = [term for term in self.query.seeds if term.term in rarity]
        places = {(place.path, seed.term) for seed in seeds for place in seed.places}
        for path in self._counts.keys() | ({path for path, _ in places} & self._listed):
            counts = dict(self._counts[path].counts) if path in self._counts else {}
            held = [s.term for s in seeds if counts.get(self._index.get(s.term, -1)) or (path, s.term) in places]
            if held:
                value = SEEDS * math.fsum(rarity[term] ** (1 + STEEPNESS) for term in held) / whole
                yield path, ("seeds", value, "holds " + ", ".join(held))

    def _definitions(self) -> Iterable[tuple[str, Part]]:
        """Exact definitions of the names asked for, rare ones more, and most those of rare seeds."""
        defining = Counter(name for fact in self.facts.values() for name in fact.defined)
        values = {
            path: math.fsum(math.log(1 + self._total / defining[name]) for name in fact.defined)
            for path, fact in self.facts.items()
            if fact.defined
        }
        best = max(values.values(), default=1.0) or 1.0
        seeded = {joined(last_name(term)): rarity**STEEPNESS for term, rarity in self._rarity_of_seeds().items()}
        for path, value in values.items():
            defined = sorted(self.facts[path].defined)
            more = DEFINES_SEED * max((seeded.get(name, 0.0) / defining[name] for name in defined), default=0.0)
            yield path, ("defines", DEFINES * value / best + more, f"defines {', '.join(defined)}")

    def _paths(self) -> Iterable[tuple[str, tuple[str, float, str]]]:
        targets = [t.term for t in self.basket.terms if t.shape is TermShape.TARGET]
        named = [t.term.removeprefix("./") for t in self.query.terms if t.shape in {TermShape.PATH, TermShape.SEED}]
        for path in self.paths:
            if path in targets:
                yield path, ("target", TARGET, "the known target")
            elif any(path.startswith(f"{target}/") for target in targets):
                yield path, ("target", TARGET, "lies in the known target")
            value = max((path_match(path, one) for one in named), default=0.0)
            if value:
                yield path, ("named_path", NAMED_PATH * value, "its path is named")
            elif joined(posixpath.splitext(posixpath.basename(path))[0]) in self.query.names:
                yield path, ("named_file", NAMED_FILE, "it is called what was asked for")

    def _frames(self) -> Iterable[tuple[str, tuple[str, float, str]]]:
        frames = [(frame.path, frame.depth) for frame in self.basket.frames]
        deepest = max((depth for _, depth in frames), default=1)
        for path in self.paths if frames else ():
            values = [
                0.25 + 0.75 * (deepest - depth + 1) / deepest for theirs, depth in frames if same_file(path, theirs)
            ]
            if values:
                yield path, ("frame", FRAME * max(values), "stands in a stack trace of the goal")

    def _modules(self) -> Iterable[tuple[str, tuple[str, float, str]]]:
        dotted = [re.split(r"\.|::", t.term) for t in self.query.terms if re.fullmatch(r"\w+(?:(?:\.|::)\w+)+", t.term)]
        for path in self.paths if dotted else ():
            module = re.sub(r"/(?:__init__|index|mod)$", "", posixpath.splitext(path)[0]).split("/")
            value = max((module_match(module, names) for names in dotted), default=0.0)
            if value:
                yield path, ("module", MODULE * value, "its module is named")

    def _quotes(self) -> Iterable[tuple[str, tuple[str, float, str]]]:
        quotes = [self._index[t.term] for t in self.query.terms if t.shape is TermShape.QUOTE and t.term in self._index]
        for file in self.cost.files if quotes else ():
            counts = dict(file.counts)
            held = sum(1 for quote in quotes if counts.get(quote))
            if held:
                yield file.path, ("quoted", QUOTED * held / len(quotes), "holds quoted text word for word")

    def _size(self, path: str) -> Iterable[Part]:
        counts = self._counts.get(path)
        if counts is not None:
            share = min(1.0, math.log1p(counts.size_bytes) / FULL_SIZE_LOG)
            yield "size", SIZE * share, f"{counts.size_bytes} bytes that may hold it"


def _mean(values: Iterable[int]) -> float:
    known = list(values)
    return max(1e-6, sum(known) / len(known)) if known else 1.0
