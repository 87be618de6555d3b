"""How a command ends: with an exit code that means something, and with one sentence instead of a trace."""

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import click

from minutehand.cli.options import debugging
from minutehand.cli.text import safe
from minutehand.errors import ConfigurationError, DatabaseError, MinutehandError, SchemaError
from minutehand.local.errors import LocalError

OK, REFUSED, USAGE, DATABASE, SCHEMA, LOCAL, INTERRUPTED, READER_GONE = 0, 1, 2, 3, 4, 5, 130, 141

CODES: list[tuple[type[Exception], int]] = [
    (SchemaError, SCHEMA),
    (DatabaseError, DATABASE),
    (ConfigurationError, USAGE),
    (LocalError, LOCAL),
    (MinutehandError, REFUSED),
]


def ended(run: Callable[[], Any]) -> int:
    """Run a command line to its end and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = run()
        sys.stdout.flush()
    except click.ClickException as error:
        _show(error)
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except BrokenPipeError as error:
        return ending_of(error)
    return code if isinstance(code, int) else OK


def ending_of(error: Exception) -> int:
    """Say what went wrong, in a sentence, and return the exit code; what is click's own goes on to click."""
    if isinstance(error, (click.ClickException, click.exceptions.Exit, click.Abort)):
        raise error
    if isinstance(error, BrokenPipeError):
        _hush()
        return READER_GONE
    if debugging():
        traceback.print_exception(error)
    click.echo(f"error: {_sentence(error)}", err=True)
    return next((code for kind, code in CODES if isinstance(error, kind)), REFUSED)


def _show(error: click.ClickException) -> None:
    if not isinstance(error, click.UsageError) or isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    hint = f" ({error.ctx.command_path} --help explains)" if error.ctx else ""
    click.echo(f"error: {safe(error.format_message())}{hint}", err=True)


def _sentence(error: Exception) -> str:
    if isinstance(error, MinutehandError):
        return safe(str(error))
    if isinstance(error, OSError):
        return safe(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))
    return safe(f"this should not happen: {type(error).__name__}: {error} (--debug shows where)")


def _hush() -> None:
    """Leave nothing for Python to flush into the broken pipe at exit, which would complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
