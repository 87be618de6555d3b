"""Checks of headers and retry strategies, the same as those of the database's domains."""

import json
from typing import Any

from minutehand.errors import InvalidJobError
from minutehand.model.rules import sentence

MAX_BYTES = 8192
YEAR = 31_536_000  # seconds


def check_headers(text: str | None) -> None:
    """Raise InvalidJobError unless headers are an object of strings of at most 8 KiB, as Postgres writes them."""
    if text is None:
        return
    headers = json.loads(text)
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise _invalid("headers_are_strings")
    if "\0" in "".join([*headers, *headers.values()]):
        raise _invalid("text_is_text")
    if len(json.dumps(headers, ensure_ascii=False).encode()) > MAX_BYTES:
        raise _invalid("headers_are_strings")


def check_retry(text: str | None) -> None:
    """Raise InvalidJobError for a strategy that the SQL function minutehand.is_retry rejects."""
    if text is not None and not _is_retry(json.loads(text)):
        raise _invalid("retry_is_a_strategy")


def _is_retry(retry: dict[str, Any]) -> bool:
    minimum, maximum, factor = retry["min"], retry["max"], retry["factor"]
    return (
        all(_is_number(value) for value in (minimum, maximum, factor))
        and retry["strategy"] in ("fixed", "linear", "exponential")
        and 0 <= minimum <= maximum <= YEAR
        and 0 <= factor <= 1000
        and isinstance(retry["jitter"], bool)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _invalid(rule: str) -> InvalidJobError:
    return InvalidJobError(rule, sentence(rule))
