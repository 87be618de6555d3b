"""The pipeline's own SQL: one statement a file in `sql/`, read once, named by its verb; only the pipeline runs it."""

from functools import cache
from importlib.resources import files
from typing import LiteralString

from minutehand.database import Database, Record
from minutehand.database.driver_errors import translated
from minutehand.errors import UnreachableError


@cache
def statement(name: str) -> LiteralString:
    """Return the text of `sql/<name>.sql`, which is as constant as a literal: it ships with the code."""
    return (files("minutehand_pipeline") / "sql" / f"{name}.sql").read_text("utf-8")


def run(database: Database, name: str, /, **parameters: object) -> list[Record]:
    """Run a statement; return its rows, each a dictionary by the columns' names. Values travel as parameters."""
    connection = database.connection
    try:
        with translated():
            cursor = connection.execute(statement(name), parameters)
            names = [column.name for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()] if names else []
    except UnreachableError:
        database.close()
        raise
