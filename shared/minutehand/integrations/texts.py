"""Values as text, for drivers that would send them in another form than psycopg: intervals, arrays and COPY."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from minutehand.database.adaptation import interval_text

# By COPY's text format. The backslash comes first.
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_ESCAPED = str.maketrans(_ESCAPES)


def value_text(value: object) -> str | None:
    """Return a value as Postgres reads it, or None for null."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case timedelta():
            return interval_text(value)
        case datetime():
            return value.isoformat()
        case list() | tuple():
            return array_text(value)
    return str(value)


def array_text(values: Sequence[object]) -> str:
    """Return a list as the text of an array."""
    return "{" + ",".join(_item(value_text(value)) for value in values) + "}"


def copy_rows(rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    """Yield rows in the text format of COPY."""
    for row in rows:
        yield ("\t".join(_field(value_text(value)) for value in row) + "\n").encode()


def _item(text: str | None) -> str:
    if text is None:
        return "NULL"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _field(text: str | None) -> str:
    return "\\N" if text is None else text.translate(_ESCAPED)
