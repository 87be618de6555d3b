"""`minutehand top`: all queues now, live or once."""

import sys
from shutil import get_terminal_size

import click

from minutehand.cli.exits import INTERRUPTED, OK
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import put_json, put_lines
from minutehand.cli.streams import is_terminal
from minutehand.cli.top.lines import overview_lines
from minutehand.database import Database
from minutehand.queries.top import overview

# Wider than any line: nothing is cut in a pipe.
PIPE_COLUMNS = 10_000


@click.command()
@click.option("--once", is_flag=True, help="Print the queues once, and exit.")
@click.option(
    "--interval",
    type=click.FloatRange(0.2, 3600),
    default=2.0,
    show_default=True,
    help="Seconds between two readings.",
)
@output_option("table", "json")
@connection_options
def top(once: bool, interval: float, form: str) -> int:
    """Show all queues with their depths, rates, running jobs and failures, live.

    Select a queue with the arrow keys, open it with Enter, pause or resume it with p, and leave with q. Due jobs are
    counted up to 10,000 for each queue, without paused ones. "in/min" and "out/min" are the jobs enqueued and finished
    in the last minute, of the latest 2000. "budget" limits the offered and running jobs of a queue whose offers lapsed.

    \b
    Examples:
      minutehand top
      minutehand top --interval 10
      minutehand top --once -o json
    """
    with open_database() as database:
        if once or form == "json":
            _put_once(database, form)
            return OK
        if not is_terminal() or not sys.stdin.isatty():
            raise click.UsageError("the live view requires a terminal; use --once")
        try:
            _show(database, interval)
        except KeyboardInterrupt:
            return INTERRUPTED
    return OK


def _put_once(database: Database, form: str) -> None:
    found = overview(database)
    if form == "json":
        put_json(found)
        return
    width = get_terminal_size().columns if is_terminal() else PIPE_COLUMNS
    put_lines(line.text for line in overview_lines(found, width))


def _show(database: Database, interval: float) -> None:
    # Imported here, since `--once` draws nothing.
    from rich.console import Console

    from minutehand.cli.top.live import LiveTop

    LiveTop(database, interval).run(Console())
