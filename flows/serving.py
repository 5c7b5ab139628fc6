"""The program of the local Prefect server: Prefect's own app, which says when a refused request may be sent again.

SQLite takes one writer at a time and refuses a request whose reading another's commit has overtaken, as happens
where a flow run is created while states of the one before are written. The app answers 503 then, and a client
that is not told when to come back waits two seconds.
"""

from __future__ import annotations

import http
import sys
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import Any

COME_BACK = (b"retry-after", b"0.05")
"""Seconds; the commit that was in the way is over by then."""

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Callable[[], Awaitable[Message]], Send], Coroutine[Any, Any, None]]


def prompt(app: App) -> App:
    """Return an ASGI app that tells a client when to come back, wherever it is turned away for now."""

    async def answered(scope: Message, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
        async def told(message: Message) -> None:
            if message.get("status") == http.HTTPStatus.SERVICE_UNAVAILABLE:
                message["headers"] = [*message.get("headers", ()), COME_BACK]
            await send(message)

        await app(scope, receive, told)

    return answered


def main(host: str, port: int) -> None:
    """Serve until a signal ends it; everything else comes from Prefect's settings."""
    import uvicorn  # noqa: PLC0415  comes with Prefect
    from prefect.server.api.server import create_app  # noqa: PLC0415  six seconds that only the server itself has
    from prefect.settings import get_current_settings  # noqa: PLC0415

    settings = get_current_settings().server
    uvicorn.run(
        prompt(create_app(final=True)),
        host=host,
        port=port,
        timeout_keep_alive=settings.api.keepalive_timeout,
        log_level=settings.logging_level.lower(),
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
