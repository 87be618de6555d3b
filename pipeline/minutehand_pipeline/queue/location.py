"""The database's URL for Spark's tasks. It is never an option itself, because options appear in every plan."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from minutehand.settings import database_url
from minutehand_pipeline.errors import InputError

LOCATIONS = ("url_variable", "url_file")


def url_getter(options: Mapping[str, str]) -> Callable[[], str]:
    """Return a function that connections call, in any process, to get the current URL.

    `url_variable` names an environment variable of the driver and the executors. `url_file` names a file that they
    can read, such as a mounted secret. Without either, DATABASE_URL or MINUTEHAND_DATABASE_SECRET is used.
    """
    variable, file = options.get("url_variable"), options.get("url_file")
    if variable and file:
        raise InputError("expected url_variable or url_file, got both")
    if variable:
        return lambda: _from_variable(variable)
    return (lambda: _from_file(file)) if file else database_url


def _from_variable(name: str) -> str:
    if url := os.environ.get(name):
        return url
    raise InputError(
        f"url_variable names {name}, which is not set in this process: set it on the executors too"
    )


def _from_file(path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except OSError as error:
        raise InputError(f"cannot read url_file {path} in this process: {error.strerror}") from None
