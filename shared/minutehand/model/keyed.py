"""Keyed: options by which a job depends on others, or that only Python can evaluate. A job without them is plain."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

KEYED = (
    "key",
    "every",
    "zone",
    "unique_while",
    "unique_for",
    "debounce",
    "debounce_max",
    "throttle",
    "after",
    "after_failure",
)
ON_CONFLICT = frozenset(["replace", "ignore", "raise", "merge"])

_keyed, _NONE = itemgetter(*KEYED), (None,) * len(KEYED)


def is_plain(parameters: Mapping[str, Any]) -> bool:
    """Return whether no other job matters to the one with these statement parameters; the database rejects others."""
    keyed: tuple[object, ...] = _keyed(parameters)
    return keyed == _NONE and parameters["on_conflict"] in ON_CONFLICT
