"""The flow run that is under way: which one it is, where it can be looked at, and its tags."""

from __future__ import annotations

from collections.abc import Iterable

from prefect import runtime
from prefect.client.orchestration import get_client
from prefect.settings import get_current_settings
from prefect.utilities.urls import url_for


def own_run() -> tuple[str, str]:
    """Return the id and the address of the flow run; the address is empty where no UI is known."""
    run_id = str(runtime.flow_run.id)
    return run_id, url_for("flow-run", run_id) or ""


def ui_url() -> str:
    """Return the address of the UI, or nothing."""
    return (get_current_settings().ui_url or "").rstrip("/")


def tag(wanted: Iterable[str]) -> None:
    """Tag the flow run, where whoever started it has not."""
    wanted, known = set(wanted), set(runtime.flow_run.tags or ())
    if not wanted <= known:
        with get_client(sync_client=True) as client:
            client.update_flow_run(runtime.flow_run.id, tags=sorted(wanted | known))
