"""Headers and retry strategies of a row, which are JSON within it: the rules that the database's domains hold, too."""

import json
from typing import Any

from minutehand.errors import InvalidJobError
from minutehand.model.rules import sentence

MOST_BYTES = 8192
YEAR = 31_536_000  # seconds


def check_headers(text: str | None) -> None:
    """Raise InvalidJobError unless headers are an object of strings, at most 8 KiB as Postgres writes them."""
    if text is None:
        return
    headers = json.loads(text)
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise InvalidJobError("headers_are_strings", sentence("headers_are_strings"))
    if "\0" in "".join([*headers, *headers.values()]):
        raise InvalidJobError("text_is_text", sentence("text_is_text"))
    if len(json.dumps(headers, ensure_ascii=False).encode()) > MOST_BYTES:
        raise InvalidJobError("headers_are_strings", sentence("headers_are_strings"))


def check_retry(text: str | None) -> None:
    """Raise InvalidJobError for a strategy that minutehand.is_retry refuses."""
    if text is None:
        return
    retry: dict[str, Any] = json.loads(text)
    least, most, factor = retry["min"], retry["max"], retry["factor"]
    good = (
        all(
            isinstance(number, int | float) and not isinstance(number, bool)
            for number in (least, most, factor)
        )
        and retry["strategy"] in ("fixed", "linear", "exponential")
        and 0 <= least <= most <= YEAR
        and 0 <= factor <= 1000
        and isinstance(retry["jitter"], bool)
    )
    if not good:
        raise InvalidJobError("retry_is_a_strategy", sentence("retry_is_a_strategy"))
