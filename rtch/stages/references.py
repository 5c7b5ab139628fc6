"""References of documents that lead nowhere: paths, links, symbols and durable ids.

Judged are documents in Markdown, reStructuredText and AsciiDoc. Documents that describe the past (``past``), and what
is vendored, generated, a test's or an example's, are neither judged nor counted. Of those that are judged:

- links, images, link definitions and includes: to a file, and in Markdown to a heading. URLs, addresses and
  placeholders are no references. HTML is not read.
- paths in code spans, where they are plainly of this tree: a slash, an ending of a known notation or language, no
  placeholder, and a folder that is there.
- names and durable ids that the baseline knew as defined (``vanished``).

What only a site's generator or git's ignore rules could tell, or what lies outside the zone, is counted as not judged.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from rtch.finding import excerpt, finding
from rtch.heading_anchors import Anchors
from rtch.keys import logic_digest, zone_id
from rtch.limits import DriftLimits
from rtch.mentions import Mention, MentionKind, mentions_of
from rtch.models.drift import Anchor, Certainty, Checked, DriftCounts, DriftKind, Finding, NotJudged
from rtch.models.packet import Findings
from rtch.models.tree import Listing
from rtch.models.vocab import FileRole
from rtch.past import describes_past, says_past
from rtch.reading import SkippedFile
from rtch.reentry import reentry_command
from rtch.roles import is_generated_banner, role_of
from rtch.stages.desk import Desk
from rtch.stages.features import look_into
from rtch.stages.vanished import Named, vanished_ids, vanished_names
from rtch.stages.whereabouts import State, Whereabouts
from rtch.structure import Notation, notation_of
from rtch.text import decode

_NOTATIONS = frozenset({Notation.MARKDOWN, Notation.RST, Notation.ASCIIDOC})
_PLAIN_TEXT = (".txt", ".text")
_BROUGHT_IN = re.compile(
    r"(?:^|/)(?:deps|external|subprojects|third[-_]?party[^/]*|3rd[-_]?party[^/]*)/", re.IGNORECASE
)
"""Folders of other projects' trees, whose documents speak of what was left behind; ``roles`` does not rank them so."""
_PART = re.compile(r"start|begin|toc", re.IGNORECASE)
BATCH = 200
"""Documents of which the notes are asked for together."""


def references(before: Findings, after: Findings, listing: Listing, limits: DriftLimits, desk: Desk) -> Checked:
    """Return a finding for each reference that dangles.

    Args:
        before: what the baseline has.
        after: what the same question gives now.
        listing: the tree as it is.
        limits: how far to look.
        desk: the tree's reader.

    Returns:
        Findings by path and line, one for each document and target, at most ``limits.max_findings``. A document
        counts where it was read, a reference where it was judged.

    Bounds: ``max_documents``, those nearest the root first; ``max_document_bytes`` of each; ``timeout_s`` for the
        search of names and again for that of ids. What is left out is a row of ``not_judged``.
    """
    documents, left_out = _documents(listing, limits)
    check = _Check(listing, limits, desk)
    followed = check.read(documents)
    for path, mentions in followed.items():
        for mention in mentions:
            check.follow(path, mention)
    check.judge_anchors()
    rows = [*check.rows(), *left_out]
    named = {
        "name": vanished_names(before, after, listing, limits, desk, tuple(followed)),
        "id": vanished_ids(before, listing, limits, desk, tuple(followed)),
    }
    for what, vanished in named.items():
        check.references += len(vanished.named)
        check.dangling += (_of_named(one, what) for one in vanished.named)
        if vanished.not_judged:
            rows.append(NotJudged(what="references", why=f"{vanished.not_judged} {what}s: {vanished.why}"))
    first: dict[tuple[str, str], _Dangling] = {}
    for one in sorted(check.dangling, key=lambda one: (one.document, one.line, one.target)):
        first.setdefault((one.document, one.target), one)
    dangling = [*first.values()]
    cut = max(0, len(dangling) - limits.max_findings)
    if cut:
        rows.append(NotJudged(what="references", why=f"{cut} findings are more than {limits.max_findings}"))
    found = tuple(check.finding(one) for one in dangling[: limits.max_findings])
    counts = DriftCounts(documents=len(followed), references=check.references, not_judged=len(rows))
    return Checked(findings=found, findings_cut=cut, counts=counts, not_judged=tuple(rows))


