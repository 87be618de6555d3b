"""The SQL that minutehand sends: one statement a file in `sql/`, read once, named by its verb."""

from functools import cache
from importlib.resources import files
from typing import LiteralString


@cache
def statement(name: str) -> LiteralString:
    """Return the text of `sql/<name>.sql`, which is as constant as a literal: it ships with the code."""
    return (files("minutehand") / "sql" / f"{name}.sql").read_text("utf-8")
