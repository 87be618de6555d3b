"""`minutehand defaults`: the default options of kinds and queues."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import click

from minutehand.cli import text
from minutehand.cli.actor import actor
from minutehand.cli.kinds import complete_kinds
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.retry_options import retry_of, retry_options
from minutehand.cli.values import duration, job_or_kind
from minutehand.model.new_job import NewJob
from minutehand.operations.defaults import Defaults, list_defaults, set_defaults

HEADERS = ["kind", "queue", "priority", "max attempts", "timeout", "retry", "on dead"]


@click.command()
@click.argument("kind", required=False, shell_complete=complete_kinds)
@click.option("--queue", help="Queue of the KIND; without a KIND, the queue to set defaults for.")
@click.option("--priority", type=int, help="Priority from 0 to 9; 9 runs first.")
@click.option("--max-attempts", type=int, help="Number of attempts; 1 means no retry.")
@click.option("--timeout", type=duration, help="Timeout of an attempt, such as 90s; at most 24h.")
@retry_options
@click.option(
    "--on-dead", metavar="JOB", type=job_or_kind, help="Create this job if a job dies: a kind, or JSON."
)
@click.option("--reset", is_flag=True, help="Remove the options that you omit.")
@output_option("table", "json")
@connection_options
def defaults(kind: str | None, reset: bool, form: str, **options: Any) -> None:
    """List all defaults, or set those of KIND or, without KIND, of --queue.

    A job gets each option from its enqueue call, else from its kind, else from its queue. Options that you omit
    stay as they are; --reset removes them. Existing jobs do not change.

    \b
    Examples:
      minutehand defaults
      minutehand defaults welcome --queue mail --max-attempts 3 --timeout 30s
      minutehand defaults --queue mail --retry fixed --retry-min 5m
      minutehand defaults welcome --reset
    """
    given = _given(**options)
    queue = given.pop("queue", None) if kind is None else None
    if kind is None and queue is None and (given or reset):
        raise click.UsageError(
            "expected KIND or --queue, got neither; name the kind or the queue to set defaults for"
        )
    with open_database() as database:
        if given or reset:
            before = [] if reset else _of(list_defaults(database), kind, queue)
            current = before[0] if before else Defaults(kind=kind, queue=queue)
            set_defaults(database, replace(current, **given), actor=actor())
        found = _of(list_defaults(database), kind, queue)
    _put(found, form)


def _of(found: list[Defaults], kind: str | None, queue: str | None) -> list[Defaults]:
    if kind is None and queue is None:
        return found
    return [each for each in found if each.kind == kind and queue in (None, each.queue)]


def _given(
    queue: str | None,
    priority: int | None,
    max_attempts: int | None,
    timeout: timedelta | None,
    on_dead: NewJob | str | None,
    **retry: Any,
) -> dict[str, Any]:
    options = {
        "queue": queue,
        "priority": priority,
        "max_attempts": max_attempts,
        "timeout": timeout,
        "retry": retry_of(**retry),
        "on_dead": on_dead,
    }
    return {name: value for name, value in options.items() if value is not None}


def _put(found: list[Defaults], form: str) -> None:
    if form == "json":
        for each in found:
            put_json(each)
    elif not found:
        print_message("No defaults are set: jobs go to the queue `default` with priority 5 and 8 attempts.")
    else:
        put_table(HEADERS, [_row(each) for each in found])


def _row(each: Defaults) -> list[str]:
    cells = [
        each.kind or "(any)",
        each.queue,
        each.priority,
        each.max_attempts,
        each.timeout and text.span(each.timeout),
        each.retry and text.retry(each.retry),
        each.on_dead.kind if isinstance(each.on_dead, NewJob) else each.on_dead,
    ]
    return ["" if cell is None else str(cell) for cell in cells]
