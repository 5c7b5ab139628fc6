"""How a zone's view is made: all of its ledgers are read once, for as long as they stay as they are.

A zone without an audit folder has an empty view, and nothing is read for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtch.audit_zones import folders_in, governing, outermost_zone
from rtch.corrections import Correction, CorrectionRow, Resolved, Unresolved, is_correction, merged, resolve
from rtch.effective import DIGEST_CHARS, EMPTY, Corrected, Held, Notes, Shown, View, digest_of, has_rows, loaded
from rtch.keys import logic_digest, zone_id
from rtch.ledger_scan import Scan, holds_of_doubt, holds_of_noise, scan_of
from rtch.ledger_scan import loaded as scan_loaded
from rtch.ledgers import VIEW_TYPE, ids_of, parsed_row
from rtch.models.ledgers import HoldReason, LedgerRules
from rtch.models.vocab import EntryKind
from rtch.own_words import load_rules
from rtch.paths import shown
from rtch.reading import SkippedFile

if TYPE_CHECKING:
    from rtch.workspace import Workspace

MAX_RECEIPT_BYTES = 1 << 20


def view_of(ws: Workspace, notes: Notes | None) -> View:
    """Return the view of an open tree's ledgers: of its own zone's, and of those of zones in it.

    Args:
        ws: the tree.
        notes: where the view, and what each ledger holds, is looked up and left.
    """
    above = outermost_zone(f"{ws.root}/x", str(ws.root))
    if above is not None and above != str(ws.root):
        # The tree is a part of a zone, and what corrects its ledgers may lie beside it.
        return view_at(Path(above)).below(f"{ws.root.relative_to(above).as_posix()}/")
    folders = lru_cache(maxsize=None)(lambda base: folders_in(ws, base))
    zones: dict[str, set[str]] = defaultdict(set)
    for path in filter(has_rows, ws.listing.paths):
        zone = governing(path, folders)
        real = "" if zone is None else _located(ws, path)
        if zone is not None and has_rows(real) and ws.kind(real) is EntryKind.FILE:
            zones[zone].add(real)
    if not zones:
        return EMPTY
    rules = load_rules()
    return EMPTY.joined(
        Making(ws, f"{zone}/" if zone else "", rules, notes).view(
            sorted(path for path in zones[zone] if not _is_derived(path, rules)), folders(zone)
        )
        for zone in sorted(zones)
    )


def view_at(root: Path) -> View:
    """Return the view of a zone that nobody has opened.

    Raises:
        ZoneError: the zone cannot be listed.
    """
    from rtch.places import store_place  # noqa: PLC0415  only where lines of a ledger are read by themselves
    from rtch.store import open_store  # noqa: PLC0415
    from rtch.workspace import open_workspace  # noqa: PLC0415

    ws = open_workspace(root)
    ws.notes = open_store(store_place())
    return ws.view


def view_around(root: Path, name: bytes) -> tuple[View, str] | None:
    """Return the view that a file is under, and its path there; None where no zone around it has ledgers.

    Args:
        root: the folder that the name is relative to.
        name: the path's own bytes.
    """
    base = os.path.realpath(root)
    place = f"{base}/{os.fsdecode(name)}"
    zone = outermost_zone(place, base)
    return None if zone is None else (view_at(Path(zone)), shown(os.fsencode(os.path.relpath(place, zone))))


def _located(ws: Workspace, path: str) -> str:
    """Return the path of the tree that a path leads to, where it lies behind a link; empty where there is none."""
    with contextlib.suppress(SkippedFile):
        return ws.locate(path)
    return ""


def _is_derived(path: str, rules: LedgerRules) -> bool:
    return any(path.endswith(f"/{name}") for name in rules.derived)


class Making:
    """One zone's view in the making."""

    def __init__(self, ws: Workspace, base: str, rules: LedgerRules, notes: Notes | None) -> None:
        """Take an open tree, the zone's folder in it with a slash, the words, and where notes lie."""
        self.ws = ws
        self.base = base
        self.rules = rules
        self.notes = notes
        self.basis = hashlib.sha256(logic_digest().encode() + rules.canonical()).hexdigest()
        self.rows: dict[str, dict[int, Shown]] = {}
        self.corrected: list[Corrected] = []
        self.held: list[Held] = []
        self.unplaced: dict[str, Held] = {}
        """Holds of corrections that name nothing that is there, by the record that they are about."""
        self.asked: dict[str, str] = {}
        """Which receipts were asked for, and in which state they were; empty where none lies in the zone."""
        self.safe = True
        """Whether everything was read in the state that the listing saw."""

    def view(self, ledgers: list[str], folders: Iterable[str]) -> View:
        """Return the view of some ledgers of the zone's audit folders, noted or made."""
        corrections = self._corrections_there(folders)
        name = self._name("view", *(f"{path} {self.ws.raw_token(path)}" for path in ledgers), *corrections)
        known = self._recalled(name)
        if known is not None:
            return known
        scans = {path: scan for path in ledgers if (scan := self._scan(path)) is not None}
        rows = [
            CorrectionRow(path, line, self._placed(row))
            for path, scan in scans.items()
            for line, text in scan.corrections
            if (row := parsed_row(text.encode("utf-8", "surrogatepass"))) is not None
        ]
        resolved = resolve(rows, self.rules, self._has_receipt)
        for one in resolved.held:
            self._hold(one, scans)
        self._project(resolved, scans)
        self.held += self._bearing(scans)
        self.held += holds_of_noise(scans, {one.surface for one in self.held if one.withheld})
        self.held += holds_of_doubt(scans)
        unread = next((path for path in corrections if path not in scans), None)
        if unread is not None:
            detail = "corrections that may be of it cannot be read"
            self.held += [Held(path, "", HoldReason.UNREADABLE, detail, unread, 1, withheld=True) for path in scans]
        # A correction that is not known to apply must not leave the row that it is about in sight.
        withheld = {one.surface for one in self.held if one.withheld}
        shown = {path: lines for path, lines in self.rows.items() if path not in withheld}
        view = View(shown, [one for one in self.corrected if one.surface in shown], self.held)
        if self.safe and self.notes is not None:
            self.notes.set_blobs({name: json.dumps(self.asked).encode() + b"\n" + view.dumped()})
        return view

    def _corrections_there(self, folders: Iterable[str]) -> list[str]:
        """Return the ledgers of corrections that are on the disk, whether they are listed and can be read or not."""
        named = [f"{self.base}{'' if one == '.' else f'{one}/'}{self.rules.corrections}" for one in folders]
        return [_located(self.ws, path) or path for path in named if os.path.lexists(f"{self.ws.root}/{path}")]

    def _placed(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a correction with the paths that it names as paths of the tree."""
        named = {name: row[name] for name in ("target_surface", "receipt_path") if isinstance(row.get(name), str)}
        placed = {name: f"{self.base}{path}" for name, path in named.items() if path}
        return row | {name: _located(self.ws, path) or path for name, path in placed.items()}

    def _recalled(self, name: str) -> View | None:
        note = b"" if self.notes is None else self.notes.get_blobs([name]).get(name, b"")
        asked, _, rest = note.partition(b"\n")
        try:
            stands = bool(note) and all(self._receipt_token(path) == token for path, token in json.loads(asked).items())
        except (ValueError, AttributeError):
            return None
        return loaded(rest) if stands else None

    def _name(self, kind: str, *parts: str) -> str:
        hasher = hashlib.sha256(self.basis.encode())
        for part in parts:
            hasher.update(hashlib.sha256(part.encode("utf-8", "surrogatepass")).digest())
        return f"ledgers/{kind}/{zone_id(self.ws.root)}/{hasher.hexdigest()[:DIGEST_CHARS]}"

    def _scan(self, path: str) -> Scan | None:
        """Return what a ledger's rows are; None, and held, where it cannot be read."""
        name = self._name("scan", path)
        noted = {} if self.notes is None else self.notes.get_blobs([name])
        try:
            with self.ws.open(path) as file:
                scan = scan_of(file, scan_loaded(noted.get(name)), self.rules)
                file.check_unchanged()
        except SkippedFile as skipped:
            self.safe = False
            detail = f"it cannot be read: {skipped.reason} {skipped.detail}".strip()
            self.held.append(Held(path, "", HoldReason.UNREADABLE, detail, path, 1, withheld=True))
            return None
        self.safe &= path not in self.ws.unstable
        if self.notes is not None and scan.size:
            self.notes.set_blobs({name: scan.dumped()})
        return scan

    def _has_receipt(self, path: str, correction_id: str) -> bool:
        """Tell whether a file of the zone is a correction's receipt: it is no ledger, and names the correction."""
        self.asked[path] = self._receipt_token(path)
        if not self.asked[path]:
            return False
        written = {
            correction_id,
            *(json.dumps(correction_id, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)),
        }
        try:
            with self.ws.open(path) as file:
                data = file.pread(0, min(file.row.size, MAX_RECEIPT_BYTES))
                file.check_unchanged()
        except SkippedFile:
            self.safe = False
            return False
        return any(one.encode("utf-8", "surrogatepass") in data for one in written)

    def _receipt_token(self, path: str) -> str:
        folders = self.rules.receipt_folders
        fits = not folders or any(path.startswith(f"{self.base}{folder}/") for folder in folders)
        lies = fits and not has_rows(path) and path in self.ws.index and self.ws.kind(path) is EntryKind.FILE
        return self.ws.raw_token(path) if lies else ""

    # -- rows ------------------------------------------------------------------------------------

    def _project(self, resolved: Resolved, scans: Mapping[str, Scan]) -> None:
        """Put corrected rows in place of those they are about."""
        by_surface: dict[str, list[list[Correction]]] = defaultdict(list)
        for (surface, _), chain in resolved.chains.items():
            by_surface[surface].append(chain)
        unread = {one.surface for one in self.held if one.reason == HoldReason.UNREADABLE}
        for surface, chains in by_surface.items():
            if surface in unread:
                continue
            if surface not in scans:
                for chain in chains:
                    self._orphan(chain[-1], "", scans)
                continue
            try:
                with self.ws.open(surface) as file:
                    lines = file.pread(0, file.row.size).split(b"\n")
                    file.check_unchanged()
            except SkippedFile as skipped:
                one = chains[0][-1]
                self.safe = False
                detail = f"it cannot be read: {skipped.reason}"
                self.held.append(
                    Held(surface, one.record_id, HoldReason.UNREADABLE, detail, one.source, one.line, withheld=True)
                )
                continue
            self.safe &= surface not in self.ws.unstable
            if scans[surface].noise_count:
                line = scans[surface].noise[0]
                detail = "rows of it are corrected, and not all of them can be read"
                self.held.append(Held(surface, "", HoldReason.MALFORMED_ROW, detail, surface, line, withheld=True))
                continue
            torn = scans[surface].torn
            if torn:
                self.rows.setdefault(surface, {})[torn] = _shown(lines[torn - 1], {"withheld": HoldReason.TORN_TAIL})
            bearers = _bearers(lines, {chain[0].record_id for chain in chains}, self.rules)
            for chain in chains:
                self._correct(surface, chain, lines, bearers, scans)

    def _correct(
        self,
        surface: str,
        chain: list[Correction],
        lines: list[bytes],
        bearers: Mapping[str, list[int]],
        scans: Mapping[str, Scan],
    ) -> None:
        record_id = chain[0].record_id
        places = bearers.get(record_id, [])
        base = parsed_row(lines[places[-1] - 1]) if places else None
        if base is None:
            self._orphan(chain[-1], f"{surface} has no row {record_id}", scans)
            return
        record: Any = base
        fields: set[str] = set()
        for one in chain:
            record = merged(record, one.patch)
            fields |= one.patch.keys()
        about = {"target_record_id": record_id, "target_surface": surface}
        applied = [one.correction_id for one in chain]
        # What was corrected may stand in earlier rows of the same record as well.
        withheld = [line for line in places[:-1] if fields & (parsed_row(lines[line - 1]) or {}).keys()]
        rows = self.rows.setdefault(surface, {})
        if any(line in rows for line in (*withheld, places[-1])):
            detail = f"a row of {record_id} bears the id of another corrected record"
            self._orphan(chain[-1], detail, scans)
            return
        rows[places[-1]] = _shown(
            lines[places[-1] - 1], {**about, "effective_record": record, "applied_correction_ids": applied}
        )
        for line in withheld:
            rows[line] = _shown(lines[line - 1], {**about, "withheld": "corrected", "corrected_at": places[-1]})
        self.corrected.append(Corrected(surface, record_id, places[-1], tuple(applied), tuple(withheld)))

    def _orphan(self, one: Correction, detail: str, scans: Mapping[str, Scan]) -> None:
        self._hold(Unresolved(one.surface, one.record_id, HoldReason.ORPHAN, detail, one.source, one.line), scans)

    def _hold(self, one: Unresolved, scans: Mapping[str, Scan]) -> None:
        """Hold the surface that a row names; what names no file of rows holds nothing there but its own standing."""
        lies = one.surface in scans or bool(_located(self.ws, one.surface))
        known = one.surface in scans or (lies and has_rows(one.surface))
        placed = "" if known and one.detail else "it names no ledger of the zone"
        detail = "; ".join(filter(None, (one.detail, placed)))
        surface = one.surface if known else one.source
        held = Held(surface, one.record_id, one.reason, detail, one.source, one.line, known)
        self.held.append(held)
        if not lies and one.record_id:
            self.unplaced.setdefault(one.record_id, held)

    def _bearing(self, scans: Mapping[str, Scan]) -> Iterable[Held]:
        """Yield holds of the ledgers that an unplaced correction may mean: those with rows of its record."""
        for path in scans if self.unplaced else ():
            with contextlib.suppress(SkippedFile), self.ws.open(path) as file:
                lines = file.pread(0, file.row.size).split(b"\n")
                for record_id in sorted(_bearers(lines, self.unplaced, self.rules)):
                    yield self.unplaced[record_id]._replace(surface=path, withheld=True)


def _bearers(lines: list[bytes], wanted: Collection[str], rules: LedgerRules) -> dict[str, list[int]]:
    """Return the lines of the rows that bear some ids; a correction is none of the record it is about."""
    found: dict[str, list[int]] = defaultdict(list)
    # An id may be written with escapes, or with its bytes as they are.
    may_bear = re.compile(b"|".join((rb"\\", *(re.escape(one.encode("utf-8", "surrogatepass")) for one in wanted))))
    for number, raw in enumerate(lines, start=1):
        row = parsed_row(raw) if may_bear.search(raw) else None
        if row is not None and not is_correction(row, rules):
            for record_id in ids_of(row, rules) & set(wanted):
                found[record_id].append(number)
    return found


def _shown(raw: bytes, row: Mapping[str, Any]) -> Shown:
    row = {"type": VIEW_TYPE, **row}
    text = json.dumps(row, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(row)
    return Shown(digest_of(raw), text)
