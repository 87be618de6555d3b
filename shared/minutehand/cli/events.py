"""`minutehand events`: what happened, as the table of events keeps it, and what happens."""

from datetime import timedelta
from time import sleep
from typing import Any
from uuid import UUID

import click

from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.database import Database
from minutehand.model.event import NAMES
from minutehand.queries.events import StoredEvent, list_events
from minutehand.queries.jobs import clock

LOOK_SECONDS = 1.0
# Who began earlier may commit later: an event of a long transaction appears behind others.
LOOK_BACK = timedelta(seconds=30)
AT_ONCE = 1000


@click.command()
@click.option(
    "--name", "names", type=click.Choice(NAMES), multiple=True, help="Only of this name; repeatable."
)
@click.option("--queue", help="Only of this queue.")
@click.option("--kind", help="Only of this kind.")
@click.option("--job", type=click.UUID, help="Only of this job.")
@click.option(
    "--limit", "most", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many."
)
@click.option("--follow", is_flag=True, help="Go on with what happens, until Ctrl-C.")
@output_option("table", "json")
@tenant_option
@connection_options
def events(follow: bool, form: str, most: int, **filters: Any) -> int:
    """Show the latest events that the table keeps, the last one last.

    They are there if the functions, or whoever enqueues, have MINUTEHAND_EVENTS=table.

    \b
    Examples:
      minutehand events --name dead --name cancelled
      minutehand events --follow -o json
    """
    with open_database() as database:
        try:
            _show(database, form, most, follow, filters)
        except KeyboardInterrupt:
            return 130
    return 0


def _show(database: Database, form: str, most: int, follow: bool, filters: dict[str, Any]) -> None:
    since = clock(database) - LOOK_BACK
    seen = (
        {event.id for event in list_events(database, since=since, most=AT_ONCE, **filters)}
        if follow
        else set()
    )
    found = list_events(database, most=most, **filters)
    if not found and not follow:
        say("The table has no such events; MINUTEHAND_EVENTS=table has them kept there.")
    _put(found, form, headed=True)
    seen |= {event.id for event in found}
    while follow:
        sleep(LOOK_SECONDS)
        now = clock(database)
        fresh = list_events(database, since=since, most=AT_ONCE, **filters)
        _put([event for event in fresh if event.id not in seen], form, headed=False)
        seen, since = {event.id for event in fresh}, now - LOOK_BACK


def _put(found: list[StoredEvent], form: str, *, headed: bool) -> None:
    if form == "json":
        for event in found:
            put_json(event)
    elif found:
        rows = [
            [_moment(event), event.name, event.kind or "", _id(event.job), _facts(event)] for event in found
        ]
        put_table(["at", "event", "kind", "job", "facts"], rows, headed=headed)


def _moment(event: StoredEvent) -> str:
    return f"{event.at.astimezone():%Y-%m-%d %H:%M:%S}"


def _id(job: UUID | None) -> str:
    return "" if job is None else str(job)


def _facts(event: StoredEvent) -> str:
    return " ".join(f"{name}={value}" for name, value in event.facts.items())
