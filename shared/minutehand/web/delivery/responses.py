"""Read a response: the part of the body to store, and the time of Retry-After."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

_STORED_BYTES = 4 * 1024
_LONGEST_WAIT = timedelta(days=1)


def storable_body(body: bytes, limit: int = _STORED_BYTES) -> Any:
    """Return the body as JSON if it is valid and at most `limit` bytes (4 KiB), otherwise as text cut to `limit`."""
    try:
        value = json.loads(body) if len(body) <= limit else _text(body, limit)
        return value if _is_storable(value) else _text(body, limit)
    except (ValueError, RecursionError):
        return _text(body, limit) or None


def retry_at(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return the time in Retry-After, at most a day ahead; None if it is missing, invalid or not in the future."""
    moment = _moment(headers.get("retry-after", "").strip(), now)
    if moment is None or moment <= now:
        return None
    return min(moment, now + _LONGEST_WAIT)


def _moment(text: str, now: datetime) -> datetime | None:
    if text.isascii() and text.isdigit():
        return now + timedelta(seconds=min(int(text[:9]), 86400))
    try:
        moment = parsedate_to_datetime(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return None


def _is_storable(value: Any) -> bool:
    """Return whether jsonb can hold the value: it rejects NaN, lone surrogates and U+0000."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    text.encode()
    return "\\u0000" not in text


def _text(body: bytes, limit: int) -> str:
    return body[:limit].decode("utf-8", "ignore").replace("\0", "")
