"""Read request bodies as strict JSON of bounded size, so that a payload is stored as it was sent."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute

from minutehand.functions.api.auth import NOT_JSON, media_type
from minutehand.functions.api.errors import MALFORMED, ApiError, ProblemType

MEBIBYTE = 1024 * 1024
SIZE_LIMITS = {"/jobs/batch": 6 * MEBIBYTE}

BROKEN = ProblemType(400, "broken-json", "The body is not valid JSON")
TOO_LARGE = ProblemType(413, "too-large", "The body is too large")


class StrictRequest(Request):
    """A request whose body is unambiguous JSON of bounded size."""

    async def body(self) -> bytes:
        """Return the body; raise ApiError for one that is too large, before all of it is read."""
        if not hasattr(self, "_body"):
            self._body = await self._read(SIZE_LIMITS.get(self.scope["path"], MEBIBYTE))
        if self._body and media_type(self.headers) != "application/json":
            raise ApiError(NOT_JSON, "Send the header `Content-Type: application/json`.")
        return self._body

    async def json(self) -> Any:
        """Parse the body; raise ApiError for JSON that parsers interpret differently."""
        try:
            return json.loads(
                (await self.body()).decode(), parse_constant=_reject_constant, object_pairs_hook=_distinct
            )
        except RecursionError:
            raise ApiError(BROKEN, "The body is nested too deeply.") from None
        except ValueError as error:
            raise ApiError(BROKEN, _detail(error)) from None

    async def _read(self, limit: int) -> bytes:
        chunks, size = [], 0
        async for chunk in self.stream():
            size += len(chunk)
            if size > limit:
                raise ApiError(TOO_LARGE, f"The body must be at most {limit} bytes.")
            chunks.append(chunk)
        return b"".join(chunks)


class StrictRoute(APIRoute):
    """A route with strict requests; without a body parameter it rejects any body."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        """Return a handler that receives strict requests."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            strict = StrictRequest(request.scope, request.receive)
            if (
                request.method == "POST"
                and not self.body_field
                and (await strict.body()).strip() not in (b"", b"{}")
            ):
                raise ApiError(MALFORMED, "This operation accepts no body.")
            return await handle(strict)

        return handle_strictly


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not valid JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("an object must not have two members with the same name")
    return members


def _detail(error: ValueError) -> str:
    """Return the error and its position, without quoting the body."""
    match error:
        case json.JSONDecodeError():
            return f"{error.msg}, at line {error.lineno} column {error.colno}."
        case UnicodeDecodeError():
            return f"The body is not valid UTF-8 at byte {error.start}."
        case _:
            return f"{error}."
