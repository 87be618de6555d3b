"""Exit codes, and errors printed as one sentence instead of a traceback."""

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import click

from minutehand.cli.options import debugging
from minutehand.cli.text import safe
from minutehand.errors import (
    ConfigurationError,
    DatabaseError,
    InvalidJobError,
    MinutehandError,
    SchemaError,
)
from minutehand.local.errors import LocalError
from minutehand.project.errors import ProjectError

OK, REFUSED, USAGE, DATABASE, SCHEMA, LOCAL, UNFINISHED, INCOMPLETE, INTERRUPTED, BROKEN_PIPE = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    130,
    141,
)

CODES: list[tuple[type[Exception], int]] = [
    (SchemaError, SCHEMA),
    (DatabaseError, DATABASE),
    (ConfigurationError, USAGE),
    (ProjectError, USAGE),
    (LocalError, LOCAL),
    (InvalidJobError, USAGE),
    (MinutehandError, REFUSED),
]

# What is stored decides on these rules, so a valid command is refused. Other rules are about the arguments alone.
RULES_OF_STATE = frozenset(
    [
        "after_exists",
        "batch_exists",
        "batch_is_open",
        "batch_is_shallow",
        "id_is_unique",
        "limit_is_own",
        "max_jobs_fits",
        "merge_is_allowed",
        "payloads_merge",
        "schedule_is_own",
        "tenant_is_own",
        "tenant_is_set",
    ]
)


def run_to_exit_code(run: Callable[[], Any]) -> int:
    """Run a command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = run()
        # None if the caller has closed it.
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        _print_click_error(error)
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except BrokenPipeError as error:
        return exit_code_of(error)
    return code if isinstance(code, int) else OK


def exit_code_of(error: Exception) -> int:
    """Print an error as one sentence and return its exit code; raise click's own exceptions again."""
    if isinstance(error, (click.ClickException, click.exceptions.Exit, click.Abort)):
        raise error
    if isinstance(error, BrokenPipeError):
        _discard_output()
        return BROKEN_PIPE
    if debugging():
        traceback.print_exception(error)
    click.echo(f"error: {_sentence(error)}", err=True)
    if isinstance(error, InvalidJobError) and error.rule in RULES_OF_STATE:
        return REFUSED
    return next((code for kind, code in CODES if isinstance(error, kind)), REFUSED)


def _print_click_error(error: click.ClickException) -> None:
    if not isinstance(error, click.UsageError) or isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
    click.echo(f"error: {safe(error.format_message())}{hint}", err=True)


def _sentence(error: Exception) -> str:
    if isinstance(error, MinutehandError):
        return safe(str(error))
    if isinstance(error, OSError):
        return safe(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    return safe(f"unexpected {type(error).__name__}: {error} (--debug shows the traceback)")


def _discard_output() -> None:
    """Redirect the streams to /dev/null: Python flushes them at exit, and would complain of the broken pipe."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(devnull, stream.fileno())
