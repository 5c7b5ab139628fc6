"""What the local server adds to Prefect's answers, and what Prefect's client makes of it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest
from prefect.client.base import PrefectHttpxSyncClient

from rtch.flows.serving import COME_BACK, prompt


def answered(status: int) -> list[dict[str, Any]]:
    """Return what a client is sent by an app that answers with a status."""
    sent: list[dict[str, Any]] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": [(b"x", b"y")]})
        await send({"type": "http.response.body", "body": b"{}"})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {}

    asyncio.run(prompt(app)({"type": "http"}, receive, send))
    return sent


@pytest.mark.parametrize(("status", "headers"), [(200, [(b"x", b"y")]), (503, [(b"x", b"y"), COME_BACK])])
def test_who_is_turned_away_for_now_is_told_when_to_come_back(status: int, headers: list[Any]) -> None:
    assert answered(status) == [
        {"type": "http.response.start", "status": status, "headers": headers},
        {"type": "http.response.body", "body": b"{}"},
    ]


@pytest.mark.prefect
def test_prefects_client_comes_back_when_it_was_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([httpx.Response(503, headers=[COME_BACK]), httpx.Response(201)])
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    transport = httpx.MockTransport(lambda _request: next(answers))
    with PrefectHttpxSyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        assert client.post("/flow_runs/").status_code == 201
    (waited,) = waits
    assert waited < 0.5
