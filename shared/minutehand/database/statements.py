"""Statements: one SQL statement per file, in one folder of `sql/` per package."""

import re
from functools import cache
from pathlib import Path
from typing import LiteralString

# Not importlib.resources, whose import takes several milliseconds of each cold start.
SQL = Path(__file__).parents[1] / "sql"
PLACEHOLDER = re.compile(r"%(?:%|\((\w+)\)s)")


@cache
def statement(name: str) -> LiteralString:
    """Return the text of `sql/<package>/<name>.sql`. It ships with the code, and is as constant as a literal."""
    return _folders()[name].read_text("utf-8")


@cache
def numbered(text: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a statement as the server reads it, with numbered placeholders, and the parameters in their order."""
    numbers: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"${numbers.setdefault(found[1], len(numbers) + 1)}" if found[1] else "%"

    return PLACEHOLDER.sub(number, text).encode(), tuple(numbers)


def statement_names() -> frozenset[str]:
    """Return the names of all statements."""
    return frozenset(_folders())


@cache
def _folders() -> dict[str, Path]:
    """Map each statement's name, which is unique across the folders, to its file."""
    return {file.stem: file for file in SQL.glob("*/*.sql")}
