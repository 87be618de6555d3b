"""Size: keep responses below Lambda's limit. A list ends earlier, and its cursor continues after the last item."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from minutehand.functions.api.errors import ApiError, ProblemType
from minutehand.functions.api.responses import Json

# Lambda returns at most 6 MB, headers included. The body is a JSON text within the function's JSON.
MAX_BYTES = 5_900_000

SMALLER = "omit include=payload, or read the payload in Python or SQL"

TOO_LARGE = ProblemType(413, "too-large", "The response is too large")


def count_fitting(items: Sequence[Mapping[str, Any]]) -> int:
    """Return how many of the items fit into a response, from the first on; at least 1, if there are any."""
    size = 0
    for count, item in enumerate(items):
        size += size_of(item)
        if size > MAX_BYTES and count:
            return count
    return len(items)


def check_size(content: Mapping[str, Any], remedy: str = SMALLER) -> Mapping[str, Any]:
    """Return the content of a response; raise ApiError if it is too large."""
    if (size := size_of(content)) > MAX_BYTES:
        raise ApiError(
            TOO_LARGE,
            f"The response would have {size} bytes, more than Lambda returns: {remedy}.",
        )
    return content


def size_of(item: Mapping[str, Any]) -> int:
    """Return the bytes of an item in the function's response, as an upper bound."""
    return len(json.dumps(bytes(Json(item).body).decode())) + 1
