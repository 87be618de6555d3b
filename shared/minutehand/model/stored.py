"""Stored values in the shape that readers expect. SQL can store anything, and no row may fail a page of others."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

MAX_DEPTH = 100
TOO_DEEP = "(nested too deeply to be shown)"
ERROR_FIELDS = ("type", "message")


def error_of(stored: Any) -> dict[str, str] | None:
    """Return an error with texts as type and message, whatever JSON is stored."""
    if stored is None:
        return None
    if not isinstance(stored, Mapping):
        return {"type": "", "message": _text(stored)}
    return dict.fromkeys(ERROR_FIELDS, "") | {name: _text(value) for name, value in stored.items()}


def facts_of(stored: Any) -> dict[str, Any]:
    """Return facts as an object, whatever JSON is stored."""
    if stored is None:
        return {}
    return dict(stored) if isinstance(stored, Mapping) else {"facts": stored}


def utc(moment: datetime) -> datetime:
    """Return a time in UTC, or the first or last one that UTC has."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return (datetime.min if moment.year == 1 else datetime.max).replace(tzinfo=UTC)


def dump(value: Any, default: Callable[[Any], Any], **options: Any) -> str:
    """Return JSON text. Python reads some JSON that is nested too deeply to be written; the inner part is replaced."""
    try:
        return json.dumps(value, default=default, **options)
    except RecursionError:
        return json.dumps(_shallow(value, MAX_DEPTH), default=default, **options)


def _shallow(value: Any, depth: int) -> Any:
    match value:
        case dict() | list() | tuple() if depth == 0:
            return TOO_DEEP
        case dict():
            return {name: _shallow(inner, depth - 1) for name, inner in value.items()}
        case list() | tuple():
            return [_shallow(inner, depth - 1) for inner in value]
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else dump(value, str)
