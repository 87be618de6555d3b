"""WSGI: the receiver of a route, as an application to mount in Flask, Django or Bottle; it needs none of them."""

import asyncio
import inspect
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from minutehand.web.receiving import LARGEST, Answer, admit, failure, refused, success
from minutehand.web.routes import Route

Environment = dict[str, Any]
Start = Callable[[str, list[tuple[str, str]]], Any]


def receiver(route: Route) -> Callable[[Environment, Start], Iterable[bytes]]:
    """Return the application that receives a route's jobs, at whatever path it is mounted."""

    def application(environ: Environment, start_response: Start) -> Iterable[bytes]:
        answer = _answer(route, environ)
        body = answer.encoded()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
        start_response(f"{answer.status} {_phrase(answer.status)}", list(headers.items()))
        return [body]

    return application


def _answer(route: Route, environ: Environment) -> Answer:
    if environ["REQUEST_METHOD"] != "POST":
        return refused(405, "jobs are delivered by POST")
    length = environ.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()) or int(length) > LARGEST:
        return refused(413, "it is too large")
    body = environ["wsgi.input"].read(int(length))
    try:
        job = admit(route, _headers(environ), body)
        result = route.find(job.kind)(job)  # type: ignore[arg-type] # it has what a handler is promised behind a route
        if inspect.iscoroutine(result):
            result = asyncio.run(result)
        return success(result, job)
    except Exception as error:
        return failure(error)


def _headers(environ: Environment) -> dict[str, str]:
    return {
        name.removeprefix("HTTP_").replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Status"
