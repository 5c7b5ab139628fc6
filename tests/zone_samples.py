"""Records of governance zones, handoffs and packets taken up again, for the laws of records."""

from __future__ import annotations

from rtch.models.base import Record
from rtch.models.basket import RelativeTime, TimeOrigin
from rtch.models.chain import Chain, ChainDocument, ChainRung, Elision
from rtch.models.complement import Complement, Criterion, Maintenance, Publication, Related, RelationalSurface
from rtch.models.rehydration import ClaimForce, Outcome, RehydratedChunk, Rehydration
from rtch.models.verification import VerdictCounts
from rtch.models.vocab import ChunkVerdict
from rtch.models.zone import AuditPlace, OutsideDocument, Section

PACKET = f"rtch_packet_{'a' * 64}"


def records() -> tuple[Record, ...]:
    """Return one of each."""
    elided = Elision(
        size_bytes=9, characters=None, first_line=3, last_line=None, lines_after=2, re_entry_command="rtch read 'a:L3-'"
    )
    document = ChainDocument(
        path="../CLAUDE.md", kind="document", size_bytes=99, head="# \u2028", tail="", elided=elided, masked=0,
        problem="", re_entry_command="rtch read ../CLAUDE.md",
    )  # fmt: skip
    rung = ChainRung(
        rung="estate", name="", path="..", marker=".estate-root", documents=(document,), dehydrated=True, ledgers=(),
        is_current=False,
    )  # fmt: skip
    surface = RelationalSurface(
        artifact="src/pay.py",
        served_party=(Related(path="b", line=1, why="names it", re_entry_command="rtch read b"),),
        comparison_targets=(),
        maintenance=(Maintenance(path="src/pay.py", owners=("@a",)),),
        publication=(Publication(manifest="pyproject.toml", status="unsaid"),),
    )
    complement = Complement(
        timestamp="2030-01-02T03:04:05+00:00", tic=None, centroid="c", active_ray="r", complement_candidate="x",
        scope="s", structural_criteria_met=(Criterion.OWNER,), structural_criteria_open=(), relational_surface=surface,
    )  # fmt: skip
    chunk = RehydratedChunk(
        chunk_id="rtch_chunk_1",
        path="a",
        start_line=1,
        end_line=2,
        verdict=ChunkVerdict.EDITED,
        claim_force=ClaimForce.NONE,
    )
    section = Section(title="t", start_line=1, end_line=2, re_entry_command="rtch read a:L1-L2")
    return (
        AuditPlace(named="/logs", path=""),
        OutsideDocument(path="/home/a/MEMORY.md", why="asked for", size_bytes=3, sections=(section,)),
        Chain(target="a", zone_root="/z", current_rung=None, max_chars_per_rung=9, rungs=(rung,), outside=(document,)),
        complement,
        TimeOrigin(tic=9, date="2025-03-01"),
        RelativeTime(said="yesterday", called="", because="the zone counts no tic"),
        Rehydration(
            packet_id=PACKET, outcome=Outcome.DRIFT_DETECTED, claim_force=ClaimForce.CAUTION_ONLY, because="b",
            chunks=(chunk,), counts=VerdictCounts(edited=1), superseded_by=PACKET,
        ),
    )  # fmt: skip
