"""Between counting and planning: what the files that a question may be about show, and its words grounded in that.

A word can only be a heading, symbol, key or id of a file that holds it, and the counting pass has found
those files. So the best of them are looked into, and no others: what a question costs follows from the
question and not from the tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rtch.decisions import is_disposition
from rtch.limits import SurveyLimits
from rtch.models.basket import Basket
from rtch.models.features import FileFeatures
from rtch.models.intake import AcceptedIntake
from rtch.models.inventory import FileFacts, FileProblem, MarkedFile, Scan, Survey, UnreadFile
from rtch.models.plan import CostEstimate
from rtch.models.tree import Listing
from rtch.models.vocab import SkipReason
from rtch.models.zone import ZoneDescriptor
from rtch.path_words import PathWords
from rtch.query import query_of
from rtch.rank import facts_of, shortlist
from rtch.stages.desk import Desk
from rtch.stages.features import Looked, look_into
from rtch.stages.grounding import Grounding, grounded, names_wanted
from rtch.stages.large_ledgers import ids_of_large
from rtch.structure import is_document
from rtch.symbols import is_code


def survey(
    accepted: AcceptedIntake,
    listing: Listing,
    zone: ZoneDescriptor,
    basket: Basket,
    cost: CostEstimate,
    limits: SurveyLimits,
    desk: Desk,
) -> Survey:
    """Look into the files that hold or bear the request's words, best first.

    Returns:
        The facts of at most ``limits.max_files`` files, by the level of fanout, what was met in them, and the
        basket with each term's origin as path, heading, symbol, key or id.
    Bounds: files above ``limits.max_file_bytes`` are listed and not looked into; a file whose bytes were
        looked into before is not read again (``features``).
    """
    words = PathWords(tuple(listing.files()))
    intake = accepted.intake
    most = limits.max_files[intake.fanout_level]
    chosen = shortlist(words, basket, cost, limits.priors[intake.target_profile], most)
    sizes = dict(zip(listing.paths, listing.sizes, strict=True))
    known = [path for path in chosen.paths if is_document(path) or is_code(path)]
    large = [path for path in known if sizes[path] > limits.max_file_bytes]
    looked = look_into([path for path in known if 0 < sizes[path] <= limits.max_file_bytes], limits, desk)
    grounding = Grounding(names_wanted(basket), (one.path for one in zone.registries), limits.max_places)
    grounding.paths(words)
    for one in (*looked.features, *ids_of_large(large, basket, cost, limits, desk)):
        grounding.file(one)
    facts = _facts(chosen.paths, looked.features, basket)
    known_terms = grounded(basket, grounding, frozenset(limits.words.generic))
    if is_disposition(intake):
        from rtch.stages.relating import related  # noqa: PLC0415  few requests decide on an artifact

        known_terms = related(known_terms, intake, desk)
    return Survey(
        basket=known_terms,
        files=facts,
        rarity=tuple(chosen.bodies.rarity(_shown(facts)).items()),
        files_beyond=chosen.beyond,
        scans=tuple(_scans(looked, chosen.beyond, sizes)),
        unread=_unread(looked, large, sizes)[: limits.max_unread],
        problems=tuple(_problems(looked.features))[: limits.max_problems],
        marked=tuple(_marked(looked.features))[: limits.max_marked],
    )


def _facts(paths: Sequence[str], features: Sequence[FileFeatures], basket: Basket) -> tuple[FileFacts, ...]:
    found = {fact.path: fact for fact in facts_of(features, query_of(basket))}
    return tuple(found.get(path) or FileFacts(path) for path in paths)


def _shown(facts: Iterable[FileFacts]) -> dict[str, set[str]]:
    """Return the files whose defined names or headings bear a token."""
    found: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        for token, _ in (*fact.definitions, *fact.headings):
            found[token].add(fact.path)
    return found


_SCANS = (
    ("headings", "section titles by the rules of their notation", "headings"),
    ("structured_keys", "keys of front matter, JSON, YAML and TOML", "keys"),
    ("durable_ids", "registered handles by the configured patterns", "ids"),
    ("markers", "source-of-truth, deprecation, session and tic phrases", "markers"),
    ("code_symbols", "definition lines of the known languages", "symbols"),
    ("references", "imports, includes and relative links", "references"),
)
_IN_CODE = {"symbols": True, "references": None}
"""Whether a structure is looked for in code alone, or (None) in every file; else in documents and data alone."""


def _scans(looked: Looked, beyond: int, sizes: dict[str, int]) -> Iterable[Scan]:
    note = "files that hold or bear a word of the request" + (f"; {beyond} more rank behind them" if beyond else "")
    for name, pattern, field in _SCANS:
        wanted = _IN_CODE.get(field, False)
        files = [one for one in looked.features if wanted is None or is_code(one.path) is wanted]
        yield Scan(
            name=name,
            pattern=pattern,
            files_touched=len(files),
            bytes_read=sum(sizes[one.path] for one in files),
            hits=sum(len(getattr(one, field)) for one in files),
            truncated=any(one.truncated for one in files),
            note=note,
        )


def _unread(looked: Looked, large: Iterable[str], sizes: dict[str, int]) -> tuple[UnreadFile, ...]:
    oversized = (
        UnreadFile(path=path, reason=SkipReason.OVERSIZED, detail=f"{sizes[path]} bytes, its structure was left out")
        for path in large
    )
    return tuple(sorted((*oversized, *looked.unread), key=lambda one: one.path))


def _problems(features: Iterable[FileFeatures]) -> Iterable[FileProblem]:
    for one in features:
        for problem in one.problems:
            yield FileProblem(path=one.path, flag=problem.flag, line=problem.line, detail=problem.detail)


def _marked(features: Iterable[FileFeatures]) -> Iterable[MarkedFile]:
    for one in features:
        for kind in sorted({marker.kind for marker in one.markers}):
            lines = tuple(sorted({marker.line for marker in one.markers if marker.kind is kind}))
            yield MarkedFile(path=one.path, kind=kind, lines=lines[:20])
