"""Placeholders: translate statements from psycopg's form, `%(name)s`, to the numbered one of asyncpg, `$1`."""

import re
from datetime import timedelta
from typing import Any

from minutehand.database.adaptation import interval_text

_PLACEHOLDER = re.compile(r"%(?:%|\((\w+)\)s(::jsonb?\b(?!\[))?)")


def numbered(statement: str, parameters: dict[str, Any]) -> tuple[str, list[Any]]:
    """Return a statement with numbered placeholders, and its arguments in their order.

    JSON and intervals are sent as text: the caller may have registered a codec that would encode our JSON again, and
    the driver would send an interval in days, which have 23 or 25 hours when clocks change.
    """
    numbers: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        name, json = found[1], found[2]
        if name is None:
            return "%"
        place = f"${numbers.setdefault(name, len(numbers) + 1)}"
        return f"{place}::text{json}" if json else place + _cast(parameters[name])

    text = _PLACEHOLDER.sub(number, statement)
    return text, [_argument(parameters[name]) for name in numbers]


def _cast(value: object) -> str:
    if isinstance(value, timedelta):
        return "::text::interval"
    return "::text[]::interval[]" if _has_intervals(value) else ""


def _argument(value: Any) -> Any:
    if isinstance(value, timedelta):
        return interval_text(value)
    if _has_intervals(value):
        return [each if each is None else interval_text(each) for each in value]
    return value


def _has_intervals(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(each, timedelta) for each in value)
