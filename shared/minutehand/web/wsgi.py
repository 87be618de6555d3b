"""The receiver of a route as a WSGI application, to mount in Flask, Django or Bottle. It needs none of them."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from minutehand.web.receiving import (
    BODY_BYTES,
    RouteResponse,
    failure,
    read_delivery,
    refusal,
    success,
)
from minutehand.web.routes import Route

Environment = dict[str, Any]
Start = Callable[[str, list[tuple[str, str]]], Any]


def receiver(route: Route) -> Callable[[Environment, Start], Iterable[bytes]]:
    """Return an application that receives a route's jobs, at any path."""

    def application(environ: Environment, start_response: Start) -> Iterable[bytes]:
        response = _respond(route, environ)
        body = response.encoded()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **response.headers}
        start_response(f"{response.status} {_phrase(response.status)}", list(headers.items()))
        return [body]

    return application


def _respond(route: Route, environ: Environment) -> RouteResponse:
    if environ["REQUEST_METHOD"] != "POST":
        return refusal(405, "the method must be POST")
    length = environ.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()) or int(length) > BODY_BYTES:
        return refusal(413, f"the body must be at most {BODY_BYTES} bytes")
    body = environ["wsgi.input"].read(int(length))
    try:
        job = read_delivery(route, _headers(environ), body)
        # A DeliveredJob has every attribute that a route's handler may use.
        return success(route.find(job.kind)(job), job)  # type: ignore[arg-type]
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
