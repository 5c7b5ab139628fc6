"""What a flow leaves in the UI of each investigation, and the event that automations wait for.

Here and in no task, for a task that finds its artifact in the store has no body.
"""

from __future__ import annotations

from typing import cast
from uuid import UUID

from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.events import emit_event

from rtch.drift.investigation import report_of
from rtch.flows.asking import Asked
from rtch.flows.drift_pages import event_of, finding_rows, history_page, key_of
from rtch.flows.ending import outcome
from rtch.flows.own_run import ui_url
from rtch.flows.pages import code, inline
from rtch.render.drift import markdown


class Progress:
    """How many of a run's questions have been asked, as the UI draws it."""

    def __init__(self, key: str, total: int) -> None:
        self._total, self._done = total, 0
        made = create_progress_artifact(0.0, key=key, description=self._told())
        self._id = cast("UUID", made)  # a coroutine only where there is a loop, and flows here have none

    def step(self) -> None:
        """Tell that one more has been asked."""
        self._done += 1
        update_progress_artifact(self._id, 100.0 * self._done / self._total, description=self._told())

    def _told(self) -> str:
        return f"{self._done} of {self._total} questions asked"


def show(asked: Asked) -> None:
    """Leave the report, its findings as a table, and a link to all reports there were of the question."""
    show_report(asked)
    made = asked.investigation
    create_table_artifact(
        finding_rows(made),
        key=key_of("rtch-findings", asked),
        description=f"{inline(made.saved)} in {code(made.zone_root)}: {inline(outcome(made))}",
    )
    page = ui_url()
    if page:
        create_link_artifact(
            history_page(page, key_of("rtch-drift", asked)),
            link_text=f"All reports of {inline(made.saved)} in {inline(made.zone_name)}",
            key=key_of("rtch-drift-history", asked),
            description=f"Every run of {inline(made.saved)} left its report there; the baseline is "
            + (code(made.baseline.place) if made.baseline else "not known"),
        )


def show_report(asked: Asked) -> None:
    """Leave the report of an investigation as a page."""
    made = asked.investigation
    create_markdown_artifact(
        markdown(report_of([made])),
        key=key_of("rtch-drift", asked),
        description=f"{inline(made.saved)} in {code(made.zone_root)}: {inline(outcome(made))}",
    )


def announce(asked: Asked) -> None:
    """Send the event that says what came of an investigation; Prefect adds the flow run to it."""
    emit_event(**event_of(asked))
