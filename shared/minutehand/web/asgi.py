"""The receiver of a route as an ASGI application, to mount in FastAPI, Starlette, Django or Quart. It needs none."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from minutehand.handlers import Handler
from minutehand.web.delivered_job import DeliveredJob
from minutehand.web.receiving import (
    BODY_BYTES,
    RouteResponse,
    failure,
    read_delivery,
    refusal,
    success,
)
from minutehand.web.routes import Route

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def receiver(route: Route) -> "Receiver":
    """Return an application that receives a route's jobs, at any path."""
    return Receiver(route)


class Receiver:
    """An ASGI application for one route."""

    def __init__(self, route: Route) -> None:
        """Receive for this route."""
        self._route = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            raise RuntimeError(f"the receiver of {self._route.queue} expects http, got {scope['type']}")
        response = await self._respond(scope, receive)
        body = response.encoded()
        headers = {"content-type": "application/json", "content-length": str(len(body)), **response.headers}
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": response.status, "headers": raw})
        await send({"type": "http.response.body", "body": body})

    async def _respond(self, scope: Scope, receive: Receive) -> RouteResponse:
        if scope["method"] != "POST":
            return refusal(405, "the method must be POST")
        if (body := await _read(receive)) is None:
            return refusal(413, f"the body must be at most {BODY_BYTES} bytes")
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        try:
            job = read_delivery(self._route, headers, body)
            return success(await _run(self._route.find(job.kind), job), job)
        except Exception as error:
            return failure(error)


async def _read(receive: Receive) -> bytes | None:
    """Return the body; None if it is too large or incomplete."""
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += bytes(message.get("body", b""))
        if len(body) > BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return body
    return None


async def _run(handler: Handler, job: DeliveredJob) -> Any:
    """Call the handler, in a thread unless it is async, since it may block."""
    # A DeliveredJob has every attribute that a route's handler may use.
    if handler.is_async:
        return await handler.run_async(job)  # type: ignore[arg-type]
    return await asyncio.to_thread(handler, job)  # type: ignore[arg-type]
