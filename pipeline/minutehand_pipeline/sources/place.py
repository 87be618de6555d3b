"""Where the queue's database is, as an option may say it: never the URL itself, which would stand in every plan."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from minutehand.settings import database_url
from minutehand_pipeline.errors import InputError

PLACES = ("url_variable", "url_file")


def place_of(options: Mapping[str, str]) -> Callable[[], str]:
    """Return the function that a connection asks for its URL, each time anew, in whichever process that is.

    `url_variable` names an environment variable of the driver and the executors, `url_file` a file that they can read,
    as clusters mount secrets; without either it is DATABASE_URL or MINUTEHAND_DATABASE_SECRET.
    """
    variable, file = options.get("url_variable"), options.get("url_file")
    if variable and file:
        raise InputError("say url_variable or url_file, not both")
    if variable:
        return lambda: _variable(variable)
    return (lambda: _file(file)) if file else database_url


def _variable(name: str) -> str:
    if url := os.environ.get(name):
        return url
    raise InputError(
        f"url_variable names {name}, which is not set where this runs: set it for the executors, too"
    )


def _file(path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except OSError as error:
        raise InputError(
            f"url_file names {path}, which cannot be read where this runs: {error.strerror}"
        ) from None
