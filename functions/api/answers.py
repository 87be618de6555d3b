"""Answers: JSON that says exactly what the database keeps, big integers, floats and odd text included."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from fastapi.responses import JSONResponse

from minutehand.model.row import Row

ALWAYS = (
    "id", "queue", "kind", "state", "key", "priority", "attempts", "max_attempts",
    "enqueued", "run_at", "visible", "offered", "claimed", "deleted",
    "tenant", "version", "every", "zone", "nominal", "schedule", "cancelling",
)  # fmt: skip
ALONE = ("retry", "timeout")
MASKED = ("payload", "headers", "result")


class Json(JSONResponse):
    """JSON by the standard library: no digit is lost on the way, and text that no UTF-8 can carry is escaped."""

    def render(self, content: Any) -> bytes:
        """Encode the content; moments are RFC 3339 in UTC, durations are seconds."""
        return json.dumps(content, default=_plain, allow_nan=False, separators=(",", ":")).encode()


def tell_row(row: Row) -> dict[str, Any]:
    """Return a job as listings show it: a payload, or a trace that may quote one, is not for every eye."""
    error = row.error and {name: text for name, text in row.error.items() if name != "trace"}
    return {name: getattr(row, name) for name in ALWAYS} | {"error": error}


def tell_job(row: Row, *, unmasked: bool = False) -> dict[str, Any]:
    """Return all that is known of one job; what it carries only unmasked."""
    told = tell_row(row) | {name: getattr(row, name) for name in ALONE}
    if unmasked:
        told |= {name: getattr(row, name) for name in MASKED} | {"error": row.error}
    return told


def _plain(value: object) -> str | float:
    return _PLAIN[type(value)](value)


_PLAIN: dict[type, Callable[[Any], str | float]] = {
    UUID: str,
    datetime: lambda moment: moment.astimezone(UTC).isoformat(),
    timedelta: timedelta.total_seconds,
}
