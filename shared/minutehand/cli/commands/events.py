"""`minutehand events`: list stored events, and follow new ones."""

from datetime import timedelta
from time import sleep
from typing import Any
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.exits import INTERRUPTED, OK
from minutehand.cli.ids import GivenId, full_job_id
from minutehand.cli.kinds import complete_kinds
from minutehand.cli.once import filter_option
from minutehand.cli.options import (
    connection_options,
    limit_option,
    open_database,
    output_option,
    tenant_option,
)
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.values import job_id
from minutehand.database import Database
from minutehand.model.event import NAMES
from minutehand.queries.events import StoredEvent, list_events
from minutehand.queries.jobs import clock

POLL_SECONDS = 1.0
# A long transaction commits after later ones: its events appear behind theirs.
OVERLAP = timedelta(seconds=30)
LIMIT = 1000


@click.command()
@click.option(
    "--name",
    "names",
    type=click.Choice(NAMES),
    metavar="NAME",
    multiple=True,
    help=f"Only events with this name; repeatable. One of {', '.join(NAMES)}.",
)
@filter_option("--queue", help="Only events in this queue.")
@filter_option("--kind", shell_complete=complete_kinds, help="Only events of this kind.")
@filter_option("--job", type=job_id, help="Only events of this job.")
@limit_option("events", 50)
@click.option("--follow", is_flag=True, help="Show new events until Ctrl-C.")
@output_option("table", "json")
@tenant_option
@connection_options
def events(follow: bool, form: str, limit: int, job: GivenId | None, **filters: Any) -> int:
    """List the latest stored events, oldest first.

    Processes with MINUTEHAND_EVENTS=table store their events.

    \b
    Examples:
      minutehand events --name dead --name cancelled
      minutehand events --follow -o json
    """
    with open_database() as database:
        filters["job"] = None if job is None else full_job_id(database, job)
        try:
            _show(database, form, limit, follow, filters)
        except KeyboardInterrupt:
            return INTERRUPTED
    return OK


def _show(database: Database, form: str, limit: int, follow: bool, filters: dict[str, Any]) -> None:
    since = clock(database) - OVERLAP
    earlier = list_events(database, since=since, limit=LIMIT, **filters) if follow else []
    found = list_events(database, limit=limit, **filters)
    if not found and not follow:
        print_message("No stored event matches; MINUTEHAND_EVENTS=table stores events.")
    _put(found, form, headed=True, paged=not follow)
    seen = {event.id for event in (*earlier, *found)}
    while follow:
        sleep(POLL_SECONDS)
        now = clock(database)
        recent = list_events(database, since=since, limit=LIMIT, **filters)
        _put([event for event in recent if event.id not in seen], form, headed=False, paged=False)
        seen, since = {event.id for event in recent}, now - OVERLAP


def _put(found: list[StoredEvent], form: str, *, headed: bool, paged: bool) -> None:
    if form == "json":
        for event in found:
            put_json(event)
    elif found:
        rows = [
            [_moment(event), event.name, event.kind or "", _id(event.job), _facts(event)] for event in found
        ]
        put_table(["at", "event", "kind", "job", "facts"], rows, headed=headed, paged=paged)


def _moment(event: StoredEvent) -> str:
    return text.local(event.at)


def _id(job: UUID | None) -> str:
    return "" if job is None else str(job)


def _facts(event: StoredEvent) -> str:
    return " ".join(f"{name}={value}" for name, value in event.facts.items())
