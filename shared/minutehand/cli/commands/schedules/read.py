"""`minutehand schedules ls`, `show` and `preview`."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import click

from minutehand import schedules as library
from minutehand.cli import text
from minutehand.cli.options import (
    connection_options,
    limit_option,
    open_database,
    output_option,
    tenant_option,
)
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.paging import all_pages
from minutehand.cli.tables import Column
from minutehand.model.new_job import shown_options
from minutehand.model.retry import Retry
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
@click.option("--source", help="Only schedules installed from this source.")
@output_option("table", "json", "names")
@tenant_option
@connection_options
def ls(source: str | None, form: str) -> None:
    """List schedules by name, with the errors of those that failed to fire."""
    with open_database() as database:
        found = all_pages(partial(library.list_schedules, database, source))
        if form == "json":
            for each in found:
                put_json(_facts(each))
        elif form == "names":
            for each in found:
                click.echo(text.safe(each.schedule.name))
        else:
            _put_schedules(found, clock(database))


@click.command()
@click.argument("name")
@limit_option("past occurrences", 10)
@output_option("table", "json")
@tenant_option
@connection_options
def show(name: str, limit: int, form: str) -> None:
    """Show a schedule and the outcomes of its last occurrences."""
    with open_database() as database:
        stored, firings = library.get(database, name), library.list_firings(database, name, limit=limit)
    facts = _facts(stored)
    if form == "json":
        put_json(facts | {"firings": firings})
        return
    rows = [[name.replace("_", " "), _value(value)] for name, value in facts.items() if value]
    put_table(["option", "value"], rows, headed=False)
    put_table(["occurrence", "outcome", "count", "job"], [_firing(each) for each in firings])


@click.command()
@click.argument("every")
@click.option("--zone", help="Time zone of the schedule.  [UTC]")
@limit_option("occurrences", 10)
@output_option("table", "json")
def preview(every: str, zone: str | None, limit: int, form: str) -> None:
    """Show the next occurrences of EVERY in local time and UTC. Needs no database."""
    occurrences = library.preview(every, zone, limit)
    if form == "json":
        for each in occurrences:
            put_json({"utc": each.utc, "local": each.local.isoformat()})
        return
    rows = [
        [f"{each.local:%a %Y-%m-%d %H:%M:%S %Z}", f"{each.utc:%Y-%m-%d %H:%M:%S}"] for each in occurrences
    ]
    put_table(["local", "utc"], rows)


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


def _firing(each: Any) -> list[str]:
    count = str(each.count) if each.count > 1 else ""
    return [text.local(each.nominal), each.outcome, count, str(each.job or "")]


def _value(value: Any) -> str:
    match value:
        case datetime():
            return text.local(value)
        case timedelta():
            return text.span(value)
        case Retry():
            return text.retry(value)
        case dict():
            return ", ".join(f"{name} {_value(inner)}" for name, inner in value.items())
    return str(value)


def _facts(each: StoredSchedule) -> dict[str, Any]:
    """Return the fields of a schedule to show. Payload and headers of its job may be private, and are left out."""
    schedule = {name: value for name, value in vars(each.schedule).items() if name != "job"}
    job = shown_options(each.schedule.job, ("payload", "headers"))
    stored = {name: value for name, value in vars(each).items() if name not in ("schedule", "hash")}
    return schedule | {"job": job} | stored