def _documents(listing: Listing, limits: DriftLimits) -> tuple[list[str], list[NotJudged]]:
    """Return the documents that are judged, and what there is besides."""
    found = [path for path in listing.files() if is_followed(path)]
    encoded = {listing.paths[i] for i in listing.encoded}.intersection(found)
    found = sorted((path for path in found if path not in encoded), key=lambda path: (path.count("/"), path))
    cut = len(found) - limits.max_documents
    rows = {
        f"{cut} documents are more than {limits.max_documents}": cut > 0,
        f"{len(encoded)} documents have names that are not UTF-8": bool(encoded),
    }
    left_out = [NotJudged(what="references", why=why) for why, holds in rows.items() if holds]
    return sorted(found[: limits.max_documents]), left_out


def is_followed(path: str) -> bool:
    """Tell by its path whether a file is a document whose references are followed."""
    return (
        notation_of(path) in _NOTATIONS
        and not path.lower().endswith(_PLAIN_TEXT)
        and role_of(path) is FileRole.DOCUMENT
        and not describes_past(path)
        and not _BROUGHT_IN.search(path)
    )


def _is_made(text: str) -> bool:
    """Tell whether a document's first line says that a program wrote it; of a part, others say so too."""
    first = text.lstrip("\ufeff\n\r\t -").partition("\n")[0]
    return is_generated_banner(first.encode("utf-8", "surrogatepass")) and not _PART.search(first)


class _Anchor(NamedTuple):
    """A link to a place within a document that is there."""

    document: str
    mention: Mention
    target: str
    fragment: str


class _Dangling(NamedTuple):
    """What a finding is made of, without the text of the document's line; ``what`` ends its sentence."""

    document: str
    line: int
    target: str
    what: str
    near: tuple[str, ...] = ()
    certainty: Certainty = Certainty.LIKELY


class _Check:
    """One run: what was found, and what was not judged."""

    def __init__(self, listing: Listing, limits: DriftLimits, desk: Desk) -> None:
        self._limits = limits
        self._desk = desk
        self._where = Whereabouts(listing, desk)
        self._unread: list[NotJudged] = []
        self._unjudged: Counter[str] = Counter()
        self._anchors: list[_Anchor] = []
        self._texts: dict[str, str] = {}
        self.references = 0
        self.dangling: list[_Dangling] = []

    def rows(self) -> list[NotJudged]:
        """Return what was not judged."""
        told = (NotJudged(what="references", why=f"{count} {why}") for why, count in sorted(self._unjudged.items()))
        return [*self._unread, *told]

    # -- reading -----------------------------------------------------------------------------------

    def read(self, paths: Sequence[str]) -> dict[str, tuple[Mention, ...]]:
        """Return the references of documents, noted by earlier runs or read; of those that are not of the past."""
        notes = _Notes(self._desk)
        found: dict[str, tuple[Mention, ...]] = {}
        for start in range(0, len(paths), BATCH):
            batch = paths[start : start + BATCH]
            known = notes.known(batch)
            fresh: dict[str, tuple[Mention, ...] | None] = {}
            for path in batch:
                if path not in known:
                    text = self._text(path)
                    if text is None:
                        continue
                    known[path] = fresh[path] = None if says_past(text) or _is_made(text) else mentions_of(path, text)
                mentions = known[path]
                if mentions is not None:
                    found[path] = mentions
            notes.leave(fresh)
        return found

    def _text(self, path: str) -> str | None:
        try:
            file = self._desk.workspace.read(path, max_bytes=self._limits.max_document_bytes)
        except SkippedFile as skipped:
            self._unread.append(NotJudged(what=path, why=f"{skipped.reason}: {skipped.detail}".rstrip(": ")))
            return None
        return decode(file.data).text

    # -- judging -----------------------------------------------------------------------------------

    def follow(self, document: str, mention: Mention) -> None:
        """Judge one reference; one to a heading is kept for ``judge_anchors``."""
        if mention.kind is MentionKind.PATH:
            place = self._where.path(document, mention.target)
            if place is None:
                return
        else:
            target, _, fragment = mention.target.partition("#")
            lead = self._where.page if mention.kind is MentionKind.PAGE else self._where.link
            place = lead(document, target) if target else None
            if place is None or place.state is State.THERE:
                self.references += 1
                path = document if place is None else place.path
                if fragment and notation_of(path) is Notation.MARKDOWN and notation_of(document) is Notation.MARKDOWN:
                    self._anchors.append(_Anchor(document, mention, path, fragment))
                return
        if place.state in {State.THERE, State.GONE}:
            self.references += 1
            if place.state is State.GONE:
                certainty = Certainty.CERTAIN if place.sure else Certainty.LIKELY
                self.dangling.append(self._gone(document, mention, place.path, certainty))
        else:
            self._unjudged[place.state.value] += 1

    def _gone(self, document: str, mention: Mention, path: str, certainty: Certainty) -> _Dangling:
        near = tuple(one for one in self._where.near(path) if one != document)
        target = mention.target if mention.kind is MentionKind.PATH else mention.target.partition("#")[0]
        verb = "names" if mention.kind is MentionKind.PATH else "links to"
        moved = f"; did it move to {near[0]}?" if near else ""
        what = f"{verb} {target}, which is not there{moved}"
        return _Dangling(document, mention.line, target, what, near, certainty)

    def judge_anchors(self) -> None:
        """Judge the links to headings, each target looked into once."""
        targets = sorted({one.target for one in self._anchors if one.target in self._desk.workspace.index})
        looked = look_into(targets, self._limits.survey, self._desk)
        known = {
            one.path: Anchors([heading.text for heading in one.headings], partial(self._line_source, one.path))
            for one in looked.features
            if not one.truncated
        }
        for anchor in self._anchors:
            anchors = known.get(anchor.target)
            if anchors is None:
                self._unjudged["lead to headings of files that could not be read whole"] += 1
            elif anchors.lack(anchor.fragment):
                target, fragment = anchor.target, anchor.fragment
                what = f"links to #{fragment}, of which {target} has no heading"
                place = (anchor.document, anchor.mention.line, anchor.mention.target)
                self.dangling.append(_Dangling(*place, what, (target,)))

    def finding(self, one: _Dangling) -> Finding:
        """Return the finding of a reference that dangles."""
        lines = self._line_source(one.document).split("\n")
        return finding(
            DriftKind.DANGLING_REFERENCE,
            subject=(one.document, one.target),
            state=(one.target, *one.near),
            message=f"{one.document}:L{one.line} {one.what}",
            certainty=one.certainty,
            at=Anchor(path=one.document, start_line=one.line, end_line=one.line),
            found=excerpt(lines[one.line - 1]) if one.line <= len(lines) else "",
            related=tuple(Anchor(path=path) for path in one.near),
            names=one.target,
            next_command=reentry_command(one.document, one.line),
        )

    def _line_source(self, path: str) -> str:
        """Return a document's text, the last ones from memory."""
        if path not in self._texts:
            if len(self._texts) >= BATCH:
                self._texts.clear()
            self._texts[path] = self._text(path) or ""
        return self._texts[path]


