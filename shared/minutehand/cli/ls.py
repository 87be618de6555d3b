"""`minutehand ls`: jobs in a list that reads as a person would tell it."""

from collections.abc import Iterator
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, filter_options, open_database, output_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.values import job_id
from minutehand.database import Database
from minutehand.read import MOST_LISTED, STATES, Page, Row, clock, list_jobs

HEADERS = ["id", "queue", "kind", "key", "state", "at"]
LISTED = (
    "id", "queue", "kind", "state", "key", "priority", "attempts", "max_attempts", "enqueued", "run_at", "visible",
    "offered", "claimed", "deleted", "error",
)  # fmt: skip
KEY_CHARACTERS = 40


@click.command()
@filter_options(STATES)
@click.option(
    "--limit", type=click.IntRange(1), default=50, show_default=True, help="At most this many jobs."
)
@click.option("--before", type=job_id, help="Go on after this job, the last of the page before.")
@click.option("--all", "everything", is_flag=True, help="Without a limit, page after page.")
@output_option("table", "json", "ids")
@connection_options
def ls(
    queue: str | None, kind: str | None, key: str | None, states: tuple[str, ...],
    limit: int, before: UUID | None, everything: bool, form: str,
) -> None:  # fmt: skip
    """List jobs, the last enqueued first.

    Payloads are not shown. The last column is the moment of what the state says: when the job may run,
    was offered, began or ended.

    \b
    Examples:
      minutehand ls --state dead --kind welcome
      minutehand ls --queue mail --all -o json
      minutehand ls --state dead -o ids | minutehand retry -
    """
    listed = 0
    with open_database() as database:
        for page in pages(database, queue, kind, key, states, before, None if everything else limit):
            put_rows(database, page.rows, form, headed=listed == 0)
            listed, before = listed + len(page.rows), page.before
    if listed == 0:
        filtered = queue or kind or key or states
        say(
            "No job matches."
            if filtered
            else "There are no jobs yet; add one: minutehand enqueue echo '\"hello\"'"
        )
    elif before and form == "table":
        say(f"There are more; go on with --before {before}, or see them --all.")


def pages(
    database: Database, queue: str | None, kind: str | None, key: str | None, states: tuple[str, ...],
    before: UUID | None = None, limit: int | None = None,
) -> Iterator[Page]:  # fmt: skip
    """Yield pages of jobs until there are no more, or `limit` jobs have been seen."""
    while limit is None or limit > 0:
        most = MOST_LISTED if limit is None else min(limit, MOST_LISTED)
        page = list_jobs(database, queue=queue, kind=kind, key=key, states=states, before=before, most=most)
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
