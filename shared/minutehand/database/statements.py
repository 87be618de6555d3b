"""Statements: one SQL statement per file, in one folder of `sql/` per package."""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import LiteralString


@cache
def statement(name: str) -> LiteralString:
    """Return the text of `sql/<package>/<name>.sql`. It ships with the code, and is as constant as a literal."""
    return _folders()[name].read_text("utf-8")


def statement_names() -> frozenset[str]:
    """Return the names of all statements."""
    return frozenset(_folders())


@cache
def _folders() -> dict[str, Traversable]:
    """Map each statement's name, which is unique across the folders, to its file."""
    folders = (folder for folder in (files("minutehand") / "sql").iterdir() if folder.is_dir())
    return {file.name.removesuffix(".sql"): file for folder in folders for file in folder.iterdir()}