def _of_named(one: Named, what: str) -> _Dangling:
    gone = "no file defines any more" if what == "id" else "no code of the tree holds any more"
    return _Dangling(one.path, one.line, one.name, f"names {one.name}, which {gone}")


class _Notes:
    """What earlier runs noted of documents, by path and state; None stands for a document of the past."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._basis = f"{logic_digest()} {zone_id(desk.workspace.root)}"

    def _name(self, path: str) -> str:
        return f"mentions/{hashlib.sha256(f'{self._basis} {path}'.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"

    def known(self, paths: Iterable[str]) -> dict[str, tuple[Mention, ...] | None]:
        """Return what is noted of documents that are in the state in which they were read."""
        names = {path: self._name(path) for path in paths}
        notes = self._desk.notes(names.values())
        found: dict[str, tuple[Mention, ...] | None] = {}
        for path, name in names.items():
            token, _, rows = notes.get(name, b"").partition(b"\n")
            if token.decode("utf-8", "replace") == self._desk.workspace.token(path):
                try:
                    plain = json.loads(rows)
                    found[path] = None if plain is None else tuple(_mentions(plain))
                except (ValueError, TypeError):
                    continue
        return found

    def leave(self, fresh: dict[str, tuple[Mention, ...] | None]) -> None:
        """Note what was read, if it was read as it was listed."""
        if fresh and self._desk.trustworthy:
            token = self._desk.workspace.token
            self._desk.leave({
                self._name(path): f"{token(path)}\n{json.dumps(mentions, separators=(',', ':'))}".encode()
                for path, mentions in fresh.items()
            })  # fmt: skip


def _mentions(rows: Iterable[tuple[str, str, int]]) -> Iterator[Mention]:
    return (Mention(MentionKind(kind), target, line) for kind, target, line in rows)
