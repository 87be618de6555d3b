"""Received: the value that broke a rule, which the database's error does not contain, added to the message."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from minutehand.errors import InvalidJobError

# The names of the values that a rule is about. Those of others may be private, or their errors contain them.
NAMES = {
    "kind_is_a_name": ("kind",),
    "queue_is_a_name": ("queue",),
    "priority_is_0_to_9": ("priority",),
    "max_attempts_is_at_least_1": ("max_attempts",),
    "timeout_is_positive": ("timeout",),
    "expires_is_positive": ("expires",),
    "time_is_finite": ("run_at", "delay"),
    "retry_is_a_strategy": ("retry",),
    "headers_are_strings": ("headers",),
}
MOST_CHARACTERS = 80
MOST_HEADER_BYTES = 8192


def add_received(error: InvalidJobError, values: Mapping[str, Any]) -> None:
    """Add `, got 11` to the message of an error, if these values contain the one that broke its rule."""
    if ", got " in str(error):
        return
    names = NAMES.get(error.rule, ())
    given = next(((name, values[name]) for name in names if values.get(name) is not None), None)
    if given and (received := _text(*given)):
        error.args = (f"{error}, got {received}",)


def _text(name: str, value: Any) -> str:
    if name == "headers":
        return _size(value)
    if name == "delay":
        return f"a delay of {value}"
    if isinstance(value, str) and name != "retry":
        return repr(_shortened(value))
    return _shortened(str(value) if isinstance(value, (str, int, datetime, timedelta)) else repr(value))


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def _size(headers: Any) -> str:
    """Return the size of headers that are too large; their contents may be private."""
    text = headers if isinstance(headers, str) else json.dumps(dict(headers), default=str)
    size = len(text.encode(errors="surrogatepass"))
    return f"{size} bytes" if size > MOST_HEADER_BYTES else ""
