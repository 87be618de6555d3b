"""`minutehand ls`: jobs in a list that reads as a person would tell it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.options import (
    connection_options,
    filter_options,
    open_database,
    output_option,
    tenant_option,
    tz_option,
)
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.values import job_id
from minutehand.cli.window import moment_of
from minutehand.database import Database
from minutehand.queries.jobs import MOST_LISTED, STATES, Page, Row, clock, list_jobs

HEADERS = ["id", "queue", "kind", "key", "state", "at"]
LISTED = (
    "id", "queue", "kind", "state", "key", "priority", "attempts", "max_attempts", "enqueued", "run_at", "visible",
    "offered", "claimed", "deleted", "error", "tenant", "version", "every", "zone", "nominal", "schedule",
)  # fmt: skip
KEY_CHARACTERS = 40


@click.command()
@filter_options(STATES)
@click.option("--version", help="Only those that this version of the code finished.")
@click.option("--since", metavar="WHEN", help="Enqueued since then: how long ago, as 7d, or a moment.")
@click.option("--until", metavar="WHEN", help="Enqueued before then.")
@click.option("--finished-since", metavar="WHEN", help="Finished since then.")
@click.option("--finished-until", metavar="WHEN", help="Finished before then.")
@tz_option
@click.option(
    "--limit", type=click.IntRange(1), default=50, show_default=True, help="At most this many jobs."
)
@click.option("--before", type=job_id, help="Go on after this job, the last of the page before.")
@click.option("--after", type=job_id, help="Go back: the page before this job, the first of the page after.")
@click.option("--last", is_flag=True, help="The last page: the jobs that were enqueued first of all.")
@click.option("--all", "everything", is_flag=True, help="Without a limit, page after page.")
@click.option("--total", is_flag=True, help="Count all that match, too.")
@output_option("table", "json", "ids")
@tenant_option
@connection_options
def ls(
    queue: str | None, kind: str | None, key: str | None, states: tuple[str, ...], version: str | None,
    tz: str | None, limit: int, before: UUID | None, after: UUID | None, last: bool,
    everything: bool, total: bool, form: str, **window: str | None,
) -> None:  # fmt: skip
    """List jobs, the last enqueued first.

    Payloads are not shown. The last column is the moment of what the state says: when the job may run,
    was offered, began or ended.

    \b
    Examples:
      minutehand ls --state dead --kind welcome
      minutehand ls --queue mail --all -o json
      minutehand ls --state done --finished-since 2h --total
      minutehand ls --state dead -o ids | minutehand retry -
    """
    if sum((before is not None, after is not None, last)) > 1:
        raise click.UsageError("say --before, --after or --last, one of them")
    with open_database() as database:
        filters: dict[str, Any] = {"version": version} | moments(database, tz, **window)
        if last or after:
            page = list_jobs(
                database, queue=queue, kind=kind, key=key, states=states, after=after, last=last,
                most=min(limit, MOST_LISTED), **filters,
            )  # fmt: skip
            chosen = iter([page] if page.rows else [])
        else:
            chosen = pages(
                database, queue, kind, key, states, before, None if everything else limit, **filters
            )
        seen = _put(database, chosen, form)
        if total:
            page = list_jobs(
                database, queue=queue, kind=kind, key=key, states=states, most=1, total=True, **filters
            )
            say(f"{text.jobs(page.total or 0)} in all.")
    if seen is None:
        filtered = queue or kind or key or states or version or any(window.values())
        say(
            "No job matches."
            if filtered
            else "There are no jobs yet; add one: minutehand enqueue echo '\"hello\"'"
        )
    elif form == "table":
        _say_where(seen)


def moments(database: Database, tz: str | None, **window: str | None) -> dict[str, datetime | None]:
    """Return the moments between which jobs were enqueued or finished."""
    return {
        name: moment_of(database, said, tz, f"--{name.replace('_', '-')}") for name, said in window.items()
    }


def _put(database: Database, chosen: Iterator[Page], form: str) -> Page | None:
    """Print page after page; return the last, None if there was none."""
    page = None
    for following in chosen:
        put_rows(database, following.rows, form, headed=page is None)
        page = following
    return page


def _say_where(page: Page) -> None:
    if page.before:
        say(f"There are more; go on with --before {page.before}, or see them --all.")
    elif page.after:
        say(f"There are more before these; go back with --after {page.after}.")


def pages(
    database: Database, queue: str | None, kind: str | None, key: str | None, states: tuple[str, ...],
    before: UUID | None = None, limit: int | None = None, **more: Any,
) -> Iterator[Page]:  # fmt: skip
    """Yield pages of jobs until there are no more, or `limit` jobs have been seen."""
    while limit is None or limit > 0:
        most = MOST_LISTED if limit is None else min(limit, MOST_LISTED)
        page = list_jobs(
            database, queue=queue, kind=kind, key=key, states=states, before=before, most=most, **more
        )
        if page.rows:
            yield page
        if page.before is None:
            return
        before, limit = page.before, None if limit is None else limit - len(page.rows)


def put_rows(database: Database, rows: tuple[Row, ...], form: str, *, headed: bool = True) -> None:
    """Print a page of jobs."""
    if form == "table":
        now = clock(database)
        put_table(
            HEADERS,
            [[*_names(row), text.state(row, now), text.local(text.when(row))] for row in rows],
            headed=headed,
        )
    for row in rows:
        if form == "ids":
            click.echo(str(row.id))
        elif form == "json":
            put_json({name: getattr(row, name) for name in LISTED})


def _names(row: Row) -> list[str]:
    key = row.key or ""
    return [
        str(row.id),
        row.queue,
        row.kind,
        key if len(key) <= KEY_CHARACTERS else f"{key[: KEY_CHARACTERS - 1]}…",
    ]
