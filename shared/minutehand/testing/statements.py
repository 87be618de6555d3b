"""The statements of this package, one per file; rows are dictionaries on any connection."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, LiteralString

from minutehand.database import Database, Record
from minutehand.database.driver_errors import translated


@cache
def text(name: str) -> LiteralString:
    """Return the text of `<name>.sql`."""
    return (files("minutehand.testing") / f"{name}.sql").read_text("utf-8")


def run(database: Database, name: str, **parameters: object) -> list[Record]:
    """Run a statement by name."""
    with translated(), database.connection.cursor(row_factory=_as_dictionaries) as cursor:
        cursor.execute(text(name), parameters or None)
        return cursor.fetchall() if cursor.description else []


def _as_dictionaries(cursor: Any) -> Callable[[Sequence[Any]], Record]:
    names = [column.name for column in cursor.description or ()]
    return lambda values: dict(zip(names, values, strict=True))
