"""Option: how one field of NewJob is checked and stored, declared as the field's metadata."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from minutehand.errors import InvalidJobError
from minutehand.model.rules import sentence

SqlType = Literal["text", "json", "jsonb", "integer", "boolean", "interval", "timestamptz", "uuid", "uuid[]"]
Check = Callable[[Any, str], Any]
Metadata = dict[str, "Option"]


@dataclass(frozen=True)
class Option:
    """The type of an option's column, and the function that turns its value into a statement parameter.

    `check` gets a value that is not None and the option's name. It raises InvalidJobError for the wrong type; the
    database checks the rest. `stored` means that jobs have a column with the option's name.
    """

    sql: SqlType
    check: Check
    stored: bool = True


def declare(sql: SqlType, check: Check, *, stored: bool = True) -> Metadata:
    """Declare an option with a check of its own; see Option."""
    return {"option": Option(sql, check, stored)}


def text(rule: str, *, stored: bool = True) -> Metadata:
    """Declare a text. `rule` names the sentence of its errors."""
    return declare("text", lambda value, _: typed(value, str, rule), stored=stored)


def integer(rule: str) -> Metadata:
    """Declare an integer of 32 bits."""
    return declare("integer", lambda value, _: typed(value, int, rule))


def boolean(rule: str) -> Metadata:
    """Declare true or false."""
    return declare("boolean", lambda value, _: _flag(value, rule))


def duration(rule: str, *, stored: bool = False) -> Metadata:
    """Declare a timedelta."""
    return declare("interval", lambda value, name: _duration(value, name, rule), stored=stored)


def typed(value: Any, kind: type, rule: str, message: str | None = None) -> Any:
    """Return None or a value of this type; raise InvalidJobError for others. A bool is not an integer here."""
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise InvalidJobError(rule, f"{message or sentence(rule)}, got {type(value).__name__}")
    if isinstance(value, int) and not -(2**31) <= value < 2**31:
        raise InvalidJobError(
            rule, f"{sentence(rule)}, got {value if abs(value) < 10**20 else 'a longer one'}"
        )
    return value


def iso_duration(every: Any) -> Any:
    """Return a timedelta as an ISO 8601 duration of elapsed time, and anything else as it is."""
    if not isinstance(every, timedelta):
        return every
    return "PT" + f"{every.total_seconds():.6f}".rstrip("0").rstrip(".") + "S"


def _duration(value: Any, name: str, rule: str) -> Any:
    return typed(value, timedelta, rule, f"{name} must be a timedelta")


def _flag(value: Any, rule: str) -> Any:
    if not isinstance(value, bool):
        raise InvalidJobError(rule, f"{sentence(rule)}, got {type(value).__name__}")
    return value
