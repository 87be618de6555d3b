"""ASGI: the receiver of a route, as an application to mount in FastAPI, Starlette, Django or Quart; it needs none."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from minutehand.handlers import Handler
from minutehand.web.receiving import LARGEST, Answer, Delivered, admit, failure, refused, success
from minutehand.web.routes import Route

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def receiver(route: Route) -> "Receiver":
    """Return the application that receives a route's jobs, at whatever path it is mounted."""
    return Receiver(route)


class Receiver:
    """An ASGI application for one route."""

    def __init__(self, route: Route) -> None:
        """Receive for this route."""
        self._route = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            raise RuntimeError(f"the receiver of {self._route.queue} answers http, not {scope['type']}")
        answer = await self._answer(scope, receive)
        body = answer.encoded()
        headers = {"content-type": "application/json", "content-length": str(len(body)), **answer.headers}
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": raw})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        if scope["method"] != "POST":
            return refused(405, "jobs are delivered by POST")
        if (body := await _read(receive)) is None:
            return refused(413, "it is too large")
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        try:
            job = admit(self._route, headers, body)
            return success(await _run(self._route.find(job.kind), job), job)
        except Exception as error:
            return failure(error)


async def _read(receive: Receive) -> bytes | None:
    """Return the body; None if it is too large, or broke off."""
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += bytes(message.get("body", b""))
        if len(body) > LARGEST:
            return None
        if not message.get("more_body", False):
            return body
    return None


async def _run(handler: Handler, job: Delivered) -> Any:
    """Call the handler where it may block: in a thread, unless it is async."""
    if inspect.iscoroutinefunction(handler.function):
        return await handler(job)  # type: ignore[arg-type] # it has what a handler is promised behind a route
    return await asyncio.to_thread(handler, job)  # type: ignore[arg-type]
