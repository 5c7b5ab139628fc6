"""The doctrine chain of a path, read from the disk without listing the zone.

Folders from the target upward are asked for rung markers; of each rung its documents are read, and the ledgers in
which the bodies lie of what they name. A document is read at its head and its tail, and never whole where it is large.
"""

from __future__ import annotations

import os
import posixpath
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from rtch.errors import ZoneError
from rtch.layout import layout
from rtch.ledger_index import IndexLine, index_lines, ledger_of
from rtch.masking import mask, secret_name
from rtch.models.chain import Chain, ChainDocument, ChainRung, Elision
from rtch.models.vocab import FileRole
from rtch.models.zone import Rung
from rtch.outside import memory_files, outside_command
from rtch.paths import typed
from rtch.reading import SkippedFile, open_regular
from rtch.reentry import reentry_command
from rtch.roles import role_of
from rtch.roots import find_root
from rtch.rungs import ORDER, marker_cautions, rung_at
from rtch.text import HEAD_BYTES, decode, is_binary, wide_encoding

if TYPE_CHECKING:
    from rtch.limits import Limits

Kind = Literal["document", "ledger", "memory"]
_MAX_BYTES_OF_A_CHARACTER = 4
_LINES_READ = 1000
"""Lines that the command for what was left out reads where the end of that was not looked for."""


class Wish(NamedTuple):
    """What is asked for.

    Attributes:
        root: the pinned zone root, if any.
        parents: whether rungs above the root are looked for.
        max_chars: characters of a rung's documents, and as many of its ledgers; 0 reads none.
        with_memory: whether the user's own memory of the zone is shown.
    """

    root: Path | None = None
    parents: bool = True
    max_chars: int | None = None
    with_memory: bool = False


class _Place(NamedTuple):
    """A document on the disk: the folder that it may not lead out of, its path there, and how it is shown."""

    folder: Path
    name: str
    path: str
    kind: Kind


def chain(target: Path, wish: Wish, limits: Limits) -> Chain:
    """Return the doctrine chain of a path.

    Args:
        target: a file or folder that exists; a relative one is of the pinned root, else of the working folder.
        wish: what is asked for.
        limits: ``orient`` names the markers and documents, ``chain`` bounds what is read.

    Raises:
        ZoneError: the target does not exist, or lies outside the pinned root.
    Bounds: ``wish.max_chars`` characters of a rung's documents and as many of its ledgers; of a document of more
        than ``limits.chain.whole_bytes`` no more than four bytes a character are read.
    """
    real = _existing(target if wish.root is None else wish.root / target)
    root = find_root(real, wish.root).root
    if not real.is_relative_to(root):
        raise ZoneError(f"{typed(str(target))} lies outside the zone {root}", hint="pin another root with --root")
    most = limits.chain.max_chars if wish.max_chars is None else wish.max_chars
    reader = _Reader(limits, most)
    folders = list(_folders(real, root, limits.orient.max_parents if wish.parents else 0))
    found = list(_rungs(folders, root, limits))
    nearest = found[0].rung.path if found else None
    rungs = tuple(reader.rung(one, is_current=one.rung.path == nearest) for one in _lowest_first(found))
    memory = memory_files(root) if wish.with_memory else ()
    return Chain(
        target=typed(os.fspath(real.relative_to(root))),
        zone_root=typed(str(root)),
        current_rung=nearest,
        max_chars_per_rung=most,
        rungs=rungs,
        cautions=tuple(one for folder, path in folders for one in marker_cautions(folder, path, limits.orient)),
        outside=reader.documents([_Place(one.parent, one.name, typed(str(one)), "memory") for one in memory]),
    )


class _Bare(NamedTuple):
    """A zone root without markers, which speaks all the same."""

    path: str
    documents: tuple[str, ...]


class _Met(NamedTuple):
    """A rung with its folder on the disk, whose name may be no UTF-8."""

    rung: Rung | _Bare
    folder: Path


def _existing(target: Path) -> Path:
    try:
        return target.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ZoneError(f"{typed(str(target))} cannot be opened: {why}", hint="name a path that exists") from error


def _folders(target: Path, root: Path, most_above: int) -> Iterator[tuple[Path, str]]:
    """Yield the folders around a path, nearest first, each with how it is named from the root."""
    start = target if target.is_dir() else target.parent
    for folder in (start, *start.parents):
        inside = folder.is_relative_to(root)
        up = 0 if inside else len(root.parts) - len(folder.parts)
        if up > most_above:
            return
        yield folder, typed(folder.relative_to(root).as_posix()) if inside else "/".join([".."] * up)


