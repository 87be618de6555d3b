"""`minutehand batches ls`: list batches."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.facts import batch_facts
from minutehand.cli.options import (
    connection_options,
    limit_option,
    open_database,
    output_option,
    tenant_option,
)
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.streams import is_terminal
from minutehand.cli.tables import Column
from minutehand.queries.batches import BatchRow, list_batches
from minutehand.queries.ids import short_batch_ids
from minutehand.queries.jobs import clock

COUNTS = ("total", "open", "done", "dead", "expired", "cancelled")
HEADERS: list[str | Column] = [
    Column(name="id"),
    "name",
    "state",
    *(Column(name=name, number=True, rank=2 if name in ("expired", "cancelled") else 0) for name in COUNTS),
    "created",
    Column(name="tenant", least=8, rank=1),
]


@click.command()
@limit_option("batches", 50)
@output_option("table", "json", "ids")
@tenant_option
@connection_options
def ls(limit: int, form: str) -> None:
    """List batches with the counts of their jobs, the latest first."""
    with open_database() as database:
        found, now = list_batches(database, limit=limit), clock(database)
        # Programs that read a pipe expect full ids.
        short = short_batch_ids(database, [each.id for each in found]) if is_terminal() else {}
    if form == "json":
        for each in found:
            put_json(batch_facts(each))
    elif form == "ids":
        for each in found:
            click.echo(str(each.id))
    else:
        _put_batches(found, short, now)


def _put_batches(found: Iterable[BatchRow], short: Mapping[UUID, str], now: datetime) -> None:
    if rows := [[short.get(each.id, str(each.id)), *_row(each, now)] for each in found]:
        put_table(HEADERS, rows)
    else:
        print_message("There are no batches.")


def _row(each: BatchRow, now: datetime) -> list[str]:
    counts = [str(getattr(each, name)) for name in COUNTS]
    return [each.name or "", each.state, *counts, text.ago(each.created, now), each.tenant]
