"""The verbs of `minutehand pipeline`; each is imported when it is called, so that `--help` starts no Spark."""

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
from minutehand_pipeline.failures import in_a_sentence

VERBS = {
    "archive": "Carry finished days from the database to the lake.",
    "erase": "Erase a subject's data from the lake.",
    "report": "Say from the lake how the queue did, and what it cost.",
    "load": "Enqueue files of the lake, spread over time.",
    "simulate": "Say what another policy would have done.",
}


class Verbs(click.Group):
    """The group of the pipeline's verbs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs' names."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb."""
        if cmd_name not in VERBS:
            return None
        with in_a_sentence():
            command: click.Command = getattr(import_module(f"minutehand_pipeline.cli.{cmd_name}"), cmd_name)
        told = copy(command)
        told.callback = command.callback and _told(command.callback)
        return told

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; turn what it raises into a sentence and an exit code."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            return exit_code_of(error)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing the verbs."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


def _told(run: Callable[..., Any]) -> Callable[..., Any]:
    """Run a verb so that what goes wrong in Spark is a sentence, and what Java says is for `--debug` only."""

    @wraps(run)
    def tell(*arguments: Any, **options: Any) -> Any:
        if debugging():
            logging.getLogger("minutehand_pipeline").setLevel(logging.DEBUG)
        with _quiet_at_ctrl_c(), in_a_sentence():
            return run(*arguments, **options)

    return tell


@contextmanager
def _quiet_at_ctrl_c() -> Iterator[None]:
    """Have nothing logged once Ctrl-C was pressed: py4j tells of the call that it broke off, with a trace."""

    def interrupted(_number: int, _frame: object) -> None:
        logging.disable()
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def pipeline() -> None:
    """Run archive, report, load and simulate with Spark.

    It wants the extras `pipeline` and `spark`; a cluster brings its own Spark.
    `minutehand pipeline VERB --help` explains a verb.
    """
