"""A drift report with one of everything, for what writes reports and for the laws of records."""

from __future__ import annotations

from typing import Any

from rtch.finding import finding
from rtch.models.baseline import Accepted, HistoryRow, Suppression
from rtch.models.drift import (
    Anchor,
    BaselineRef,
    BaselineState,
    Certainty,
    Checked,
    Commit,
    DriftCounts,
    DriftKind,
    DriftReport,
    DriftStatus,
    Finding,
    Investigation,
    NotJudged,
)
from rtch.models.fleet import Deployment, Fleet, FleetZone
from rtch.models.vocab import ChunkVerdict

AT = "2030-01-02T03:04:05+00:00"
PACKET = f"rtch_packet_{'a' * 64}"
CHUNK = "rtch_chunk_0123456789abcdef"


def edited(**changed: Any) -> Finding:
    """A cited chunk that was edited and has a place."""
    return finding(
        DriftKind.EDITED,
        subject=("src/pay.py", CHUNK),
        state=("b" * 64,),
        message="src/pay.py:L10-L12 was edited",
        at=Anchor(path="src/pay.py", start_line=10, end_line=12),
        certainty=Certainty.LIKELY,
        captured="def pay(amount):",
        now=Anchor(path="src/pay.py", start_line=11, end_line=14),
        found="def pay(amount, currency):",
        verdict=ChunkVerdict.EDITED,
        chunk_id=CHUNK,
        since=Commit(id="c" * 40, date=AT, author="Ada", summary="Pay in any currency"),
        next_command="rtch read 'src/pay.py:L11-L14'",
        owners=("@payments", "ada@example.org"),
    ).model_copy(update=changed)


def deleted() -> Finding:
    """A cited chunk of which nothing is left."""
    return finding(
        DriftKind.DELETED,
        subject=("old one.py", CHUNK),
        state=("",),
        message="old one.py is gone with 3 cited chunks",
        at=Anchor(path="old one.py", start_line=1, end_line=9),
        verdict=ChunkVerdict.DELETED,
        chunk_id=CHUNK,
        captured="import this",
    )


def dangling() -> Finding:
    """A document that names what is not there, in a folder whose name is not UTF-8."""
    return finding(
        DriftKind.DANGLING_REFERENCE,
        subject=("docs/%FF.md", "src/gone.py"),
        state=("src/gone.py",),
        message="docs/%FF.md names src/gone.py, which is not there",
        at=Anchor(path="docs/%FF.md", path_encoded=True, start_line=3, end_line=3),
        certainty=Certainty.LIKELY,
        found="see `src/gone.py` | <b>now</b>",
        related=(Anchor(path="src/gone.ts"),),
    )


def contradiction() -> Finding:
    """Two truth files that disagree; accepted."""
    return finding(
        DriftKind.CONTRADICTION,
        subject=("limits.window",),
        state=("40", "60"),
        message="limits.window is 40 in a.yaml and 60 in b.yaml",
        at=Anchor(path="a.yaml", start_line=2, end_line=2),
        certainty=Certainty.POSSIBLE,
        related=(Anchor(path="b.yaml", start_line=7, end_line=7),),
    ).model_copy(update={"baseline_state": BaselineState.UNCHANGED, "set_aside": "both hold until the next release"})


def moved() -> Finding:
    """A note."""
    return finding(
        DriftKind.MOVED,
        subject=("src/pay.py", "rtch_chunk_1"),
        state=("L20",),
        message="src/pay.py:L18-L19 is 2 lines down",
        at=Anchor(path="src/pay.py", start_line=18, end_line=19),
        now=Anchor(path="src/pay.py", start_line=20, end_line=21),
        verdict=ChunkVerdict.MOVED,
    )


def investigation(**changed: Any) -> Investigation:
    """An investigation with drift."""
    absent = edited(finding_id="drift_00000000000000ff", baseline_state=BaselineState.ABSENT)
    suppressed = deleted().model_copy(
        update={"finding_id": "drift_00000000000000fe", "set_aside": "being moved", "set_aside_until": "2030-02-01"}
    )
    return Investigation(
        saved="payments",
        goal="Where is a payment <booked>?",
        zone_name="shop",
        zone_root="/srv/shop",
        status=DriftStatus.DRIFT,
        baseline=BaselineRef(
            packet_id=PACKET, taken_at=AT, taken_by="ada", reason="as released", place="/home/ada/payments.yaml"
        ),
        packet_id=f"rtch_packet_{'b' * 64}",
        commit="c" * 40,
        findings=(deleted(), edited(), dangling(), contradiction(), moved(), suppressed, absent),
        counts=DriftCounts(
            chunks=12, surfaces=7, documents=3, references=19, truth_files=4, keys=2, drifted=3, accepted=1,
            suppressed=1, notes=1, not_judged=1,
        ),
        not_judged=(NotJudged(what="rtch_chunk_2", why="unreadable: no permission"),),
        exit_code=1,
        started_at=AT,
        wall_ms=812.5,
    ).model_copy(update=changed)  # fmt: skip


def report() -> DriftReport:
    """A report of one of each end."""
    failed = investigation(
        saved="stock", status=DriftStatus.FAILED, findings=(), baseline=None, failure="the zone /srv/x does not exist",
        exit_code=3, counts=DriftCounts(), not_judged=(), packet_id="",
    )  # fmt: skip
    clean = investigation(
        saved="orders", status=DriftStatus.CLEAN, findings=(), exit_code=0, counts=DriftCounts(chunks=4, surfaces=2),
        not_judged=(),
    )  # fmt: skip
    return DriftReport(rtch_version="1.0", investigations=(investigation(), clean, failed), exit_code=1)


def others() -> tuple[Any, ...]:
    """The records that a report has no place for, but the baseline itself."""
    return (
        Checked(findings=(edited(),)),
        Accepted(
            finding_id="drift_0123456789abcdef", state="0" * 64, kind=DriftKind.EDITED, path="a", message="", reason="",
            by="ada", at=AT,
        ),
        Suppression(paths="vendor/**", until="2030-02-01", reason="r", by="ada", at=AT),
        HistoryRow(at=AT, saved="q", zone_root="/z", status=DriftStatus.CLEAN),
        Fleet(zones=(FleetZone(root="/srv/shop", intakes=("payments",)),)),
        Deployment(name="d", flow="rtch.flows.drift.drift", cron="0 3 * * *", parameters={"saved": ["payments"]}),
    )  # fmt: skip
