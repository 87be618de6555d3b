"""`minutehand defaults`: what a kind's jobs get when their enqueuer says nothing."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.policy import retry_of, retry_options
from minutehand.cli.show import retry_text
from minutehand.cli.values import duration
from minutehand.database import Database
from minutehand.defaults import Defaults, list_defaults, set_defaults


@click.command()
@click.argument("kind", required=False)
@click.option("--queue", help="The queue.")
@click.option("--priority", type=int, help="0 to 9; 9 goes first.")
@click.option("--max-attempts", type=int, help="How many attempts there are; 1 is no retry.")
@click.option("--timeout", type=duration, help="How long an attempt may take, as 90s; at most 24h.")
@retry_options
@click.option("--reset", is_flag=True, help="Forget what was set before.")
@output_option("table", "json")
@connection_options
def defaults(kind: str | None, reset: bool, form: str, **said: Any) -> None:
    """List every kind's defaults, or set those of KIND.

    What is not named stays as it is; --reset forgets it. Jobs that are enqueued already keep what they got.

    \b
    Examples:
      minutehand defaults
      minutehand defaults welcome --queue mail --max-attempts 3 --timeout 30s
      minutehand defaults welcome --reset
    """
    named = _named(**said)
    if kind is None and (named or reset):
        raise click.UsageError("name the KIND whose defaults these are")
    with open_database() as database:
        if kind is not None and (named or reset):
            _set(database, kind, named, reset)
        found = [each for each in list_defaults(database) if kind in (None, each.kind)]
    _put(found, form)


def _named(
    queue: str | None, priority: int | None, max_attempts: int | None, timeout: timedelta | None, **retry: Any
) -> dict[str, Any]:
    said = {
        "queue": queue,
        "priority": priority,
        "max_attempts": max_attempts,
        "timeout": timeout,
        "retry": retry_of(**retry),
    }
    return {name: value for name, value in said.items() if value is not None}


def _set(database: Database, kind: str, named: dict[str, Any], reset: bool) -> None:
    before = [] if reset else [each for each in list_defaults(database) if each.kind == kind]
    set_defaults(database, replace(before[0] if before else Defaults(kind=kind), **named))


def _put(found: list[Defaults], form: str) -> None:
    if form == "json":
        for each in found:
            put_json(each)
    elif not found:
        say("Nothing is set: jobs go to the queue `default` with priority 5 and 8 attempts.")
    else:
        put_table(
            ["kind", "queue", "priority", "max attempts", "timeout", "retry"], [_row(each) for each in found]
        )


def _row(each: Defaults) -> list[str]:
    retry = retry_text(each.retry) if each.retry else ""
    cells = [
        each.kind,
        each.queue,
        each.priority,
        each.max_attempts,
        each.timeout and text.span(each.timeout),
        retry,
    ]
    return ["" if cell is None else str(cell) for cell in cells]
