"""What the Prefect UI is told of drift: states that never look clean, rows, keys and events."""

from __future__ import annotations

import json
import pickle
import re
from concurrent.futures.process import BrokenProcessPool
from typing import Any, cast

import drift_samples
import pytest
from prefect.futures import PrefectFuture
from prefect.utilities.annotations import quote

from rtch.flows.asking import Asked
from rtch.flows.drift_pages import MOST_IDS, MOST_ROWS, event_of, finding_rows, fleet_rows, key_of
from rtch.flows.ending import MOST_TOLD, NotClean, ended, told
from rtch.flows.fleet import OneNotClean, _taken
from rtch.models.drift import DriftReport, DriftStatus, NotJudged
from rtch.models.fleet import FleetZone

ZONE = "0123456789abcdef"


def asked(**changed: object) -> Asked:
    return Asked(drift_samples.investigation(**changed), ZONE, "payments")


def report(*statuses: DriftStatus) -> DriftReport:
    made = tuple(drift_samples.investigation(status=status, failure="no root") for status in statuses)
    return DriftReport(rtch_version="1.0", investigations=made, exit_code=1)


@pytest.mark.parametrize(
    ("statuses", "kind", "name"),
    [
        (("clean",), "COMPLETED", "Clean"),
        (("baseline_taken", "clean"), "COMPLETED", "BaselineTaken"),
        (("clean", "not_judged"), "FAILED", "NotJudged"),
        (("drift", "not_judged", "clean"), "FAILED", "Drift"),
        (("drift", "failed", "clean"), "FAILED", "Failed"),
    ],
)
def test_a_run_is_named_after_the_worst_in_it(statuses: tuple[str, ...], kind: str, name: str) -> None:
    of = report(*map(DriftStatus, statuses))
    state = ended(of)
    assert (state.type.value, state.name) == (kind, name)
    data: Any = state.data
    kept = data.unquote() if isinstance(data, quote) else data.report
    assert kept == of


def test_a_run_that_is_not_clean_travels_between_processes_with_its_report() -> None:
    one = NotClean(drift_samples.report())
    again = pickle.loads(pickle.dumps(one))
    assert (again.report, again.exit_code, str(again)) == (one.report, 1, str(one))
    single = OneNotClean(asked())
    assert pickle.loads(pickle.dumps(single)).asked == single.asked


class Lost:
    """A future of a process that was killed."""

    def result(self, *, raise_on_failure: bool) -> object:
        raise BrokenProcessPool("a process was terminated abruptly")


def test_a_task_that_was_killed_is_an_investigation_that_failed() -> None:
    zone = FleetZone(root="/srv/east", name="the east", intakes=("payments",))
    made = _taken((zone, "payments"), cast("PrefectFuture[Any]", Lost())).investigation
    assert (made.status, made.zone_name, made.exit_code) == (DriftStatus.FAILED, "the east", 70)
    assert made.failure == "its task did not come to its end: a process was terminated abruptly"


def test_a_report_in_a_line() -> None:
    assert told(drift_samples.report()) == (
        "1 failed, 1 drift, 1 clean; stock @ shop: failed: the zone /srv/x does not exist; payments @ shop: 3 drifted"
    )
    many = told(report(*[DriftStatus.DRIFT] * (MOST_TOLD + 2)))
    assert many.endswith("; and 2 more")


def test_findings_that_count_come_first_and_what_was_not_judged_is_there() -> None:
    rows = finding_rows(drift_samples.investigation())
    assert [row["level"] for row in rows] == [
        "error",
        "warning",
        "warning",
        "note",
        "warning",
        "error",
        "warning",
        "not judged",
    ]
    first, last = rows[0], rows[-1]
    assert (first["kind"], first["where"], first["id"]) == (
        "deleted",
        "`old one.py:L1-L9`",
        f"`{drift_samples.deleted().finding_id}`",
    )
    assert rows[1]["owner"] == r"\@payments ada\@example\.org"
    assert rows[1]["since"] == "cccccccccc Pay in any currency"
    assert rows[1]["look"] == "`rtch read 'src/pay.py:L11-L14'`"
    assert (last["where"], last["what"]) == ("`rtch_chunk_2`", r"unreadable\: no permission")
    assert {tuple(row) for row in rows} == {tuple(first)}