def _rungs(folders: Iterable[tuple[Path, str]], root: Path, limits: Limits) -> Iterator[_Met]:
    """Yield the rungs of some folders; the root counts as one if it has documents."""
    for folder, path in folders:
        rung = rung_at(folder, path, limits.orient)
        if rung is not None:
            yield _Met(rung, folder)
        elif folder == root:
            documents = tuple(name for name in limits.orient.rung_documents if (root / name).is_file())
            if documents:
                yield _Met(_Bare(".", documents), folder)


def _lowest_first(found: Sequence[_Met]) -> list[_Met]:
    """Return rungs by their kind, those of one kind nearest first; a bare root stands where it was met."""
    highest = -1
    keyed = []
    for one in found:
        own = ORDER[one.rung.kind] if isinstance(one.rung, Rung) else highest
        highest = max(highest, own)
        keyed.append((own, one))
    return [one for _, one in sorted(keyed, key=lambda pair: pair[0])]


class _Reader:
    """Reads documents within the bounds of one chain."""

    def __init__(self, limits: Limits, most: int) -> None:
        self._limits = limits.chain
        self._most = most
        self._links: dict[str, tuple[IndexLine, ...]] = {}

    def rung(self, met: _Met, *, is_current: bool) -> ChainRung:
        """Return a rung with what it says."""
        rung, folder = met
        prefix = "" if rung.path == "." else rung.path + "/"

        def places(paths: Iterable[str], kind: Kind) -> list[_Place]:
            return [_Place(folder, path.removeprefix(prefix), path, kind) for path in paths]

        documents = self.documents(places(rung.documents, "document"))
        if isinstance(rung, _Bare):
            return ChainRung(
                rung="root", name="", path=rung.path, marker="", documents=documents, dehydrated=False, ledgers=(),
                is_current=is_current,
            )  # fmt: skip
        linked = {path for one in rung.documents for path in _linked(one, self._links.get(one, ()), rung, folder)}
        ledgers = self.documents(places(sorted(linked | set(rung.ledgers)), "ledger"))
        return ChainRung(
            rung=rung.kind.value,
            name=rung.name,
            path=rung.path,
            marker=rung.marker,
            documents=documents,
            dehydrated=bool(linked),
            ledgers=ledgers,
            is_current=is_current,
        )

    def documents(self, places: Sequence[_Place]) -> tuple[ChainDocument, ...]:
        """Return some documents that share the characters of a section; what one leaves goes to those after it."""
        found = []
        left = self._most
        for number, place in enumerate(places):
            one = self._document(place, left // (len(places) - number))
            left -= len(one.head) + len(one.tail)
            found.append(one)
        return tuple(found)

    def _document(self, place: _Place, most: int) -> ChainDocument:
        size, text, problem = 0, _Text("", "", None, 0), secret_name(place.path) or ""
        try:
            if not problem:
                with open_regular(os.fsencode(place.folder), os.fsencode(place.name), place.path) as file:
                    size = file.row.size
                    head = file.pread(0, HEAD_BYTES)
                    if is_binary(head):
                        problem = "it holds NUL bytes"
                    elif size <= max(self._limits.whole_bytes, most * _MAX_BYTES_OF_A_CHARACTER):
                        whole = decode(file.pread(0, size)).text
                        self._look_for_links(place, whole)
                        text = _of_whole(whole, *self._shares(place.kind, most), size)
                    elif wide_encoding(head) is not None:
                        problem = f"it is too large to be cut in {wide_encoding(head)}"
                    else:
                        first, last = self._shares(place.kind, most)
                        begin = file.pread(0, max(first * _MAX_BYTES_OF_A_CHARACTER, HEAD_BYTES))
                        self._look_for_links(place, decode(begin).text)
                        length = last * _MAX_BYTES_OF_A_CHARACTER
                        text = _of_ends(begin, file.pread(size - length, length), (first, last), size)
        except SkippedFile as skipped:
            problem = skipped.detail or str(skipped.reason)
        if text.elided is not None:
            cut = text.elided
            command = _command(place, cut.first_line, cut.last_line or cut.first_line + _LINES_READ - 1)
            text = text._replace(elided=cut.model_copy(update={"re_entry_command": command}))
        return ChainDocument(
            path=place.path,
            kind=place.kind,
            size_bytes=size,
            head=text.head,
            tail=text.tail,
            elided=text.elided,
            masked=text.masked,
            problem=problem,
            re_entry_command=_command(place),
        )

    def _look_for_links(self, place: _Place, text: str) -> None:
        if place.kind == "document":
            self._links[place.path] = index_lines(text.split("\n"))

    def _shares(self, kind: Kind, most: int) -> tuple[int, int]:
        """Return how many characters of the head and of the tail are shown."""
        head = int(most * (self._limits.document_head if kind == "document" else self._limits.ledger_head))
        return head, most - head


class _Text(NamedTuple):
    head: str
    tail: str
    elided: Elision | None
    masked: int


def _of_whole(text: str, first: int, last: int, size: int) -> _Text:
    """Cut a text that was read whole, at the ends of lines where they allow it."""
    shown = mask(text)
    if len(text) <= first + last:
        return _Text(shown.text, "", None, len(shown.masked))
    lines, safe = _lines(text), _lines(shown.text)
    head, tail = _fitting(lines, first), _fitting(lines[::-1], last)
    tail = min(tail, len(lines) - head)
    start = "".join(safe[:head]) if head else safe[0][:first]
    end = "".join(safe[len(lines) - tail :]) if tail else ""
    kept = "".join(lines[:head] if head else [lines[0][:first]]) + "".join(lines[len(lines) - tail :] if tail else [])
    elided = Elision(
        size_bytes=max(0, size - len(kept.encode("utf-8", "surrogatepass"))),
        characters=len(text) - len(kept),
        first_line=head + 1,
        last_line=len(lines) - tail,
        lines_after=tail,
        re_entry_command="",
    )
    masked = sum(one.line < head or one.line >= len(lines) - tail for one in shown.masked)
    return _Text(start, end, elided, masked)


def _of_ends(begin: bytes, end: bytes, shares: tuple[int, int], size: int) -> _Text:
    """Cut a text of which only the two ends were read."""
    first, last = shares
    # A line that the read cut through is no line; nor is one that begins before what was read.
    head_text, tail_text = _decoded(begin[: begin.rfind(b"\n") + 1]), _decoded(end.partition(b"\n")[2])
    heads, tails = _lines(head_text), _lines(tail_text)
    head = _fitting(heads, first)
    tail = _fitting(tails[::-1], last)
    kept = "".join([*heads[:head], *tails[len(tails) - tail :]])
    shown_head, shown_tail = mask(head_text), mask(tail_text)
    elided = Elision(
        size_bytes=max(0, size - len(kept.encode("utf-8", "surrogatepass"))),
        characters=None,
        first_line=head + 1,
        last_line=None,
        lines_after=tail,
        re_entry_command="",
    )
    masked = sum(one.line < head for one in shown_head.masked)
    masked += sum(one.line >= len(tails) - tail for one in shown_tail.masked)
    safe = _lines(shown_tail.text)
    return _Text("".join(_lines(shown_head.text)[:head]), "".join(safe[len(tails) - tail :]), elided, masked)


def _decoded(data: bytes) -> str:
    return decode(data).text


def _lines(text: str) -> list[str]:
    """Return a text's lines with their LF."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _fitting(lines: Sequence[str], most: int) -> int:
    """Return how many of the first lines are no longer than so many characters."""
    for number, line in enumerate(lines):
        most -= len(line)
        if most < 0:
            return number
    return len(lines)


def _linked(document: str, links: Iterable[IndexLine], rung: Rung, folder: Path) -> Iterator[str]:
    """Yield the ledgers that a document's links lead to: of the layout, or by their names, below the rung."""
    prefix = "" if rung.path == "." else rung.path + "/"
    for line in links:
        known = ledger_of(document, line.target, rung.ledgers)
        if known is not None:
            yield known
            continue
        path = posixpath.normpath(posixpath.join(posixpath.dirname(document), line.target))
        inside = path.startswith(prefix) and ".." not in path.removeprefix(prefix).split("/")
        if inside and role_of(path) is FileRole.LEDGER and (folder / path.removeprefix(prefix)).is_file():
            yield path


def _command(place: _Place, start: int | None = None, end: int | None = None) -> str:
    """Return the command that reads the document, run from the zone root or, where it lies outside, anywhere."""
    if place.kind == "memory":
        return outside_command(place.folder / place.name, start, end)
    if not place.path.startswith("../"):
        return reentry_command(place.path, start, end)
    above = place.path[: len(place.path) - len(place.name)].rstrip("/")
    return reentry_command(place.name, start, end).replace("rtch read ", f"rtch read --root {shlex.quote(above)} ", 1)


def asked_for_memory(*, flag: bool) -> bool:
    """Tell whether the user's memory is shown: by flag, or in the user's layout."""
    return flag or layout().with_memory
