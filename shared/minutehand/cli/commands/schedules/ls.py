"""`minutehand schedules ls`: list schedules."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial

import click

from minutehand import schedules as library
from minutehand.cli import text
from minutehand.cli.facts import schedule_facts
from minutehand.cli.once import filter_option
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.paging import all_pages
from minutehand.cli.tables import Column
from minutehand.queries.jobs import clock
from minutehand.schedules import StoredSchedule

HEADERS: list[str | Column] = [
    *("name", "every", "zone", "kind"),
    Column(name="next"),
    Column(name="last", rank=2),
    "tenant",
    Column(name="source", least=6, rank=1),
    Column(name="error", least=12),
]


@click.command()
@filter_option("--source", help="Only schedules installed from this source.")
@output_option("table", "json", "names")
@tenant_option
@connection_options
def ls(source: str | None, form: str) -> None:
    """List schedules by name, with the errors of those that failed to fire."""
    with open_database() as database:
        found = all_pages(partial(library.list_schedules, database, source))
        if form == "json":
            for each in found:
                put_json(schedule_facts(each))
        elif form == "names":
            for each in found:
                click.echo(text.safe(each.schedule.name))
        else:
            _put_schedules(found, clock(database))


def _put_schedules(found: Iterable[StoredSchedule], now: datetime) -> None:
    if rows := [_row(each, now) for each in found]:
        put_table(HEADERS, rows)
    else:
        print_message("There are no schedules.")


def _row(each: StoredSchedule, now: datetime) -> list[str]:
    following = "paused" if each.paused else text.ago(each.next, now) if each.next else "never"
    last = text.ago(each.fired, now) if each.fired else ""
    schedule = each.schedule
    zone = schedule.zone or "UTC"
    return [
        *(schedule.name, schedule.recurrence, zone, schedule.job.kind, following),
        *(last, each.tenant, each.source or ""),
        text.error_line(each.error) if each.error else "",
    ]
