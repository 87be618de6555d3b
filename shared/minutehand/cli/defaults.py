"""`minutehand defaults`: what the jobs of a kind or of a queue get when their enqueuer says nothing."""

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
from minutehand.operations.defaults import Defaults, list_defaults, set_defaults


@click.command()
@click.argument("kind", required=False)
@click.option("--queue", help="The kind's queue; or, without a KIND, the queue whose defaults these are.")
@click.option("--priority", type=int, help="0 to 9; 9 goes first.")
@click.option("--max-attempts", type=int, help="How many attempts there are; 1 is no retry.")
@click.option("--timeout", type=duration, help="How long an attempt may take, as 90s; at most 24h.")
@retry_options
@click.option("--reset", is_flag=True, help="Forget what was set before.")
@output_option("table", "json")
@connection_options
def defaults(kind: str | None, reset: bool, form: str, **said: Any) -> None:
    """List all defaults, or set those of KIND, or without a KIND those of --queue.

    A job gets what its enqueuer says, else what its kind says, else what its queue says. What is not named stays
    as it is; --reset forgets it. Jobs that are enqueued already keep what they got.

    \b
    Examples:
      minutehand defaults
      minutehand defaults welcome --queue mail --max-attempts 3 --timeout 30s
      minutehand defaults --queue mail --retry fixed --retry-min 5m
      minutehand defaults welcome --reset
    """
    named = _named(**said)
    queue = named.pop("queue", None) if kind is None else None
    if kind is None and queue is None and (named or reset):
        raise click.UsageError("name the KIND, or the --queue, whose defaults these are")
    with open_database() as database:
        if named or reset:
            before = [] if reset else _of(list_defaults(database), kind, queue)
            set_defaults(
                database, replace(before[0] if before else Defaults(kind=kind, queue=queue), **named)
            )
        found = _of(list_defaults(database), kind, queue)
    _put(found, form)


def _of(found: list[Defaults], kind: str | None, queue: str | None) -> list[Defaults]:
    if kind is None and queue is None:
        return found
    return [each for each in found if each.kind == kind and queue in (None, each.queue)]


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
        each.kind or "(any)",
        each.queue,
        each.priority,
        each.max_attempts,
        each.timeout and text.span(each.timeout),
        retry,
    ]
    return ["" if cell is None else str(cell) for cell in cells]
