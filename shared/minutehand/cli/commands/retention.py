"""`minutehand retention`: how long finished jobs, attempts and events are kept."""

from datetime import timedelta
from typing import Any

import click

from minutehand.cli import text
from minutehand.cli.actor import actor
from minutehand.cli.once import filter_option
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.values import duration
from minutehand.database import Database
from minutehand.operations.retention import (
    CATEGORIES,
    FOREVER,
    Retention,
    get_keep_until_archived,
    list_retention,
    set_keep_until_archived,
    set_retention,
)


def _keep(value: str | timedelta) -> timedelta:
    try:
        return FOREVER if value in ("forever", FOREVER) else duration(value)
    except click.BadParameter:
        raise click.BadParameter(
            f"must be a duration, such as 24h or 30d, or forever, got {value!r}"
        ) from None


@click.command()
@filter_option("--queue", help="Only this queue; by default all queues without their own retention.")
@click.option("--done", type=_keep, metavar="TIME", help="How long to keep done jobs: 24h, 30d or forever.")
@click.option("--dead", type=_keep, metavar="TIME", help="How long to keep dead jobs.")
@click.option("--expired", type=_keep, metavar="TIME", help="How long to keep expired jobs.")
@click.option("--cancelled", type=_keep, metavar="TIME", help="How long to keep cancelled jobs.")
@click.option("--attempts", type=_keep, metavar="TIME", help="How long to keep attempts.")
@click.option("--events", type=_keep, metavar="TIME", help="How long to keep stored events.")
@click.option("--reset", is_flag=True, help="Remove the settings that you omit.")
@click.option(
    "--keep-until-archived/--drop-unarchived",
    "archived",
    default=None,
    help="Whether rows are kept until their day is archived; for the whole database.",
)
@output_option("table", "json")
@connection_options
def retention(
    queue: str | None, reset: bool, archived: bool | None, form: str, **keeps: timedelta | None
) -> None:
    """List or set how long finished jobs, attempts and events are kept.

    By default everything is kept. The dispatcher drops a day once all its rows have expired; until then, it deletes
    expired rows. Settings that you omit stay as they are; --reset removes them.

    \b
    Examples:
      minutehand retention
      minutehand retention --done 24h --dead 7d --attempts 7d --events 3d
      minutehand retention --queue billing --done forever --dead forever
      minutehand retention --queue billing --reset
    """
    given = {name: keep for name, keep in keeps.items() if keep is not None}
    with open_database() as database:
        if given or reset:
            _set(database, queue, given, reset)
        if archived is not None:
            set_keep_until_archived(database, archived, actor=actor())
        found, waits = list_retention(database), get_keep_until_archived(database)
    _put([each for each in found if queue in (None, each.queue)], waits, form, queue)


def _set(database: Database, queue: str | None, given: dict[str, Any], reset: bool) -> None:
    before = next((each for each in list_retention(database) if each.queue == queue), Retention(queue=queue))
    current = {} if reset else {name: getattr(before, name) for name in CATEGORIES}
    set_retention(database, Retention(queue=queue, **current | given), actor=actor())


def _put(found: list[Retention], waits: bool, form: str, queue: str | None) -> None:
    if form == "json":
        for each in found:
            put_json({name: "forever" if value == FOREVER else value for name, value in vars(each).items()})
    elif found:
        put_table(["queue", *CATEGORIES], [[each.queue or "(every other)", *_row(each)] for each in found])
    elif queue is not None:
        print_message(f"{queue} has no retention of its own; the default applies.")
    else:
        print_message("No retention is set: everything is kept forever.")
    if waits:
        print_message("Rows are kept until their day is archived.")


def _row(each: Retention) -> list[str]:
    values = [getattr(each, name) for name in CATEGORIES]
    return ["" if value is None else "forever" if value == FOREVER else text.span(value) for value in values]
