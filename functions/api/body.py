"""Body: what was sent, bounded and read as strict JSON, so that a payload comes in as it was written."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute

from auth import NOT_JSON, media_type
from problems import MALFORMED, Kind, ProblemError

MEBIBYTE = 1024 * 1024
MOST = {"/jobs/batch": 6 * MEBIBYTE}

BROKEN = Kind(400, "broken-json", "The body is not JSON")
TOO_LARGE = Kind(413, "too-large", "The body is too large")


class StrictRequest(Request):
    """A request whose body is of one type, of bounded length and without ambiguity."""

    async def body(self) -> bytes:
        """Return the body; refuse one that is too large before it is all here."""
        if not hasattr(self, "_body"):
            self._body = await self._read(MOST.get(self.scope["path"], MEBIBYTE))
        if self._body and media_type(self.headers) != "application/json":
            raise ProblemError(NOT_JSON, "Send the header `Content-Type: application/json`.")
        return self._body

    async def json(self) -> Any:
        """Return what the body says; refuse what two readers could read in two ways."""
        try:
            return json.loads(
                (await self.body()).decode(), parse_constant=_refuse, object_pairs_hook=_distinct
            )
        except RecursionError:
            raise ProblemError(BROKEN, "The body is nested too deeply.") from None
        except ValueError as error:
            raise ProblemError(BROKEN, _sentence(error)) from None

    async def _read(self, most: int) -> bytes:
        chunks, size = [], 0
        async for chunk in self.stream():
            size += len(chunk)
            if size > most:
                raise ProblemError(TOO_LARGE, f"A body here has at most {most} bytes.")
            chunks.append(chunk)
        return b"".join(chunks)


class StrictRoute(APIRoute):
    """A route whose requests are strict; one that takes no body refuses any."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        """Return the handler, given strict requests."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            strict = StrictRequest(request.scope, request.receive)
            if (
                request.method == "POST"
                and not self.body_field
                and (await strict.body()).strip() not in (b"", b"{}")
            ):
                raise ProblemError(MALFORMED, "This takes no body.")
            return await handle(strict)

        return handle_strictly


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("an object has two members of the same name")
    return members


def _sentence(error: ValueError) -> str:
    """Say what is wrong and where, and quote nothing of the body."""
    match error:
        case json.JSONDecodeError():
            return f"{error.msg}, at line {error.lineno} column {error.colno}."
        case UnicodeDecodeError():
            return f"The body is not UTF-8 at byte {error.start}."
        case _:
            return f"{error}."
