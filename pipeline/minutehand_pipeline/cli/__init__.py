"""The commands of `minutehand pipeline`. Each is imported when it is called, so `--help` does not start Spark."""

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import wraps
from importlib import import_module
from threading import current_thread, main_thread
from typing import Any

import click

from minutehand.cli.exits import exit_code_of
from minutehand.cli.options import debugging
from minutehand_pipeline.failures import translated_errors

COMMANDS = {
    "archive": "Copy finished days from the database to the lake.",
    "compact": "Merge small files of the lake.",
    "erase": "Erase a subject's private data from the lake.",
    "report": "Report on throughput, lateness, failures and cost.",
    "load": "Enqueue jobs from files.",
    "simulate": "Estimate the effect of another policy.",
}


class Commands(click.Group):
    """The group of the pipeline's commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        with translated_errors():
            command: click.Command = getattr(import_module(f"minutehand_pipeline.cli.{cmd_name}"), cmd_name)
        wrapped = copy(command)
        wrapped.callback = command.callback and _with_error_handling(command.callback)
        return wrapped

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; turn its error into a message and an exit code."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            return exit_code_of(error)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _with_error_handling(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Run a command so that a Spark error is one message; `--debug` shows Java's output."""

    @wraps(callback)
    def run(*arguments: Any, **options: Any) -> Any:
        if debugging():
            logging.getLogger("minutehand_pipeline").setLevel(logging.DEBUG)
        with _quiet_interrupt(), translated_errors():
            return callback(*arguments, **options)

    return run


@contextmanager
def _quiet_interrupt() -> Iterator[None]:
    """Disable logging on Ctrl-C, because py4j would log a traceback of the interrupted call."""

    def interrupt(_number: int, _frame: object) -> None:
        logging.disable()
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def pipeline() -> None:
    """Archive, report, load and simulate with Spark.

    Requires the package minutehand-pipeline and, except on a cluster, its extra `spark`.
    `minutehand pipeline COMMAND --help` describes a command.
    """