def test_a_failed_investigation_has_a_row_that_says_so() -> None:
    rows = finding_rows(drift_samples.report().investigations[2])
    assert [(row["level"], row["what"]) for row in rows] == [("failed", r"the zone \/srv\/x does not exist")]


def test_rows_that_are_left_out_are_counted() -> None:
    made = drift_samples.investigation(
        findings=(), not_judged=tuple(NotJudged(what=str(n), why="w") for n in range(MOST_ROWS + 3))
    )
    rows = finding_rows(made)
    assert len(rows) == MOST_ROWS + 1
    assert rows[-1]["level"] == "3 more rows are in the report and not here"


def test_no_text_of_a_tree_is_markup() -> None:
    lure = "![x](http://evil.example/x.png) <img src=x>"
    made = drift_samples.investigation(
        findings=(drift_samples.edited(message=lure),),
        saved=lure,
        zone_name=lure,
        failure=lure,
        status=DriftStatus.FAILED,
    )
    rows = [*finding_rows(made), *fleet_rows([Asked(made, ZONE, lure)], "")]
    assert not [value for row in rows for value in row.values() if re.search(r"(?<!\\)[!<\[]", str(value).strip("`"))]


def test_a_key_is_the_same_in_every_run_of_a_question_on_a_zone() -> None:
    key = key_of("rtch-drift", asked())
    assert re.fullmatch(r"rtch-drift-shop-payments-[0-9a-f]{8}", key)
    assert key == key_of("rtch-drift", asked(status=DriftStatus.CLEAN, findings=(), zone_name="as a fleet calls it"))
    one = drift_samples.investigation()
    assert (
        len({key, key_of("rtch-drift", Asked(one, "f" * 16, "payments")), key_of("rtch-drift", Asked(one, ZONE, "b"))})
        == 3
    )


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (DriftStatus.DRIFT, "rtch.drift.detected"),
        (DriftStatus.CLEAN, "rtch.drift.clean"),
        (DriftStatus.NOT_JUDGED, "rtch.drift.not_judged"),
        (DriftStatus.BASELINE_TAKEN, "rtch.drift.baseline_taken"),
        (DriftStatus.FAILED, "rtch.drift.failed"),
    ],
)
def test_each_end_has_an_event_of_its_own(status: DriftStatus, name: str) -> None:
    assert event_of(asked(status=status))["event"] == name


def test_an_event_names_zone_question_and_what_counts() -> None:
    event = event_of(asked())
    assert event["resource"] == {
        "prefect.resource.id": f"rtch.zone.{ZONE}",
        "prefect.resource.name": "shop",
        "rtch.saved": "payments",
        "rtch.question": "payments",
    }
    payload = event["payload"]
    assert json.loads(json.dumps(payload)) == payload
    counting = [one.finding_id for one in drift_samples.investigation().findings if one.counts]
    assert payload["findings"] == counting
    assert payload["levels"] == {"error": 1, "note": 1, "warning": 2}
    assert (payload["packet_id"], payload["baseline_packet_id"]) == (f"rtch_packet_{'b' * 64}", drift_samples.PACKET)
    many = tuple(drift_samples.edited(finding_id=f"drift_{n:016x}") for n in range(MOST_IDS + 9))
    assert len(event_of(asked(findings=many))["payload"]["findings"]) == MOST_IDS


def test_a_fleets_row_leads_to_the_reports_of_its_question() -> None:
    (row,) = fleet_rows([asked()], "http://ui")
    assert row["question"] == f"[payments](http://ui/artifacts/key/{key_of('rtch-drift', asked())})"
    assert (row["zone"], row["status"], row["drifted"], row["outcome"]) == ("shop", "drift", 3, "3 drifted")
