"""`minutehand retention`: how long what is finished is kept."""

from datetime import timedelta
from typing import Any

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.values import duration
from minutehand.cli.who import who
from minutehand.database import Database
from minutehand.operations.retention import (
    FOREVER,
    WHATS,
    Retention,
    keep_until_archived,
    keeps_until_archived,
    list_retention,
    set_retention,
)


def keep(value: str | timedelta) -> timedelta:
    """Return how long something is kept."""
    return FOREVER if value in ("forever", FOREVER) else duration(value)


@click.command()
@click.option("--queue", help="This queue; without it, every queue that has no word of its own.")
@click.option("--done", type=keep, help="How long jobs that went well are kept, as 24h, 30d or forever.")
@click.option("--dead", type=keep, help="Dead jobs.")
@click.option("--cancelled", type=keep, help="Cancelled jobs.")
@click.option("--attempts", type=keep, help="The attempts at its jobs.")
@click.option("--events", type=keep, help="The events of its jobs, where they are kept.")
@click.option("--reset", is_flag=True, help="Forget what was said of this queue before.")
@click.option(
    "--keep-until-archived/--drop-unarchived", "archived", default=None,
    help="Whether nothing is dropped before it is archived, in the whole database.",
)  # fmt: skip
@output_option("table", "json")
@connection_options
def retention(
    queue: str | None, reset: bool, archived: bool | None, form: str, **said: timedelta | None
) -> None:
    """List how long finished jobs, attempts and events are kept, or say it.

    Nothing is dropped until you say so. The dispatcher drops a day when all in it is over, and deletes rows only where
    a part of it is. What is not named stays as it is; --reset forgets it.

    \b
    Examples:
      minutehand retention
      minutehand retention --done 24h --cancelled 24h --dead 7d --attempts 7d --events 3d
      minutehand retention --queue billing --done forever --dead forever
      minutehand retention --queue billing --reset
    """
    named = {what: value for what, value in said.items() if value is not None}
    with open_database() as database:
        if named or reset:
            _set(database, queue, named, reset)
        if archived is not None:
            keep_until_archived(database, archived, who=who())
        found, waits = list_retention(database), keeps_until_archived(database)
    _put([each for each in found if queue in (None, each.queue)], waits, form, queue)


def _set(database: Database, queue: str | None, named: dict[str, Any], reset: bool) -> None:
    before = next((each for each in list_retention(database) if each.queue == queue), Retention(queue=queue))
    kept = {} if reset else {what: getattr(before, what) for what in WHATS}
    set_retention(database, Retention(queue=queue, **kept | named), who=who())


def _put(found: list[Retention], waits: bool, form: str, queue: str | None) -> None:
    if form == "json":
        for each in found:
            put_json({name: _told(value) for name, value in vars(each).items()})
    elif found:
        put_table(["queue", *WHATS], [[each.queue or "(every other)", *_row(each)] for each in found])
    elif queue is not None:
        say(f"Nothing is said of {queue}: it is as for every other queue.")
    else:
        say("Nothing is said: everything is kept for ever.")
    if waits:
        say("Nothing is dropped before it is archived.")


def _row(each: Retention) -> list[str]:
    values = [getattr(each, what) for what in WHATS]
    return ["" if value is None else "forever" if value == FOREVER else text.span(value) for value in values]


def _told(value: object) -> object:
    return "forever" if value == FOREVER else value
