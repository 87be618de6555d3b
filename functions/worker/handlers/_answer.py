"""Read an answer: what of it is kept, and when it asks to be tried again."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

_KEPT = 4 * 1024
_LONGEST_WAIT = timedelta(days=1)


def kept(body: bytes, most: int = _KEPT) -> Any:
    """Return the body as JSON if it is that and at most 4 KiB, or `most`, else as text cut to so much."""
    try:
        value = json.loads(body) if len(body) <= most else _text(body, most)
        return value if _is_storable(value) else _text(body, most)
    except (ValueError, RecursionError):
        return _text(body, most) or None


def retry_at(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return the moment a Retry-After header asks for, at most a day ahead; none if it is not in the future."""
    moment = _moment(headers.get("retry-after", "").strip(), now)
    if moment is None or moment <= now:
        return None
    return min(moment, now + _LONGEST_WAIT)


def _moment(text: str, now: datetime) -> datetime | None:
    if text.isascii() and text.isdigit():
        return now + timedelta(seconds=min(int(text[:9]), 86400))
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_storable(value: Any) -> bool:
    """JSON in Postgres knows neither NaN nor half a surrogate pair, nor U+0000 once it is asked for a field."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    text.encode()
    return "\\u0000" not in text


def _text(body: bytes, most: int) -> str:
    return body[:most].decode("utf-8", "ignore").replace("\0", "")
