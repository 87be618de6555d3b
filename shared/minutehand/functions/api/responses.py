"""JSON responses that show exactly what the database stores: big integers, floats and unusual text included."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from fastapi.responses import JSONResponse

from minutehand.model.retry import Retry
from minutehand.model.stored import dump, utc


class Json(JSONResponse):
    """JSON as the standard library encodes it: it keeps every digit, and escapes text that UTF-8 cannot encode."""

    def render(self, content: Any) -> bytes:
        """Encode the content; times are RFC 3339 in UTC, durations are seconds."""
        return dump(content, _encode, allow_nan=False, separators=(",", ":")).encode()


def _encode(value: object) -> object:
    return _ENCODERS[type(value)](value)


_ENCODERS: dict[type, Callable[[Any], object]] = {
    Retry: Retry.to_json,
    UUID: str,
    datetime: lambda moment: utc(moment).isoformat(),
    timedelta: timedelta.total_seconds,
}
