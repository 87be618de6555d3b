"""The pipeline's SQL. Each file in `sql/` holds one statement; only the pipeline runs them."""

from functools import cache
from importlib.resources import files
from typing import LiteralString

from minutehand.database import Database, Record
from minutehand.database.driver_errors import translated
from minutehand.errors import UnreachableError


@cache
def statement_text(name: str) -> LiteralString:
    """Return the text of `sql/<name>.sql`. The file ships with the code, so the text is as safe as a literal."""
    return (files("minutehand_pipeline") / "sql" / f"{name}.sql").read_text("utf-8")


def run_statement(database: Database, name: str, /, **parameters: object) -> list[Record]:
    """Run a statement and return its rows as dictionaries. Values are passed as parameters."""
    connection = database.connection
    try:
        with translated():
            cursor = connection.execute(statement_text(name), parameters)
            names = [column.name for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()] if names else []
    except UnreachableError:
        database.close()
        raise
